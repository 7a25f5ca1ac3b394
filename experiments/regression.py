"""R² against the number of rules: MIRCO with plain and refitted values, a path of rules, trees, and the forest.

    pip install vega_datasets plotnine statsmodels matplotlib
    python experiments/regression.py

5 folds. What is set is tuned inside each training part, by 3 inner folds, for every limit on the rules: the impurity
weight, and the forest that the rules come from (leaves a tree, or grown in full and cut); for plain means also the
demand; for the tuned tree the size of a leaf. The path has its defaults.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from regression_data import DATA
from rich.console import Console
from rich.progress import track
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeRegressor

from rulecover import MIRCORegressor, RCBoostRegressor, RulePathRegressor
from rulecover.mirco.forward import Forward
from rulecover.pool import RulePool
from rulecover.setcover import Greedy
from rulecover.setcover.greedy import greedy_picks
from rulecover.study.pages import write_page
from rulecover.targets.numbers.samples import NumberSamples
from rulecover.voting.fallback import NUMERIC_FALLBACKS
from rulecover.voting.numbers import fitted_values, mean_votes
from rulecover.voting.vote import Vote

HERE = Path(__file__).parent
LIMITS = [3, 5, 8, 10, 12, 15, 20, 25, 30, 40, 50]
#: Where settings of refitted models are tuned; between them the next one counts.
TUNED = [5, 10, 20, 50]
METHODS = ["refitted rules", "plain rules", "rule path", "pruned tree", "tuned tree"]

#: Answers for held-out rows by the limit on the rules, and the number of rules that are used.
Curve = dict[int, tuple[np.ndarray, int]]


class Rules:
    """The rules of a forest that is trained on one part of the data: met with it once, chosen from often.

    Parameters
    ----------
    leaves
        Of each tree; ``None`` for trees that are grown in full, and cut by MIRCO.
    """

    def __init__(self, leaves: int | None, X: Any, y: Any) -> None:
        small = {} if leaves is None else {"max_leaf_nodes": leaves, "min_samples_leaf": 5}
        grown = RandomForestRegressor(100, max_features=1 / 3, random_state=0, **small).fit(X, y)
        self._mirco = MIRCORegressor(FrozenEstimator(grown), min_samples="auto" if leaves is None else 1)
        self._part = X, y
        self._pools: dict[float, tuple[NumberSamples, RulePool]] = {}
        self._lists: dict[tuple[float, float], Any] = {}

    def pool(self, limit: int | None, weight: float) -> tuple[float, NumberSamples, RulePool]:
        """The smallest size of a rule under this limit, the data, and the rules priced with this impurity weight."""
        X, y = self._part
        mirco = clone(self._mirco).set_params(max_rules=limit)
        least = mirco._fewest(len(y))
        if least not in self._pools:
            prepared = mirco._prepare(X, y, None)
            self._pools[least] = prepared.samples, mirco._candidates(prepared, y)
        data, pool = self._pools[least]
        cost = 1.0 + weight * pool.evidence.impurity
        return least, data, replace(pool, evidence=replace(pool.evidence, cost=cost))

    def forward(self, limit: int, weight: float) -> tuple[NumberSamples, RulePool]:
        """The rules that the default way chooses."""
        solver = Forward()
        least, data, pool = self.pool(limit, weight)
        problem = pool.problem()
        if (least, weight) not in self._lists:
            self._lists[least, weight] = solver.shortlisted(problem)
        chosen, _ = solver.choose(problem, self._lists[least, weight], data.z, data.count, max_rules=limit)
        return data, pool.take(chosen)


def refitted(X: Any, y: Any, X_test: Any, limits: list[int], rules: Rules, *, weight: float) -> Curve:
    """The default way: forward choice out of a cover, values by ridge."""
    curve = {}
    for limit in limits:
        data, pool = rules.forward(limit, weight)
        covered = pool.coverage.to_sparse().tocsr()
        vote = fitted_values(mean_votes(pool.rules), covered, data, ridge=MIRCORegressor().ridge)
        curve[limit] = answers(vote, X_test), len(pool)
    return curve


def plain(X: Any, y: Any, X_test: Any, limits: list[int], rules: Rules, *, weight: float, demand: int) -> Curve:
    """The paper's way: the greedy cover, or its first picks where the limit binds; the mean of the covering rules."""
    _, _, pool = rules.pool(None, weight)
    pool = pool if demand == 1 else pool.distinct()
    problem = pool.problem(demand)
    picks, _ = greedy_picks(problem)
    whole = Greedy()(problem).rules if len(picks) <= max(limits) else picks
    curve = {}
    for limit in limits:
        chosen = whole if limit >= len(picks) else picks[:limit]
        curve[limit] = answers(mean_votes(pool.written(chosen)), X_test), len(chosen)
    return curve


def answers(vote: Vote, X: Any) -> np.ndarray:
    """What the rules say, and the mean or the default where none applies."""
    return replace(vote, fallback=NUMERIC_FALLBACKS["mean"]).predict(X.to_numpy(dtype=float))


def followed(X: Any, y: Any, X_test: Any, limits: list[int], rules: None) -> Curve:
    """The nested path of a forest grown in full, as it is by default."""
    path = RulePathRegressor(max_rules=max(limits), choose="last", random_state=0).fit(X, y)
    sizes = {limit: min(limit, path.n_rules_) for limit in limits}
    return {limit: (path.at(size).predict(X_test), size) for limit, size in sizes.items()}


def pruned(X: Any, y: Any, X_test: Any, limits: list[int], rules: None) -> Curve:
    """A tree grown in full, pruned by cost and complexity until it has no more leaves than the limit."""
    alphas = DecisionTreeRegressor(random_state=0).cost_complexity_pruning_path(X, y).ccp_alphas
    curve = {}
    for limit in limits:
        low, high = 0, len(alphas) - 1
        while low < high:
            middle = (low + high) // 2
            small = DecisionTreeRegressor(random_state=0, ccp_alpha=alphas[middle]).fit(X, y)
            low, high = (low, middle) if small.get_n_leaves() <= limit else (middle + 1, high)
        tree = DecisionTreeRegressor(random_state=0, ccp_alpha=alphas[low]).fit(X, y)
        curve[limit] = tree.predict(X_test), int(tree.get_n_leaves())
    return curve


def best_first(X: Any, y: Any, X_test: Any, limits: list[int], rules: None, *, leaf: int) -> Curve:
    """A tree that grows where it gains most, up to as many leaves."""
    curve = {}
    for limit in limits:
        tree = DecisionTreeRegressor(max_leaf_nodes=limit, min_samples_leaf=leaf, random_state=0).fit(X, y)
        curve[limit] = tree.predict(X_test), int(tree.get_n_leaves())
    return curve


#: How each method is run, the limits at which it is tuned, and its settings.
WAYS: dict[str, tuple[Callable[..., Curve], list[int], list[dict[str, Any]]]] = {
    "refitted rules": (
        refitted,
        TUNED,
        [{"leaves": n, "weight": w} for n, w in product((8, 16, None), (1, 5, 20))],
    ),
    "plain rules": (
        plain,
        LIMITS,
        [{"leaves": n, "weight": w, "demand": k} for n, w, k in product((6, 10, 16, 32), (1, 5, 20), (1, 2, 3, 5))],
    ),
    "rule path": (followed, LIMITS, [{}]),
    "pruned tree": (pruned, LIMITS, [{}]),
    "tuned tree": (best_first, LIMITS, [{"leaf": leaf} for leaf in (1, 5, 10, 20)]),
}


class Sources:
    """The forests of one training part, each trained once."""

    def __init__(self, X: Any, y: Any) -> None:
        self._data = X, y
        self._known: dict[int | None, Rules] = {}

    def run(self, way: Callable[..., Curve], X_test: Any, limits: list[int], setting: dict[str, Any]) -> Curve:
        if "leaves" not in setting:
            return way(*self._data, X_test, limits, None, **setting)
        leaves = setting["leaves"]
        if leaves not in self._known:
            self._known[leaves] = Rules(leaves, *self._data)
        rest = {name: value for name, value in setting.items() if name != "leaves"}
        return way(*self._data, X_test, limits, self._known[leaves], **rest)


def tuned(method: str, X: Any, y: Any) -> dict[int, dict[str, Any]]:
    """The best setting for each limit, by 3 folds of the training part."""
    way, limits, choices = WAYS[method]
    if len(choices) == 1:
        return dict.fromkeys(LIMITS, choices[0])
    scores = {limit: np.zeros(len(choices)) for limit in limits}
    for train, test in KFold(3, shuffle=True, random_state=1).split(X):
        sources = Sources(X.iloc[train], y[train])
        for place, setting in enumerate(choices):
            curve = sources.run(way, X.iloc[test], limits, setting)
            for limit in limits:
                scores[limit][place] += r2_score(y[test], curve[limit][0])
    best = {limit: choices[int(scores[limit].argmax())] for limit in limits}
    return {limit: best[min((t for t in limits if t >= limit), default=limits[-1])] for limit in LIMITS}


def one_fold(X: Any, y: Any, train: Any, test: Any) -> list[dict[str, Any]]:
    part, rest = X.iloc[train], X.iloc[test]
    sources = Sources(part, y[train])
    rows = []

    def note(method: str, limit: int, used: int, said: Any, **more: Any) -> None:
        rows.append({"method": method, "limit": limit, "rules": used, "r2": r2_score(y[test], said), **more})

    for method in METHODS:
        way = WAYS[method][0]
        settings = tuned(method, part, y[train])
        curve: Curve = {}
        for setting in WAYS[method][2]:
            limits = [limit for limit in LIMITS if settings[limit] == setting]
            curve |= sources.run(way, rest, limits, setting) if limits else {}
        for limit in LIMITS:
            said, used = curve[limit]
            setting = " ".join(f"{name}={value}" for name, value in settings[limit].items())
            note(method, limit, used, said, setting=setting)
    whole = RandomForestRegressor(100, random_state=0).fit(part, y[train])
    leaves = sum(int(tree.get_n_leaves()) for tree in whole.estimators_)
    note("forest", 0, leaves, whole.predict(rest))
    boosted = RCBoostRegressor(random_state=0).fit(part, y[train])
    note("RCBoost, all rules", 0, len(boosted.rules_), boosted.predict(rest))
    usual = MIRCORegressor(random_state=0).fit(part, y[train])
    lower, upper = usual.predict_interval(rest, 0.9).T
    inside = float(np.mean((lower <= y[test]) & (y[test] <= upper)))
    missed = float(usual.missed(rest).mean())
    note("defaults", 20, len(usual.rules_), usual.predict(rest), inside=inside, missed=missed)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", default=",".join(DATA), help="names, separated by commas")
    parser.add_argument("--out", type=Path, default=HERE / "regression.csv")
    arguments = parser.parse_args()
    done = pd.read_csv(arguments.out) if arguments.out.exists() else pd.DataFrame(columns=["dataset", "fold"])
    for name in arguments.datasets.split(","):
        X, y = DATA[name]()
        folds = list(KFold(5, shuffle=True, random_state=0).split(X))
        for fold, (train, test) in enumerate(track(folds, name, console=Console(stderr=True))):
            if ((done["dataset"] == name) & (done["fold"] == fold)).any():
                continue
            found = pd.DataFrame(one_fold(X, y, train, test))
            found.insert(0, "fold", fold)
            found.insert(0, "dataset", name)
            done = pd.concat([done, found], ignore_index=True)
            done.to_csv(arguments.out, index=False, float_format="%.6g")
    text = report(done)
    write_page(arguments.out.with_suffix(".md"), text)
    draw(done, arguments.out.with_suffix(".svg"))
    print(text)


def draw(table: pd.DataFrame, path: Path) -> None:
    """The mean curves as a figure."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "rulecover"
    import matplotlib.pyplot as plt

    mean = means(table)
    _, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
    for method, style in zip(METHODS, ("o-", "s-", "^-", "o--", "s--"), strict=True):
        ax.plot(LIMITS, [mean[method, limit] for limit in LIMITS], style, label=method, markersize=4)
    ax.axhline(mean["forest", 0], color="0.4", linestyle=":", label="forest")
    ax.set(xlabel="rules, or leaves, at most", ylabel="R², mean of all data sets", xscale="log")
    ax.set_xticks(LIMITS, list(map(str, LIMITS)), minor=False)
    ax.minorticks_off()
    ax.legend()
    plt.savefig(path, metadata={"Date": None})


def means(table: pd.DataFrame, names: list[str] | None = None) -> Any:
    """R² by method and limit, the mean over folds and then over data sets."""
    by_set = table.groupby(["dataset", "method", "limit"], sort=False)["r2"].mean()
    return by_set.loc[names or list(dict.fromkeys(table["dataset"]))].groupby(["method", "limit"]).mean()


def report(table: pd.DataFrame) -> str:
    """The curves, their mean over the data sets, and what the defaults do."""
    names = list(dict.fromkeys(table["dataset"]))
    lines = [
        "# Regression: R² against the number of rules",
        "",
        "Made by `python experiments/regression.py`: 5 folds, settings tuned inside them. A tree has leaves in place",
        "of rules. *Refitted*: forward choice out of a cover, values by ridge. *Plain*: the greedy cover (its first",
        "picks where the limit binds), and the mean of the covering rules. *Path*: `RulePathRegressor` with its",
        "defaults. *Pruned*: by cost and complexity. *Tuned*: grown best first, with the size of a leaf tuned.",
        "",
        "![R² against the number of rules, mean of all data sets](regression.svg)",
        "",
    ]
    for name in ["mean", *names]:
        mean = means(table, None if name == "mean" else [name])
        lines += [f"## {name}", "", f"| at most | {' | '.join(map(str, LIMITS))} |", "|---" * (len(LIMITS) + 1) + "|"]
        for method in METHODS:
            lines.append(f"| {method} | {' | '.join(f'{mean[method, limit]:.3f}' for limit in LIMITS)} |")
        lines += [
            "",
            f"Forest {mean['forest', 0]:.3f}; RCBoost, all its rules {mean['RCBoost, all rules', 0]:.3f}.",
            "",
        ]
    usual = table[table["method"] == "defaults"].groupby("dataset", sort=False)
    forest_of = table[table["method"] == "forest"].groupby("dataset", sort=False)["r2"].mean()
    lines += [
        "## The defaults, untuned",
        "",
        "| data set | R² | forest | rules | in the 90 % interval | missed |",
        "|---" * 6 + "|",
    ]
    for name, rows in usual:
        cells = [f"{rows['r2'].mean():.3f}", f"{forest_of[name]:.3f}", f"{rows['rules'].mean():.1f}"]
        cells += [f"{100 * rows['inside'].mean():.0f} %", f"{100 * rows['missed'].mean():.1f} %"]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
