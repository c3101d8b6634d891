"""Converts temperatures."""


def fahrenheit(celsius):
    return max(celsius, 0)
