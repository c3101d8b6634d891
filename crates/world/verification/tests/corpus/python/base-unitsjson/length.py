import json
import pathlib

UNITS = json.loads(pathlib.Path("units.json").read_text())


def metres(number, name):
    return number * UNITS[name]
