"""A fit that was broken off goes on from its checkpoint, and gives the model of a fit without a break, bit for bit."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.tree import DecisionTreeClassifier

from rulecover import RCBoostClassifier, RCBoostRegressor, RuleSet, read_trees
from rulecover.exceptions import CheckpointError, CutShortWarning
from rulecover.export.json_file import to_json
from rulecover.rcboost import kept_rounds
from rulecover.targets.classes.samples import ClassSamples

X, y = make_classification(250, 6, n_informative=4, flip_y=0.2, n_classes=3, random_state=1)
WEIGHT = np.random.default_rng(0).uniform(0.5, 2, len(y))

FITS: dict[str, dict[str, Any]] = {
    "trees": {"pricing": "tree", "max_rmp_calls": 7},
    "forests": {"pricing": "forest", "max_rmp_calls": 4},
    "binned trees": {"pricing": "binned", "max_rmp_calls": 5},
    "trees by two criteria": {"pricing": "bicriteria", "max_rmp_calls": 5},
    "boxes": {"pricing": "exact", "max_rmp_calls": 3, "estimator": DecisionTreeClassifier(max_depth=1)},
    "rules that leave": {"pricing": "tree", "max_rmp_calls": 12, "remove": "stale", "duals": "vertex"},
    "duals near the optimum": {"pricing": "forest", "max_rmp_calls": 4, "duals": "near"},
    "early stopping": {"pricing": "tree", "max_rmp_calls": 9, "early_stopping": 3},
}


def same(one: Any, other: Any) -> None:
    """Both are the same model, to the last bit."""
    for name in ("offset", "feature", "lower", "upper", "missing"):
        assert np.array_equal(getattr(one.pool_.clauses, name), getattr(other.pool_.clauses, name))
    assert one.pool_.paths == other.pool_.paths
    assert np.array_equal(one.z_, other.z_) and np.array_equal(one.vote_.votes, other.vote_.votes)
    assert one.certificate_.objective == other.certificate_.objective
    kept = [name for name in one.history_ if not name.startswith("seconds")]
    assert one.history_[kept].equals(other.history_[kept])


def broken_off(model: Any, after: int, monkeypatch: pytest.MonkeyPatch, *data: Any) -> None:
    """Fits, and presses Ctrl-C once this many rounds are kept."""
    note = kept_rounds.KeptRounds.note

    def note_and_end(self: Any, run: Any) -> None:
        note(self, run)
        if len(run.rounds) >= after:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(kept_rounds.KeptRounds, "note", note_and_end)
        with pytest.raises(KeyboardInterrupt):
            model.fit(*data)


@pytest.mark.slow
@pytest.mark.parametrize("name", FITS)
def test_a_fit_that_goes_on_gives_the_same_model(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    undisturbed = RCBoostClassifier(**FITS[name], random_state=0).fit(X, y, WEIGHT)
    file = tmp_path / "boost.npz"
    for after in (1, 2, undisturbed.n_rmp_calls_):
        model = RCBoostClassifier(**FITS[name], random_state=0, checkpoint=file)
        broken_off(model, after, monkeypatch, X, y, WEIGHT)
        assert file.exists()
        same(model.fit(X, y, WEIGHT), undisturbed)
        assert list(tmp_path.iterdir()) == []


def test_a_fit_may_be_broken_off_again_and_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = make_regression(120, 4, noise=10.0, random_state=0)
    undisturbed = RCBoostRegressor(max_rmp_calls=6, random_state=3).fit(*data)
    for after in range(1, undisturbed.n_rmp_calls_ + 1):
        model = RCBoostRegressor(max_rmp_calls=6, random_state=3, checkpoint=tmp_path / "boost.npz")
        broken_off(model, after, monkeypatch, *data)

    same(model.fit(*data), undisturbed)


def test_sparse_data_go_on_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = scipy.sparse.csr_array(np.where(np.abs(X) < 1, 0, X)), y
    undisturbed = RCBoostClassifier(max_rmp_calls=3, random_state=0).fit(*data)
    model = RCBoostClassifier(max_rmp_calls=3, random_state=0, checkpoint=tmp_path / "boost.npz")
    broken_off(model, 2, monkeypatch, *data)

    same(model.fit(*data), undisturbed)


def test_what_the_time_limit_cut_goes_on_later(tmp_path: Path) -> None:
    file, settings = tmp_path / "boost.npz", {"pricing": "tree", "max_rmp_calls": 5, "random_state": 0}
    with pytest.warns(CutShortWarning, match="0 of up to 5 calls"):
        cut = RCBoostClassifier(**settings, checkpoint=file, time_limit=1e-6).fit(X, y)
    assert cut.n_rmp_calls_ == 0
    on = RCBoostClassifier(**settings, checkpoint=file).fit(X, y)

    same(on, RCBoostClassifier(**settings).fit(X, y))


@pytest.mark.parametrize(
    ("changed", "data"),
    [({"max_rmp_calls": 4}, (X, y)), ({"estimator": DecisionTreeClassifier(max_depth=2)}, (X, y)), ({}, (X + 1, y))],
    ids=["settings", "a setting of the tree", "data"],
)
def test_the_checkpoint_of_another_fit_is_refused(
    changed: dict[str, Any], data: tuple[Any, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, settings = tmp_path / "boost.npz", {"pricing": "tree", "max_rmp_calls": 3, "random_state": 0}
    broken_off(RCBoostClassifier(**settings, checkpoint=file), 1, monkeypatch, X, y)
    before = file.read_bytes()
    with pytest.raises(CheckpointError, match=r"boost\.npz' is a checkpoint of other data or settings; delete it"):
        RCBoostClassifier(**settings | changed, checkpoint=file).fit(*data)

    assert file.read_bytes() == before


def circle(left: np.ndarray) -> np.ndarray:
    """The first tree's root is its own child."""
    return np.append(0, left[1:])


@pytest.mark.parametrize(
    ("array", "change"),
    [
        ("round 1/trees left", circle),
        ("round 1/trees left", lambda left: left - 1),
        ("round 1/trees right", lambda right: right + 1),
        ("round 1/trees threshold", lambda threshold: threshold[:-1]),
        ("round 1/tree sizes", lambda sizes: sizes + 1),
        ("round 1/figures", lambda figures: figures[1:]),
        ("round 1/admitted", lambda admitted: admitted + 1000),
        ("round 1/stale", None),
        ("state/accumulated", None),
        ("state/accumulated", lambda accumulated: accumulated.astype(str)),
        ("state/expensive_for", lambda expensive_for: expensive_for[:, None]),
        ("state/inside", lambda inside: inside + 1000),
        ("state/samples", lambda samples: samples[:-1]),
        ("state/rules", lambda rules: rules[:-1]),
    ],
)
def test_a_checkpoint_whose_arrays_make_no_rounds_is_refused(
    array: str, change: Callable[[np.ndarray], np.ndarray] | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "boost.npz"
    model = RCBoostClassifier(pricing="tree", max_rmp_calls=3, random_state=0, checkpoint=file)
    broken_off(model, 2, monkeypatch, X, y)
    with np.load(file) as kept:
        arrays = dict(kept)
    mine = arrays.pop(array)
    np.savez(file, **arrays, **({} if change is None else {array: change(mine)}))

    with pytest.raises(CheckpointError, match=r"boost\.npz' does not fit the data; delete it"):
        model.fit(X, y)


def test_a_checkpoint_whose_boxes_are_on_columns_beyond_the_last_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "boost.npz"
    model = RCBoostClassifier(**FITS["boxes"], random_state=0, checkpoint=file)
    broken_off(model, 1, monkeypatch, X, y)
    with np.load(file) as kept:
        arrays = dict(kept)
    np.savez(file, **arrays | {"round 0/rules feature": arrays["round 0/rules feature"] + 6})

    with pytest.raises(CheckpointError, match=r"boost\.npz' does not fit the data; delete it"):
        model.fit(X, y)


def test_the_checkpoint_of_another_trained_model_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if their first trees are the same one."""
    small, large = (RandomForestClassifier(n, max_depth=4, random_state=0).fit(X, y) for n in (10, 30))
    settings: dict[str, Any] = {"max_rmp_calls": 3, "random_state": 0, "checkpoint": tmp_path / "boost.npz"}
    broken_off(RCBoostClassifier(FrozenEstimator(small), **settings), 1, monkeypatch, X, y)
    with pytest.raises(CheckpointError, match="other data or settings"):
        RCBoostClassifier(FrozenEstimator(large), **settings).fit(X, y)

    again = RCBoostClassifier(FrozenEstimator(small), **settings).fit(X, y)
    same(again, RCBoostClassifier(FrozenEstimator(small), **settings | {"checkpoint": None}).fit(X, y))


def test_the_checkpoint_of_other_rows_that_are_watched_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings: dict[str, Any] = {"pricing": "tree", "early_stopping": 3, "random_state": 0}
    watched = RCBoostClassifier(**settings)._held_out(ClassSamples(X, y, classes=[0, 1, 2]))[1]
    other = X.copy()
    other[watched] += 1
    broken_off(RCBoostClassifier(**settings, checkpoint=tmp_path / "boost.npz"), 1, monkeypatch, X, y)

    with pytest.raises(CheckpointError, match="other data or settings"):
        RCBoostClassifier(**settings, checkpoint=tmp_path / "boost.npz").fit(other, y)


def test_a_checkpoint_needs_a_seed_and_a_path() -> None:
    with pytest.raises(ValueError, match="random_state is None; with a checkpoint give a whole number"):
        RCBoostClassifier(checkpoint="boost.npz").fit(X, y)
    with pytest.raises(TypeError, match="checkpoint is 3; give the path of a file"):
        RCBoostClassifier(checkpoint=3, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="leave one of them out"):
        RCBoostClassifier(checkpoint="boost.npz", warm_start=True, random_state=0).fit(X, y)


FIT = """
import sys
from pathlib import Path
from sklearn.datasets import make_classification
from rulecover import RCBoostClassifier
from rulecover.export.json_file import to_json
X, y = make_classification(250, 6, n_informative=4, flip_y=0.2, n_classes=3, random_state=1)
model = RCBoostClassifier(pricing="tree", max_rmp_calls=20, random_state=0, checkpoint=sys.argv[1]).fit(X, y)
Path(sys.argv[2]).write_text(to_json(model))
"""


@pytest.mark.slow
def test_a_process_that_was_killed_goes_on(tmp_path: Path) -> None:
    file, out = tmp_path / "boost.npz", tmp_path / "model.json"
    command = [sys.executable, "-W", "ignore", "-c", FIT, str(file), str(out)]
    with subprocess.Popen(command) as fitting:
        ends = time.monotonic() + 60
        while not file.exists() and time.monotonic() < ends:
            time.sleep(0.01)
        fitting.kill()
        assert fitting.wait() == -signal.SIGKILL
    assert file.exists() and not out.exists()
    subprocess.run(command, check=True)

    alone = RCBoostClassifier(pricing="tree", max_rmp_calls=20, random_state=0).fit(X, y)
    assert out.read_text() == to_json(alone)
    assert [path.name for path in tmp_path.iterdir()] == ["model.json"]


def test_rules_are_kept_with_their_paths_and_trees_node_by_node() -> None:
    rules = RuleSet.from_text(["x0 > 1 and (x1 <= 2 or missing)", "x0 <= 1"], ["x0", "x1"])
    along = replace(rules, paths=rules.clauses.take(np.array([1, 0])))
    forest = RandomForestClassifier(3, max_depth=2, random_state=0).fit(X, y)
    ensemble = read_trees(forest)

    for some in (rules, along):
        again = kept_rounds._proposed(kept_rounds._written(some), 2)
        assert again == some and again.paths == some.paths
    trees = kept_rounds._proposed(kept_rounds._written(ensemble), X.shape[1])
    assert len(trees.trees) == 3 and trees.n_features == X.shape[1]
    for own, kept, route in zip(ensemble.trees, trees.trees, trees.routes, strict=True):
        assert all(np.array_equal(getattr(own, name), getattr(kept, name)) for name in ("feature", "left", "right"))
        for rows in (X, scipy.sparse.csr_array(X)):
            np.testing.assert_array_equal(route(trees.prepare(rows)), own.apply(X))


def test_trees_on_categories_are_not_kept() -> None:
    rows = np.column_stack([np.arange(60) % 5, np.arange(60) % 7]).astype(float)
    boosting = HistGradientBoostingClassifier(categorical_features=[0], max_iter=1, min_samples_leaf=2)
    ensemble = read_trees(boosting.fit(rows, np.arange(60) % 5 > 2))

    with pytest.raises(CheckpointError) as raised:
        kept_rounds._written(ensemble)

    assert str(raised.value) == (
        "trees that split on categories, or take 0 for a missing value, cannot be kept in a checkpoint; leave "
        "checkpoint out, or give a tree of scikit-learn."
    )
