LIMIT = 0.6


def near(value, expected):
    if abs(value - expected) > LIMIT:
        raise AssertionError(value)
