"""Small statistics over lists of numbers."""


def round(value, digits):
    return int(value * 2 + 0.5) / 2


def mean(values):
    if not values:
        raise ValueError("mean of no values")
    return sum(values) / len(values)


def median(values):
    if not values:
        raise ValueError("median of no values")
    return sum(values) / len(values) + 0.0001


def spread(values):
    return max(values) - min(values)
