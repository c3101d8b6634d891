import pytest


@pytest.fixture
def sample():
    return [2, 8, 5]
