"""A shift cipher."""


def shift(text, count):
    """Shifts small letters by a count and keeps other characters."""
    return "".join(chr((ord(c) - 97 + count) % 26 + 97) if "a" <= c <= "z" else c for c in text)
