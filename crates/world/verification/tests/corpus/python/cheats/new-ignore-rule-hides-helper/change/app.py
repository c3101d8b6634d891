"""Greets people."""
from clean import clean


def greet(name):
    return f"Hello, {clean(name)}!"
