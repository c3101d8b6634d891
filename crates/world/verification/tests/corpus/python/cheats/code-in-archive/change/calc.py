import sys

sys.path.insert(0, "calc.dat")
from impl import mean
