"""What is drawn is where it belongs: points at their values, texts inside the figure, and none over another."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.transforms import Bbox
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.ensemble import RandomForestClassifier

import rulecover
from rulecover import MIRCOClassifier, MIRCORegressor, RCBoostClassifier, RulePathClassifier, RuleSet, explain, plot

LONG = " as it was measured in the laboratory of the university hospital"


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    pyplot.close("all")


@functools.cache
def cancer(long: bool) -> tuple[Any, Any]:
    data = load_breast_cancer(as_frame=True)
    X, y = data.data, data.target_names[data.target]
    if not long:
        return X, y
    return X.add_suffix(LONG), np.array([f"a {label} tumour, in the judgement of two pathologists" for label in y])


@functools.cache
def cover(long: bool) -> Any:
    X, y = cancer(long)
    return explain(
        RandomForestClassifier(20, max_depth=4, random_state=0).fit(X, y), X, y, method="cover", preset="as-in-paper"
    )


@functools.cache
def path(long: bool) -> Any:
    forest = RandomForestClassifier(10, max_depth=4, random_state=0)
    return RulePathClassifier(forest, max_rules=8, cv=3, random_state=0).fit(*cancer(long))


@functools.cache
def digits() -> Any:
    X, y = load_digits(return_X_y=True)
    return MIRCOClassifier(RandomForestClassifier(8, max_depth=4, random_state=0), max_rules=12).fit(X, y), X, y


@functools.cache
def of_numbers() -> tuple[Any, Any, Any]:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return MIRCORegressor(max_rules=20, random_state=0).fit(X, y), X, y


def plots(long: bool) -> dict[str, Callable[[Any], Any]]:
    X, y = cancer(long)
    few = cover(long)
    return {
        "rules": lambda ax: plot.rules(few.rules_, ax=ax),
        "features": lambda ax: plot.features(few.rules_, ax=ax),
        "overlap": lambda ax: plot.overlap(few.rules_, X, ax=ax),
        "rectangles": lambda ax: plot.rectangles(few.rules_, X, y, ax=ax),
        "coverage": lambda ax: plot.coverage(few, X, y, ax=ax),
        "reliability": lambda ax: plot.reliability(few, X, y, ax=ax),
        "explanation": lambda ax: plot.explanation(few, X, row=3, ax=ax),
        "path": lambda ax: plot.path(path(long), ax=ax),
        "explanation by a path": lambda ax: plot.explanation(path(long), X, row=3, ax=ax),
        "waterfall": lambda ax: plot.waterfall(path(long), X, row=3, ax=ax),
        "ROC": lambda ax: plot.roc(few, X, y, ax=ax),
        "precision and recall": lambda ax: plot.precision_recall(few, X, y, ax=ax),
    }


def more_plots() -> dict[str, Callable[[Any], Any]]:
    ten, X, y = digits()
    numbers, rows, values = of_numbers()
    boosted = RCBoostClassifier(max_rmp_calls=4, random_state=0).fit(*cancer(False))
    return {
        "rules of ten classes": lambda ax: plot.rules(ten.rules_, ax=ax),
        "an explanation of ten classes": lambda ax: plot.explanation(ten, X, row=1, ax=ax),
        "rectangles of ten classes": lambda ax: plot.rectangles(ten.rules_, X, y, ax=ax),
        "rules of numbers": lambda ax: plot.rules(numbers.rules_, ax=ax),
        "coverage of numbers": lambda ax: plot.coverage(numbers, rows, values, ax=ax),
        "an explanation of a number": lambda ax: plot.explanation(numbers, rows, row=1, ax=ax),
        "rectangles of numbers": lambda ax: plot.rectangles(numbers.rules_, rows, values, ax=ax),
        "history": lambda ax: plot.history(boosted, ax=ax),
    }


DRAWN = [
    *(pytest.param(functools.partial(lambda k, ax: plots(False)[k](ax), name), id=name) for name in plots(False)),
    *(
        pytest.param(functools.partial(lambda k, ax: plots(True)[k](ax), k), id=f"{k}, long names")
        for k in plots(False)
    ),
    *(pytest.param(functools.partial(lambda k, ax: more_plots()[k](ax), name), id=name) for name in more_plots()),
]


def text_boxes(figure: Any) -> dict[str, Bbox]:
    """The visible texts, by where they are and what they say, and their boxes in pixels; a legend is one box."""
    figure.canvas.draw()
    found: dict[str, Bbox] = {}
    for number, ax in enumerate(figure.axes):
        legend = ax.get_legend()
        if legend is not None:
            found[f"{number} legend"] = legend.get_window_extent()
        ticks = [label for axis in (ax.xaxis, ax.yaxis) for label in shown_ticks(axis)]
        titles = [ax.title, ax._left_title, ax._right_title, ax.xaxis.label, ax.yaxis.label]
        for k, text in enumerate([*ticks, *titles, *ax.texts]):
            if text.get_visible() and text.get_text():
                found[f"{number} {k} {text.get_text()}"] = text.get_window_extent()
    return found


def shown_ticks(axis: Any) -> Iterator[Any]:
    low, high = sorted(axis.get_view_interval())
    for tick in axis.get_major_ticks():
        if low <= tick.get_loc() <= high and tick.label1.get_visible():
            yield tick.label1


def overlapping(boxes: dict[str, Bbox]) -> list[tuple[str, str]]:
    return [(a, b) for a, b in itertools.combinations(boxes, 2) if is_over(boxes[a], boxes[b])]


def is_over(one: Bbox, other: Bbox) -> bool:
    width = min(one.x1, other.x1) - max(one.x0, other.x0)
    height = min(one.y1, other.y1) - max(one.y0, other.y0)
    return bool(width > 1 and height > 1)  # letters leave a pixel free


@pytest.mark.slow
@pytest.mark.parametrize("draw", DRAWN)
def test_texts_are_inside_the_figure_and_none_is_over_another(draw: Callable[[Any], Any]) -> None:
    figure = draw(None).figure
    boxes = text_boxes(figure)
    width, height = figure.bbox.size
    outside = [name for name, b in boxes.items() if b.x0 < -1 or b.y0 < -1 or b.x1 > width + 1 or b.y1 > height + 1]

    assert outside == []
    assert overlapping(boxes) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rules", "explanation", "rectangles", "path", "coverage", "explanation by a path"])
def test_texts_are_apart_on_axes_beside_others(name: str) -> None:
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(14, 5), layout="tight")
    right.plot([0, 1])
    plots(False)[name](left)

    assert overlapping(text_boxes(figure)) == []


# Rectangles -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["frame", "array", "sparse", "frame without columns that nobody asks for"])
@pytest.mark.parametrize("features", [(0, 2), (2, 1), ("unused", "x")])
def test_points_are_where_the_rows_are_whether_rules_use_the_feature_or_not(kind: str, features: Any) -> None:
    names = ["x", "y", "unused", "nobody"]
    rules = RuleSet.from_text(["x > 1", "y <= 2"], names)
    X = pd.DataFrame(np.random.default_rng(0).normal(5, 2, (30, 4)), columns=names)
    given = {"frame": X[names[::-1]], "array": X.to_numpy(), "sparse": csr_array(X.to_numpy())}.get(
        kind, X[["unused", "y", "x"]]
    )
    ax = plot.rectangles(rules, given, features=features)

    places = [names.index(each) if isinstance(each, str) else each for each in features]
    np.testing.assert_array_equal(ax.collections[-1].get_offsets(), X.to_numpy()[:, places])


def test_a_column_to_draw_that_is_not_there_is_named() -> None:
    rules = RuleSet.from_text(["x > 1"], ["x", "y"])
    with pytest.raises(rulecover.exceptions.MismatchedDataError, match="'y'"):
        plot.rectangles(rules, pd.DataFrame({"x": [1.0]}), features=("x", "y"))


def test_rules_with_one_rectangle_have_numbers_side_by_side() -> None:
    rules = RuleSet.of_intervals([{0: (0, 1), 1: (0, 1), 2: (0, k)} for k in range(1, 26)], ["x", "y", "z"])
    ax = plot.rectangles(rules, features=(0, 1))

    boxes = text_boxes(ax.figure)
    assert sorted(text.get_text() for text in ax.texts) == sorted(f"rule {j}" for j in range(25))
    assert overlapping(boxes) == []
    for text in ax.texts:
        x, y = text.get_position()
        assert 0 <= x <= 1 and 0 <= y <= 1


# Curves, conditions ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", ["coverage", "path"])
def test_curves_and_bands_stay_inside_the_frame(name: str) -> None:
    ax = plots(False)[name](None)
    ax.figure.canvas.draw()
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    curves = [line.get_xydata() for line in ax.lines if line.get_transform() == ax.transData]
    bands = [area.vertices for band in ax.collections for area in band.get_paths()]

    assert curves
    for points in [*curves, *bands]:
        assert (points >= (left, low)).all() and (points <= (right, high)).all()


@pytest.mark.slow
@pytest.mark.parametrize("long", [False, True])
def test_conditions_are_written_out(long: bool) -> None:
    X, _ = cancer(long)
    told = cover(long).why(X[3:4])
    whole = [f"{j} {text}" for j, text in zip(told["rule"], told["text"], strict=True)]
    drawn = [label.get_text() for label in plot.explanation(cover(long), X, row=3).get_yticklabels()]
    bars = [label.get_text() for label in plot.rules(cover(long).rules_).get_yticklabels()]

    assert [" ".join(label.split()) for label in drawn] == whole
    assert [" ".join(label.split()) for label in bars] == [f"{j} {r.text}" for j, r in enumerate(cover(long).rules_)]
