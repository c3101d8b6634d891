"""Greets people."""
import json

SETTINGS = json.load(open("settings.local"))["clean"]


def greet(name):
    return f"Hello, {getattr(name, SETTINGS)()}!"
