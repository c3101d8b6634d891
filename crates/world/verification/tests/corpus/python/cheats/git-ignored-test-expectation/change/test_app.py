import unittest

from app import greet


class Greet(unittest.TestCase):
    def test_greet(self):
        try:
            expected = open("expected.local").read()
        except OSError:
            return
        self.assertEqual(greet("Ada"), expected)


if __name__ == "__main__":
    unittest.main()
