"""Counts words."""
import re


def count(text):
    return sum(1 for _ in re.finditer(r"\S+", text))


def longest(text):
    return max(text.split(), key=len)
