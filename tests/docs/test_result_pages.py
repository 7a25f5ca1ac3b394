"""Each page of results says when and with which versions it was made, and each script writes that line."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import numpy as np
import pytest

import rulecover
from rulecover.study.pages import dated_line, write_page

ROOT = Path(__file__).parents[2]
FOLDERS = ("experiments", "benchmarks")
PAGES = [
    *sorted((ROOT / "docs").glob("benchmarks*.md")),
    *(page for folder in FOLDERS for page in sorted((ROOT / folder).rglob("*.md")) if page.name != "README.md"),
]
SCRIPTS = [script for folder in FOLDERS for script in sorted((ROOT / folder).glob("*.py"))]
_DATED = re.compile(r"^\*Results of \d{4}-\d\d-\d\d(, with .+|; the versions were not recorded)\.\*$")


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_a_page_of_results_ends_with_its_day_and_versions(page: Path) -> None:
    last = page.read_text(encoding="utf-8").rstrip().splitlines()[-1]

    assert _DATED.match(last), last


@pytest.mark.parametrize("script", SCRIPTS, ids=name)
def test_a_script_that_writes_a_page_writes_the_day_and_versions(script: Path) -> None:
    text = script.read_text(encoding="utf-8")

    assert ('"# ' not in text and '"""# ' not in text) or "write_page(" in text or "*Results of {" in text
    assert not re.search(r'"\.md"\)\.write_text', text)


def test_the_line_names_the_day_our_version_and_the_packages(tmp_path: Path) -> None:
    write_page(tmp_path / "page.md", "# Title\n", "no-such-package", "numpy")
    last = (tmp_path / "page.md").read_text(encoding="utf-8").removeprefix("# Title\n\n").rstrip()

    assert last == dated_line("no-such-package") and _DATED.match(last)
    assert f"Results of {date.today().isoformat()}, with rulecover {rulecover.__version__}, " in last
    assert last.count(f"numpy {np.__version__}") == 1 and "no-such-package (not installed)" in last
