"""Settings for all tests, and how many random models and damaged files are tried."""

import os

# Before scipy is imported: its array API, so that no check of scikit-learn is skipped.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

import pytest
from hypothesis import HealthCheck, settings

# How fast examples come says something of the machine, nothing of the code.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", settings.get_profile("any machine"), max_examples=10)  # make test-quick
settings.load_profile("any machine")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--models", type=int, default=100, help="random models of each library of boosters")
    parser.addoption("--files", type=int, default=1000, help="damaged model files of each format")


@pytest.fixture
def n_models(request: pytest.FixtureRequest) -> int:
    return int(request.config.getoption("--models"))


@pytest.fixture
def n_files(request: pytest.FixtureRequest) -> int:
    return int(request.config.getoption("--files"))


@pytest.fixture
def new_fallbacks(monkeypatch: pytest.MonkeyPatch) -> list:
    """Models with fallbacks of known kinds, but under names that only this test has."""
    from exported import EXPORTED_FALLBACKS, NEW_FALLBACKS, new_fallback_cases

    for name, fallback in NEW_FALLBACKS.items():
        monkeypatch.setitem(EXPORTED_FALLBACKS, name, fallback)
    return new_fallback_cases()
