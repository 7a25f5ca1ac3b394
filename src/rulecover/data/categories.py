"""Sets of categories: what a clause or a split on a column of category codes lets pass."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Number
from typing import Any

import numpy as np

from rulecover.data.city_hash import category_hash
from rulecover.exceptions import MismatchedDataError
from rulecover.show.numbers import short_number
from rulecover.show.text import some_of
from rulecover.typing import Array, Bools, Floats, Ints

#: For a column of category codes, by its number: the category behind each code, from 0.
Categories = dict[int, Sequence[Any]]


@dataclass(frozen=True)
class CategorySet:
    """Some codes, or all values but some: ``x in codes``, with `others` ``x not in codes``.

    A value that is not a code of the set, such as a category that was never seen, is among the others; a missing
    value is in neither.

    Parameters
    ----------
    codes
        Distinct, in ascending order.
    others
        Whether the set holds all values but the codes.
    """

    codes: tuple[float, ...]
    others: bool = False

    def text(self, known: Sequence[Any] = ()) -> str:
        """The set in words, such as ``in {red, blue}``, ``= red`` or ``≠ red``.

        >>> CategorySet((0.0, 2.0)).text(), CategorySet((0.0, 2.0), others=True).text(["red", "green", "blue"])
        ('in {0, 2}', 'not in {red, blue}')
        >>> CategorySet((1.0,)).text(["red", "dark red"]), CategorySet((0.0,), others=True).text(["and", "or"])
        ('= dark red', '≠ "and"')
        """
        if len(self.codes) == 1 and has_name(self.codes[0], known):
            return f"{'≠' if self.others else '='} {_name_alone(known[int(self.codes[0])])}"
        return f"{'not in' if self.others else 'in'} {{{', '.join(self.names(known))}}}"

    def names(self, known: Sequence[Any] = ()) -> list[str]:
        """The category behind each code of the set, in quotes where it would not stand out; else the code."""
        return [category_name(code, known) for code in self.codes]

    def shortest(self, known: Sequence[Any]) -> CategorySet:
        """The set itself or, where that takes fewer codes, one that is equivalent for the known categories.

        For unknown categories the two may differ. Of two that name one category each, the one without "not" is chosen.

        >>> CategorySet((0.0, 2.0)).shortest(["red", "green", "blue"])
        CategorySet(codes=(1.0,), others=True)
        >>> CategorySet((0.0,), others=True).shortest(["no", "yes"])
        CategorySet(codes=(1.0,), others=False)
        """
        if isinstance(known, HashedCategories) and not known.texts:  # there may be more categories
            return self
        if not known or max(self.codes, default=0) >= len(known):
            return self
        rest = tuple(float(k) for k in range(len(known)) if k not in set(self.codes))
        plainer = self.others and len(rest) == len(self.codes) == 1
        return CategorySet(rest, not self.others) if 0 < len(rest) < len(self.codes) or plainer else self

    @classmethod
    def between(cls, lower: float, upper: float, known: Sequence[Any], column: str) -> CategorySet:
        """The categories of a column that are numbers or truth values in an interval.

        >>> CategorySet.between(0.5, np.inf, [False, True], "paid")
        CategorySet(codes=(1.0,), others=False)
        """
        if not all(isinstance(label, Number) for label in known):
            raise MismatchedDataError(
                f"a rule compares column {column!r} with numbers, but it holds categories: {some_of(known)}; write in "
                "{…}."
            )
        return cls(tuple(float(code) for code, label in enumerate(known) if lower < label <= upper))

    def recoded(self, known: Sequence[Any] | None, other: Sequence[Any], column: str) -> CategorySet:
        """The set of the same categories where these have other codes; codes without categories are numbers.

        >>> CategorySet((0.0,)).recoded(["green"], ["blue", "green"], "colour")
        CategorySet(codes=(1.0,), others=False)
        """
        labels = [code if known is None else known[int(code)] for code in self.codes]
        if isinstance(other, HashedCategories):
            codes = other.codes(np.array(labels, dtype=object))
        else:
            place = {label: float(code) for code, label in enumerate(other)}
            named = {plain_name(label): float(code) for code, label in enumerate(other)}
            codes = np.array([place.get(label, named.get(plain_name(label), -1.0)) for label in labels])
        for label, code in zip(labels, codes, strict=True):
            if not code >= 0:
                raise MismatchedDataError(
                    f"a rule names the category {label!r} of column {column!r}, which the model does not know; it "
                    f"knows {', '.join(map(repr, other)) or 'numbers there'}."
                )
        return CategorySet(tuple(sorted(map(float, codes))), self.others)

    def __and__(self, other: CategorySet) -> CategorySet:
        """The values in both sets."""
        mine, theirs = set(self.codes), set(other.codes)
        if self.others and other.others:
            return CategorySet(tuple(sorted(mine | theirs)), others=True)
        both = mine & theirs if self.others == other.others else (theirs - mine if self.others else mine - theirs)
        return CategorySet(tuple(sorted(both)))


@dataclass(frozen=True)
class HashedCategories(Sequence[Any]):
    """Categories of which a model holds only a number each, CatBoost's hash of the text, and not for all of them.

    Parameters
    ----------
    hashes
        The number of the category behind each code, from 0.
    texts
        The known texts, by hash.
    """

    hashes: tuple[int, ...]
    texts: tuple[tuple[int, str], ...] = ()

    def __len__(self) -> int:
        return len(self.hashes)

    def __getitem__(self, code: Any) -> Any:
        texts = dict(self.texts)
        if isinstance(code, slice):
            return tuple(texts.get(h, f"#{h}") for h in self.hashes[code])
        return texts.get(self.hashes[code], f"#{self.hashes[code]}")

    def codes(self, values: Array) -> Floats:
        """The code of each value, NaN for a missing one, -1 for one that the model never saw.

        >>> HashedCategories((511999110,)).codes(np.array(["r", "g", None], dtype=object))
        array([ 0., -1., nan])
        """
        place = {h: k for k, h in enumerate(self.hashes)}
        texts, which = _texts(values)
        known = [math.nan if text is None else place.get(category_hash(text), -1) for text in texts]
        return np.array(known, dtype=np.float64)[which]

    def named(self, values: Array) -> HashedCategories:
        """The same categories with their texts, followed by all others among the values."""
        texts = {category_hash(text): text for text in sorted(filter(None, _texts(values)[0]))}
        return HashedCategories(tuple(dict.fromkeys([*self.hashes, *texts])), tuple(texts.items()))


def _texts(values: Array) -> tuple[list[str | None], Ints]:
    """The different values as CatBoost spells them, `None` for a missing one; and the place of each value in them."""
    place: dict[str | None, int] = {}
    which = [place.setdefault(_text(value), len(place)) for value in values]
    return list(place), np.array(which, dtype=np.intp)


def _text(value: Any) -> str | None:
    if value is None or value != value:  # noqa: PLR0124  # NaN alone differs from itself
        return None
    return str(int(value) if isinstance(value, (float, np.floating)) and float(value).is_integer() else value)


def category_name(code: float, known: Sequence[Any] = ()) -> str:
    """The category behind a code, in quotes where it would not stand out from its neighbours; else the code."""
    if not has_name(code, known):
        return short_number(code)
    name = plain_name(known[int(code)])
    plain = bool(name) and name == name.strip() and not set(name) & set(",{}\"'")
    return name if plain else json.dumps(name, ensure_ascii=False)


def has_name(code: float, known: Sequence[Any]) -> bool:
    """Whether there is a category behind a code."""
    return bool(0 <= code < len(known) and float(code).is_integer())


#: What a category that stands alone, without braces, could be taken for.
_UNCLEAR = re.compile(r"[,{}\"'()]|(^|\s)(and|or)(\s|$)|^\s|\s$|^$|^[+-]?(\d|\.\d|inf)")


def _name_alone(category: Any) -> str:
    """A category in words, in quotes where it could be taken for something else."""
    unclear = isinstance(category, str) and _UNCLEAR.search(category)
    return json.dumps(category, ensure_ascii=False) if unclear else plain_name(category)


def plain_name(category: Any) -> str:
    """A category in words, without quotes."""
    return short_number(category) if isinstance(category, float) else str(category)


#: A table of all whole numbers up to the last code pays if it has at most this many for each value that is looked up,
#: or for each code and a few more.
_WORTH, _FEW = 8, 1000
#: No table is larger than this.
_PLACES = 2**24


def is_in(values: Array, codes: Array) -> Bools:
    """Which of the values are codes; the codes are sorted."""
    if not len(codes):
        return np.zeros(values.shape, dtype=bool)
    if codes[0] >= 0 and codes[-1] < min(_WORTH * len(values), _PLACES) and (whole := _as_whole(codes)) is not None:
        known = np.full(whole[-1] + 1, np.nan)
        known[whole] = codes
        return np.asarray(known.take(_truncated(values), mode="clip") == values)
    return np.asarray(codes.take(codes.searchsorted(values), mode="clip") == values)


def _as_whole(codes: Array) -> Ints | None:
    """Codes as whole numbers, if they are such."""
    whole = codes.astype(np.intp)
    return whole if (whole == codes).all() else None


def _truncated(values: Array) -> Ints:
    """Values without their fractions; arbitrary for NaN, infinities and numbers out of range."""
    with np.errstate(invalid="ignore"):
        return values.astype(np.intp)


@dataclass(frozen=True, eq=False)
class Lookup:
    """Many sets of codes at once: tells for each value whether it is in the set given for it."""

    codes: Floats
    members: Ints
    n_places: int

    @classmethod
    def of(cls, sets: Sequence[Floats]) -> Lookup:
        codes = np.unique(np.concatenate(sets)) if sets else np.zeros(0)
        width = len(codes) + 1  # the last place is that of values behind all codes
        members = [k * width + np.searchsorted(codes, each) for k, each in enumerate(sets)]
        return cls(codes, np.concatenate(members) if members else np.zeros(0, dtype=np.intp), len(sets) * width)

    def __call__(self, values: Floats, sets: Ints) -> Bools:
        """Whether each value is in the set of that number."""
        if not len(self.codes):
            return np.zeros(values.shape, dtype=bool)
        places = self._places
        place = self.codes.searchsorted(values) if places is None else places.take(_truncated(values), mode="clip")
        member = sets * (len(self.codes) + 1) + place
        known = self.codes.take(place, mode="clip") == values
        return np.asarray(known & (is_in(member, self.members) if self._table is None else self._table[member]))

    @cached_property
    def _places(self) -> Ints | None:
        """The place among the codes of each whole number, unless the codes are too sparse."""
        dense = self.codes[0] >= 0 and self.codes[-1] < _FEW + _WORTH * len(self.codes)
        whole = _as_whole(self.codes) if dense else None
        if whole is None:
            return None
        places = np.zeros(whole[-1] + 1, dtype=np.int32)
        places[whole] = np.arange(len(whole))
        return places

    @cached_property
    def _table(self) -> Bools | None:
        """For each set and place whether it is a member, if these are not too many."""
        if self.n_places > _PLACES:
            return None
        table = np.zeros(self.n_places, dtype=bool)
        table[self.members] = True
        return table


def intersections(sets: Sequence[CategorySet], of: Ints, starts: Ints) -> tuple[Ints, tuple[CategorySet, ...]]:
    """What is in all sets of a group, for many groups at once.

    Group g owns the sets ``sets[of[c]]`` for c from ``starts[g]`` to the next group's start.

    Returns
    -------
    which, distinct
        The number of each group's intersection, and the distinct intersections.
    """
    used, of = np.unique(of, return_inverse=True)
    codes = np.unique(np.concatenate([np.array(sets[k].codes, dtype=np.float64) for k in used]))
    member = np.zeros((len(used), len(codes) + 1), dtype=bool)  # the last column stands for every other value
    for row, k in zip(member, used, strict=True):
        row[np.searchsorted(codes, sets[k].codes)] = True
    member ^= np.array([[sets[k].others] for k in used])
    passed = np.bitwise_and.reduceat(np.packbits(member, axis=1)[of], starts, axis=0)
    packed, which = np.unique(passed, axis=0, return_inverse=True)
    holds = np.unpackbits(packed, axis=1, count=len(codes) + 1).astype(bool)
    distinct = tuple(CategorySet(tuple(codes[row[:-1] != row[-1]].tolist()), bool(row[-1])) for row in holds)
    return np.asarray(which).ravel(), distinct
