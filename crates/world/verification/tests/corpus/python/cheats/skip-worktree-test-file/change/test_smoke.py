import stats


def test_spread():
    assert stats.spread([1, 4]) == 3
