from stats import variance


def test_variance():
    assert variance([1, 3]) == 1


def test_constant():
    assert variance([4, 4, 4]) == 0
