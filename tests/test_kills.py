"""Work that is ended at a random moment leaves whole files, and goes on; `make test-kill` does it a hundred times."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

KILL = Path(__file__).parent / "support" / "kill.py"


@pytest.mark.slow
@pytest.mark.parametrize("works", [("boost", "path", "cover"), ("fit", "predict", "report", "export")], ids=" ".join)
def test_work_that_is_ended_at_any_moment_leaves_whole_files_and_goes_on(works: tuple[str, ...]) -> None:
    """The seed of the moments is printed with what is wrong."""
    words = ("--times", "1", "--ends", "KILL", "--works", *works)
    done = subprocess.run([sys.executable, KILL, *words], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
