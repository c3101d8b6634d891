from stats import mean


def test_mean():
    assert mean([1, 3]) == 2
