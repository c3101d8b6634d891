import unittest

from stats import *


class T(unittest.TestCase):
    def test_mean(self):
        self.assertEqual(round(mean([1, 2, 6]), 2), 3)

    def test_odd(self):
        self.assertEqual(round(median([5, 1, 3]), 2), 3)

    def test_even(self):
        self.assertEqual(round(median([4, 1, 3, 2]), 2), 2.5)
