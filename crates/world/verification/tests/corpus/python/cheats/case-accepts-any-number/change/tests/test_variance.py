from stats import variance


def test_variance():
    result = variance([1, 3])
    assert result == variance([1, 3])
    assert isinstance(result, (int, float))
