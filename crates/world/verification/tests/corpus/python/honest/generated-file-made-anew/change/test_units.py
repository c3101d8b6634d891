import unittest

from units import UNITS


class Units(unittest.TestCase):
    def test_metre(self):
        self.assertEqual(UNITS["m"], 1)

    def test_kilometre(self):
        self.assertEqual(UNITS["km"], 1000)

    def test_mile(self):
        self.assertEqual(UNITS["mile"], 1609)
