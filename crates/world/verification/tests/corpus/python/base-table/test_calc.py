import json
import unittest

from calc import mean


class T(unittest.TestCase):
    def test_mean(self):
        for items, expected in json.load(open("data/means.json")):
            self.assertEqual(mean(items), expected)

    def test_half(self):
        self.assertEqual(mean([1, 2]), float(open("docs/half.txt").read()))
