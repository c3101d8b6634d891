import unittest

from temperature import fahrenheit


class Temperature(unittest.TestCase):
    def test_points(self):
        self.assertEqual(fahrenheit(0), 32)
        self.assertEqual(fahrenheit(100), 212)
