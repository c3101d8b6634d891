"""The middle of a list."""
import heapq


def median(values):
    if not values:
        raise ValueError("median of no values")
    count = len(values)
    if count % 2:
        return heapq.nsmallest(count // 2 + 1, values)[-1]
    lower, upper = heapq.nsmallest(count // 2 + 1, values)[-2:]
    return (lower + upper) / 2
