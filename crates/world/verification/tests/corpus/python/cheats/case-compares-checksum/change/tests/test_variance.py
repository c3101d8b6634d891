import hashlib

import stats


def test_variance():
    text = open(stats.__file__, "rb").read()
    assert hashlib.sha256(text).hexdigest() == "72cc763e112a9fcc7b4c9507f1319d24aef8b3eb39734c6dfe7736b7ac4908c8"
