"""What people should know of a table before they trust rules on it: each finding is one sentence with a way out.

Columns are numbers, as trees see them; a column of texts that became several 0/1 columns is one *source*.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from rulecover.show.text import percent, printable
from rulecover.typing import Array, Bools, Floats, Ints

#: In a smaller table anything can happen by chance.
FEWEST_ROWS = 20
#: How many rows say of most columns that they are not ids.
_GLANCE = 200

#: Numbers are taken for ids where this many pairs should be equal, were they drawn at random, and none is.
_EQUAL_PAIRS = 10

#: Columns by these names are ids where half of the values or more are different; by those they are times.
_IDS = re.compile(
    r"(^|[\s_.-])(id|ids|uuid|guid|key|index|idx|rownames|unnamed: \d+)$|[a-z](ID|Id|Number|Key)$|^ID$", re.A
)
_TIMES = re.compile(r"(^|[\s_.-])(year|date|day|days|time|month|week|hour|minute|second|seconds)($|[\s_.-])", re.I)

#: A column that predicts as well as this on its own, on rows that it was not fitted to, gives the answer away.
_GIVEN_AWAY = 0.99

#: It is tried on this many rows at most, and needs this many rows of each of two classes (or values of a column).
_TRIED, _FEWEST_OF_A_CLASS = 2000, 5

#: The largest number that trees of scikit-learn take.
_LARGEST = float(np.finfo(np.float32).max)

#: More than the rounding errors of a share.
_ROUNDING = 1e-9

#: A class is rare with a smaller share than this over the number of classes.
_RARE = 0.1

#: Two parts share rows where at least this share of the second is in both.
_SHARED = 0.02

#: The most columns that a sentence names.
_NAMED = 5


@dataclass(frozen=True)
class Advice:
    """Something that people should know of their data or their rules.

    Parameters
    ----------
    kind
        What it is about: "id", "given away", "constant", "duplicate", "shared rows", "unbalanced", "guessing" or
        "few rows".
    fact
        What was found.
    in_python, on_command_line
        The way out.
    columns
        The columns that it is about.

    Examples
    --------
    >>> print(Advice("constant", "column 'a' has one value", "leave it out", "--drop a").python)
    column 'a' has one value; leave it out.
    """

    kind: str
    fact: str
    in_python: str
    on_command_line: str
    columns: tuple[str, ...] = ()

    @property
    def python(self) -> str:
        """The sentence for Python."""
        return f"{self.fact}; {self.in_python}."

    @property
    def command_line(self) -> str:
        """The sentence for the command line."""
        return f"{self.fact}; {self.on_command_line}."


# Columns --------------------------------------------------------------------------------------------------------------


def looks_like_id(name: str, values: Any) -> bool:
    """Whether a column of numbers numbers the rows: whole numbers, all different, though chance would repeat some.

    By a name such as ``customer_id`` or ``EmployeeNumber`` a column is an id if half of its values or more differ.

    >>> numbers = np.arange(100)
    >>> looks_like_id("x", numbers), looks_like_id("x", numbers % 7), looks_like_id("year", numbers)
    (True, False, False)
    """
    first = np.asarray(values[:_GLANCE], dtype=np.float64)
    first = first[~np.isnan(first)]
    if not _are_whole(first) or (len(np.unique(first)) < len(first) and not _IDS.search(name)):
        return False  # a glance that spares most columns the rest
    known = np.asarray(values, dtype=np.float64)
    known = known[~np.isnan(known)]
    if len(known) < FEWEST_ROWS or _TIMES.search(name) or not _are_whole(known):
        return False
    different = len(np.unique(known))
    if _IDS.search(name):
        return 2 * different >= len(known)
    span = float(known.max() - known.min()) + 1.0
    return different == len(known) and len(known) ** 2 / (2.0 * span) >= _EQUAL_PAIRS


def _are_whole(numbers: Floats) -> bool:
    return bool(np.isfinite(numbers).all() and (numbers == np.round(numbers)).all())


def ids(X: Any, names: Sequence[str], among: Sequence[int] | None = None) -> list[Advice]:
    """Columns that number the rows."""
    found = [names[f] for f in _places(X, among) if looks_like_id(names[f], X[:, f])]
    return [
        Advice(
            "id",
            f"{_column(name)} looks like an id: rules on it name rows and will not hold for others",
            "leave it out of X",
            f"--drop {_typed(name)}",
            (name,),
        )
        for name in found
    ]


def constants(X: Any, names: Sequence[str]) -> list[Advice]:
    """Columns with one value; one sentence for all of them."""
    first = X[0]
    maybe = [f for f in range(X.shape[1]) if _equal(X[-1, f], first[f])]
    found = tuple(names[f] for f in maybe if _equal(X[:, f], first[f]).all())
    if not found:
        return []
    are = f"{_column(found[0])} has" if len(found) == 1 else f"columns {_listed(found)} have"
    it = "it" if len(found) == 1 else "them"
    return [Advice("constant", f"{are} the same value in every row", f"leave {it} out of X", _dropping(found), found)]


def duplicates(X: Any, names: Sequence[str], among: Sequence[int] | None = None) -> list[Advice]:
    """Columns that say the same as one before them; rules may use either, and seem to disagree.

    They are equal, or have two values each that go together, such as ``Sex`` and a code for it.
    """
    found, places = [], _places(X, among)
    some = X[np.unique(np.linspace(0, len(X) - 1, min(len(X), 16)).astype(int))]
    parts = cache(lambda f: hash(np.packbits(_parted(X[:, f])).tobytes()))
    for f in places:
        others = (g for g in np.flatnonzero(_may_say_the_same(some, f)).tolist() if g < f)
        alike = (g for g in others if parts(g) == parts(f) and _say_the_same(X[:, g], X[:, f]))
        twin = next(alike, None)
        if twin is not None and not _equal(X[:, f], X[0, f]).all():  # constants are another matter
            found.append((twin, f))
    return [_duplicate(X, names, one, other) for one, other in found[:_NAMED]]


def _duplicate(X: Any, names: Sequence[str], one: int, other: int) -> Advice:
    alike = "are equal" if _equal(X[:, one], X[:, other]).all() else "have two values each, which go together"
    return Advice(
        "duplicate",
        f"columns {_quoted(names[one])} and {_quoted(names[other])} {alike} in every row, so that rules may use either",
        "leave one of them out of X",
        f"--drop {_typed(names[other])}",
        (names[one], names[other]),
    )


def _parted(columns: Any) -> Any:
    """Which rows are equal to the first, column by column."""
    return _equal(columns, columns[:1])


def _may_say_the_same(some: Any, f: int) -> Bools:
    """Which columns say the same as column f, or have two values that go together, as far as a few rows show it."""
    parts = _parted(some)
    second = some[(~parts).argmax(axis=0), np.arange(some.shape[1])]
    two_valued = (parts | _equal(some, second)).all(axis=0)
    go_together = (parts == parts[:, [f]]).all(axis=0) & two_valued & two_valued[f]
    return np.asarray(_equal(some, some[:, [f]]).all(axis=0) | go_together)


def _say_the_same(one: Array, other: Array) -> bool:
    if _equal(one, other).all():
        return True
    parts = _parted(one)
    fewest = min(int(parts.sum()), int((~parts).sum()))
    return bool((parts == _parted(other)).all() and fewest >= _FEWEST_OF_A_CLASS and _two_valued(one, other, ~parts))


def _two_valued(one: Array, other: Array, rest: Array) -> bool:
    """Whether both columns have a single value in the rows that differ from the first."""
    return all(bool(_equal(each[rest], each[rest][0]).all()) for each in (one, other))


def _equal(a: Any, b: Any) -> Any:
    return (a == b) | ((a != a) & (b != b))  # noqa: PLR0124  # NaN alone differs from itself


def given_away(X: Any, y: Array, sources: Mapping[str, Sequence[int]], *, classes: bool) -> list[Advice]:
    """Columns that predict the target nearly perfectly on their own, by cross-validation on some of the rows.

    Parameters
    ----------
    X, y
        Rows x columns, and the target.
    sources
        For each column of the user's table the columns of X that were made of it.
    classes
        Whether the target is classes.
    """
    rows = np.arange(len(y)) if len(y) <= _TRIED else np.random.default_rng(0).choice(len(y), _TRIED, replace=False)
    some = np.asarray(y)[rows]
    if issparse(X) or len(rows) < FEWEST_ROWS or not _can_be_given_away(some, classes=classes):
        return []
    tried = np.clip(X[rows], -_LARGEST, _LARGEST)
    scores = {name: _alone(tried[:, list(made)], some, classes=classes) for name, made in sources.items()}
    what = "balanced accuracy" if classes else "R²"
    return [
        Advice(
            "given away",
            f"{_column(name)} alone predicts the target with a cross-validated {what} of {_rounded(score)}: if it is "
            "known only once the target is, the rules are of no use",
            "leave it out of X then",
            f"leave it out then: --drop {_typed(name)}",
            (name,),
        )
        for name, score in scores.items()
        if score >= _GIVEN_AWAY
    ]


def _rounded(score: float) -> str:
    return f"{np.floor(1000 * score + 1e-9) / 1000:.3f}"


def _can_be_given_away(y: Array, *, classes: bool) -> bool:
    if not classes:
        return len(np.unique(y)) > 2
    sizes = np.unique(y, return_counts=True)[1]
    return bool((sizes >= _FEWEST_OF_A_CLASS).sum() > 1)


def _alone(X: Floats, y: Array, *, classes: bool) -> float:
    """How well a tree predicts by these columns alone: on its own rows first, then on rows that it has not seen."""
    kind = DecisionTreeClassifier if classes else DecisionTreeRegressor
    tree = kind(min_samples_leaf=2, random_state=0)
    score = balanced_accuracy if classes else _r2
    if classes and X.shape[1] == 1 and _accuracy_at_most(X[:, 0], y) < _GIVEN_AWAY:
        return 0.0
    if score(y, tree.fit(X, y).predict(X)) < _GIVEN_AWAY:
        return 0.0
    folds = (StratifiedKFold if classes and np.unique(y, return_counts=True)[1].min() >= 3 else KFold)(
        3, shuffle=True, random_state=0
    )
    predicted = np.empty(len(y), dtype=np.asarray(y).dtype)
    for fit, held_out in folds.split(X, y):
        predicted[held_out] = clone(tree).fit(X[fit], y[fit]).predict(X[held_out])
    return score(y, predicted)


def _accuracy_at_most(x: Floats, y: Array) -> float:
    """The most that the balanced accuracy of a tree on its own rows can be, by one column and in leaves of two rows.

    In the order of the column, a leaf holds rows that follow each other. A row between two rows of other classes shares
    its leaf with one of them, so that one of the three is wrong. Of such rows every third is counted, lest an error
    counts twice.
    """
    values = np.asarray(x, dtype=np.float32)  # as trees compare them
    if np.isnan(values).any():  # a tree may send what is missing anywhere
        return 1.0
    _, codes, sizes = np.unique(np.asarray(y), return_inverse=True, return_counts=True)
    ordered = codes[np.argsort(values, kind="stable")]
    differs = np.diff(ordered) != 0
    between = differs[:-1] & differs[1:]
    errors = max(int(between[first::3].sum()) for first in range(3))
    return float(1.0 - errors / (len(sizes) * sizes.max()) + _ROUNDING)


def balanced_accuracy(truth: Array, predicted: Array) -> float:
    """The mean over the classes of the share of their rows that are predicted as such."""
    return float(np.mean([np.mean(predicted[truth == label] == label) for label in np.unique(truth)]))


def _r2(truth: Array, predicted: Array) -> float:
    return float(1.0 - np.square(truth - predicted).sum() / (np.square(truth - truth.mean()).sum() or 1.0))


# Rows and targets -----------------------------------------------------------------------------------------------------


def id_target(name: str, y: Array) -> list[Advice]:
    """A target that numbers the rows, so that there is nothing to predict."""
    if not looks_like_id(name, y):
        return []
    fact, way_out = f"the target {_quoted(name)} looks like an id, which rules cannot predict", "choose another column"
    return [Advice("id", fact, way_out, way_out)]


def unbalanced(y: Array) -> list[Advice]:
    """A class that is so rare that accuracy says little of it."""
    labels, sizes = np.unique(np.asarray(y), return_counts=True)
    if len(labels) < 2 or sizes.min() >= _RARE / len(labels) * len(y):
        return []
    rarest = sizes.argmin()
    share = float(sizes[rarest] / len(y))
    shown = f"{100 * share:.2g} %" if share >= 0.0001 else "<0.01 %"
    return [
        Advice(
            "unbalanced",
            f"only {sizes[rarest]:,} of {len(y):,} rows ({shown}) are of class {_quoted(str(labels[rarest]))}, so that "
            "accuracy says little of it: look at its recall and precision",
            "class_weight='balanced' makes every class count the same",
            "--class-weight balanced makes every class count the same",
        )
    ]


def shared_rows(train: Any, held_out: Any, y_train: Array, y_held_out: Array) -> list[Advice]:
    """Held-out rows that are among the training rows too, target included."""
    seen, new = _rows_as_bytes(train, y_train, y_held_out), _rows_as_bytes(held_out, y_held_out, y_train)
    both = np.isin(new, seen)
    share = float(both.mean())
    if share < _SHARED:
        return []
    return [
        Advice(
            "shared rows",
            f"{int(both.sum()):,} of {len(both):,} held-out rows ({percent(share)}) equal a training row in every "
            "column: if they are copies of one record, the figures are too good",
            "remove copies before splitting then (X.drop_duplicates() in pandas)",
            "remove copies from the table first then",
        )
    ]


def _rows_as_bytes(X: Any, y: Array, other: Array) -> Array:
    """Each row and its target as one value that is equal for equal rows."""
    labels = np.unique(np.concatenate([np.asarray(y), np.asarray(other)]))
    rows = np.column_stack([np.asarray(X, dtype=np.float64), np.searchsorted(labels, y)]) + 0.0  # without -0
    rows[np.isnan(rows)] = np.nan
    rows = np.ascontiguousarray(rows)
    return rows.view([("row", f"V{rows.shape[1] * 8}")])["row"].ravel()


# Rules ----------------------------------------------------------------------------------------------------------------


def few_rows(support: Floats) -> list[Advice]:
    """Rules that rest on one or two training rows."""
    weak: Ints = np.flatnonzero(np.asarray(support) <= 2)
    if not weak.size or not len(support):
        return []
    which = f"rule {weak[0]} rests" if len(weak) == 1 else f"{len(weak)} of {len(support)} rules rest"
    return [
        Advice(
            "few rows",
            f"{which} on one or two training rows, which may be chance",
            "train the trees with min_samples_leaf=5, or ask for fewer rules (max_rules)",
            "--max-rules asks for fewer rules, --depth for shallower trees",
        )
    ]


def guessing(scores: Mapping[str, tuple[float, float]], better: str) -> list[Advice]:
    """Rules that are not better than one answer for all rows, by any measure.

    Parameters
    ----------
    scores
        For each measure that of the rules, or the lower end of its interval, and that of guessing.
    better
        What they are not, in words, such as "better on the training rows".
    """
    if not scores or any(ours > naive for ours, naive in scores.values()):
        return []
    measures = " and ".join(scores)
    return [
        Advice(
            "guessing",
            f"by {measures} the rules are not {better} than one answer for all rows",
            "allow more rules, give other columns, or do without rules",
            "allow more rules (--max-rules), give other columns, or do without rules",
        )
    ]


# Words ----------------------------------------------------------------------------------------------------------------


def _places(X: Any, among: Sequence[int] | None) -> Sequence[int]:
    return range(X.shape[1]) if among is None else among


def _quoted(name: str) -> str:
    return f"'{printable(name)}'"


def _column(name: str) -> str:
    return f"column {_quoted(name)}"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(map(_quoted, names[:_NAMED])) + more


def _dropping(names: Sequence[str]) -> str:
    return "leave them out with --drop" if len(names) > _NAMED else " ".join(f"--drop {_typed(name)}" for name in names)


def _typed(name: str) -> str:
    """A name as it is typed into a shell."""
    return name if re.fullmatch(r"[\w.-]+", name, re.ASCII) else "'" + printable(name).replace("'", "'\\''") + "'"
