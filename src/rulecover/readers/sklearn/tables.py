"""What a `TableEncoder` makes of columns, so that trees behind it can be rewritten on the columns in front of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
import scipy.sparse

from rulecover.data.categories import CategorySet
from rulecover.data.columns import Columns, Levels, SourceColumns, all_names
from rulecover.data.dates import DatePart, parts_of
from rulecover.data.encoder import (
    Encoded,
    EncodedCategories,
    EncodedDates,
    EncodedLevels,
    EncodedNumbers,
    TableEncoder,
    side_by_side,
)
from rulecover.data.frames import is_frame, missing_values, names_of_model
from rulecover.data.written_numbers import Notation
from rulecover.readers.sklearn.origins import CategoryOrigin, NumberOrigin, Origin, by_label
from rulecover.rules.clauses import Clauses
from rulecover.rules.ruleset import RuleSet
from rulecover.trees.tree import merge_comparisons
from rulecover.typing import Array, Floats


def table_origins(encoder: TableEncoder) -> list[Origin]:
    """The origin of each encoded column; parts of dates have none."""
    out: list[Origin] = []
    for f, each in enumerate(encoder.columns_):
        if isinstance(each, EncodedNumbers):
            out.append(NumberOrigin(f, gaps=(np.nan,) * len(missing_values())))
        elif isinstance(each, EncodedLevels):
            out += _levels(f, each)
        else:
            out += [None] * len(each.made_names)
    return out


def _levels(f: int, encoded: EncodedLevels) -> list[Origin]:
    if isinstance(encoded, EncodedCategories):
        *_, other, gap = encoded.code.tolist()
        gaps = (gap,) * len(missing_values())
        return [CategoryOrigin(f, encoded.labels, by_label(encoded.code[:-2]), 0, gaps, other, named=True)]
    *_, unseen, missing = encoded.place.tolist()
    n_made = len(encoded.made_names)
    marked = np.flatnonzero((encoded.place[:-2] >= 0) & (encoded.place[:-2] < n_made))
    of_labels = scipy.sparse.csc_array(
        (np.ones(len(marked)), (marked, encoded.place[marked])), shape=(len(encoded.labels), n_made)
    )
    return [
        CategoryOrigin(
            f,
            encoded.labels,
            of_labels,
            k,
            (float(missing == k),) * len(missing_values()),
            float(unseen == k),
            named=True,
        )
        for k in range(n_made)
    ]


def date_parts(encoder: TableEncoder) -> dict[int, DatePart]:
    """The encoded columns that are made of dates, by number."""
    parts: dict[int, DatePart] = {}
    first = 0
    for each in encoder.columns_:
        if isinstance(each, EncodedDates):
            parts |= {first + k: part for k, part in enumerate(each.made)}
        first += len(each.made_names)
    return parts


@dataclass(frozen=True, eq=False)
class EncodedAgain:
    """From rows as rules see them, categories as codes and parts of dates last, to the rows that trees were grown on.

    Parameters
    ----------
    encoder
        The fitted encoder.
    kind
        The type of the encoded rows: the model may round them to it anyway.
    """

    encoder: TableEncoder
    kind: type[np.floating[Any]] = np.float64

    def __call__(self, X: Floats) -> Array:
        """The encoded rows."""
        columns = self.encoder.columns_
        return side_by_side(columns, len(X), _as_given(columns, X), self.kind)

    def of_columns(self, used: Iterable[int]) -> EncodedAgain:
        """The encoder makes all columns in any case."""
        return self

    def blocks(self, X: Floats, n_rows: int) -> Iterator[Array]:
        """The encoded rows, this many at a time."""
        for start in range(0, len(X), n_rows):
            yield self(X[start : start + n_rows])


def _as_given(columns: Sequence[Encoded], X: Floats) -> Iterator[Floats]:
    """What rules see of each column of a table: in its place, parts of dates behind all columns."""
    next_part = len(columns)
    for f, each in enumerate(columns):
        if isinstance(each, EncodedDates):
            yield X[:, next_part : next_part + len(each.parts)]
            next_part += len(each.parts)
        else:
            yield X[:, [f]] if each.made_names else X[:, :0]


# Rules on encoded columns -------------------------------------------------------------------------------------------


def encoded_columns(encoder: TableEncoder) -> Columns:
    """The encoded columns by name; 0/1 columns stand for levels."""
    levels: Levels = {}
    first = 0
    for each in encoder.columns_:
        if isinstance(each, EncodedLevels):
            marks = (name.removeprefix(f"{each.name} = ") for name in each.made_names)
            levels |= {first + k: (each.name, level) for k, level in enumerate(marks)}
        first += len(each.made_names)
    return Columns(tuple(encoder.get_feature_names_out().tolist()), levels=levels, parts=date_parts(encoder))


def table_columns(encoder: TableEncoder) -> SourceColumns:
    """How a table becomes the columns that rules are about: its own, categories as codes, then the parts of dates."""
    n_given = len(encoder.columns_)
    parts = list(date_parts(encoder).values())
    place = {each.name: f for f, each in enumerate(encoder.columns_)}
    return SourceColumns(
        n_given,
        names_of_model(encoder),
        {f: each.labels for f, each in enumerate(encoder.columns_) if isinstance(each, EncodedLevels)},
        made=tuple(part.made_name for part in parts),
        make=PartsOfDates(tuple((place[part.name], part) for part in parts)) if parts else None,
        parts={n_given + k: part for k, part in enumerate(parts)},
        notations={f: each for f, each in enumerate(map(_notation, encoder.columns_)) if each is not None},
        frequent={f: each for f, each in enumerate(map(_n_frequent, encoder.columns_)) if each is not None},
    )


def _notation(encoded: Encoded) -> Notation | None:
    return encoded.notation if isinstance(encoded, EncodedNumbers) else None


def _n_frequent(encoded: Encoded) -> int | None:
    return encoded.n_frequent if isinstance(encoded, EncodedLevels) else None


@dataclass(frozen=True)
class PartsOfDates:
    """The columns that are made of dates, each with the place of the given one."""

    parts: tuple[tuple[int, DatePart], ...]

    def __call__(self, X: Any, wanted: Sequence[int]) -> Iterator[Floats]:
        for f, mine in groupby((self.parts[k] for k in wanted), key=itemgetter(0)):
            parts = [part for _, part in mine]
            dates = parts[0].moments(X[parts[0].name] if is_frame(X) else X[:, f])
            yield from parts_of(dates, [part.part for part in parts])


def rules_on_table(rules: RuleSet, encoder: TableEncoder, columns: SourceColumns) -> RuleSet:
    """Rules on encoded columns as rules on the table's own columns that cover the same rows."""
    names = all_names(columns.names or [each.name for each in encoder.columns_], columns.made)
    origins, places = table_origins(encoder), {k: columns.n_given + j for j, k in enumerate(date_parts(encoder))}

    def rewritten(clauses: Clauses) -> Clauses:
        return _on_table(clauses, origins, places)

    return replace(
        rules,
        clauses=_plain(merge_comparisons(rewritten(rules.clauses))),
        columns=Columns(
            names,
            dict(columns.categories),
            parts=dict(columns.parts),
            notations=dict(columns.notations),
            frequent=dict(columns.frequent),
        ),
        paths=None if rules.paths is None else _plain(rewritten(rules.paths)),
        shown=None,
    )


def _on_table(clauses: Clauses, origins: Sequence[Origin], places: Mapping[int, int]) -> Clauses:
    """Each clause on the table's own column, in the same order; all clauses on categories are sets."""
    feature, missing = clauses.feature.copy(), clauses.missing.copy()
    sets: list[CategorySet | None] = [None] * len(feature)
    known: dict[tuple[int, float, float], tuple[CategorySet, bool]] = {}
    for c, key in enumerate(zip(clauses.feature.tolist(), clauses.lower.tolist(), clauses.upper.tolist(), strict=True)):
        origin = origins[key[0]]
        feature[c] = places[key[0]] if origin is None else origin.feature
        if isinstance(origin, CategoryOrigin):
            if key not in known:
                known[key] = _levels_between(origin, key[1], key[2])
            sets[c], missing[c] = known[key]
    by_set = np.array([each is not None for each in sets], dtype=bool)
    bounds = np.where(by_set, -np.inf, clauses.lower), np.where(by_set, np.inf, clauses.upper)
    return replace(clauses, feature=feature, lower=bounds[0], upper=bounds[1], missing=missing).with_sets(sets)


def _levels_between(origin: CategoryOrigin, lower: float, upper: float) -> tuple[CategorySet, bool]:
    """The levels whose 0/1 column lies between bounds, and whether a missing value is among them."""

    def inside(value: float | None) -> bool:
        return value is not None and lower < value <= upper

    others = inside(origin.unseen)
    codes = (code for code, value in enumerate(origin.values.tolist()) if inside(value) != others)
    return CategorySet(tuple(map(float, codes)), others), inside(origin.of_missing())


def _plain(clauses: Clauses) -> Clauses:
    """Sets without codes as intervals: every known value, or none."""
    sets = [clauses.set_of(c) for c in range(len(clauses.feature))]
    none = np.array([each == CategorySet(()) for each in sets], dtype=bool)
    kept = [None if each is not None and not each.codes else each for each in sets]
    return replace(clauses, lower=np.where(none, np.inf, clauses.lower)).with_sets(kept)
