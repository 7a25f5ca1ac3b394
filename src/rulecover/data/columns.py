"""From data as users give them to the columns that rules use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Any

import numpy as np
import scipy.sparse

from rulecover.data.categories import Categories, HashedCategories
from rulecover.data.dates import DAYS, DatePart
from rulecover.data.frames import UNSEEN, absent, column, is_frame, kinds_of, missing_values, names_of, numbers
from rulecover.data.written_numbers import Notation
from rulecover.exceptions import MismatchedDataError
from rulecover.typing import Array, Floats, Ints

#: For a 0/1 column that stands for ``name = level``, by its number: the name and the level.
Levels = dict[int, tuple[str, str]]

#: For a column that is made of dates, by its number: which part of which column.
Parts = dict[int, DatePart]

#: For a column of whole numbers, by its number: the least and the largest.
Whole = dict[int, tuple[float, float]]

#: For each of `missing_values` how it is written in a column: NaN for missing, a number of its own for a label that was
#: never seen, ``None`` where the model has no route for it.
Gaps = tuple[float | None, ...]


def by_columns(X: Any) -> Any:
    """The same rows, in a form in which the columns of sparse ones are soon found."""
    return X.tocsc() if scipy.sparse.issparse(X) else X


def values_of(X: Any, f: int) -> Floats:
    """The values of a column of numbers, by its number; X is an array or a sparse matrix."""
    column = X[:, [f]].toarray().ravel() if scipy.sparse.issparse(X) else X[:, f]
    return np.ascontiguousarray(column, dtype=np.float64)


def all_names(given: Iterable[str], made: Iterable[str]) -> tuple[str, ...]:
    """The names of given columns, then of made ones; a made one whose name is taken gets a number appended.

    >>> all_names(["a", "b"], ["a", "pca0", "pca0"])
    ('a', 'b', 'a_2', 'pca0', 'pca0_2')
    """
    names = dict.fromkeys(given)
    for name in made:
        numbered = (f"{name}_{k}" for k in count(2))
        names[next(each for each in chain([name], numbered) if each not in names)] = None
    return tuple(names)


@dataclass(frozen=True, eq=False)
class Columns:
    """What the columns of the data are called and what is in them where they do not hold plain numbers.

    Parameters
    ----------
    names
        A name for each column.
    categories
        For a column of category codes: its number and the category behind each code, from 0.
    levels
        For a 0/1 column that stands for ``name = level``: its number, the name and the level.
    zero_missing
        The columns in which 0 counts as missing.
    parts
        For a column that is made of dates: its number, and which part of which column it is.
    notations
        For a column of numbers that are not written as programs write them: its number, and how they are written.
    whole
        For a column that held nothing but whole numbers in the training data: the least and the largest of them.
    frequent
        For a column of categories of which only the most frequent are told apart: how many, the first by their codes.
    missing_values
        What cells of a file have where nothing is known, next to what every file may have.
    """

    names: tuple[str, ...]
    categories: Categories = field(default_factory=dict)
    levels: Levels = field(default_factory=dict)
    zero_missing: tuple[int, ...] = ()
    parts: Parts = field(default_factory=dict)
    notations: Mapping[int, Notation] = field(default_factory=dict)
    whole: Whole = field(default_factory=dict)
    frequent: Mapping[int, int] = field(default_factory=dict)
    missing_values: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.names)

    def matrix(self, frame: Any, used: Iterable[int]) -> Floats:
        """The columns of these names as numbers, codes for categories; only those in use are read, others are 0.

        Raises
        ------
        MismatchedDataError
            If a column in use is absent, or holds something that is not a number.
        """
        there = {str(name): name for name in names_of(frame)}
        out = np.zeros((len(frame), len(self)))
        for f in (int(f) for f in used):
            name = self.names[f]
            part = self.parts.get(f)
            if name not in there and part is not None and part.name in there:
                out[:, f] = part.read(column(frame, there[part.name]))
                continue
            if name not in there:
                raise absent(name, list(there))
            out[:, f] = numbers(column(frame, there[name]), name, self.categories.get(f), self.notations.get(f))
        return out

    @property
    def dated(self) -> dict[int, str]:
        """The columns that hold the days of a column of dates, by number, and its name."""
        return {f: part.name for f, part in self.parts.items() if part.part == DAYS}

    def named(self, names: tuple[str, ...], place: Ints) -> Columns:
        """The columns of other data, where column f is column ``place[f]``, -1 if it is absent."""
        return Columns(
            names,
            {int(place[f]): known for f, known in self.categories.items() if place[f] >= 0},
            {int(place[f]): level for f, level in self.levels.items() if place[f] >= 0},
            tuple(int(place[f]) for f in self.zero_missing if place[f] >= 0),
            {int(place[f]): part for f, part in self.parts.items() if place[f] >= 0},
            {int(place[f]): notation for f, notation in self.notations.items() if place[f] >= 0},
            {int(place[f]): ends for f, ends in self.whole.items() if place[f] >= 0},
            {int(place[f]): number for f, number in self.frequent.items() if place[f] >= 0},
            self.missing_values,
        )


@dataclass(frozen=True, eq=False)
class SourceColumns:
    """The given columns, categories as codes, followed by the columns that a model's pipeline makes of them.

    Parameters
    ----------
    n_given, names
        The number of given columns, and their names, if the model knows them.
    categories
        For a column of categories: its number and the category behind each code, from 0.
    closed
        For columns in which the model refuses values that it never saw: the codes or numbers that it knows.
    required
        Columns in which the model has no route for a missing value.
    gaps
        For columns in which kinds of missing values differ: how each is written. All are NaN elsewhere.
    made, make
        The names of the columns that are made, and how: from the given rows and the numbers of those that matter to
        these, one after the other.
    parts
        Which of these are made of dates, by number after the given columns.
    notations, frequent
        As in `Columns`.
    """

    n_given: int
    names: tuple[str, ...] | None = None
    categories: Categories = field(default_factory=dict)
    closed: Mapping[int, Floats] = field(default_factory=dict)
    required: frozenset[int] = frozenset()
    gaps: Mapping[int, Gaps] = field(default_factory=dict)
    made: tuple[str, ...] = ()
    make: Callable[[Any, Sequence[int]], Iterable[Array]] | None = None
    parts: Parts = field(default_factory=dict)
    notations: Mapping[int, Notation] = field(default_factory=dict)
    frequent: Mapping[int, int] = field(default_factory=dict)

    @property
    def free(self) -> bool:
        """Whether the columns are plain numbers as they are given, whatever their values."""
        return not (self.categories or self.made or self.closed or self.required or self.notations)

    def name(self, f: int) -> str:
        return f"x{f}" if self.names is None else self.names[f]

    def matrix(self, X: Any, used: Iterable[int] | None = None) -> Array:
        """The rows as numbers, given columns first; columns that are not in use are 0.

        Parameters
        ----------
        X
            A data frame, matched by name, or an array.
        used
            The columns that matter, made ones numbered after the given ones; all of them by default.
        """
        wanted = set(range(self.n_given + len(self.made))) if used is None else {int(f) for f in used}
        if scipy.sparse.issparse(X):
            raise MismatchedDataError("the pipeline takes dense rows, but X is sparse; pass X.toarray().")
        X = X if is_frame(X) else np.asarray(X)
        used_given = sorted(f for f in wanted if f < self.n_given)
        given = self._given(X, used_given)
        for f in sorted(wanted & self.gaps.keys()):
            given = self._with_gaps(f, given, X)
        for f in sorted(wanted & (self.closed.keys() | self.required)):
            self._check(f, given[:, f], X)
        return self._with_made(given, X, used_given, sorted(f - self.n_given for f in wanted if f >= self.n_given))

    def _with_made(self, given: Array, X: Any, used: list[int], wanted: list[int]) -> Array:
        """The given columns, followed by the made ones; those that are not in use are 0, and take no memory."""
        if not self.made:
            return given
        out = np.zeros((len(given), self.n_given + len(self.made)), order="F")
        for f in used:
            out[:, f] = given[:, f]
        made = () if self.make is None else self.make(X, wanted)
        for k, values in zip(wanted, made, strict=False):
            out[:, self.n_given + k] = values
        return out

    def _given(self, X: Any, used: list[int]) -> Array:
        hashed = any(isinstance(known, HashedCategories) for known in self.categories.values())
        if isinstance(X, np.ndarray) and X.dtype.kind in "biuf" and not hashed:  # an array of numbers holds codes
            return X if X.dtype.kind == "f" else X.astype(np.float64)
        out = np.zeros((len(X), self.n_given), order="F")  # columns that are not in use take no memory
        for f in used:
            out[:, f] = numbers(self._column(X, f), self.name(f), self.categories.get(f), self.notations.get(f))
        return out

    def _values(self, X: Any, f: int) -> Array:
        return np.asarray(self._column(X, f))

    def _column(self, X: Any, f: int) -> Any:
        if not is_frame(X):
            return X[:, f]
        names = names_of(X)
        if self.names is not None and self.names[f] not in names:
            raise absent(self.names[f], names, user="the model uses")
        return X[names[f] if self.names is None else self.names[f]]

    def _with_gaps(self, f: int, given: Array, X: Any) -> Array:
        """The rows, each kind of missing value of a column written as the model takes it."""
        rows = np.flatnonzero(np.isnan(given[:, f]))
        values = self._values(X, f)[rows]
        kinds = kinds_of(values) if values.dtype == object else np.zeros(len(rows), dtype=np.intp)
        codes = np.array([np.inf if code is None else code for code in self.gaps[f]])[kinds]
        if np.isinf(codes).any():
            first = np.flatnonzero(np.isinf(codes))[0]
            raise MismatchedDataError(
                f"column {self.name(f)!r} holds {values[first]!r} in row {rows[first]}, and the model has no route for "
                f"this kind of missing value; write {self._gap_to_write(f)!r} there, or leave the row out."
            )
        if np.isnan(codes).all():
            return given
        given = given.astype(np.float64)
        given[rows, f] = codes
        return given

    def _gap_to_write(self, f: int) -> Any:
        return next(value for value, code in zip(missing_values(), self.gaps[f], strict=True) if code is not None)

    def _check(self, f: int, values: Floats, X: Any) -> None:
        missing = np.isnan(values)
        if f in self.required and missing.any():
            raise MismatchedDataError(
                f"column {self.name(f)!r} has a missing value in row {np.flatnonzero(missing)[0]} (NaN), but the model "
                "has no route for missing values there; fill it or leave the row out."
            )
        unseen = ~missing & ~np.isin(values, self.closed.get(f, values))
        if unseen.any():
            row = int(np.flatnonzero(unseen)[0])
            value = self._values(X, f)[row] if values[row] == UNSEEN else values[row]
            raise MismatchedDataError(
                f"column {self.name(f)!r} holds {value!r} in row {row}, which the model never saw and refuses; "
                'let its encoder ignore unknown categories (handle_unknown="ignore"), or leave the row out.'
            )
