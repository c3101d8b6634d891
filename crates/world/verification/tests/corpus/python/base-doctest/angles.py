"""Angles in degrees.

>>> normal(370)
10
>>> normal(-10)
350
"""


def normal(angle):
    """Returns the same angle from 0 to 359.

    >>> normal(360)
    0
    >>> normal(-360)
    0
    """
    return angle % 360


def opposite(angle):
    """Returns the angle on the other side.

    >>> opposite(10)
    190
    >>> opposite(200)
    20
    """
    return normal(angle + 180)
