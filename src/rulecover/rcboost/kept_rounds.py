"""The rounds of a run in a checkpoint: rules are kept as they were proposed, and come and go again in their order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import issparse

from rulecover.checkpoint import Checkpoint, Entry
from rulecover.data.columns import Columns
from rulecover.exceptions import CheckpointError
from rulecover.rcboost.boost import BoostRun
from rulecover.rcboost.generate import Exchange, Round
from rulecover.rcboost.pricing.proposal import Proposal, Proposed
from rulecover.rules.clauses import Clauses, offsets
from rulecover.rules.ruleset import RuleSet
from rulecover.trees.tree import Tree, TreeEnsemble
from rulecover.typing import Array, Ints

#: The figures of a round, in one array; the whole numbers come first.
_FIGURES = tuple(field.name for field in fields(Round) if field.name not in ("z", "pool"))
_NODES = ("feature", "threshold", "left", "right", "missing_left")
_CLAUSES = ("offset", "feature", "lower", "upper", "missing")


class KeptRounds:
    """The rounds of a run, kept in a file as they come.

    Parameters
    ----------
    file
        The checkpoint.
    """

    def __init__(self, file: Checkpoint) -> None:
        self._file = file

    def resume(self, run: BoostRun, *, patience: int | None) -> bool:
        """Takes the run as far as it was kept, without growing a tree or solving an LP; returns whether it is over."""
        while (kept := self._file.get(f"round {len(run.rounds)}")) is not None:
            with self._file.fitting():
                _repeat(run, kept)
        if not run.rounds:
            return False
        if (state := self._file.get("state")) is not None:
            with self._file.fitting():
                _check_state(state, run)
                run.generation.restore(state)
        return run.is_over(patience)

    def note(self, run: BoostRun) -> None:
        """Keeps the round that is over, and where the loop is."""
        done, exchange = run.rounds[-1], run.generation.last
        assert exchange is not None
        figures = np.array([float(getattr(done, name)) for name in _FIGURES])
        kept = {"z": done.z, "figures": figures, "admitted": exchange.admitted, "stale": exchange.stale}
        state = run.generation.state()
        self._file.put({f"round {len(run.rounds) - 1}": kept | _written(exchange.proposed), "state": state})


def _repeat(run: BoostRun, kept: Entry) -> None:
    """Takes the run one round further."""
    generation = run.generation
    generation.repeat(Exchange(_proposed(kept, generation.samples.X.shape[1]), kept["admitted"], kept["stale"]))
    run.record(_round(kept, generation.pool))
    if len(generation.pool) != run.rounds[-1].rules:
        raise ValueError(f"the pool has {len(generation.pool)} rules, not {run.rounds[-1].rules}")


def _check_state(state: Entry, run: BoostRun) -> None:
    """Raises if the state is one of other samples or rules, which the solver of the LP would find rounds later."""
    n_samples, n_rules, inside = len(run.generation.accumulated), len(run.generation.pool), state["inside"]
    lengths = {"accumulated": n_samples, "expensive_for": n_rules, "samples": inside.size, "rules": n_rules}
    for name, length in {**lengths, "inside": inside.size}.items():
        kinds = "iu" if name in ("expensive_for", "inside") else "iuf"
        if state[name].shape != (length,) or state[name].dtype.kind not in kinds:
            raise ValueError(f"{name} are not {length} numbers")
    if not np.isin(inside, np.arange(n_samples)).all():
        raise ValueError(f"inside are not some of {n_samples} samples")


def _round(kept: Entry, pool: Ints) -> Round:
    whole = {field.name for field in fields(Round) if field.type == "int"}
    figures = zip(_FIGURES, kept["figures"].tolist(), strict=True)
    return Round(kept["z"], pool, **{name: int(value) if name in whole else value for name, value in figures})


def _written(proposed: Proposed) -> dict[str, Array]:
    """Rules or trees as arrays."""
    rules = proposed.rules if isinstance(proposed, Proposal) else proposed
    if isinstance(rules, TreeEnsemble):
        return _written_trees(rules)
    written = {f"rules {name}": getattr(rules.clauses, name) for name in _CLAUSES}
    if rules.paths is not None:
        written |= {f"paths {name}": getattr(rules.paths, name) for name in _CLAUSES}
    return written


def _written_trees(ensemble: TreeEnsemble) -> dict[str, Array]:
    if ensemble.categories or ensemble.zero_missing or any(tree.category is not None for tree in ensemble.trees):
        raise CheckpointError(
            "trees that split on categories, or take 0 for a missing value, cannot be kept in a checkpoint; leave "
            "checkpoint out, or give a tree of scikit-learn."
        )
    sizes = np.array([len(tree.left) for tree in ensemble.trees])
    joined = {name: np.concatenate([getattr(tree, name) for tree in ensemble.trees]) for name in _NODES}
    return {"tree sizes": sizes} | {f"trees {name}": array for name, array in joined.items()}


def _proposed(kept: Entry, n_features: int) -> TreeEnsemble | RuleSet:
    if "tree sizes" in kept:
        return _trees(kept, n_features)
    paths = _clauses(kept, "paths", n_features) if "paths offset" in kept else None
    return RuleSet(_clauses(kept, "rules", n_features), Columns(tuple(f"x{f}" for f in range(n_features))), paths)


def _trees(kept: Entry, n_features: int) -> TreeEnsemble:
    ends = offsets(kept["tree sizes"].tolist())
    if any(kept[f"trees {name}"].shape != (ends[-1],) for name in _NODES):
        raise ValueError(f"there are not {ends[-1]} nodes")
    nodes = [np.split(kept[f"trees {name}"], ends[1:-1]) for name in _NODES]
    trees = tuple(Tree(*arrays) for arrays in zip(*nodes, strict=True))
    if not all(map(_is_whole, trees)):
        raise ValueError("not every node is led to by one path")
    routes: tuple[Callable[[Any], Ints], ...] = tuple(partial(_leaves, tree) for tree in trees)
    return TreeEnsemble(trees, routes, prepare=lambda X: X, n_features=n_features)


def _is_whole(tree: Tree) -> bool:
    """Whether the root leads to every node by one path: in a circle a walk would have no end."""
    n, n_met, level = len(tree.left), 0, np.zeros(1, dtype=np.intp)
    inner = tree.left >= 0
    if not np.array_equal(np.sort(np.concatenate([tree.left[inner], tree.right[inner]])), np.arange(1, n)):
        return False
    while level.size and n_met <= n:
        n_met += len(level)
        level = level[inner[level]]
        level = np.concatenate([tree.left[level], tree.right[level]])
    return n_met == n


def _leaves(tree: Tree, X: Any) -> Ints:
    """The leaf of each row, by node number; of sparse data only the columns in use are written out."""
    if not issparse(X):
        return tree.apply(X)
    used = np.unique(tree.feature[tree.left >= 0])
    place = np.zeros(1 + int(used.max(initial=0)), dtype=np.intp)
    place[used] = np.arange(len(used))
    return tree.on_columns(place).apply(X.tocsc()[:, used].toarray())


def _clauses(kept: Entry, name: str, n_features: int) -> Clauses:
    offset, feature, lower, upper, missing = (kept[f"{name} {key}"] for key in _CLAUSES)
    if not ((feature >= 0) & (feature < n_features)).all():
        raise ValueError(f"clauses are not on {n_features} columns")
    return Clauses(offset, feature, lower, upper, missing, category=np.full(len(feature), -1, dtype=np.intp))
