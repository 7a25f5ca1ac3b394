"""Training in time: on all rows, or on as many of them as there is time for."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.pipeline import Pipeline

from rulecover.clock import check_in_time
from rulecover.exceptions import RulecoverError
from rulecover.partitions.mirco import Grouped
from rulecover.targets.samples import Samples
from rulecover.typing import Array, Floats, Ints
from rulecover.voting.vote import Vote
from rulecover.voting.voting_on import FittedVote

T = TypeVar("T")

#: How many rows are trained on first, or asked about; fewer than `_FEWEST` do not say what others will take.
_FIRST, _FEWEST = 1000, 100
#: Of more columns than these fewer rows are trained on first, so that they have no more values together.
_COLUMNS = 100
#: How time grows with rows: as this power of them, at most.
_POWER = 1.2
#: How many times as long as the last training the next one may take, unless it is on all rows.
_STEP = 16.0
#: A model of fewer times as many rows is not worth its time.
_WORTH = 2.0
#: Where fewer than one row in this many was trained on, the time that all rows take is known to this factor only.
_FAR, _FACTOR = 16, 4.0

#: How many responses, one for each row and class, a path takes per second until it has a rule, roughly; with this many
#: trees to choose rules from, half as many. And the seconds by which it may be late.
_RESPONSES, _TREES, _LATE = 4e6, 250, 0.5

#: Seconds that votes may take once time is up, and those that they have in any case.
_TO_FIT, _AT_LEAST = 1.0, 0.5
#: How many votes are fitted to few rows per second, roughly, and how many in no time.
_VOTES, _FEW_VOTES = 2e6, 1e5
#: As many votes are fitted in the time that one clause takes.
_OF_A_CLAUSE = 10


class SamplingOrder(NamedTuple):
    """The rows to train on in the order in which they are taken.

    Parameters
    ----------
    rows
        The rows.
    least
        How many of them must be taken. Two rows of each class are among these.
    fewest
        How many are taken where there is no time for that either. With hundreds of classes, these are of some of them.
    """

    rows: Ints
    least: int
    fewest: int


def sampling_order(y: Array, weight: Floats | None, *, classes: bool, n_columns: int = 1) -> SamplingOrder:
    """The rows at random, two rows of each class first: libraries need one of each, and some set one aside.

    These are taken class by class.

    Parameters
    ----------
    y
        What is to be predicted.
    weight
        What each row counts; rows of no weight are left out, but for one of each class that has no others: a model
        must know its label.
    classes
        Whether y has classes.
    n_columns
        How many values each row has.

    Examples
    --------
    >>> [sampling_order(np.zeros(5000), None, classes=False, n_columns=n).least for n in (10, 500, 5000)]
    [1000, 200, 100]
    >>> order = sampling_order(np.array([0] * 50 + [1] * 2), None, classes=True)
    >>> sorted(order.rows[: order.least].tolist())[-2:], len(order.rows)
    ([50, 51], 52)
    >>> y = np.arange(5000) % 1000
    >>> order = sampling_order(y, None, classes=True)
    >>> order.least, order.fewest, len(np.unique(y[order.rows[: order.fewest]]))
    (2000, 1000, 500)
    """
    rows = np.random.default_rng(0).permutation(_to_train_on(y, weight, classes=classes))
    first = min(len(rows), max(_FEWEST, min(_FIRST, _FIRST * _COLUMNS // max(1, n_columns))))
    if not classes:
        return SamplingOrder(rows, first, first)
    _, at, codes, counts = np.unique(y[rows], return_index=True, return_inverse=True, return_counts=True)
    by_class = np.argsort(codes, kind="stable")
    rank = np.empty(len(rows), dtype=np.intp)
    rank[by_class] = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    turn = np.where(rank < 2, at[codes], len(rows))  # classes in the order of their first rows, then all other rows
    ends = np.cumsum(np.minimum(counts, 2)[np.argsort(at)])
    least = max(first, int(ends[-1]))
    fewest = least if least == first else int(ends[np.searchsorted(ends, first, side="right") - 1])
    return SamplingOrder(rows[np.argsort(turn, kind="stable")], least, fewest)


def _to_train_on(y: Array, weight: Floats | None, *, classes: bool) -> Ints:
    if weight is None:
        return np.arange(len(y))
    counted = np.flatnonzero(weight > 0)
    if not classes:
        return counted
    labels, first = np.unique(y, return_index=True)
    return np.concatenate([counted, first[~np.isin(labels, y[counted])]])


def trained_in_time(train: Callable[[Ints], T], order: SamplingOrder, deadline: float) -> tuple[T, int]:
    """What `train` makes of as many rows as there is time for, and how many they are.

    A model of few rows is trained first. What it took says how many rows there is time for next; if these are all, no
    others are tried before, unless they are very many more. Where training on few rows is an error, for example because
    a tree is to draw more rows than there are, or folds have no row of some class, more are taken until it is not.

    Parameters
    ----------
    train
        From rows to a model that is trained on them.
    order
        The rows, in the order in which they are taken.
    deadline
        When the model must be trained, by `time.perf_counter`. One of the fewest rows is trained in any case.

    Examples
    --------
    >>> order = sampling_order(np.zeros(5000), None, classes=False)
    >>> trained_in_time(len, order, time.perf_counter() + 60), trained_in_time(len, order, time.perf_counter())
    ((5000, 5000), (1000, 1000))
    """
    size, n_rows = order.least, len(order.rows)
    while size < n_rows:
        begin = time.perf_counter()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about rows that were taken at random
                model = train(order.rows[:size])
        except RulecoverError:
            raise
        except Exception:  # of any library
            size = min(2 * size, n_rows)
            continue
        now = time.perf_counter()
        larger = _next_size(size, n_rows, seconds=now - begin, left=deadline - now)
        if larger == size:
            return model, size
        size = larger
    return train(order.rows), n_rows


def _next_size(size: int, n_rows: int, *, seconds: float, left: float) -> int:
    """How many rows to train on next, after a training that took some seconds; as many as before if that is enough.

    >>> [_next_size(1000, 10_000, seconds=1.0, left=left) for left in (1.0, 5.0, 20.0)]
    [1000, 3823, 10000]
    >>> [_next_size(1000, 1_000_000, seconds=1.0, left=left) for left in (4000.0, 16000.0)]
    [10079, 1000000]
    """
    times = max(0.0, left) / max(seconds, 1e-9)
    surely = times / (_FACTOR if _FAR * size < n_rows else 1.0)
    if size * surely ** (1 / _POWER) >= n_rows:
        return n_rows
    larger = int(size * min(times, _STEP) ** (1 / _POWER))
    return min(larger, n_rows) if larger >= _WORTH * size else size


def votes_deadline(end: float | None) -> float | None:
    """When votes must be fitted, given when time is up: a second later, or in half a second if it is later already.

    >>> votes_deadline(None), round(votes_deadline(time.perf_counter()) - time.perf_counter(), 2)
    (None, 1.0)
    """
    return None if end is None else max(end + _TO_FIT, time.perf_counter() + _AT_LEAST)


def can_fit_votes(vote: Vote, end: float | None) -> bool:
    """Whether there is time to fit votes, of which very many take long on few rows as well.

    Parameters
    ----------
    vote
        The votes so far.
    end
        When time is up, by `time.perf_counter`, which does not hold for a few votes.
    """
    until = votes_deadline(end)
    n_votes = vote.votes.size + _OF_A_CLAUSE * len(vote.rules.clauses.feature)
    return until is None or n_votes <= max(_FEW_VOTES, _VOTES * (until - time.perf_counter()))


def made_in_time(
    make: Callable[[Samples], T],
    samples: Samples,
    deadline: float | None,
    *,
    classes: bool,
    all_classes: bool = True,
) -> tuple[T, str]:
    """What is made of samples, or of as many as there is time for, and how many they are, in words, if not all.

    Parameters
    ----------
    make
        From samples to what is made of them, such as a tree or votes.
    samples
        All of them.
    deadline
        When it must be made, by `time.perf_counter`, unless there are few samples.
    classes
        Whether they have classes.
    all_classes
        Whether samples of all classes are needed.
    """
    if deadline is None:
        return make(samples), ""
    order = sampling_order(samples.y, samples.weight, classes=classes)
    order = order if all_classes else order._replace(least=order.fewest)

    def make_of(rows: Ints) -> T:
        return make(samples if len(rows) == len(order.rows) else samples.among(np.sort(rows)))

    made, size = trained_in_time(make_of, order, deadline)
    return made, "" if size == len(order.rows) else f"{size:,} of {len(order.rows):,} rows"


def fitted_to_groups(fit: FittedVote, vote: Vote, rows: Grouped, deadline: float | None) -> tuple[Vote, str]:
    """Votes that are fitted to groups of rows, and to how many rows, in words, if there was no time for all.

    The largest groups come first, and one of each class at least.
    """
    assert rows.y is not None
    y, n_rows = rows.y, int(rows.counts.sum())

    def fit_to(some: Ints) -> tuple[Vote, str]:
        if len(some) == len(y):
            return fit(vote, rows.covered, y, rows.weight), ""
        said = f"{int(rows.counts[some].sum()):,} of {n_rows:,} rows"
        return fit(vote, rows.covered[some], y[some], rows.weight[some]), said

    largest_first = np.argsort(-rows.counts, kind="stable")
    if deadline is None:
        return fit_to(largest_first)
    _, first = np.unique(y[largest_first], return_index=True)
    least = min(len(y), max(_FIRST, int(first.max()) + 1))
    return trained_in_time(fit_to, SamplingOrder(largest_first, least, least), deadline)[0]


def in_time(ask: Callable[[Ints], T], rows: Ints, deadline: float | None) -> T:
    """What a model says of rows, unless that would take longer than there is time for.

    Parameters
    ----------
    ask
        From rows to what the model says of them.
    rows
        The rows. A few are asked about first, and say how long it takes.
    deadline
        When the answer must be there, by `time.perf_counter`.

    Raises
    ------
    TimeoutError
        If it would not.

    Examples
    --------
    >>> in_time(len, np.arange(5), time.perf_counter() + 60)
    5
    >>> in_time(len, np.arange(5), time.perf_counter())
    Traceback (most recent call last):
    TimeoutError: time is up.
    """
    check_soon_asked(ask, rows, deadline)
    return ask(rows)


def check_soon_asked(ask: Callable[[Ints], object], rows: Ints, deadline: float | None) -> None:
    """Raises if a model, asked about a few of the rows, shows that there is no time to ask about all; see `in_time`."""
    check_in_time(deadline)
    few = min(_FIRST, len(rows) // _FAR)
    if deadline is not None and few >= _FEWEST:
        begin = time.perf_counter()
        ask(rows[:few])
        check_in_time(deadline - (time.perf_counter() - begin) * len(rows) / few)


def rows_to_follow(samples: Samples, n_outputs: int, n_trees: int, deadline: float | None) -> Ints | None:
    """The rows on which a path is followed, if there is no time to find a rule on all of them.

    Parameters
    ----------
    samples
        All rows.
    n_outputs
        How many responses each row has: one, or as many as there are classes.
    n_trees
        How many trees there are to choose rules from.
    deadline
        When the path ends, by `time.perf_counter`; all rows if there is none.
    """
    if deadline is None:
        return None
    room = int(_responses(deadline) / (n_outputs * (1 + n_trees / _TREES)))
    if room >= len(samples.y):
        return None
    order = sampling_order(samples.y, samples.weight, classes=n_outputs > 1)
    n_rows = max(room, min(_FEWEST, order.fewest))
    return np.sort(order.rows[:n_rows]) if n_rows < len(order.rows) else None


def trees_to_follow(n_rows: int, n_outputs: int, n_trees: int, deadline: float | None) -> int:
    """How many trees a path chooses rules from, if there is no time to find one among all on so few rows.

    >>> trees_to_follow(100, 3000, 20_000, None), trees_to_follow(100, 2000, 20_000, time.perf_counter())
    (20000, 2500)
    """
    if deadline is None:
        return n_trees
    return max(1, min(n_trees, int(_TREES * _responses(deadline) / (n_rows * n_outputs))))


def _responses(deadline: float) -> float:
    """How many responses there is time for in a path, if rules are chosen from few trees."""
    return max(_LATE, deadline + _LATE - time.perf_counter()) * _RESPONSES


def some_of(X: Any, rows: Ints) -> Any:
    """The first rows of X, in memory of its own only if they are not all of it."""
    return X if len(rows) == X.shape[0] else X[: len(rows)]


# Pipelines ------------------------------------------------------------------------------------------------------------


class Halves(NamedTuple):
    """A pipeline in two: the first steps, which are soon fitted to all rows, and what comes after them, by name."""

    first: list[tuple[str, Any]]
    rest: list[tuple[str, Any]]

    @property
    def last(self) -> Any:
        """What comes after the first steps, as one model."""
        return self.rest[0][1] if len(self.rest) == 1 else Pipeline(self.rest)

    def joined(self, last: Any) -> Any:
        """The whole again, with a trained model in place of `last`."""
        rest = last.steps if len(self.rest) > 1 else [(self.rest[0][0], last)]
        return Pipeline([*self.first, *rest])


def halves(model: Pipeline) -> Halves:
    """The steps of a pipeline, in front of the first one that has a model in it, and from there on.

    >>> from sklearn.feature_selection import SelectFromModel
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier()
    >>> steps = [("scale", StandardScaler()), ("select", SelectFromModel(tree)), ("tree", tree)]
    >>> [[name for name, _ in half] for half in halves(Pipeline(steps))]
    [['scale'], ['select', 'tree']]
    """
    place = next(place for place, (_, step) in enumerate(model.steps) if step is model.steps[-1][1] or has_model(step))
    return Halves(model.steps[:place], model.steps[place:])


def has_model(step: Any) -> bool:
    """Whether a step of a pipeline has a model among its settings, which may take long to train."""
    settings = step.get_params().values() if hasattr(step, "get_params") else ()
    return any(hasattr(value, "fit") and (is_classifier(value) or is_regressor(value)) for value in settings)
