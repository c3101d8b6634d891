from stats import spread


def test_spread():
    assert spread([3, 9, 4]) == 6
