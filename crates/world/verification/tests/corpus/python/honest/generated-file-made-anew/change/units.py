# Made by generate.py from units.txt.
UNITS = {'m': 1, 'km': 1000, 'mile': 1609}
