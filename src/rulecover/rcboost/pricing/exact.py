"""Exact pricing on small problems: the rules of most negative reduced cost, and a bound over the whole rule space."""

from __future__ import annotations

import numbers
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rulecover.clock import deadline_of
from rulecover.rcboost.pricing.bins import bins_of, check_max_bins
from rulecover.rcboost.pricing.boxes import BoxSearch, PricedSamples, RuleSpace, as_rules
from rulecover.rcboost.pricing.proposal import Proposal
from rulecover.setcover.solver import check_effort, check_time_limit
from rulecover.targets.classes.samples import with_classes
from rulecover.targets.samples import Samples

if TYPE_CHECKING:
    from rulecover.rcboost.pricing.oracles import Duals


@dataclass(frozen=True)
class ExactPricing:
    """The rules of most negative reduced cost among all intervals of at most a few features, by branch and bound.

    The rule space holds every conjunction of clauses ``lower < x <= upper`` on at most `max_clauses` features, with
    thresholds midway between successive training values, the rule without clauses included. With `max_bins`,
    thresholds are limited to this many quantile bins per feature, and the search is exact over these. A missing value
    satisfies no clause. Two rules that cover the same samples are one.

    A search that ends within its effort proves that no other rule has a lower reduced cost. One that does not proves
    less, but always some bound; from it follows one on the covering LP over all these rules together with the pool:
    the column ``bound`` of RCBoost's ``history_``.

    The optimum of that LP may surprise: the rule without clauses covers all samples at a cost below 2, and no cover
    costs less than 1. So over all rules the LP settles for few, wide, impure ones, and the lower its objective, the
    worse the classifier tends to be; `max_impurity` keeps such rules out of the rule space.

    Parameters
    ----------
    max_clauses
        The most features that a rule uses.
    max_bins
        The largest number of bins per feature; ``None`` is one bin per value.
    max_rules
        How many rules a call proposes: the most negative ones that cover different samples.
    max_impurity
        Leaves out rules of a higher impurity w; ``None`` leaves out none.
    effort
        How long to search in a call: 1 takes about a second, 10 about ten, and gives the same rules on every
        machine; ``None`` is no limit.
    time_limit
        Seconds per call; where it ends the search, the rules depend on the machine. ``None`` is no limit.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rulecover import RCBoostClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> pricing = ExactPricing(max_clauses=1, max_bins=None, max_impurity=0.2)
    >>> history = RCBoostClassifier(pricing=pricing, max_rmp_calls=100, random_state=0).fit(X, y).history_
    >>> bool(np.isclose(history["bound"].iloc[-1], history["objective"].iloc[-1]))
    True
    """

    max_clauses: int = 2
    max_bins: int | None = 32
    max_rules: int = 20
    max_impurity: float | None = None
    effort: float | None = 10.0
    time_limit: float | None = None

    repeats_rows: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for name in ("max_clauses", "max_rules"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
                raise ValueError(f"{name} is {value!r}; give a whole number of at least 1.")
        check_max_bins(self.max_bins, none_allowed=True)
        if self.effort is not None:
            check_effort(self.effort)
        check_time_limit(self.time_limit)
        limit: Any = self.max_impurity
        is_number = isinstance(limit, numbers.Real) and not isinstance(limit, bool)
        if limit is not None and (not is_number or not float(limit) >= 0):
            raise ValueError(f"max_impurity is {limit!r}; give a number of at least 0, or None for no limit.")

    def __call__(self, data: Samples, duals: Duals, tree: Any, seed: int) -> Proposal:
        data = with_classes(data, "exact pricing")
        deadline = deadline_of(self.time_limit, begin=time.perf_counter()) or np.inf
        bins = bins_of(data, self.max_bins)
        space = RuleSpace(
            bins, duals.price, self.max_clauses, np.inf if self.max_impurity is None else self.max_impurity
        )
        search = BoxSearch(space, PricedSamples.of(data, duals.current), self.max_rules)
        search.run(np.inf if self.effort is None else self.effort, min(deadline, duals.deadline))
        return Proposal(as_rules(bins, search.found), 1.0 - search.ceiling)
