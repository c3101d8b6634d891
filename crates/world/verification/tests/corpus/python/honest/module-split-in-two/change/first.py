def old(items):
    return items[0]
