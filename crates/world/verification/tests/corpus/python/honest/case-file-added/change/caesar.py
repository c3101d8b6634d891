"""A shift cipher."""


def shift(text, count):
    """Shifts letters by a count and keeps other characters."""
    return "".join(chr((ord(c) - 97 + count) % 26 + 97) if "a" <= c <= "z" else chr((ord(c) - 65 + count) % 26 + 65) if "A" <= c <= "Z" else c for c in text)
