"""Greets people."""
from lib.helper import clean


def greet(name):
    return f"Hello, {clean(name)}!"
