"""What a rule is: clauses on features, what it met in the data, and which rows it covers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import scipy.sparse

from rulecover.data.categories import Categories, CategorySet
from rulecover.data.frames import check_kind, column, is_frame, matrix, names_of
from rulecover.exceptions import MismatchedDataError, RuleTextError
from rulecover.rules.matching import Matcher
from rulecover.rules.rule import Clause, Rule
from rulecover.show.printed import Printed
from rulecover.show.short_bounds import short_bounds
from rulecover.targets.evidence import Evidence
from rulecover.typing import Array, Bools, Floats, Ints

if TYPE_CHECKING:
    import pandas as pd

    from rulecover.show.grid import Grid, Groups


@dataclass(frozen=True, eq=False)
class Paths:
    """The comparisons of each rule as its tree makes them, root first, repeated features and all.

    Rule j owns ``offset[j]:offset[j + 1]``; it goes above the bound (``x > bound``) or not (``x <= bound``). Where
    `category` is not -1, above means ``x not in category_sets[category]``.
    """

    offset: Ints
    feature: Ints
    bound: Floats
    above: Bools
    missing: Bools
    category: Ints
    category_sets: tuple[Floats, ...] = ()
    zero_missing: tuple[int, ...] = ()

    @cached_property
    def matcher(self) -> Matcher:
        """The same comparisons as one-sided clauses, to be counted one by one."""
        lower, upper = np.where(self.above, self.bound, -np.inf), np.where(self.above, np.inf, self.bound)
        category = np.where(self.category < 0, -1, 2 * self.category + self.above)
        sets = tuple(CategorySet(tuple(s.tolist()), others) for s in self.category_sets for others in (False, True))
        return Matcher(self.offset, self.feature, lower, upper, self.missing, category, sets, self.zero_missing)

    def take(self, rules: Ints) -> Paths:
        offset, kept = _ranges(self.offset, rules)
        return replace(
            self,
            offset=offset,
            feature=self.feature[kept],
            bound=self.bound[kept],
            above=self.above[kept],
            missing=self.missing[kept],
            category=self.category[kept],
        )


def _ranges(offset: Ints, rules: Ints) -> tuple[Ints, Ints]:
    """New offsets, and the old places of everything that the chosen rules own, in their order."""
    lengths = (offset[1:] - offset[:-1])[rules]
    new = np.concatenate([[0], np.cumsum(lengths)]).astype(np.intp)
    kept = np.arange(new[-1]) + np.repeat(offset[rules] - new[:-1], lengths)
    return new, kept.astype(np.intp)


@dataclass(frozen=True, eq=False)
class RuleSet(Printed):
    """Rules as values: the clauses of all rules end to end, in arrays.

    Rule j owns the clauses ``offset[j]:offset[j + 1]``. A clause means one thing everywhere:
    ``lower < x[feature] <= upper``, or, where `category` is not -1, ``x[feature] in category_sets[category]``; a
    missing value satisfies it where `missing` says so. A rule has at most one interval and one set a feature.

    Parameters
    ----------
    offset, feature, lower, upper
        The clauses.
    missing
        Whether NaN satisfies the clause.
    category, category_sets
        For each clause the place of its set of category codes, -1 for an interval; the sets, which may also be "all
        but these".
    categories
        For a column of category codes: its number and the category behind each code, from 0.
    zero_missing
        The columns in which 0 counts as missing.
    feature_names
        A name for each column.
    levels
        For a 0/1 column that stands for ``name = level``: its number, the name and the level.
    paths
        The unmerged comparisons that the rules came from, if they came from trees.
    evidence
        Classes, class sums and costs, once the rules have met data.
    shown_lower, shown_upper, shown_missing
        For print: bounds as short as they can be without changing any training row's answer, and whether a missing
        value is worth a word, since the training rows had some in that column.

    Examples
    --------
    >>> rules = RuleSet.of_intervals([{0: (30, np.inf)}, {0: (-np.inf, 30), 1: (5, 9)}], ["age", "size"])
    >>> len(rules), str(rules[1])
    (2, 'if age <= 30 and 5 < size <= 9')
    >>> rules.apply(np.array([[31.0, 0.0], [30.0, 6.0]])).toarray()
    array([[ True, False],
           [False,  True]])
    """

    offset: Ints
    feature: Ints
    lower: Floats
    upper: Floats
    missing: Bools
    category: Ints
    feature_names: tuple[str, ...]
    category_sets: tuple[CategorySet, ...] = ()
    levels: dict[int, tuple[str, str]] = field(default_factory=dict)
    paths: Paths | None = None
    evidence: Evidence | None = None
    shown_lower: Floats | None = None
    shown_upper: Floats | None = None
    shown_missing: Bools | None = None
    categories: Categories = field(default_factory=dict)
    zero_missing: tuple[int, ...] = ()

    @classmethod
    def of_intervals(cls, rules: Sequence[dict[int, tuple[float, float]]], feature_names: Sequence[str]) -> RuleSet:
        """Rules made by hand, each a dictionary from a column's number to ``(lower, upper)``."""
        clauses = [(f, *interval) for rule in rules for f, interval in sorted(rule.items())]
        for f, low, high in clauses:
            if not 0 <= f < len(feature_names):
                raise ValueError(f"there is no column {f}: {len(feature_names)} columns are named, from 0.")
            if not low < high:
                raise ValueError(f"the interval ({low}, {high}] of column {f} holds no value; give lower < upper.")
        feature, lower, upper = zip(*clauses, strict=True) if clauses else ((), (), ())
        return cls(
            offset=np.cumsum([0, *map(len, rules)]).astype(np.intp),
            feature=np.array(feature, dtype=np.intp),
            lower=np.array(lower, dtype=np.float64),
            upper=np.array(upper, dtype=np.float64),
            missing=np.zeros(len(clauses), dtype=bool),
            category=np.full(len(clauses), -1, dtype=np.intp),
            feature_names=tuple(feature_names),
        )

    @classmethod
    def of_clauses(
        cls,
        rules: Sequence[Sequence[Clause]],
        feature_names: Sequence[str],
        *,
        categories: Categories | None = None,
        levels: dict[int, tuple[str, str]] | None = None,
    ) -> RuleSet:
        """Rules made by hand, each a list of clauses, one interval and one set a column at most."""
        clauses = [clause for rule in rules for clause in rule]
        sets = list(dict.fromkeys(clause.categories for clause in clauses if clause.categories is not None))
        place: dict[CategorySet | None, int] = {None: -1}
        place.update((each, k) for k, each in enumerate(sets))
        return cls(
            offset=np.cumsum([0, *map(len, rules)]).astype(np.intp),
            feature=np.array([clause.feature for clause in clauses], dtype=np.intp),
            lower=np.array([clause.lower for clause in clauses], dtype=np.float64),
            upper=np.array([clause.upper for clause in clauses], dtype=np.float64),
            missing=np.array([clause.missing for clause in clauses], dtype=bool),
            category=np.array([place[clause.categories] for clause in clauses], dtype=np.intp),
            feature_names=tuple(feature_names),
            category_sets=tuple(sets),
            categories=categories or {},
            levels=levels or {},
        )

    @classmethod
    def from_text(
        cls,
        texts: Iterable[str],
        feature_names: Sequence[str],
        *,
        categories: Mapping[str, Sequence[Any]] | None = None,
        levels: dict[int, tuple[str, str]] | None = None,
    ) -> RuleSet:
        """Rules written as people write them, one text a rule.

        A rule is ``always``, or conditions with ``and`` between them: ``age > 30``, ``1 <= size < 9``, ``size = 3``,
        ``colour in {red, blue}``, ``colour not in {red}``, ``colour ≠ red``, ``income is missing``. A missing value
        satisfies a condition only with ``or missing`` behind it. Names that could be taken for something else, and
        labels with a comma, a brace or an ``and``, go into double quotes.

        Parameters
        ----------
        texts
            The rules. What `to_text` returns is read back as the same rules.
        feature_names
            A name for each column of the data.
        categories
            For columns of categories the labels, in the order of their codes. Other columns that are compared with
            words are columns of categories as well; their labels are those that the rules name.
        levels
            For 0/1 columns that stand for ``name = level``: the column's number, the name and the level.

        Raises
        ------
        RuleTextError
            With the place in the text.

        Examples
        --------
        >>> rules = RuleSet.from_text(["age >= 30 and (size <= 9 or missing)", "colour in {red}"],
        ...                           ["age", "size", "colour"])
        >>> print(rules)
        rule  if
           0  age >= 30 and (size <= 9 or missing)
           1  colour in {red}
        """
        from rulecover.rules.parsing import parse_rules

        rules, known = parse_rules(texts, feature_names, categories, levels)
        return cls.of_clauses(rules, feature_names, categories=known, levels=levels)

    @classmethod
    def from_frame(cls, frame: Any, feature_names: Sequence[str], **known: Any) -> RuleSet:
        """Rules from a data frame: texts in a column ``rule``, as `to_frame` has it, or a line for each clause.

        Lines of clauses have the columns ``rule`` (equal for the clauses of one rule) and ``feature`` (a name), and
        any of ``lower``, ``upper`` and ``missing``; an empty cell sets no bound.

        Parameters
        ----------
        frame
            Of pandas, polars or Arrow.
        feature_names
            A name for each column of the data.
        **known
            ``categories`` and ``levels``, as of `from_text`.

        Examples
        --------
        >>> import pandas as pd
        >>> lines = pd.DataFrame({"rule": ["a", "a", "b"], "feature": ["age", "size", "age"],
        ...                       "lower": [30, None, None], "upper": [None, 9, 30]})
        >>> print(RuleSet.from_frame(lines, ["age", "size"]))
        rule  if
           0  age > 30 and size <= 9
           1  age <= 30
        """
        from rulecover.rules.parsing import clauses_of_lines

        columns = {str(name): column(frame, name).tolist() for name in names_of(frame)}
        if "rule" not in columns:
            raise RuleTextError(f"a frame of rules has a column 'rule', but this one has {', '.join(columns)}.")
        if "feature" not in columns:
            return cls.from_text(columns["rule"], feature_names, **known)
        return cls.of_clauses(clauses_of_lines(columns, feature_names), feature_names, **known)

    # Access -----------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.offset) - 1

    @property
    def n_features(self) -> int:
        return len(self.feature_names)

    @property
    def lengths(self) -> Ints:
        """The number of clauses of each rule."""
        return np.diff(self.offset)

    def __iter__(self) -> Iterator[Rule]:
        return (self[j] for j in range(len(self)))

    @overload
    def __getitem__(self, which: int) -> Rule: ...
    @overload
    def __getitem__(self, which: slice | Array | list[int]) -> RuleSet: ...
    def __getitem__(self, which: int | slice | Array | list[int]) -> Rule | RuleSet:
        if isinstance(which, (int, np.integer)):
            if not -len(self) <= which < len(self):
                raise IndexError(f"there is no rule {which}: the set has {len(self)} rules, numbered from 0")
            return self._rule(int(which) % len(self))
        return self.take(np.arange(len(self))[which])

    def take(self, rules: Ints) -> RuleSet:
        """Some of the rules, in the order given."""
        rules = np.asarray(rules, dtype=np.intp)
        offset, kept = _ranges(self.offset, rules)
        return replace(
            self,
            offset=offset,
            feature=self.feature[kept],
            lower=self.lower[kept],
            upper=self.upper[kept],
            missing=self.missing[kept],
            category=self.category[kept],
            paths=None if self.paths is None else self.paths.take(rules),
            evidence=None if self.evidence is None else self.evidence.take(rules),
            shown_lower=None if self.shown_lower is None else self.shown_lower[kept],
            shown_upper=None if self.shown_upper is None else self.shown_upper[kept],
            shown_missing=None if self.shown_missing is None else self.shown_missing[kept],
        )

    def with_evidence(self, evidence: Evidence) -> RuleSet:
        """The same rules, knowing what they met in the data."""
        return replace(self, evidence=evidence)

    def _rule(self, j: int) -> Rule:
        clauses = tuple(self._clause(c) for c in range(self.offset[j], self.offset[j + 1]))
        if self.evidence is None:
            return Rule(clauses)
        return Rule(clauses, **self.evidence.facts(j))

    def _clause(self, c: int) -> Clause:
        f = int(self.feature[c])
        name, level = self.levels.get(f, (self.feature_names[f], None))
        lower = self.lower if self.shown_lower is None else self.shown_lower
        upper = self.upper if self.shown_upper is None else self.shown_upper
        missing = self.missing if self.shown_missing is None else self.shown_missing
        chosen = None if self.category[c] < 0 else self.category_sets[self.category[c]]
        known = self.categories.get(f, ())
        zero = bool(self.missing[c]) if f in self.zero_missing else None
        return Clause(f, name, float(lower[c]), float(upper[c]), bool(missing[c]), chosen, level, known, zero)

    def __eq__(self, other: object) -> bool:
        """Whether both hold the same clauses in the same order under the same names."""
        if not isinstance(other, RuleSet):
            return NotImplemented
        mine, theirs = self._identity(), other._identity()
        return self.feature_names == other.feature_names and all(
            np.array_equal(a, b) for a, b in zip(mine, theirs, strict=True)
        )

    __hash__ = None  # type: ignore[assignment]  # equal by value, and values hold arrays

    def _identity(self) -> tuple[Array, ...]:
        sets = np.empty(len(self.category), dtype=object)
        sets[:] = [None if k < 0 else self.category_sets[k] for k in self.category]
        return self.offset, self.feature, self.lower, self.upper, self.missing, sets

    # Meeting rows -----------------------------------------------------------------------------------------------

    @cached_property
    def matcher(self) -> Matcher:
        """The clauses, ready to be met by rows."""
        return Matcher(
            self.offset,
            self.feature,
            self.lower,
            self.upper,
            self.missing,
            self.category,
            self.category_sets,
            self.zero_missing,
        )

    def apply(self, X: Any) -> scipy.sparse.csr_array:
        """Which rule covers which row, as a boolean sparse matrix of rows x rules."""
        X = self.check_columns(X)
        row, rule = self.matcher.hits(X)
        index = np.int32 if max(X.shape[0], len(self), len(row)) <= np.iinfo(np.int32).max else np.int64
        places = row.astype(index), rule.astype(index)  # scikit-learn's own models take no 64-bit indices
        return scipy.sparse.csr_array((np.ones(len(row), dtype=bool), places), shape=(X.shape[0], len(self)))

    def accepted(self, X: Any, *, along_paths: bool = False) -> Floats:
        """The share of each rule's clauses that each row satisfies, rows x rules; 1 for a rule without clauses.

        With ``along_paths`` the unmerged comparisons of the tree are counted, repeated ones each time.
        """
        if not along_paths or self.paths is None:
            return self.matcher.accepted(X)
        return self.paths.matcher.accepted(X)

    def check_columns(self, X: Any) -> Any:
        """X as an array or sparse matrix with the columns that the rules speak of, in their order.

        A data frame is matched by name, in whatever order, and need not have the columns that no rule uses; labels of
        categories become codes.
        """
        if is_frame(X) and not _unnamed(X):
            return matrix(X, self.feature_names, self.matcher.columns, self.categories)
        X = X.tocsr() if scipy.sparse.issparse(X) else np.asarray(X)
        if X.ndim != 2 or X.shape[1] != self.n_features:
            raise MismatchedDataError(
                f"X has shape {X.shape}, but the rules speak of {self.n_features} columns; give rows x columns."
            )
        check_kind(X, "X")
        return X

    # For people -------------------------------------------------------------------------------------------------

    def shown_for(self, X: Any) -> RuleSet:
        """The same rules with bounds for print that are as short as they can be for these training rows."""
        shown_lower, shown_upper, shown_missing = self.lower.copy(), self.upper.copy(), self.missing.copy()
        for f in np.unique(self.feature):
            mine = np.flatnonzero(self.feature == f)
            bounds = np.concatenate([self.lower[mine], self.upper[mine]])
            known = np.unique(bounds[np.isfinite(bounds)])
            values = _column(X, int(f))
            present = values[~np.isnan(values)] if np.isnan(values.sum()) else values
            shown_missing[mine] &= len(present) < len(values)
            if not known.size:
                continue
            short = short_bounds(present, known)
            for shown in (shown_lower, shown_upper):
                finite = mine[np.isfinite(shown[mine])]
                shown[finite] = short[np.searchsorted(known, shown[finite])]
        return replace(self, shown_lower=shown_lower, shown_upper=shown_upper, shown_missing=shown_missing)

    def to_frame(self) -> pd.DataFrame:
        """One row a rule: its text, number of clauses and, once it has met data, what it found there.

        The columns are ``rule, clauses, support, share, prediction, purity, lift``, one ``count_…`` for each class,
        ``impurity`` and ``cost``. Support and counts are sums of weights where samples were weighted; lift is the
        purity over the share of the predicted class in the data.
        """
        from rulecover.rules.frame import rule_frame

        return rule_frame(self)

    def to_text(self) -> list[str]:
        """The text of each rule with its full bounds, for `from_text` to read back.

        >>> rules = RuleSet.of_intervals([{0: (30.5, np.inf)}], ["age"])
        >>> rules.to_text(), RuleSet.from_text(rules.to_text(), ["age"]) == rules
        (['age > 30.5'], True)
        """
        return [rule.exact for rule in replace(self, shown_lower=None, shown_upper=None, shown_missing=None)]

    def to_csv(self) -> str:
        """What `to_frame` has as CSV; cells that a spreadsheet would run as formulas begin with an apostrophe."""
        from rulecover.show.spreadsheet import csv_text

        return csv_text(self.to_frame())

    def by_class(self) -> Groups:
        """The same rules under the class they speak for, with their numbers: print it, or see its `to_markdown`,
        `to_latex` and `sentences`.
        """
        from rulecover.rules.grid import by_class

        return by_class(self)

    def _grid(self) -> Grid:
        from rulecover.rules.grid import rule_grid

        return rule_grid(self)

    def _sentences(self) -> list[str]:
        from rulecover.rules.grid import sentences

        return sentences(self)

    def __repr__(self) -> str:
        return f"<RuleSet of {len(self)} rules on {self.n_features} features>"


def _unnamed(frame: Any) -> bool:
    """Whether the columns are merely numbered, as pandas does where no names are given."""
    return names_of(frame) == list(range(len(names_of(frame))))


def _column(X: Any, f: int) -> Floats:
    column = X[:, [f]].toarray().ravel() if scipy.sparse.issparse(X) else X[:, f]
    return np.ascontiguousarray(column, dtype=np.float64)
