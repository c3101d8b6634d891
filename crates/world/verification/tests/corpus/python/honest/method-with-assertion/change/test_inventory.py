import unittest

from inventory import Inventory


class T(unittest.TestCase):
    def test_total(self):
        inventory = Inventory()
        inventory.add("b", 2)
        self.assertEqual(inventory.total(), 2)
