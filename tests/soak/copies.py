"""Models that are made of a fitted one, or go on where another fit ended."""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from comparing import answers, assert_same
from sklearn.base import clone
from soak_cases import WITHOUT_SHARES, Fitted, estimator_of

from rulecover.checkpoint import Checkpoint
from rulecover.exceptions import CheckpointError
from rulecover.setcover import Exact, Status
from rulecover.setcover.problem import TOLERANCE
from rulecover.voting.voting_on import voting_on

#: Sources that scikit-learn does not clone: the list of columns is not the one that was given.
_NO_CLONE = ("catboost with texts",)


def a_copy_is_the_same_model(f: Fitted) -> None:
    """And a clone, once it is fitted to the same rows."""
    assert_same(f, copy.deepcopy(f.model))
    if not f.case.explains and f.case.source not in _NO_CLONE:
        again = clone(f.model)
        assert not hasattr(again, "vote_")
        assert_same(f, _fitted_to(f, again))


def _fitted_to(f: Fitted, model: Any) -> Any:
    weight = {} if f.data.weight is None else {"sample_weight": f.data.weight}
    groups = {} if f.case.groups is None else {"groups": f.case.groups}
    return model.fit(f.data.X, f.data.y, **weight, **groups)


def a_fallback_can_be_changed_without_a_fit(f: Fitted) -> None:
    """Unless held-out rows, of which some are missed, decide whether rules are pruned."""
    if "fallback" not in f.case.settings or f.case.settings.get("prune") == "held-out":
        return
    others = set(voting_on(f.model._target).fallbacks) - ({"model"} if f.case.source in WITHOUT_SHARES else set())
    name = sorted(others)[f.case.seed % len(others)]
    changed = copy.copy(f.model).set_params(fallback=name)
    fitted = f.again(replace(f.case, settings={**f.case.settings, "fallback": name}))
    np.testing.assert_array_equal(answers(changed, f.data.asked), answers(fitted, f.data.asked))


def more_calls_go_on_where_the_last_fit_ended(f: Fitted) -> None:
    """With ``warm_start``: the model of all calls at once."""
    if f.case.method != "RCBoost":
        return
    calls = f.case.settings["max_rmp_calls"]
    settings = {**f.case.settings, "warm_start": True}
    model = _fitted_to(f, estimator_of(replace(f.case, settings=settings), f.source))
    _fitted_to(f, model.set_params(max_rmp_calls=calls + 2))
    assert_same(replace(f, model=model), f.again(replace(f.case, settings={**settings, "max_rmp_calls": calls + 2})))


# Checkpoints ----------------------------------------------------------------------------------------------------


def a_checkpoint_changes_nothing(f: Fitted) -> None:
    """For covers the search for the best one is what is kept; proved in parts, it may be another of the same cost."""
    given = f.case.settings
    solver, is_cover = given.get("solver"), f.case.method in ("MIRCO", "explain cover")
    if given.get("warm_start") or "random_state" not in given or (is_cover and not isinstance(solver, Exact)):
        return
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "kept.npz"
        plain = {**given, "solver": replace(solver, random_state=1)} if is_cover else given
        one, more = f.again(replace(f.case, settings=plain)), {**plain, "checkpoint": kept}
        unbroken = {**more, "checkpoint": kept.with_name("unbroken.npz")}
        whole = f.again(replace(f.case, settings=unbroken)) if is_cover else one
        try:
            with stopped_after(f.case.seed % 3), suppress(KeyboardInterrupt):
                f.again(replace(f.case, settings=more))
            other = f.again(replace(f.case, settings=more))
        except CheckpointError as error:
            assert f.case.method == "explain boost" and "cannot be kept in a checkpoint" in str(error), error
            return
        assert_same(replace(f, model=whole), other)
        if is_cover and given.get("prune") is False:
            costs = [m.certificate_.objective for m in (one, other) if m.certificate_.status == Status.OPTIMAL]
            assert np.allclose(costs, costs[:1] * len(costs), rtol=2 * TOLERANCE)
        assert not kept.exists() or (is_cover and other.certificate_.status == Status.TIME_LIMIT)


@contextmanager
def stopped_after(n_kept: int) -> Iterator[None]:
    """Ctrl-C once so many pieces of work are kept; never, if it is 0."""
    put, left = Checkpoint.put, [n_kept]

    def put_and_stop(self: Checkpoint, entries: Any) -> None:
        put(self, entries)
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt

    Checkpoint.put = put_and_stop  # type: ignore[method-assign]
    try:
        yield
    finally:
        Checkpoint.put = put  # type: ignore[method-assign]
