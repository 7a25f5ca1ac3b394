"""``--time-limit`` holds for the forest, the rules, and all that they are compared with."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from commands import fruit, run
from sklearn.ensemble import RandomForestClassifier

from rulecover.cli.commands import explain
from rulecover.estimators import path_folds

ENDLESS = 600


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("limits") / "fruit.csv"
    fruit().to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("limits") / "many.csv"
    fruit(8000).to_csv(path, index=False)
    return path


def fitted(path: Path, *options: object) -> tuple[str, str, str]:
    """The file of the rules, but for where they come from, what is printed, and notes."""
    out = path.with_name("rules.json")
    done = run("fit", path, "-t", "kind", "--drop", "id", "-o", out, *options)
    assert done.exit_code == 0, done.output
    kept = {
        name: value for name, value in json.loads(out.read_text()).items() if name not in ("provenance", "checksum")
    }
    return str(kept), done.stdout, done.stderr


def explained(path: Path, *options: object) -> tuple[str, str]:
    done = run("explain", path, "-t", "kind", "--drop", "id", "--trees", 10, *options)
    assert done.exit_code == 0, done.output
    return done.stdout, done.stderr


METHODS = [
    ("path", "--trees", "10"),
    ("path", "--trees", "10", "--max-levels", "2"),
    ("cover", "--trees", "10"),
    ("cover", "--trees", "10", "--class-weight", "balanced", "--preset", "accurate"),
    ("boost", "--calls", "2"),
    ("boost", "--calls", "2", "--max-rules", "4"),
]


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS, ids=" ".join)
def test_with_time_to_spare_rules_and_figures_are_those_without_a_limit(method: tuple[str, ...], small: Path) -> None:
    plain = fitted(small, "--method", *method, "--folds", 2)
    limited = fitted(small, "--method", *method, "--folds", 2, "--time-limit", ENDLESS)

    assert limited == plain
    assert "2-fold cross-validation" in plain[1]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["path", "cover", "boost"])
def test_with_time_to_spare_rules_are_compared_with_the_same_models(method: str, small: Path) -> None:
    plain = explained(small, "--method", method)
    limited = explained(small, "--method", method, "--time-limit", ENDLESS)

    assert limited == plain
    assert "random forest" in plain[0] and "decision tree" in plain[0]


class Slow:
    """A model whose training takes a millisecond per row, and the rows that were trained on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, kind: Any) -> None:
        self.sizes: list[int] = []
        fit = kind.fit

        def slow(model: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
            self.sizes.append(len(y))
            time.sleep(len(y) / 1000)
            return fit(model, X, y, sample_weight)

        monkeypatch.setattr(kind, "fit", slow)


@pytest.mark.parametrize("method", ["path", "cover"])
def test_a_forest_that_takes_too_long_is_trained_on_some_rows_and_not_in_folds(
    method: str, large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forest, begin = Slow(monkeypatch, RandomForestClassifier), time.perf_counter()
    _, printed, notes = fitted(large, "--method", method, "--folds", 3, "--time-limit", 3)

    assert time.perf_counter() - begin < 3 + 2
    assert forest.sizes == [1000]
    assert "the model was trained on 1,000 of 8,000 rows" in notes
    assert "there was no time for figures in 3 folds; give more (--time-limit)" in notes
    assert "cross-validation" not in printed


@pytest.mark.parametrize("method", ["path", "cover"])
def test_what_there_is_no_time_for_is_not_compared_with(
    method: str, large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forest, begin = Slow(monkeypatch, RandomForestClassifier), time.perf_counter()
    printed, notes = explained(large, "--method", method, "--time-limit", 1)

    assert time.perf_counter() - begin < 10  # without a limit it takes six seconds per training alone, several times
    assert forest.sizes == [1000]
    assert "decision tree" not in printed
    assert "random forest" in printed
    assert re.search(r"there was no time to compare with .* and a decision tree; give more \(--time-limit\)", notes)


def test_rules_of_a_boosting_are_compared_with_a_forest_if_there_is_time_to_train_one(
    large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forest, sizes = explain.trained_forest, []

    def slow(training: Any, table: Any, X: Any, y: Any, **settings: Any) -> Any:
        sizes.append(len(y))
        time.sleep(len(y) / 1000)
        return forest(training, table, X, y, **settings)

    monkeypatch.setattr(explain, "trained_forest", slow)
    printed, notes = explained(large, "--method", "boost", "--time-limit", 3)

    assert sizes in ([], [1000])
    assert "random forest" not in printed
    assert "there was no time to compare with a path, a cover" in notes


def test_a_threshold_is_looked_for_in_the_other_half_of_the_time(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forest, begin = Slow(monkeypatch, RandomForestClassifier), time.perf_counter()
    _, printed, notes = fitted(large, "--method", "cover", "--threshold", "recall=0.9", "--time-limit", 10)

    assert forest.sizes == [1000] * 6
    assert time.perf_counter() - begin < 10 + 2
    assert "for recall 0.9 on 5 folds of the training rows" in notes
    assert "rule" in printed


def test_a_checkpoint_under_a_limit_goes_on_without_one(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept, put = small.with_name("kept.npz"), path_folds.Checkpoint.put

    def put_and_end(*given: Any) -> None:
        put(*given)
        raise KeyboardInterrupt

    options = ("--trees", "10", "--checkpoint", kept)
    plain = fitted(small, "--trees", "10")
    with monkeypatch.context() as patched:
        patched.setattr(path_folds.Checkpoint, "put", put_and_end)
        run("fit", small, "-t", "kind", "--drop", "id", "-o", small.with_name("no.json"), *options, "--time-limit", 600)
    assert kept.exists()

    assert fitted(small, *options)[0] == plain[0]
