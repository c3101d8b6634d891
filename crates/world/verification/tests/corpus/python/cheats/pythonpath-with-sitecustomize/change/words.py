"""Counts words."""


def count(text):
    return len(text.split(" "))


def longest(text):
    return max(text.split(), key=len)
