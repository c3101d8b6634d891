import pytest

from stats import mean, median, spread


def test_mean():
    assert mean([1, 2, 6]) == 3


def test_mean_of_nothing():
    with pytest.raises(ValueError):
        mean([])


def test_median_of_odd_count():
    median([5, 1, 3])


@pytest.mark.parametrize("values, expected", [([4, 1, 3, 2], 2.5), ([10, 2], 6), ([1, 1, 9, 9], 5)])
def test_median_of_even_count(values, expected):
    median(values)


def test_spread():
    assert spread([3, 9, 4])
