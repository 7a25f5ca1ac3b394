"""Plots draw what is so: heights, labels and colours are compared with what was counted by hand."""

from __future__ import annotations

import builtins
import functools
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from matplotlib import colors, pyplot
from matplotlib.collections import PolyCollection
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.metrics import roc_auc_score

from rulecover import (
    MIRCOClassifier,
    MIRCORegressor,
    RCBoostClassifier,
    RulePathClassifier,
    RulePathRegressor,
    RuleSet,
    plot,
)
from rulecover.plot.canvas import COLOURS, class_names, plain
from rulecover.report.curves import threshold_curves

HOSTILE = "_$\\alpha$ \x1b[31m\n" + 200 * "x"


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    pyplot.close("all")


def data() -> tuple[Any, Any]:
    return load_iris(return_X_y=True, as_frame=True)


@functools.cache
def fitted(**options: Any) -> MIRCOClassifier:
    forest = RandomForestClassifier(10, max_depth=3, random_state=0)
    return MIRCOClassifier.as_in_paper(forest, **options).fit(*data())


def boxes() -> RuleSet:
    return RuleSet.of_intervals([{0: (0, 2), 1: (0, 2)}, {0: (1, 3), 1: (1, 3)}, {0: (4, 5), 1: (0, 3)}], ["x", "y"])


@functools.cache
def everything() -> list[Any]:
    """Every plot, as a function of the axes."""
    X, y = data()
    model, two = fitted(), y.to_numpy() == 1
    boosted = RCBoostClassifier(max_rmp_calls=3, random_state=0).fit(X, two)
    path = RulePathClassifier(
        RandomForestClassifier(5, random_state=0), max_rules=4, choose="last", random_state=0
    ).fit(X, y)
    return [
        lambda ax: plot.rules(model.rules_, ax=ax),
        lambda ax: plot.features(model.rules_, ax=ax),
        lambda ax: plot.overlap(model.rules_, X, ax=ax),
        lambda ax: plot.coverage(model, X, y, ax=ax),
        lambda ax: plot.rectangles(model.rules_, X, y, ax=ax),
        lambda ax: plot.history(boosted, ax=ax),
        lambda ax: plot.path(path, ax=ax),
        lambda ax: plot.reliability(boosted, X, two, ax=ax),
        lambda ax: plot.explanation(model, X, 1, ax=ax),
        lambda ax: plot.waterfall(path, X, 1, ax=ax),
        lambda ax: plot.roc(model, X, y, ax=ax),
        lambda ax: plot.precision_recall(boosted, X, two, ax=ax),
    ]


@pytest.mark.slow
def test_each_plot_draws_on_the_axes_it_is_given_and_returns_them() -> None:
    for draw in everything():
        figure, axes = pyplot.subplots()
        assert draw(axes) is axes
        assert axes.has_data()
        figure.canvas.draw()


@pytest.mark.slow
def test_every_public_plot_is_among_those_tested() -> None:
    assert len(plot.__all__) == len(everything())


def test_without_matplotlib_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *others: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *others)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"rulecover\[plot\]"):
        plot.features(boxes())


# Bars ----------------------------------------------------------------------------------------------------------------


def test_the_bars_of_a_rule_add_up_its_classes() -> None:
    rules = fitted().rules_
    ax = plot.rules(rules)
    bars = [(bar.get_x(), bar.get_width(), bar.get_facecolor()) for bar in ax.patches]

    assert rules.evidence is not None
    n_classes = rules.evidence.sums.shape[1]
    widths = np.array([width for _, width, _ in bars]).reshape(n_classes, len(rules)).T
    np.testing.assert_array_equal(widths, rules.evidence.sums)
    starts = np.array([start for start, _, _ in bars]).reshape(n_classes, len(rules)).T
    np.testing.assert_array_equal(starts, np.cumsum(rules.evidence.sums, axis=1) - rules.evidence.sums)
    assert bars[-1][2] == colors.to_rgba(COLOURS[n_classes - 1])
    assert ax.get_yticklabels()[0].get_text().startswith("0   ")


def test_no_more_rules_are_drawn_than_asked_for() -> None:
    assert len(plot.rules(fitted().rules_, max_rules=2).get_yticks()) == 2


def test_rules_that_met_no_data_have_no_bars_to_draw() -> None:
    with pytest.raises(ValueError, match="no evidence"):
        plot.rules(boxes())


def test_features_are_counted_once_a_rule() -> None:
    rules = RuleSet.from_text(["a > 1 and b in {u}", "1 < a <= 2", "b in {v}", "always", "a > 3"], ["a", "b"])
    ax = plot.features(rules)

    assert [bar.get_width() for bar in ax.patches] == [3, 2]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]


def test_levels_of_one_column_count_as_that_column() -> None:
    names, levels = ["colour = red", "colour = blue"], {0: ("colour", "red"), 1: ("colour", "blue")}
    rules = RuleSet.from_text(["colour = red", "colour = blue"], names, levels=levels)

    assert [bar.get_width() for bar in plot.features(rules).patches] == [2]


def test_beyond_eight_classes_the_last_share_a_colour_and_a_name() -> None:
    names, shades = class_names(np.arange(12))

    assert names == ["0", "1", "2", "3", "4", "5", "6", "others"]
    assert len(set(shades)) == 8


# Overlap -------------------------------------------------------------------------------------------------------------


def test_each_row_counts_once_under_all_rules_it_meets() -> None:
    X = np.array([[0.5, 0.5], [1.5, 1.5], [1.5, 1.6], [1.5, 1.7], [2.5, 2.5], [2.5, 2.6], [9.0, 9.0]])
    ax = plot.overlap(boxes(), X)
    dots = ax.figure.axes[1]

    assert [bar.get_height() for bar in ax.patches] == [3, 2, 1, 1]
    met = {tuple(point) for point in dots.collections[-1].get_offsets().astype(int).tolist()}
    assert met == {(0, 0), (0, 1), (1, 1), (2, 0)}  # both rules, the second, the first, none
    assert ax.patches[3].get_facecolor() != ax.patches[2].get_facecolor()


def test_combinations_agree_with_counting_one_by_one() -> None:
    X, _ = data()
    rules = fitted().rules_
    ax = plot.overlap(rules, X, max_sets=1000, max_rules=1000)
    counted: dict[bytes, int] = {}
    for row in rules.apply(X).toarray():
        counted[row.tobytes()] = counted.get(row.tobytes(), 0) + 1

    assert [bar.get_height() for bar in ax.patches] == sorted(counted.values(), reverse=True)


# Rectangles ----------------------------------------------------------------------------------------------------------


def hatched(ax: Any) -> float:
    """The area that is hatched inside the view."""
    gap = [each for each in ax.collections if isinstance(each, PolyCollection) and each.get_hatch()]
    corners = [path.vertices for each in gap for path in each.get_paths()]
    return sum(float(np.ptp(each[:, 0]) * np.ptp(each[:, 1])) for each in corners)


@pytest.mark.slow
def test_what_no_rectangle_covers_is_hatched() -> None:
    ax = plot.rectangles(boxes())
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()

    assert hatched(ax) == pytest.approx((right - left) * (high - low) - (4 + 4 - 1 + 3))
    assert len(ax.patches) == 6


def test_a_rule_without_bounds_on_a_feature_reaches_across_the_view() -> None:
    ax = plot.rectangles(RuleSet.from_text(["x > 1", "x <= 1 and y <= 2"], ["x", "y"]))
    box = ax.patches[0]

    assert box.get_y() == ax.get_ylim()[0]
    assert box.get_y() + box.get_height() == pytest.approx(ax.get_ylim()[1])
    assert [text.get_text() for text in ax.texts] == ["rule 0", "rule 1"]


def test_a_rule_that_asks_for_more_than_two_features_is_dashed() -> None:
    ax = plot.rectangles(RuleSet.from_text(["x > 1 and z > 0", "x <= 1 and y <= 2"], ["x", "y", "z"]))

    assert [box.get_linestyle() for box in ax.patches[1::2]] == ["--", "-"]


@pytest.mark.parametrize("features", [["x"], ["x", "w"], [0, 2]], ids=str)
def test_columns_that_are_not_there_are_named(features: list[Any]) -> None:
    with pytest.raises(ValueError, match="column"):
        plot.rectangles(boxes(), features=features)


# Curves --------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("fallback", ["closest", "all", "majority", "model"])
def test_coverage_and_accuracy_end_where_the_model_is(fallback: str) -> None:
    X, y = make_classification(120, n_features=6, flip_y=0.2, random_state=0)
    model = MIRCOClassifier(RandomForestClassifier(5, max_depth=4, random_state=0), fallback=fallback).fit(
        X[::2], y[::2]
    )
    covered, accuracy = plot.coverage(model, X[1::2], y[1::2]).lines

    assert covered.get_ydata()[-1] == 1 - model.missed(X[1::2]).mean()
    assert accuracy.get_ydata()[-1] == model.score(X[1::2], y[1::2])
    assert (np.diff(covered.get_ydata()) >= 0).all()


def test_the_first_rules_alone_are_a_model_of_their_own() -> None:
    X, y = data()
    model = fitted()
    first = model.at(2)

    assert first.rules_ == model.rules_[:2]
    assert first.missed(X).sum() > 0 == model.missed(X).sum()
    said = model.rules_[:2].apply(X).toarray() @ model.vote_.votes[:2]
    covered = ~first.missed(X)
    assert (first.predict(X)[covered] == model.classes_[said.argmax(axis=1)][covered]).all()
    assert not hasattr(first, "certificate_") and hasattr(model, "certificate_")
    assert first.score(X, y) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("fallback", ["mean", "closest", "all"])
@pytest.mark.parametrize("ridge", [None, 1.0])
def test_the_first_rules_on_numbers_are_a_model_of_their_own(fallback: str, ridge: float | None) -> None:
    X, _ = data()
    model = MIRCORegressor(max_rules=4, ridge=ridge, fallback=fallback, random_state=0).fit(X.iloc[:, :3], X.iloc[:, 3])
    first = model.at(2)

    assert first.missed(X.iloc[:, :3]).any()
    assert np.isfinite(first.predict(X.iloc[:, :3])).all()
    np.testing.assert_array_equal(model.at(4).predict(X.iloc[:, :3]), model.predict(X.iloc[:, :3]))


@pytest.mark.slow
def test_rules_on_numbers_show_their_mean_and_spread() -> None:
    X, _ = data()
    model = MIRCORegressor(max_rules=3, random_state=0).fit(X.iloc[:, :3], X.iloc[:, 3])
    ax = plot.rules(model.rules_)

    assert [bar.get_width() for bar in ax.patches] == model.rules_.evidence.support.tolist()
    assert all("±" in text.get_text() for text in ax.texts)


@pytest.mark.parametrize("size", [0, 99, 1.5])
def test_there_is_no_model_of_more_rules_than_there_are(size: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="n_rules"):
        fitted().at(size)


@pytest.mark.slow
def test_the_path_of_numbers_is_scored_by_r2() -> None:
    X, _ = data()
    model = RulePathRegressor(max_rules=3, choose="last", random_state=0).fit(X.iloc[:, :3], X.iloc[:, 3])

    assert plot.path(model).get_ylabel() == "R²"
    assert plot.coverage(model, X.iloc[:, :3], X.iloc[:, 3]).lines[1].get_label() == "R²"


@pytest.mark.slow
def test_the_history_has_three_panels_call_by_call() -> None:
    boosted = RCBoostClassifier(max_rmp_calls=4, random_state=0).fit(*data())
    ax = plot.history(boosted)
    drawn = [panel.lines[-1].get_ydata() for panel in ax.figure.axes]

    for values, column in zip(drawn, ("objective", "rules", "most_negative"), strict=True):
        np.testing.assert_array_equal(values, boosted.history_[column])


# Answers -------------------------------------------------------------------------------------------------------------


class Oracle:
    """Says so with the probabilities it is given."""

    def __init__(self, shares: Any, classes: Any) -> None:
        self.shares, self.classes_ = np.asarray(shares), np.asarray(classes)

    def predict_proba(self, X: Any) -> Any:
        return self.shares


def test_reliability_is_the_share_that_came_true() -> None:
    second = np.array([0.1, 0.1, 0.1, 0.1, 0.8, 0.8])
    truth = ["no", "no", "no", "yes", "yes", "no"]
    ax = plot.reliability(Oracle(np.column_stack([1 - second, second]), ["no", "yes"]), None, truth, n_bins=4)
    line = ax.lines[1]

    assert line.get_xdata().tolist() == pytest.approx([0.1, 0.8])
    assert line.get_ydata().tolist() == [0.25, 0.5]
    assert [bar.get_height() for bar in ax.figure.axes[1].patches] == [4, 0, 0, 2]


def test_of_many_classes_the_answer_is_judged() -> None:
    shares = [[0.6, 0.3, 0.1], [0.1, 0.6, 0.3], [0.9, 0.1, 0.0]]
    ax = plot.reliability(Oracle(shares, ["a", "b", "c"]), None, ["a", "a", "a"], n_bins=2)

    assert ax.lines[1].get_ydata().tolist() == pytest.approx([2 / 3])


def test_a_row_of_a_sparse_array_is_explained_as_one_of_a_dense_array() -> None:
    X, y = load_iris(return_X_y=True)
    model = MIRCOClassifier(random_state=0).fit(X, y)

    for draw in (plot.explanation, plot.waterfall):
        dense, sparse = (draw(model, rows, 60) for rows in (X, scipy.sparse.csr_array(X)))
        assert sparse.get_title(loc="left") == dense.get_title(loc="left")
    with pytest.raises(IndexError, match="there is no row 150: X has 150 rows"):
        plot.explanation(model, scipy.sparse.csr_array(X), 150)


def test_an_explanation_stacks_the_votes_of_the_rules_that_fired() -> None:
    X, _ = data()
    model = fitted()
    told = model.why(X[60:61])
    ax = plot.explanation(model, X, 60)
    widths = np.array([bar.get_width() for bar in ax.patches]).reshape(-1, len(told)).T

    np.testing.assert_array_equal(widths, told.filter(like="votes_"))
    assert [label.get_text().split()[0] for label in ax.get_yticklabels()] == [str(j) for j in told["rule"]]
    assert ax.get_title(loc="left") == f"prediction: {told['prediction'].iloc[0]}, by rules"


def test_added_votes_are_drawn_for_and_against_the_answer() -> None:
    X, y = data()
    path = RulePathClassifier(
        RandomForestClassifier(5, random_state=0), max_rules=5, choose="last", random_state=0
    ).fit(X, y)
    ax = plot.explanation(path, X, -1)
    told = path.why(X[-1:])

    assert [bar.get_width() for bar in ax.patches] == pytest.approx(told[f"votes_{told['prediction'].iloc[0]}"])


def test_a_waterfall_ends_where_the_votes_end() -> None:
    X, y = data()
    forest = RandomForestRegressor(5, max_depth=3, random_state=0)
    path = RulePathRegressor(forest, max_rules=5, choose="last").fit(X, y)
    cover = MIRCORegressor(forest).fit(X, y)
    for model in (path, cover):
        ax = plot.waterfall(model, X, 60)
        bars = ax.patches
        assert bars[-1].get_x() + bars[-1].get_width() == pytest.approx(model.predict(X[60:61])[0])
        for one, after in itertools.pairwise(bars):
            assert after.get_x() == pytest.approx(one.get_x() + one.get_width())
    with pytest.raises(TypeError, match="are averaged, not added up"):
        plot.waterfall(MIRCORegressor.as_in_paper(forest).fit(X, y), X)


def test_curves_of_thresholds_are_those_of_the_report() -> None:
    X, y = data()
    model, two = fitted(), y.to_numpy() == 1
    boosted = RCBoostClassifier(max_rmp_calls=1, random_state=0).fit(X, two)
    share = boosted.predict_proba(X)[:, 1]
    (curve,) = threshold_curves(two, boosted.predict_proba(X), np.array([False, True]), 1)

    drawn, by_recall = plot.roc(boosted, X, two).lines[1], plot.precision_recall(boosted, X, two).lines[1]
    np.testing.assert_allclose(drawn.get_ydata()[1:], curve.found / two.sum())
    np.testing.assert_allclose(drawn.get_xdata()[1:], curve.alarms / (~two).sum())
    np.testing.assert_allclose(by_recall.get_ydata()[::-1][1:], curve.precision)
    assert drawn.get_label() == f"True (area {roc_auc_score(two, share):.3f})"
    assert len(plot.roc(model, X, y).lines) == 1 + 3
    with pytest.raises(ValueError, match="rows of one class alone"):
        plot.roc(model, X[:10], y[:10])


def test_a_row_that_is_not_there_is_named() -> None:
    X, _ = data()
    with pytest.raises(IndexError, match="no row 150"):
        plot.explanation(fitted(), X, 150)


# Names ---------------------------------------------------------------------------------------------------------------


def test_names_are_neither_formulas_nor_hidden_nor_endless() -> None:
    assert plain("$a$ $") == r"\$a\$ \$"
    assert plain("_hidden") == " _hidden"
    assert len(plain("x" * 500)) == 60


@pytest.mark.slow
def test_hostile_names_of_columns_and_classes_are_drawn_as_they_are() -> None:
    X, y = data()
    X = X.set_axis([f"{HOSTILE}{f}" for f in range(4)], axis=1)
    classes = np.array([HOSTILE, "$\\frac{", "__"])[y]
    model = MIRCOClassifier(RandomForestClassifier(5, max_depth=3, random_state=0)).fit(X, classes)
    axes = [
        plot.rules(model.rules_),
        plot.features(model.rules_),
        plot.overlap(model.rules_, X),
        plot.rectangles(model.rules_, X, classes),
        plot.explanation(model, X),
    ]
    for ax in axes:
        ax.figure.canvas.draw()  # a formula that does not close would raise here
    assert len(axes[0].get_legend().get_texts()) == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (
            plot.reliability,
            "MIRCORegressor has no predict_proba; this plot is for models",
        ),
        (lambda model, X, y: plot.history(model), "has no history_; this plot is for RCBoostClassifier"),
        (lambda model, X, y: plot.path(model), "has no path_; this plot is for RulePathClassifier"),
    ],
)
def test_a_plot_says_which_models_it_is_for(draw: Any, message: str) -> None:
    X = np.arange(40.0)[:, None]
    model = MIRCORegressor(max_rules=3, random_state=0).fit(X, X[:, 0])
    with pytest.raises(TypeError, match=message):
        draw(model, X, X[:, 0])


def test_rectangles_of_rules_on_one_column_are_refused() -> None:
    rules = RuleSet.of_intervals([{0: (0.5, np.inf)}], ["size"])

    with pytest.raises(ValueError, match="rectangles have two columns, but there is only 'size'; see"):
        plot.rectangles(rules, np.array([[1.0]]))


@pytest.mark.parametrize("draw", [plot.rules, plot.features, plot.overlap, plot.rectangles])
def test_a_model_in_place_of_its_rules_is_refused_with_the_way_out(draw: Any) -> None:
    model, (X, _) = fitted(), data()
    rows = [X] if draw is plot.overlap else []

    with pytest.raises(TypeError, match="of type MIRCOClassifier, but this plot is of rules alone; give its rules_"):
        draw(model, *rows)
    with pytest.raises(TypeError, match=r"rules is of type int, .* give a RuleSet"):
        draw(3, *rows)
