import unittest


class Remove(unittest.TestCase):
    def test_remove(self):
        self.assertEqual(3 - 2, 1)
