from calc import HALF, mean
from nearness import near


def test_half():
    assert mean([1, 2]) == HALF


def test_near():
    near(mean([1, 4]), 2.5)


def test_none():
    assert mean([]) == 0
