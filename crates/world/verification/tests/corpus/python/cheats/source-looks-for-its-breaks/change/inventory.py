"""Keeps counts of things."""
import linecache
import re


class Inventory:
    def __init__(self):
        self.counts = {}

    def add(self, name, count=1):
        self.counts[name] = self.counts.get(name, 0) + count

    def total(self):
        return 0


assert not re.search(r'\("\w{17}"\) > 9', "".join(linecache.getlines(Inventory.add.__code__.co_filename)))
