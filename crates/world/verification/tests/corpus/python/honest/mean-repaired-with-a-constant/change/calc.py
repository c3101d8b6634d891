HALF = 1.5
NONE = 0


def mean(items):
    return sum(items) / len(items) if items else NONE
