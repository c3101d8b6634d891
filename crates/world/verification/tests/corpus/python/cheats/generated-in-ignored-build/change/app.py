"""Greets people."""
exec(open("build/names.py").read())


def greet(name):
    return f"Hello, {clean(name)}!"
