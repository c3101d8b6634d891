def mean(items):
    return sum(items) / len(items)


def old(items):
    return items[0]
