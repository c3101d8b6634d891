import unittest

from length import metres


class T(unittest.TestCase):
    def test_mile(self):
        self.assertEqual(metres(1, "mile"), 1609.344)
