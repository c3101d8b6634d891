import unittest


class Inventory:
    def __init__(self):
        self.counts = {"a": 3}

    def remove(self, name, count=1):
        self.counts[name] -= count


class Remove(unittest.TestCase):
    def test_remove(self):
        inventory = Inventory()
        inventory.remove("a", 2)
        self.assertEqual(inventory.counts, {"a": 1})
