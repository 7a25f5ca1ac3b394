"""Pipelines in front of trees: rules on the original columns meet what the model sends to their leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn_models import leaves_of_hist, leaves_of_trees, random_rows, rows_at_thresholds, target

from rulecover import RuleSet, explain, read_trees
from rulecover.exceptions import MismatchedDataError, UnreadableModelError

COLOURS = np.array(["red", "green", "blue", "dark, red", "rare"], dtype=object)


def random_frame(rng: np.random.Generator, n: int = 60) -> pd.DataFrame:
    """Numbers of several sizes, counts, words and a column of no use; some values are missing."""
    frame = pd.DataFrame(
        {
            "age": np.round(rng.normal(40, 10, n), int(rng.integers(0, 3))),
            "income": rng.lognormal(5, 2, n) * 10.0 ** rng.integers(-8, 8),
            "debt": rng.normal(size=n),
            "rooms": rng.integers(1, 6, n),
            "colour": rng.choice(COLOURS, n, p=[0.3, 0.3, 0.2, 0.15, 0.05]),
            "name": [f"somebody {i}" for i in range(n)],
        }
    ).astype({"colour": object, "name": object})
    frame.loc[rng.random(n) < 0.15, "income"] = np.nan
    frame.loc[rng.random(n) < 0.1, "colour"] = np.nan
    return frame.astype({"colour": "str"}) if rng.random() < 0.3 else frame


def one_of(rng: np.random.Generator, *choices: Any) -> Any:
    return choices[rng.integers(len(choices))]


def scaler(rng: np.random.Generator) -> Any:
    return one_of(
        rng,
        StandardScaler(),
        StandardScaler(with_mean=False),
        MinMaxScaler(feature_range=(-1, 2)),
        MinMaxScaler(clip=True),
        RobustScaler(),
        RobustScaler(with_centering=False),
        MaxAbsScaler(),
    )


def imputer(rng: np.random.Generator) -> Any:
    strategy = str(rng.choice(["mean", "median", "most_frequent", "constant"]))
    return SimpleImputer(strategy=strategy, add_indicator=bool(rng.random() < 0.5))


def numeric(rng: np.random.Generator) -> Any:
    return one_of(
        rng,
        scaler(rng),
        imputer(rng),
        make_pipeline(imputer(rng), scaler(rng)),
        make_pipeline(scaler(rng), imputer(rng)),
        make_pipeline(scaler(rng), VarianceThreshold(), scaler(rng)),
        make_pipeline("passthrough", scaler(rng)),
        "passthrough",
    )


def categorical(rng: np.random.Generator) -> Any:
    encoder = one_of(
        rng,
        OneHotEncoder(handle_unknown="ignore"),
        OneHotEncoder(handle_unknown="ignore", drop="first", sparse_output=False),
        OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=0.1, dtype=np.float32),
        OneHotEncoder(sparse_output=False),
        OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
        OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan, encoded_missing_value=-2),
        OrdinalEncoder(),
    )
    fill = one_of(rng, SimpleImputer(strategy="most_frequent"), SimpleImputer(strategy="constant", fill_value="none"))
    return one_of(rng, encoder, make_pipeline(fill, encoder), make_pipeline(encoder, MaxAbsScaler()))


def counts(rng: np.random.Generator) -> Any:
    return one_of(rng, OneHotEncoder(handle_unknown="ignore"), OneHotEncoder(), OrdinalEncoder(), "passthrough", "drop")


def trees(rng: np.random.Generator) -> Any:
    sizes = {"n_estimators": 3, "random_state": int(rng.integers(2**31))}
    return one_of(
        rng,
        DecisionTreeClassifier(max_depth=4, random_state=0),
        RandomForestClassifier(max_depth=4, **sizes),
        ExtraTreesClassifier(max_depth=5, **sizes),
        HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=3),
        HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=3, categorical_features=[0]),
    )


def random_pipeline(rng: np.random.Generator) -> Pipeline:
    parts = [
        ("numbers", numeric(rng), ["income", "age"]),
        ("words", categorical(rng), make_column_selector("colour")),
        ("counts", counts(rng), ["rooms"]),
    ]
    model = trees(rng)
    dense_only = isinstance(model, HistGradientBoostingClassifier) or rng.random() < 0.5
    front = ColumnTransformer([parts[k] for k in rng.permutation(3)], sparse_threshold=0.0 if dense_only else 1.0)
    if rng.random() < 0.3:
        front.set_params(remainder=one_of(rng, "drop", ColumnTransformer([("rest", scaler(rng), ["debt"])])))
    return make_pipeline(front, model)


def trained(model: Pipeline, X: pd.DataFrame, y: np.ndarray) -> Pipeline:
    """The pipeline; dense inside, where trees refuse sparse data with missing values."""
    try:
        return model.fit(X, y)
    except ValueError as error:
        assert "contains NaN" in str(error)
        return model.set_params(columntransformer__sparse_threshold=0.0).fit(X, y)


def leaves_by_the_model(model: Pipeline, X: Any) -> np.ndarray:
    rows = model[:-1].transform(X)
    if isinstance(model[-1], HistGradientBoostingClassifier):
        return leaves_of_hist(model[-1], rows)
    return leaves_of_trees(model[-1], rows)


def probes(ensemble: Any, X: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Rows with values on and next to each threshold of the original columns, and with whatever is accepted."""
    columns = ensemble.columns
    cells: list[tuple[int, Any]] = []
    for tree in ensemble.trees:
        ordered = tree.left >= 0 if tree.category is None else (tree.left >= 0) & (tree.category < 0)
        for f, t in zip(tree.feature[ordered].tolist(), tree.threshold[ordered].tolist(), strict=True):
            if f < columns.n_given and f not in columns.categories and f not in columns.closed and abs(t) < 1e30:
                cells += [(f, x) for x in (t, np.nextafter(t, -np.inf), np.nextafter(t, np.inf), float(np.float32(t)))]
    for f in sorted(
        {f for tree in ensemble.trees for f in tree.feature[tree.left >= 0].tolist() if f < columns.n_given}
    ):
        known = columns.categories.get(f)
        if f not in columns.required:
            cells.append((f, np.nan))
        if f not in columns.closed:
            cells += (
                [(f, "unheard of")]
                if known is not None or not pd.api.types.is_numeric_dtype(X.iloc[:, f])
                else [(f, 0.0), (f, -0.0), (f, 2.5)]
            )
    rows = X.iloc[rng.integers(0, len(X), len(cells))].reset_index(drop=True).astype({"rooms": float})
    for row, (f, value) in enumerate(cells):
        rows.iat[row, f] = value
    return rows


def assert_rules_are_leaves(model: Pipeline, ensemble: Any, X: Any) -> None:
    leaves = leaves_by_the_model(model, X)
    matrix = ensemble.matrix(X)
    of = np.concatenate([np.full(len(t.leaves), k) for k, t in enumerate(ensemble.trees)])
    node = np.concatenate([t.leaves for t in ensemble.trees])
    rules = ensemble.rules()
    np.testing.assert_array_equal(rules.apply(matrix).toarray(), leaves[:, of] == node)
    if not ensemble.columns.made and isinstance(X, pd.DataFrame):
        np.testing.assert_array_equal(rules.apply(X).toarray(), leaves[:, of] == node)
    prepared = ensemble.prepare(matrix)
    for k, route in enumerate(ensemble.routes):
        np.testing.assert_array_equal(route(prepared), leaves[:, k])


def accepted(ensemble: Any, X: pd.DataFrame) -> pd.DataFrame:
    """The rows that hold a value in every column that needs one."""
    return X.dropna(subset=[ensemble.columns.name(f) for f in ensemble.columns.required])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")  # of encoders that meet a category they do not know
def test_rules_of_random_models_behind_pipelines_are_their_leaves(n_models: int) -> None:
    made = used = 0
    for seed in range(n_models):
        rng = np.random.default_rng(seed)
        X = random_frame(rng)
        y = (X["age"] + 10 * (X["colour"] == "red") + rng.normal(size=len(X)) > 42).to_numpy() + (X["rooms"] > 3)
        model = trained(random_pipeline(rng), X, y)
        ensemble = read_trees(model)
        made, used = made + len(ensemble.columns.made), used + len(read_trees(model[-1]).trees[0].left)
        for rows in (X, probes(ensemble, accepted(ensemble, X), rng)):
            assert_rules_are_leaves(model, ensemble, accepted(ensemble, rows))
    assert made < 0.02 * used  # words encoded as float32 and scaled then, and numbers taken for categories


def test_an_encoder_of_codes_leaves_rules_on_the_words() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"size": rng.choice(["s", "m", "l"], 60), "colour": rng.choice(["red", "blue", "green"], 60)})
    model = make_pipeline(OrdinalEncoder(), OneHotEncoder(), DecisionTreeClassifier(max_depth=1))

    ensemble = read_trees(model.fit(X, X["colour"] == "red"))

    assert ensemble.columns.made == ()
    assert ensemble.rules().to_text() == ["(colour ≠ red or missing)", "colour = red"]


def test_a_mark_of_missing_values_is_a_clause_on_the_column() -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    X[::3, 1] = np.nan
    model = make_pipeline(SimpleImputer(add_indicator=True), DecisionTreeClassifier(max_depth=1))

    ensemble = read_trees(model.fit(X, np.isnan(X[:, 1])))

    assert ensemble.columns.made == ()
    assert ensemble.rules().to_text() == ["x1 is not missing", "x1 is missing"]


@pytest.mark.parametrize("task", ["binary", "multi-class", "regression"])
def test_rules_of_random_models_behind_scaled_arrays_are_their_leaves(task: str, n_models: int) -> None:
    finals = {
        "binary": [GradientBoostingClassifier(n_estimators=3), AdaBoostClassifier(n_estimators=3)],
        "multi-class": [
            GradientBoostingClassifier(n_estimators=2, max_depth=2),
            RandomForestClassifier(3, max_depth=3),
        ],
        "regression": [GradientBoostingRegressor(n_estimators=3), DecisionTreeRegressor(max_depth=4)],
    }
    for seed in range(n_models // 3 + 1):
        rng = np.random.default_rng(seed)
        X = random_rows(rng, missing=False)
        steps = [one_of(rng, scaler(rng), imputer(rng), make_pipeline(scaler(rng), scaler(rng))) for _ in range(2)]
        model = make_pipeline(*steps, one_of(rng, *finals[task])).fit(X, target(rng, X, task))
        ensemble = read_trees(model)
        rows = np.vstack([X, rows_at_thresholds(ensemble, X, rng)])
        for given in (rows, rows.astype(np.float32).astype(np.float64)):
            leaves = leaves_of_trees(model[-1], model[:-1].transform(given))
            assert ensemble.columns.made == ()
            for k, (tree, route) in enumerate(zip(ensemble.trees, ensemble.routes, strict=True)):
                np.testing.assert_array_equal(tree.apply(given), leaves[:, k])
                np.testing.assert_array_equal(route(ensemble.prepare(given)), leaves[:, k])


def test_a_threshold_told_by_algebra_alone_would_be_wrong() -> None:
    """Why thresholds are searched among the doubles: (x - m) / s is rounded twice."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4)) * [1, 1e-3, 1e5, 7]
    model = make_pipeline(StandardScaler(), RandomForestClassifier(20, random_state=0)).fit(X, X[:, 0] * X[:, 1] > 0)
    ours, theirs = read_trees(model), read_trees(model[-1])
    wrong = 0
    for mine, other in zip(ours.trees, theirs.trees, strict=True):
        inner = mine.left >= 0
        f = mine.feature[inner]
        wrong += np.count_nonzero(
            other.threshold[inner] * model[0].scale_[f] + model[0].mean_[f] != mine.threshold[inner]
        )
    assert wrong > 100


@pytest.mark.parametrize(
    ("front", "names"),
    [
        (PCA(2), {"pca0", "pca1"}),
        (PolynomialFeatures(2, include_bias=False), {"a^2", "a b", "a c", "b^2", "b c", "c^2"}),
        (FunctionTransformer(np.cbrt), {f"step{k}" for k in range(3)}),
        (FunctionTransformer(np.cbrt, feature_names_out="one-to-one"), {"step__a", "step__b", "step__c"}),
        (ColumnTransformer([("s", StandardScaler(), ["c"]), ("p", PCA(2), ["a", "b"])]), {"p__pca0", "p__pca1"}),
        (SimpleImputer(missing_values=-1.0), {"step__a", "step__b", "step__c"}),
    ],
    ids=["PCA", "products", "a function", "a function that keeps names", "a part", "a number that means missing"],
)
def test_columns_of_other_transformers_keep_their_names(front: Any, names: set[str]) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 3)), columns=["a", "b", "c"])
    model = Pipeline([("step", front), ("forest", RandomForestClassifier(5, max_depth=3, random_state=0))])
    model.fit(X, X["a"] * X["b"] > 0)
    ensemble = read_trees(model)
    assert ensemble.columns.made and set(ensemble.columns.made) <= names | {"a", "b", "c"}
    assert not set(ensemble.columns.made) & {"a", "b", "c"} or isinstance(front, PolynomialFeatures)
    assert_rules_are_leaves(model, ensemble, X)


def test_rules_on_made_columns_are_told_apart_and_printed() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    front = ColumnTransformer([("as it is", "passthrough", [0]), ("size", FunctionTransformer(np.abs), [1, 2])])
    model = make_pipeline(front, DecisionTreeClassifier(max_depth=5, random_state=0))
    model.fit(X, X[:, 0] * np.abs(X[:, 1]) > 0.2 * np.abs(X[:, 2]))
    ensemble = read_trees(model)
    assert_rules_are_leaves(model, ensemble, X)
    rules = ensemble.rules()
    assert rules.feature_names == ("x0", "x1", "x2", "columntransformer1", "columntransformer2")
    assert "columntransformer2" in str(rules)
    assert explain(model, X, model.predict(X), method="cover").rules_.feature_names == rules.feature_names


@pytest.mark.slow
@pytest.mark.parametrize("as_frame", [True, False], ids=["frame", "array"])
def test_a_made_column_never_has_the_name_of_another(as_frame: bool) -> None:
    rng = np.random.default_rng(0)
    X: Any = rng.normal(size=(80, 2))
    y = X[:, 0] * X[:, 1] > 0
    X = pd.DataFrame(X, columns=["pca0", "pca1"]) if as_frame else X

    def turned(front: Any) -> Any:
        return make_pipeline(front, DecisionTreeClassifier(max_depth=3, random_state=0))

    root = FunctionTransformer(np.cbrt, feature_names_out="one-to-one")
    fronts = {"one": root, "two": root, "three": PCA(2), "four": PCA(2)}
    vote = VotingClassifier([(name, turned(front)) for name, front in fronts.items()]).fit(X, y)
    for model in (vote, *vote.estimators_):
        ensemble = read_trees(model)
        names = ensemble.rules().feature_names
        assert len(set(names)) == len(names) == 2 + len(ensemble.columns.made)
        assert explain(model, X, y, method="cover").rules_.feature_names == names
        each = RuleSet.from_text([rule.text for rule in ensemble.rules()], names)
        matrix = ensemble.matrix(X)
        np.testing.assert_array_equal(each.apply(matrix).toarray(), ensemble.rules().apply(matrix).toarray())


def test_members_with_pipelines_of_their_own_are_read_on_the_same_columns() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)), rng.integers(0, 2, 80)
    plain = DecisionTreeClassifier(max_depth=3)
    scaled = make_pipeline(RobustScaler(), DecisionTreeClassifier(max_depth=3))
    turned = make_pipeline(PCA(2), RandomForestClassifier(2, max_depth=3, random_state=0))
    vote = VotingClassifier([("plain", plain), ("scaled", scaled), ("turned", turned)]).fit(X, y)
    ensemble = read_trees(vote)
    members = [vote.estimators_[0].apply(X)[:, None]]
    members += [leaves_of_trees(model[-1], model[:-1].transform(X)) for model in vote.estimators_[1:]]
    matrix = ensemble.matrix(X)
    assert matrix.shape == (80, 3 + len(ensemble.columns.made)) and ensemble.columns.made
    prepared = ensemble.prepare(matrix)
    for k, leaves in enumerate(np.hstack(members).T):
        np.testing.assert_array_equal(ensemble.trees[k].apply(matrix), leaves)
        np.testing.assert_array_equal(ensemble.routes[k](prepared), leaves)


def test_what_the_pipeline_has_no_route_for_is_refused() -> None:
    X = random_frame(np.random.default_rng(0)).dropna()
    y = (X["colour"] == "red").to_numpy()
    front = ColumnTransformer([("words", OneHotEncoder(), ["colour"]), ("age", MinMaxScaler(), ["age"])])
    ensemble = read_trees(make_pipeline(front, GradientBoostingClassifier(n_estimators=2)).fit(X, y + (X["age"] > 40)))
    ensemble.matrix(X)
    with pytest.raises(MismatchedDataError, match="column 'colour' holds 'pink' in row 1, which the model never saw"):
        ensemble.matrix(X.assign(colour=["red", "pink"] + ["blue"] * (len(X) - 2)))
    with pytest.raises(MismatchedDataError, match="column 'age' has a missing value in row 0"):
        ensemble.matrix(X.assign(age=np.nan))
    with pytest.raises(MismatchedDataError, match="column 'age' holds 'old' in row 0, but the rules compare numbers"):
        ensemble.matrix(X.assign(age="old"))


def test_sparse_rows_are_refused_in_front_of_a_pipeline() -> None:
    X = np.eye(6)
    ensemble = read_trees(make_pipeline(MaxAbsScaler(), DecisionTreeClassifier()).fit(X, [0, 1, 0, 1, 0, 1]))
    with pytest.raises(MismatchedDataError, match=r"sparse; pass X.toarray\(\)"):
        ensemble.matrix(scipy.sparse.csr_array(X))


def test_a_pipeline_that_ends_in_no_tree_is_refused() -> None:
    X = np.eye(6)
    with pytest.raises(UnreadableModelError, match=r"Pipeline of LogisticRegression; models that can be read"):
        read_trees(make_pipeline(MaxAbsScaler(), LogisticRegression()).fit(X, [0, 1, 0, 1, 0, 1]))
    with pytest.raises(NotFittedError):
        read_trees(make_pipeline(MaxAbsScaler(), DecisionTreeClassifier()))


#: The same two of four columns, as a ColumnTransformer takes them.
CHOSEN: dict[str, Any] = {
    "numbers": [1, 2],
    "numbers from the end": [-3, -2],
    "a slice": slice(1, 3),
    "a slice of names": slice("b", "c"),
    "an open slice of names": slice("b", None),
    "a mask": [False, True, True, False],
    "names": ["b", "c"],
}


@pytest.mark.parametrize("chosen", CHOSEN)
def test_columns_are_found_however_they_are_chosen(chosen: str) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 4)), columns=list("abcd"))
    y = (frame["b"] > 0.3) & (frame["c"] < 0.5)
    some = ColumnTransformer([("some", StandardScaler(), CHOSEN[chosen])])
    model = make_pipeline(some, DecisionTreeClassifier(max_depth=2, random_state=0)).fit(frame, y)
    (tree,) = read_trees(model).trees

    used = set(tree.feature[tree.left >= 0].tolist())
    assert used <= {1, 2, 3} and {1, 2} <= used
    assert (tree.apply(frame.to_numpy()) == model[-1].apply(some.transform(frame))).all()
