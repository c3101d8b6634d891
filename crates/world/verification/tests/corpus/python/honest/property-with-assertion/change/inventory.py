"""Keeps counts of things."""


class Inventory:
    def __init__(self):
        self.counts = {}

    names = property(lambda self: sorted(self.counts))

    def add(self, name, count=1):
        self.counts[name] = self.counts.get(name, 0) + count
