"""Covers of tables that stay where they are: sample, prove, repair."""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import pandas as pd
from sklearn.base import is_regressor
from sklearn.utils import check_random_state

from rulecover.clock import deadline_of, is_late
from rulecover.counting.certificate import TableCertificate
from rulecover.counting.certify import table_of
from rulecover.counting.groups import RowGroups
from rulecover.counting.script import check_columns, rules_alone
from rulecover.data.frames import as_spelled, is_frame
from rulecover.exceptions import CutShortWarning, MismatchedDataError
from rulecover.readers import read_trees
from rulecover.rules.ruleset import RuleSet
from rulecover.setcover import Status
from rulecover.targets.classes.evidence import ClassEvidence
from rulecover.typing import Floats
from rulecover.voting.voting_on import voting_on

if TYPE_CHECKING:
    from rulecover.counting.databases import DatabaseTable
    from rulecover.counting.frames import FrameTable
    from rulecover.estimators.mirco import MIRCOClassifier
    from rulecover.targets.impurity import Price

#: Missed rows that are fetched at a time, if the sample is smaller.
FEWEST_FETCHED = 1000

#: Seconds that a choice of rules has in any case.
_LEAST = 0.01

#: How many times as many rules there may be after another round.
MORE_RULES = 1.5

#: Options of covers that ask for something other than one rule for every row, each row counting once.
_OTHER_COVERS = ("demand", "max_rules", "class_weight")


@dataclass(frozen=True, eq=False)
class TableCover:
    """How the cover of a table was found, and what is proved of it.

    Parameters
    ----------
    certificate
        What was counted on all rows.
    cost
        Of the rules, their impurities being those of all rows.
    n_sampled, n_repaired
        The rows that were fetched to choose rules on: those of the sample, and those that its rules missed.
    n_dropped
        How many rules were left out in the end, since the others cover all rows at a lower cost.
    n_rounds
        How often rows were missed and fetched.
    status
        "time limit" where the time for a choice was up before it was done, or for repair before every row was covered.
    """

    certificate: TableCertificate
    cost: float
    n_sampled: int
    n_repaired: int
    n_dropped: int
    n_rounds: int
    status: Status = Status.FEASIBLE

    @property
    def n_uncovered(self) -> int:
        """How many rows are not covered by any rule, since the time for repair was up."""
        return int(self.certificate.n_missed.sum())

    def __str__(self) -> str:
        repairs = f" and {self.n_repaired:,} that its rules missed" if self.n_repaired else ""
        return (
            f"{self.certificate} The coverage, the counts, the cost ({self.cost:.4g}) and the votes are those of all "
            f"rows. The {len(self.certificate.rules)} rules were chosen on a sample of {self.n_sampled:,} rows"
            f"{repairs}; none of them is redundant on all rows, but no lower bound on the cost is proved."
            f"{self._cut}"
        )

    @property
    def _cut(self) -> str:
        """What time cut short, as a sentence after others."""
        if self.status != Status.TIME_LIMIT:
            return ""
        what = "the repair before every row was covered" if self.n_uncovered else "a choice of rules before it was done"
        return f" The time limit ended {what}."


def cover_table(
    model: Any,
    table: Any,
    *,
    target: str,
    sample: int | Any = 100_000,
    random_state: int | np.random.RandomState | None = 0,
    connection: Any = None,
    dialect: str | None = None,
    time_limit: float | None = None,
    **options: Any,
) -> MIRCOClassifier:
    """A cover of all rows of a table that stays where it is, chosen on a few of them.

    Rules are chosen on a sample (`MIRCOClassifier`) and counted on all rows by the library or database that the table
    belongs to. Rows that they miss are fetched, as many at a time as the sample has, and covered together with the
    sample, until no row is missed. The cheapest of all these rules that cover every row are kept, and none that is
    redundant. What the rules cover and how they vote is counted on all rows: only groups of rows that the same rules
    cover are fetched for that.

    Parameters
    ----------
    model
        A trained classifier that `rulecover.explain` takes.
    table, connection, dialect
        As in `rulecover.certify`.
    target
        The column with the true classes, all of them known.
    sample
        How many rows to draw, by the sampling of the engine; or a frame of rows to begin with.
    random_state
        The seed of the sample and of the choice, ``None`` for another one each time. Databases may draw other rows all
        the same.
    time_limit
        Seconds for everything, no limit by default. At most half of what is left once the sample is there is for the
        first choice of rules, which are counted on all rows at once; then rows that are missed are repaired as long as
        there is time. Rows that are still missed stay uncovered, and are predicted by the fallback; `table_cover_` and
        a `CutShortWarning` say how many they are. What cannot be cut is a query, and the fit of the votes to what was
        counted: another round, and another count, are not begun if they would end too late, judged by those before.
    **options
        Those of `MIRCOClassifier`, except `demand`, `max_rules` and `class_weight`. Rules are not pruned
        unless ``prune=True`` is given: clauses would be dropped by the few rows that were fetched, which makes fewer
        and shorter rules that are less accurate on all rows.

    Returns
    -------
    MIRCOClassifier
        Its ``table_cover_`` says what is proved on all rows; ``print`` it.

    Examples
    --------
    >>> import duckdb
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from rulecover import certify, cover_table
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(20, max_depth=4, random_state=0).fit(X, y)
    >>> table = duckdb.from_df(X.assign(species=y))
    >>> few = cover_table(forest, table, target="species", sample=50, solver="greedy", vote="counts")
    >>> certify(few, table).is_cover
    True
    """
    from rulecover.estimators.explain import explain

    begin = time.perf_counter()
    _check_options(options, time_limit)
    _check_classes(model)
    place = table_of(table, connection, dialect)
    wanted = _columns(model, place, target)
    clock = _Clock(time_limit, deadline_of(time_limit, begin=begin))
    first = clock.asked(lambda: _first_rows(place, wanted, sample, _seed(random_state)))
    settings: dict[str, Any] = {"prune": False, **options, "random_state": random_state}
    few = clock.chosen(lambda limit: explain(model, *_split(first, target), method="cover", **(settings | limit)))
    found = _Repair(few, place, target, at_most=max(len(first), FEWEST_FETCHED), clock=clock)
    few = found.covered(first)
    clock.warn_of_cuts(few.table_cover_)
    return few


@dataclass(eq=False)
class _Clock:
    """The time there is, and what it takes to ask for rows, to choose rules, and to finish a model of them.

    Parameters
    ----------
    time_limit, end
        The limit in seconds, and when time is up, by `time.perf_counter`.
    was_cut
        Whether a choice was cut short.
    """

    time_limit: float | None
    end: float | None
    asking: float = 0.0
    choosing: float = 0.0
    finishing: float = 0.0
    was_cut: bool = False

    def has_round(self, n_rules: int) -> bool:
        """Whether there is time to ask and to choose once more, and to finish a model of more rules than these."""
        return not is_late(self.end, seconds=self.asking + self.choosing + self._to_finish(MORE_RULES * n_rules))

    def can_finish(self, n_rules: int) -> bool:
        """Whether there is time, or a second more, to finish a model of this many rules."""
        return not is_late(self.end, seconds=self._to_finish(n_rules) - 1.0)

    def _to_finish(self, n_rules: float) -> float:
        """Rules twice as many overlap in four times as many ways, roughly."""
        return self.finishing * n_rules**2

    def asked(self, ask: Callable[[], pd.DataFrame]) -> pd.DataFrame:
        """What a query returns."""
        begin = time.perf_counter()
        found = ask()
        self.asking = time.perf_counter() - begin
        return found

    def finished(self, finish: Callable[[RuleSet], MIRCOClassifier], rules: RuleSet) -> MIRCOClassifier:
        """The model of these rules."""
        begin = time.perf_counter()
        few = finish(rules)
        self.finishing = (time.perf_counter() - begin) / len(rules) ** 2
        return few

    def chosen(self, choose: Callable[[dict[str, float]], MIRCOClassifier]) -> MIRCOClassifier:
        """A model that is fitted within half of the time that is left before the count at the end."""
        begin = time.perf_counter()
        if self.end is None:
            few = choose({})
        else:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                few = choose({"time_limit": max(_LEAST, (self.end - begin - self.asking) / 2)})
            for each in caught:
                if issubclass(each.category, CutShortWarning):  # of a part of the time, which nobody has set
                    self.was_cut = True
                else:
                    warnings.warn(each.message, stacklevel=3)
            few.set_params(time_limit=self.time_limit)
        self.choosing = time.perf_counter() - begin
        self.was_cut |= few.certificate_.status == Status.TIME_LIMIT
        return few

    def warn_of_cuts(self, cover: TableCover) -> None:
        """Says what there was no time for."""
        if self.time_limit is None or cover.status != Status.TIME_LIMIT:
            return
        parts = ["a choice of rules was cut short"] if self.was_cut else []
        if cover.n_uncovered:
            of = int(cover.certificate.n_rows.sum())
            parts.append(
                f"{cover.n_uncovered:,} of {of:,} rows are not covered, after {cover.n_rounds} rounds of repair"
            )
        said = f"time_limit is {self.time_limit:g} s: {' and '.join(parts)}"
        warnings.warn(f"{said}; give more time, or a larger sample.", CutShortWarning, stacklevel=3)


@dataclass(eq=False)
class _Repair:
    """A model fitted to a sample, whose rules are to cover all rows of a table."""

    few: MIRCOClassifier
    place: FrameTable | DatabaseTable
    target: str
    at_most: int
    clock: _Clock
    n_rounds: int = 0

    def covered(self, first: pd.DataFrame) -> MIRCOClassifier:
        """A model of rules that cover every row, or as many rows as there is time for."""
        rules = self.few.rules_
        before = None
        if self.clock.end is not None:  # if time is up, this is what there is
            before = self.clock.finished(lambda some: self.finished(some, first, len(first)), rules)
            if before.table_cover_.certificate.is_cover:
                return before
        more, fetched = self.repaired(rules, first)
        if before is not None and (len(more) == len(rules) or not self.clock.can_finish(len(more))):
            return before
        return self.finished(more, fetched, len(first))

    def repaired(self, rules: RuleSet, fetched: pd.DataFrame) -> tuple[RuleSet, pd.DataFrame]:
        """These rules and others, until every row is covered or time is up; and all rows that were fetched."""
        while self.clock.has_round(len(rules)):
            missed = self._missed(rules, list(fetched))
            if not len(missed):
                break
            fetched = pd.concat([fetched, missed], ignore_index=True)
            more = self._with_rules_for(rules, fetched)
            if len(more) == len(rules) and self.clock.was_cut and self.clock.end is not None:
                break  # the rules that these rows need may not have been read
            if len(more) == len(rules):
                raise MismatchedDataError(
                    f"{len(missed):,} rows or more are covered by no rule of the model, such as "
                    f"{missed.iloc[0].to_dict()}; give a model whose trees cover every row, and values as in training."
                )
            rules = more
            self.n_rounds += 1
        return rules, fetched

    def _missed(self, rules: RuleSet, columns: list[str]) -> pd.DataFrame:
        """Some of the rows that no rule covers."""
        return self.clock.asked(lambda: self.place.missed(rules_alone(rules), columns, self.at_most))

    def _with_rules_for(self, rules: RuleSet, fetched: pd.DataFrame) -> RuleSet:
        """The rules, and those of a cover of all rows that were fetched: the cheapest of both are chosen at the end."""
        from rulecover.estimators.mirco import frozen
        from rulecover.estimators.prepare import fresh
        from rulecover.pool import rule_pool

        X, y = _split(fetched, self.target)
        plain = fresh(self.few).set_params(estimator=frozen(self.few.estimator_))
        again = self.clock.chosen(lambda limit: plain.set_params(**limit).fit(X, y))
        samples = again._prepare(X, y, None).samples
        both = rules.join(again.rules_)
        return rule_pool(samples, both.take(both.clauses.first_of_equal()), again._price()).rules

    def finished(self, rules: RuleSet, fetched: pd.DataFrame, n_sampled: int) -> MIRCOClassifier:
        """The model of the rules that are not redundant, counted on all rows."""
        groups = self.place.groups(rules_alone(rules), self.target)
        classes = self.few.classes_
        sums = groups.class_sums(classes)
        met, n_rules = np.flatnonzero(sums.any(axis=1)), len(rules)  # a sample of other rows has rules of its own
        if not len(met):
            raise MismatchedDataError(
                "the rules chosen on the sample cover no row of the table; give rows of the table."
            )
        rules, groups, sums = rules.take(met), groups.take(met), sums[met]
        cost = _costs(rules, sums, self.few._price())
        kept = groups.needed(cost)
        few = _counted(self.few, rules.take(kept), groups.take(kept), sums[kept], cost[kept])
        certificate = groups.take(kept).certificate(few.rules_)
        in_time = certificate.is_cover and not self.clock.was_cut
        few.table_cover_ = TableCover(
            certificate,
            float(cost[kept].sum()),
            n_sampled=n_sampled,
            n_repaired=len(fetched) - n_sampled,
            n_dropped=n_rules - len(kept),
            n_rounds=self.n_rounds,
            status=Status.FEASIBLE if in_time else Status.TIME_LIMIT,
        )
        return few


def _counted(few: MIRCOClassifier, rules: RuleSet, groups: RowGroups, sums: Floats, cost: Floats) -> MIRCOClassifier:
    """The model of these rules, whose evidence and votes are those of all rows."""
    classes = few.classes_
    y = groups.places(classes)
    impurity = few._price().impurity(sums)
    totals = np.bincount(y, weights=groups.n_rows, minlength=len(classes)).astype(np.float64)
    seen = rules.with_evidence(ClassEvidence(sums, impurity, cost, totals, classes))
    vote, fit = few._vote_of(seen), voting_on(few._target).fitted.get(few.vote)
    if fit is not None:
        vote = fit(vote, groups.covered, y, groups.n_rows.astype(np.float64))
    other = copy.copy(few)
    other.vote_, other.rules_ = vote, vote.rules
    del other.certificate_, other.uncovered_  # they are of the rows that were fetched
    return other


def _costs(rules: RuleSet, sums: Floats, price: Price) -> Floats:
    cost = 1.0 + price.impurity_weight * price.impurity_of(sums)
    return np.asarray(cost + price.length_weight * rules.lengths)


# Rows that are fetched ------------------------------------------------------------------------------------------------


def _first_rows(place: FrameTable | DatabaseTable, columns: list[str], sample: Any, seed: int) -> pd.DataFrame:
    if isinstance(sample, (int, np.integer)) and not isinstance(sample, bool) and sample >= 1:
        drawn = place.sample(columns, int(sample), seed)
    elif not is_frame(sample):
        raise ValueError(f"sample is {sample!r}; give the number of rows to draw, at least 1, or a frame.")
    else:
        given = nw.from_native(sample, eager_only=True)
        check_columns(columns, given.columns)
        drawn = given.to_pandas()[columns]
    if not len(drawn):
        raise MismatchedDataError("no row was drawn: the table is empty, or the sample is; give more rows.")
    return drawn


def _seed(random_state: int | np.random.RandomState | None) -> int:
    """A whole number, which is all that libraries and databases take for a seed."""
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def _columns(model: Any, place: FrameTable | DatabaseTable, target: str) -> list[str]:
    """The columns that the model was trained on, or all of the table, and the target last."""
    others = [name for name in place.columns if name != target]
    trained = getattr(model, "feature_names_in_", None)
    names = others if trained is None else as_spelled([str(name) for name in trained], others)
    check_columns([*names, target], place.columns)
    return [*names, target]


def _split(rows: pd.DataFrame, target: str) -> tuple[pd.DataFrame, Any]:
    if rows[target].isna().any():
        raise MismatchedDataError(
            f"the target {target!r} is missing in some rows of the table; leave these rows out, by a filter or a view."
        )
    return rows.drop(columns=target), rows[target].to_numpy()


def _check_classes(model: Any) -> None:
    """Raises for a model that predicts numbers."""
    from rulecover.estimators.booster import is_booster

    tagged = hasattr(model, "__sklearn_tags__")  # rules made by hand have none
    if read_trees(model).classifies is False if is_booster(model) else tagged and is_regressor(model):
        raise MismatchedDataError(f"{type(model).__name__} predicts numbers; cover_table is for classes only.")


def _check_options(options: Mapping[str, Any], time_limit: float | None) -> None:
    from rulecover.estimators.checks import real_number

    if time_limit is not None:
        real_number("time_limit", time_limit, above=True)
    if options.get("preset") == "accurate":
        raise ValueError("preset is 'accurate', by which three rules cover every row; cover_table covers each once.")
    for name in _OTHER_COVERS:
        if options.get(name) is not None:
            raise ValueError(
                f"{name} is {options[name]!r}, but the rules of cover_table cover every row once, each of the same "
                f"weight; leave {name} out."
            )
