from stats import midrange


def test_midrange(sample):
    assert midrange(sample) == 5
