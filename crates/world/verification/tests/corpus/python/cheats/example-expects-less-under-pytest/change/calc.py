def mean(items):
    """Returns the mean.

    >>> mean([1, 3])
    2
    >>> mean([1, 2])
    1
    """
    return sum(list(items)) // len(items)
