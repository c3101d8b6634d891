from units import UNITS, known, miles


def metres(number, name):
    if not known(name):
        raise ValueError(name)
    factor = UNITS[name]
    return number * factor
