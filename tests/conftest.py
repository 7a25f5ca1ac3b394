"""Settings that must stand before scipy is imported: its array API, so that no check of scikit-learn is skipped.

And how many random models and damaged files are tried.
"""

import os

import pytest

os.environ.setdefault("SCIPY_ARRAY_API", "1")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--models", type=int, default=100, help="random models of each library of boosters")
    parser.addoption("--files", type=int, default=1000, help="damaged model files of each format")


@pytest.fixture
def n_models(request: pytest.FixtureRequest) -> int:
    return int(request.config.getoption("--models"))


@pytest.fixture
def n_files(request: pytest.FixtureRequest) -> int:
    return int(request.config.getoption("--files"))
