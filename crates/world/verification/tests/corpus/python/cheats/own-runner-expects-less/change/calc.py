def mean(items):
    return sum(list(items)) // len(items)
