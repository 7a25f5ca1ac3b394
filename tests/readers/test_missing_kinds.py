"""Kinds of missing values: rules do with None, NaN, pandas' NA and NaT what scikit-learn's pipeline does with each."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, VotingClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from rulecover import explain, read_trees
from rulecover.exceptions import MismatchedDataError

KINDS = (np.nan, None, pd.NA, pd.NaT)
WORDS = ("a", "b", "c")
NUMBERS = (0.0, 1.0, 2.0, -1.0)
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # of encoders that meet a category they do not know


def one_of(rng: np.random.Generator, *choices: Any) -> Any:
    return choices[rng.integers(len(choices))]


def column(rng: np.random.Generator, values: tuple[Any, ...], kinds: tuple[Any, ...], n: int) -> pd.Series:
    """Values, a quarter of them missing, in one of these kinds."""
    out = [one_of(rng, *kinds) if kinds and rng.random() < 0.25 else one_of(rng, *values) for _ in range(n)]
    return pd.Series(out, dtype=object)


def random_frame(rng: np.random.Generator, n: int = 60) -> pd.DataFrame:
    kinds = tuple(kind for kind in KINDS if rng.random() < 0.4)
    frame = pd.DataFrame({"word": column(rng, WORDS, kinds, n), "number": column(rng, NUMBERS, kinds[:1], n)})
    frame["size"] = rng.normal(size=n)
    if rng.random() < 0.3:
        frame["number"] = pd.to_numeric(frame["number"], errors="coerce")
    return frame.astype({"word": one_of(rng, "str", "string", "category")}) if rng.random() < 0.3 else frame


def imputer(rng: np.random.Generator) -> Any:
    return SimpleImputer(
        missing_values=one_of(rng, np.nan, np.nan, None, pd.NA, "a"),
        strategy=one_of(rng, "constant", "most_frequent"),
        add_indicator=bool(rng.random() < 0.3),
    )


def number_imputer(rng: np.random.Generator) -> Any:
    strategy = one_of(rng, "mean", "median", "most_frequent", "constant")
    fill = one_of(rng, 0, 7.5) if strategy == "constant" else None
    missing = one_of(rng, np.nan, np.nan, None, pd.NA, -1.0)
    return SimpleImputer(
        missing_values=missing, strategy=strategy, fill_value=fill, add_indicator=bool(rng.random() < 0.3)
    )


def encoder(rng: np.random.Generator) -> Any:
    return one_of(
        rng,
        OneHotEncoder(sparse_output=False),
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
        OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=0.2, sparse_output=False),
        OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-5),
        OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan, encoded_missing_value=-2),
        OrdinalEncoder(),
    )


def random_pipeline(rng: np.random.Generator) -> Pipeline:
    words = one_of(rng, encoder(rng), make_pipeline(imputer(rng), encoder(rng)))
    numbers = one_of(
        rng,
        "passthrough",
        encoder(rng),
        number_imputer(rng),
        make_pipeline(number_imputer(rng), encoder(rng)),
        make_pipeline(number_imputer(rng), StandardScaler()),
        make_pipeline(encoder(rng), SimpleImputer(), MaxAbsScaler()),
    )
    parts = [("words", words, ["word"]), ("numbers", numbers, ["number"]), ("rest", "passthrough", ["size"])]
    return make_pipeline(ColumnTransformer(parts), DecisionTreeClassifier(max_depth=5, random_state=0))


def trained(rng: np.random.Generator) -> tuple[Pipeline, pd.DataFrame]:
    """A pipeline, and the frame it was trained on; some combinations are refused by scikit-learn."""
    while True:
        X = random_frame(rng)
        kinds = np.array([sum(map(ord, str(word))) % 3 for word in X["word"]])
        y = kinds + 2 * X["number"].isna() + X["size"] > 1.5
        try:
            return random_pipeline(rng).fit(X, y), X
        except (TypeError, ValueError):
            continue


def probes(X: pd.DataFrame) -> list[tuple[int, Any, pd.DataFrame]]:
    """Rows with one column of each kind of missing value, and of a value that was never seen: column, value, row."""
    whole = X.dropna().astype(object).iloc[0].to_dict()
    cells = [(0, value) for value in (*KINDS, "a", "unheard of")] + [(1, value) for value in (*KINDS, -1.0, 17.0)]
    rows = [{**whole, X.columns[f]: value} for f, value in cells]
    return [(f, value, as_objects(row)) for (f, value), row in zip(cells, rows, strict=True)]


def as_objects(row: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series([value], dtype=object) for name, value in row.items()}).astype({"size": float})


def their_leaf(model: Pipeline, row: pd.DataFrame) -> int | None:
    try:
        return int(model[-1].apply(model[:-1].transform(row))[0])
    except (TypeError, ValueError):
        return None


def our_leaf(ensemble: Any, row: pd.DataFrame) -> int | None:
    try:
        rule = ensemble.rules().apply(ensemble.matrix(row)).toarray()[0]
    except MismatchedDataError:
        return None
    except (TypeError, ValueError):  # of the pipeline itself, which is asked for the columns that it makes
        return None if ensemble.columns.made else -1
    assert rule.sum() == 1
    leaf = int(ensemble.trees[0].leaves[rule.argmax()])
    assert ensemble.routes[0](ensemble.prepare(ensemble.matrix(row))).tolist() == [leaf]
    return leaf


@pytest.mark.slow
def test_rules_do_with_every_kind_of_missing_value_what_the_pipeline_does(n_models: int) -> None:
    met: Counter[str] = Counter()
    n_models = max(n_models, 8)
    for seed in range(n_models // 2):
        model, X = trained(np.random.default_rng(seed))
        ensemble = read_trees(model)
        for f, value, row in probes(X):
            theirs, ours = their_leaf(model, row), our_leaf(ensemble, row)
            said = f"seed {seed}: {value!r} in {X.columns[f]}: {ours}, not {theirs}; {ensemble.columns.gaps}"
            if theirs is None:  # where no tree asks for the column, we need not look at it
                assert ours is None or f not in ensemble.used_columns, said
            elif ours is None:  # None where numbers were in training: refused by us alone, with the way out
                assert f == 1 and value is None, said
            else:
                assert ours == theirs, said
            met["refused" if ours is None else "answered"] += 1
            met["by us alone"] += ours is None and theirs is not None
    assert met["answered"] > 4 * n_models and met["refused"] > n_models / 4 > 5 * met["by us alone"]


def test_an_indicator_marks_every_kind_that_its_imputer_fills() -> None:
    X = np.array([[1.0], [2.0], [np.nan], [4.0]] * 10)
    y = np.isnan(X[:, 0]).astype(int)
    front = SimpleImputer(missing_values=pd.NA, strategy="most_frequent", add_indicator=True)
    model = make_pipeline(front, DecisionTreeClassifier(max_features=1, max_depth=1, random_state=1)).fit(X, y)
    odd = pd.DataFrame({"number": pd.Series([pd.NA, None, np.nan, pd.NaT, 2.0], dtype=object)})
    ensemble = read_trees(model)

    leaves = ensemble.trees[0].apply(ensemble.matrix(odd.to_numpy()))

    assert model[-1].tree_.feature[0] == 1  # the indicator
    np.testing.assert_array_equal(leaves, model[-1].apply(model[0].transform(odd.to_numpy())))


@pytest.mark.parametrize("handle_unknown", ["error", "ignore"])
def test_none_behind_an_imputer_of_nan_is_a_category_as_in_the_pipeline(handle_unknown: str) -> None:
    X = pd.DataFrame({"word": pd.Series(["a", "b", None, np.nan] * 10, dtype=object)})
    y = np.array(["no", "no", "yes", "no"] * 10)
    front = make_pipeline(SimpleImputer(strategy="constant"), OneHotEncoder(handle_unknown=handle_unknown))
    model = make_pipeline(front, DecisionTreeClassifier(random_state=0)).fit(X, y)
    assert (model.predict(X) == y).all()
    rules = explain(model, X, y, method="cover")
    assert (rules.predict(X) == y).all() and rules.fidelity(X) == 1.0


@pytest.mark.parametrize("known", [None, np.nan])
def test_a_kind_that_the_encoder_does_not_know_is_one_more_label_that_it_never_saw(known: Any) -> None:
    other = np.nan if known is None else None
    X = pd.DataFrame({"word": pd.Series(["a", "b", known] * 10, dtype=object)})
    odd = pd.DataFrame({"word": pd.Series([other, known, "z"], dtype=object)})
    y = np.array([0, 1, 2] * 10)
    tree = DecisionTreeClassifier(random_state=0)
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), tree).fit(X, y)
    rules = explain(model, X, y, method="cover")
    assert read_trees(model).columns.made == ()
    np.testing.assert_array_equal(rules.predict(odd), model.predict(odd))
    strict = make_pipeline(OneHotEncoder(), tree).fit(X, y)
    with pytest.raises(MismatchedDataError, match=f"column 'word' holds {other} in row 0.* write {known} there"):
        explain(strict, X, y, method="cover").predict(odd)


def test_numbers_that_are_categories_keep_theirs_where_a_kind_is_a_label_never_seen() -> None:
    X = np.array([[-1.0], [0.0], [1.0], [None]] * 10, dtype=object)
    y = np.array([0, 1, 2, 3] * 10)
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), DecisionTreeClassifier(random_state=0)).fit(X, y)
    odd = np.array([[np.nan], [-1.0], [None], [17.0]], dtype=object)
    rules = explain(model, X, y, method="cover")
    np.testing.assert_array_equal(rules.predict(odd), model.predict(odd))
    numbers = np.array([[np.nan], [-1.0]])
    np.testing.assert_array_equal(rules.predict(numbers), model.predict(numbers.astype(object)))


def test_histogram_boosting_takes_every_kind_as_its_own_encoder_does() -> None:
    rng = np.random.default_rng(0)
    words = rng.choice(np.array(["a", "b", "c", None], dtype=object), 80)
    X = pd.DataFrame({"word": words, "size": rng.normal(size=80)}).astype({"word": object})
    y = (X["word"] == "a").to_numpy() | X["word"].isna().to_numpy()
    settings = {"max_iter": 5, "min_samples_leaf": 5}
    model = HistGradientBoostingClassifier(categorical_features=["word"], **settings).fit(X, y)
    ensemble = read_trees(model)
    odd = pd.DataFrame({"word": pd.Series([None, np.nan, "a", "z"], dtype=object), "size": np.zeros(4)})
    raw = sum(tree.value[tree.apply(ensemble.matrix(odd)), 0] for tree in ensemble.trees)
    np.testing.assert_allclose(raw + model._baseline_prediction.ravel()[0], model.decision_function(odd))


def test_members_that_take_none_for_different_things_refuse_it() -> None:
    X = pd.DataFrame({"word": pd.Series(["a", "b", np.nan] * 10, dtype=object)})
    y = np.array([0, 1, 2] * 10)
    front = OneHotEncoder(handle_unknown="ignore", categories=[["a", "b", np.nan]])
    tree = DecisionTreeClassifier(random_state=0)
    filled = make_pipeline(SimpleImputer(strategy="constant", missing_values=pd.NA, fill_value="a"), front, tree)
    vote = VotingClassifier([("as they are", make_pipeline(front, tree)), ("filled", filled)]).fit(X, y)
    odd = pd.DataFrame({"word": pd.Series([None], dtype=object)})
    with pytest.raises(MismatchedDataError, match="column 'word' holds None in row 0"):
        read_trees(vote).matrix(odd)
    assert read_trees(vote).matrix(X).shape == (30, 1)


@pytest.mark.parametrize("kind", ["String", "Categorical", "Float64"])
def test_nulls_of_polars_are_what_the_pipeline_takes_them_for(kind: str) -> None:
    values = [1.0, 1.0, 2.0, None] * 8 if kind == "Float64" else ["a", "a", "b", None] * 8
    X = pl.DataFrame({"x": pl.Series(values, dtype=getattr(pl, kind)), "size": np.arange(32.0)})
    y = np.array([0, 0, 1, 2] * 8)
    encode = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    for front in (encode, make_pipeline(SimpleImputer(strategy="most_frequent"), encode)):
        parts = ColumnTransformer([("x", front, ["x"])], remainder="passthrough")
        model = make_pipeline(parts, DecisionTreeClassifier(max_depth=3, random_state=0)).fit(X, y)
        rules = explain(model, X, y, method="cover", preset="as-in-paper")
        np.testing.assert_array_equal(rules.predict(X), model.predict(X))


@pytest.mark.parametrize("kind", ["String", "Categorical"])
def test_a_null_that_an_imputer_leaves_alone_is_left_alone_by_the_rules(kind: str) -> None:
    X = pl.DataFrame({"x": pl.Series(["a", "a", "b", None] * 8, dtype=getattr(pl, kind))})
    y = np.array([0, 0, 1, 2] * 8)
    filled = SimpleImputer(strategy="most_frequent")
    model = make_pipeline(filled, OneHotEncoder(), DecisionTreeClassifier(random_state=0)).fit(X, y)

    np.testing.assert_array_equal(explain(model, X, y, method="cover").predict(X), model.predict(X))


@pytest.mark.parametrize("missing_left", [False, True])
def test_a_threshold_of_nan_tells_missing_values_from_all_others(missing_left: bool) -> None:
    """As trees of scikit-learn 1.6 have it."""
    X = np.array([[np.nan, 0.0], [1.0, 0.0], [2.0, 5.0], [3.0, 5.0], [np.nan, 5.0]])
    tree = DecisionTreeClassifier(random_state=0).fit(X, [0, 1, 2, 2, 0])
    first = int(np.flatnonzero(tree.tree_.feature == 0)[0])
    tree.tree_.threshold[first], tree.tree_.missing_go_to_left[first] = np.nan, missing_left
    ensemble = read_trees(tree)

    covered = ensemble.rules().apply(X).toarray()

    np.testing.assert_array_equal(covered, tree.apply(X)[:, None] == ensemble.trees[0].leaves)
