import statistics

import pytest

from stats import mean, median


@pytest.mark.parametrize("values", [[5, 1, 3], [4, 1, 3, 2], [1, 1, 9, 9]])
def test_median(values):
    assert median(values) == statistics.median(values)


def test_mean():
    assert mean([1, 2, 6]) == 3
