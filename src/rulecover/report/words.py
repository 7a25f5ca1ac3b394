"""Figures and certificates in plain words."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rulecover.report.figures import Figure
from rulecover.report.held_out import Confusion
from rulecover.show.numbers import format_number, short_number
from rulecover.show.text import aligned, percent, printable, score
from rulecover.targets.classes.evidence import ClassEvidence
from rulecover.voting.fallback import in_words

if TYPE_CHECKING:
    from rulecover.data.provenance import Provenance
    from rulecover.report.summary import Score, Summary
    from rulecover.rules.ruleset import RuleSet
    from rulecover.rules.view import TargetView
    from rulecover.setcover import Certificate

#: Recall and precision are printed for up to this many classes.
_MOST_CLASSES = 12


def summary_in_words(summary: Summary) -> str:
    """One sentence: how many rules, of how many, cover how many rows."""
    rules = summary.rules
    seen = rules.evidence
    assert seen is not None
    among = "" if summary.n_candidates is None else f" out of {summary.n_candidates:,}"
    return (
        f"{_some(len(rules), 'rule')}{among}, chosen on {seen.n_samples:,.0f} rows "
        f"({seen.view.kind}) and checked on {summary.n_held_out:,} {summary.checked_rows}."
    )


def figures_in_words(summary: Summary) -> list[str]:
    """How often the rules agree with their source, and what predicts where none applies."""
    view = _view(summary)
    sentences = [] if summary.fidelity is None else [view.fidelity_in_words(summary.fidelity)]
    if summary.missed:
        share = f"{percent(summary.missed)} of the {summary.checked_rows}"
        sentences.append(f"{share} are not covered by any rule; for such a row {in_words(summary.fallback)}.")
    else:
        sentences.append(f"Every {summary.checked_rows.removesuffix('s')} is covered by a rule.")
    return sentences


def cost_in_words(rules: RuleSet) -> str:
    """What a rule costs."""
    seen = rules.evidence
    if seen is None or bool((abs(seen.cost - 1.0 - seen.impurity) < 1e-12).all()):
        return "A rule costs 1 plus its impurity, so that a choice is cheap if its rules are few and pure."
    return (
        "A rule costs 1 plus the weights that were set on its impurity and its length, over the weight that a booster "
        "gives to its tree or leaf."
    )


def proved_in_words(summary: Summary) -> list[str]:
    """What is proved of the rules, and what they cost; empty where they are not a cover."""
    if summary.certificate is None:
        return []
    return [*certificate_in_words(summary.certificate), cost_in_words(summary.rules)]


def path_in_words(summary: Summary) -> list[str]:
    """How good other sizes are; empty where there are none."""
    if not summary.path:
        return []
    sizes = ", ".join(f"{_some(size, 'rule')} {score:.3f}" for size, score in summary.path)
    measure = summary.path_by or _view(summary).measure
    return [f"Cross-validated {measure} on the training rows by the number of rules: {sizes}."]


def provenance_in_words(provenance: Provenance | None) -> list[tuple[str, str]]:
    """Where rules come from, as names and values; empty where that is not known."""
    if provenance is None:
        return []
    data = provenance.data
    return [
        ("Trained on", f"{provenance.date}, by {provenance.version}"),
        ("Made by", provenance.made_by),
        ("Seed", "none" if provenance.seed is None else str(provenance.seed)),
        ("Source model", provenance.source),
        ("Training rows", f"{data.rows:,}, with {_some(provenance.n_columns, 'column')}"),
        ("Fingerprint", f"{data.digest}, by the target and {_some(len(data.columns), 'column')} that the rules use"),
    ]


def votes_in_words(summary: Summary) -> list[str]:
    """What every row starts with, and what votes are; empty where that is nothing."""
    begins = _view(summary).start_in_words(summary.votes)
    if not summary.log_odds:
        return begins
    if len(summary.votes[0]) == 2:
        return [*begins, "Votes are log-odds: logarithms of the probability of a class over that of the other."]
    return [*begins, "Votes are log-odds: the probabilities are the softmax of their sums."]


def _view(summary: Summary) -> TargetView:
    assert summary.rules.evidence is not None
    return summary.rules.evidence.view


def certificate_in_words(certificate: Certificate) -> list[str]:
    """What is proved of a cover, for readers who do not know what a lower bound is."""
    words = {
        "these": "this one rule" if certificate.n_rules == 1 else f"these {certificate.n_rules:,} rules",
        "cover": "covers" if certificate.n_rules == 1 else "cover",
        "cost": short_number(round(certificate.objective, 3)),
        "short": _some(certificate.n_uncovered, "training row"),
    }
    sentences = [_STATUS[certificate.status.value].format(**words)]
    if certificate.status.value in ("feasible", "time limit"):
        sentences.append(_room(certificate))
    if certificate.min_rules > 1 and not certificate.n_uncovered:
        so = ": these are as few as can be" if certificate.min_rules == certificate.n_rules else ", whatever its cost"
        sentences.append(f"No choice that covers every training row has fewer than {certificate.min_rules} rules{so}.")
    if certificate.n_capped:
        sentences.append(
            f"{_some(certificate.n_capped, 'row')} could not be covered as often as asked; every rule there is covers "
            f"{'it' if certificate.n_capped == 1 else 'them'}."
        )
    if certificate.n_left_out:
        rows = _some(certificate.n_left_out, "more training row")
        sentences.append(f"{rows} could not be covered by any rule; these statements are about the other rows.")
    return sentences


_STATUS = {
    "optimal": "Optimal: {these} {cover} every training row at a total cost of {cost}, and it is proved that no other "
    "choice costs less (by more than a millionth).",
    "feasible": "Every training row is covered by {these}, at a total cost of {cost}.",
    "time limit": "The time was up. The best choice found is {these}: every training row is covered, at a total cost "
    "of {cost}.",
    "limited": "The limit on the number of rules leaves {short} covered less often than asked. The total cost of "
    "{these} is {cost}; nothing is proved of a choice that leaves rows out.",
}


_SOURCE = {"LP": "linear programming", "LP and count": "linear programming and a count of the rules"}


def _room(certificate: Certificate) -> str:
    bound = short_number(math.floor(1000 * certificate.bound) / 1000)  # rounded up it would promise too much
    if certificate.gap == 0:
        return f"No choice costs less than {bound}."
    weak = (
        " This bound is quick and may be weak: the solvers search and exact prove better ones."
        if certificate.source == "dual fitting"
        else ""
    )
    source = _SOURCE.get(certificate.source, certificate.source)
    return (
        f"No choice costs less than {bound} (by {source}), so a better one could save "
        f"{percent(certificate.gap)} of the cost at most.{weak}"
    )


def _some(number: int, noun: str, nouns: str = "") -> str:
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"


def score_table(scores: Sequence[Score]) -> str:
    """The figures and the size of each model, aligned; below the first its 95 % intervals."""
    names = list(dict.fromkeys(figure.name for each in scores for figure in each.figures))
    rows = [_score_row(each, names, _figure_text) for each in scores]
    rows.insert(1, _score_row(replace(scores[0], name="  95 % interval", size=""), names, _interval_text))
    heads = [_in_two_lines(printable(name)) for name in names]
    above, below = ("", *(head[0] for head in heads), ""), ("", *(head[1] for head in heads), "size")
    return aligned([above, below, *rows], right=(False, *[True] * len(names), False))


def _in_two_lines(name: str) -> tuple[str, str]:
    """A heading cut between two words so that it is as narrow as can be."""
    words = name.split(" ")
    cuts = [(" ".join(words[:k]), " ".join(words[k:])) for k in range(len(words))]
    return min(cuts, key=lambda lines: max(map(len, lines)))


def _score_row(each: Score, names: Sequence[str], cell: Callable[[Figure], str]) -> tuple[str, ...]:
    known = {figure.name: cell(figure) for figure in each.figures}
    return (printable(each.name), *(known.get(name, "") for name in names), each.size)


def score_rows(scores: Sequence[Score]) -> list[tuple[str, list[tuple[str, str]]]]:
    """For each figure its name, and the value and interval of each model; empty where a model has no such figure."""
    known = [{figure.name: figure_cell(figure) for figure in each.figures} for each in scores]
    names = dict.fromkeys(name for each in known for name in each)
    return [(name, [each.get(name, ("", "")) for each in known]) for name in names]


def figure_cell(figure: Figure) -> tuple[str, str]:
    """A figure and its interval, as two texts."""
    return _figure_text(figure), _interval_text(figure)


_MEANINGS = {
    "balanced accuracy": "Balanced accuracy is the mean recall of the classes.",
    "ROC AUC": "ROC AUC is the probability that a row of a class is ranked above one that is not.",
    "average precision": "Average precision is the mean precision as rows are taken from the likeliest down.",
    "R²": "R² is the share of the variance that is explained.",
}


def figure_meanings(scores: Sequence[Score]) -> str:
    """What the names of figures mean."""
    names = [figure.name for figure in scores[0].figures]
    return " ".join(text for name, text in _MEANINGS.items() if any(each.startswith(name) for each in names))


def _figure_text(figure: Figure) -> str:
    return figure_in_words(figure, figure.value)


def _interval_text(figure: Figure) -> str:
    if not figure.is_defined:
        return ""
    between = "–" if figure.low >= 0 else " to "
    return f"{figure_in_words(figure, figure.low)}{between}{figure_in_words(figure, figure.high)}"


def figure_in_words(figure: Figure, value: float) -> str:
    """A value of a figure: three digits for a share, four that count for an error in the unit of the target."""
    if not figure.is_defined:
        return "–"
    return format_number(value) if figure.name == "mean absolute error" else score(value)


def class_table(summary: Summary) -> str:
    """Recall and precision of each class with their intervals, aligned; empty for two classes, and for numbers."""
    seen = summary.rules.evidence
    if summary.held_out is None or not isinstance(seen, ClassEvidence) or not 2 < len(seen.classes) <= _MOST_CLASSES:
        return ""
    lines = Confusion.of(seen.classes, summary.held_out).lines
    rows = [(line.name, f"{line.rows:,}", str(line.recall), str(line.precision)) for line in lines]
    return aligned([("class", "rows", "recall", "precision"), *rows], right=(False, True, True, True))


def check_columns(summary: Summary) -> dict[str, list[str]]:
    """What held-out rows say of each rule, as columns of a table."""
    checks = summary.checks
    if checks is None:
        return {}
    each = range(len(checks.support))
    return {
        "held out" if summary.checked_rows == "held-out rows" else "checked": [
            f"{n:,}" for n in checks.support.tolist()
        ],
        f"{checks.name} there": [checks.text(j) for j in each],
    }
