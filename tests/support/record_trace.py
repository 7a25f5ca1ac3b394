"""Journeys through the package: how many functions and files a call passes, and how deep."""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from record_commands import called

import rulecover

PACKAGE = f"{Path(rulecover.__file__).parent}{os.sep}"
#: Parts of functions, and of files, that have a frame of their own.
_PARTS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>", "<lambda>", "<module>")


@dataclass
class Journey:
    """The functions of the package that were called, by file, and the most of them at once on the stack."""

    functions: set[tuple[str, str, int]] = field(default_factory=set)
    depth: int = 0
    _now: int = 0

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event not in ("call", "return") or code.co_name in _PARTS or not code.co_filename.startswith(PACKAGE):
            return
        self._now += 1 if event == "call" else -1
        self.depth = max(self.depth, self._now)
        self.functions.add((code.co_filename.removeprefix(PACKAGE), code.co_qualname, code.co_firstlineno))

    @property
    def files(self) -> Counter[str]:
        return Counter(file for file, _, _ in self.functions)

    @classmethod
    def of(cls, call: Callable[[], Any]) -> Journey:
        """The journey of a call that was made once before, so that nothing is imported on the way."""
        call()
        journey = cls()
        sys.setprofile(journey)
        try:
            call()
        finally:
            sys.setprofile(None)
        return journey


def command(*arguments: str) -> Callable[[], None]:
    """The command line, run inside this process, its words thrown away."""

    def call() -> None:
        code, _, said = called(list(arguments))
        if code:
            raise RuntimeError(f"rulecover {' '.join(arguments)} ended with {code}: {said}")

    return call


def journeys(folder: Path) -> dict[str, Callable[[], Any]]:
    """The calls that are traced, on iris."""
    from sklearn.datasets import load_iris
    from sklearn.ensemble import RandomForestClassifier

    X, y = load_iris(return_X_y=True, as_frame=True)
    X.assign(species=y).to_csv(folder / "iris.csv", index=False)
    forest = RandomForestClassifier(random_state=0).fit(X, y)
    few = rulecover.explain(forest, X, y, method="cover")
    table, model = str(folder / "iris.csv"), str(folder / "model.json")

    def report() -> None:
        rulecover.write_report(rulecover.Summary.of(few, X, y, title="Iris"), folder / "report.html")

    path = rulecover.RulePathClassifier(choose="last", random_state=0)
    return {
        "explain(forest, X, y)": lambda: rulecover.explain(forest, X, y),
        'explain(forest, X, y, method="cover")': lambda: rulecover.explain(forest, X, y, method="cover"),
        "print(rules_)": lambda: str(few.rules_),
        "RCBoostClassifier.fit": lambda: rulecover.RCBoostClassifier(random_state=0).fit(X, y),
        "RulePathClassifier.fit, no cross-validation": lambda: path.fit(X, y),
        "rulecover fit": command("fit", table, "-t", "species", "-o", model),
        "rulecover predict": command("predict", model, table, "-o", str(folder / "answers.csv")),
        "Summary.of + write_report": report,
    }


def traced() -> str:
    """The table of journeys, and below it the files that each of them passes, with the functions of each."""
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {title: Journey.of(call) for title, call in journeys(Path(name)).items()}
    lines = ["| journey | functions | files | of these in cli | depth |", "|---|---|---|---|---|"]
    for title, journey in found.items():
        in_cli = sum(file.startswith("cli") for file in journey.files)
        lines.append(f"| `{title}` | {len(journey.functions)} | {len(journey.files)} | {in_cli} | {journey.depth} |")
    for title, journey in found.items():
        lines += ["", title, *(f"  {file} {count}" for file, count in sorted(journey.files.items()))]
    return "\n".join(lines) + "\n"
