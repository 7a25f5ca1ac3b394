"""Data frames of any library: names are kept, another order is matched, and what no rule uses need not be there."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from rulecover import MIRCOClassifier, RCBoostClassifier, RuleSet, RuleTransformer, explain, linear_rules
from rulecover.data.frames import UNSEEN, as_pandas, categories_of, codes
from rulecover.exceptions import MismatchedDataError, UncoveredSamplesError, UnreadableModelError
from rulecover.export import from_json, to_json

X, Y = load_wine(return_X_y=True, as_frame=True)
FOREST = RandomForestClassifier(20, max_depth=4, random_state=0)
LIBRARIES: dict[str, Any] = {
    "pandas": lambda frame: frame,
    "polars": lambda frame: pl.DataFrame({name: frame[name].to_numpy() for name in frame}),
    "arrow": lambda frame: pa.table({name: frame[name].to_numpy() for name in frame}),
}
FITTED = {
    "MIRCO": MIRCOClassifier(FOREST, random_state=0),
    "RCBoost": RCBoostClassifier(max_rmp_calls=3, random_state=0),
}


def shuffled(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[list(np.random.default_rng(0).permutation(frame.columns))]


def used_by(rules: RuleSet) -> list[str]:
    return [rules.feature_names[f] for f in rules.clauses.columns]


@pytest.mark.slow
@pytest.mark.parametrize("library", LIBRARIES.values(), ids=LIBRARIES)
@pytest.mark.parametrize("model", FITTED.values(), ids=FITTED)
def test_frames_of_any_library_give_the_same_rules_and_answers(model: Any, library: Any) -> None:
    from sklearn.base import clone

    plain = clone(model).fit(X, Y)
    other = clone(model).fit(library(X), Y)
    assert other.rules_ == plain.rules_ and list(other.feature_names_in_) == list(X.columns)
    for frame in (X, shuffled(X)):
        np.testing.assert_array_equal(plain.predict_proba(library(frame)), plain.predict_proba(X))
        np.testing.assert_array_equal(plain.apply(library(frame)).toarray(), plain.apply(X).toarray())
        assert (plain.rules_.apply(library(frame)) != plain.rules_.apply(X)).nnz == 0
        assert plain.fidelity(library(frame)) == plain.fidelity(X)
        pd.testing.assert_frame_equal(plain.why(library(frame)), plain.why(X))


@pytest.mark.parametrize("library", LIBRARIES.values(), ids=LIBRARIES)
def test_a_model_that_was_read_from_a_file_takes_frames_of_any_library(library: Any) -> None:
    days, kinds = pd.date_range("2021-01-01", periods=len(X), freq="31h"), np.array(["a", "b", "c"], dtype=object)
    mixed = X.assign(when=days, kind=kinds[np.arange(len(X)) % 3], flag=np.arange(len(X)) % 2 == 0)
    model = MIRCOClassifier(FOREST, random_state=0).fit(mixed, (Y + mixed["flag"]) % 2 + (days > "2021-05-01"))
    read = from_json(to_json(model))

    for frame in (mixed, shuffled(mixed)):
        np.testing.assert_array_equal(read.predict_proba(library(frame)), model.predict_proba(mixed))
        pd.testing.assert_frame_equal(read.why(library(frame)), model.why(mixed))
    with pytest.raises(MismatchedDataError, match=r"the rules use column '.*', but X has only alcohol"):
        read.predict(library(X[["alcohol"]]))


def test_a_model_that_was_read_from_a_file_takes_a_frame_whose_columns_are_numbered() -> None:
    model = MIRCOClassifier(FOREST, random_state=0).fit(X.to_numpy(), Y)
    read = from_json(to_json(model))

    for frame in (pd.DataFrame(X.to_numpy()), pd.DataFrame(X.to_numpy()).rename(columns="x{}".format)):
        np.testing.assert_array_equal(read.predict(frame), model.predict(X.to_numpy()))
    with pytest.raises(MismatchedDataError, match="the rules need 13 columns"):
        read.predict(pd.DataFrame(X.to_numpy()[:, 1:]))


@pytest.mark.parametrize("library", LIBRARIES.values(), ids=LIBRARIES)
def test_only_the_columns_that_the_rules_use_are_needed(library: Any) -> None:
    few = MIRCOClassifier(FOREST, random_state=0, max_rules=2).fit(X, Y)
    needed = shuffled(X)[used_by(few.rules_)]
    assert needed.shape[1] < X.shape[1]
    np.testing.assert_array_equal(few.predict_proba(library(needed)), few.predict_proba(X))
    np.testing.assert_array_equal(few.missed(library(needed)), few.missed(X))
    assert (few.rules_.apply(library(needed)) != few.rules_.apply(X)).nnz == 0
    short = needed.iloc[:, 1:]
    for ask in (few.predict, few.apply, few.why):
        with pytest.raises(ValueError, match=f"now missing:(\n.*)*- {needed.columns[0]}"):
            ask(library(short))
    with pytest.raises(MismatchedDataError, match=f"the rules use column '{needed.columns[0]}', but X has only"):
        few.rules_.apply(library(short))


def test_boosted_stages_need_the_columns_of_the_whole_pool() -> None:
    boosted = RCBoostClassifier(max_rmp_calls=3, rule_weights="z", random_state=0).fit(X, Y)
    needed = X[used_by(boosted.pool_)]
    for mine, whole in zip(boosted.staged_predict_proba(needed), boosted.staged_predict_proba(X), strict=True):
        np.testing.assert_array_equal(mine, whole)
    fewer = X[used_by(boosted.rules_)]
    if fewer.shape[1] < needed.shape[1]:
        with pytest.raises(ValueError, match="now missing"):
            boosted.predict(fewer)


def test_whoever_asks_the_model_needs_every_column() -> None:
    few = MIRCOClassifier(FOREST, random_state=0, max_rules=2, fallback="model").fit(X, Y)
    needed = X[used_by(few.rules_)]
    with pytest.raises(ValueError, match="now missing"):
        few.predict(needed)
    with pytest.raises(ValueError, match="now missing"):
        few.set_params(fallback="closest").fidelity(needed)
    few.predict(needed)


def test_columns_that_the_model_never_saw_are_refused() -> None:
    few = MIRCOClassifier(FOREST, random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="unseen at fit time:\n- colour"):
        few.predict(X.assign(colour=1.0))


def test_a_trained_model_is_explained_on_columns_in_another_order() -> None:
    forest = FOREST.fit(X, Y)
    few, other = explain(forest, X, Y, method="cover"), explain(forest, shuffled(X), Y, method="cover")
    assert other.rules_ == few.rules_ and list(other.feature_names_in_) == list(X.columns)


def test_a_lazy_frame_is_refused_with_the_way_out() -> None:
    with pytest.raises(MismatchedDataError, match=r"lazy frame, which has no rows yet; pass X.collect\(\)"):
        MIRCOClassifier(FOREST).fit(LIBRARIES["polars"](X).lazy(), Y)


@pytest.mark.slow
@pytest.mark.parametrize("library", LIBRARIES.values(), ids=LIBRARIES)
def test_rules_as_columns_keep_the_frame_that_was_asked_for(library: Any) -> None:
    model = MIRCOClassifier(FOREST, random_state=0).fit(X, Y)
    expected = model.apply(X).toarray()
    transformer = RuleTransformer(FrozenEstimator(model)).fit(library(X), Y)
    np.testing.assert_array_equal(transformer.transform(library(shuffled(X))), expected)
    for kind, frame in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        columns = transformer.set_output(transform=kind).transform(library(X))
        assert isinstance(columns, frame) and list(columns.columns) == [rule.text for rule in model.rules_]
        np.testing.assert_array_equal(columns.to_numpy(), expected)
    sparse = linear_rules(model, library(X), Y)
    np.testing.assert_array_equal(sparse.predict(library(shuffled(X))), sparse.predict(X))


# Frames with words in them -------------------------------------------------------------------------------------------


def people(n: int = 150) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n).astype(float),
            "income": rng.lognormal(7, 1, n),
            "colour": rng.choice(["red", "green", "blue"], n),
            "name": [f"somebody {k}" for k in range(n)],
        }
    )
    frame.loc[rng.random(n) < 0.1, "age"] = np.nan
    frame.loc[rng.random(n) < 0.1, "colour"] = None
    return frame, np.where((frame["colour"] == "red") | (frame["age"] > 60), "yes", "no")


def pipeline() -> Any:
    words = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore"))
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    front = ColumnTransformer([("numbers", numbers, ["age", "income"]), ("words", words, ["colour"])])
    return make_pipeline(front, RandomForestClassifier(15, max_depth=4, random_state=0))


def as_polars(frame: pd.DataFrame) -> pl.DataFrame:
    return pl.DataFrame({n: [None if pd.isna(v) else v for v in frame[n]] for n in frame})


def test_rules_of_a_pipeline_speak_of_words() -> None:
    frame, y = people()
    trained = pipeline().fit(frame, y)
    few = explain(trained, frame, y, fallback="model", method="cover")
    text = str(few.rules_)
    assert "colour = red" in text or "colour ≠ red" in text
    assert "age >= " in text and "numbers__age" not in text
    assert not few.missed(frame).any() and few.fidelity(frame) > 0.9 and few.score(frame, y) > 0.95
    for other in (shuffled(frame), frame.assign(colour=frame["colour"].astype("category"))):
        np.testing.assert_array_equal(few.predict_proba(other), few.predict_proba(frame))
    # To scikit-learn a null of polars is None, and None is not NaN.
    colours = [None if pd.isna(word) else word for word in frame["colour"]]
    nones = frame.assign(colour=pd.Series(colours, dtype=object))
    np.testing.assert_array_equal(trained.predict_proba(as_polars(frame)), trained.predict_proba(nones))
    np.testing.assert_array_equal(few.predict_proba(as_polars(frame)), few.predict_proba(nones))
    assert (few.rules_.apply(frame.drop(columns="name")) != few.apply(frame)).nnz == 0
    strangers = frame.assign(colour="octarine")
    np.testing.assert_array_equal(few.apply(strangers).toarray(), few.rules_.apply(strangers).toarray())
    assert few.fidelity(strangers) > 0.5
    again = RuleSet.from_text(
        few.rules_.to_text(), few.rules_.feature_names, categories={"colour": few.rules_.columns.categories[2]}
    )
    assert again == few.rules_


@pytest.mark.slow
def test_a_pipeline_is_trained_on_what_was_given() -> None:
    frame, y = people()
    few = MIRCOClassifier(pipeline(), random_state=0).fit(as_polars(frame), y)
    assert few.score(frame, y) > 0.95
    seeded = [MIRCOClassifier(make_pipeline(StandardScaler(), RandomForestClassifier(3)), random_state=1) for _ in "ab"]
    first, second = (model.fit(X, Y).rules_ for model in seeded)
    assert first == second


def test_a_pipeline_takes_weights_and_missing_values_where_it_can() -> None:
    frame, y = people()
    numbers = frame[["age", "income"]]
    filled = make_pipeline(SimpleImputer(), RandomForestClassifier(5, max_depth=3, random_state=0))
    few = MIRCOClassifier(filled, class_weight="balanced", random_state=0).fit(numbers, y)
    assert "or missing" in str(few.rules_) and few.rules_.evidence is not None
    np.testing.assert_allclose(*few.rules_.evidence.totals)  # both classes weigh the same
    for model in (filled, VotingClassifier([("a", filled), ("b", DecisionTreeClassifier(max_depth=3))])):
        assert not explain(model.fit(numbers, y), numbers, y, method="cover").missed(numbers).any()
    unfilled = make_pipeline(StandardScaler(), GradientBoostingClassifier(n_estimators=3)).fit(
        numbers.dropna(), y[numbers["age"].notna()]
    )
    with pytest.raises(MismatchedDataError, match="column 'age' has a missing value in row"):
        explain(unfilled, numbers, y, method="cover")


def test_only_what_the_rules_use_is_needed_of_a_frame_with_words() -> None:
    frame, y = people()
    few = explain(pipeline().fit(frame, y), frame, y, max_rules=1, method="cover")
    needed = used_by(few.rules_)
    assert len(needed) < 4
    np.testing.assert_array_equal(few.apply(frame[needed]).toarray(), few.apply(frame).toarray())


def test_rules_on_transformed_columns_are_met_through_the_model() -> None:
    trained = make_pipeline(StandardScaler(), PCA(3), RandomForestClassifier(10, max_depth=3, random_state=0)).fit(X, Y)
    few = explain(trained, X, Y, method="cover")
    assert set(used_by(few.rules_)) <= {"pca0", "pca1", "pca2"}
    assert not few.missed(X).any() and few.score(X, Y) > 0.9
    np.testing.assert_array_equal(few.predict(shuffled(X)), few.predict(X))
    with pytest.raises(ValueError, match="now missing"):
        few.predict(X.iloc[:, :5])
    with pytest.raises(MismatchedDataError, match="the rules use column 'pca"):
        few.rules_.apply(X)


def test_categories_of_a_histogram_booster_are_labels_in_frames() -> None:
    frame, y = people()
    frame = frame.assign(colour=frame["colour"].astype("category")).drop(columns="name")
    few = explain(HistGradientBoostingClassifier(max_iter=5, random_state=0).fit(frame, y), frame, y, method="cover")
    assert "colour = red" in str(few.rules_)
    plain = frame.assign(colour=frame["colour"].astype(object))
    np.testing.assert_array_equal(few.predict_proba(plain), few.predict_proba(frame))
    assert few.score(frame, y) > 0.95


def test_a_pipeline_on_other_columns_is_refused() -> None:
    frame, y = people()
    trained = pipeline().fit(frame, y)
    with pytest.raises(MismatchedDataError, match="the model uses column 'age', but X has only years, income"):
        explain(trained, frame.rename(columns={"age": "years"}), y, method="cover")
    few = explain(trained, frame, y, method="cover")
    with pytest.raises(ValueError, match="unseen at fit time:\n- years"):
        few.predict(frame.rename(columns={"age": "years"}))
    with pytest.raises(MismatchedDataError, match="column 'age' holds 'old' in row 0"):
        few.predict(frame.assign(age="old"))
    with pytest.raises(ValueError, match="infinity"):
        few.predict(frame.assign(age=np.inf))


# Rules by hand as a source --------------------------------------------------------------------------------------------

TEXTS = [
    "flavanoids > 2 and proline > 700",
    "color_intensity <= 4 and proline <= 800",
    "flavanoids <= 1.5",
    "alcohol > 12",
    "color_intensity <= 3.8",
    "alcohol <= 9",
]
NAMES = ["proline", "flavanoids", "color_intensity", "alcohol", "never used"]


def test_rules_made_by_hand_go_through_the_same_cover() -> None:
    rules = RuleSet.from_text(TEXTS, NAMES)
    few = explain(rules, X, Y, solver="exact", method="cover", preset="as-in-paper")
    assert few.certificate_.status == "optimal"
    assert few.n_candidate_rules_ == 5  # one meets no row
    assert set(few.rules_.to_text()) <= set(TEXTS)
    covered = np.zeros(len(X), dtype=bool)
    chosen = rules.apply(X).toarray()
    covered |= chosen.any(axis=1)
    np.testing.assert_array_equal(few.uncovered_, np.flatnonzero(~covered))
    assert few.certificate_.n_left_out == len(few.uncovered_) > 0
    assert f"{len(few.uncovered_)} samples are covered by no rule at all" in str(few.certificate_)
    assert not few.missed(X)[covered].any()
    assert few.score(X, Y) > 0.6
    assert few.covering_problem(X, Y).n_samples == covered.sum()
    cheapest = brute_force(chosen[covered], Y.to_numpy()[covered])
    assert few.certificate_.objective == pytest.approx(cheapest)


def test_a_report_on_rules_made_by_hand_speaks_of_no_model() -> None:
    from rulecover import Summary
    from rulecover.report.words import certificate_in_words, figures_in_words

    few = explain(RuleSet.from_text(TEXTS, NAMES), X, Y, method="cover")
    sentences = figures_in_words(Summary.of(few, X, Y, title="wine"))
    assert not any("model" in sentence for sentence in sentences) and len(sentences) == 1
    assert any("more training row" in sentence for sentence in certificate_in_words(few.certificate_))


def brute_force(chosen: np.ndarray, y: np.ndarray) -> float:
    """The least cost of any cover, by trying every set of rules."""
    shares = [np.bincount(y[mask], minlength=3) / max(mask.sum(), 1) for mask in chosen.T]
    cost = np.array([2 - (share**2).sum() for share in shares])
    sets = (np.array(list(np.binary_repr(k, chosen.shape[1])), dtype=int) for k in range(2 ** chosen.shape[1]))
    return min(float(cost @ s) for s in sets if (chosen @ s > 0).all())


def test_rules_made_by_hand_work_inside_the_estimator_and_on_arrays() -> None:
    from sklearn.base import clone
    from sklearn.model_selection import cross_val_score

    rules = RuleSet.from_text(TEXTS, list(X.columns))
    assert cross_val_score(clone(MIRCOClassifier(rules)), X, Y, cv=3).mean() > 0.6
    on_array = MIRCOClassifier(rules).fit(X.to_numpy(), Y)
    assert on_array.rules_ == MIRCOClassifier(rules).fit(X, Y).rules_
    weighted = MIRCOClassifier(rules).fit(X, Y, sample_weight=np.arange(len(Y)))
    assert weighted.rules_.evidence is not None and weighted.rules_.evidence.totals.sum() == pytest.approx(
        177 * 178 / 2
    )


def test_rules_on_words_take_frames_and_need_no_other_column() -> None:
    frame, y = people()
    rules = RuleSet.from_text(
        ["colour in {red}", "age > 60", "colour in {green, blue} and (age <= 60 or missing)"], ["age", "colour"]
    )
    few = explain(rules, frame, y, method="cover")
    assert few.score(frame, y) > 0.9
    np.testing.assert_array_equal(few.predict(as_polars(frame[["colour", "age"]])), few.predict(frame))


def test_rules_that_do_not_fit_the_data_are_refused() -> None:
    rules = RuleSet.from_text(["alcohol > 12"], ["alcohol"])
    with pytest.raises(MismatchedDataError, match="the rules use column 'alcohol', but X has only a, b, c, d, e…"):
        explain(rules, pd.DataFrame(X.to_numpy(), columns=list("abcdefghijklm")), Y, method="cover")
    with pytest.raises(MismatchedDataError, match="X has 13 columns without names, but the rules know 1: alcohol"):
        explain(rules, X.to_numpy(), Y, method="cover")
    with pytest.raises(UncoveredSamplesError, match="none of the 178 samples is covered"):
        explain(RuleSet.from_text(["alcohol > 99"], ["alcohol"]), X, Y, method="cover")
    with pytest.raises(ValueError, match="rules made by hand have no model"):
        explain(rules, X, Y, fallback="model", method="cover")
    with pytest.raises(UnreadableModelError, match="no model behind them"):
        explain(rules, X, Y, method="cover").fidelity(X)


@pytest.mark.parametrize("library", [pl.from_pandas, pa.Table.from_pandas], ids=["polars", "arrow"])
def test_dates_of_a_time_zone_are_read_by_their_own_clock_in_every_library(library: Any) -> None:
    hours = pd.date_range("2020-01-01", periods=500, freq="h", tz="Asia/Tokyo")
    frame = pd.DataFrame({"when": pd.Series(hours).where(hours.day != 9)})
    weekend = hours.day_of_week >= 5
    model = MIRCOClassifier(DecisionTreeClassifier(random_state=0)).fit(frame, weekend)

    assert model.predict(library(frame)).tolist() == model.predict(frame).tolist()
    assert from_json(to_json(model)).predict(library(frame)).tolist() == model.predict(frame).tolist()
    assert MIRCOClassifier(DecisionTreeClassifier(random_state=0)).fit(library(frame), weekend).rules_ == model.rules_


VALUES = st.sampled_from(["a", "b", "", "1", 1, 1.0, True, 0, 2.5, -1, None, np.nan, pd.NA, pd.NaT])


@given(values=st.lists(VALUES, max_size=12), labels=st.lists(st.sampled_from(["a", "1", 1, 2.5, 0]), unique=True))
def test_codes_are_the_places_of_values_among_labels(values: list[Any], labels: list[Any]) -> None:
    column = np.empty(len(values), dtype=object)
    column[:] = values

    expected = [np.nan if pd.isna(v) else float(labels.index(v)) if v in labels else UNSEEN for v in values]

    np.testing.assert_array_equal(codes(column, tuple(labels)), expected)
    np.testing.assert_array_equal(codes(pd.Series(column, dtype=object), tuple(labels)), expected)


@pytest.mark.parametrize("kind", [object, "string", "category"])
def test_columns_of_texts_of_every_type_have_the_same_codes(kind: Any) -> None:
    column = pd.Series(["b", None, "z", "a"], dtype=kind, index=[3, 3, 1, 0])

    np.testing.assert_array_equal(codes(column, ("a", "b")), [1, np.nan, UNSEEN, 0])


@pytest.mark.parametrize("kind", ["Int64", "boolean"])
def test_columns_of_numbers_that_may_be_missing_have_codes(kind: Any) -> None:
    column = pd.Series([1, None, 0], dtype=kind)

    np.testing.assert_array_equal(codes(column, (1, 2)), [0, np.nan, UNSEEN])


@given(
    kinds=st.sampled_from([["b", "a", "c"], [3, 1, 2], [2.5, 1.5], [True, False]]),
    places=st.lists(st.none() | st.integers(0, 1), max_size=10),
    cut=st.integers(0, 10),
    ordered=st.booleans(),
)
def test_categories_of_arrow_are_taken_as_from_a_list_of_all_values(
    kinds: list[Any], places: list[int | None], cut: int, ordered: bool
) -> None:
    parts = [
        pa.DictionaryArray.from_arrays(pa.array(some, pa.int32()), pa.array(known), ordered=ordered)
        for some, known in ((places[:cut], kinds), (places[cut:], kinds[::-1]))
    ]
    table = pa.table({"x": pa.chunked_array(parts if not ordered else parts[:1], parts[0].type)})
    values = table["x"].to_pylist()

    taken = as_pandas(table)["x"]

    known = categories_of(nw.from_native(table, eager_only=True)["x"]).to_list()
    pd.testing.assert_series_equal(taken, pd.Series(pd.Categorical(values, categories=known), name="x"))
