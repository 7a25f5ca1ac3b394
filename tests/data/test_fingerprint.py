"""The same rows have the same fingerprint, however they come, and other rows another one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from rulecover import MIRCOClassifier, RCBoostClassifier, RulePathClassifier, RulePathRegressor, Summary
from rulecover.data.fingerprint import Fingerprint, row_hashes
from rulecover.data.provenance import today
from rulecover.export import from_json, to_json, vote_of

NAMES = ["a", "b", "c"]


def rows(seed: int, n: int = 200) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(1)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, np.array(["no", "yes"])[rng.integers(0, 2, n)]


def taken(X: Any, y: Any) -> Fingerprint:
    return Fingerprint.of(row_hashes(X, range(3), NAMES, y), NAMES)


@given(st.integers(0, 2**32 - 1), st.integers(1, 300))
def test_order_of_rows_and_columns_signs_of_zero_and_kinds_of_nan_do_not_matter(seed: int, n: int) -> None:
    X, y = rows(seed, n)
    order = np.random.default_rng(seed).permutation(n)
    turned = np.where(X == 0, -X, X)
    turned[np.isnan(turned)] = -np.nan

    assert taken(X, y) == taken(turned[order], y[order])
    swapped = row_hashes(X[:, ::-1], range(3), NAMES[::-1], y)
    np.testing.assert_array_equal(np.sort(swapped), np.sort(row_hashes(X, range(3), NAMES, y)))


@given(st.integers(0, 2**32 - 1), st.integers(1, 199))
def test_blocks_of_rows_add_up(seed: int, cut: int) -> None:
    X, y = rows(seed)
    parts = [row_hashes(X[part], range(3), NAMES, y[part]) for part in (slice(cut), slice(cut, None))]

    assert Fingerprint.of(np.concatenate(parts), NAMES) == taken(X, y)


@given(st.integers(0, 2**32 - 1), st.integers(1, 2000), st.sampled_from([3, 100, 2**63]))
def test_the_sample_holds_the_smallest_different_hashes(seed: int, n: int, most: int) -> None:
    hashes = np.random.default_rng(seed).integers(0, most, n).astype(np.uint64)

    assert Fingerprint.of(hashes, []).sample == tuple(f"{each:016x}" for each in sorted(set(hashes.tolist()))[:64])


@pytest.mark.parametrize("change", ["value", "target", "name", "row"])
def test_any_change_changes_it(change: str) -> None:
    X, y = rows(0)
    names = ["a", "b", "d"] if change == "name" else NAMES
    other, labels = X.copy(), y.copy()
    if change == "value":
        other[17, 1] = 99.0
    if change == "target":
        labels[17] = "no" if y[17] == "yes" else "yes"
    if change == "row":
        other, labels = X[:-1], y[:-1]
    hashes = row_hashes(other, range(3), names, labels)

    assert not taken(X, y).is_of(hashes)
    assert taken(X, y).is_of(row_hashes(X, range(3), NAMES, y))


@pytest.mark.parametrize("n", [40, 5000])
def test_the_share_of_known_rows_is_told_from_a_few_hashes(n: int) -> None:
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(n, 3)), rng.normal(size=(n, 3))
    y = np.zeros(n)
    mixed = np.vstack([X[: n // 2], new])  # a third is known

    def share(other: Any) -> float:
        return taken(X, y).share_among(row_hashes(other, range(3), NAMES, np.zeros(len(other))))

    assert share(new) == 0 and share(X) == 1
    assert share(mixed) == pytest.approx(1 / 3, abs=1e-9 if n == 40 else 0.15)


# Models ---------------------------------------------------------------------------------------------------------------


def path(**settings: Any) -> RulePathClassifier:
    forest = RandomForestClassifier(5, random_state=0)
    return RulePathClassifier(forest, max_rules=3, choose="last", random_state=0, **settings)


def test_frames_arrays_and_sparse_matrices_have_the_same() -> None:
    X, y = load_iris(return_X_y=True)
    names = [f"x{f}" for f in range(4)]
    kinds = [X, pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names), scipy.sparse.csr_array(X)]

    assert len({path().fit(each, y).provenance_.data for each in kinds}) == 1


def test_a_model_records_where_it_comes_from_and_so_does_its_file() -> None:
    X, y = load_iris(return_X_y=True)
    for model in (path(), MIRCOClassifier(RandomForestClassifier(5, random_state=0), random_state=3)):
        found = model.fit(X, y).provenance_
        assert (found.seed, found.n_columns, found.data.rows) == (model.random_state, 4, 150)
        assert found.source == "RandomForestClassifier of 5 trees"
        assert from_json(to_json(model)).provenance == found
    assert path(n_jobs=2).fit(X, y).provenance_.made_by == "RulePathClassifier(choose='last', max_rules=3)"


def test_the_same_seed_writes_the_same_file(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = load_iris(return_X_y=True)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")

    assert today() == "1970-01-02"
    assert to_json(path().fit(X, y)) == to_json(path(n_jobs=2).fit(X, y))


def test_a_file_without_it_is_read() -> None:
    X, y = load_iris(return_X_y=True)
    model = path().fit(X, y)
    vote = vote_of(model)
    del model.provenance_
    plain = to_json(model)

    assert '"provenance"' not in plain and from_json(plain).provenance is None
    assert bool((from_json(plain).predict(X) == vote.predict(X)).all())


@pytest.mark.parametrize("from_file", [False, True])
def test_a_summary_of_training_rows_says_so(from_file: bool) -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    fitted = path().fit(X[::2], y[::2])
    model = from_json(to_json(fitted)) if from_file else fitted

    def said(rows: Any, truth: Any) -> tuple[str, str]:
        shown = Summary.of(model, rows, truth, title="Iris")
        return shown.checked_rows, " ".join(shown.warnings)

    checked, words = said(X[::2][::-1], y[::2][::-1])
    assert checked == "training rows" and "these are the rows that the rules were trained on" in words
    assert said(X, y)[0] == "given rows" and "of these rows equal training rows" in said(X, y)[1]
    assert said(X[1::2] + 0.001, y[1::2]) == ("held-out rows", "")


def test_rows_that_are_equal_by_chance_are_not_warned_of() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 200, (900, 1)), np.arange(900) % 2
    model = MIRCOClassifier(DecisionTreeClassifier(max_depth=3)).fit(X[:600], y[:600])

    warned = [Summary.of(model, X[rows], y[rows], title="").warnings for rows in (slice(600, 900), slice(0, 300))]

    assert [" equal training rows" in " ".join(words) for words in warned] == [False, True]


@pytest.mark.slow
def test_numbers_and_boosting_have_it_too() -> None:
    X, y = load_diabetes(return_X_y=True)
    numbers = RulePathRegressor(max_rules=3, choose="last", random_state=0).fit(X, y)
    assert Summary.of(numbers, X, y, title="Numbers").on_training_rows
    irises, kinds = load_iris(return_X_y=True)
    boosted = RCBoostClassifier(max_rmp_calls=2, random_state=0).fit(irises, kinds)
    assert Summary.of(boosted, irises, kinds, title="Iris").on_training_rows
    texts = pd.DataFrame(irises, columns=list("abcd")).assign(word=np.array(["u", "v", "w"])[kinds])
    boosted = RCBoostClassifier(max_rmp_calls=2, random_state=0).fit(texts, kinds)
    assert Summary.of(boosted, texts, kinds, title="Iris").on_training_rows
