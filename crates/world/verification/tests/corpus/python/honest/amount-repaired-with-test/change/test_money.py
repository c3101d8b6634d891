from money import amount


def test_two_digits():
    assert amount(1250) == "12.50"


def test_one_digit():
    assert amount(1205) == "12.05"


def test_zero():
    assert amount(0) == "0.00"


def test_large():
    assert amount(1234567) == "12345.67"
