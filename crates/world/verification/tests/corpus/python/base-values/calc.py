HALF = 1.5


def mean(items):
    return sum(items) // len(items)
