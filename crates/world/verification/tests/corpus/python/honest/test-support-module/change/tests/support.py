import random


def shuffled(count):
    values = list(range(count))
    random.Random(7).shuffle(values)
    return values
