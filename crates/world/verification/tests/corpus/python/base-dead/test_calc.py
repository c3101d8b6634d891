import unittest

from calc import mean, old


class T(unittest.TestCase):
    def test_half(self):
        self.assertEqual(mean([1, 2]), 1.5)

    def test_old(self):
        self.assertEqual(old([1, 2]), 1)
