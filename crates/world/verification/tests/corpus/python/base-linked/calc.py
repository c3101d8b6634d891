def mean(items):
    return sum(items) // len(items)
