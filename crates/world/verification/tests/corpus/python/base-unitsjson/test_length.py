import unittest

from length import metres


class T(unittest.TestCase):
    def test_km(self):
        self.assertEqual(metres(2, "km"), 2000)
