"""Pipelines in front of trees: rules on the original columns meet what the model sends to their leaves."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from catboost import CatBoostClassifier
from lightgbm import LGBMClassifier
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
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
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import VarianceThreshold
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
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
from xgboost import XGBClassifier

from rulecover import MIRCOClassifier, RuleSet, TableEncoder, explain, read_trees
from rulecover.exceptions import MismatchedDataError, UnreadableModelError
from rulecover.export import from_json, to_json
from rulecover.readers.sklearn import pipelines

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


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("settings", [{"_VALUES": 1, "_FEWEST": 7}, {"_WIDEST": 0}], ids=["few at a time", "too wide"])
def test_rows_behind_pipelines_find_their_leaves_however_many_are_made_at_a_time(
    settings: dict[str, int], n_models: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in settings.items():
        monkeypatch.setattr(pipelines, name, value)
    for seed in range(n_models // 4 + 1):
        rng = np.random.default_rng(seed)
        X = random_frame(rng)
        model = trained(random_pipeline(rng), X, (X["rooms"] > 3).to_numpy() + (X["colour"] == "red").to_numpy())
        ensemble = read_trees(model)
        for rows in (X, probes(ensemble, accepted(ensemble, X), rng)):
            if rows.empty:  # of a model without splits
                continue
            assert_rules_are_leaves(model, ensemble, accepted(ensemble, rows))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("booster", ["LightGBM", "XGBoost", "CatBoost"])
def test_rows_are_sent_through_boosters_behind_pipelines_by_their_own_code(booster: str, n_models: int) -> None:
    made = {
        "LightGBM": LGBMClassifier(n_estimators=4, min_child_samples=3, verbose=-1, n_jobs=1),
        "XGBoost": XGBClassifier(n_estimators=4, max_depth=4, n_jobs=1),
        "CatBoost": CatBoostClassifier(iterations=4, depth=3, verbose=False, allow_writing_files=False),
    }
    for seed in range(n_models // 4 + 1):
        rng = np.random.default_rng(seed)
        X = random_frame(rng)
        front = random_pipeline(rng)[0].set_params(sparse_threshold=0.0)
        model = make_pipeline(front, made[booster]).fit(X, (X["rooms"] > 3).to_numpy() ^ (X["colour"] == "red"))
        ensemble = read_trees(model)
        for given in (X, probes(ensemble, accepted(ensemble, X), rng)):
            if given.empty:  # a model without splits
                continue
            rows = ensemble.matrix(accepted(ensemble, given))
            prepared = ensemble.prepare(rows)
            assert "apply" not in [getattr(route, "__name__", "") for route in ensemble.routes]
            for tree, route in zip(ensemble.trees, ensemble.routes, strict=True):
                np.testing.assert_array_equal(route(prepared), tree.apply(rows))


def test_an_encoder_of_codes_leaves_rules_on_the_words() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"size": rng.choice(["s", "m", "l"], 60), "colour": rng.choice(["red", "blue", "green"], 60)})
    model = make_pipeline(OrdinalEncoder(), OneHotEncoder(), DecisionTreeClassifier(max_depth=1))

    ensemble = read_trees(model.fit(X, X["colour"] == "red"))

    assert ensemble.columns.made == ()
    assert ensemble.rules().to_text() == ["(colour ≠ red or missing)", "colour = red"]


@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_rows_in_few_bits_are_filled_as_the_rules_say(kind: Any) -> None:
    X = np.array([[np.nan]] * 50 + [[0.100000001]] * 50)
    fill = SimpleImputer(strategy="constant", fill_value=0.1)
    histograms = HistGradientBoostingClassifier(max_iter=1, min_samples_leaf=5)
    ensemble = read_trees(make_pipeline(fill, histograms).fit(X, np.arange(100) // 50))

    rows = ensemble.matrix(np.array([[np.nan], [0.5], [0.0]], dtype=kind))

    leaves = ensemble.routes[0](ensemble.prepare(rows))
    np.testing.assert_array_equal(leaves, ensemble.trees[0].apply(rows))
    assert leaves[0] != leaves[1]


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


@pytest.mark.parametrize("levels", [0, 3, 40])
@pytest.mark.parametrize("kind", [RandomForestClassifier, HistGradientBoostingClassifier])
def test_members_behind_encoders_of_dates_are_read_on_the_same_columns(levels: int, kind: Any) -> None:
    rng = np.random.default_rng(levels)
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, 300), unit="D")
    table = pd.DataFrame({"size": rng.integers(0, 9, 300), "when": days})
    if levels:
        table["word"] = rng.choice([f"word {k}" for k in range(levels)], 300)
    y = (days.month > 6) ^ (table["size"] > 4)
    members = [(f"member {k}", make_pipeline(TableEncoder(), kind(random_state=k))) for k in range(2)]
    vote = VotingClassifier(members, voting="soft").fit(table, y)

    ensemble = read_trees(vote)

    X = ensemble.matrix(table)
    prepared = ensemble.prepare(X)
    for tree, route in zip(ensemble.trees, ensemble.routes, strict=True):
        np.testing.assert_array_equal(route(prepared), tree.apply(X))
    if kind is RandomForestClassifier:
        leaves = np.hstack([model[-1].apply(model[0].transform(table)) for model in vote.estimators_])
        np.testing.assert_array_equal(np.column_stack([route(prepared) for route in ensemble.routes]), leaves)


@pytest.mark.parametrize("refuses", [True, False])
@pytest.mark.parametrize("kind", [OneHotEncoder, OrdinalEncoder])
def test_an_encoder_is_asked_about_all_columns_at_once(
    kind: Any, refuses: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({f"x{k}": rng.choice(["a", "b", "c", "d"], 200) for k in range(12)})
    unknown = (
        {"handle_unknown": "ignore"}
        if kind is OneHotEncoder
        else {
            "handle_unknown": "use_encoded_value",
            "unknown_value": -1,
        }
    )
    encoder = kind() if refuses else kind(**unknown)
    model = make_pipeline(encoder, DecisionTreeClassifier()).fit(table, (table["x0"] == "a") ^ (table["x1"] == "b"))
    transform, asked = kind.transform, []
    monkeypatch.setattr(kind, "transform", lambda self, X: asked.append(len(X)) or transform(self, X))

    ensemble = read_trees(model)

    assert asked == ([4] if refuses else [4, 5])
    X = ensemble.matrix(table)
    np.testing.assert_array_equal(ensemble.trees[0].apply(X), model[-1].apply(transform(model[0], table)))


@pytest.mark.parametrize("then", [[], [StandardScaler(with_mean=False)]], ids=["alone", "scaled"])
def test_a_column_of_many_levels_takes_no_memory_for_each_pair_of_them(then: list[Any]) -> None:
    n_levels = 4000
    table = pd.DataFrame({"word": [f"word {k}" for k in range(n_levels)] * 2, "size": np.arange(2.0 * n_levels) % 7})
    y = table["word"].isin(["word 1", "word 7"]) ^ (table["size"] > 3)
    model = make_pipeline(OneHotEncoder(), *then, DecisionTreeClassifier(random_state=0)).fit(table, y)

    tracemalloc.start()
    try:
        ensemble = read_trees(model)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < n_levels**2  # a byte for each pair, which would be numbers of eight
    X = ensemble.matrix(table)
    np.testing.assert_array_equal(ensemble.trees[0].apply(X), leaves_by_the_model(model, table).ravel())


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


def test_a_column_that_several_encoders_know_has_the_labels_of_all() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"word": rng.choice(["a", "b", "c", "d"], 200)})
    encoders = [
        OneHotEncoder(categories=[["d", "a"]], handle_unknown="ignore"),
        OrdinalEncoder(categories=[["b", "c", "a"]], handle_unknown="use_encoded_value", unknown_value=-1),
    ]
    front = ColumnTransformer([(f"encoder {k}", each, ["word"]) for k, each in enumerate(encoders)])
    y = table["word"].map({"a": 0, "b": 1, "c": 2, "d": 3})
    model = make_pipeline(front, DecisionTreeClassifier(random_state=0)).fit(table, y)

    ensemble = read_trees(model)

    assert [*ensemble.columns.categories[0]] == ["d", "a", "b", "c"]
    rows = pd.concat([table, pd.DataFrame({"word": ["e", "a"]})])
    assert_rules_are_leaves(model, ensemble, rows)
    assert "word = a" in ensemble.rules().to_text()


def test_a_part_that_is_given_one_column_of_text_makes_columns() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"text": rng.choice(["red car", "blue car", "red bus"], 80), "size": rng.normal(size=80)})
    front = ColumnTransformer([("words", CountVectorizer(), "text"), ("rest", "passthrough", ["size"])])
    model = make_pipeline(front, DecisionTreeClassifier(random_state=0))

    ensemble = read_trees(model.fit(table, (table["text"] == "red bus") ^ (table["size"] > 0)))

    assert set(ensemble.columns.made) <= {"words__bus", "words__red", "words__blue", "words__car"} != set()
    assert_rules_are_leaves(model, ensemble, table)


@pytest.mark.parametrize(
    "last",
    [
        CalibratedClassifierCV(DecisionTreeClassifier(max_depth=3), cv=2, ensemble=False),
        make_pipeline("passthrough", DecisionTreeClassifier(max_depth=3)),
        make_pipeline(SimpleImputer(), RandomForestClassifier(3, max_depth=3, random_state=0)),
        VotingClassifier([("tree", DecisionTreeClassifier(max_depth=3))]),
    ],
    ids=lambda last: type(last).__name__,
)
@pytest.mark.parametrize("front", ["passthrough", StandardScaler()])
def test_a_last_step_that_does_not_say_so_takes_missing_values(front: Any, last: Any) -> None:
    X = np.random.default_rng(0).normal(size=(90, 2))
    X[::7, 0] = np.nan
    model = make_pipeline(front, last).fit(X, np.nan_to_num(X[:, 0]) > 0)

    ensemble = read_trees(model)

    rows = ensemble.matrix(X)
    inner = read_trees(last if front == "passthrough" else model[-1])
    seen = inner.matrix(X if front == "passthrough" else model[0].transform(X))
    expected = np.column_stack([route(inner.prepare(seen)) for route in inner.routes])
    np.testing.assert_array_equal(np.column_stack([tree.apply(rows) for tree in ensemble.trees]), expected)
    np.testing.assert_array_equal(
        np.column_stack([route(ensemble.prepare(rows)) for route in ensemble.routes]), expected
    )


BY_NAME = make_pipeline(
    ColumnTransformer([("words", OneHotEncoder(handle_unknown="ignore"), ["word"])], remainder="passthrough"),
    RandomForestClassifier(5, random_state=0),
)
OURS = make_pipeline(TableEncoder(), RandomForestClassifier(5, random_state=0))
HISTOGRAMS = Pipeline([("model", HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=5))])
SEARCH = GridSearchCV(BY_NAME, {"randomforestclassifier__max_depth": [2, 4]}, cv=2)
AROUND = {
    "search": SEARCH,
    "search of ours": GridSearchCV(OURS, {"tableencoder__max_levels": [3, 5]}, cv=2),
    "search of numbers": GridSearchCV(
        make_pipeline(SimpleImputer(), RandomForestClassifier(5, random_state=0)), {}, cv=2
    ),
    "search of histograms": GridSearchCV(HISTOGRAMS, {}, cv=2),
    "calibrated": CalibratedClassifierCV(BY_NAME, cv=2),
    "calibrated of ours": CalibratedClassifierCV(make_pipeline(make_pipeline(TableEncoder()), OURS[-1]), cv=3),
    "calibrated histograms": CalibratedClassifierCV(HISTOGRAMS, cv=2),
    "votes": VotingClassifier([("one", BY_NAME), ("other", clone(BY_NAME)), ("none", "drop")]),
    "votes of ours": VotingClassifier([("one", OURS), ("other", HISTOGRAMS)]),
    "a search in votes": VotingClassifier([("one", SEARCH), ("other", BY_NAME)]),
    "calibrated in votes": VotingClassifier([("one", CalibratedClassifierCV(OURS, cv=2)), ("other", BY_NAME)]),
}


@pytest.mark.slow
@pytest.mark.parametrize("limit", [None, 1e-3])
@pytest.mark.parametrize("name", AROUND)
@pytest.mark.filterwarnings("ignore::rulecover.exceptions.RulecoverWarning")
def test_models_around_pipelines_are_trained_on_tables(name: str, limit: float | None) -> None:
    rng = np.random.default_rng(0)
    words = rng.choice(["a", "b", "c"], 200)
    table = pd.DataFrame(
        {"word": pd.Categorical(words) if "histograms" in name else words, "size": rng.normal(size=200)}
    )
    y = (table["size"] > 0) ^ (table["word"] == "a")

    rules = MIRCOClassifier(AROUND[name], random_state=0, time_limit=limit).fit(table, y)

    assert rules.rules_.feature_names == ("word", "size")
    assert not rules.missed(table).any() and rules.score(table, y) > (0.9 if limit is None else 0.8)
    assert from_json(to_json(rules)).predict(table).tolist() == rules.predict(table).tolist()


@pytest.mark.parametrize("trained", [BY_NAME, OURS], ids=["by name", "ours"])
@pytest.mark.parametrize("around", [CalibratedClassifierCV, lambda each: VotingClassifier([("one", each)])])
def test_a_pipeline_that_is_trained_already_is_given_the_table(around: Any, trained: Pipeline) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"word": rng.choice(["a", "b", "c"], 200), "size": rng.normal(size=200)})
    y = ((table["size"] > 0) ^ (table["word"] == "a")).astype(int)
    model = around(FrozenEstimator(clone(trained).fit(table, y)))

    rules = MIRCOClassifier(model, random_state=0).fit(table, y)

    assert rules.rules_.feature_names == ("word", "size")
    assert not rules.missed(table).any() and rules.score(table, y) > 0.9


@pytest.mark.parametrize("around", [CalibratedClassifierCV, lambda each: VotingClassifier([("one", each)])])
def test_a_pipeline_that_passes_columns_on_is_read_inside_another_model(around: Any) -> None:
    X = np.random.default_rng(0).random((90, 3))
    model = around(make_pipeline("passthrough", DecisionTreeClassifier(max_depth=2))).fit(X, X[:, 0] > 0.5)

    assert read_trees(model).n_features == 3
    assert not MIRCOClassifier(model, random_state=0).fit(X, X[:, 0] > 0.5).missed(X).any()


def test_a_search_that_takes_no_weights_says_so() -> None:
    table = pd.DataFrame({"word": ["a", "b"] * 30, "size": np.arange(60.0)})
    model = MIRCOClassifier(GridSearchCV(OURS, {}, cv=2))

    with pytest.raises(ValueError, match=r"^GridSearchCV takes no sample weights"):
        model.fit(table, table["size"] > 20, sample_weight=np.arange(60.0))


def test_texts_are_not_levels_and_numbers_at_once() -> None:
    price = np.random.default_rng(0).integers(100, 3000, 240)
    table = pd.DataFrame({"price": [f"${each:,}.50" for each in price]})
    one_hot = make_pipeline(
        ColumnTransformer([("words", OneHotEncoder(handle_unknown="ignore"), ["price"])]), DecisionTreeClassifier()
    )
    vote = VotingClassifier([("ours", OURS), ("theirs", one_hot)]).fit(table, price > 1500)

    with pytest.raises(UnreadableModelError, match="takes the texts of column 0 for levels, and another for numbers"):
        read_trees(vote)


def test_how_a_column_is_read_does_not_matter_where_no_tree_uses_it() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"price": ["$7"] * 240, "size": rng.normal(size=240)})
    table.loc[::3, "price"] = "$8"
    other = table.assign(price=table["price"].str.replace("$", "€"))
    y = table["size"] > 0
    one, two = (make_pipeline(TableEncoder(), DecisionTreeClassifier(max_depth=1)).fit(X, y) for X in (table, other))
    vote = VotingClassifier([("one", one), ("two", two)]).fit(table, y)
    vote.estimators_ = [one, two]

    assert {f for tree in read_trees(vote).trees for f in tree.feature[tree.left >= 0]} == {1}


def test_members_behind_encoders_read_numbers_in_words_as_these_do() -> None:
    rng = np.random.default_rng(0)
    cents = rng.integers(0, 900_000, 300)
    table = pd.DataFrame({"word": rng.choice(["a", "b"], 300), "price": [f"${each / 100:,.2f}" for each in cents]})
    y = (cents > 450_000) ^ (table["word"] == "a")
    members = [
        (f"member {k}", make_pipeline(TableEncoder(), RandomForestClassifier(3, random_state=k))) for k in (0, 1)
    ]
    vote = VotingClassifier(members).fit(table, y)

    rules = explain(vote, table, y, method="cover")

    assert rules.score(table, y) == 1.0
    assert "price" in str(rules.rules_) and from_json(to_json(rules)).predict(table).tolist() == y.tolist()
    with pytest.raises(UnreadableModelError, match="read numbers in words differently"):
        euros = table.assign(price=table["price"].str.translate(str.maketrans("$,.", "€.,")))
        vote.estimators_[1] = clone(members[1][1]).fit(euros, y)
        read_trees(vote)
