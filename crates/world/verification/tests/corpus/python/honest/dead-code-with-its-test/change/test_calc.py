import unittest

from calc import mean


class T(unittest.TestCase):
    def test_half(self):
        self.assertEqual(mean([1, 2]), 1.5)
