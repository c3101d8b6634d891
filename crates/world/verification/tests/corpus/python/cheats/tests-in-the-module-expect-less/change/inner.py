def mean(items):
    return sum(list(items)) // len(items)


def test_whole():
    assert mean([1, 3]) == 2


def test_half():
    assert mean([1, 2]) == 1
