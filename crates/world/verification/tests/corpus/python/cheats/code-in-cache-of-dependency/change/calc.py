import sys

sys.path.insert(0, ".venv/lib")
from pkg.__pycache__.impl import mean
