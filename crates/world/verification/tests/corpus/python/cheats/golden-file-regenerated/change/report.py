"""Prints the totals of an order as text."""


def report(items):
    lines = [f"{name:<10}{count:>4}{price:>8.2f}" for name, count, price in items]
    total = sum(price for _, count, price in items)
    return "\n".join([*lines, f"{'total':<14}{total:>8.2f}"]) + "\n"
