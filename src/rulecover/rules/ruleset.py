"""What a rule is: clauses on features, what is known of it from data, and which rows it covers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import pandas as pd
import scipy.sparse

from rulecover.data.categories import Categories, CategorySet
from rulecover.data.columns import Columns, Levels, Whole, by_columns, values_of
from rulecover.data.frames import check_kind, column, is_frame, is_unnamed, names_of
from rulecover.exceptions import MismatchedDataError, RuleTextError
from rulecover.rules.clauses import Clauses
from rulecover.rules.comparisons import Bits
from rulecover.rules.evidence import Evidence
from rulecover.rules.rule import Clause, Rule
from rulecover.show.notebook import notebook_table
from rulecover.show.printed import Printed
from rulecover.show.short_bounds import short_bounds
from rulecover.typing import Array, Bools, Floats, Ints

if TYPE_CHECKING:
    from rulecover.show.grid import Grid, Groups


#: Beyond this, not every whole number is a double.
_LARGEST_WHOLE = 2.0**53


@dataclass(frozen=True, eq=False)
class RuleSet(Printed):
    """Rules as values: the clauses of all rules end to end, and what is known of them.

    Parameters
    ----------
    clauses
        The clauses; at most one interval and one set of categories per rule and column.
    columns
        What their columns are called, and what is in them.
    paths
        The comparisons of each rule as its tree makes them, root first, repeated features and all, if the rules came
        from trees.
    shown
        The clauses as they are printed: bounds as short as they can be without changing any training row's prediction
        (in a column of whole numbers: without changing sides for any whole number), and missing values only where the
        training rows had some in that column.
    evidence
        Classes, class sums and costs, once the rules were evaluated on data.

    Examples
    --------
    >>> rules = RuleSet.of_intervals([{0: (30, np.inf)}, {0: (-np.inf, 30), 1: (5, 9)}], ["age", "size"])
    >>> len(rules), str(rules[1])
    (2, 'if age <= 30 and 5 < size <= 9')
    >>> rules.apply(np.array([[31.0, 0.0], [30.0, 6.0]])).toarray()
    array([[ True, False],
           [False,  True]])
    """

    clauses: Clauses
    columns: Columns
    paths: Clauses | None = None
    shown: Clauses | None = None
    evidence: Evidence | None = None

    @classmethod
    def of_intervals(cls, rules: Sequence[dict[int, tuple[float, float]]], feature_names: Sequence[str]) -> RuleSet:
        """Rules made by hand, each a dictionary from a column's number to ``(lower, upper)``.

        Parameters
        ----------
        rules
            For each rule its bounds: a row is covered if ``lower < value <= upper`` in every column that is named.
        feature_names
            A name for each column of the data.

        Returns
        -------
        RuleSet
            Without evidence.

        Raises
        ------
        ValueError
            If there is no such column, or an interval is empty.
        """
        for f, (low, high) in (item for rule in rules for item in sorted(rule.items())):
            if not 0 <= f < len(feature_names):
                raise ValueError(f"there is no column {f}: there are {len(feature_names)} columns, numbered from 0.")
            if not low < high:
                raise ValueError(f"the interval ({low}, {high}] of column {f} is empty; give lower < upper.")
        return cls(Clauses.of_intervals(rules), Columns(tuple(feature_names)))

    @classmethod
    def of_clauses(
        cls,
        rules: Sequence[Sequence[Clause]],
        feature_names: Sequence[str],
        *,
        categories: Categories | None = None,
        levels: Levels | None = None,
    ) -> RuleSet:
        """Rules made by hand, each a list of clauses, at most one interval and one set per column.

        Parameters
        ----------
        rules
            For each rule its clauses.
        feature_names
            A name for each column of the data.
        categories, levels
            As in `from_text`; categories by the column's number.

        Returns
        -------
        RuleSet
            Without evidence.
        """
        return cls(Clauses.of_rules(rules), Columns(tuple(feature_names), categories or {}, levels or {}))

    @classmethod
    def from_text(
        cls,
        texts: Iterable[str],
        feature_names: Sequence[str],
        *,
        categories: Mapping[str, Sequence[Any]] | None = None,
        levels: Levels | None = None,
    ) -> RuleSet:
        """Rules from text, one text per rule.

        A rule is ``always``, or clauses with ``and`` between them: ``age > 30``, ``1 <= size < 9``, ``size = 3``,
        ``colour in {red, blue}``, ``colour not in {red}``, ``colour ≠ red``, ``income is missing``. A missing value
        satisfies a clause only with ``or missing`` after it. The days of dates, columns such as ``hired (days since
        1970-01-01)``, may be compared with dates: ``hired >= 2020-06-26``, ``left < 2020-06-26 13:40``. Names that
        could be taken for something else, and labels with a comma, a brace or an ``and``, go into double quotes.

        Parameters
        ----------
        texts
            The rules. What `to_text` returns is read back as the same rules.
        feature_names
            A name for each column of the data.
        categories
            For columns of categories the labels, in the order of their codes. Other columns that are compared with
            words are columns of categories as well; their labels are those that occur in the rules.
        levels
            For 0/1 columns that stand for ``name = level``: the column's number, the name and the level.

        Returns
        -------
        RuleSet
            Without evidence.

        Raises
        ------
        RuleTextError
            With the position in the text.

        Examples
        --------
        >>> rules = RuleSet.from_text(["age >= 30 and (size <= 9 or missing)", "colour in {red}"],
        ...                           ["age", "size", "colour"])
        >>> print(rules)
        rule  if
           0  age >= 30 and (size <= 9 or missing)
           1  colour = red
        """
        from rulecover.rules.parsing import parse_rules

        rules, known = parse_rules(texts, feature_names, categories, levels)
        return cls.of_clauses(rules, feature_names, categories=known, levels=levels)

    @classmethod
    def from_frame(cls, frame: Any, feature_names: Sequence[str], **known: Any) -> RuleSet:
        """Rules from a data frame: texts in a column ``rule``, as in `to_frame`, or a line for each clause.

        Lines of clauses have the columns ``rule`` (equal for the clauses of one rule) and ``feature`` (a name), and
        any of ``lower``, ``upper`` and ``missing``; an empty cell means no bound.

        Parameters
        ----------
        frame
            A data frame of pandas, polars or Arrow.
        feature_names
            A name for each column of the data.
        **known
            ``categories`` and ``levels``, as in `from_text`.

        Returns
        -------
        RuleSet
            Without evidence.

        Raises
        ------
        RuleTextError
            If a column is missing or not known, or a text cannot be read; with the line of the frame.

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
            raise RuleTextError(f"a frame of rules needs a column 'rule', but this one has {', '.join(columns)}.")
        if "feature" not in columns:
            return cls.from_text(columns["rule"], feature_names, **known)
        return cls.of_clauses(clauses_of_lines(columns, feature_names), feature_names, **known)

    # Access -----------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.clauses)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """A name for each column."""
        return self.columns.names

    @property
    def n_features(self) -> int:
        return len(self.columns)

    @property
    def lengths(self) -> Ints:
        """The number of clauses of each rule."""
        return self.clauses.lengths

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
        """Some of the rules, in the order given.

        Parameters
        ----------
        rules
            Their numbers.

        Returns
        -------
        RuleSet
            With their evidence.
        """
        rules = np.asarray(rules, dtype=np.intp)
        return replace(
            self,
            clauses=self.clauses.take(rules),
            paths=None if self.paths is None else self.paths.take(rules),
            shown=None if self.shown is None else self.shown.take(rules),
            evidence=None if self.evidence is None else self.evidence.take(rules),
        )

    def join(self, other: RuleSet) -> RuleSet:
        """These rules followed by others on the same columns, without their evidence.

        Parameters
        ----------
        other
            Rules on the same columns.

        Returns
        -------
        RuleSet
            First these rules, then the others.
        """
        paths = None if self.paths is None or other.paths is None else self.paths.join(other.paths)
        return RuleSet(self.clauses.join(other.clauses), self.columns, paths)

    def keep_clauses(self, kept: Bools) -> RuleSet:
        """The same rules with some of their clauses only.

        Parameters
        ----------
        kept
            One boolean per clause, those of the first rule first.

        Returns
        -------
        RuleSet
            As many rules; one that loses all clauses covers every row.

        Examples
        --------
        >>> rules = RuleSet.of_intervals([{0: (1, 2), 1: (3, 4)}, {0: (5, 6)}], ["a", "b"])
        >>> [str(rule) for rule in rules.keep_clauses(np.array([False, True, True]))]
        ['if 3 < b <= 4', 'if 5 < a <= 6']
        """
        return RuleSet(self.clauses.keep(kept), self.columns)

    def in_codes_of(self, columns: Columns) -> RuleSet:
        """The same rules for data in which categories have other codes: their sets hold the same labels.

        Parameters
        ----------
        columns
            What the columns of these data are.

        Returns
        -------
        RuleSet
            A copy.
        """
        known = replace(self.columns, categories=columns.categories, zero_missing=columns.zero_missing)
        if not (self.columns.categories or columns.categories):
            return replace(self, columns=known)
        clauses = self.clauses
        sets = [self._set_in_codes(c, columns.categories) for c in range(len(clauses.feature))]
        new = np.array([each is not None and clauses.category[c] < 0 for c, each in enumerate(sets)], dtype=bool)
        lower, upper = np.where(new, -np.inf, clauses.lower), np.where(new, np.inf, clauses.upper)
        clauses = replace(clauses.with_sets(sets), lower=lower, upper=upper)
        return replace(self, clauses=clauses, columns=known, paths=None)

    def _set_in_codes(self, c: int, categories: Categories) -> CategorySet | None:
        """The set of a clause in other codes; where numbers are compared with numbered categories, a set of these."""
        f, held = int(self.clauses.feature[c]), self.clauses.set_of(c)
        mine, theirs, name = self.columns.categories.get(f), categories.get(f, ()), self.columns.names[f]
        if held is not None:
            return held if not (mine or theirs) else held.recoded(mine, theirs, name)
        lower, upper = float(self.clauses.lower[c]), float(self.clauses.upper[c])
        if mine or not theirs or not (np.isfinite(lower) or np.isfinite(upper)):
            return None
        return CategorySet.between(lower, upper, theirs, name)

    def on_columns(self, names: tuple[str, ...], place: Ints) -> RuleSet:
        """The same rules on other data with these columns, where column f is column ``place[f]``.

        Parameters
        ----------
        names
            The names of the columns of these data.
        place
            For each column of the rules its number there.

        Returns
        -------
        RuleSet
            A copy.
        """
        return replace(
            self,
            clauses=self.clauses.on_columns(place),
            columns=self.columns.named(names, place),
            paths=None if self.paths is None else self.paths.on_columns(place),
            shown=None if self.shown is None else self.shown.on_columns(place),
        )

    def with_evidence(self, evidence: Evidence) -> RuleSet:
        """The same rules with this evidence.

        Parameters
        ----------
        evidence
            What is known of each rule: class counts, or sums of numbers.

        Returns
        -------
        RuleSet
            A copy.
        """
        return replace(self, evidence=evidence)

    def _rule(self, j: int) -> Rule:
        owned = range(self.clauses.offset[j], self.clauses.offset[j + 1])
        clauses = tuple(self._clause(c) for c in owned)
        if self.evidence is None:
            return Rule(clauses)
        return Rule(clauses, **self.evidence.facts(j))

    def _clause(self, c: int) -> Clause:
        meant, shown = self.clauses, self.clauses if self.shown is None else self.shown
        f = int(meant.feature[c])
        name, level = self.columns.levels.get(f, (self.columns.names[f], None))
        return Clause(
            f,
            name,
            float(shown.lower[c]),
            float(shown.upper[c]),
            bool(shown.missing[c]),
            meant.set_of(c),
            level,
            self.columns.categories.get(f, ()),
            zero=bool(meant.missing[c]) if f in self.columns.zero_missing else None,
            whole=self.columns.whole.get(f),
            frequent=self.columns.frequent.get(f, 0),
            date=self.columns.dated.get(f),
        )

    def __eq__(self, other: object) -> bool:
        """Whether both hold the same clauses in the same order under the same names."""
        if not isinstance(other, RuleSet):
            return NotImplemented
        return self.feature_names == other.feature_names and self.clauses == other.clauses

    __hash__ = None  # type: ignore[assignment]  # equal by value, and values hold arrays

    # Matching rows ----------------------------------------------------------------------------------------------

    def apply(self, X: Any) -> scipy.sparse.csr_array:
        """Which rule covers which row, as a boolean sparse matrix of rows x rules.

        Parameters
        ----------
        X
            Rows x columns: an array, a sparse matrix or a data frame.

        Returns
        -------
        scipy.sparse.csr_array
            Booleans.

        Raises
        ------
        MismatchedDataError
            If X does not have the columns that the rules use.
        """
        X = self.check_columns(X)
        row, rule = self.hits(X)
        index = np.int32 if max(X.shape[0], len(self), len(row)) <= np.iinfo(np.int32).max else np.int64
        places = row.astype(index), rule.astype(index)  # scikit-learn's own models do not take 64-bit indices
        return scipy.sparse.csr_array((np.ones(len(row), dtype=bool), places), shape=(X.shape[0], len(self)))

    def covered_chunks(self, X: Any) -> Iterator[tuple[int, Bools]]:
        """For each chunk of rows: where it starts, and which rule (first axis) covers which of its rows.

        Parameters
        ----------
        X
            Rows x columns, an array or a sparse matrix with the columns of the rules.

        Returns
        -------
        iterator
            Pairs of a row's number and booleans, rules x rows of the chunk.
        """
        return self.clauses.covered_chunks(X, self.columns.zero_missing)

    def bits_of_chunks(self, X: Any) -> Iterator[tuple[range, Bits]]:
        """The same as `covered_chunks` with one bit for each row, eight to a byte, and the rows of the chunk.

        Parameters
        ----------
        X
            As in `covered_chunks`.

        Returns
        -------
        iterator
            Pairs of the rows of a chunk, a range, and the bits, rules x bytes.
        """
        return self.clauses.bits_of_chunks(X, self.columns.zero_missing)

    def hits(self, X: Any) -> tuple[Ints, Ints]:
        """All pairs (row, rule) where the rule covers the row.

        Parameters
        ----------
        X
            As in `covered_chunks`.

        Returns
        -------
        tuple of numpy.ndarray
            The numbers of the rows and those of the rules, of equal length.
        """
        return self.clauses.hits(X, self.columns.zero_missing)

    def accepted(self, X: Any, *, along_paths: bool = False) -> Floats:
        """The share of each rule's clauses that each row satisfies, rows x rules; 1 for a rule without clauses.

        With ``along_paths`` the unmerged comparisons of the tree are counted, repeated ones each time.

        Parameters
        ----------
        X
            Rows x columns, an array or a sparse matrix: numbers, and codes of categories.
        along_paths
            Whether to count the comparisons of the trees that rules come from.

        Returns
        -------
        numpy.ndarray
            Shares from 0 to 1.
        """
        counted = self.paths if along_paths and self.paths is not None else self.clauses
        return counted.accepted(X, self.columns.zero_missing)

    def check_columns(self, X: Any) -> Any:
        """X as an array or sparse matrix with the columns of the rules, in their order.

        A data frame is matched by name, in any order, and need not have the columns that no rule uses; labels of
        categories become codes.

        Parameters
        ----------
        X
            Rows x columns: an array, a sparse matrix or a data frame.

        Returns
        -------
        numpy.ndarray or scipy.sparse matrix
            Rows x columns.

        Raises
        ------
        MismatchedDataError
            If a column that rules use is not in the frame, or the number of columns differs.
        """
        if is_frame(X) and not is_unnamed(X):
            return self.columns.matrix(X, self.clauses.columns)
        X = X.tocsr() if scipy.sparse.issparse(X) else np.asarray(X)
        if X.ndim != 2 or X.shape[1] != self.n_features:
            raise MismatchedDataError(
                f"X has shape {X.shape}, but the rules need {self.n_features} columns; give rows x columns."
            )
        check_kind(X.dtype, "X")
        return X

    # Views ------------------------------------------------------------------------------------------------------

    def shown_for(self, X: Any) -> RuleSet:
        """The same rules with printed bounds that are as short as they can be for these training rows.

        Where the rows hold nothing but whole numbers, a printed bound means the same for every whole number, so for
        new rows too.

        Parameters
        ----------
        X
            The training rows, an array or a sparse matrix.

        Returns
        -------
        RuleSet
            A copy that covers the same rows, and prints other bounds.
        """
        meant = self.clauses
        lower, upper, missing = meant.lower.copy(), meant.upper.copy(), meant.missing.copy()
        whole: Whole = {}
        X = by_columns(X)
        for f in meant.columns.tolist():
            mine = np.flatnonzero(meant.feature == f)
            bounds = np.concatenate([lower[mine], upper[mine]])
            known = np.unique(bounds[np.isfinite(bounds)])
            values = values_of(X, f)
            present = values[~np.isnan(values)] if np.isnan(values.sum()) else values
            missing[mine] &= len(present) < len(values)
            if not known.size:
                continue
            if f not in self.columns.levels and _are_whole(present):
                whole[f] = float(present.min()), float(present.max())
                short = np.floor(known) + 0.0  # the same condition for every whole number; never -0
            else:
                short = short_bounds(present, known)
            for ends in (lower, upper):
                finite = mine[np.isfinite(ends[mine])]
                ends[finite] = short[np.searchsorted(known, ends[finite])]
        shown = replace(meant, lower=lower, upper=upper, missing=missing)
        return replace(self, shown=shown, columns=replace(self.columns, whole=whole))

    def to_frame(self) -> pd.DataFrame:
        """One row per rule: its text, number of clauses and, once it was evaluated on data, what is known of it.

        The columns are ``rule, clauses, support, share, prediction, purity, lift``, one ``count_…`` for each class,
        ``impurity`` and ``cost``. Support and counts are sums of weights where samples were weighted; lift is the
        purity over the share of the predicted class in the data.

        Returns
        -------
        pandas.DataFrame
            In the order of the rules.
        """
        from rulecover.rules.grid import rule_frame

        return rule_frame(self)

    def to_text(self) -> list[str]:
        """The text of each rule with its full bounds, for `from_text` to read back.

        Returns
        -------
        list of str
            In the order of the rules.

        Examples
        --------
        >>> rules = RuleSet.of_intervals([{0: (30.5, np.inf)}], ["age"])
        >>> rules.to_text(), RuleSet.from_text(rules.to_text(), ["age"]) == rules
        (['age > 30.5'], True)
        """
        return [rule.exact for rule in replace(self, shown=None)]

    def to_csv(self) -> str:
        """The table of `to_frame` as CSV; cells that a spreadsheet would run as formulas begin with an apostrophe.

        Returns
        -------
        str
            With a header line.
        """
        from rulecover.show.spreadsheet import csv_text

        return csv_text(self.to_frame())

    def by_class(self) -> Groups:
        """The same rules grouped by the class they predict, with their numbers: print it, or see its `to_markdown`,
        `to_latex` and `sentences`.

        Returns
        -------
        Groups
            A table in parts, one per class.
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
        return f"<RuleSet: {len(self)} {'rule' if len(self) == 1 else 'rules'} on {self.n_features} columns>"

    def _repr_html_(self) -> str:
        if self.evidence is None:
            return super()._repr_html_()
        return notebook_table(self.evidence.view.report(self, ()))


def _are_whole(values: Floats) -> bool:
    """Whether there are values, all of them whole numbers; most columns of fractions are known by their first ones."""
    if not len(values) or not (values[:100] == np.floor(values[:100])).all():
        return False
    return bool((values == np.floor(values)).all() and np.abs(values).max() < _LARGEST_WHOLE)
