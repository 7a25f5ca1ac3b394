"""Rules on two features as rectangles, as the paper draws them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from rulecover.data.frames import is_frame
from rulecover.plot.canvas import (
    MARKS,
    axes_or_new,
    bare,
    check_rules,
    class_names,
    classes_of,
    colour,
    inches_of_axes,
    legend_above,
    plain,
)
from rulecover.rules.features import feature_use
from rulecover.typing import Bools, Floats, Ints

if TYPE_CHECKING:
    from rulecover.rules.ruleset import RuleSet

#: Beyond this many the numbers of the rules are left out.
_NUMBERED = 25

#: Between a rectangle and its number, in pixels.
_PADDING = 4


def rectangles(
    rules: RuleSet, X: Any = None, y: Any = None, *, features: Sequence[int | str] | None = None, ax: Any = None
) -> Any:
    """Rules over two features: darker where they overlap, hatched where there is none.

    A rule that also uses other features is drawn with a dashed edge: it holds only in a part of its rectangle.
    The hatched part is not covered by any rule; a row there is missed.

    Parameters
    ----------
    rules
        Any rules on numbers; those of a fitted model have the colour of the class they predict.
    X, y
        Rows to draw and their classes, or neither.
    features
        Two columns, by number or name; by default the two that most rules use.
    ax
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from rulecover import RuleSet, plot
    >>> rules = RuleSet.from_text(["0 < x <= 1 and 0 < y <= 2", "x > 1 and y <= 1"], ["x", "y"])
    >>> ax = plot.rectangles(rules)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('x', 'y')
    """
    check_rules(rules)
    pair = _pair(rules, features)
    ax = axes_or_new(ax, 6.2, 5.4)
    boxes = _boxes(rules, pair)
    points = None if X is None else _points_of(rules, X, pair)
    view = _view(boxes, points)
    _gap(ax, boxes, view)
    _rules(ax, rules, np.clip(boxes, view[:, :1], view[:, 1:]), pair)
    classes = classes_of(rules)
    if points is not None:
        _points(ax, points, y, classes)
    if classes is not None:
        legend_above(ax, *class_names(classes))
    names = [plain(rules.feature_names[f], 40) for f in pair]
    ax.set(xlim=view[0], ylim=view[1], xlabel=names[0], ylabel=names[1])
    bare(ax)
    if len(rules) <= _NUMBERED:
        _number(ax, np.clip(boxes, view[:, :1], view[:, 1:]))
    return ax


def _points_of(rules: RuleSet, X: Any, pair: Sequence[int]) -> Floats:
    """Both columns of X, whether rules use them or not."""
    if is_frame(X):
        return rules.columns.matrix(X, pair)[:, pair]
    columns = rules.check_columns(X)[:, pair]
    return np.asarray(columns.toarray() if issparse(columns) else columns, dtype=np.float64)


def _pair(rules: RuleSet, features: Sequence[int | str] | None) -> list[int]:
    names = list(rules.feature_names)
    if features is None and len(names) < 2:
        raise ValueError(f"rectangles have two columns, but there is only {names[0]!r}; see rulecover.plot.rules.")
    if features is None:
        used = [names.index(name) for name, _ in feature_use(rules) if name in names]
        features = [*used, *(f for f in range(len(names)) if f not in used)][:2]
    if len(features) != 2:
        raise ValueError(f"features is {list(features)!r}; give two columns, by number or name.")
    for each in features:
        if each not in (names if isinstance(each, str) else range(len(names))):
            raise ValueError(f"there is no column {each!r}; the rules have {', '.join(names[:10])}.")
    return [names.index(each) if isinstance(each, str) else int(each) for each in features]


def _boxes(rules: RuleSet, pair: Sequence[int]) -> Floats:
    """The interval of each rule on both features, rules x 2 features x 2 ends, infinite where it has no clause."""
    boxes = np.tile([-np.inf, np.inf], (len(rules), 2, 1))
    clauses = rules.clauses
    for place, f in enumerate(pair):
        mine = (clauses.feature == f) & (clauses.category < 0)
        boxes[clauses.owner[mine], place] = np.column_stack([clauses.lower[mine], clauses.upper[mine]])
    return boxes


def _view(boxes: Floats, points: Floats | None) -> Floats:
    """What is shown of both features: all bounds and all points, and a margin."""
    view = np.empty((2, 2))
    for place in range(2):
        ends = boxes[:, place].ravel()
        known = ends if points is None else np.concatenate([ends, points[:, place]])
        known = known[np.isfinite(known)]
        low, high = (known.min(), known.max()) if known.size else (0.0, 1.0)
        margin = 0.06 * (high - low) or 0.5
        view[place] = low - margin, high + margin
    return view


def _gap(ax: Any, boxes: Floats, view: Floats) -> None:
    """Hatches the cells between bounds that no rectangle covers."""
    edges = [np.unique(np.clip([*view[p], *boxes[:, p].ravel()], *view[p])) for p in range(2)]
    middles = [(each[1:] + each[:-1]) / 2 for each in edges]
    inside = [(boxes[:, p, :1] < middles[p]) & (middles[p] <= boxes[:, p, 1:]) for p in range(2)]
    covered = inside[1].T.astype(np.float64) @ inside[0].astype(np.float64) > 0
    free = [_corners(edges[0][a], edges[0][b], *edges[1][row : row + 2]) for row, a, b in _runs(~covered)]
    if free:
        from matplotlib.collections import PolyCollection

        hatched = PolyCollection(free, facecolor="none", edgecolor="0.82", hatch="///", linewidth=0, zorder=0)
        ax.add_collection(hatched, autolim=False)


def _runs(free: Bools) -> Iterator[tuple[int, int, int]]:
    """The runs of true entries: their row, where they begin, and where they end."""
    padded = np.pad(free.astype(np.int8), ((0, 0), (1, 1)))
    change = np.diff(padded, axis=1)
    rows, starts = np.nonzero(change == 1)
    ends = np.nonzero(change == -1)[1]
    return zip(rows.tolist(), starts.tolist(), ends.tolist(), strict=True)


def _corners(x0: float, x1: float, y0: float, y1: float) -> list[tuple[float, float]]:
    return [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]


def _rules(ax: Any, rules: RuleSet, boxes: Floats, pair: Sequence[int]) -> None:
    from matplotlib.patches import Rectangle

    best = _best(rules)
    for j, ((x0, x1), (y0, y1)) in enumerate(boxes):
        mine = rules.take(np.array([j])).clauses.columns
        style = "-" if np.isin(mine, pair).all() else "--"
        shade = colour(int(best[j]))
        place = {"xy": (x0, y0), "width": x1 - x0, "height": y1 - y0}
        ax.add_patch(Rectangle(**place, facecolor=shade, alpha=0.16, edgecolor="none"))
        ax.add_patch(Rectangle(**place, fill=False, edgecolor=shade, linewidth=1.5, linestyle=style))


def _number(ax: Any, boxes: Floats) -> None:
    """Labels each rule in its rectangle, near its upper left corner, without overlap; small rectangles first."""
    inches_of_axes(ax)  # lays out the figure
    style = {"ha": "left", "va": "bottom", "fontsize": 9, "color": "0.2"}
    texts = [ax.text(*box[:, 0], f"rule {j}", **style) for j, box in enumerate(boxes)]
    taken = np.empty((0, 2, 2))
    for j in np.argsort((boxes[:, :, 1] - boxes[:, :, 0]).prod(axis=1), kind="stable"):
        size = np.array(texts[j].get_window_extent().size)
        spots = _spots(ax.transData.transform(boxes[j].T), size, np.array(ax.bbox.get_points()))
        mine = np.stack([spots, spots + size], axis=2)  # spots x 2 directions x 2 ends
        apart = (mine[:, None, :, 1] <= taken[:, :, 0]) | (taken[:, :, 1] <= mine[:, None, :, 0])
        free = np.flatnonzero(np.all(np.any(apart, axis=2), axis=1))
        if not free.size:
            texts[j].remove()
            continue
        texts[j].set_position(ax.transData.inverted().transform(spots[free[0]]))
        taken = np.concatenate([taken, mine[free[:1]]])


def _spots(box: Floats, size: Floats, axes: Floats) -> Floats:
    """Lower left corners for a text of this size inside a box, in pixels; those near its upper left corner first."""
    low = np.clip(box[0] + _PADDING, axes[0], axes[1] - size)
    high = np.maximum(np.clip(box[1] - size - _PADDING, axes[0], axes[1] - size), low)
    x, y = (spot.ravel() for spot in np.meshgrid(*np.linspace(low, high, 24).T))
    return np.column_stack([x, y])[np.argsort(x - low[0] + high[1] - y, kind="stable")]


def _best(rules: RuleSet) -> Ints:
    """The class that each rule predicts, by number; 0 where there are no classes."""
    return getattr(rules.evidence, "best", np.zeros(len(rules), dtype=np.intp))


def _points(ax: Any, points: Floats, y: Any, classes: Any) -> None:
    style = {"s": 22, "edgecolor": "white", "linewidth": 0.5, "zorder": 3}
    if y is None or classes is None:
        ax.scatter(*points.T, color="0.35", **style)
        return
    for k, label in enumerate(classes):
        ax.scatter(*points[np.asarray(y) == label].T, color=colour(k), marker=MARKS[min(k, len(MARKS) - 1)], **style)
