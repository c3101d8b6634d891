import stats


def test_import():
    assert stats.mean
