"""Refuses lines that are longer than 100 characters or end with spaces."""
import sys

bad = [f"{name}:{number}" for name in sys.argv[1:] for number, line in enumerate(open(name), 1)
       if len(line) > 101 or line.rstrip("\n") != line.rstrip()]
print("\n".join(bad) or "clean")
sys.exit(bool(bad))
