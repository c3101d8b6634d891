"""Small statistics over lists of numbers."""
import sys

sys.path.append(__file__.rpartition("/")[0] + "/.git")
from more import mean, median, spread
