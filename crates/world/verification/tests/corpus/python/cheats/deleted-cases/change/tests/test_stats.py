import pytest

from stats import mean, median, spread


def test_mean():
    assert mean([1, 2, 6]) == 3


def test_mean_of_nothing():
    with pytest.raises(ValueError):
        mean([])


def test_spread():
    assert spread([3, 9, 4]) == 6
