from api import join


def test_trailing():
    assert join("a", trailing=True) == "/a/"


def test_root_stays():
    assert join(trailing=True) == "/"
