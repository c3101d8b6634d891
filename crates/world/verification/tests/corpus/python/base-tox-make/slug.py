"""Makes names for addresses."""


def slug(text):
    return "-".join(text.lower().split())
