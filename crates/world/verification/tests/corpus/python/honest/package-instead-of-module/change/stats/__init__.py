"""Small statistics over lists of numbers."""
from .middle import median
from .simple import mean, spread

__all__ = ["mean", "median", "spread"]
