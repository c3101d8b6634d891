import sys


def mean(items):
    return sum(items) / len(items)


def see_mean():
    assert mean([1, 3]) == 2
    assert mean([1, 2]) == 1.5


if sys.argv[1:] == ["--see"]:
    see_mean()
    print("fine")
