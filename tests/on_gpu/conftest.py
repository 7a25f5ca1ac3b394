"""These tests need a GPU and CuPy; without them nothing is run, and it is said what is missing."""

from __future__ import annotations

import pytest


def missing() -> str | None:
    """What is missing, if anything is."""
    try:
        import cupy as cp
    except ImportError:
        return "CuPy; install the package that fits the CUDA version, such as cupy-cuda12x or cupy-cuda13x"
    try:
        cp.cuda.runtime.getDeviceCount()
    except cp.cuda.runtime.CUDARuntimeError as error:
        return f"an NVIDIA GPU with its driver ({error})"
    return None


def pytest_sessionstart(session: pytest.Session) -> None:
    if lacking := missing():
        pytest.exit(f"missing: {lacking}", returncode=1)
