"""What the rules of a path are to predict: the labels, softened by what the model predicts out of bag."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, logsumexp

from rulecover.rulepath.logistic import shares_of
from rulecover.targets.samples import Samples
from rulecover.targets.target import Target
from rulecover.typing import Floats

#: Shares below this, divided by the number of classes, are as good as none.
_NOTHING = 1e-3
#: The logarithms of the exponents that are tried, and the digits of the one that is taken.
_EXPONENTS = (-1.5, 2.5)
_DIGITS = 3


def calibrated(shares: Floats, truth: Floats, weight: Floats) -> Floats:
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

    Examples
    --------
    >>> truth = np.eye(2)[[0, 0, 0, 1]]
    >>> calibrated(np.array([[0.6, 0.4], [0.6, 0.4], [0.6, 0.4], [0.6, 0.4]]), truth, np.ones(4))[0].round(3).tolist()
    [0.75, 0.25]
    """
    logs = np.log(np.maximum(shares, _NOTHING / shares.shape[1]))

    def loss(log_exponent: float) -> float:
        scores = np.exp(log_exponent) * logs
        return float(weight @ (logsumexp(scores, axis=1) - (truth * scores).sum(axis=1)))

    # Rounded, so that the last digits of a flat minimum decide nothing.
    found = np.round(minimize_scalar(loss, bounds=_EXPONENTS, method="bounded").x, _DIGITS)
    return np.asarray(np.exp(log_softmax(np.exp(found) * logs, axis=1)))


def softened_response(
    samples: Samples, target: Target, model: Any, model_share: float, *, calibrate: bool = False
) -> Floats:
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
        Its share, between 0 and 1.
    calibrate
        Whether its predictions are shares of classes that are to be `calibrated` first.

    Returns
    -------
    Floats
        Samples x responses.
    """
    response = target.responses(samples.labels)
    if not model_share:
        return response
    predicted = target.predicted_responses(model, samples.X)
    if calibrate:
        shares = calibrated(shares_of(predicted), shares_of(response), samples.count)
        predicted = shares[:, -response.shape[1] :]
    return (1.0 - model_share) * response + model_share * predicted
