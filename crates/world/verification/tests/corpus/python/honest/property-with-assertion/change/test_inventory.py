import unittest

from inventory import Inventory


class T(unittest.TestCase):
    def test_names(self):
        inventory = Inventory()
        inventory.add("b")
        inventory.add("a")
        self.assertEqual(inventory.names, ["a", "b"])
