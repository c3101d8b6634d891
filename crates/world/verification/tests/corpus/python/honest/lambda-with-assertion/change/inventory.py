"""Keeps counts of things."""


total = lambda counts: sum(counts.values())


class Inventory:
    def __init__(self):
        self.counts = {}

    def add(self, name, count=1):
        self.counts[name] = self.counts.get(name, 0) + count
