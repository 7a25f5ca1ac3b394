"""Rules of a cover without the clauses that they do not need: they cover more rows, and are no less sure of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from rulecover.clock import cut_in_words, is_late
from rulecover.pool import RulePool, priced, rule_pool
from rulecover.rulepath.shorten import satisfied, shortened
from rulecover.rules.ruleset import RuleSet
from rulecover.targets.classes.samples import ClassSamples, weights_by_class
from rulecover.targets.impurity import Price
from rulecover.targets.samples import Samples
from rulecover.typing import Bools, Floats


def pruned_pool(
    pool: RulePool, samples: Samples, *, price: Price, deadline: float | None = None
) -> tuple[RulePool, str]:
    """The rules of a pool without needless clauses; those that there is no time for are as they were, said in words."""
    assert isinstance(samples, ClassSamples)
    short, n_done = pruned_in_time(pool.rules, samples, deadline)
    if n_done == len(pool):
        return rule_pool(samples, short, price), ""
    late = pool.take(np.arange(n_done, len(pool)))
    late = replace(late, evidence=priced(samples, late.source, late.evidence.sums, price), strength=None)
    whole = rule_pool(samples, short, price).join(late).distinct() if n_done else late
    return whole, pruned_in_words(n_done, len(pool))


def pruned_in_words(n_done: int, n_rules: int) -> str:
    """How many rules were pruned, if there was no time for all."""
    return cut_in_words(n_done, n_rules, "rules were pruned")


def pruned_in_time(rules: RuleSet, data: ClassSamples, deadline: float | None = None) -> tuple[RuleSet, int]:
    """The rules without needless clauses, equal ones merged; each covers at least what it covered before.

    With h the majority class of a rule, nₕ its samples of that class, s all its samples and pₕ the share of h in the
    data, the clause whose removal leaves ``(nₕ + pₕ) / (s + 1)`` largest is removed, as long as that does not fall.

    Returns
    -------
    tuple
        The first of the rules, as many as there is time for until the deadline, by `time.perf_counter`; and how many
        these are.

    Examples
    --------
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> data = ClassSamples(X, np.array([0, 0, 1, 1]), np.array(["no", "yes"]))
    >>> long = RuleSet.of_intervals([{0: (0.5, np.inf), 1: (0.5, np.inf)}], ["a", "b"])
    >>> short, n_done = pruned_in_time(long, data)
    >>> str(short[0])
    'if a > 0.5'
    """
    if not len(rules):
        return rules, 0
    counts = weights_by_class(data.y, data.count, len(data.classes))
    kept: list[Bools] = []
    for j in range(len(rules)):
        if is_late(deadline):
            break
        kept.append(needed_clauses(satisfied(rules[j : j + 1], data.X), counts, data.totals))
    done = rules[: len(kept)]
    return with_clauses(done, kept) if kept else done, len(kept)


def with_clauses(rules: RuleSet, kept: list[Bools]) -> RuleSet:
    """The rules with the clauses that each keeps, equal ones merged."""
    short = rules.keep_clauses(np.concatenate(kept))
    return short.take(short.clauses.first_of_equal())


def needed_clauses(passed: Bools, counts: Floats | csr_array, totals: Floats) -> Bools:
    """Which clauses a rule needs.

    Parameters
    ----------
    passed
        Which samples satisfy which of its clauses, clauses x samples; or patterns of clauses in place of samples.
    counts
        The weight of each sample, or of all samples of a pattern, for each class: samples x classes.
    totals
        The weight of all samples for each class.
    """
    prior = totals / totals.sum()
    majority = int(counts[passed.all(axis=0)].sum(axis=0).argmax())
    of_majority = counts @ (np.arange(len(prior)) == majority)
    both = np.column_stack([of_majority, counts.sum(axis=1)])

    def sureness(covered: Bools, kept: Bools) -> Floats:
        sums = covered.astype(np.float64) @ both
        return np.asarray((sums[:, 0] + prior[majority]) / (sums[:, 1] + 1.0))

    return shortened(passed, sureness).kept
