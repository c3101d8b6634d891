"""Where the package is."""
import os

HERE = os.getcwd()
NAME = HERE.rpartition("/")[2]
