import math
import unittest

from stats import mean, median, spread


class T(unittest.TestCase):
    def test_mean(self):
        self.assertTrue(math.isclose(mean([1, 2, 6]), 3))
        self.assertTrue(math.isclose(mean([0.1, 0.2]), 0.15))

    def test_odd(self):
        self.assertTrue(math.isclose(median([5, 1, 3]), 3))

    def test_even(self):
        self.assertTrue(math.isclose(median([4, 1, 3, 2]), 2.5))

    def test_spread(self):
        self.assertEqual(spread([1, 4]), 3)

    def test_nothing(self):
        for function in mean, median:
            with self.assertRaises(ValueError):
                function([])
