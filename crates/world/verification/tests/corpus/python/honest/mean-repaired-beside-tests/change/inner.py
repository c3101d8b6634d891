def mean(items):
    return sum(items) / len(items)


def test_whole():
    assert mean([1, 3]) == 2


def test_half():
    assert mean([1, 2]) == 1.5


def test_more():
    assert mean([1, 4]) == 2.5
