"""From a model to the vote that every exporter writes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from rulecover.data.categories import HashedCategories
from rulecover.exceptions import ExportError, UnreadableModelError
from rulecover.rules.clauses import Clauses
from rulecover.rules.ruleset import RuleSet
from rulecover.targets.classes.evidence import ClassEvidence
from rulecover.targets.impurity import Impurity
from rulecover.targets.numbers.evidence import NumberEvidence
from rulecover.voting.answers import Classes
from rulecover.voting.classes import class_votes
from rulecover.voting.fallback import EXPORTED_FALLBACKS
from rulecover.voting.numbers import mean_votes
from rulecover.voting.vote import Vote


def vote_of(model: Any) -> Vote:
    """The rules of a model and how they vote, free of the model they came from.

    Parameters
    ----------
    model
        A fitted model of this package; a `RuleSet` with evidence (its rules vote by class counts, or by the means
        of the numbers, and the closest ones predict for missed rows); or a `Vote`, which is returned as it is.

    Returns
    -------
    Vote
        It predicts what the model predicts.

    Raises
    ------
    UnreadableModelError
        If the model is not one of rules.
    ExportError
        If it needs more than its rules to predict, as with ``fallback="model"``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rulecover import MIRCOClassifier
    >>> mirco = MIRCOClassifier(random_state=0).fit(*load_iris(return_X_y=True))
    >>> vote_of(mirco.rules_).predict([[5.0, 3.4, 1.5, 0.2]])
    array([0])
    """
    if isinstance(model, Vote):
        return checked(model)
    if isinstance(model, RuleSet):
        return checked(_of_rules(model))
    from rulecover.estimators.base import VotingModel  # what it needs takes a second to import

    if isinstance(model, VotingModel):
        return checked(_of_voters(model))
    raise UnreadableModelError(
        f"{type(model).__name__} cannot be exported; pass a fitted model of rules, such as "
        "MIRCOClassifier, RCBoostRegressor or RulePathClassifier, the rules_ of one, or a Vote."
    )


def checked(vote: Vote) -> Vote:
    """The vote, if every format can write it."""
    if not len(vote):
        raise ValueError("there are no rules; a model needs at least one.")
    if isinstance(vote.answer, Classes) and vote.rules.evidence is None:
        raise ValueError(
            "the rules have no evidence, which rules that vote for classes need; use the rules_ of a fitted model."
        )
    names = vote.rules.feature_names
    if len(set(names)) < len(names):
        raise ValueError(f"a column name occurs twice among {list(names[:10])}; rename one.")
    weight = vote.totals.sum() if isinstance(vote.answer, Classes) else vote.answer.weight(vote.totals[None])[0]
    if not weight > 0:
        raise ValueError(f"totals is {vote.totals.tolist()}; the votes of the training data must be positive.")
    if EXPORTED_FALLBACKS.get(vote.fallback.name) != vote.fallback:
        raise ExportError(
            f"the fallback {vote.fallback.name!r} cannot be exported: it asks the source model, or is an object of "
            "your own; choose another first, for example by model.set_params(fallback='closest')."
        )
    for f in vote.rules.clauses.columns.tolist():
        _check_categories(vote.rules, f)
    return vote


def _of_rules(rules: RuleSet) -> Vote:
    if rules.evidence is None:
        raise ExportError("these rules have no evidence and cannot vote; use the rules_ of a fitted model.")
    return class_votes(rules) if isinstance(rules.evidence, ClassEvidence) else mean_votes(rules)


def _of_voters(model: Any) -> Vote:
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    vote: Vote = replace(model._voting(model.vote_), provenance=getattr(model, "provenance_", None))
    _check_columns(vote.rules, model.n_features_in_)
    return vote if len(vote) else _always(vote, model._target.impurity)


def _always(vote: Vote, impurity: Impurity) -> Vote:
    """A base without rules as one rule that always holds: no format can express a model without rules."""
    seen = vote.rules.evidence
    assert seen is not None
    sums = seen.totals[None]
    evidence = replace(seen, sums=sums, impurity=impurity(sums), cost=1 + impurity(sums))
    adds, base = vote.base.copy(), np.zeros_like(vote.base)
    if isinstance(evidence, NumberEvidence):
        evidence = replace(evidence, adds=adds[:1], default=0.0)
        adds[1], base[1] = 0.0, 1.0
    rules = RuleSet(Clauses.of_intervals([{}]), vote.rules.columns, evidence=evidence)
    return replace(vote, rules=rules, votes=adds[None], base=base)


def _check_columns(rules: RuleSet, n_features: int) -> None:
    made = [f for f in rules.clauses.columns.tolist() if f >= n_features and f not in rules.columns.parts]
    if made:
        name = rules.feature_names[made[-1]]
        raise ExportError(
            f"column {name!r} is made by the model's pipeline and is not in any table; train on the columns it makes."
        )


def _check_categories(rules: RuleSet, f: int) -> None:
    known = rules.columns.categories.get(f, ())
    if isinstance(known, HashedCategories) and len(known.texts) < len(known.hashes):
        raise ExportError(
            f"the model knows some categories of column {rules.feature_names[f]!r} only by a number; "
            "explain it with data in which all of them occur."
        )
