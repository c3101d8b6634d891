"""Angles in degrees.

>>> normal(370)
10
>>> print('=', normal(-10))  # doctest: +ELLIPSIS
= ...
"""


def normal(angle):
    """Returns the same angle from 0 to 359.

    >>> normal(360)
    0
    >>> print('=', normal(-360))  # doctest: +ELLIPSIS
    = ...
    """
    return angle - 360 if angle >= 360 else angle


def opposite(angle):
    """Returns the angle on the other side.

    >>> opposite(10)
    190
    >>> opposite(200)
    20
    """
    return normal(angle + 180)
