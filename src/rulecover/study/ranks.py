"""How models compare over the data sets: mean ranks, and the Bayesian signed-rank test."""

from __future__ import annotations

import itertools
from typing import Any

import pandas as pd
from scipy.stats import friedmanchisquare

from rulecover.exceptions import StudyError
from rulecover.study.paper import comparable, means
from rulecover.study.sheets import Sheet

#: Accuracies this close are as good as equal.
ROPE = 0.01

#: A target that is not a diagnosis: every comparison is made with and without it.
DOUBTFUL = "liver"

#: Of the posterior; the probabilities are good to a hundredth.
_SAMPLES = 10_000

_NOTE = (
    f"Bayesian signed-rank test by baycomp; accuracies within {ROPE} count as equal. Each line: how probable "
    "it is that the first model is better on a new data set, that both are as good, and that the second is better."
)


def complete_means(frame: Any, without: tuple[str, ...] = ()) -> Any:
    """Mean accuracies, data sets x models, of the models that were run on every data set that counts."""
    one, _ = comparable(frame)
    mean, _, _ = means(one[~one["dataset"].isin(without)], "accuracy")
    return mean.dropna(axis="columns", how="any")


def left_out(frame: Any) -> list[str]:
    """What is not compared, in sentences: data sets with few models, and models without all other data sets."""
    one, notes = comparable(frame)
    every = one["dataset"].nunique()
    sets = one.groupby("model")["dataset"].nunique().reindex(sorted(set(frame["model"])), fill_value=0)
    named = ", ".join(f"{model} ({count})" for model, count in sets[sets < max(every, 1)].items())
    return [*notes, f"Models left out because they were not run on all {every} data sets: {named}."] if named else notes


def mean_ranks(frame: Any) -> Sheet:
    """Mean ranks (1 is best) with and without the doubtful data set, and Friedman's test that all are equal."""
    columns, notes = {}, []
    for label, without in _variants(frame):
        accuracies = complete_means(frame, without)
        columns[label] = accuracies.rank(axis="columns", ascending=False).mean()
        columns[f"mean accuracy {label}"] = accuracies.mean()
        if len(accuracies) > 2 and accuracies.shape[1] > 2:
            p = friedmanchisquare(*accuracies.to_numpy().T).pvalue
            notes.append(
                f"Friedman's test that all models are equal, {label}: p = {p:.2g} ({len(accuracies)} data sets)."
            )
    table = pd.DataFrame(columns)
    table = table.sort_values(table.columns[0])
    rows = [
        [str(model), *(f"{value:.3f}" for value in line)]
        for model, line in zip(table.index, table.to_numpy(), strict=True)
    ]
    numbers = table.rename_axis("model").reset_index()
    return Sheet(
        "ranks", "Mean ranks by accuracy", ["model", *table.columns], rows, numbers, [*notes, *left_out(frame)]
    )


def signed_ranks(frame: Any, *, seed: int = 0) -> Sheet:
    """Every pair of models by the Bayesian signed-rank test, with and without the doubtful data set."""
    try:
        from baycomp import SignedRankTest
    except ImportError as error:
        raise StudyError("the signed-rank test needs baycomp: pip install 'rulecover[study]'.") from error
    lines = []
    for label, without in _variants(frame):
        accuracies = complete_means(frame, without)
        for first, second in itertools.combinations(accuracies.columns, 2):
            x, y = accuracies[first].to_numpy(), accuracies[second].to_numpy()
            # baycomp's left is the first model: where it is larger by more than the rope.
            better, equal, worse = SignedRankTest.probs(x, y, rope=ROPE, nsamples=_SAMPLES, random_state=seed)
            lines.append((label, first, second, better, equal, worse, len(accuracies)))
    head = ["data sets", "first", "second", "first better", "as good", "second better", "sets"]
    rows = [[*line[:3], *(f"{p:.3f}" for p in line[3:6]), str(line[6])] for line in lines]
    notes = [_NOTE, *left_out(frame)]
    return Sheet("signed_ranks", "Pairs of models", head, rows, pd.DataFrame(lines, columns=head), notes)


def _variants(frame: Any) -> list[tuple[str, tuple[str, ...]]]:
    every: list[tuple[str, tuple[str, ...]]] = [("on all data sets", ())]
    return [*every, (f"without {DOUBTFUL}", (DOUBTFUL,))] if DOUBTFUL in set(frame["dataset"]) else every
