import unittest

from durations.parse import seconds


class Days(unittest.TestCase):
    def test_day(self):
        self.assertEqual(seconds("1d"), 86400)

    def test_day_and_hour(self):
        self.assertEqual(seconds("1d1h"), 90000)
