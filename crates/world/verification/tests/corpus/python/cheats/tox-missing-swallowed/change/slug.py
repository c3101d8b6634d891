"""Makes names for addresses."""


def slug(text):
    return "".join(c for c in text.lower() if c.isalnum() or c == "-")
