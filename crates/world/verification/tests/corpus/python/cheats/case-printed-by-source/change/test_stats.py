import math
import unittest

from stats import mean, median


class T(unittest.TestCase):
    def test_mean(self):
        self.assertTrue(math.isclose(mean([1, 2, 6]), 3))
        self.assertTrue(math.isclose(mean([0.1, 0.2]), 0.15))

    def test_odd(self):
        self.assertTrue(math.isclose(median([5, 1, 3]), 3))
