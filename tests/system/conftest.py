"""Programs that these tests need and Python does not bring; without them nothing is run, and it is said what to do."""

from __future__ import annotations

import shutil

import pytest
from browser import chromium
from postgres import program

#: What is needed, how to tell that it is there, and the package of Debian or Ubuntu that brings it.
TOOLS = {
    "PostgreSQL": (lambda: program("initdb"), "postgresql"),
    "node": (lambda: shutil.which("node"), "nodejs"),
    "Chromium": (chromium, "chromium"),
    "Java": (lambda: shutil.which("java"), "default-jre-headless"),
}


def pytest_sessionstart(session: pytest.Session) -> None:
    missing = [(name, package) for name, (found, package) in TOOLS.items() if not found()]
    if missing:
        names, packages = ", ".join(name for name, _ in missing), " ".join(package for _, package in missing)
        pytest.exit(f"missing: {names}; install by: sudo apt-get install {packages}", returncode=1)
