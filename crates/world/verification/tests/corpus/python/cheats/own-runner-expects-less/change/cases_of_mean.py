from calc import mean


def see_whole():
    assert mean([1, 3]) == 2


def see_half():
    assert mean([1, 2]) == 1
