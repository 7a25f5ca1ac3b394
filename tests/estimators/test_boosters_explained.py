"""Boosters explained end to end: estimators, boosters and files; frames with categories as each library takes them."""

from __future__ import annotations

import pickle
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import catboost
import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from boosters import all_leaf_rules
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import BaggingClassifier, VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from rulecover import MIRCOClassifier, RulePathClassifier, RuleTransformer, explain, read_trees
from rulecover.estimators.door import named_by
from rulecover.estimators.prepare import fresh
from rulecover.exceptions import MismatchedDataError, UnreadableModelError

COLOURS = ["red", "green", "blue", "white", "black"]


def fruit(n: int = 200, *, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Sizes with gaps, and two columns of categories, of words and of numbers."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size of it": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "colour": pd.Categorical(rng.choice(COLOURS, n), categories=COLOURS),
            "year": pd.Categorical(rng.choice([2001, 1999, 2010], n), categories=[2001, 1999, 2010]),
            "weight": rng.normal(size=n).round(1),
        }
    )
    ripe = frame["colour"].isin(["red", "blue"]).to_numpy() ^ (frame["weight"] > 0.4).to_numpy()
    return frame, np.where(ripe, 1, 0) + (frame["year"] == 2010).to_numpy()


def words(frame: pd.DataFrame) -> pd.DataFrame:
    """The same for CatBoost, which takes categories as they are."""
    return frame.assign(colour=frame["colour"].astype(object), year=frame["year"].astype(int))


def xgb() -> Any:
    return xgboost.XGBClassifier(n_estimators=4, max_depth=4, enable_categorical=True, max_cat_to_onehot=2, n_jobs=1)


def lgb() -> Any:
    grown = {"min_child_samples": 5, "min_data_per_group": 2, "cat_smooth": 0.0}
    return lightgbm.LGBMClassifier(n_estimators=4, n_jobs=1, verbose=-1, **grown)


def cat() -> Any:
    quiet = {"verbose": False, "allow_writing_files": False, "thread_count": 1}
    return catboost.CatBoostClassifier(iterations=5, one_hot_max_size=9, cat_features=["colour", "year"], **quiet)


MODELS = {"xgboost": xgb, "lightgbm": lgb, "catboost": cat}


def given(library: str, frame: pd.DataFrame) -> pd.DataFrame:
    return words(frame) if library == "catboost" else frame


def own_leaves(model: Any, frame: pd.DataFrame) -> np.ndarray:
    if isinstance(model, xgboost.XGBModel):
        matrix = xgboost.DMatrix(frame, enable_categorical=True)
        return model.get_booster().predict(matrix, pred_leaf=True)
    if isinstance(model, lightgbm.LGBMModel):
        return model.predict(frame, pred_leaf=True)
    return model.calc_leaf_indexes(catboost.Pool(frame, cat_features=["colour", "year"]))


@pytest.mark.parametrize("library", MODELS)
def test_rules_of_a_frame_cover_what_the_library_sends_to_their_leaves(library: str) -> None:
    X, y = fruit()
    frame = given(library, X)
    model = MODELS[library]().fit(frame, y)
    ensemble = named_by(read_trees(model), frame)
    rules, tree, node = all_leaf_rules(ensemble)
    rules = replace(rules, columns=replace(rules.columns, names=tuple(frame.columns)))
    covered = rules.apply(frame).toarray()
    leaves = own_leaves(model, frame)
    for k in range(leaves.shape[1]):
        mine = covered[:, tree == k] @ node[tree == k]
        pairs = np.unique(np.column_stack([leaves[:, k], mine]), axis=0)
        assert len(pairs) == len(np.unique(mine)) == len(np.unique(leaves[:, k]))
    assert any(tree.category is not None for tree in ensemble.trees)
    text = " ".join(rule.text for rule in rules)
    assert ("colour in {" in text or "colour = " in text) and "red" in text and "1999" in text


@pytest.mark.slow
@pytest.mark.parametrize("library", MODELS)
def test_a_trained_model_and_one_to_be_trained_are_explained_alike(library: str) -> None:
    X, y = fruit()
    frame = given(library, X)
    model = MODELS[library]().set_params(random_state=0).fit(frame, y)
    few = explain(model, frame, y, method="cover")
    again = MIRCOClassifier(MODELS[library]().set_params(random_state=0)).fit(frame, y)
    assert few.rules_ == again.rules_ and len(few.rules_) < few.n_candidate_rules_
    assert few.rules_.feature_names == tuple(frame.columns)
    np.testing.assert_array_equal(few.predict(frame), again.predict(frame))
    np.testing.assert_array_equal(few.apply(frame).toarray(), few.rules_.apply(frame).toarray())
    assert not few.missed(frame).any()
    assert few.fidelity(frame) == np.mean(few.predict(frame) == np.asarray(model.predict(frame)).ravel())


@pytest.mark.parametrize("library", MODELS)
def test_categories_in_another_order_or_never_seen_are_told_by_name(library: str) -> None:
    X, y = fruit()
    few = explain(MODELS[library]().fit(given(library, X), y), given(library, X), y, method="cover")
    reordered = X.assign(colour=X["colour"].cat.reorder_categories(COLOURS[::-1]))
    np.testing.assert_array_equal(
        few.apply(given(library, reordered)).toarray(), few.apply(given(library, X)).toarray()
    )
    odd = X.assign(colour=pd.Categorical(["violet"] * len(X)))
    covered = few.apply(given(library, odd)).toarray()
    for j, rule in enumerate(few.rules_):
        for clause in rule.clauses:
            if clause.name == "colour" and clause.categories is not None and not clause.categories.others:
                assert not covered[:, j].any()


@pytest.mark.parametrize("library", ["lightgbm", "catboost"])
def test_unseen_categories_go_where_the_library_sends_them(library: str) -> None:
    """XGBoost refuses them."""
    X, y = fruit()
    model = MODELS[library]().fit(given(library, X), y)
    odd = given(library, X.assign(colour=pd.Categorical(["violet", *COLOURS] * 33 + ["grey"] * 2)))
    rules, tree, node = all_leaf_rules(named_by(read_trees(model), given(library, X)))
    rules = replace(rules, columns=replace(rules.columns, names=tuple(X.columns)))
    covered, leaves = rules.apply(odd).toarray(), own_leaves(model, odd)
    for k in range(leaves.shape[1]):
        mine = covered[:, tree == k] @ node[tree == k]
        pairs = np.unique(np.column_stack([leaves[:, k], mine]), axis=0)
        assert len(pairs) == len(np.unique(mine)) == len(np.unique(leaves[:, k]))


def test_an_array_holds_the_codes_that_the_model_saw() -> None:
    X, y = fruit()
    codes = X.assign(colour=X["colour"].cat.codes, year=X["year"].cat.codes).to_numpy(np.float64)
    for model in (xgb().fit(X, y), lgb().fit(X, y)):
        few = explain(model, X, y, method="cover")
        np.testing.assert_array_equal(few.rules_.apply(codes).toarray(), few.rules_.apply(X).toarray())


def test_ordered_categories_of_lightgbm_are_compared_as_numbers() -> None:
    X, y = fruit()
    ordered = X.assign(colour=X["colour"].cat.as_ordered())
    model = lgb().fit(ordered, y)
    few = explain(model, ordered, y, demand=2, method="cover")
    coded = ordered.assign(
        colour=ordered["colour"].cat.codes.astype(float), year=ordered["year"].cat.codes.astype(float)
    ).to_numpy()
    np.testing.assert_array_equal(few.rules_.apply(coded).toarray(), few.apply(ordered).toarray())
    with pytest.raises(MismatchedDataError, match=r"1 columns of categories.*with 2"):
        explain(model, ordered.assign(colour=coded[:, 1]), y, method="cover")


def test_an_unfitted_model_in_a_grid_and_a_frozen_one_are_taken() -> None:
    X, y = fruit()
    few = MIRCOClassifier(FrozenEstimator(lgb().fit(X, y)), fallback="model").fit(X, y)
    assert few.predict(X).shape == y.shape


# Boosters and files ---------------------------------------------------------------------------------------------


def numbers() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    X = np.where(rng.random((150, 4)) < 0.1, np.nan, rng.normal(size=(150, 4)))
    return X, (np.nan_to_num(X) @ [1, 2, 0, -1] > 0).astype(int) + (np.nan_to_num(X[:, 2]) > 0.5)


def boosters(y: np.ndarray, n_classes: int) -> dict[str, Any]:
    X, _ = numbers()
    soft = {"objective": "multi:softprob", "num_class": 3} if n_classes == 3 else {"objective": "binary:logistic"}
    light = {"objective": "multiclass", "num_class": 3} if n_classes == 3 else {"objective": "binary"}
    loss = "MultiClass" if n_classes == 3 else "Logloss"
    return {
        "xgboost": xgboost.train({**soft, "nthread": 1, "max_depth": 4}, xgboost.DMatrix(X, y), 4),
        "lightgbm": lightgbm.train({**light, "num_threads": 1, "verbosity": -1}, lightgbm.Dataset(X, y), 4),
        "catboost": catboost.CatBoost(
            {"loss_function": loss, "iterations": 4, "verbose": False, "allow_writing_files": False, "thread_count": 1}
        ).fit(X, y),
    }


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("library", MODELS)
def test_a_booster_and_its_file_are_explained(library: str, n_classes: int, tmp_path: Path) -> None:
    X, y = numbers()
    y = y if n_classes == 3 else (y > 0).astype(int)
    booster = boosters(y, n_classes)[library]
    few = explain(booster, X, y, fallback="model", method="cover")
    proba = few.estimator_.predict_proba(X)
    assert proba.shape == (len(X), n_classes)
    np.testing.assert_allclose(proba.sum(axis=1), 1, rtol=1e-6)
    assert few.score(X, y) > 0.5 and few.fidelity(X) == np.mean(few.predict(X) == proba.argmax(axis=1))
    assert np.mean(proba.argmax(axis=1) == y) > 0.7

    path = tmp_path / "model.json"
    booster.save_model(str(path), **({"format": "json"} if library == "catboost" else {}))
    of_file = explain(path, X, y, method="cover")
    assert of_file.rules_ == few.rules_
    np.testing.assert_array_equal(of_file.predict(X), few.predict(X))
    with pytest.raises(UnreadableModelError, match="does not predict"):
        of_file.fidelity(X)


@pytest.mark.parametrize("n_classes", [0, 3])
def test_a_model_that_cannot_predict_is_no_fallback(n_classes: int, tmp_path: Path) -> None:
    X, y = numbers()
    target = y if n_classes else y + 0.5
    train = {"objective": "multi:softprob", "num_class": 3} if n_classes else {"objective": "reg:squarederror"}
    path = tmp_path / "model.json"
    xgboost.train(train | {"nthread": 1}, xgboost.DMatrix(X, target), 2).save_model(path)

    with pytest.raises(ValueError, match="fallback is 'model', but a model file does not predict; load it with its"):
        explain(path, X, target, fallback="model", method="cover")
    hard = VotingClassifier([("tree", DecisionTreeClassifier(max_depth=2))])
    for source in (hard, FrozenEstimator(hard.fit(X, y))):
        with pytest.raises(ValueError, match="VotingClassifier gives no probabilities"):
            MIRCOClassifier(source, fallback="model").fit(X, y)
    assert MIRCOClassifier(hard.set_params(voting="soft"), fallback="model", max_rules=1).fit(X, y).score(X, y) > 0.5


def test_labels_of_any_kind_stand_for_the_outputs_of_a_booster() -> None:
    X, y = numbers()
    booster = boosters(y, 3)["xgboost"]
    few = explain(booster, X, np.array(["low", "middle", "top"])[y], method="cover")
    assert few.classes_.tolist() == ["low", "middle", "top"]
    assert explain(booster, X[y < 2], y[y < 2], method="cover").classes_.tolist() == [0, 1, 2]
    with pytest.raises(MismatchedDataError, match=r"y has 2 labels.*3 classes"):
        explain(booster, X[y < 2], np.array(["low", "middle"])[y[y < 2]], method="cover")


def test_a_model_of_another_number_of_columns_is_refused() -> None:
    X, y = numbers()
    for booster in boosters(y, 3).values():
        with pytest.raises(MismatchedDataError, match="X has 3 features, but the model was trained on 4"):
            explain(booster, X[:, :3], y, method="cover")


def test_a_regressor_is_refused_where_classes_are_wanted() -> None:
    X, y = numbers()
    with pytest.raises(UnreadableModelError, match="not a classifier"):
        MIRCOClassifier(FrozenEstimator(xgboost.XGBRegressor(n_estimators=2, n_jobs=1).fit(X, y))).fit(X, y)


# Trained again ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "rules",
    [
        lambda model, X, y: MIRCOClassifier(model, prune="held-out"),
        lambda model, X, y: RulePathClassifier(model, cv=2, max_rules=3),
        lambda model, X, y: MIRCOClassifier(FrozenEstimator(model.fit(X, y)), prune="held-out"),
        lambda model, X, y: RulePathClassifier(FrozenEstimator(model.fit(X, y)), cv=2, max_rules=3),
        lambda model, X, y: RulePathClassifier(MIRCOClassifier(model), cv=2, max_rules=3),
        lambda model, X, y: MIRCOClassifier(MIRCOClassifier(model), prune="held-out"),
    ],
    ids=["cover", "path", "frozen cover", "frozen path", "path of a cover", "cover of a cover"],
)
def test_catboost_with_columns_by_name_is_trained_anew(rules: Any) -> None:
    frame, y = fruit()
    X = words(frame)
    model = rules(cat(), X, y).fit(X, y)  # scikit-learn's clone refuses it
    assert model.score(X, y) > 0.5
    assert RuleTransformer(rules(cat(), X, y)).fit(X, y).transform(X).shape[0] == len(X)


@pytest.mark.parametrize("library", MODELS)
def test_a_cover_of_columns_by_name_has_its_problem(library: str) -> None:
    frame, y = fruit()
    X = given(library, frame)
    model = MIRCOClassifier(MODELS[library]()).fit(X, y)
    assert model.covering_problem(X, y).n_rules == model.n_candidate_rules_


def test_settings_of_rules_on_catboost_are_copied_as_a_clone_copies_them() -> None:
    random_state = np.random.RandomState(0)
    model = MIRCOClassifier(cat(), solver="search", random_state=random_state)
    copied = fresh(model)
    assert copied.solver == "search" and copied.estimator.get_params() == model.estimator.get_params()
    assert copied.random_state is not random_state and copied.estimator is not model.estimator


@pytest.mark.parametrize("library", MODELS)
def test_gaps_in_an_array_are_taken_as_the_library_takes_them(library: str) -> None:
    X, y = numbers()
    assert np.isnan(X).any()
    plain = catboost.CatBoostClassifier(iterations=5, verbose=False, allow_writing_files=False, thread_count=1)
    model = plain if library == "catboost" else MODELS[library]()
    assert MIRCOClassifier(model).fit(X, y).score(X, y) > 0.5


@pytest.mark.slow
@pytest.mark.parametrize("library", MODELS)
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_a_booster_and_its_file_are_not_trained_in_folds(library: str, class_weight: Any, tmp_path: Path) -> None:
    X, y = numbers()
    booster, path = boosters(y, 3)[library], tmp_path / "model.json"
    booster.save_model(str(path), **({"format": "json"} if library == "catboost" else {}))
    for model in (booster, path, str(path)):
        with pytest.raises(ValueError, match=r"held-out.* cannot be trained again; choose prune=True or prune=False"):
            explain(model, X, y, prune="held-out", class_weight=class_weight, method="cover")
        with pytest.raises(
            ValueError, match=r"size.* cannot be trained again; give train_in_folds=False, or choose='last'"
        ):
            RulePathClassifier(FrozenEstimator(model), cv=5, class_weight=class_weight).fit(X, y)
        with pytest.raises(UnreadableModelError, match=r"cannot be trained again. give it(s path)? to explain"):
            MIRCOClassifier(model).fit(X, y)
        few = MIRCOClassifier(FrozenEstimator(model), class_weight=class_weight, prune=True).fit(X, y)
        assert few.rules_ == explain(model, X, y, class_weight=class_weight, prune=True, method="cover").rules_
    whole = RulePathClassifier(FrozenEstimator(booster), max_rules=4, choose="last").fit(X, y)
    assert whole.at(2).score(X, y) > 0.4


# Inside other models --------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_boosters_inside_voting_bagging_and_pipelines_are_read() -> None:
    X, y = numbers()
    filled = np.nan_to_num(X)
    one = xgboost.XGBClassifier(n_estimators=2, max_depth=3, n_jobs=1)
    two = lightgbm.LGBMClassifier(n_estimators=2, n_jobs=1, verbose=-1)
    voting = VotingClassifier([("one", one), ("two", two)]).fit(filled, y)
    bagging = BaggingClassifier(one, n_estimators=3, max_features=0.5, random_state=0).fit(filled, y)
    scaled = make_pipeline(StandardScaler(), two).fit(filled, y)
    for model in (voting, bagging, scaled):
        ensemble = read_trees(model)
        rules, tree, node = all_leaf_rules(ensemble)
        prepared = ensemble.prepare(filled)
        nodes = np.column_stack([route(prepared) for route in ensemble.routes])
        np.testing.assert_array_equal(rules.apply(filled).toarray(), nodes[:, tree] == node)
        assert explain(model, filled, y, method="cover").score(filled, y) > 0.5
    columns = bagging.estimators_features_[1]
    own = bagging.estimators_[1].apply(filled[:, columns])
    ensemble = read_trees(bagging)
    mine = np.column_stack([route(ensemble.prepare(filled)) for route in ensemble.routes])
    per_member = own.shape[1]
    np.testing.assert_array_equal(mine[:, per_member : 2 * per_member], own)


def test_sparse_rows_in_front_of_xgboost_are_refused_with_the_way_out() -> None:
    frame, y = fruit()
    front = make_column_transformer((OneHotEncoder(), ["colour", "year"]), sparse_threshold=1.0)
    model = make_pipeline(front, xgboost.XGBClassifier(n_estimators=2, n_jobs=1)).fit(frame, y)
    with pytest.raises(UnreadableModelError, match=r"sparse_output=False"):
        explain(model, frame, y, method="cover")
    dense = make_column_transformer((OneHotEncoder(sparse_output=False), ["colour", "year"]))
    model = make_pipeline(dense, xgboost.XGBClassifier(n_estimators=2, n_jobs=1)).fit(frame, y)
    assert "year in {2010}" in str(explain(model, frame, y, method="cover").rules_)


def test_zero_as_missing_is_said_in_the_rules() -> None:
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"income": rng.integers(0, 6, 300).astype(float), "age": rng.normal(size=300)})
    y = ((X["income"] >= 4) | (X["income"] == 0)).astype(int)
    model = lightgbm.LGBMClassifier(n_estimators=1, zero_as_missing=True, n_jobs=1, verbose=-1).fit(X, y)
    few = explain(model, X, y, method="cover")
    leaves = model.predict(X, pred_leaf=True).ravel()
    text = str(few.rules_)
    assert "or 0" in text or "but not 0" in text
    assert len(np.unique(few.apply(X).toarray() @ (1 + np.arange(len(few.rules_))))) <= len(np.unique(leaves))
    zero = pd.DataFrame({"income": [0.0, np.nan], "age": [0.3, 0.3]})
    covered = few.apply(zero).toarray()
    np.testing.assert_array_equal(covered[0], covered[1])


@pytest.mark.slow
@pytest.mark.parametrize("library", MODELS)
def test_what_was_explained_survives_pickling(library: str) -> None:
    X, y = numbers()
    few = explain(boosters(y, 3)[library], X, y, fallback="model", method="cover")
    again = pickle.loads(pickle.dumps(few))
    np.testing.assert_array_equal(again.predict(X), few.predict(X))
    assert again.fidelity(X) == few.fidelity(X)


def test_a_model_that_is_not_trained_is_called_so_whatever_the_columns_hold() -> None:
    with pytest.raises(NotFittedError):
        explain(lightgbm.LGBMClassifier(), *fruit())


@pytest.mark.parametrize("texts", [["colour"], ["colour", "year"]])
def test_text_in_place_of_categories_is_refused_with_the_way_out(texts: list[str]) -> None:
    X, y = fruit()
    model = lightgbm.LGBMClassifier(n_estimators=3, min_child_samples=5, n_jobs=1, verbose=-1).fit(X, y)

    with pytest.raises(MismatchedDataError, match=r"in the same types, such as X\.astype\(\{'colour': 'category'\}\)"):
        explain(model, X.astype(dict.fromkeys(texts, object)), y)


@pytest.mark.parametrize("kind", [catboost.CatBoostClassifier, catboost.CatBoost])
@pytest.mark.parametrize("names", [["yes", "no"], [2, 0, 1]])
def test_class_names_of_catboost_may_be_in_any_order(kind: Any, names: list[Any]) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.array(sorted(names))[np.digitize(X[:, 0] + X[:, 1], [0.3, 0.9][: len(names) - 1])]
    loss = "Logloss" if len(names) == 2 else "MultiClass"
    settings = {"class_names": names, "loss_function": loss, "iterations": 20, "depth": 3, "verbose": False}
    settings |= {"thread_count": 1, "allow_writing_files": False}
    model = kind(settings) if kind is catboost.CatBoost else kind(**settings)
    model.fit(X, y)
    path = explain(model, X, y)
    cover = explain(model, X, y, method="cover", fallback="model", max_rules=1)
    predicted = model.predict(X, prediction_type="Class").ravel()
    assert path.classes_.tolist() == sorted(names)
    assert path.fidelity(X) == np.mean(path.predict(X) == predicted) > 0.85
    missed = cover.missed(X)
    assert missed.any()
    np.testing.assert_array_equal(cover.predict(X)[missed], predicted[missed])


@pytest.mark.parametrize("labels", [[False, True], [0.0, 1.0], ["0", "1"], [3, 7]])
def test_labels_of_a_booster_of_catboost_are_those_it_was_trained_on(labels: list[Any]) -> None:
    X = np.random.default_rng(0).normal(size=(100, 2))
    y = np.array(labels)[(X[:, 0] > 0).astype(int)]
    settings = {"loss_function": "Logloss", "iterations": 5, "depth": 2, "verbose": False, "thread_count": 1}
    model = catboost.CatBoost({**settings, "allow_writing_files": False}).fit(X, y)
    assert explain(model, X, y).fidelity(X) > 0.9


def own_objective(truth: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    shares = 1 / (1 + np.exp(-scores))
    return shares - truth, shares * (1 - shares)


@pytest.mark.filterwarnings("ignore:Cannot compute class probabilities")
def test_raw_scores_of_an_objective_of_ones_own_are_not_taken_for_probabilities() -> None:
    X = np.random.default_rng(0).normal(size=(200, 3))
    y = (X[:, 0] > 0.3).astype(int)
    grown = {"n_jobs": 1, "verbose": -1, "min_child_samples": 5}
    classifier = lightgbm.LGBMClassifier(n_estimators=4, objective=own_objective, **grown).fit(X, y)
    settings = {"objective": lambda scores, data: own_objective(data.get_label(), scores), "verbosity": -1}
    booster = lightgbm.train({**settings, "num_threads": 1}, lightgbm.Dataset(X, y), 4)
    for model in (classifier, booster):
        refused = pytest.raises(UnreadableModelError, match=r"objective of your own.*raw scores.*model_share=0")
        with refused:
            explain(model, X, y)
        cover = explain(model, X, y, method="cover", fallback="model", max_rules=1)
        with refused:
            cover.predict(X)
        with refused:
            cover.fidelity(X)
        assert explain(model, X, y, model_share=0).score(X, y) > 0.9


@pytest.mark.parametrize("as_booster", [False, True])
def test_models_of_several_numbers_are_not_asked_for_one(*, as_booster: bool) -> None:
    X = np.random.default_rng(0).normal(size=(100, 3))
    model = xgboost.XGBRegressor(n_estimators=3, n_jobs=1).fit(X, X[:, :2])
    model, y = model.get_booster() if as_booster else model, X[:, 0]
    name = "Booster" if as_booster else "XGBRegressor"
    refused = pytest.raises(UnreadableModelError, match=f"^{name} predicts 2 numbers for each row, but a rule.*one; ")
    with refused:
        explain(model, X, y)
    with refused:
        explain(model, X, y, method="cover").fidelity(X)


def test_models_of_several_labels_are_refused(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(100, 3))
    labels = (X[:, :2] > 0).astype(int)
    model = xgboost.XGBClassifier(n_estimators=3, n_jobs=1).fit(X, labels)
    model.save_model(tmp_path / "model.json")
    for each in (model, model.get_booster(), tmp_path / "model.json"):
        with pytest.raises(UnreadableModelError, match="2 labels for each row, but a rule has one; train one model"):
            read_trees(each)
    settings = {"loss_function": "MultiLogloss", "iterations": 3, "verbose": False, "thread_count": 1}
    with pytest.raises(UnreadableModelError, match=r"CatBoostClassifier .* \(MultiLogloss\).*; train one model"):
        read_trees(catboost.CatBoostClassifier(**settings, allow_writing_files=False).fit(X, labels))


def test_a_sum_of_models_of_catboost_is_asked_although_it_does_not_know_its_settings() -> None:
    X = np.random.default_rng(0).normal(size=(200, 3))
    y = X[:, 0] + 3
    settings = {"iterations": 20, "depth": 3, "verbose": False, "thread_count": 1, "allow_writing_files": False}
    model = catboost.sum_models([catboost.CatBoostRegressor(**settings, random_seed=k).fit(X, y) for k in range(2)])
    path = explain(model, X, y)
    apart = model.predict(X) - path.predict(X)
    assert path.fidelity(X) == pytest.approx(1 - np.mean(apart**2) / np.var(model.predict(X)))


def test_blanks_in_the_names_of_columns_are_kept_behind_a_calibration_as_well() -> None:
    frame, y = fruit()
    model = CalibratedClassifierCV(lgb(), cv=2).fit(frame, y)
    few = explain(model, frame, y, method="boost")
    assert few.fidelity(frame) == np.mean(few.predict(frame) == model.predict(frame))
    assert "size of it" in str(few.rules_)
    np.testing.assert_array_equal(few.predict(frame[frame.columns[::-1]]), few.predict(frame))


@pytest.mark.parametrize(("kind", "pattern"), [(lightgbm.Booster, "Column_{}"), (catboost.CatBoostClassifier, "{}")])
def test_columns_named_by_numbers_are_not_taken_in_another_order(kind: Any, pattern: str) -> None:
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(100, 3))).rename(columns=pattern.format)
    y = (X.iloc[:, 0] > 0).to_numpy().astype(int)
    if kind is lightgbm.Booster:
        model = lightgbm.LGBMClassifier(n_estimators=3, n_jobs=1, verbose=-1).fit(X, y).booster_
    else:
        model = kind(iterations=3, depth=2, thread_count=1, verbose=False, allow_writing_files=False).fit(X, y)
    name = pattern.format
    with pytest.raises(MismatchedDataError, match=f"column 0 of X is '{name(2)}', but .* with '{name(0)}' there"):
        explain(model, X[X.columns[::-1]], y)
    assert explain(model, X, y).score(X, y) > 0.9
    assert explain(model, X.set_axis(list("abc"), axis=1), y).fidelity(X.set_axis(list("abc"), axis=1)) > 0.9


@pytest.mark.parametrize("kind", ["xgboost", "lightgbm"])
@pytest.mark.parametrize("as_booster", [False, True])
def test_a_model_of_categories_is_asked_about_plain_texts_and_numbers_as_well(kind: str, *, as_booster: bool) -> None:
    frame, y = fruit()
    model = (xgb() if kind == "xgboost" else lgb()).fit(frame, y)
    if as_booster:
        model = model.get_booster() if kind == "xgboost" else model.booster_
    few = explain(model, frame, y, method="cover", fallback="model", max_rules=2)
    plain = frame.astype({"colour": object, "year": int})
    assert few.missed(plain).any()
    for rows in (slice(None), slice(3), frame["colour"] != "red"):
        np.testing.assert_array_equal(few.predict(plain[rows]), few.predict(frame[rows]))
        assert few.fidelity(plain[rows]) == few.fidelity(frame[rows])


def test_a_category_that_xgboost_never_saw_is_refused_only_where_it_is_asked_about_it() -> None:
    frame, y = fruit()
    few = explain(xgb().fit(frame, y), frame, y, method="cover", fallback="model", max_rules=2)
    plain = frame.astype({"colour": object})
    covered, missed = np.flatnonzero(~few.missed(plain)), np.flatnonzero(few.missed(plain))
    plain.loc[missed[0], "colour"] = "yellow"
    assert few.missed(plain)[missed[0]]
    np.testing.assert_array_equal(few.predict(plain.iloc[covered]), few.predict(frame.iloc[covered]))
    said = r"^XGBClassifier does not predict .*`yellow`\); leave .*$"
    takes_any = not hasattr(xgboost.Booster, "get_categories")  # before 3.1
    for ask in (few.predict, few.fidelity):
        with nullcontext() if takes_any else pytest.raises(MismatchedDataError, match=said):
            ask(plain)
