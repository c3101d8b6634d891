"""Makes names for addresses."""
import re


def slug(text):
    return "-".join(re.findall(r"\w+", text.lower()))
