"""Scores of every size in folds that keep the model: rules are chosen and weighed again among the same candidates."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from rulecover.rulepath.candidates import Candidates
from rulecover.rulepath.family import RowPredictions
from rulecover.rulepath.path import PathRecipe, rule_path
from rulecover.rulepath.response import Response
from rulecover.rulepath.sizes import Score, SizeScores, size_scores
from rulecover.targets.samples import Samples
from rulecover.typing import Ints


@dataclass(frozen=True, eq=False)
class PathData:
    """All that a path is made from.

    Parameters
    ----------
    samples
        The rows that count.
    places
        Their places among the rows that were given.
    candidates
        The rules to choose from, evaluated on the samples.
    response
        What the rules are to predict.
    cut
        What there was no time for, in words.
    drawn_from
        Their places among the rows that the model was trained on, by which it knows what it drew; ``None`` if what it
        drew is not known.
    all_trained
        Whether the model that the rules come from was trained on all rows, and not cut short.
    """

    samples: Samples
    places: Ints
    candidates: Candidates
    response: Response
    cut: str = ""
    drawn_from: Ints | None = None
    all_trained: bool = True

    def among(self, rows: Ints, *, min_samples: int) -> PathData:
        """The same for some of the samples; candidates that cover too few of them are left out."""
        candidates = self.candidates.among(rows, min_samples=min_samples)
        response = self.response._replace(values=self.response.values[rows])
        return PathData(self.samples.among(rows), self.places[rows], candidates, response)


def scores_with_kept_model(
    data: PathData,
    folds: Iterable[tuple[Ints, Ints]],
    recipe_for: Callable[[Candidates], PathRecipe],
    model: RowPredictions | None,
    *,
    min_samples: int,
    by: Score | None = None,
) -> list[SizeScores]:
    """The scores of every size on the rows that each fold holds out.

    The candidates are those of the model as it is, which may have been trained on these rows too: the scores of large
    sets are a little too high. The choice among them, and the votes, come from the other rows alone.

    Parameters
    ----------
    data
        What the path is made from.
    folds
        Rows to learn from and rows to check on, counted among the rows that were given.
    recipe_for
        The recipe of a path through some candidates.
    model
        What the model predicts for the samples, best by trees that were not trained on them; ``None`` if it cannot be
        asked.
    min_samples
        The fewest samples that a rule may cover.
    by
        The score by which a size is chosen.
    """
    place = np.full(1 + int(data.places.max()), -1)
    place[data.places] = np.arange(len(data.places))
    scores = []
    for fold in folds:
        learn, check = (_counted(place, rows) for rows in fold)
        if learn.size and check.size:
            part = data.among(learn, min_samples=min_samples)
            family = rule_path(part.samples, part.candidates, part.response.values, recipe_for(part.candidates))
            predicted = None if model is None else model.among(check)
            scores.append(size_scores(family, data.samples.among(check), predicted, by))
    return scores


def _counted(place: Ints, rows: Ints) -> Ints:
    """The places of these rows among the samples, without those that do not count."""
    places = place[rows[rows < len(place)]]
    return places[places >= 0]
