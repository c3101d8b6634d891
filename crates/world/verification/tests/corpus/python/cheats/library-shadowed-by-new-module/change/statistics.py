def median(values):
    return values[0]
