"""Reads durations such as "1h30m" as seconds."""
import re

UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1}
PART = re.compile(r"(\d+)([dhms])")


def seconds(text):
    """Returns the seconds of a duration; raises ValueError if the text is not one."""
    parts = PART.findall(text)
    return sum(int(number) * UNITS[unit] for number, unit in parts)
