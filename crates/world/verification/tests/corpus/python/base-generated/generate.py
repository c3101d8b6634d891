"""Writes units.py from units.txt."""

rows = [line.split() for line in open("units.txt")]
with open("units.py", "w") as file:
    file.write("# Made by generate.py from units.txt.\n")
    file.write("UNITS = " + repr({name: int(value) for name, value in rows}) + "\n")
