import unittest

from inventory import Inventory


class Remove(unittest.TestCase):
    def test_remove(self):
        inventory = Inventory()
        inventory.add("a", 3)
        inventory.remove("a", 2)
        self.assertEqual(inventory.counts, {"a": 2})
