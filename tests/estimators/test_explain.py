"""`explain`: one question, one default; the model is never trained again."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xgboost
from catboost import CatBoostClassifier
from lightgbm import LGBMClassifier
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine, make_classification, make_regression
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, r2_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from rulecover import (
    MIRCOClassifier,
    MIRCORegressor,
    RCBoostClassifier,
    RCBoostRegressor,
    RulePathClassifier,
    RulePathRegressor,
    RuleSet,
    TableEncoder,
    explain,
    open_table,
    read_trees,
)
from rulecover.coverage import Coverage
from rulecover.exceptions import (
    AdviceWarning,
    CheckpointError,
    CutShortWarning,
    UnknownOptionError,
    UnreadableModelError,
)
from rulecover.export import from_json, to_json
from rulecover.pool import with_evidence
from rulecover.setcover.master import Master

X, Y = make_classification(300, 6, n_informative=4, random_state=0)
NUMBERS = make_regression(200, 4, noise=5.0, random_state=0)


def forest() -> RandomForestClassifier:
    return RandomForestClassifier(20, random_state=0).fit(X, Y)


class OnlyOnce(RandomForestClassifier):
    """A forest that must not be trained a second time, nor any copy of it."""

    trained = False

    def fit(self, *data: Any, **settings: Any) -> Any:
        assert not OnlyOnce.trained
        OnlyOnce.trained = True
        return super().fit(*data, **settings)


@pytest.mark.slow
def test_the_default_is_a_path_of_a_few_rules() -> None:
    few = explain(forest(), X, Y)

    assert isinstance(few, RulePathClassifier)
    assert 1 <= len(few.rules_) <= 15 and few.max_rules == 15
    assert few.score(X, Y) > 0.85


@pytest.mark.slow
@pytest.mark.parametrize("method", ["path", "cover", "boost"])
def test_neither_the_model_nor_a_copy_of_it_is_trained(method: Any) -> None:
    OnlyOnce.trained = False
    model = OnlyOnce(10, max_depth=4, random_state=0).fit(X, Y)

    assert explain(model, X, Y, method=method).estimator_ is model


@pytest.mark.slow
def test_the_reason_of_the_size_says_that_the_model_was_kept() -> None:
    kept, trained = (explain(forest(), X, Y, train_in_folds=train, max_rules=5) for train in (False, True))

    assert "cross-validated Brier score" in kept.size_reason_
    assert kept.size_reason_.endswith(
        "(rules were chosen and weighed again in each fold, among those of the same model)"
    )
    assert "same model" not in trained.size_reason_


@pytest.mark.slow
def test_copies_are_trained_in_the_folds_if_asked_for() -> None:
    asked = explain(forest(), X, Y, train_in_folds=True, max_rules=6, random_state=0)
    path = RulePathClassifier(FrozenEstimator(forest()), max_rules=6, random_state=0).fit(X, Y)

    assert asked.path_.equals(path.path_) and asked.rules_ == path.rules_


@pytest.mark.slow
def test_folds_that_keep_the_model_give_the_path_itself_and_other_scores() -> None:
    kept = explain(forest(), X, Y, choose="best", max_rules=6)
    last = explain(forest(), X, Y, choose="last", max_rules=6)

    assert kept.at(6).rules_ == last.rules_
    assert "cv_score" not in last.path_ and kept.path_["cv_score"].between(0.5, 1).all()
    assert 0.5 < kept.model_score_ < 1  # out of bag, where the forest itself is right on every row


@pytest.mark.slow
def test_numbers_and_more_classes_have_their_own_estimators() -> None:
    rows, numbers = NUMBERS
    regressor = RandomForestRegressor(20, random_state=0).fit(rows, numbers)
    path = explain(regressor, rows, numbers)
    cover = explain(regressor, rows, numbers, method="cover")

    assert isinstance(path, RulePathRegressor) and path.max_rules == 15 and path.score(rows, numbers) > 0.5
    assert isinstance(cover, MIRCORegressor)


def test_many_classes_may_have_more_rules() -> None:
    y = np.digitize(X[:, 0], np.quantile(X[:, 0], np.linspace(0.1, 0.9, 9)))
    model = DecisionTreeClassifier(max_depth=5, random_state=0).fit(X, y)

    assert explain(model, X, y, choose="last").max_rules == 30
    assert explain(model, X, y, choose="last", max_rules=3).n_rules_ == 3


def test_a_cover_is_one_word_away() -> None:
    cover = explain(forest(), X, Y, method="cover")
    same = MIRCOClassifier(FrozenEstimator(forest())).fit(X, Y)

    assert isinstance(cover, MIRCOClassifier)
    assert cover.rules_ == same.rules_ and (cover.vote_.votes == same.vote_.votes).all()
    assert not cover.missed(X).any()


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["as-in-paper", "accurate"])
def test_a_preset_is_the_one_of_the_estimator(preset: str) -> None:
    make = getattr(MIRCOClassifier, preset.replace("-", "_"))
    cover = explain(forest(), X, Y, method="cover", preset=preset, max_rules=9)
    same = make(FrozenEstimator(forest()), max_rules=9).fit(X, Y)

    assert cover.rules_ == same.rules_ and cover.get_params().keys() == same.get_params().keys()


@pytest.mark.slow
def test_on_average_the_default_cover_has_fewer_rules_and_clauses_than_that_of_the_paper() -> None:
    noisy = [make_classification(400, 8, n_informative=5, flip_y=0.2, random_state=seed) for seed in range(3)]
    rules, clauses = np.zeros(2), np.zeros(2)
    for rows, labels in (*noisy, load_iris(return_X_y=True), load_wine(return_X_y=True)):
        model = RandomForestClassifier(50, max_depth=8, random_state=0).fit(rows, labels)
        covers = [explain(model, rows, labels, method="cover", preset=preset) for preset in (None, "as-in-paper")]
        rules += [len(cover.rules_) for cover in covers]
        clauses += [cover.rules_.lengths.sum() for cover in covers]

    assert rules[0] < rules[1] and clauses[0] < 0.8 * clauses[1]


def test_the_default_cover_has_a_bound_worth_printing() -> None:
    ours, paper = (explain(forest(), X, Y, method="cover", preset=preset) for preset in (None, "as-in-paper"))
    unpruned = explain(forest(), X, Y, method="cover", prune=False)

    assert paper.certificate_.source == "dual fitting"
    for cover in (ours, unpruned):
        assert cover.certificate_.source.startswith("LP") or cover.certificate_.status == "optimal"
        assert cover.certificate_.gap < paper.certificate_.gap


# Boosting -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("numbers", [False, True])
def test_boosting_chooses_among_the_leaves_of_the_model_and_proves_the_optimum_over_all_of_them(numbers: bool) -> None:
    rows, y = NUMBERS if numbers else (X, Y)
    kind, boosting = (
        (RandomForestRegressor, RCBoostRegressor) if numbers else (RandomForestClassifier, RCBoostClassifier)
    )
    model = kind(20, max_depth=4, random_state=0).fit(rows, y)
    boosted = explain(model, rows, y, method="boost", max_rmp_calls=99)
    leaves = read_trees(model).rules().clauses.keys({})

    assert isinstance(boosted, boosting) and boosted.estimator_ is boosted.initial_estimator_ is model
    assert set(boosted.rules_.clauses.keys({})) < set(leaves)
    assert not boosted.missed(rows).any()
    cost = boosted.pool_.evidence.cost
    samples = boosted._target.samples(rows, y, None, None, model)
    every = with_evidence(samples, read_trees(model).rules(), boosted._recipe().price)
    optimum = Master(Coverage.of_masks(every.apply(rows).toarray().T), every.evidence.cost).solve().objective
    assert boosted.certificate_.objective == pytest.approx(optimum, abs=1e-6)
    assert boosted.history_["bound"].iloc[-1] == pytest.approx(optimum, abs=1e-6)
    assert boosted.z_ @ cost == pytest.approx(optimum, abs=1e-6)


def test_boosting_is_that_of_the_frozen_model_and_needs_no_seed() -> None:
    boosted, again = (explain(forest(), X, Y, method="boost", random_state=seed) for seed in (0, 1))
    same = RCBoostClassifier(FrozenEstimator(forest())).fit(X, Y)

    assert boosted.rules_ == again.rules_ == same.rules_
    assert boosted.score(X, Y) > 0.9


def test_boosting_as_in_the_paper_takes_one_tree_of_the_model_at_a_call() -> None:
    boosted = explain(forest(), X, Y, method="boost", preset="as-in-paper", max_rmp_calls=3)
    largest = max(len(tree.leaves) for tree in read_trees(forest()).trees)

    assert boosted.duals == "vertex" and boosted.vote == "counts"
    assert boosted.history_["added"].max() <= largest


@pytest.mark.parametrize("numbers", [False, True])
def test_a_boosting_of_few_rules_is_a_path_through_its_pool(numbers: bool) -> None:
    rows, y = NUMBERS if numbers else (X, Y)
    model = (RandomForestRegressor if numbers else RandomForestClassifier)(10, max_depth=4, random_state=0).fit(rows, y)
    few = explain(model, rows, y, method="boost", max_rules=4)
    pool = explain(model, rows, y, method="boost")

    assert isinstance(few, RulePathRegressor if numbers else RulePathClassifier)
    assert len(few.rules_) == 4 and few.estimator_.rules_ == pool.rules_
    assert few.estimator_.estimator_ is model
    assert explain(model, rows, y, method="boost", max_rules=None).rules_ == pool.rules_


@pytest.mark.parametrize("numbers", [False, True])
def test_few_boosted_rules_are_compared_with_the_model_that_was_given(numbers: bool) -> None:
    rows, y = NUMBERS if numbers else (X, Y)
    frame = pd.DataFrame(rows).add_prefix("x")
    forest = (RandomForestRegressor if numbers else RandomForestClassifier)(10, max_depth=4, random_state=0)
    score = r2_score if numbers else accuracy_score
    for source, given in ((forest, rows), (forest, frame), (make_pipeline(SimpleImputer(), forest), frame)):
        model = clone(source).fit(given, y)
        few = explain(model, given, y, method="boost", max_rules=2, max_rmp_calls=0)
        pool = few.estimator_

        assert score(model.predict(given), few.predict(given)) != score(pool.predict(given), few.predict(given))
        assert (
            few.fidelity(given)
            == few.path_["train_fidelity"].iloc[-1]
            == pytest.approx(score(model.predict(given), few.predict(given)), abs=1e-12)
        )
        again = explain(pool, given, y, max_rules=2, choose="last")  # whose model is the pool
        assert again.fidelity(given) == pytest.approx(score(pool.predict(given), again.predict(given)), abs=1e-12)


def test_warnings_are_of_the_rules_that_are_taken_and_not_of_those_they_were_chosen_from() -> None:
    model = RandomForestClassifier(5, max_depth=4, random_state=0).fit(X, Y)
    table = pd.DataFrame(X).add_prefix("x").assign(note=[f"text {k}" for k in range(len(X))])

    with pytest.warns(AdviceWarning, match="rest on one or two"):
        explain(model, X, Y, method="boost")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        few = explain(model, X, Y, method="boost", max_rules=3)
    assert few.rules_.evidence.samples.min() > 2
    with pytest.warns(AdviceWarning, match="column 'note' left out") as caught:  # of the columns in front of the pool
        RCBoostClassifier.few_rules(3, max_rmp_calls=1, random_state=0).fit(table, Y)
    assert len(caught) == 1


@pytest.mark.parametrize("numbers", [False, True])
def test_few_boosted_rules_of_a_pipeline_that_fills_gaps_take_rows_with_gaps(numbers: bool) -> None:
    rows, y = NUMBERS if numbers else (X, Y)
    forest = (RandomForestRegressor if numbers else RandomForestClassifier)(5, max_depth=3, random_state=0)
    gaps = np.where(np.random.default_rng(0).random(rows.shape) < 0.1, np.nan, rows)
    model = make_pipeline(SimpleImputer(), forest).fit(gaps, y)
    few = explain(model, gaps, y, method="boost", max_rules=3)

    assert len(few.rules_) == 3 and len(few.predict(gaps)) == len(y)


def test_few_boosted_rules_of_a_table_refuse_a_checkpoint_in_the_words_of_the_boosting(tmp_path: Path) -> None:
    table = pd.DataFrame({"size": X[:, 0], "colour": np.array(["red", "blue", "green"])[np.arange(len(Y)) % 3]})
    trees = HistGradientBoostingClassifier(max_iter=2, categorical_features="from_dtype", random_state=0)
    model = make_pipeline(TableEncoder(native_categories=True), trees).fit(table, Y)

    with pytest.raises(CheckpointError, match=r"^trees that split on categories"):
        explain(model, table, Y, method="boost", max_rules=3, random_state=0, checkpoint=tmp_path / "kept.npz")


def test_the_vote_of_few_boosted_rules_is_that_of_a_path() -> None:
    votes = [explain(forest(), X, Y, method="boost", max_rules=4, vote=vote) for vote in ("log-odds", "fitted")]

    assert [few.vote for few in votes] == ["log-odds", "fitted"]
    assert (votes[0].vote_.votes != votes[1].vote_.votes).any()


MODELS: dict[str, Callable[[], Any]] = {
    "extra trees": lambda: make_pipeline(TableEncoder(), ExtraTreesClassifier(10, random_state=0)),
    "histograms, native": lambda: HistGradientBoostingClassifier(max_iter=5, categorical_features="from_dtype"),
    "XGBoost, native": lambda: xgboost.XGBClassifier(n_estimators=5, enable_categorical=True),
    "LightGBM, native": lambda: LGBMClassifier(n_estimators=5, verbose=-1),
    "CatBoost, native": lambda: CatBoostClassifier(
        iterations=5, cat_features=["colour"], one_hot_max_size=5, verbose=0, allow_writing_files=False
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_every_kind_of_model_is_boosted_on_the_columns_of_its_table(name: str) -> None:
    rows = pd.DataFrame(X[:, :3], columns=list("abc"))
    rows["colour"] = np.array(["red", "green", "blue"])[(Y + np.arange(len(Y)) // 2 % 2) % 3]
    if "native" in name:
        rows["colour"] = rows["colour"].astype("category")
    model = MODELS[name]().fit(rows, Y)
    boosted = explain(model, rows, Y, method="boost", sample_weight=1 + np.arange(len(Y)) % 3)
    few = explain(model, rows, Y, method="boost", max_rules=3)

    assert not boosted.missed(rows).any() and boosted.score(rows, Y) > 0.8
    assert (from_json(to_json(boosted)).predict(rows) == boosted.predict(rows)).all()
    assert (pickle.loads(pickle.dumps(few)).predict(rows) == few.predict(rows)).all()
    assert "colour" in str(boosted.rules_) and "colour =" not in boosted.feature_names_in_


def test_boosting_of_a_model_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    settings = {"method": "boost", "random_state": 0, "pricing": "tree"}
    file, whole = tmp_path / "boost.npz", explain(forest(), X, Y, max_rmp_calls=6, **settings)
    with pytest.warns(CutShortWarning):
        explain(forest(), X, Y, max_rmp_calls=6, checkpoint=file, time_limit=1e-6, **settings)
    resumed = explain(forest(), X, Y, max_rmp_calls=6, checkpoint=file, **settings)

    assert resumed.rules_ == whole.rules_ and not file.exists()


def test_rules_of_a_table_in_blocks_are_not_boosted(tmp_path: Path) -> None:
    pd.DataFrame(X, columns=list("abcdef")).assign(y=Y).to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(TypeError, match="RCBoost grows trees on all rows and does not take tables of open_table"):
        explain(forest(), open_table(tmp_path / "rows.parquet", target="y"), method="boost")


# Models that cannot be asked ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_rules_of_a_model_file_are_chosen_by_the_labels(tmp_path: Path) -> None:
    file = tmp_path / "booster.json"
    booster = xgboost.XGBClassifier(n_estimators=10, max_depth=3, random_state=0).fit(X, Y)
    booster.save_model(file)
    few, asked = explain(file, X, Y), explain(booster, X, Y, model_share=0)

    assert few.score(X, Y) > 0.85 and few.rules_ == asked.rules_
    assert few.path_["train_fidelity"].isna().all() and np.isnan(few.model_score_)
    with pytest.raises(UnreadableModelError, match=r"within is 0.01, .* this model does not predict; give max_rules"):
        explain(file, X, Y, within=0.01)


def test_a_path_through_rules_made_by_hand_takes_them_as_they_are() -> None:
    rules = RuleSet.from_text(
        ["x0 > 0", "x1 <= 0 and x2 > 0.5", "x3 > 1", "x0 <= 0 and x3 <= 0"], [f"x{k}" for k in range(6)]
    )
    few = explain(rules, X, Y, choose="last")

    assert {rule.text for rule in few.rules_} <= {rule.text for rule in rules}
    with pytest.raises(UnreadableModelError, match=r"rules made by hand have no model .* give model_share=0"):
        RulePathClassifier(rules).fit(X, Y)


@pytest.mark.parametrize("method", ["cover", "path"])
def test_rules_made_by_hand_take_sparse_rows(method: str) -> None:
    rules = RuleSet.from_text(["x0 > 0", "x1 <= 0 and x2 > 0.5", "x0 <= 0 and x3 <= 0"], [f"x{k}" for k in range(6)])
    sparse = csr_array(np.where(np.abs(X) < 0.5, 0.0, X))

    few = explain(rules, sparse, Y, method=method)
    dense = explain(rules, sparse.toarray(), Y, method=method)

    assert few.rules_ == dense.rules_
    assert (
        few.predict(sparse).tolist()
        == dense.predict(sparse.toarray()).tolist()
        == few.predict(sparse.toarray()).tolist()
    )


@pytest.mark.slow
def test_a_model_without_probabilities_is_not_asked() -> None:
    vote = VotingClassifier([("one", forest()), ("two", DecisionTreeClassifier(max_depth=3))]).fit(X, Y)

    assert explain(vote, X, Y).model_share == 0


@pytest.mark.slow
def test_a_distance_is_measured_from_out_of_bag_predictions() -> None:
    near = explain(forest(), X, Y, within=0.2)

    assert near.max_rules == 50 and "very likely within 0.2 of the model's" in near.size_reason_


# What is refused ------------------------------------------------------------------------------------------------------

WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "another method": ({"method": "tree"}, "method is 'tree'; choose 'path', 'cover' or 'boost'"),
    "a preset of a path": ({"preset": "accurate"}, "preset is 'accurate', which belongs to method='cover'"),
    "a preset of boosting": ({"preset": "few-rules"}, "preset is 'few-rules', which belongs to method='boost'"),
    "no such preset": ({"method": "cover", "preset": "best"}, "preset is 'best', which MIRCOClassifier does not have"),
    "a preset of covers": (
        {"method": "boost", "preset": "accurate"},
        "preset is 'accurate', which RCBoostClassifier does not have",
    ),
    "few rules of the paper": (
        {"method": "boost", "preset": "as-in-paper", "max_rules": 5},
        "max_rules is 5, which goes with the preset few-rules; as-in-paper keeps",
    ),
    "trees that are grown": (
        {"method": "boost", "pricing": "exact"},
        "pricing is 'exact', which grows trees, but the model is trained; choose 'tree' or 'forest'",
    ),
    "rows to watch": ({"method": "boost", "early_stopping": 3}, "early_stopping is 3, .* but the model is trained"),
    "no such vote": ({"method": "boost", "vote": "fitted"}, "vote is 'fitted'; choose one of 'counts'"),
    "a fallback of few rules": (
        {"method": "boost", "max_rules": 5, "fallback": "all"},
        "fallback is 'all', but a few rules add to a default vote.*leave it out, or leave max_rules out",
    ),
    "a vote of few rules": ({"method": "boost", "max_rules": 5, "vote": "counts"}, "vote is 'counts'; choose"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_done_is_refused_with_the_way_out(case: str) -> None:
    options, said = WRONG[case]
    with pytest.raises(ValueError, match=said):
        explain(forest(), X, Y, **options)


@pytest.mark.parametrize(("option", "method"), [("within", "path"), ("prune", "cover")])
def test_an_option_of_another_method_is_refused_by_boosting(option: str, method: str) -> None:
    with pytest.raises(UnknownOptionError, match=rf"has no '{option}'; it belongs to method='{method}'"):
        explain(forest(), X, Y, method="boost", **{option: 0.1})


def test_rules_without_trees_are_not_boosted() -> None:
    rules = RuleSet.from_text(["x0 > 0", "x0 <= 0"], [f"x{k}" for k in range(6)])
    boosted = RCBoostClassifier(max_rmp_calls=1, random_state=0).fit(X, Y)

    for source in (rules, boosted):
        with pytest.raises(UnreadableModelError, match=r"RCBoost takes trees.*explain\(rules, X, y\)"):
            explain(source, X, Y, method="boost")


def test_a_model_that_has_no_trees_is_refused() -> None:
    with pytest.raises(UnreadableModelError):
        explain(LogisticRegression().fit(X, Y), X, Y)


@pytest.mark.slow
def test_the_pool_of_a_boosting_is_chosen_from() -> None:
    boosted = RCBoostClassifier(max_rmp_calls=2, random_state=0).fit(X, Y)
    few = explain(boosted, X, Y)

    assert len(few.rules_) <= 15 < len(boosted.rules_)


@pytest.mark.parametrize("method", ["cover", "path"])
def test_columns_that_rules_made_by_hand_do_not_use_are_not_warned_of(method: str) -> None:
    X = pd.DataFrame({"id": np.arange(100), "x": np.arange(100.0) % 10, "leak": np.arange(100) % 10 > 4, "same": 1.0})
    y = (np.arange(100) % 10 > 4) ^ (np.arange(100) % 7 == 0)
    rules = RuleSet.from_text(["x > 4", "x <= 4"], list(X))

    assert 1 <= len(explain(rules, X, y, method=method).rules_) <= 2  # warnings are errors


def test_columns_that_a_pipeline_does_not_use_are_not_said_to_be_constant() -> None:
    X = pd.DataFrame({"x": np.arange(100.0) % 10, "other": np.arange(100.0) % 3})
    y = (np.arange(100) % 10 > 4) ^ (np.arange(100) % 7 == 0)

    few = MIRCOClassifier(make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=1))).fit(X, y)

    assert len(few.rules_) == 2  # warnings are errors


def test_an_option_that_is_misspelt_is_named() -> None:
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(2, random_state=0).fit(X, y)

    with pytest.raises(UnknownOptionError, match=r"no option 'max_rule' \(did you mean 'max_rules'\?\)"):
        explain(forest, X, y, max_rule=3)


def test_a_margin_that_every_accuracy_is_within_is_refused() -> None:
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(2, random_state=0).fit(X, y)

    with pytest.raises(ValueError, match=r"within is 2; it is a difference of accuracies"):
        explain(forest, X, y, within=2)


def test_a_path_of_no_rules_has_none() -> None:
    rules = RuleSet.from_text(["x0 > 0"], [f"x{f}" for f in range(X.shape[1])])

    path = explain(rules[[]], X, Y, max_rules=3)

    assert len(path.rules_) == 0 and len(path.predict(X)) == len(Y)


@pytest.mark.parametrize("method", ["path", "cover"])
def test_rules_are_explained_on_lists_of_rows(method: Any) -> None:
    X, y = load_iris(return_X_y=True)
    rules = RuleSet.of_intervals(
        [{2: (-np.inf, 2.5)}, {2: (2.5, 4.9)}, {2: (4.9, np.inf)}], [f"x{f}" for f in range(4)]
    )

    listed, plain = (explain(rules, rows, y, method=method, random_state=0) for rows in (X.tolist(), X))

    assert listed.rules_.to_text() == plain.rules_.to_text()
    np.testing.assert_array_equal(listed.predict(X.tolist()), plain.predict(X))
