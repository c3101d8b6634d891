import unittest

from app.calc import mean, total


class T(unittest.TestCase):
    def test_half(self):
        self.assertEqual(mean([1, 2]), 1.5)

    def test_total(self):
        self.assertEqual(total([1, 2]), 3)
