"""How good a set of rules is on held-out rows, as plain values for every view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from rulecover.data.advice import guessing
from rulecover.data.fingerprint import row_hashes, share_by_chance
from rulecover.data.provenance import Provenance
from rulecover.exceptions import RulecoverError, UnreadableModelError
from rulecover.report.figures import ClassFigures, Figure, NumberFigures
from rulecover.report.held_out import HeldOutPredictions
from rulecover.report.page_model import PredictedRows, Trial, fallback_name, trial_of
from rulecover.report.rule_checks import RuleChecks
from rulecover.rulepath.sizes import score_in_words
from rulecover.rules.features import Strip, strips
from rulecover.rules.overlaps import Overlaps
from rulecover.show.text import percent
from rulecover.targets.classes.evidence import ClassEvidence
from rulecover.typing import Array, Floats, Ints
from rulecover.voting.answers import LogOddsClasses
from rulecover.voting.vote import Vote

if TYPE_CHECKING:
    from rulecover.rules.ruleset import RuleSet
    from rulecover.setcover import Certificate

#: The most combinations of rules that are counted, and the most rules that are distinguished.
_SETS, _RULES = 24, 16

#: From this share of rows on that equal training rows, a warning says so.
_MANY_KNOWN = 0.5
_MORE_THAN_CHANCE = 0.2

#: The cross-validated columns that the table of every path has.
_OF_EVERY_PATH = ("cv_score", "cv_se", "cv_fidelity")


@dataclass(frozen=True)
class Score:
    """A model among others: its name, its accuracy (R² for regression) on held-out rows, and its size, in words.

    Its figures have 95 % intervals; what matters most for the target comes first.
    """

    name: str
    accuracy: float
    size: str
    figures: tuple[Figure, ...] = ()

    def __getitem__(self, name: str) -> Figure:
        """The figure of this name."""
        return next(figure for figure in self.figures if figure.name == name)


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
        The accuracy of the rules (R² for regression), then of other models, on the held-out rows.
    missed
        The share of held-out rows that no rule covers.
    fidelity
        The share of held-out rows on which rules and source model agree; for regression R² with the predictions of the
        model; ``None`` for rules without a model, and for those of a model file.
    fallback
        What predicted for the missed rows: "closest", "all", "majority", "model", "default" or a name of your own.
    n_candidates
        The number of candidate rules, if known.
    n_held_out
        The number of held-out rows.
    notes
        What was done to the data, in sentences.
    warnings
        What people should know before they trust the rules, in sentences.
    provenance
        Where the rules come from, if that is known.
    on_training_rows
        Whether the rows are not held out, but those that the rules were trained on.
    on_known_rows
        Whether many of them equal training rows, so that they are not said to be held out.
    votes
        Where votes are added to a default vote: that one, then what each rule adds, each for every class.
    log_odds
        Whether these votes are log-odds.
    path
        Where there are rule sets of other sizes: for each the number of rules and the cross-validated score.
    path_by
        What the score is called by which one of them was chosen; empty for accuracy or R².
    held_out
        The truth and the predictions for the held-out rows.
    checks
        The support of each rule in the held-out rows, and its precision there, or for regression its mean.
    overlaps
        Which rules cover the same held-out rows.
    strips
        For numeric features, by name: the values of held-out rows, and the bounds of the rules.
    trial
        The model as a page can run it, with some held-out rows to start with; ``None`` where it cannot.
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
    log_odds: bool = False
    path: tuple[tuple[int, float], ...] = ()
    path_by: str = ""
    held_out: HeldOutPredictions | None = None
    checks: RuleChecks | None = None
    overlaps: Overlaps | None = None
    strips: Mapping[str, Strip] = field(default_factory=dict)
    trial: Trial | None = None
    warnings: tuple[str, ...] = ()
    provenance: Provenance | None = None
    on_training_rows: bool = False
    on_known_rows: bool = False

    @property
    def checked_rows(self) -> str:
        """What the rows are that the rules were checked on, in words."""
        if self.on_training_rows:
            return "training rows"
        return "given rows" if self.on_known_rows else "held-out rows"

    @classmethod
    def of(
        cls,
        model: Any,
        X: Any,
        y: Any,
        *,
        title: str,
        compare_with: Mapping[str, Any] | None = None,
        notes: Sequence[str] = (),
        shown: RuleSet | None = None,
        warnings: Sequence[str] = (),
    ) -> Summary:
        """The figures of a fitted `MIRCOClassifier`, `RulePathClassifier`, or their regressors, on held-out rows.

        Parameters
        ----------
        model
            The fitted rules.
        X, y
            Held-out rows and their labels, or numbers.
        title
            What the data are called.
        compare_with
            Trained models to compare with, by name.
        notes
            What was done to the data, in sentences.
        shown
            The model's rules in other words, if its own are hard to read.
        warnings
            What people should know before they trust the rules, in sentences.

        Returns
        -------
        Summary
            For `write_report`.

        Raises
        ------
        ValueError
            If the rules have no evidence.
        """
        rules = _rules_of(model) if shown is None else shown
        if rules.evidence is None:
            raise ValueError("the rules have no evidence; pass a fitted model.")
        rows, truth = _rows_of(model, X), np.asarray(y).ravel()
        held_out = _held_out(model, rules, X, rows, truth)
        predicted = PredictedRows(rows, truth, held_out.predicted, held_out.missed)
        covered = _rules_of(model).apply(rows)
        scores, votes = _scores(rules, held_out, X, compare_with or {}), _votes(model)
        trained_on = _TrainedOn.of(model, rows, truth)
        return cls(
            title=title,
            rules=rules,
            scores=tuple(scores),
            missed=float(held_out.missed.mean()),
            fidelity=_fidelity(rules, held_out),
            n_held_out=len(truth),
            notes=tuple(notes),
            warnings=(*trained_on.warnings, *warnings, *_guessing(scores, trained_on)),
            votes=votes,
            path_by=_path_by(model),
            held_out=held_out,
            checks=RuleChecks.of(rules, votes[1:], covered, truth),
            overlaps=Overlaps.of(covered, max_sets=_SETS, max_rules=_RULES) if len(rules) else None,
            strips=strips(rules, rows, _groups(rules, truth)),
            trial=trial_of(model, rules, predicted, missing=_takes_missing(model)),
            **_known_of(model, trained_on),
        )


def _known_of(model: Any, trained_on: _TrainedOn) -> dict[str, Any]:
    """What a summary takes from the model as it is."""
    return {
        "certificate": _proved(model),
        "fallback": fallback_name(model),
        "n_candidates": getattr(model, "n_candidate_rules_", None),
        "log_odds": _are_log_odds(model),
        "path": _path(model),
        "provenance": trained_on.provenance,
        "on_training_rows": trained_on.all_of_them,
        "on_known_rows": trained_on.has_many,
    }


def _held_out(model: Any, rules: RuleSet, X: Any, rows: Any, truth: Array) -> HeldOutPredictions:
    """What the rules and the model behind them predict for held-out rows."""
    predicted, missed = np.asarray(model.predict(X)).ravel(), np.asarray(model.missed(X))
    return HeldOutPredictions(truth, predicted, missed, _by_model(model, X, rows), _shares(model, X, rules))


def _fidelity(rules: RuleSet, held_out: HeldOutPredictions) -> float | None:
    assert rules.evidence is not None
    return None if held_out.by_model is None else rules.evidence.view.score(held_out.predicted, held_out.by_model)


def _scores(rules: RuleSet, held_out: HeldOutPredictions, X: Any, others: Mapping[str, Any]) -> list[Score]:
    """The scores of the rules, of other models, and of one answer for all rows."""
    scoring = _Scoring.of(rules, held_out.truth)
    compared = [
        scoring.score(name, other.predict(X), _shares(other, X, rules), _size_of(other))
        for name, other in others.items()
    ]
    ours = scoring.score("these rules", held_out.predicted, held_out.shares, _size(rules))
    return [ours, *compared, scoring.naive()]


@dataclass(frozen=True, eq=False)
class _Scoring:
    """How models are scored on the same held-out rows."""

    rules: RuleSet
    truth: Array
    figures: ClassFigures | NumberFigures

    @classmethod
    def of(cls, rules: RuleSet, truth: Array) -> _Scoring:
        seen = rules.evidence
        if isinstance(seen, ClassEvidence):
            return cls(rules, truth, ClassFigures(truth, np.asarray(seen.classes), seen.all_counts))
        return cls(rules, truth, NumberFigures(np.asarray(truth, dtype=np.float64)))

    def score(self, name: str, predicted: Any, shares: Floats | None, size: str) -> Score:
        assert self.rules.evidence is not None
        predicted = np.asarray(predicted).ravel()  # CatBoost returns a column
        accuracy = self.rules.evidence.view.score(predicted, self.truth)
        if isinstance(self.figures, NumberFigures):
            return Score(name, accuracy, size, self.figures.of(predicted))
        return Score(name, accuracy, size, self.figures.of(predicted, shares))

    def naive(self) -> Score:
        """One answer for all rows."""
        assert self.rules.evidence is not None
        (name, answer), n = self.rules.evidence.view.naive, len(self.truth)
        shares = None
        if isinstance(self.figures, ClassFigures):
            counts = self.figures.counts
            shares = np.tile(counts / max(float(counts.sum()), 1.0), (n, 1))
        return self.score(name, np.full(n, answer), shares, "no rules")


@dataclass(frozen=True)
class _TrainedOn:
    """Where rules come from, and whether rows are among those that they were trained on."""

    provenance: Provenance | None
    share: float = 0.0
    all_of_them: bool = False
    by_chance: float = 0.0

    @classmethod
    def of(cls, model: Any, rows: Any, truth: Array) -> _TrainedOn:
        provenance: Provenance | None = getattr(model, "provenance_", getattr(model, "provenance", None))
        names = _rules_of(model).feature_names
        if provenance is None or not set(provenance.data.columns) <= set(names):
            return cls(provenance)
        columns = provenance.data.columns
        hashes = row_hashes(rows, [names.index(name) for name in columns], columns, truth)
        seen = provenance.data
        return cls(provenance, seen.share_among(hashes), seen.is_of(hashes), share_by_chance(hashes, seen.rows))

    @property
    def has_many(self) -> bool:
        """Whether so many of the rows equal training rows that they are not held out."""
        return self.share >= max(_MANY_KNOWN, self.by_chance + _MORE_THAN_CHANCE)

    @property
    def warnings(self) -> list[str]:
        if self.all_of_them:
            return [
                "these are the rows that the rules were trained on, so that the figures are too good; give rows that "
                "were held out."
            ]
        if not self.has_many:
            return []
        known = "nearly all" if self.share > 0.99 else f"about {percent(self.share)}"
        return [f"{known} of these rows equal training rows, so that the figures may be too good; give rows held out."]


def _guessing(scores: Sequence[Score], trained_on: _TrainedOn) -> list[str]:
    """That the rules are not surely better than one answer for all rows, by any measure of right predictions."""
    measures = [
        name for name in ("accuracy", "balanced accuracy", "R²") if any(f.name == name for f in scores[0].figures)
    ]
    rows_are = "training rows" if trained_on.all_of_them else "held-out rows"
    pairs = {name: (scores[0][name].low, scores[-1][name].value) for name in measures}
    return [each.command_line for each in guessing(pairs, f"surely better on the {rows_are}")]


def _shares(model: Any, X: Any, rules: RuleSet) -> Floats | None:
    """The probability of each class, in the order of the rules' classes; ``None`` where the model gives none."""
    seen = rules.evidence
    if not isinstance(seen, ClassEvidence) or not hasattr(model, "predict_proba"):
        return None
    classes = getattr(model, "classes_", seen.classes)
    place = {label: k for k, label in enumerate(np.asarray(classes).tolist())}
    try:
        shares = np.asarray(model.predict_proba(X), dtype=np.float64)
        return shares[:, [place[label] for label in seen.classes.tolist()]]
    except (RulecoverError, AttributeError, KeyError):  # votes without probabilities, or other classes
        return None


def _groups(rules: RuleSet, truth: Array) -> Ints | None:
    """The number of the true class of each row; those that the rules do not know come last."""
    seen = rules.evidence
    if not isinstance(seen, ClassEvidence):
        return None
    place = {label: k for k, label in enumerate(seen.classes.tolist())}
    return np.array([place.get(label, len(place)) for label in truth.tolist()], dtype=np.intp)


def _rules_of(model: Any) -> RuleSet:
    rules: RuleSet = model.rules_ if hasattr(model, "rules_") else model.rules
    return rules


def _rows_of(model: Any, X: Any) -> Any:
    """The rows as the rules see them."""
    return model._check_rows(X) if hasattr(model, "_check_rows") else model._rows(X)


def _by_model(model: Any, X: Any, rows: Any) -> Array | None:
    """The predictions of the source model; ``None`` where there is none, or one that cannot predict."""
    if not hasattr(model, "_source_model"):
        return None
    try:
        return np.asarray(model._source_model(X, np.arange(rows.shape[0])).predict(model._check_rows(X, whole=True)))
    except UnreadableModelError:  # rules made by hand, or read from a model file
        return None


def _proved(model: Any) -> Certificate | None:
    """What is proved about a cover; the optimum of a boosting's LP says nothing about the rules that vote."""
    return model.certificate_ if hasattr(model, "uncovered_") else None


def _takes_missing(model: Any) -> bool:
    return bool(get_tags(model).input_tags.allow_nan) if hasattr(model, "__sklearn_tags__") else True


def _votes(model: Any) -> tuple[tuple[float, ...], ...]:
    vote = model if isinstance(model, Vote) else getattr(model, "vote_", None)
    if not isinstance(vote, Vote) or not (vote.shows_votes or (isinstance(model, Vote) and vote.adds_up)):
        return ()
    return tuple(map(tuple, vote.shown_votes.tolist()))


def _are_log_odds(model: Any) -> bool:
    vote = model if isinstance(model, Vote) else getattr(model, "vote_", None)
    return isinstance(vote, Vote) and isinstance(vote.answer, LogOddsClasses)


def _path_scoring(model: Any) -> str | None:
    """The score by which the size of a path was chosen, "score" for that of the estimator; ``None`` without one."""
    path = getattr(model, "path_", None)
    if path is None or "cv_score" not in path:
        return None
    others = [name.removeprefix("cv_") for name in path if name.startswith("cv_") and name not in _OF_EVERY_PATH]
    return others[0] if others else "score"


def _path(model: Any) -> tuple[tuple[int, float], ...]:
    """A few sizes of the path, the one that was taken among them, with the scores by which it was chosen."""
    by = _path_scoring(model)
    if by is None:
        return ()
    path, sign = model.path_, -1.0 if by.startswith("neg_") else 1.0
    sizes = {1, 2, 3, 5, 10, 15, 25, 50, 100, 200, model.n_rules_, path.index[-1]}
    shown = sorted(sizes.intersection(path.index[1:]))
    return tuple((int(size), sign * float(path[f"cv_{by}"].loc[size])) for size in shown)


def _path_by(model: Any) -> str:
    """What the score is called by which a size was chosen; empty for that of the estimator."""
    by = _path_scoring(model)
    if by is None or by == "score":
        return ""
    return score_in_words(by) + (" (the lower the better)" if by.startswith("neg_") else "")


def _size(rules: RuleSet) -> str:
    mean = float(rules.lengths.mean()) if len(rules) else 0.0
    return f"{len(rules)} {'rule' if len(rules) == 1 else 'rules'}, {mean:.1f} clauses each on average"


def _size_of(model: Any) -> str:
    """The size of rules, or of a tree or a forest of scikit-learn, in words; empty for other models."""
    if isinstance(model, Pipeline):
        return _size_of(model[-1])
    if hasattr(model, "rules_"):
        return _size(model.rules_)
    if hasattr(model, "get_n_leaves"):
        leaves = model.get_n_leaves()
        return "1 rule (leaf)" if leaves == 1 else f"{leaves:,} rules (leaves)"
    trees = getattr(model, "estimators_", None) or []
    if len(trees) and all(hasattr(tree, "get_n_leaves") for tree in trees):
        return f"{sum(int(tree.get_n_leaves()) for tree in trees):,} rules in {len(trees)} trees"
    return ""
