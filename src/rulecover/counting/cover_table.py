"""Covers of tables that stay where they are: sample, prove, repair."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import pandas as pd
from sklearn.base import is_regressor
from sklearn.utils import check_random_state

from rulecover.counting.certificate import TableCertificate
from rulecover.counting.certify import table_of
from rulecover.counting.groups import RowGroups
from rulecover.counting.script import check_columns, rules_alone
from rulecover.data.frames import as_spelled, is_frame
from rulecover.exceptions import MismatchedDataError
from rulecover.readers import read_trees
from rulecover.rules.ruleset import RuleSet
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
    """

    certificate: TableCertificate
    cost: float
    n_sampled: int
    n_repaired: int
    n_dropped: int
    n_rounds: int

    def __str__(self) -> str:
        repairs = f" and {self.n_repaired:,} that its rules missed" if self.n_repaired else ""
        return (
            f"{self.certificate} The coverage, the counts, the cost ({self.cost:.4g}) and the votes are those of all "
            f"rows. The {len(self.certificate.rules)} rules were chosen on a sample of {self.n_sampled:,} rows"
            f"{repairs}; none of them is redundant on all rows, but no lower bound on the cost is proved."
        )


def cover_table(
    model: Any,
    table: Any,
    *,
    target: str,
    sample: int | Any = 100_000,
    random_state: int | np.random.RandomState | None = 0,
    connection: Any = None,
    dialect: str | None = None,
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
    **options
        Those of `MIRCOClassifier`, except `demand`, `max_rules`, `class_weight` and `time_limit`. Rules are not pruned
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

    _check_options(options)
    _check_classes(model)
    place = table_of(table, connection, dialect)
    wanted = _columns(model, place, target)
    first = _first_rows(place, wanted, sample, _seed(random_state))
    settings = {"prune": False, **options, "random_state": random_state}
    few = explain(model, *_split(first, target), method="cover", **settings)
    found = _Repair(few, place, target, at_most=max(len(first), FEWEST_FETCHED))
    rules, fetched = found.repaired(few.rules_, first)
    return found.finished(rules, n_sampled=len(first), n_fetched=len(fetched))


@dataclass(eq=False)
class _Repair:
    """A model fitted to a sample, whose rules are to cover all rows of a table."""

    few: MIRCOClassifier
    place: FrameTable | DatabaseTable
    target: str
    at_most: int
    n_rounds: int = 0

    def repaired(self, rules: RuleSet, fetched: pd.DataFrame) -> tuple[RuleSet, pd.DataFrame]:
        """These rules and others, until every row is covered; and all rows that were fetched."""
        while True:
            missed = self.place.missed(rules_alone(rules), list(fetched), self.at_most)
            if not len(missed):
                return rules, fetched
            fetched = pd.concat([fetched, missed], ignore_index=True)
            more = self._with_rules_for(rules, fetched)
            if len(more) == len(rules):
                raise MismatchedDataError(
                    f"{len(missed):,} rows or more are covered by no rule of the model, such as "
                    f"{missed.iloc[0].to_dict()}; give a model whose trees cover every row, and values as in training."
                )
            rules = more
            self.n_rounds += 1

    def _with_rules_for(self, rules: RuleSet, fetched: pd.DataFrame) -> RuleSet:
        """The rules, and those of a cover of all rows that were fetched: the cheapest of both are chosen at the end."""
        from rulecover.estimators.mirco import frozen
        from rulecover.estimators.prepare import fresh
        from rulecover.pool import rule_pool

        X, y = _split(fetched, self.target)
        again = fresh(self.few).set_params(estimator=frozen(self.few.estimator_)).fit(X, y)
        samples = again._prepare(X, y, None).samples
        both = rules.join(again.rules_)
        return rule_pool(samples, both.take(both.clauses.first_of_equal()), again._price()).rules

    def finished(self, rules: RuleSet, *, n_sampled: int, n_fetched: int) -> MIRCOClassifier:
        """The model of the rules that are not redundant, counted on all rows."""
        groups = self.place.groups(rules_alone(rules), self.target)
        classes = self.few.classes_
        sums = groups.class_sums(classes)
        cost = _costs(rules, sums, self.few._price())
        kept = groups.needed(cost)
        few = _counted(self.few, rules.take(kept), groups.take(kept), sums[kept], cost[kept])
        few.table_cover_ = TableCover(
            groups.take(kept).certificate(few.rules_),
            float(cost[kept].sum()),
            n_sampled=n_sampled,
            n_repaired=n_fetched - n_sampled,
            n_dropped=len(rules) - len(kept),
            n_rounds=self.n_rounds,
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
    del other.certificate_
    other.uncovered_ = np.zeros(0, dtype=np.intp)
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
        drawn = given.select(*columns).to_pandas()
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


def _check_options(options: Mapping[str, Any]) -> None:
    if options.get("preset") == "accurate":
        raise ValueError("preset is 'accurate', by which three rules cover every row; cover_table covers each once.")
    if options.get("time_limit") is not None:
        raise ValueError(
            f"time_limit is {options['time_limit']!r}, but how long a database or library counts cannot be limited; "
            "leave it out, or limit the choices on fetched rows alone, as in solver=Search(time_limit=10)."
        )
    for name in _OTHER_COVERS:
        if options.get(name) is not None:
            raise ValueError(
                f"{name} is {options[name]!r}, but the rules of cover_table cover every row once, each of the same "
                f"weight; leave {name} out."
            )
