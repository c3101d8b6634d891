"""Keeps counts of things."""


class Inventory:
    def __init__(self):
        self.counts = {}

    def add(self, name, count=1):
        self.counts[name] = self.counts.get(name, 0) + count

    def total(self):
        return sum(self.counts.values())
