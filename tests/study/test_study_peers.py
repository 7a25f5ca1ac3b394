"""What the study compares with: every peer runs on a fold, and says of itself what is so."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine

from rulecover.study import METHODS, Cell, Data, Fold, Outcome
from rulecover.study.methods import methods_called
from rulecover.study.peers import _features_in, _leaf_lengths
from rulecover.study.run import StudyTask, outcome
from rulecover.study.suites import SUITES

pytestmark = pytest.mark.slow

PEERS = ["HGB", "XGBoost", "LightGBM", "EBM", "RUX", "RUG", "RuleFit", "FIGS", "RIPPER"]


def data(classes: int) -> Data:
    X, y = load_iris(return_X_y=True)
    rows = np.flatnonzero(y >= 3 - classes)
    return Data("iris", X[rows], y[rows] - (3 - classes), tuple("abc"[:classes]), (len(rows), 4))


def run(name: str, classes: int = 2) -> Outcome:
    (method,) = methods_called([name])
    return outcome(StudyTask(Cell("iris", name, 25, 0), data(classes), method))


@pytest.mark.slow
@pytest.mark.parametrize("name", PEERS)
def test_a_peer_learns_a_fold_and_everything_is_recorded(name: str) -> None:
    done = run(name)

    assert done.error == ""
    figures = done.models[name]
    assert figures["accuracy"] >= 0.7
    assert figures["log_loss"] < 4
    assert figures["rules"] >= 1
    assert {"balanced_accuracy", "fit_seconds", "predict_seconds"} <= set(figures)
    if name in {"RUX", "RUG", "RuleFit", "FIGS", "RIPPER"}:
        assert 1 <= figures["clauses"] <= 5
    if name in {"RUX", "RUG", "RIPPER"}:
        assert 0 <= figures["missed"] < 1


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in PEERS if name not in {"EBM", "RuleFit", "RIPPER"}])
def test_peers_that_know_more_than_two_classes_are_given_them(name: str) -> None:
    done = run(name, classes=3)

    assert done.error == ""
    assert done.models[name]["accuracy"] >= 0.8


@pytest.mark.slow
def test_rux_counts_the_rules_of_the_forest_that_mirco_covers() -> None:
    chosen, forest = run("RUX").models["RUX"]["rules"], run("MIRCO").models["RF"]["rules"]

    assert 1 <= chosen <= forest


def test_every_peer_is_alone_in_its_process_and_named_in_the_study() -> None:
    methods_called([])

    assert all(METHODS[name].alone for name in PEERS)
    assert set(PEERS) < set(SUITES["peers"]) < set(SUITES["all"])


def test_figs_leaves_are_counted_and_clauses_on_one_feature_count_once() -> None:
    from imodels import FIGSClassifier

    fold = Fold.of(data(2), 0)
    model = FIGSClassifier(max_rules=3).fit(fold.X_train, fold.y_train)

    lengths = [length for tree in model.trees_ for length in _leaf_lengths(tree, frozenset())]
    assert len(lengths) == 3 + len(model.trees_)
    one = FIGSClassifier(max_rules=3).fit(fold.X_train[:, :1], fold.y_train)
    assert {length for tree in one.trees_ for length in _leaf_lengths(tree, frozenset())} == {1}


def test_clauses_on_one_feature_count_once_in_a_term() -> None:
    assert _features_in("X0 > 0.5 and X0 <= 2.0 and X3 > 1") == 2
    assert _features_in("X10") == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in PEERS if name != "EBM"])
def test_a_peer_repeats_itself(name: str) -> None:
    X, y = load_wine(return_X_y=True)
    rows = np.flatnonzero(y < (2 if METHODS[name].two_classes else 3))[::2]
    wine = Data("wine", X[rows], y[rows], tuple("abc"[: y[rows].max() + 1]), (len(rows), 13))
    learnt = []
    for state in (1, 2):
        np.random.seed(state)  # noqa: NPY002 - what a peer may draw from
        done = outcome(StudyTask(Cell("wine", name, 25, 4), wine, METHODS[name]))
        learnt.append({key: value for key, value in done.models[name].items() if "seconds" not in key})

    assert learnt[0] == learnt[1]


@pytest.mark.slow
def test_leaves_of_boosters_are_those_that_the_libraries_count() -> None:
    fold = Fold.of(data(3), 0)
    done = {name: METHODS[name].learn(fold)[name] for name in ("HGB", "XGBoost", "LightGBM", "GB", "ADA")}
    models = {name: each.model for name, each in done.items()}

    leaves = {
        "HGB": sum(tree.get_n_leaf_nodes() for trees in models["HGB"]._predictors for tree in trees),
        "XGBoost": int((models["XGBoost"].get_booster().trees_to_dataframe()["Feature"] == "Leaf").sum()),
        "LightGBM": sum(tree["num_leaves"] for tree in models["LightGBM"].booster_.dump_model()["tree_info"]),
        "GB": sum(tree.get_n_leaves() for tree in np.ravel(models["GB"].estimators_)),
        "ADA": sum(tree.get_n_leaves() for tree in models["ADA"].estimators_),
    }
    assert {name: each.rules for name, each in done.items()} == leaves
    assert all(1 <= each.clauses <= 4 for each in done.values())
