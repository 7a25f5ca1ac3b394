"""Tables with texts and dates under time limits: as many rows are looked at as there is time for."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from mixed_tables import mixed_table, odd_rows
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    BaggingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_selection import SelectFromModel
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
    TargetEncoder,
)
from sklearn.tree import DecisionTreeClassifier
from xgboost import XGBClassifier

from rulecover import (
    MIRCOClassifier,
    MIRCORegressor,
    RCBoostClassifier,
    RCBoostRegressor,
    RulePathClassifier,
    RulePathRegressor,
    TableEncoder,
)
from rulecover.data import encoder as encoders
from rulecover.estimators import first_steps
from rulecover.estimators.asked import AskedModel, OutOfBagModel, by_blocks, out_of_bag
from rulecover.estimators.first_steps import FirstSteps, encoder_in_time, fitted_first, narrow_encoder_in_time
from rulecover.estimators.in_time import Halves, sampling_order
from rulecover.exceptions import CutShortWarning
from rulecover.export import from_json, to_json

ROWS = 300
FOREST = RandomForestClassifier(5, max_depth=4, random_state=0)
CLASSIFIERS = {
    "cover": MIRCOClassifier(FOREST, random_state=0),
    "cover of histograms": MIRCOClassifier(HistGradientBoostingClassifier(max_iter=5), random_state=0),
    "path": RulePathClassifier(FOREST, max_rules=5, random_state=0),
    "path of the default": RulePathClassifier(max_rules=5, random_state=0),
    "boosting": RCBoostClassifier(max_rmp_calls=2, pricing="tree", random_state=0),
}
REGRESSORS = {
    "cover": MIRCORegressor(RandomForestRegressor(5, max_depth=4, random_state=0), random_state=0),
    "path": RulePathRegressor(RandomForestRegressor(5, max_depth=4, random_state=0), max_rules=5, random_state=0),
    "boosting": RCBoostRegressor(max_rmp_calls=2, pricing="tree", random_state=0),
}


def fitted(model: Any, X: Any, y: Any, time_limit: float | None) -> tuple[Any, str]:
    """The model, fitted under a limit, and what it says was cut."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = model.set_params(time_limit=time_limit).fit(X, y)
    return model, " ".join(str(each.message) for each in caught if issubclass(each.category, CutShortWarning))


def check_rules(model: Any, table: pd.DataFrame) -> None:
    """The rules cover what their clauses say, and rows that are unlike all others have answers, there and back."""
    odd = pd.concat([table, odd_rows(table)], ignore_index=True)
    assert model.predict(odd).shape == (len(odd),)
    again = from_json(to_json(model))
    answers = model.predict(odd)
    np.testing.assert_array_equal(again.predict(odd), answers)
    np.testing.assert_array_equal(model.rules_.apply(odd).toarray(), again.rules.apply(odd).toarray())


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_rules_of_texts_of_some_rows_hold_for_all_rows(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_steps, "_FEW", 20)
    table, y = mixed_table(ROWS, 0)

    model, cut = fitted(CLASSIFIERS[name], table, y, 1e-3)

    assert "with texts and dates of 20 of 300 rows" in cut
    check_rules(model, table)
    assert not model.missed(table).any() or "path" in name


@pytest.mark.parametrize("name", REGRESSORS)
def test_rules_of_numbers_are_made_of_texts_of_some_rows_too(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_steps, "_FEW", 20)
    table, y = mixed_table(ROWS, 1)

    model, cut = fitted(REGRESSORS[name], table, (y == "yes") + table["children"] / 10, 1e-3)

    assert "with texts and dates of 20 of 300 rows" in cut
    check_rules(model, table)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_with_time_for_all_rows_nothing_is_cut(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_steps, "_FEW", 20)
    table, y = mixed_table(ROWS, 2)

    limited, cut = fitted(CLASSIFIERS[name], table, y, 600.0)
    plain, _ = fitted(CLASSIFIERS[name], table, y, None)

    assert cut == ""
    assert limited.rules_ == plain.rules_


def test_a_column_that_there_was_no_time_to_read_is_left_out_with_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_steps, "_FEW", 20)
    table, y = mixed_table(ROWS, 3)
    table = table.assign(price=[f"${k % 9},500" for k in range(ROWS)])

    with pytest.warns(UserWarning, match=r"column 'price' left out: there was no time to read all of its cells\."):
        model = MIRCOClassifier(FOREST, random_state=0, time_limit=1e-3).fit(table, y)

    assert "price" not in str(model.rules_)
    assert (model.predict(table.assign(price="unknown")) == model.predict(table)).all()


class Clock:
    """Time that passes as it is told, and encoders that take it."""

    def __init__(self, *, at_once: float, of_a_row: float) -> None:
        self.now, self.at_once, self.of_a_row = 0.0, at_once, of_a_row
        self.sizes: list[int] = []

    def take(self, n_rows: int) -> Any:
        self.now += self.at_once + self.of_a_row * n_rows
        self.sizes.append(n_rows)
        return TableEncoder().fit(pd.DataFrame({"x": [1, 2]}))


@pytest.mark.parametrize(
    ("n_rows", "seconds", "sizes"),
    [
        (100_000, 0.0, [1000]),
        (100_000, 4.0, [1000]),  # a quarter of it is for the encoder, which takes half of that for few rows
        (100_000, 8.0, [1000, 4000]),
        (100_000, 40.0, [1000, 4000, 52_666]),
        (100_000, 400.0, [1000, 4000, 100_000]),
        (3000, 40.0, [1000, 3000]),
        (6000, 12.2, [1000, 4000, 6000]),  # for 8,000 there would be no time
    ],
)
def test_as_many_rows_are_looked_at_as_a_few_say_there_is_time_for(
    n_rows: int, seconds: float, sizes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(at_once=0.5, of_a_row=1e-4)
    monkeypatch.setattr(time, "perf_counter", lambda: clock.now)
    monkeypatch.setattr(first_steps, "fitted_to_some", lambda _, X, rows: clock.take(len(rows)))
    monkeypatch.setattr(first_steps, "clone", lambda _: type("", (), {"fit": lambda _, X: clock.take(len(X))})())
    table = pd.DataFrame({"x": np.zeros(n_rows)})

    _, said = encoder_in_time(TableEncoder(), table, np.arange(n_rows), seconds)

    assert clock.sizes == pytest.approx(sizes, abs=1)
    assert said == ("" if sizes[-1] == n_rows else f"with texts and dates of {clock.sizes[-1]:,} of 100,000 rows")
    assert clock.now <= max(seconds / 4, 1.2)


def test_fewer_levels_are_told_apart_where_all_rows_are_encoded_in_little_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = pd.DataFrame({"letter": list("aaabbbccdd") * 10, "size": np.arange(100) % 7})

    monkeypatch.setattr(first_steps, "_ENCODED", 100.0)
    encoder, said = narrow_encoder_in_time(TableEncoder(4), table, time.perf_counter() + 3)
    assert (encoder.max_levels, said) == (2, "columns were encoded with up to 2 levels of each")
    assert encoder.get_feature_names_out().tolist() == ["letter = (rare)", "size"]
    assert narrow_encoder_in_time(TableEncoder(4), table[["size"]], time.perf_counter() + 3)[1] == ""
    monkeypatch.setattr(first_steps, "_ENCODED", 1e8)
    encoder, said = narrow_encoder_in_time(TableEncoder(4), table, time.perf_counter() + 3)
    assert (encoder.max_levels, said) == (4, "")


@pytest.mark.parametrize("model", [MIRCOClassifier(), RulePathClassifier(), RCBoostClassifier()])
@pytest.mark.parametrize("limit", [None, 1.0])
def test_a_table_without_rows_is_refused_with_a_limit_and_without(model: Any, limit: float | None) -> None:
    table, y = mixed_table(ROWS, 6)

    with pytest.raises(ValueError, match=r"no column is left to make rules of|minimum of 1 is required"):
        clone(model).set_params(time_limit=limit).fit(table[:0], y[:0])


def test_a_setting_of_an_encoder_is_checked_before_it_is_narrowed() -> None:
    table, y = mixed_table(ROWS, 6)

    with pytest.raises(ValueError, match="max_levels is 1; it is a whole number, at least 2"):
        RCBoostClassifier(make_pipeline(TableEncoder(max_levels=1), FOREST), time_limit=1.0).fit(table, y)


def test_where_some_rows_have_nothing_to_tell_all_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_steps, "_FEW", 20)
    rare = np.arange(ROWS) % 60 == 7
    table = pd.DataFrame({"one": np.where(rare, "rare", "usual"), "other": np.where(rare, "rare", "usual")})

    encoder, said = encoder_in_time(TableEncoder(), table, np.arange(8, ROWS), time.perf_counter())
    assert encoder.get_feature_names_out().tolist() == ["one = usual"]
    assert said == "with texts and dates of 20 of 300 rows"
    numbers = pd.DataFrame({"id": np.arange(ROWS), "word": ["same"] * ROWS})
    encoder, said = encoder_in_time(TableEncoder(), numbers, np.arange(ROWS), time.perf_counter())
    assert (encoder.get_feature_names_out().tolist(), said) == (["id"], "")


@pytest.mark.parametrize("n_values", [1, 700])
def test_a_model_behind_a_wide_encoder_answers_alike_block_by_block(
    n_values: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, y = mixed_table(ROWS, 4)
    model = make_pipeline(TableEncoder(), FOREST).fit(table, y)
    asked = AskedModel(model, lambda _: table)
    shares, held_out = asked.predict_proba(None), out_of_bag(model, table)
    honest = OutOfBagModel(asked, np.arange(ROWS))
    expected = honest.predict_proba(None)

    monkeypatch.setattr(encoders, "_WIDE", 2)
    monkeypatch.setattr(encoders, "_VALUES", n_values)

    assert held_out is not None
    unknown = np.isnan(held_out).any(axis=1)
    assert unknown.any()
    np.testing.assert_array_equal(asked.predict_proba(None), shares)
    np.testing.assert_array_equal(honest.predict_proba(None), expected)
    np.testing.assert_array_equal(expected, np.where(unknown[:, None], shares, held_out))
    sizes: list[int] = []
    by_blocks(lambda rows, some: sizes.append(len(some)) or np.zeros(len(some)), model, table)
    assert sum(sizes) == ROWS and len(sizes) > 1


def test_rows_that_some_trees_were_not_trained_on_are_not_asked_about() -> None:
    table, y = mixed_table(ROWS, 5)
    model = make_pipeline(TableEncoder(), FOREST).fit(table, y)
    asked: list[int] = []
    honest = OutOfBagModel(AskedModel(model, lambda _: table), np.arange(ROWS))
    predict_proba = RandomForestClassifier.predict_proba
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(
            RandomForestClassifier,
            "predict_proba",
            lambda self, X: asked.append(X.shape[0]) or predict_proba(self, X),
        )
        honest.predict_proba(None)
    held_out = out_of_bag(model, table)
    assert held_out is not None
    assert asked == [int(np.isnan(held_out).any(axis=1).sum())]


# Steps of scikit-learn ------------------------------------------------------------------------------------------------

WORDS, COUNTS, NUMBERS = ["colour", "over, time"], ["children"], ["income", "age"]
FILLED = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
FRONTS = {
    "ignores": make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", max_categories=4), WORDS), (FILLED, NUMBERS), remainder="drop"
    ),
    "refuses": make_column_transformer(
        (OneHotEncoder(), WORDS), (OrdinalEncoder(), COUNTS), (FILLED, make_column_selector(dtype_include="float"))
    ),
    "refuses what is filled": make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="most_frequent"), OrdinalEncoder()), WORDS), (MinMaxScaler(), NUMBERS)
    ),
    "counts and refuses": make_column_transformer((OneHotEncoder(min_frequency=2), WORDS), ("passthrough", NUMBERS)),
}


@pytest.mark.parametrize("name", FRONTS)
@pytest.mark.parametrize("kind", [MIRCOClassifier, RulePathClassifier])
def test_steps_of_scikit_learn_look_at_some_rows_where_they_take_others(
    name: str, kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_steps, "_FEW", 20)
    table, y = mixed_table(ROWS, 7)
    if kind is MIRCOClassifier:  # a fold would not have it
        table.loc[5, "colour"] = "a level of one row"
    pipeline = make_pipeline(FRONTS[name], FOREST)

    model, cut = fitted(kind(pipeline, random_state=0), table, y, 1e-3)
    n_known = 20 if name == "ignores" else len(np.union1d(first_steps_rows(y), first_rows(table, FRONTS[name])))
    known = f"with first steps that know {n_known} of 300 rows"
    assert (known in cut) if "counts" not in name else ("first steps" not in cut)
    answers = model.predict(table)
    assert set(answers) <= {"yes", "no"}
    np.testing.assert_array_equal(answers, from_json(to_json(model)).predict(table))
    assert kind is RulePathClassifier or not model.missed(table).any()
    limited, cut = fitted(kind(pipeline, random_state=0), table, y, 600.0)
    plain, _ = fitted(kind(pipeline, random_state=0), table, y, None)
    assert (cut, limited.rules_) == ("", plain.rules_)


def first_of(step: Any, table: pd.DataFrame, y: Any, model: Any = FOREST) -> FirstSteps:
    """A step in front of a model, fitted when time is up."""
    order = sampling_order(y, None, classes=True)
    return fitted_first(Halves([("step", step)], [("model", model)]), table, y, order, 0.0)


def first_steps_rows(y: Any) -> Any:
    return sampling_order(y, None, classes=True).rows[:20]


def first_rows(table: pd.DataFrame, front: Any) -> Any:
    """The first row of each value in the columns that the first two parts are given, if these are not of numbers."""
    columns = [name for _, _, names in front.transformers[:2] if names != NUMBERS for name in names]
    rows = np.arange(len(table))
    each = [pd.Series(rows).groupby(table[name].to_numpy(), dropna=False).min() for name in columns]
    return np.unique(np.concatenate(each))


@pytest.mark.parametrize("encoder", [OneHotEncoder(), OrdinalEncoder(), make_pipeline(OneHotEncoder(drop="first"))])
@pytest.mark.parametrize("seed", range(20))
def test_an_encoder_that_refuses_new_levels_has_those_of_all_rows(
    encoder: Any, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_steps, "_FEW", 5)
    rng = np.random.default_rng(seed)
    kinds = [kind for kind in (None, np.nan, pd.NA) if rng.random() < 0.4]
    cells = np.array(["a", "b", "c", "d", *kinds], dtype=object)
    table = pd.DataFrame({"word": rng.choice(cells, ROWS), "number": rng.choice([0.5, 1.0, 7.0, np.nan], ROWS)})
    table["other"] = pd.Categorical(rng.choice(["x", "y"], ROWS))
    y = rng.integers(0, 2, ROWS)
    expected = clone(encoder).fit(table)

    first = first_of(encoder, table, y)

    ((_, mine),) = first.steps
    assert "of 300 rows" in first.known and first.seconds == 0.0  # they are not fitted once more
    levels, known = ((each[-1] if isinstance(each, Pipeline) else each).categories_ for each in (mine, expected))
    for one, other in zip(levels, known, strict=True):
        assert list(map(repr, one)) == list(map(repr, other))
    some = np.array([3, 5, 200])
    np.testing.assert_array_equal(dense(first.seen(some)), dense(expected.transform(table.iloc[some])))


class Picky(DecisionTreeClassifier):
    """A tree that is grown on many columns only."""

    def fit(self, X: Any, y: Any) -> Any:
        if X.shape[1] < 25:
            raise ValueError("too few columns")
        return super().fit(X, y)


@pytest.mark.parametrize("how", ["default", "polars"])
@pytest.mark.parametrize(
    "rest",
    [
        [BaggingClassifier(DecisionTreeClassifier(), 3, max_features=25)],
        [SelectFromModel(DecisionTreeClassifier(), threshold=-np.inf), PCA(25), DecisionTreeClassifier()],
        [Picky()],
        [HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=3)],
        [FOREST],
    ],
    ids=lambda rest: type(rest[0]).__name__,
)
def test_where_few_levels_are_too_few_for_the_model_it_has_those_of_all_rows(
    rest: list[Any], how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_steps, "_FEW", 10)
    table, y = mixed_table(ROWS, 11)
    table = table[["income"]].assign(word=[f"word {k % 60}" for k in range(ROWS)])
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    front = make_column_transformer((one_hot, ["word"]), remainder="passthrough").set_output(transform=how)

    model, cut = fitted(MIRCOClassifier(make_pipeline(front, *rest), random_state=0), table, y, 1e-3)

    assert ("first steps" in cut) == (
        type(rest[0]).__name__ in ("RandomForestClassifier", "HistGradientBoostingClassifier")
    )
    assert not model.missed(table).any()
    assert set(model.predict(table)) <= {"yes", "no"}


def test_a_step_that_is_left_out_names_its_columns_as_it_likes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_steps, "_FEW", 5)
    table, y = mixed_table(ROWS, 9)
    front = ColumnTransformer([("left out", "drop", "income"), ("words", OneHotEncoder(), ["over, time"])])

    first = first_of(front, table, y)

    assert "of 300 rows" in first.known
    assert dense(first.seen(None)).shape == (ROWS, 2)


def test_levels_that_were_not_looked_at_are_no_news_to_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_steps, "_FEW", 5)
    table, y = mixed_table(ROWS, 10)
    table["word"] = [f"word {k % 60}" for k in range(ROWS)]
    encoder = make_column_transformer((OneHotEncoder(handle_unknown="ignore", drop="first"), ["word"]))

    with warnings.catch_warnings():
        warnings.filterwarnings("error", "Found unknown categories")
        model, cut = fitted(RulePathClassifier(make_pipeline(encoder, FOREST), random_state=0), table, y, 1e-3)

    assert "with first steps that know 5 of 300 rows" in cut
    assert len(model.predict(table)) == ROWS


def dense(rows: Any) -> Any:
    return rows.toarray() if hasattr(rows, "toarray") else rows


def test_rows_of_no_weight_may_have_levels_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_steps, "_FEW", 20)
    table, y = mixed_table(ROWS, 8)
    table.loc[5, "over, time"] = "Perhaps"
    weight = np.ones(ROWS)
    weight[5] = 0.0

    table = table.fillna({"colour": "red"})
    model = MIRCOClassifier(make_pipeline(FRONTS["refuses"], FOREST), random_state=0, time_limit=1e-3)

    with pytest.warns(CutShortWarning, match="with first steps that know"):
        model.fit(table, y, sample_weight=weight)
    assert len(model.predict(table[:6])) == 6


@pytest.mark.parametrize(
    "step",
    [
        TargetEncoder(),
        OneHotEncoder(categories=[["a", "b"]]),
        OneHotEncoder(max_categories=2),
        OneHotEncoder(min_frequency=100, handle_unknown="ignore"),
        FunctionTransformer(np.abs),
        PCA(2),
        make_pipeline(SimpleImputer(), make_column_transformer((StandardScaler(), [1]))),
        make_pipeline(make_pipeline(StandardScaler(), PCA(2)), "passthrough"),
        make_pipeline(make_column_transformer((MinMaxScaler(), [2, 0])), make_column_transformer(("drop", [1]))),
    ],
    ids=lambda step: type(step).__name__,
)
def test_other_steps_are_fitted_to_all_rows(step: Any) -> None:
    rng = np.random.default_rng(0)
    texts = type(step).__name__.endswith("Encoder")
    table = pd.DataFrame({"x": rng.choice(["a", "b"], ROWS)}) if texts else pd.DataFrame(rng.normal(size=(ROWS, 3)))
    y = rng.integers(0, 2, ROWS)

    first = first_of(step, table, y)

    assert first.known == "" and first.seconds > 0
    made = first.steps[0][1].transform(table)
    np.testing.assert_array_equal(dense(made), dense(clone(step).fit(table, y).transform(table)))
    assert dense(first.seen(None)).shape == dense(made).shape


@pytest.mark.parametrize("front", [TableEncoder(), OneHotEncoder(handle_unknown="ignore")])
@pytest.mark.parametrize(
    "model",
    [
        HistGradientBoostingClassifier(monotonic_cst=[0, 1]),
        HistGradientBoostingClassifier(categorical_features=[True, False]),
        GridSearchCV(HistGradientBoostingClassifier(), {"interaction_cst": [None, [[0], [1]]]}),
        LGBMClassifier(mc="0,1"),
        XGBClassifier(monotone_constraints="(0,1)"),
        make_pipeline(make_column_transformer((StandardScaler(), [1]), remainder="passthrough"), FOREST),
    ],
)
def test_columns_that_a_model_knows_by_number_are_those_of_all_rows(front: Any, model: Any) -> None:
    table = pd.DataFrame({"x": ["a", "b"] * 150})
    y = np.arange(ROWS) % 2

    first = first_of(front, table, y, model)

    assert first.known == "" and first.seconds > 0 and first.n_columns is None


def test_a_step_that_few_rows_do_not_do_for_is_fitted_to_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_steps, "_FEW", 5)
    table = pd.DataFrame({"x": ["a"] * 290 + ["b"] * 10})
    y = np.arange(ROWS) % 2
    sizes: list[int] = []
    fit = OneHotEncoder.fit

    def fit_to_many(self: Any, X: Any, y: Any = None) -> Any:
        sizes.append(len(X))
        if len(X) < 100:
            raise RuntimeError("too few")
        return fit(self, X, y)

    monkeypatch.setattr(OneHotEncoder, "fit", fit_to_many)

    first = first_of(OneHotEncoder(), table, y)

    assert (sizes, first.known) == ([5, ROWS], "")
