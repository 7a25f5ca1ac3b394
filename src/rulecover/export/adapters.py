"""From what people have to what exporters write: one adapter for each kind of model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from rulecover.data.categories import HashedCategories
from rulecover.exceptions import ExportError, UnreadableModelError
from rulecover.export.labels import Label
from rulecover.export.model import EXPORTED_FALLBACKS, SWAPPED, AddedClasses, Answer, Classes, Mean, ScoredRules
from rulecover.rulepath.family import AdditiveVote
from rulecover.rules.clauses import Clauses
from rulecover.rules.ruleset import RuleSet
from rulecover.targets.evidence import ClassEvidence, NumericEvidence
from rulecover.targets.impurity import Impurity
from rulecover.typing import Floats
from rulecover.voting.fallback import FALLBACKS, NUMERIC_FALLBACKS
from rulecover.voting.means import FittedVote, MeanVote
from rulecover.voting.vote import MajorityVote, Vote


def scored_rules(model: Any) -> ScoredRules:
    """The rules of a model and how they vote, free of the model they came from.

    Parameters
    ----------
    model
        A fitted model of this package; a `RuleSet` that has met data (its rules vote by class counts, or by the means
        of the numbers, and the closest ones answer for missed rows); or a `ScoredRules`, which is returned as it is.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rulecover import MIRCOClassifier
    >>> mirco = MIRCOClassifier(random_state=0).fit(*load_iris(return_X_y=True))
    >>> scored_rules(mirco.rules_).predict([[5.0, 3.4, 1.5, 0.2]])
    array([0])
    """
    if isinstance(model, ScoredRules):
        return model
    if isinstance(model, RuleSet):
        return _of_rules(model)
    from rulecover.estimators.base import RuleClassifier  # what they need takes a second to import
    from rulecover.estimators.path import RulePath
    from rulecover.estimators.regression import RuleRegressor

    if isinstance(model, RulePath):
        return _of_path(model)
    if isinstance(model, (RuleClassifier, RuleRegressor)):
        return _of_voters(model)
    raise UnreadableModelError(
        f"{type(model).__name__} is nothing that can be exported; give a fitted model of rules, such as "
        "MIRCOClassifier, RCBoostRegressor or RulePathClassifier, a RuleSet that has met data, or a ScoredRules."
    )


def _of_rules(rules: RuleSet) -> ScoredRules:
    if rules.evidence is None:
        raise ExportError("these rules have met no data and cannot vote; take the rules_ of a fitted model.")
    return _by_votes(MajorityVote.of(rules) if isinstance(rules.evidence, ClassEvidence) else MeanVote.of(rules))


def _of_voters(model: Any) -> ScoredRules:
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    fallback = model._fallback()
    vote: Vote = model.vote_
    known = FALLBACKS if isinstance(vote, MajorityVote) else NUMERIC_FALLBACKS
    if fallback.name not in EXPORTED_FALLBACKS or known.get(fallback.name) != fallback:
        raise ExportError(
            f"the fallback {fallback.name!r} asks for more than the rules and cannot be exported with them; "
            "choose another first, for example by model.set_params(fallback='closest')."
        )
    _check_columns(vote.rules, model.n_features_in_)
    return _by_votes(vote, fallback.name)


def _of_path(model: Any) -> ScoredRules:
    """The default vote is where every row begins; a number is a mean of weight 1, to which no rule adds weight."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    vote: AdditiveVote = model.vote_ if len(model.vote_) else _always(model.vote_, model._impurity)
    _check_columns(vote.rules, model.n_features_in_)
    seen = vote.rules.evidence
    if isinstance(seen, ClassEvidence):
        return _scored(vote.rules, vote.votes, AddedClasses(seen.classes), seen.totals, base=vote.default)
    weightless, base = np.zeros(len(vote)), np.append(vote.default, 1.0)
    return _scored(vote.rules, np.column_stack([vote.votes, weightless]), Mean(), base, base=base)


def _always(vote: AdditiveVote, impurity: Impurity) -> AdditiveVote:
    """A default vote without rules as one rule that always holds: no format has a word for a model without any."""
    seen = vote.rules.evidence
    assert seen is not None
    sums = seen.totals[None]
    met = replace(seen, sums=sums, impurity=impurity(sums), cost=1 + impurity(sums))
    if isinstance(met, NumericEvidence):
        met = replace(met, adds=vote.default, default=0.0)
    rules = RuleSet(Clauses.of_intervals([{}]), vote.rules.columns, evidence=met)
    return AdditiveVote(rules, vote.default[None], np.zeros_like(vote.default), vote.answers, met.samples)


def _check_columns(rules: RuleSet, n_features: int) -> None:
    used = rules.clauses.columns
    if len(used) and used.max() >= n_features:
        name = rules.feature_names[used.max()]
        raise ExportError(
            f"column {name!r} is made by the model's pipeline and is in no table; train on the columns it makes."
        )


def _by_votes(vote: Vote, fallback: str = "closest") -> ScoredRules:
    rules, seen = vote.rules, vote.rules.evidence
    if isinstance(seen, ClassEvidence):
        return _scored(rules, vote.votes, Classes(seen.classes), seen.totals, fallback=fallback)
    assert isinstance(seen, NumericEvidence)
    answer, totals = Mean(seen.centre, seen.unit, squares=True), vote.of_all_samples[SWAPPED]
    if not isinstance(vote, FittedVote):
        return _scored(rules, vote.votes[:, SWAPPED], answer, totals, fallback=fallback)
    # What rules add has no weight beside the default's.
    votes = np.column_stack([vote.votes[:, 1], np.zeros(len(rules)), vote.votes[:, 2]])
    base, afar = np.array([vote.default, 1.0, 0.0]), vote.plain.votes[:, SWAPPED]
    return _scored(rules, votes, answer, totals, fallback=fallback, base=base, afar=afar)


def _scored(
    rules: RuleSet,
    votes: Floats,
    answer: Answer,
    totals: Floats,
    *,
    fallback: str = "default",
    base: Floats | None = None,
    afar: Floats | None = None,
) -> ScoredRules:
    return ScoredRules(
        rules,
        votes,
        answer,
        totals,
        fallback=fallback,
        base=np.zeros(0) if base is None else base,
        afar=afar,
        categories={f: _names(rules, f) for f in rules.clauses.columns.tolist() if f in rules.columns.categories},
        zero_missing=frozenset(rules.columns.zero_missing),
    )


def _names(rules: RuleSet, f: int) -> tuple[Label, ...]:
    """The category behind each code of a column."""
    known = rules.columns.categories[f]
    if isinstance(known, HashedCategories) and len(known.texts) < len(known.hashes):
        raise ExportError(
            f"of some categories of column {rules.feature_names[f]!r} the model knows no more than a number; "
            "explain it with data in which all of them occur."
        )
    return tuple(known)
