"""What the rules of a path are to predict: the labels, softened by what the model predicts out of bag."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, logsumexp

from rulecover.clock import is_late
from rulecover.rulepath.logistic import shares_of
from rulecover.targets.samples import Samples
from rulecover.targets.target import Target
from rulecover.typing import Floats

#: Shares below this, divided by the number of classes, are as good as none.
_NOTHING = 1e-3
#: The logarithms of the exponents that are tried, and the digits of the one that is taken.
_EXPONENTS = (-1.5, 2.5)
_DIGITS = 3
#: A model misses about this part of what can be known of numbers.
_MISSED = 0.1
#: A fifth at least of what rules are to predict are the labels.
_LARGEST_SHARE = 0.8
#: The penalty on log-odds where labels follow from the columns, and how many times as much it is where nothing does.
_LEAST_RIDGE, _TIMES = 0.25, 16.0


class Response(NamedTuple):
    """What rules are to predict.

    Parameters
    ----------
    values
        Samples x responses.
    noise
        How noisy the classes must be, from 0 to 1, as `noise_of` says; ``None`` where it is not known.
    """

    values: Floats
    noise: float | None = None


class Calibrated(NamedTuple):
    """Shares of classes, rows x classes, and what is left of the log loss."""

    shares: Floats
    loss: float


def calibrated(shares: Floats, truth: Floats, weight: Floats, *, deadline: float | None = None) -> Calibrated:
    """The shares raised to the power that makes the true classes most likely, rows x classes.

    Shares of the trees of a forest are too even where classes are many, and too uneven where labels are noisy; one
    exponent mends both, and keeps the order of the classes in each row.

    Parameters
    ----------
    shares
        What a model predicts for rows that it was not trained on.
    truth
        1 for the true class of each row and 0 for the others, or shares.
    weight
        The weight of each row.
    deadline
        When to take the best power so far, by `time.perf_counter`.

    Examples
    --------
    >>> truth = np.eye(2)[[0, 0, 0, 1]]
    >>> calibrated(np.array([[0.6, 0.4]] * 4), truth, np.ones(4)).shares[0].round(3).tolist()
    [0.75, 0.25]
    """
    logs = log_shares(shares)
    found = best_exponent(lambda log_exponent: calibration_loss(log_exponent, logs, truth, weight), deadline)
    return Calibrated(raised(shares, found), calibration_loss(found, logs, truth, weight))


def raised(shares: Floats, log_exponent: float) -> Floats:
    """Shares to a power whose logarithm is given, so that they add up to 1 again; none of them is nothing.

    >>> raised(np.array([[0.8, 0.2], [1.0, 0.0]]), np.log(2)).round(3).tolist()
    [[0.941, 0.059], [1.0, 0.0]]
    """
    return np.asarray(np.exp(log_softmax(np.exp(log_exponent) * log_shares(shares), axis=1)))


def log_shares(shares: Floats) -> Floats:
    """The logarithms of shares, none of them below what is as good as nothing."""
    return np.asarray(np.log(np.maximum(shares, _NOTHING / shares.shape[1])))


def calibration_loss(log_exponent: float, logs: Floats, truth: Floats, weight: Floats) -> float:
    """How unlikely the true classes are by shares that are raised to a power; their logarithms are given."""
    scores = np.exp(log_exponent) * logs
    return float(weight @ (logsumexp(scores, axis=1) - (truth * scores).sum(axis=1)))


def best_exponent(
    loss: Callable[[float], float], deadline: float | None = None, *, bounds: tuple[float, float] = _EXPONENTS
) -> float:
    """The logarithm of the best exponent, rounded: the last digits of a flat minimum decide nothing."""
    tried: dict[float, float] = {}

    def timed(log_exponent: float) -> float:
        if tried and is_late(deadline):
            raise TimeoutError
        tried[log_exponent] = loss(log_exponent)
        return tried[log_exponent]

    try:
        found = minimize_scalar(timed, bounds=bounds, method="bounded").x
    except TimeoutError:
        found = min(tried, key=lambda log_exponent: tried[log_exponent])
    return float(np.round(found, _DIGITS))


def noise_of(loss: float, totals: Floats) -> float:
    """How noisy classes must be: the log loss of honest predictions, as a share of that without any.

    Parameters
    ----------
    loss
        The log loss of a model on rows that it was not trained on, summed over their weights.
    totals
        The weight of each class.

    Examples
    --------
    >>> noise_of(0.0, np.array([5.0, 5.0])), noise_of(9.0, np.array([5.0, 5.0]))
    (0.0, 1.0)
    """
    some = totals[totals > 0]
    alone = float(-(some @ np.log(some / some.sum())))
    return float(np.round(min(1.0, loss / alone), _DIGITS)) if alone > 0 else 0.0


def ridge_by_noise(noise: float | None) -> float:
    """The penalty on votes that add up to log-odds: the noisier the classes, the smaller the votes.

    >>> [ridge_by_noise(noise) for noise in (0.0, 0.25, 1.0, None)]
    [0.25, 0.5, 4.0, 0.5]
    """
    return float(_LEAST_RIDGE * _TIMES ** (0.25 if noise is None else noise))


def share_by_noise(response: Floats, predicted: Floats, weight: Floats) -> float:
    """The share of honest predictions in what rules are to predict, by how noisy the numbers must be.

    What the predictions leave of the variance is noise, and what the model misses of the rest, about a tenth. Labels
    and predictions then count by the inverse of their errors: the noisier the labels, the more the predictions.

    Parameters
    ----------
    response
        The numbers, samples x 1.
    predicted
        What a model predicts for them that was not trained on them, samples x 1.
    weight
        The weight of each sample.

    Examples
    --------
    >>> y = np.array([[0.0], [2.0], [0.0], [2.0]])
    >>> shares = [share_by_noise(y, y + error, np.ones(4)) for error in (0.1, 0.5, 0.7, 2.0)]
    >>> np.round(shares, 2).tolist()
    [0.0, 0.67, 0.8, 0.8]
    """
    spread = float(weight @ np.square(response[:, 0] - np.average(response[:, 0], weights=weight)))
    left = float(weight @ np.square(response - predicted)[:, 0])
    if left <= _MISSED * spread:
        return 0.0
    return min(_LARGEST_SHARE, (1.0 - _MISSED * spread / left) / (1.0 - _MISSED))


def softened_response(
    samples: Samples,
    target: Target,
    model: Any,
    model_share: float | None,
    *,
    calibrate: bool = False,
    deadline: float | None = None,
) -> Response:
    """What the rules are to predict: y and, with a weight of `model_share`, what the model predicts for the samples.

    Parameters
    ----------
    samples
        The training samples.
    target
        What is predicted.
    model
        What it predicts for the samples is part of the response.
    model_share
        Its share, between 0 and 1; ``None`` for what `share_by_noise` says of honest predictions of numbers.
    calibrate
        Whether its predictions are shares of classes that are to be `calibrated` first.
    deadline
        When that must be done, by `time.perf_counter`.
    """
    response = target.responses(samples.labels)
    if model_share == 0:
        return Response(response)
    predicted = target.predicted_responses(model, samples.X)
    if model_share is None:
        model_share = share_by_noise(response, predicted, samples.count)
    noise = None
    if calibrate:
        truth = shares_of(response)
        shares, loss = calibrated(shares_of(predicted), truth, samples.count, deadline=deadline)
        noise = noise_of(loss, samples.count @ truth)
        predicted = shares[:, -response.shape[1] :]
    return Response((1.0 - model_share) * response + model_share * predicted, noise)
