"""Methods of one's own that misbehave: each fails its own cells, says why, and harms no other."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from catboost import CatBoostClassifier
from sklearn.datasets import load_iris
from sklearn.metrics import balanced_accuracy_score, log_loss
from sklearn.neighbors import KNeighborsClassifier
from study_data import write_data

from rulecover.exceptions import StudyError
from rulecover.parallel import in_processes
from rulecover.study import METHODS, Cell, Data, Fitted, Fold, Outcome, fitted, load, register, study
from rulecover.study.folds import check_folds
from rulecover.study.methods import methods_called
from rulecover.study.run import StudyTask
from rulecover.study.run import outcome as outcome_of
from rulecover.study.scores import figures_of

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_data(tmp_path_factory.mktemp("data"))


@pytest.fixture(autouse=True)
def _kept_methods() -> Iterator[None]:
    methods_called([])
    before = dict(METHODS)
    yield
    METHODS.clear()
    METHODS.update(before)


#: What a method may do on its first fold, and what is recorded of it.
MISDEEDS: dict[str, tuple[Callable[[], Any], str]] = {
    "crash": (lambda: ctypes.string_at(0), "the process died"),
    "sys.exit": (lambda: sys.exit(5), "SystemExit: 5"),
    "error": (lambda: 1 // 0, "ZeroDivisionError"),
}


@pytest.mark.slow
@pytest.mark.parametrize("misdeed", MISDEEDS)
def test_a_method_that_ends_its_process_fails_its_own_cell_alone(misdeed: str, folder: Path, tmp_path: Path) -> None:
    first = float(Fold.of(load("iris", folder), 0).X_test.sum())
    do = MISDEEDS[misdeed][0]

    def learn(fold: Fold) -> dict[str, Fitted]:
        if fold.X_test.sum() == first:
            do()
        return {"own": fitted(KNeighborsClassifier(), fold)}

    register("own", learn)
    done = list(study(["own"], out=tmp_path, datasets=["iris"], folder=folder).run())

    failed = [one for one in done if one.error]
    assert len(done) == 10
    assert [one.cell.fold for one in failed] == [0]
    assert failed[0].error.startswith(MISDEEDS[misdeed][1])


def test_a_method_that_cannot_be_sent_to_a_process_fails_alone(folder: Path, tmp_path: Path) -> None:
    lock = threading.Lock()

    def learn(fold: Fold) -> dict[str, Fitted]:
        with lock:
            return {"own": fitted(KNeighborsClassifier(), fold)}

    register("own", learn)
    done = list(study(["own", "DT"], out=tmp_path, datasets=["iris"], folder=folder).run())

    assert {one.cell.method: bool(one.error) for one in done} == {"own": True, "DT": False}
    assert all("on the way to or from the process" in one.error for one in done if one.error)


def test_no_more_processes_are_started_than_there_are_tasks() -> None:
    ids = {pid for _, pid in in_processes(lambda task: os.getpid(), [1, 2], n_jobs=50)}

    assert 1 <= len(ids) <= 2 and os.getpid() not in ids


# What a method gives back ----------------------------------------------------------------------------------------


def run(learn: Callable[[Fold], Any], **settings: Any) -> Outcome:
    X, y = load_iris(return_X_y=True)
    data = Data("iris", X, y, tuple("abc"), X.shape)
    return outcome_of(StudyTask(Cell("iris", "own", 25, 0), data, register("own", learn, **settings)))


def test_answers_in_a_column_are_answers() -> None:
    def learn(fold: Fold) -> dict[str, Fitted]:
        model = CatBoostClassifier(iterations=5, verbose=0, random_seed=0, thread_count=1, allow_writing_files=False)
        return {"own": fitted(model, fold)}

    done = run(learn)

    assert done.error == ""
    assert done.models["own"]["accuracy"] == pytest.approx(done.models["own"]["balanced_accuracy"])
    assert done.models["own"]["accuracy"] >= 0.8


class _Answers:
    def __init__(self, answers: Callable[[Any], Any], shares: Callable[[Any], Any] | None = None) -> None:
        self.predict = answers
        if shares is not None:
            self.predict_proba = shares


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, "the method 'own' gave a NoneType; it should give a dictionary with a Fitted for each of own"),
        (Fitted(_Answers(lambda X: X)), "the method 'own' gave a Fitted"),
        ({"other": Fitted(_Answers(lambda X: X))}, "gave models other; it should give"),
        ({"own": Fitted(_Answers(lambda X: np.zeros(len(X) - 1)))}, "inconsistent numbers of samples"),
        ({"own": Fitted(_Answers(lambda X: np.full(len(X), "a")))}, "ValueError"),
        (
            {"own": Fitted(_Answers(lambda X: np.zeros(len(X)), lambda X: np.ones((len(X), 2))))},
            "predict_proba gave an array of shape (15, 2) for 15 rows and 3 classes; give the model classes_",
        ),
    ],
    ids=["nothing", "bare", "other name", "too short", "words", "two of three columns"],
)
def test_what_is_no_model_is_told(given: Any, said: str) -> None:
    done = run(lambda fold: given)

    assert said in done.error and not done.models


def test_what_the_study_measures_is_not_for_a_method_to_say() -> None:
    model = _Answers(lambda X: np.zeros(len(X)))
    done = run(lambda fold: {"own": Fitted(model, figures={"accuracy": 5.0})})

    assert "the figures of a Fitted contain 'accuracy', which the study measures itself; rename it." in done.error
    assert run(lambda fold: {"own": Fitted(model, figures={"depth": 5.0})}).models["own"]["depth"] == 5


def test_a_model_without_classes_has_a_column_for_each() -> None:
    shares = [0.5, 0.25, 0.25]
    done = run(
        lambda fold: {"own": Fitted(_Answers(lambda X: np.zeros(len(X)), lambda X: np.tile(shares, (len(X), 1))))}
    )

    assert done.models["own"]["log_loss"] == pytest.approx(-np.log(shares).mean())


@pytest.mark.slow
def test_two_methods_cannot_have_models_of_one_name(folder: Path, tmp_path: Path) -> None:
    def learn(fold: Fold) -> dict[str, Fitted]:
        return {"DT": fitted(KNeighborsClassifier(), fold)}

    register("mine", learn, models=["DT"])
    asked: dict[str, Any] = {"out": tmp_path, "datasets": ["iris"], "folder": folder}

    with pytest.raises(StudyError, match="the methods 'DT' and 'mine' both have a model 'DT'; give one of them"):
        study(["DT", "mine"], **asked)
    list(study(["mine"], **asked).run())
    with pytest.raises(StudyError, match="the methods 'mine' and 'DT' both have a model 'DT'"):
        study(["DT"], **asked, resume=True)


def test_a_seed_that_is_given_twice_is_run_once(folder: Path, tmp_path: Path) -> None:
    assert len(study(["DT"], out=tmp_path, datasets=["iris"], folder=folder, seeds=[1, 1, 2]).tasks) == 20


# Classes that a fold cannot learn --------------------------------------------------------------------------------


def lopsided(*counts: int) -> Data:
    y = np.repeat(np.arange(len(counts)), counts)
    X = np.random.default_rng(0).normal(size=(len(y), 2)) + y[:, None]
    return Data("own", X, y, tuple("abcdef"[: len(counts)]), X.shape)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["DT", "MIRCO", "ADA", "GB", "HGB", "XGBoost", "LightGBM", "RUG", "FIGS", "RUX"])
def test_a_class_of_one_row_breaks_no_method(name: str) -> None:
    data = lopsided(30, 1, 30)
    without = next(k for k in range(10) if len(set(Fold.of(data, k).y_train.tolist())) == 2)

    done = outcome_of(StudyTask(Cell("own", name, 25, without), data, METHODS[name]))

    assert done.error == ""
    assert all(0 <= figures["accuracy"] < 1 for figures in done.models.values())


def test_classes_are_numbered_without_a_gap_and_scores_stay_the_same() -> None:
    data = lopsided(30, 1, 30)
    for number in range(10):
        fold = Fold.of(data, number)
        learnt = np.unique(fold.y_train)
        np.testing.assert_array_equal(learnt, np.arange(len(learnt)))
        truth = {0: 0, 1: 2, 2: 1} if len(learnt) == 2 else {0: 0, 1: 1, 2: 2}  # by number, the class it was
        y_test = np.array([truth[label] for label in fold.y_test.tolist()])
        model = KNeighborsClassifier().fit(fold.X_train, fold.y_train)
        figures = figures_of(Fitted(model), fold, 3)
        answers = np.array([truth[label] for label in model.predict(fold.X_test).tolist()])
        assert figures["accuracy"] == np.mean(answers == y_test)
        assert figures["balanced_accuracy"] == balanced_accuracy_score(y_test, answers)
        shares = np.zeros((len(y_test), 3))
        shares[:, [truth[label] for label in model.classes_.tolist()]] = model.predict_proba(fold.X_test)
        assert figures["log_loss"] == pytest.approx(log_loss(y_test, shares, labels=[0, 1, 2]))


def test_two_classes_of_which_one_has_one_row_are_refused() -> None:
    with pytest.raises(StudyError, match="'own' has only one class with more than one row"):
        check_folds(lopsided(30, 1))
    assert len(check_folds(lopsided(30, 2))) == 1
