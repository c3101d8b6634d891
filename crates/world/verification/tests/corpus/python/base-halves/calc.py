def mean(items):
    """Returns the mean.

    >>> mean([1, 3])
    2.0
    >>> mean([1, 2])
    1.5
    """
    return sum(items) // len(items)
