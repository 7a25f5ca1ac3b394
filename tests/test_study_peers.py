"""What the study compares with: every peer runs on a fold, and says of itself what is so."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris

from rulecover.study import METHODS, Cell, Data, Fold, Outcome
from rulecover.study.methods import methods_called
from rulecover.study.peers import _leaf_depths
from rulecover.study.run import Task, outcome
from rulecover.study.suites import SUITES

PEERS = ["HGB", "XGBoost", "LightGBM", "EBM", "RUX", "RUG", "RuleFit", "FIGS", "RIPPER"]


def data(classes: int) -> Data:
    X, y = load_iris(return_X_y=True)
    rows = np.flatnonzero(y >= 3 - classes)
    return Data("iris", X[rows], y[rows] - (3 - classes), tuple("abc"[:classes]), (len(rows), 4))


def run(name: str, classes: int = 2) -> Outcome:
    (method,) = methods_called([name])
    return outcome(Task(Cell("iris", name, 25, 0), data(classes), method))


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


@pytest.mark.parametrize("name", [name for name in PEERS if name not in {"EBM", "RuleFit", "RIPPER"}])
def test_peers_that_know_more_than_two_classes_are_given_them(name: str) -> None:
    done = run(name, classes=3)

    assert done.error == ""
    assert done.models[name]["accuracy"] >= 0.8


def test_rux_counts_the_rules_of_the_forest_that_mirco_covers() -> None:
    chosen, forest = run("RUX").models["RUX"]["rules"], run("MIRCO").models["RF"]["rules"]

    assert 1 <= chosen <= forest


def test_every_peer_is_alone_in_its_process_and_named_in_the_study() -> None:
    methods_called([])

    assert all(METHODS[name].alone for name in PEERS)
    assert set(PEERS) < set(SUITES["peers"]) < set(SUITES["all"])


def test_figs_leaves_are_counted_with_their_depth() -> None:
    from imodels import FIGSClassifier

    fold = Fold.of(data(2), 0)
    model = FIGSClassifier(max_rules=3).fit(fold.X_train, fold.y_train)

    depths = [depth for tree in model.trees_ for depth in _leaf_depths(tree, 0)]
    assert len(depths) == 3 + len(model.trees_)
