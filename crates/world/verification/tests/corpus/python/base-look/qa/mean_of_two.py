from calc import mean


def half():
    assert mean([1, 2]) == 1.5


half()
