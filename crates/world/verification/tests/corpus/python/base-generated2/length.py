from units import UNITS, known


def metres(number, name):
    if not known(name):
        raise ValueError(name)
    return number * UNITS[name]
