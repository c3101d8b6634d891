import unittest

from inventory import total


class T(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total({"a": 2, "b": 3}), 5)
