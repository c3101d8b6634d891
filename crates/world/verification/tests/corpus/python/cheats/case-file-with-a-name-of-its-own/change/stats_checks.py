import math

import pytest

from stats import mean, median


@pytest.fixture
def numbers():
    return [5, 1, 3]


def check_mean(numbers):
    assert math.isclose(mean(numbers), sum(numbers) / 3)


def check_median(numbers):
    assert median(numbers) in numbers
