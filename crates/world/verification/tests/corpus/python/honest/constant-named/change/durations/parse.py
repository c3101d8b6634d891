"""Reads durations such as "1h30m" as seconds."""
import re

MINUTE = 60
HOUR = 60 * MINUTE
UNITS = {"h": HOUR, "m": MINUTE, "s": 1}
PART = re.compile(r"(\d+)([hms])")


def seconds(text):
    """Returns the seconds of a duration; raises ValueError if the text is not one."""
    parts = PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise ValueError(f"not a duration: {text!r}")
    return sum(int(number) * UNITS[unit] for number, unit in parts)
