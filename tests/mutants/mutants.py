"""Mutation testing by mutmut: small changes of the code, each of which some test should notice.

    python tests/mutants/mutants.py                          # of every group 60 mutants, drawn at random by seed 1
    python tests/mutants/mutants.py voting --sample all      # all mutants of one group
    python tests/mutants/mutants.py voting --folder kept     # keeps the mutants there: a second run begins at once
    python tests/mutants/mutants.py voting --only NAME NAME  # these mutants
    python tests/mutants/mutants.py voting --quick           # without the tests that are marked slow
    python tests/mutants/mutants.py voting --since COMMIT    # only of functions that have changed since then

Every mutant of a group has the same chance to be drawn, so that the rate of a sample is an estimate of the rate of all;
it is printed with its 95 % interval. Everything happens in a copy. It needs the extra `mutants`; survivors.md has what
was measured, and what became of those that survived. With `--quick` the rate is a lower bound, in a tenth of the time.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import hashlib
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
#: For each folder of the package the tests that should notice; for `pmml`, a module of `export`, those that need Java.
GROUPS: dict[str, tuple[str, ...]] = {
    "setcover": ("tests/setcover", "tests/contracts/test_every_solver.py", "tests/golden"),
    "readers": (
        "tests/readers",
        "tests/contracts/test_every_reader.py",
        "tests/data/test_encoder.py",
        "tests/estimators/test_mixed_frames.py",
        "tests/golden",
    ),
    "rules": ("tests/rules", "tests/show", "tests/golden"),
    "voting": (
        "tests/voting",
        "tests/contracts/test_every_fallback.py",
        "tests/contracts/test_every_vote.py",
        "tests/estimators/test_regression.py",
        "tests/show",
        "tests/golden",
    ),
    "rcboost": (
        "tests/rcboost",
        "tests/contracts/test_every_pricing.py",
        "tests/estimators/test_rcboost.py",
        "tests/golden",
    ),
    "rulepath": ("tests/rulepath", "tests/estimators/test_rulepath.py", "tests/golden"),
    "estimators": ("tests/estimators", "tests/contracts/test_every_estimator.py", "tests/golden"),
    "data": ("tests/data", "tests/rules", "tests/cli/tables", "tests/estimators/test_mixed_frames.py"),
    "cli": ("tests/cli",),
    "export": ("tests/export", "tests/contracts/test_every_export.py", "tests/system/test_node.py"),
    "pmml": ("tests/system/test_jpmml.py",),
}
#: What is mutated, and what is not, where that is not the folder of the group's name.
_MUTATED = {
    "export": ("src/rulecover/export/*", "src/rulecover/export/pmml.py"),
    "pmml": ("src/rulecover/export/pmml.py", ""),
}
_COPIED = ("tests", "docs", "experiments", "pyproject.toml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile")
#: A test that loops forever fails after a minute; doctests of test modules are not looked for.
_ALWAYS = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-o", "addopts=", "-o", "timeout=60")
_FEW = ("--models", "3", "--files", "30", "--hypothesis-profile", "mutants")
#: mutmut asks pytest for a name that it had until version 9.1, and for single tests, of which pytest does not find all
#: by names with odd characters. The quickest tests come first. A mutant is killed by the first example that fails: it
#: need not be made small.
_CONFTEST = """

import itertools
import json
from pathlib import Path

from hypothesis import Phase


def pytest_configure(config):
    config.wanted = {arg for arg in config.args if "::" in arg}
    config.args = list(dict.fromkeys(arg.partition("::")[0] for arg in config.args))


def pytest_collection_modifyitems(config, items):
    if not config.wanted:
        return
    items[:] = [item for item in items if item.nodeid in config.wanted]
    mutant = os.environ["MUTANT_UNDER_TEST"]
    if not mutant:
        items[:] = items[:20]  # all of them have just passed, when it was noted which of them concern a mutant
    if "__mutmut_" in mutant:
        took = json.loads(Path("mutmut-stats.json").read_text(encoding="utf-8"))["duration_by_test"]
        items.sort(key=lambda item: took[item.nodeid])
        together = itertools.accumulate(took[item.nodeid] for item in items)
        most = float(os.environ.get("SECONDS_EACH", "inf"))
        items[:] = [item for item, seconds in zip(items, together) if seconds < most] or items[:1]


pytest.Item._nodeid = property(lambda item: item.nodeid)
settings.register_profile(
    "mutants",
    settings.get_profile("quick"),
    phases=[Phase.explicit, Phase.generate],
    derandomize=True,
    database=None,
)
"""
_GENERATE = """
from pathlib import Path
from mutmut import __main__ as mutmut
Path("mutants").mkdir(exist_ok=True)
mutmut.copy_src_dir()
mutmut.copy_also_copy_files()
mutmut.create_mutants(1)
"""
KILLED = ("killed", "timeout", "caught by type check", "segfault")


@dataclass(frozen=True)
class Rate:
    """How many of the mutants that were tried were killed, and how many there are."""

    killed: int
    tried: int
    mutants: int

    @property
    def share(self) -> float:
        return self.killed / self.tried

    @property
    def variance(self) -> float:
        """Of the share as an estimate of that of all mutants; 0 where all were tried."""
        smoothed = (self.killed + 1) / (self.tried + 2)
        return smoothed * (1 - smoothed) / self.tried * (1 - self.tried / self.mutants)


def overall(rates: list[Rate]) -> tuple[float, float]:
    """The share of all mutants of these groups that is killed, as estimated, and half of its 95 % interval."""
    mutants = sum(rate.mutants for rate in rates)
    share = sum(rate.mutants / mutants * rate.share for rate in rates)
    return share, 1.96 * math.sqrt(sum((rate.mutants / mutants) ** 2 * rate.variance for rate in rates))


def drawn(names: list[str], sample: int | None, seed: int) -> list[str]:
    """As many of the names, each with the same chance; a larger sample of the same seed holds a smaller one."""
    by_chance = sorted(names, key=lambda name: hashlib.sha256(f"{seed} {name}".encode()).digest())
    return by_chance[:sample]


def changed_since(commit: str, group: str) -> set[str]:
    """The functions of a group of which a line has changed or is new, as mutmut names them."""
    mutated, left_alone = _of(group)
    found = set()
    for path in ROOT.glob(mutated.replace("/*", "/**/*.py")):
        if path != ROOT / left_alone:
            module = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")
            lines = changed_lines(git_diff(commit, path))
            found |= {f"{module}.{name}" for name, of_it in functions(path.read_text("utf-8")) if lines & of_it}
    return found


def git_diff(commit: str, path: Path) -> str:
    command = ["git", "diff", "--unified=0", commit, "--", str(path)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def changed_lines(diff: str) -> set[int]:
    """The new numbers of the lines that have changed or are new."""
    hunks = re.findall(r"^@@ \S+ \+(\d+)(?:,(\d+))? @@", diff, re.MULTILINE)
    return {line for first, many in hunks for line in range(int(first), int(first) + int(many or 1))}


def functions(source: str) -> Iterator[tuple[str, set[int]]]:
    """Each function and method, as mutmut names it, and its lines."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef):
            yield f"x_{node.name}", {*range(node.lineno, (node.end_lineno or node.lineno) + 1)}
        elif isinstance(node, ast.ClassDef):
            for each in node.body:
                if isinstance(each, ast.FunctionDef):
                    yield f"xǁ{node.name}ǁ{each.name}", {*range(each.lineno, (each.end_lineno or each.lineno) + 1)}


@contextmanager
def copy_of_project(kept: Path | None) -> Iterator[Path]:
    if kept is not None:
        yield copy_to(kept.resolve())
        return
    with tempfile.TemporaryDirectory() as folder:
        yield copy_to(Path(folder))


def copy_to(folder: Path) -> Path:
    """The project in a folder, which may hold an older copy."""
    for name in ("src", *_COPIED):
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, folder / name, ignore=ignored, dirs_exist_ok=True)
        else:
            shutil.copy2(ROOT / name, folder)
    with (folder / "tests" / "conftest.py").open("a", encoding="utf-8") as conftest:
        conftest.write(_CONFTEST)
    return folder


def generate(folder: Path, group: str, *, quick: bool) -> list[str]:
    """Writes all mutants of a group, and returns their names."""
    plain = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (folder / "pyproject.toml").write_text(plain + settings(group, quick=quick), encoding="utf-8")
    subprocess.run([sys.executable, "-c", _GENERATE], cwd=folder, stdout=subprocess.DEVNULL, check=True)
    return list(results(folder))


def run(folder: Path, group: str, names: list[str], jobs: int, seconds: str | None) -> dict[str, str]:
    """What became of each of these mutants: killed, survived, or no test came by."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(folder / "mutants" / "src")}
    if seconds is not None:
        environment["SECONDS_EACH"] = seconds
    command = [sys.executable, "-m", "mutmut", "run", "--max-children", str(jobs)]
    left = names
    while left:  # mutmut ends early where a test leaves a process behind that ends later
        said = subprocess.run(
            [*command, *left], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        found = results(folder)
        before, left = left, [name for name in names if found[name] == "not checked"]
        if len(left) == len(before):
            raise SystemExit(f"{group}: mutmut did not go on:\n{said.stdout[-3000:]}\n{said.stderr[-3000:]}")
    return {name: found[name] for name in names}


def results(folder: Path) -> dict[str, str]:
    command = [sys.executable, "-m", "mutmut", "results", "--all", "true"]
    listed = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    pairs = [line.strip().rpartition(": ") for line in listed.stdout.splitlines() if "__mutmut_" in line]
    return {name: status for name, _, status in pairs}


def _of(group: str) -> tuple[str, str]:
    return _MUTATED.get(group, (f"src/rulecover/{group}/*", ""))


def settings(group: str, *, quick: bool = False) -> str:
    mutated, left_alone = _of(group)
    lines = {
        "source_paths": ["src/"],
        "only_mutate": [mutated],
        "do_not_mutate": [left_alone] if left_alone else [],
        "also_copy": list(_COPIED),
        # Libraries with threads of their own hang in a copy of a process that has used them.
        "process_isolation": "forkserver",
        "pytest_add_cli_args": [*_ALWAYS, *_FEW, *(("-m", "not slow") if quick else ())],
        "pytest_add_cli_args_test_selection": list(GROUPS[group]),
    }
    return "\n[tool.mutmut]\n" + "".join(f"{name} = {value!r}\n".replace("'", '"') for name, value in lines.items())


def difference(folder: Path, name: str) -> str:
    """The lines that a mutant changes."""
    module, _, function = name.rpartition(".")
    path = folder.joinpath("mutants", "src", *module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    text = path.read_text(encoding="utf-8")
    before = function.rpartition("__mutmut_")[0] + "__mutmut_orig"
    found = {
        node.name: (ast.get_source_segment(text, node) or "").replace(node.name, "")
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef) and node.name in (before, function)
    }
    lines = difflib.unified_diff(found[before].splitlines(), found[function].splitlines(), n=0, lineterm="")
    return "\n".join(f"        {line}" for line in list(lines)[2:] if not line.startswith("@@"))


def tried(group: str, given: argparse.Namespace) -> Rate:
    """Tries the mutants that are asked for, and prints what became of them."""
    kept = None if given.folder is None else given.folder / group
    with copy_of_project(kept) as folder:
        every = generate(folder, group, quick=given.quick)
        if given.since is not None:
            changed = changed_since(given.since, group)
            every = [name for name in every if name.partition("__mutmut_")[0] in changed]
        sample = None if given.sample == "all" else int(given.sample)
        names = [name for name in every if name in given.only] if given.only else drawn(every, sample, given.seed)
        found = run(folder, group, names, given.jobs, given.seconds)
        rate = Rate(sum(status in KILLED for status in found.values()), len(found), len(every))
        left = {name: status for name, status in found.items() if status not in KILLED}
        listed = "".join(f"    {name}: {status}\n{difference(folder, name)}\n" for name, status in left.items())
    timeouts = sum(status == "timeout" for status in found.values())
    print(f"{group}: {rate.killed} of {rate.tried} mutants killed ({timeouts} by the clock), {said([rate])}")
    print(listed, flush=True)
    return rate


def said(rates: list[Rate]) -> str:
    share, half = overall(rates)
    interval = f" ± {100 * half:.1f} %" if half else " %"
    return f"{100 * share:.1f}{interval} of all {sum(rate.mutants for rate in rates):,}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="*", default=list(GROUPS), help=f"of {', '.join(GROUPS)} (all)")
    parser.add_argument("--sample", default="60", help="how many mutants of each group, or all (60)")
    parser.add_argument("--seed", type=int, default=1, help="which of them are drawn (1)")
    parser.add_argument("--only", nargs="+", default=[], help="the names of mutants, instead of a sample")
    parser.add_argument(
        "--seconds", help="for each mutant only the quickest tests, which take this long in all (all tests)"
    )
    parser.add_argument("--since", metavar="COMMIT", help="only functions that have changed since this commit (all)")
    parser.add_argument("--quick", action="store_true", help="leaves out the tests that are marked slow")
    parser.add_argument("--folder", type=Path, help="where copies are kept, to go on from (none are kept)")
    parser.add_argument("--jobs", default="1", help="processes (1); auto is one per core")
    given = parser.parse_args()
    given.jobs = len(os.sched_getaffinity(0)) if given.jobs == "auto" else int(given.jobs)
    rates = [tried(group, given) for group in given.groups]
    print(f"{sum(r.killed for r in rates)} of {sum(r.tried for r in rates)} mutants killed, {said(rates)}")


if __name__ == "__main__":
    main()
