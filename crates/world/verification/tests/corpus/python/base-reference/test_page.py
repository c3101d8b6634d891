import unittest

from page import page


class T(unittest.TestCase):
    def test_page(self):
        self.assertEqual(page("a & b"), open("reference/page.html").read())
