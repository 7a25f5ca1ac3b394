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
    """A model beside others: its name, its accuracy (of numbers R²) on held-out rows, and its size, in words."""

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
        The rules, and what is proved of them, if they are a cover.
    scores
        The accuracy of the rules (of numbers R²), then of other models, on the held-out rows.
    missed
        The share of held-out rows that no rule covers.
    fidelity
        The share of held-out rows on which rules and source model agree; of numbers R² with the model's answers;
        ``None`` for rules without a model.
    fallback
        Who answered for the missed rows: "closest", "all", "majority", "model", "default" or a name of your own.
    n_candidates
        How many rules there were to choose from; ``None`` where nobody knows.
    n_held_out
        How many rows the figures come from.
    notes
        What was done to the data, in sentences.
    votes
        Where votes are added to a default vote: that one, then what each rule adds, each for every class.
    path
        Where there are rule sets of other sizes: for each the number of rules and the cross-validated accuracy.
    """

    title: str
    rules: RuleSet
    certificate: Certificate | None
    scores: tuple[Score, ...]
    missed: float
    fidelity: float | None
    fallback: str
    n_candidates: int | None
    n_held_out: int
    notes: tuple[str, ...] = ()
    votes: tuple[tuple[float, ...], ...] = ()
    path: tuple[tuple[int, float], ...] = ()

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
        """The figures of a fitted `MIRCOClassifier`, `RulePathClassifier`, or one of numbers, on held-out rows.

        Parameters
        ----------
        model
            The fitted rules.
        X, y
            Held-out rows and their labels, or numbers.
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
        assert rules.evidence is not None
        view = rules.evidence.view
        scores = [Score("these rules", view.score(model.predict(X), y), _size(rules))]
        others = (beside or {}).items()
        scores += [Score(name, view.score(other.predict(X), y), _size_of(other)) for name, other in others]
        name, answer = view.naive
        scores.append(Score(name, view.score(np.full(len(y), answer), y), "no rules"))
        return cls(
            title=title,
            rules=rules,
            certificate=getattr(model, "certificate_", None),
            scores=tuple(scores),
            missed=float(np.mean(model.missed(X))),
            fidelity=_fidelity(model, X),
            fallback=_who_answers(model),
            n_candidates=getattr(model, "n_candidate_rules_", None),
            n_held_out=len(y),
            notes=tuple(notes),
            votes=_votes(model),
            path=_path(model),
        )


def _who_answers(model: Any) -> str:
    fallback = getattr(model, "fallback", "default")
    return str(getattr(fallback, "name", fallback))


def _votes(model: Any) -> tuple[tuple[float, ...], ...]:
    votes = getattr(model, "votes_", None)
    return () if votes is None else (tuple(votes.default.tolist()), *map(tuple, votes.votes.tolist()))


def _path(model: Any) -> tuple[tuple[int, float], ...]:
    """A few sizes of the path, the one that was taken among them."""
    path = getattr(model, "path_", None)
    if path is None or "cv_score" not in path:
        return ()
    sizes = {1, 2, 3, 5, 10, 15, 25, 50, 100, 200, model.n_rules_, path.index[-1]}
    shown = sorted(sizes.intersection(path.index[1:]))
    return tuple((int(size), float(path["cv_score"].loc[size])) for size in shown)


def _fidelity(model: Any, X: Any) -> float | None:
    try:
        return float(model.fidelity(X))
    except UnreadableModelError:  # rules made by hand
        return None


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
