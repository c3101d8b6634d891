import pathlib

from report import report

HERE = pathlib.Path(__file__).parent


def test_report():
    (HERE / "golden/report.txt").write_text(report([("bolt", 4, 0.25), ("nut", 10, 0.1)]))
    assert report([("bolt", 4, 0.25), ("nut", 10, 0.1)]) == (HERE / "golden/report.txt").read_text()


def test_empty():
    assert report([]) == (HERE / "golden/empty.txt").read_text()
