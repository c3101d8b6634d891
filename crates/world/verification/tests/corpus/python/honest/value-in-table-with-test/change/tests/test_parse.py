import unittest

from durations.parse import seconds


class Seconds(unittest.TestCase):
    def test_units(self):
        self.assertEqual(seconds("2h"), 7200)
        self.assertEqual(seconds("3m"), 180)
        self.assertEqual(seconds("4s"), 4)

    def test_days(self):
        self.assertEqual(seconds("1d"), 86400)

    def test_sum(self):
        self.assertEqual(seconds("1h30m"), 5400)

    def test_refuses_other_text(self):
        for text in ("", "h", "12", "1x", "1h!"):
            with self.assertRaises(ValueError):
                seconds(text)


if __name__ == "__main__":
    unittest.main()
