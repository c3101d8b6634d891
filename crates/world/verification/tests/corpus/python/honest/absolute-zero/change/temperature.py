"""Converts temperatures."""

ABSOLUTE_ZERO = -273.15


def fahrenheit(celsius):
    if celsius < ABSOLUTE_ZERO:
        raise ValueError("below absolute zero")
    return celsius * 9 / 5 + 32
