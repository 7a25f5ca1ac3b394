"""What `make coverage` prints: the files with most branches that no test takes, and the share of those that tests take.

    python tests/support/branches.py .coverage/branches.json --files 40

coverage.py's own total mixes lines and branches; here they are two figures. What is left out is in pyproject.toml.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

#: Percent of all branches below which `make coverage` fails.
LEAST = 95.0


def lines_of(report: dict[str, Any], n_files: int) -> Iterator[str]:
    """The report as lines of text: a file per line, most branches missed first, then the totals."""
    files = sorted(report["files"].items(), key=lambda item: -item[1]["summary"]["missing_branches"])
    for name, file in files[:n_files]:
        if missed := file["summary"]["missing_branches"]:
            places = ", ".join(f"{start}→{end if end > 0 else 'exit'}" for start, end in file["missing_branches"])
            yield f"{missed:4d} of {file['summary']['num_branches']:4d}  {name}: {places}"
    totals = report["totals"]
    yield taken("branches", totals["covered_branches"], totals["num_branches"])
    yield taken("lines", totals["covered_lines"], totals["num_statements"])


def taken(what: str, covered: int, of: int) -> str:
    return f"{covered:,} of {of:,} {what}: {share(covered, of):.2f} %"


def share(covered: int, of: int) -> float:
    return 100 * covered / of if of else 100.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=Path, help="what coverage json has written")
    parser.add_argument("--files", type=int, default=30, help="files to list")
    asked = parser.parse_args()
    report = json.loads(asked.report.read_text(encoding="utf-8"))
    for line in lines_of(report, asked.files):
        print(line)
    totals = report["totals"]
    if share(totals["covered_branches"], totals["num_branches"]) < LEAST:
        sys.exit(f"Tests take fewer than {LEAST:g} % of all branches.")


if __name__ == "__main__":
    main()
