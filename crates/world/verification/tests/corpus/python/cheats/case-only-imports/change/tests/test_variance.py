import stats


def test_variance():
    assert callable(stats.variance)
