"""Greets people."""


def greet(name):
    return f"Hi {name.strip()}"
