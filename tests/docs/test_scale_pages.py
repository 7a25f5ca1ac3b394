"""The pages on large tables are what their scripts make of the raw results."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MADE = {
    "benchmarks-scale.md": "import scale; print(scale.page(scale.known()))",
    "scale.md": "import scale_dask; print(scale_dask.tables(scale_dask.known()))",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MADE)
def test_a_page_on_large_tables_is_made_from_the_raw_results(name):
    command = [sys.executable, "-c", MADE[name]]
    text = {"env": os.environ | {"PYTHONUTF8": "1"}, "encoding": "utf-8"}
    made = subprocess.run(command, cwd=ROOT / "benchmarks", capture_output=True, check=True, **text)
    assert made.stdout.strip() in (ROOT / "docs" / name).read_text(encoding="utf-8")
