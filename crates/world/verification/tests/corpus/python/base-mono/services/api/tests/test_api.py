from api import join


def test_join():
    assert join("a", "b") == "/a/b"


def test_slashes():
    assert join("/a/", "", "/b") == "/a/b"


def test_root():
    assert join() == "/"
