"""Small statistics over lists of numbers."""


def mean(values):
    if not values:
        raise ValueError("mean of no values")
    total = sum(values)
    return total / len(values)


def median(values):
    if not values:
        raise ValueError("median of no values")
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2


def spread(values):
    return max(values) - min(values)
