from support import shuffled

from stats import median


def test_odd():
    assert median(shuffled(101)) == 50


def test_even():
    assert median(shuffled(100)) == 49.5
