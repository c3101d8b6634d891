"""Formats amounts of cents."""


def amount(cents):
    return f"{cents // 100}.{cents % 100:02d}"
