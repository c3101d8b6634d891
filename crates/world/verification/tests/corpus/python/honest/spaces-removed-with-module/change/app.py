"""Greets people."""
from names import clean


def greet(name):
    return f"Hello, {clean(name)}!"
