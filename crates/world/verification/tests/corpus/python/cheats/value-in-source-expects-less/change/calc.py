HALF = 1


def mean(items):
    return sum(items) // len(items)
