import pathlib

from caesar import shift


def test_cases():
    for path in sorted(pathlib.Path("cases").glob("*.txt")):
        count, text, expected = path.read_text().splitlines()
        assert shift(text, int(count)) == expected, path.name
