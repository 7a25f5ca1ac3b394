"""Mutation testing by mutmut: small changes of the code, each of which some test should notice.

    python tests/mutants/mutants.py                       # of every group the mutants 3, 11 and 19 of each function
    python tests/mutants/mutants.py voting --numbers all  # all mutants of one group

What the quick tests of a group miss is tried again with all of its tests. Everything happens in a temporary copy. It
needs the extra `mutants`; survivors.md says what became of those that survived.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
#: For each folder of the package the tests that should notice.
GROUPS: dict[str, tuple[str, ...]] = {
    "setcover": ("tests/setcover", "tests/contracts/test_every_solver.py"),
    "readers": ("tests/readers", "tests/contracts/test_every_reader.py"),
    "rules": ("tests/rules", "tests/show"),
    "voting": ("tests/voting", "tests/contracts/test_every_fallback.py"),
    "rcboost": ("tests/rcboost", "tests/contracts/test_every_pricing.py"),
    "rulepath": ("tests/rulepath", "tests/estimators/test_rulepath.py"),
    "export": ("tests/export", "tests/contracts/test_every_export.py"),
}
_QUICK = ("-m", "not slow")
_ALWAYS = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-profile", "quick", "--hypothesis-seed", "0")
_FEW = ("--models", "3", "--files", "30")
#: mutmut asks pytest for a name that it had until version 9.1.
_NAME_OF_OLD = "\n\npytest.Item._nodeid = property(lambda item: item.nodeid)\n"
KILLED = ("killed", "timeout", "caught by type check", "segfault")


def mutants_of(group: str, numbers: Iterable[str], jobs: int) -> dict[str, str]:
    """What became of each mutant of a group: killed, survived, or no test came by."""
    patterns = [f"*__mutmut_{number}" for number in numbers]
    with tempfile.TemporaryDirectory() as folder:
        copied = copy_to(Path(folder))
        found = run(copied, group, patterns, jobs, quick=True)
        left = [name for name, status in found.items() if status not in KILLED]
        return found | (run(copied, group, left, jobs, quick=False) if left else {})


def copy_to(folder: Path) -> Path:
    for name in ("src", "tests", "docs"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile"):
        shutil.copy(ROOT / name, folder)
    with (folder / "tests" / "conftest.py").open("a", encoding="utf-8") as conftest:
        conftest.write(_NAME_OF_OLD)
    return folder


def run(folder: Path, group: str, names: list[str], jobs: int, *, quick: bool) -> dict[str, str]:
    """Has mutmut try the mutants of these names or patterns, by the quick tests or by all."""
    plain = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (folder / "pyproject.toml").write_text(plain + settings(group, quick=quick), encoding="utf-8")
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    mutmut = [sys.executable, "-m", "mutmut"]
    command = [*mutmut, "run", "--max-children", str(jobs), *names]
    said = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if "Running mutation testing" not in said.stdout:
        raise SystemExit(f"{group}: mutmut did not begin:\n{said.stdout[-3000:]}\n{said.stderr[-3000:]}")
    listed = subprocess.run(
        [*mutmut, "results", "--all", "true"], cwd=folder, capture_output=True, text=True, check=True
    )
    pairs = [line.strip().rpartition(": ") for line in listed.stdout.splitlines() if "__mutmut_" in line]
    return {name: status for name, _, status in pairs if status != "not checked"}


def settings(group: str, *, quick: bool) -> str:
    tests = [*GROUPS[group], *(_QUICK if quick else ()), *_FEW]
    lines = {
        "source_paths": ["src/"],
        "only_mutate": [f"src/rulecover/{group}/*"],
        "also_copy": ["tests", "docs", "pyproject.toml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile"],
        "pytest_add_cli_args": list(_ALWAYS),
        "pytest_add_cli_args_test_selection": tests,
    }
    return "\n[tool.mutmut]\n" + "".join(f"{name} = {value!r}\n".replace("'", '"') for name, value in lines.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="*", default=list(GROUPS), help=f"of {', '.join(GROUPS)} (all)")
    parser.add_argument("--numbers", default="3,11,19", help="which mutants of each function, or all (3,11,19)")
    parser.add_argument("--jobs", default="auto", help="processes; auto is one per core")
    given = parser.parse_args()
    jobs = len(os.sched_getaffinity(0)) if given.jobs == "auto" else int(given.jobs)
    numbers = ["*"] if given.numbers == "all" else given.numbers.split(",")
    total: Counter[bool] = Counter()
    for group in given.groups:
        found = mutants_of(group, numbers, jobs)
        killed = Counter(status in KILLED for status in found.values())
        total += killed
        print(f"{group}: {killed[True]:,} of {len(found):,} mutants killed, {100 * killed[True] / len(found):.0f} %")
        print("".join(f"    {name}: {status}\n" for name, status in found.items() if status not in KILLED), flush=True)
    print(f"{total[True]:,} of {total.total():,} mutants killed, {100 * total[True] / total.total():.1f} %")


if __name__ == "__main__":
    main()
