"""What a set of rules is worth on rows that nobody has seen, as plain values for every view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rulecover.exceptions import UnreadableModelError

if TYPE_CHECKING:
    from rulecover.rules import RuleSet
    from rulecover.setcover import Certificate


@dataclass(frozen=True)
class Score:
    """A model beside others: its name, its accuracy on held-out rows, and how large it is, in words."""

    name: str
    accuracy: float
    size: str


@dataclass(frozen=True, eq=False)
class Summary:
    """A set of rules and its figures.

    Parameters
    ----------
    title
        What the data are called.
    rules, certificate
        The rules, and what is proved of them.
    scores
        The accuracy of the rules, then of other models, on the held-out rows.
    missed
        The share of held-out rows that no rule covers.
    fidelity
        The share of held-out rows on which rules and source model agree; ``None`` for rules without a model.
    fallback
        Who answered for the missed rows: "closest", "all", "majority", "model" or a name of your own.
    n_candidates
        How many rules there were to choose from.
    n_held_out
        How many rows the figures come from.
    notes
        What was done to the data, in sentences.
    """

    title: str
    rules: RuleSet
    certificate: Certificate
    scores: tuple[Score, ...]
    missed: float
    fidelity: float | None
    fallback: str
    n_candidates: int
    n_held_out: int
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        model: Any,
        X: Any,
        y: Any,
        *,
        title: str,
        beside: Mapping[str, Any] | None = None,
        notes: Sequence[str] = (),
        shown: RuleSet | None = None,
    ) -> Summary:
        """The figures of a fitted `MIRCOClassifier` on held-out rows.

        Parameters
        ----------
        model
            The fitted rules.
        X, y
            Held-out rows and their labels.
        title
            What the data are called.
        beside
            Trained models to compare with, by name.
        notes
            What was done to the data, in sentences.
        shown
            The model's rules in other words, if its own are not for print.
        """
        rules = model.rules_ if shown is None else shown
        scores = [Score("these rules", accuracy(model, X, y), _size(rules))]
        scores += [Score(name, accuracy(other, X, y), _size_of(other)) for name, other in (beside or {}).items()]
        scores.append(Score("most frequent class", _majority_accuracy(rules, y), "no rules"))
        return cls(
            title=title,
            rules=rules,
            certificate=model.certificate_,
            scores=tuple(scores),
            missed=float(np.mean(model.missed(X))),
            fidelity=_fidelity(model, X),
            fallback=str(getattr(model.fallback, "name", model.fallback)),
            n_candidates=int(model.n_candidate_rules_),
            n_held_out=len(y),
            notes=tuple(notes),
        )


def _fidelity(model: Any, X: Any) -> float | None:
    try:
        return float(model.fidelity(X))
    except UnreadableModelError:  # rules made by hand
        return None


def accuracy(model: Any, X: Any, y: Any) -> float:
    """The share of rows that the model gets right."""
    return float(np.mean(np.asarray(model.predict(X)) == np.asarray(y)))


def _majority_accuracy(rules: RuleSet, y: Any) -> float:
    assert rules.evidence is not None
    return float(np.mean(np.asarray(y) == rules.evidence.classes[rules.evidence.totals.argmax()]))


def _size(rules: RuleSet) -> str:
    mean = float(rules.lengths.mean()) if len(rules) else 0.0
    return f"{len(rules)} {'rule' if len(rules) == 1 else 'rules'}, {mean:.1f} conditions each on average"


def _size_of(model: Any) -> str:
    """The size of a tree or a forest of scikit-learn in words; of other models nothing is said."""
    if hasattr(model, "get_n_leaves"):
        return f"{model.get_n_leaves():,} rules (leaves)"
    trees = getattr(model, "estimators_", None) or []
    if len(trees) and all(hasattr(tree, "get_n_leaves") for tree in trees):
        return f"{sum(int(tree.get_n_leaves()) for tree in trees):,} rules in {len(trees)} trees"
    return ""
