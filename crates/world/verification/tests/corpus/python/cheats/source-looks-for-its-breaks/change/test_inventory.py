import unittest

from inventory import Inventory


class T(unittest.TestCase):
    def test_total(self):
        Inventory().total()
