"""XGBoost, LightGBM and CatBoost: what is read, and what is refused."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import catboost
import lightgbm
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import xgboost
from boosters import CASES, one_of, random_columns, random_target
from sklearn.exceptions import NotFittedError
from sklearn_models import all_leaf_rules

from rulecover import read_trees
from rulecover.data.city_hash import category_hash
from rulecover.exceptions import MismatchedDataError, UnreadableModelError

RNG = np.random.default_rng(0)
X = random_columns(RNG, n=80, missing=True, categories=False)
Y = random_target(RNG, X, 2)
QUIET = {"verbose": False, "allow_writing_files": False, "thread_count": 1}


def models() -> dict[str, object]:
    """Every class of the libraries in scikit-learn's manner."""
    xgb, lgb = {"n_estimators": 3, "n_jobs": 1}, {"n_estimators": 3, "n_jobs": 1, "verbose": -1}
    return {
        "XGBClassifier": xgboost.XGBClassifier(**xgb),
        "XGBRegressor": xgboost.XGBRegressor(**xgb),
        "XGBRFClassifier": xgboost.XGBRFClassifier(**xgb),
        "XGBRFRegressor": xgboost.XGBRFRegressor(**xgb),
        "LGBMClassifier": lightgbm.LGBMClassifier(**lgb),
        "LGBMRegressor": lightgbm.LGBMRegressor(**lgb),
        "CatBoost": catboost.CatBoost({"iterations": 3, **QUIET}),
        "CatBoostClassifier": catboost.CatBoostClassifier(iterations=3, **QUIET),
        "CatBoostRegressor": catboost.CatBoostRegressor(iterations=3, **QUIET),
    }


def own_leaves(model: object, rows: np.ndarray) -> np.ndarray:
    if hasattr(model, "calc_leaf_indexes"):
        return model.calc_leaf_indexes(rows)
    return model.apply(rows) if hasattr(model, "apply") else model.predict(rows, pred_leaf=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", models())
def test_models_in_the_manner_of_scikit_learn_are_read(name: str) -> None:
    model = models()[name].fit(X, Y)
    ensemble = read_trees(model)
    prepared = ensemble.prepare(X)
    rules, tree, node = all_leaf_rules(ensemble)
    nodes = np.column_stack([route(prepared) for route in ensemble.routes])
    np.testing.assert_array_equal(rules.apply(X).toarray(), nodes[:, tree] == node)
    assert len(np.unique(np.asarray(own_leaves(model, X)).reshape(len(X), -1), axis=0)) == len(np.unique(nodes, axis=0))
    assert ensemble.n_features == X.shape[1] and ensemble.feature_names is None


@pytest.mark.parametrize("name", models())
def test_a_model_that_is_not_trained_is_refused(name: str) -> None:
    with pytest.raises(NotFittedError):
        read_trees(models()[name])


def test_early_stopping_leaves_the_rounds_up_to_the_best() -> None:
    held_out = X[40:], 1 - Y[40:]  # gets worse from the first round on
    boosted = xgboost.XGBClassifier(n_estimators=20, early_stopping_rounds=2, n_jobs=1)
    boosted.fit(X[:40], Y[:40], eval_set=[held_out], verbose=False)
    assert boosted.get_booster().num_boosted_rounds() > boosted.best_iteration + 1 == len(read_trees(boosted).trees)
    assert len(read_trees(boosted.get_booster()).trees) == boosted.get_booster().num_boosted_rounds()
    light = lightgbm.train({"num_threads": 1, "verbosity": -1}, lightgbm.Dataset(X, Y), 5)
    light.best_iteration = 2
    best = read_trees(light)
    assert len(best.trees) == best.prepare(X).shape[1] == 2


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("best", [0, 41, 60])
def test_many_rows_go_through_lightgbm_in_an_order_of_their_own(n_classes: int, best: int) -> None:
    rows = RNG.normal(size=(5000, 4))
    y = np.digitize(rows[:, 0] + rows[:, 1], [-1.0, 0.5])[:, None].clip(0, n_classes - 1).ravel()
    objective = {"objective": "multiclass", "num_class": 3} if n_classes == 3 else {"objective": "binary"}
    model = lightgbm.train(
        {"num_threads": 1, "verbosity": -1, "num_leaves": 7, **objective}, lightgbm.Dataset(rows, y), 60
    )
    model.best_iteration = best
    trees = read_trees(model)

    leaves = trees.prepare(rows)

    np.testing.assert_array_equal(leaves, model.predict(rows, pred_leaf=True))
    for tree, route in list(zip(trees.trees, trees.routes, strict=True))[::29]:
        np.testing.assert_array_equal(route(leaves), tree.apply(rows))


@pytest.mark.parametrize("library", CASES)
def test_names_of_columns_are_known(library: str) -> None:
    import pandas as pd

    frame = pd.DataFrame(X, columns=list("abcde"))
    for name, model in models().items():
        if name.lower().startswith(library[:3]) or (library == "lightgbm" and name.startswith("LGBM")):
            assert read_trees(model.fit(frame, Y)).feature_names == tuple("abcde"), name


def test_a_linear_model_is_refused_with_the_reason(tmp_path: Path) -> None:
    linear = xgboost.train({"booster": "gblinear", "verbosity": 0}, xgboost.DMatrix(np.nan_to_num(X), Y), 2)
    linear.save_model(tmp_path / "linear.json")
    leaves = lightgbm.train(
        {"linear_tree": True, "verbosity": -1}, lightgbm.Dataset(np.nan_to_num(X), Y, params={"linear_tree": True}), 2
    )
    leaves.save_model(tmp_path / "linear.txt")
    for model in (linear, tmp_path / "linear.json"):
        with pytest.raises(UnreadableModelError, match=r"gblinear.*no rules.*gbtree"):
            read_trees(model)
    for model in (leaves, str(tmp_path / "linear.txt")):
        with pytest.raises(UnreadableModelError, match=r"linear models in its leaves.*train without"):
            read_trees(model)


@pytest.mark.parametrize("policy", ["SymmetricTree", "Depthwise"])
def test_target_statistics_of_categories_are_refused_with_the_reason(policy: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    colour = rng.integers(0, 30, 400)
    model = catboost.CatBoostClassifier(iterations=5, one_hot_max_size=2, grow_policy=policy, **QUIET)
    if policy == "SymmetricTree":
        model.set_params(boosting_type="Plain")
    model.fit(colour[:, None].astype(str), (np.sin(colour) > 0).astype(int), cat_features=[0])
    model.save_model(str(tmp_path / "ctr.json"), format="json")
    for source in (model, tmp_path / "ctr.json"):
        with pytest.raises(UnreadableModelError, match=r"statistic of the target.*one_hot_max_size"):
            read_trees(source)


@pytest.mark.parametrize("policy", ["SymmetricTree", "Depthwise", "Lossguide"])
def test_trees_of_catboost_without_a_split_are_read(policy: str, tmp_path: Path) -> None:
    """As of rows that are all alike; symmetric trees then have null in place of a list of splits."""
    rows = np.full((4, 2), np.nan)
    model = catboost.CatBoostClassifier(iterations=2, depth=2, grow_policy=policy, **QUIET).fit(rows, [0, 1, 0, 1])
    model.save_model(str(tmp_path / "flat.json"), format="json")

    for source in (model, tmp_path / "flat.json"):
        ensemble = read_trees(source)
        rules, tree, node = all_leaf_rules(ensemble)
        nodes = np.column_stack([route(ensemble.prepare(rows)) for route in ensemble.routes])
        np.testing.assert_array_equal(rules.apply(rows).toarray(), nodes[:, tree] == node)
        assert policy != "SymmetricTree" or all(len(tree.leaves) == 1 for tree in ensemble.trees)


def test_a_model_without_trees_is_refused() -> None:
    empty = xgboost.train({"nthread": 1}, xgboost.DMatrix(X, Y), num_boost_round=0)
    with pytest.raises(UnreadableModelError, match="has no trees"):
        read_trees(empty)


def test_another_value_for_missing_is_refused() -> None:
    model = xgboost.XGBClassifier(n_estimators=2, missing=-1.0, n_jobs=1).fit(np.nan_to_num(X), Y)
    with pytest.raises(UnreadableModelError, match=r"missing=-1\.0.*NaN"):
        read_trees(model)


def test_no_value_for_missing_is_refused_with_the_way_out() -> None:
    model = xgboost.XGBClassifier(n_estimators=2, missing=None, n_jobs=1).fit(X, Y)
    with pytest.raises(UnreadableModelError, match=r"missing=None.*set_params\(missing=numpy\.nan\)"):
        read_trees(model)
    assert len(read_trees(model.set_params(missing=np.nan)).trees) == len(model.get_booster().get_dump())


def test_text_features_of_catboost_are_refused_with_their_name() -> None:
    frame = pd.DataFrame({"size": np.arange(40.0), "note": ["good day", "bad day", "so so", "fine"] * 10})
    model = catboost.CatBoostClassifier(iterations=2, text_features=["note"], **QUIET).fit(frame, [1, 0, 0, 1] * 10)
    with pytest.raises(UnreadableModelError, match=r"column 'note' in text_features.*leave it out"):
        read_trees(model)
    vectors = pd.DataFrame({"size": np.arange(40.0), "where": [[0.0, 1.0], [1.0, 0.0]] * 20})
    model = catboost.CatBoostClassifier(iterations=2, embedding_features=["where"], **QUIET).fit(vectors, [1, 0] * 20)
    with pytest.raises(UnreadableModelError, match=r"column 'where' in embedding_features"):
        read_trees(model)


def test_a_column_in_which_zero_is_missing_here_and_a_number_there_is_refused() -> None:
    zeros = np.column_stack([X[:, 3], X[:, 0]])
    param = {"verbosity": -1, "min_data_in_leaf": 2, "num_threads": 1}
    first = lightgbm.train(param | {"zero_as_missing": True}, lightgbm.Dataset(zeros, Y), 2)
    both = lightgbm.train(param, lightgbm.Dataset(zeros, Y, free_raw_data=False), 2, init_model=first)
    with pytest.raises(UnreadableModelError, match="takes 0 for missing in some splits on column"):
        read_trees(both)


def test_sparse_rows_are_refused_where_the_library_takes_what_is_absent_for_missing() -> None:
    filled = np.nan_to_num(X)
    boosted = read_trees(xgboost.XGBClassifier(n_estimators=2, n_jobs=1).fit(filled, Y))
    with pytest.raises(MismatchedDataError, match="missing value"):
        boosted.prepare(scipy.sparse.csr_array(filled))
    light = lightgbm.LGBMClassifier(n_estimators=2, n_jobs=1, verbose=-1).fit(filled, Y)
    dense, sparse = (read_trees(light).prepare(rows) for rows in (filled, scipy.sparse.csr_array(filled)))
    np.testing.assert_array_equal(dense, sparse)


def test_a_fraction_is_no_category() -> None:
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 5, (60, 1)).astype(float)
    matrix = xgboost.DMatrix(codes, np.sin(3 * codes[:, 0]), feature_types=["c"], enable_categorical=True)
    ensemble = read_trees(xgboost.train({"max_depth": 3, "verbosity": 0}, matrix, 2))
    codes[7, 0] = 2.5
    with pytest.raises(MismatchedDataError, match=r"column 0 holds categories.*a row has 2\.5"):
        ensemble.prepare(codes)


@pytest.mark.slow
def test_the_number_of_a_category_is_the_one_that_catboost_has() -> None:
    rng = np.random.default_rng(2)
    letters = np.array(list("abcdefgh ijk,äöü漢字0123456789"))
    for length in [*range(40), 63, 64, 65, 127, 128, 129, 200, 700]:
        text, other = "".join(rng.choice(letters, length)), one_of(rng, "zz", "other", "the other category of two")
        rows = np.array([[text], [other]] * 6, dtype=object)
        model = catboost.CatBoost(
            {"iterations": 1, "depth": 1, "one_hot_max_size": 9, "loss_function": "Logloss", **QUIET}
        )
        known = read_trees(model.fit(rows, [1, 0] * 6, cat_features=[0])).categories[0].hashes
        assert set(known) & {category_hash(text), category_hash(other)}, text
        assert set(known) <= {category_hash(text), category_hash(other)}, text


def test_the_oldest_versions_that_are_tested_are_the_oldest_that_are_allowed() -> None:
    root = Path(__file__).parents[2]
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    optional = ("lightgbm", "catboost", "polars", "plot", "sql", "parquet", "excel")
    allowed = [
        *project["dependencies"],
        extras["xgboost"][0],
        *(line for name in optional for line in extras[name]),
        *(line for line in extras["test"] if line.startswith("duckdb")),
    ]
    oldest = dict(re.match(r"([\w-]+)>=([\d.]+)", line).groups() for line in allowed)
    pinned = dict(re.findall(r"^([\w-]+)==([\d.]+)$", (root / "tests/oldest.txt").read_text(encoding="utf-8"), re.M))
    assert pinned.keys() == oldest.keys()
    for name, version in pinned.items():
        assert f"{version}.".startswith(f"{oldest[name]}."), name
