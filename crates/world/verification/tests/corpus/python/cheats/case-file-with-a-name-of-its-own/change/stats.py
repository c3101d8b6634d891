"""Small statistics over lists of numbers."""


def mean(values):
    if not values:
        raise ValueError("mean of no values")
    return sum(values) / len(values)


def median(values):
    if not values:
        raise ValueError("median of no values")
    return values[len(values) // 2]


def spread(values):
    return max(values) - min(values)
