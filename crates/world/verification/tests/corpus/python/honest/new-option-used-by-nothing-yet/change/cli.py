"""Prints the mean of the numbers on the command line."""
import sys

from stats import mean

if __name__ == "__main__":
    print(mean([float(word) for word in sys.argv[1:]]))
