"""The random models that are recorded: one recipe for each way to rules, taken in turns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from record_data import Data, Target, data_of
from record_settings import (
    MISTAKES,
    RULES_BY_HAND,
    Settings,
    boosting_settings,
    cover_settings,
    drawn,
    path_settings,
    without_conflicts,
)
from record_sources import TRAINABLE, TRAINED, Source, trained

import rulecover

SEED = 20200714


@dataclass(frozen=True)
class Case:
    """A model to come: what it is called, its data, what was drawn for it, and how it is fitted in a folder."""

    title: str
    data: Data
    settings: Settings
    fit: Callable[[Path], Any]


Recipe = Callable[[np.random.Generator, int, Target], Case]

_ENDING: dict[Target, str] = {"classes": "Classifier", "numbers": "Regressor"}


def case(number: int) -> Case:
    """The model of this number; it does not depend on which others are made."""
    rng = np.random.default_rng([SEED, number])
    turn, place = divmod(number, len(ROUND))
    recipe, target = ROUND[place]
    before = sum(other is recipe for other, _ in ROUND[:place])
    return recipe(rng, turn * sum(other is recipe for other, _ in ROUND) + before, target)


def _estimator(name: str, target: Target) -> Any:
    return getattr(rulecover, name + _ENDING[target])


def _data(rng: np.random.Generator, source: Source, target: Target) -> Data:
    return data_of(rng, source.kinds[int(rng.integers(len(source.kinds)))], target, codes=source.codes)


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31))


def _fit(make: Callable[[], Any], data: Data, folder: Path) -> Any:
    return make().fit(data.X, data.y, **_weights(data))


def _weights(data: Data) -> Settings:
    return {} if data.weight is None else {"sample_weight": data.weight}


def _nth(sources: dict[str, Source], nth: int) -> tuple[str, Source]:
    """One source after the other, each pass one further on, so that a source meets other recipes of a round."""
    return list(sources.items())[(nth + nth // len(sources)) % len(sources)]


# The recipes ----------------------------------------------------------------------------------------------------


def cover(rng: np.random.Generator, nth: int, target: Target) -> Case:
    """MIRCO trains the model itself."""
    name, source = _nth(TRAINABLE, nth)
    data = _data(rng, source, target)
    settings = drawn(rng, cover_settings(target), data) | {"random_state": _seed(rng)}
    make = partial(_estimator("MIRCO", target), source.make(target, _seed(rng)), **settings)
    return Case(f"mirco {target} {name}", data, settings, partial(_fit, make, data))


def explained(rng: np.random.Generator, nth: int, target: Target) -> Case:
    """`explain` of a trained model, its booster or its file."""
    name, source = _nth({name: source for name, source in (TRAINED | TRAINABLE).items() if name != "default"}, nth)
    data = _data(rng, source, target)
    settings = drawn(rng, cover_settings(target), data) | {"random_state": _seed(rng)}
    model = source.make(target, _seed(rng))

    def fit(folder: Path) -> Any:
        return rulecover.explain(
            trained(name, model, data, folder), data.X, data.y, method="cover", **_weights(data), **settings
        )

    return Case(f"explain {target} {name}", data, settings, fit)


def boosted(rng: np.random.Generator, nth: int, target: Target) -> Case:
    """RCBoost, fitted a second time with more calls where it starts warm."""
    name, source = _nth({name: TRAINABLE[name] for name in ("tree", "default")}, nth)
    data = _data(rng, source, target)
    settings = drawn(rng, boosting_settings(target), data) | {"random_state": _seed(rng)}
    make = partial(_estimator("RCBoost", target), source.make(target, _seed(rng)), **settings)

    def fit(folder: Path) -> Any:
        model = _fit(make, data, folder)
        return model.set_params(max_rmp_calls=9).fit(data.X, data.y, **_weights(data)) if model.warm_start else model

    return Case(f"rcboost {target} {name}", data, settings, fit)


def path(rng: np.random.Generator, nth: int, target: Target) -> Case:
    """A rule path through a model that it trains."""
    name, source = _nth(TRAINABLE, nth)
    data = _data(rng, source, target)
    settings = without_conflicts(drawn(rng, path_settings(target), data)) | {"random_state": _seed(rng)}
    make = partial(_estimator("RulePath", target), source.make(target, _seed(rng)), **settings)
    return Case(f"path {target} {name}", data, settings, partial(_fit, make, data))


def preset(rng: np.random.Generator, nth: int, target: Target) -> Case:
    """The named settings: `as_in_paper` of covers of numbers and of boosted classes, and `few_rules`."""
    few = target == "classes" and nth // 2 % 2 == 1
    data = _data(rng, TRAINABLE["forest" if few else "tree"], target)
    settings: Settings = {"random_state": _seed(rng)}
    if few:
        settings |= {"class_weight": [None, "balanced"][nth // 4 % 2], "max_rmp_calls": 2}
        make = partial(rulecover.RCBoostClassifier.few_rules, 6, **settings)
    elif target == "classes":
        settings |= {"max_rmp_calls": 4}
        make = partial(rulecover.RCBoostClassifier.as_in_paper, **settings)
    else:
        make = partial(rulecover.MIRCORegressor.as_in_paper, TRAINABLE["forest"].make(target, 0), **settings)
    return Case(f"{'few rules' if few else 'as in paper'} {target}", data, settings, partial(_fit, make, data))


def covered_pool(rng: np.random.Generator, nth: int, target: Target) -> Case:
    """`explain` of another model of rules."""
    inner = (boosted, path, cover)[nth % 3](rng, nth, target)
    settings = drawn(rng, cover_settings(target), inner.data) | {"random_state": _seed(rng)}

    def fit(folder: Path) -> Any:
        return rulecover.explain(
            inner.fit(folder), inner.data.X, inner.data.y, method="cover", **_weights(inner.data), **settings
        )

    return Case(f"explain {inner.title}", inner.data, settings | {"pool": inner.settings}, fit)


def linear(rng: np.random.Generator, nth: int, target: Target) -> Case:
    """A sparse linear model on the rules of another."""
    inner = (boosted, cover)[nth // 2 % 2](rng, nth, target)
    settings: Settings = {"C": [0.1, 0.5, 2.0][nth % 3]}

    def fit(folder: Path) -> Any:
        data = inner.data
        return rulecover.linear_rules(inner.fit(folder), data.X, data.y, **_weights(data), **settings)

    return Case(f"linear {inner.title}", inner.data, settings | {"rules": inner.settings}, fit)


def by_hand(rng: np.random.Generator, nth: int, target: Target) -> Case:
    """`explain` of rules that no model made."""
    rules = RULES_BY_HAND[nth % len(RULES_BY_HAND)]
    data = _data(rng, Source(lambda target, seed: None, ("gaps", "array", "frame with gaps")), target)
    settings = drawn(rng, cover_settings(target), data) | {"random_state": _seed(rng)}
    if settings["fallback"] == "model":  # there is none behind these rules
        settings["fallback"] = "all"

    def fit(folder: Path) -> Any:
        return rulecover.explain(rules(data), data.X, data.y, method="cover", **_weights(data), **settings)

    return Case(f"{rules.__name__.replace('_', ' ')} {target}", data, settings, fit)


def mistaken(rng: np.random.Generator, nth: int, target: Target) -> Case:
    """A setting that is refused."""
    name, settings = MISTAKES[nth % len(MISTAKES)]
    data = _data(rng, TRAINABLE["tree"], target)
    make = partial(_estimator(name, target), TRAINABLE["tree"].make(target, 0), **settings)
    return Case(f"refused {name} {target} {next(iter(settings))}", data, settings, partial(_fit, make, data))


ROUND: tuple[tuple[Recipe, Target], ...] = (
    (cover, "classes"),
    (explained, "classes"),
    (path, "classes"),
    (boosted, "classes"),
    (cover, "numbers"),
    (explained, "numbers"),
    (path, "numbers"),
    (boosted, "numbers"),
    (cover, "classes"),
    (explained, "classes"),
    (preset, "classes"),
    (preset, "numbers"),
    (covered_pool, "classes"),
    (covered_pool, "numbers"),
    (linear, "classes"),
    (linear, "numbers"),
    (by_hand, "classes"),
    (by_hand, "numbers"),
    (mistaken, "classes"),
    (mistaken, "numbers"),
    (explained, "numbers"),
    (explained, "classes"),
    (cover, "numbers"),
    (boosted, "classes"),
    (path, "classes"),
)
