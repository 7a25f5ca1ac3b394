"""Pages of results, with their day and the versions behind them."""

from __future__ import annotations

import platform
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import rulecover
from rulecover.files import whole_file

#: Packages that figures of every kind depend on.
_ALWAYS = ("scikit-learn", "numpy", "scipy", "highspy")


def write_page(path: Path, text: str, *packages: str) -> None:
    """Writes a Markdown page, with the day and the versions in its last line."""
    with whole_file(path) as file:
        file.write(f"{text.rstrip()}\n\n{dated_line(*packages)}\n")


def dated_line(*packages: str) -> str:
    """The day, and the versions of ours, of the packages that we compute with, and of others by name."""
    names = dict.fromkeys([*_ALWAYS, *packages])
    found = ", ".join(f"{name} {_version(name)}" for name in names)
    return (
        f"*Results of {date.today().isoformat()}, with rulecover {rulecover.__version__}, {found}, "
        f"Python {platform.python_version()}.*"
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "(not installed)"
