LIMIT = 0.01


def near(value, expected):
    if abs(value - expected) > LIMIT + 1:
        raise AssertionError(value)
