"""Rule paths as estimators: nested sets, the choice of a size, answers that add up, and constraints."""

from __future__ import annotations

import itertools
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from matplotlib.figure import Figure
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, make_classification, make_regression
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer, log_loss
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.tree import DecisionTreeClassifier
from tictactoe import LINES, tic_tac_toe

from rulecover import (
    MIRCOClassifier,
    RCBoostClassifier,
    RulePathClassifier,
    RulePathRegressor,
    RuleSet,
    RuleTransformer,
    Summary,
    write_report,
)
from rulecover.estimators.held_out import folds_of
from rulecover.exceptions import MismatchedDataError, RulecoverWarning, UnreadableModelError
from rulecover.export import from_json, to_json

FOREST = RandomForestClassifier(20, random_state=0)
TREES = RandomForestRegressor(20, random_state=0)


@pytest.fixture(scope="module")
def cancer() -> tuple[pd.DataFrame, np.ndarray]:
    data = load_breast_cancer(as_frame=True)
    return data.data, data.target_names[data.target]


@pytest.fixture(scope="module")
def path(cancer: tuple[pd.DataFrame, np.ndarray]) -> RulePathClassifier:
    return RulePathClassifier(FOREST, max_rules=12, cv=3).fit(*cancer)


def regression(seed: int = 0, n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    return make_regression(n, 5, n_informative=3, noise=5.0, random_state=seed)


# The path -------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_size_is_the_beginning_of_the_next_and_the_loss_never_rises(path: RulePathClassifier) -> None:
    sets = [path.at(k).rules_ for k in range(13)]

    assert [len(rules) for rules in sets] == list(range(13))
    assert all(small == large[: len(small)] for small, large in itertools.pairwise(sets))
    assert (np.diff(path.path_["loss"]) <= 0).all()


def test_a_size_of_the_path_is_what_a_fit_with_that_limit_gives(
    path: RulePathClassifier, cancer: tuple[pd.DataFrame, np.ndarray]
) -> None:
    X, y = cancer

    short = RulePathClassifier(FOREST, max_rules=5, choose="last").fit(X, y)

    assert short.rules_ == path.at(5).rules_
    assert short.predict_proba(X) == pytest.approx(path.at(5).predict_proba(X))
    assert len(path.at(0).rules_) == 0
    assert set(path.at(0).predict(X)) == {"benign"}


def test_a_size_that_is_not_on_the_path_is_refused(path: RulePathClassifier) -> None:
    with pytest.raises(ValueError, match="path ends at 12 rules"):
        path.at(13)
    with pytest.raises(ValueError, match="at least 0"):
        path.at(-1)


def test_the_table_says_what_the_models_of_each_size_say(
    path: RulePathClassifier, cancer: tuple[pd.DataFrame, np.ndarray]
) -> None:
    X, y = cancer
    for k in (0, 3, 12):
        model, row = path.at(k), path.path_.loc[k]

        assert row["train_score"] == pytest.approx(model.score(X, y))
        assert row["train_fidelity"] == pytest.approx(model.fidelity(X))
        assert row["coverage"] == pytest.approx(1 - model.missed(X).mean())
        assert row["clauses"] == model.rules_.lengths.sum()


@pytest.mark.slow
def test_cross_validated_scores_are_those_of_models_on_rows_they_never_saw() -> None:
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    folds = [(order[:100], order[100:]), (order[50:], order[:50])]

    path = RulePathClassifier(FOREST, max_rules=4, cv=folds).fit(X, y)

    parts = [RulePathClassifier(FOREST, max_rules=4, choose="last").fit(X[a], y[a]) for a, _ in folds]
    for k in range(5):
        scores = [part.at(k).score(X[b], y[b]) for part, (_, b) in zip(parts, folds, strict=True)]
        agree = [part.at(k).fidelity(X[b]) for part, (_, b) in zip(parts, folds, strict=True)]
        assert path.path_.loc[k, "cv_score"] == pytest.approx(np.mean(scores))
        assert path.path_.loc[k, "cv_se"] == pytest.approx(np.std(scores, ddof=1) / np.sqrt(2))
        assert path.path_.loc[k, "cv_fidelity"] == pytest.approx(np.mean(agree))
    model = [clone(FOREST).fit(X[a], y[a]).score(X[b], y[b]) for a, b in folds]
    assert path.model_score_ == pytest.approx(np.mean(model))


# The choice of a size -------------------------------------------------------------------------------------------------


def corners(n: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Three classes that two cuts tell apart without error."""
    X = np.random.default_rng(0).uniform(size=(n, 2))
    return X, np.where(X[:, 0] <= 0.5, 0, np.where(X[:, 1] <= 0.5, 1, 2))


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{}, {"within": 0.02}, {"choose": "best"}], ids=str)
def test_no_more_rules_are_taken_than_help(settings: dict[str, Any]) -> None:
    cv = StratifiedKFold(3)
    path = RulePathClassifier(FOREST, max_rules=20, cv=cv, scoring="accuracy", **settings).fit(*corners())

    assert 2 <= path.n_rules_ <= 4
    assert path.path_.loc[path.n_rules_, "cv_score"] >= path.path_["cv_score"].max() - path.path_["cv_se"].max()


@pytest.mark.slow
def test_the_limit_is_kept_and_taken_whole_where_asked() -> None:
    X, y = make_classification(300, random_state=0)

    for k in (1, 3, 7):
        assert RulePathClassifier(FOREST, max_rules=k, choose="last").fit(X, y).n_rules_ == k
        assert RulePathClassifier(FOREST, max_rules=k, cv=2).fit(X, y).n_rules_ <= k


@pytest.mark.slow
def test_the_choice_follows_the_table() -> None:
    X, y = make_classification(300, flip_y=0.2, random_state=1)
    fits = {
        name: RulePathClassifier(FOREST, max_rules=15, cv=4, **settings).fit(X, y)
        for name, settings in {"se": {}, "best": {"choose": "best"}, "within": {"within": 0.05}}.items()
    }

    table = fits["se"].path_.loc[1:]
    top = table["cv_neg_brier_score"].idxmax()
    assert fits["best"].n_rules_ == top >= fits["se"].n_rules_
    assert f"{top} rules have the best cross-validated Brier score" in fits["best"].size_reason_
    assert f"{fits['se'].n_rules_} are the fewest" in fits["se"].size_reason_
    assert "cv_neg_brier_score" not in fits["within"].path_  # it is chosen by accuracy, as score has it
    near = fits["within"].path_["cv_score"].loc[1:] >= fits["within"].model_score_ - 0.05 - 1e-12
    assert fits["within"].n_rules_ >= near.idxmax()


@pytest.mark.slow
@pytest.mark.parametrize(
    "scoring",
    ["accuracy", "balanced_accuracy", "neg_log_loss", "neg_brier_score", "roc_auc", "average_precision", "f1"],
)
def test_a_size_is_chosen_by_any_scoring_of_scikit_learn(scoring: str) -> None:
    X, y = make_classification(200, weights=[0.7], flip_y=0.1, random_state=1)
    weight = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    folds = list(StratifiedKFold(3).split(X, y))
    settings = {"max_rules": 6, "scoring": scoring, "choose": "best"}
    path = RulePathClassifier(FOREST, cv=folds, **settings).fit(X, y, sample_weight=weight)

    scores = np.zeros((3, 7))
    for k, (learn, check) in enumerate(folds):
        part = RulePathClassifier(FOREST, max_rules=6, choose="last").fit(X[learn], y[learn], weight[learn])
        for size in range(7):
            scores[k, size] = get_scorer(scoring)(part.at(size), X[check], y[check], sample_weight=weight[check])

    name = "cv_score" if scoring == "accuracy" else f"cv_{scoring}"
    assert path.path_[name].to_numpy() == pytest.approx(scores.mean(axis=0))
    assert path.n_rules_ == 1 + scores.mean(axis=0)[1:].argmax()


@pytest.mark.slow
@pytest.mark.parametrize("rare", [0, 1])
def test_where_a_class_is_rare_the_log_loss_decides(rare: int) -> None:
    X, y = make_classification(500, weights=[0.97], class_sep=0.7, flip_y=0.0, random_state=2)
    y = y if rare else 1 - y
    folds = list(StratifiedKFold(3).split(X, y))
    path = RulePathClassifier(FOREST, max_rules=8, cv=folds).fit(X, y)

    scores = np.zeros((3, 9))
    for k, (learn, check) in enumerate(folds):
        part = RulePathClassifier(FOREST, max_rules=8, choose="last").fit(X[learn], y[learn])
        for size in range(9):
            scores[k, size] = -log_loss(y[check], part.at(size).predict_proba(X[check]))
    assert path.path_["cv_neg_log_loss"].to_numpy() == pytest.approx(scores.mean(axis=0))
    assert path.n_rules_ == 1 + scores.mean(axis=0)[1:].argmax()
    # Weights are repeated rows, class weights are not: the class stays rare.
    again = RulePathClassifier(FOREST, max_rules=3, cv=2, class_weight="balanced").fit(X, y)
    assert "log loss" in again.size_reason_
    often = RulePathClassifier(FOREST, max_rules=3, cv=2).fit(X, y, np.where(y == rare, 9.0, 1.0))
    assert "Brier score" in often.size_reason_


def test_a_scoring_may_be_a_function_and_must_be_known() -> None:
    X, y = make_classification(120, random_state=0)

    def few(model: Any, X: Any, y: Any) -> float:
        return -abs(float(np.mean(model.predict_proba(X)[:, 1])) - 0.5)

    path = RulePathClassifier(FOREST, max_rules=3, cv=2, scoring=few).fit(X, y)
    assert (path.path_["cv_scoring"] <= 0).all() and "scoring" in path.size_reason_
    with pytest.raises(ValueError, match=r"scoring is 'acuracy'; give a name that scikit-learn knows"):
        RulePathClassifier(FOREST, scoring="acuracy").fit(X, y)
    with pytest.raises(ValueError, match=r"scoring is 3"):
        RulePathRegressor(TREES, scoring=3).fit(X, y)


@pytest.mark.slow
@pytest.mark.parametrize("regression", [False, True])
def test_rows_of_a_group_are_in_the_same_fold(regression: bool) -> None:
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 12, 240)
    X = np.column_stack([groups, rng.normal(size=240)])
    y = rng.normal(size=12)[groups] if regression else (rng.permutation(12) % 2)[groups]
    model = RulePathRegressor(TREES, max_rules=12) if regression else RulePathClassifier(FOREST, max_rules=12)

    apart, together = model.fit(X, y).path_["cv_score"], model.fit(X, y, groups=groups).path_["cv_score"]

    # The group tells y, so rows of known groups are easy; new groups tell nothing.
    assert apart.iloc[-1] > 0.9 and together.max() < 0.75
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(X, y, groups=groups[:-1])


@pytest.mark.slow
def test_where_no_set_comes_near_enough_the_best_is_taken_with_a_warning() -> None:
    X, y = make_classification(400, n_informative=10, n_classes=4, random_state=0)

    with pytest.warns(
        RulecoverWarning, match="no set of up to 2 rules is surely within 0.001 of the model by accuracy"
    ):
        path = RulePathClassifier(FOREST, max_rules=2, within=0.001, cv=2).fit(X, y)

    assert path.n_rules_ == path.path_["cv_score"].loc[1:].idxmax()


# Answers --------------------------------------------------------------------------------------------------------------


def test_votes_add_up_to_the_answer(path: RulePathClassifier, cancer: tuple[pd.DataFrame, np.ndarray]) -> None:
    X = cancer[0].iloc[:30]

    why = path.why(X)

    votes = why.groupby("row")[["votes_benign", "votes_malignant"]].sum()
    assert (path.classes_[votes.to_numpy().argmax(axis=1)] == path.predict(X)).all()
    assert (why.groupby("row")["rule"].count() == path.apply(X).sum(axis=1) + 1).all()
    assert set(why.loc[why["rule"] == -1, "text"]) == {"by default"}
    assert (why["prediction"] == path.predict(X)[why["row"]]).all()


def test_votes_of_a_regressor_add_up_to_its_value() -> None:
    X, y = regression()
    path = RulePathRegressor(TREES, max_rules=10, cv=2).fit(X, y)

    added = path.why(X).groupby("row")["vote"].sum()

    assert added.to_numpy() == pytest.approx(path.predict(X))
    assert path.score(X, y) > 0.5
    assert path.fidelity(X) > 0.5


def test_the_views_show_every_vote_and_escape_names(cancer: tuple[pd.DataFrame, np.ndarray]) -> None:
    X, y = cancer
    X = X.rename(columns={"worst area": "<b>worst area</b>"})
    path = RulePathClassifier(FOREST, max_rules=6, choose="last").fit(X, y)

    text, frame = str(path.vote_), path.vote_.to_frame()

    assert text.splitlines()[0].split() == ["rule", "support", "log-odds", "of", "malignant", "if"]
    assert "by default" in text.splitlines()[1]
    assert len(text.splitlines()) == 8
    assert frame.loc[-1, "votes_benign"] == pytest.approx(path.vote_.base[0])
    assert frame["support"].iloc[1:].tolist() == path.apply(X).sum(axis=0).tolist()
    assert "&lt;b&gt;" in path.vote_._repr_html_() and "<b>worst" not in path.vote_._repr_html_()
    assert "purity" in str(path.rules_)


@pytest.mark.slow
def test_a_report_shows_votes_and_other_sizes_and_proves_nothing(
    path: RulePathClassifier, cancer: tuple[pd.DataFrame, np.ndarray], tmp_path: Path
) -> None:
    summary = Summary.of(path, *cancer, title="Biopsies", compare_with={"forest": path.estimator_})

    page = write_report(summary, tmp_path / "report.html").read_text(encoding="utf-8")

    assert "What is proved" not in page
    assert "Every row begins with the default vote" in page
    assert "Cross-validated Brier score" in page and f"{-path.path_.loc[12, 'cv_neg_brier_score']:.3f}" in page
    assert page.count('role="rowheader"') == path.n_rules_
    best = path.vote_.votes[0].argmax()
    assert f"{path.classes_[best]} {path.vote_.votes[0, best]:+.2g}" in page


def test_the_plot_draws_the_path_on_the_axes_it_is_given(path: RulePathClassifier) -> None:
    axes = Figure().subplots()

    assert path.plot_path(axes) is axes

    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == [
        "training rows",
        "cross-validated",
        "source model, cross-validated",
        f"{path.n_rules_} {'rule' if path.n_rules_ == 1 else 'rules'} taken",
    ]
    assert axes.lines[1].get_ydata() == pytest.approx(path.path_["cv_score"].iloc[1:])
    assert axes.get_xlabel() == "rules"


@pytest.mark.slow
def test_a_path_survives_pickle_clone_and_a_grid_search(
    path: RulePathClassifier, cancer: tuple[pd.DataFrame, np.ndarray]
) -> None:
    X, y = cancer

    again = pickle.loads(pickle.dumps(path))
    search = GridSearchCV(
        RulePathClassifier(FOREST, choose="last"), {"max_rules": [1, 4], "ridge": [1.0, 20.0]}, cv=2
    ).fit(X, y)

    assert (again.predict(X) == path.predict(X)).all()
    assert again.at(3).rules_ == path.at(3).rules_
    assert clone(path).get_params()["max_rules"] == 12
    assert search.best_params_["max_rules"] == 4


@pytest.mark.slow
def test_the_rules_do_not_depend_on_threads_and_repeat_with_the_seed() -> None:
    X, y = make_classification(300, n_informative=5, random_state=0)

    one, two = (RulePathClassifier(max_rules=10, cv=2, random_state=3, n_jobs=jobs).fit(X, y) for jobs in (1, 2))

    assert one.rules_ == two.rules_
    assert one.predict_proba(X).tolist() == two.predict_proba(X).tolist()
    pd.testing.assert_frame_equal(one.path_, two.path_)


@pytest.mark.slow
def test_sparse_rows_and_missing_values_are_answered_as_in_the_trees() -> None:
    X, y = make_classification(200, random_state=0)
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    few = np.where(np.abs(X) < 1, 0.0, X)

    with_holes = RulePathClassifier(FOREST, max_rules=8, choose="last").fit(holes, y)
    dense = RulePathClassifier(FOREST, max_rules=8, choose="last").fit(few, y)
    sparse = RulePathClassifier(FOREST, max_rules=8, choose="last").fit(scipy.sparse.csr_array(few), y)

    assert with_holes.score(holes, y) > 0.8
    assert dense.predict(few).tolist() == sparse.predict(scipy.sparse.csr_array(few)).tolist()


def sparse_rows() -> tuple[scipy.sparse.csr_array, dict[type, np.ndarray]]:
    rng = np.random.default_rng(0)
    X = np.where(rng.random((60, 5)) < 0.6, 0.0, rng.normal(size=(60, 5)))
    labels = np.array(list("abc"))[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0)]
    return scipy.sparse.csr_array(X), {RulePathClassifier: labels, RulePathRegressor: X[:, 0] + X[:, 1]}


@pytest.mark.slow
@pytest.mark.parametrize("kind", [RulePathClassifier, RulePathRegressor])
def test_the_pool_of_sparse_rows_is_a_forest_and_that_of_their_bins_the_usual_one(kind: Any) -> None:
    X, targets = sparse_rows()
    settings = {"max_rules": 3, "choose": "best", "cv": 2, "random_state": 0}
    for given, other, rows in (({}, {"pool": "forest"}, X), ({"n_bins": 4}, {"n_bins": 4}, X.toarray())):
        mine = kind(**given, **settings).fit(X, targets[kind])
        same = kind(**other, **settings).fit(rows, targets[kind])

        assert mine.rules_ == same.rules_ and mine.size_reason_ == same.size_reason_
        np.testing.assert_array_equal(mine.predict(X), same.predict(rows))


@pytest.mark.parametrize("pool", ["boosted", "both"])
@pytest.mark.parametrize("kind", [RulePathClassifier, RulePathRegressor])
def test_boosted_trees_do_not_take_sparse_rows(kind: Any, pool: str) -> None:
    X, targets = sparse_rows()
    with pytest.raises(ValueError, match=rf"pool is '{pool}', but X is sparse.*give pool='forest', X.toarray\(\)"):
        kind(pool=pool, choose="last").fit(X, targets[kind])


def test_a_frozen_model_is_not_trained_and_copies_of_it_are_cross_validated() -> None:
    X, y = make_classification(200, random_state=0)
    model = ExtraTreesClassifier(15, random_state=0).fit(X, y)

    path = RulePathClassifier(FrozenEstimator(model), max_rules=6, cv=2).fit(X, y)

    assert path.estimator_ is model
    assert path.path_["cv_score"].notna().all()


def test_rows_of_weight_zero_do_not_count() -> None:
    X, y = make_classification(120, random_state=0)
    tree = DecisionTreeClassifier(max_depth=4, random_state=0)
    weight = (np.arange(120) < 100).astype(float)

    weighted = RulePathClassifier(tree, max_rules=5, choose="last").fit(X, y, weight)
    without = RulePathClassifier(tree, max_rules=5, choose="last").fit(X[:100], y[:100])

    assert weighted.predict_proba(X) == pytest.approx(without.predict_proba(X))


def test_one_class_needs_no_rule() -> None:
    path = RulePathClassifier(FOREST, cv=2).fit(np.arange(20.0)[:, None], ["a"] * 20)

    assert len(path.rules_) == 0
    assert path.predict([[3.0]]).tolist() == ["a"]
    assert path.predict_proba([[3.0]]).tolist() == [[1.0]]


@pytest.mark.slow
def test_all_lines_of_tic_tac_toe_are_found() -> None:
    X, y = tic_tac_toe()

    path = RulePathClassifier(max_rules=25, max_depth=5, tries=20, choose="last", random_state=0).fit(X, y)

    found = {
        tuple(rule.name for rule in each.clauses if rule.lower >= 0) for each in path.rules_ if len(each.clauses) == 3
    }
    assert {tuple(f"x{square}" for square in line) for line in LINES} <= found
    assert path.score(X, y) > 0.98


# Constraints ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("frozen", [False, True])
def test_forbidden_features_are_not_used_and_rules_are_short_enough(seed: int, frozen: bool) -> None:
    X, y = make_classification(200, 6, n_informative=4, random_state=seed)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    forest = FrozenEstimator(clone(FOREST).fit(frame, y)) if frozen else FOREST

    path = RulePathClassifier(forest, max_rules=10, choose="last", forbidden=["a", 3], max_clauses=2).fit(frame, y)

    assert not np.isin(path.rules_.clauses.feature, [0, 3]).any()
    assert path.rules_.lengths.max() <= 2
    assert len(path.rules_) == 10


def test_a_forest_that_is_trained_here_does_not_waste_nodes_on_forbidden_features() -> None:
    X, y = make_classification(200, 6, n_informative=4, random_state=0)

    for given in (X, scipy.sparse.csr_array(X), pd.DataFrame(X)):
        path = RulePathClassifier(FOREST, max_rules=3, choose="last", forbidden=[0]).fit(given, y)

        assert all((tree.tree_.feature != 0).all() for tree in path.estimator_.estimators_)
        assert len(path.predict(given)) == 200


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_required_features_are_used_in_every_set_that_is_taken(seed: int) -> None:
    X, y = make_classification(200, 6, n_informative=2, n_redundant=0, shuffle=False, random_state=seed)

    path = RulePathClassifier(FOREST, max_rules=8, cv=2, required=[4, 5]).fit(X, y)

    assert {4, 5} <= set(path.rules_.clauses.feature.tolist())
    assert path.n_rules_ <= 8


def test_a_required_feature_that_no_node_uses_is_named() -> None:
    X, y = make_classification(100, 5, random_state=0)
    X[:, 3] = 1.0

    with pytest.raises(ValueError, match="uses 'x3', which is required"):
        RulePathClassifier(FOREST, required=[3], choose="last").fit(X, y)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_answers_follow_monotone_features(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 3))
    y = X @ [1.0, -1.0, 0.5] + np.sin(4 * X[:, 0])  # goes up and down on its way up

    path = RulePathRegressor(TREES, max_rules=20, choose="last", monotone={0: 1, 1: -1}).fit(X, y)

    assert len(path.rules_) == 20
    assert np.isin(path.rules_.clauses.feature, [0, 1]).any()
    low = X
    for column, direction in ((0, 1), (1, -1)):
        high = low.copy()
        high[:, column] += rng.exponential(size=len(X))
        for k in (5, 20):
            assert ((path.at(k).predict(high) - path.at(k).predict(low)) * direction >= -1e-9).all()


def test_probabilities_of_the_second_class_follow_monotone_features(cancer: tuple[pd.DataFrame, np.ndarray]) -> None:
    X, y = cancer

    path = RulePathClassifier(FOREST, max_rules=15, choose="last", monotone={"worst area": 1, "worst texture": 1})
    path.fit(X, y)

    more = X.assign(**{"worst area": X["worst area"] * 1.5})
    assert (path.predict_proba(more)[:, 1] >= path.predict_proba(X)[:, 1] - 1e-9).all()


@pytest.mark.parametrize("direction", [1, -1])
def test_dates_are_monotone_as_time_passes(direction: int) -> None:
    rng = np.random.default_rng(0)
    when = pd.Series(pd.date_range("2020-01-20", periods=400, freq="3D"))
    frame = pd.DataFrame({"a": rng.normal(size=len(when)), "when": when})
    y = ((when.dt.month > 6) | (frame["a"] > 1)).to_numpy().astype(int)
    settings = {"max_rules": 6, "choose": "last", "random_state": 0}

    free = RulePathClassifier(FOREST, **settings).fit(frame, y)
    path = RulePathClassifier(FOREST, monotone={"when": direction}, **settings).fit(frame, y)

    assert "month" in str(free.rules_) and "when" in str(path.rules_)
    assert "month" not in str(path.rules_) and "weekday" not in str(path.rules_)
    for a in (-1.0, 0.0, 1.5):
        later = path.predict_proba(frame.assign(a=a))[:, 1]
        assert (direction * np.diff(later) >= -1e-12).all()


@pytest.mark.parametrize("settings", [{}, {"monotone": {"when": 1}}, {"tries": 0}], ids=str)
def test_required_dates_are_used_in_any_part(settings: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    when = pd.Series(pd.date_range("2020-01-20", periods=400, freq="3D"))
    frame = pd.DataFrame({"a": rng.normal(size=len(when)), "b": rng.normal(size=len(when)), "when": when})
    y = (frame["a"] > 0).to_numpy().astype(int)

    free = RulePathClassifier(FOREST, max_rules=1, choose="last", random_state=0, **settings).fit(frame, y)
    path = RulePathClassifier(FOREST, max_rules=1, choose="last", required=["when"], random_state=0, **settings)

    assert "when" not in str(free.rules_) or settings.get("tries") == 0
    assert "when" in str(path.fit(frame, y).rules_)


def test_monotone_features_need_an_order_of_answers() -> None:
    with pytest.raises(ValueError, match="two classes or numbers, but there are 3 classes"):
        RulePathClassifier(FOREST, monotone={0: 1}).fit(*load_iris(return_X_y=True))


@pytest.mark.slow
def test_rules_of_an_expert_stay_in_and_come_first(cancer: tuple[pd.DataFrame, np.ndarray]) -> None:
    X, y = cancer
    places = {name: f for f, name in enumerate(X.columns)}
    mine = RuleSet.of_intervals(
        [{places["mean texture"]: (25, np.inf)}, {places["worst area"]: (-np.inf, 600), 0: (10, 12)}], list(X.columns)
    )

    path = RulePathClassifier(FOREST, max_rules=6, cv=2, keep=mine).fit(X, y)

    assert path.n_rules_ >= 2
    assert path.at(6).rules_[:2] == mine
    assert path.rules_[:2] == mine
    assert path.apply(X).sum(axis=0)[:2].tolist() == mine.apply(X).sum(axis=0).tolist()
    assert (np.diff(path.path_["loss"]) <= 0).all()


def test_a_rule_to_keep_that_breaks_a_constraint_is_named() -> None:
    X, y = make_classification(100, 5, random_state=0)
    mine = RuleSet.of_intervals([{2: (0, 1)}], [f"x{f}" for f in range(5)])
    others = RuleSet.of_intervals([{2: (0, 1)}], list("abcde"))

    with pytest.raises(ValueError, match="'0 < x2 <= 1', breaks the constraints"):
        RulePathClassifier(FOREST, keep=mine, forbidden=[2]).fit(X, y)
    with pytest.raises(ValueError, match="breaks the constraints"):
        RulePathClassifier(FOREST, keep=mine, monotone={2: 1}).fit(X, y)
    with pytest.raises(MismatchedDataError, match="have the columns 'a'"):
        RulePathClassifier(FOREST, keep=others).fit(X, y)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_rules": 0}, "max_rules is 0"),
        ({"choose": "two-se"}, "choose is 'two-se'"),
        ({"within": -0.1}, "within is -0.1"),
        ({"model_share": 1.5}, "model_share is 1.5"),
        ({"ridge": 0.0}, "ridge is 0.0"),
        ({"forbidden": [9]}, "forbidden has column 9, but there are 4"),
        ({"forbidden": ["x9"]}, "forbidden names 'x9'"),
        ({"monotone": {0: 2}}, r"monotone\[0\] is 2"),
        ({"forbidden": [1], "required": [1]}, "both forbidden and required"),
        ({"max_clauses": 0}, "max_clauses is 0"),
        ({"cv": 1}, "cv is 1"),
    ],
    ids=str,
)
def test_settings_out_of_range_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RulePathClassifier(FOREST, **settings).fit(*load_iris(return_X_y=True))


def test_other_models_and_wrong_types_are_refused() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(UnreadableModelError):
        RulePathClassifier(LogisticRegression()).fit(X, y)
    with pytest.raises(UnreadableModelError, match="is not a regressor"):
        RulePathRegressor(FOREST).fit(X, y)
    with pytest.raises(UnreadableModelError, match="is not a classifier"):
        RulePathClassifier(TREES).fit(X, y)
    with pytest.raises(TypeError, match="give a list of columns"):
        RulePathClassifier(FOREST, forbidden="x0").fit(X, y)
    with pytest.raises(TypeError, match="keep is 3; give a RuleSet"):
        RulePathClassifier(FOREST, keep=3).fit(X, y)


@pytest.mark.slow
@pytest.mark.parametrize("frozen", [False, True])
def test_the_votes_of_a_cover_and_the_pool_of_a_boosting_are_fitted_again(frozen: bool) -> None:
    X, y = make_classification(200, random_state=0)
    for model in (MIRCOClassifier(FOREST, vote="shares"), RCBoostClassifier(max_rmp_calls=3, random_state=0)):
        source = FrozenEstimator(clone(model).fit(X, y)) if frozen else model

        path = RulePathClassifier(source, max_rules=12, tries=0, cv=2).fit(X, y)

        pool = {str(rule.text) for rule in path.estimator_.rules_}
        assert {str(rule.text) for rule in path.rules_} <= pool
        assert path.at(path.path_.index[-1]).score(X, y) > 0.85
    with pytest.raises(UnreadableModelError, match="is not a regressor"):
        RulePathRegressor(MIRCOClassifier()).fit(X, y)


@pytest.mark.slow
def test_few_rules_of_a_boosting_come_from_its_pool_and_repeat_with_the_seed() -> None:
    X, y = make_classification(150, random_state=0)

    few = RCBoostClassifier.few_rules(12, random_state=3).fit(X, y)
    again = RCBoostClassifier.few_rules(12, random_state=3).fit(X, y)
    shorter = RCBoostClassifier.few_rules(max_rmp_calls=1, random_state=3).fit(X, y)

    assert len(few.rules_) == 12 < few.n_candidate_rules_
    assert few.predict_proba(X).tolist() == again.predict_proba(X).tolist()
    assert shorter.estimator_.n_rmp_calls_ == 1
    pool = few.estimator_.apply(X).toarray()
    for covered in few.apply(X).toarray().T:  # clauses may have been dropped
        assert pool[~covered].sum(axis=0).min() == 0


def test_the_rules_of_a_path_become_columns() -> None:
    X, y = load_iris(return_X_y=True)

    columns = RuleTransformer(RulePathClassifier(FOREST, max_rules=4, choose="last")).fit_transform(X, y)

    assert columns.shape == (150, 4)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [RulePathClassifier, RulePathRegressor])
def test_a_rule_to_be_kept_may_cover_no_training_row(kind: type) -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    rules = RuleSet.of_intervals([{0: (1e6, np.inf)}, {0: (5.0, np.inf)}], list(X.columns))
    with pytest.warns(RulecoverWarning, match=r"'sepal length .* > 1000000' is to be kept, but covers no training row"):
        path = kind(keep=rules, max_rules=4, cv=2, random_state=0).fit(X, y)

    assert path.rules_[:1] == rules[1:] and path.rules_.evidence.support.min() > 0
    assert path.at(4).score(X, y) > 0.8 and len(path.at(4).rules_) == 3 and len(path.at(1).rules_) == 0
    assert from_json(to_json(path)).predict(X).tolist() == path.predict(X).tolist()
    assert not np.isnan(Summary.of(path, X, y, title="iris").rules.evidence.shares).any()


@pytest.mark.parametrize("train_in_folds", [True, False])
def test_a_rule_to_be_kept_may_cover_no_row_of_a_fold(train_in_folds: bool) -> None:
    X = pd.DataFrame({"x": np.arange(60.0)})
    y = X["x"] % 20 > 10
    rules = RuleSet.of_intervals([{0: (58.0, np.inf)}, {0: (35.0, np.inf)}], ["x"])
    tree = DecisionTreeClassifier(max_depth=4)
    source = tree if train_in_folds else FrozenEstimator(tree.fit(X, y))

    path = RulePathClassifier(
        source, keep=rules, max_rules=5, cv=KFold(3), train_in_folds=train_in_folds, min_samples=1
    ).fit(X, y)

    assert path.rules_[:2] == rules and path.rules_.evidence.support[:2].tolist() == [1, 24]


def coloured() -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"n": rng.normal(size=200), "col": pd.Categorical(rng.choice(["r", "g", "b"], 200))})
    return X, np.where((X["n"] > 0) ^ (X["col"] == "g"), 1, 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "source"),
    [(RulePathClassifier, HistGradientBoostingClassifier), (RulePathRegressor, HistGradientBoostingRegressor)],
)
def test_a_path_knows_categories_by_name_and_so_does_what_is_exported(kind: type, source: type) -> None:
    X, y = coloured()
    booster = source(max_iter=5, max_leaf_nodes=6, categorical_features="from_dtype")

    path = kind(booster, max_rules=6, choose="last", cv=2, random_state=0).fit(X, y)

    assert "col = g" in str(path.rules_) and path.rules_.columns.categories == {1: ("b", "g", "r")}
    assert (path.rules_.apply(X) != path.apply(X)).nnz == 0
    assert from_json(to_json(path)).predict(X).tolist() == path.predict(X).tolist()


@pytest.mark.slow
def test_a_rule_to_be_kept_covers_the_categories_that_it_names() -> None:
    X, y = coloured()
    booster = HistGradientBoostingClassifier(max_iter=5, max_leaf_nodes=6, categorical_features="from_dtype")

    def kept(text: str) -> Any:
        keep = RuleSet.from_text([text], ["n", "col"])
        return RulePathClassifier(booster, max_rules=4, choose="last", cv=2, random_state=0, keep=keep).fit(X, y)

    for text, held in (("col in {g}", X["col"] == "g"), ("col not in {g, r}", X["col"] == "b")):
        path = kept(text)
        assert (path.apply(X).toarray()[:, 0] == held).all()
        assert path.vote_.support[0] == held.sum()
    with pytest.raises(MismatchedDataError, match="category 'pink' of column 'col', which the model does not know"):
        kept("col in {pink}")


@pytest.mark.slow
@pytest.mark.parametrize("text", ["paid > 0.5", "paid = 1", "paid = True", "paid in {1}", "paid ≠ False"])
def test_a_rule_to_be_kept_compares_truth_values_with_numbers_or_words(text: str) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"n": rng.normal(size=200), "paid": rng.random(200) < 0.4})
    y = X["paid"] ^ (X["n"] > 0)
    keep = RuleSet.from_text([text, f"n > 0 and {text}"], list(X))

    path = RulePathClassifier(FOREST, keep=keep, max_rules=4, choose="last", random_state=0).fit(X, y)

    assert str(path.rules_[0]).startswith("if paid = True") and path.vote_.support[0] == X["paid"].sum()
    again = RuleSet.from_text(path.rules_.to_text(), list(X))
    assert again == path.rules_ and (again.apply(X) != path.apply(X)).nnz == 0


def test_a_rule_to_be_kept_compares_numbered_categories_with_numbers_and_no_words() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"grade": pd.Categorical(rng.integers(1, 5, 100)), "size": rng.choice(["S", "L"], 100)})
    y = np.asarray(X["grade"], dtype=int) > 2
    tree = DecisionTreeClassifier(max_depth=3)

    path = RulePathClassifier(
        tree, keep=RuleSet.from_text(["grade >= 2", "grade in {2}"], list(X)), max_rules=3, choose="last"
    ).fit(X, y)

    grade = np.asarray(X["grade"], dtype=int)
    assert path.vote_.support[:2].tolist() == [(grade >= 2).sum(), (grade == 2).sum()]
    with pytest.raises(MismatchedDataError, match="compares column 'size' with numbers, but it holds categories: 'L'"):
        RulePathClassifier(tree, keep=RuleSet.from_text(["size > 1"], list(X))).fit(X, y)


def test_a_path_knows_where_zero_is_missing() -> None:
    from lightgbm import LGBMClassifier

    rng = np.random.default_rng(0)
    X = pd.DataFrame({"z": np.where(rng.random(300) < 0.4, 0, rng.normal(size=300)), "b": rng.normal(size=300)})
    y = np.where(X["z"] == 0, "zero", np.where(X["z"] > 0.3, "hi", "lo"))
    booster = LGBMClassifier(
        n_estimators=5, num_leaves=6, min_child_samples=5, zero_as_missing=True, verbose=-1, n_jobs=1
    )

    for tries in (0, 5):
        path = RulePathClassifier(booster, max_rules=6, choose="last", tries=tries, cv=2, random_state=0).fit(X, y)
        assert path.vote_.support.tolist() == path.apply(X).sum(axis=0).tolist()
        assert path.rules_.columns.zero_missing == (0, 1)


@pytest.mark.slow
@pytest.mark.parametrize("model", [RulePathClassifier, RulePathRegressor])
def test_verbose_shows_progress_on_standard_error_and_changes_no_rule(
    model: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    settings: dict[str, Any] = {"max_rules": 3, "cv": 2, "random_state": 0}
    quiet = model(**settings).fit(X, y)
    assert capsys.readouterr().err == ""
    shown = model(**settings, verbose=1).fit(X, y)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert [captured.err.count(bar) for bar in ("Choosing rules", "Cross-validating")] == [1, 1]
    assert shown.rules_ == quiet.rules_


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_the_order_of_the_rows_does_not_mislead_the_cross_validation(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(300, 3))
    y = 10 * X[:, 0] + X[:, 1]
    by_target = np.argsort(y)
    path = RulePathRegressor(TREES, max_rules=12, choose="best", cv=5, random_state=seed)
    path.fit(X[by_target], y[by_target])
    assert path.model_score_ > 0.9 and path.path_["cv_score"].iloc[-1] > 0.8
    by_design = np.lexsort((X[:, 0], X[:, 1] > 0.5))
    labels = (X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)
    classes = RulePathClassifier(FOREST, max_rules=6, choose="best", cv=5, random_state=seed)
    assert classes.fit(X[by_design], labels[by_design]).model_score_ > 0.9


def test_folds_are_drawn_by_the_seed_and_those_that_are_given_stay_as_they_are() -> None:
    X, y = np.zeros((30, 1)), np.repeat([0, 1, 2], 10)
    drawn = [folds_of(5, X, y, classes=True, random_state=seed) for seed in (None, None, 3, 3, 4)]
    tests = [[test.tolist() for _, test in folds] for folds in drawn]
    assert tests[0] == tests[1] and tests[2] == tests[3] != tests[4]
    assert all(np.bincount(y[test]).tolist() == [2, 2, 2] for _, test in drawn[4])
    given = KFold(3)
    ours = folds_of(given, X, y, classes=True, random_state=3)
    assert [test.tolist() for _, test in ours] == [test.tolist() for _, test in given.split(X)]
