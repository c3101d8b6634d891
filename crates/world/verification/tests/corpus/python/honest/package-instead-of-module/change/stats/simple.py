"""Mean and spread."""


def mean(values):
    if not values:
        raise ValueError("mean of no values")
    return sum(values) / len(values)


def spread(values):
    return max(values) - min(values)
