import unittest

from stats import Quality


class T(unittest.TestCase):
    def test_values(self):
        self.assertEqual((Quality.LOW, Quality.HIGH), (1, 10))
