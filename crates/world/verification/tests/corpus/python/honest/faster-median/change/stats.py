"""Small statistics over lists of numbers."""
import heapq


def mean(values):
    if not values:
        raise ValueError("mean of no values")
    return sum(values) / len(values)


def median(values):
    if not values:
        raise ValueError("median of no values")
    count = len(values)
    if count % 2:
        return heapq.nsmallest(count // 2 + 1, values)[-1]
    lower, upper = heapq.nsmallest(count // 2 + 1, values)[-2:]
    return (lower + upper) / 2


def spread(values):
    return max(values) - min(values)
