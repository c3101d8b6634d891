import os

__path__.insert(0, os.path.join(os.path.dirname(__file__), "stable"))
