"""Greets people."""
from drafts import clean


def greet(name):
    return f"Hello, {clean(name)}!"
