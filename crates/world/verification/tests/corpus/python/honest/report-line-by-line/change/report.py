"""Prints the totals of an order as text."""


def report(items):
    total = 0
    text = ""
    for name, count, price in items:
        total += count * price
        text += f"{name:<10}{count:>4}{price:>8.2f}\n"
    return text + f"{'total':<14}{total:>8.2f}\n"
