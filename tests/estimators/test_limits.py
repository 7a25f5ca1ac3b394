"""Time limits hold, keep the best so far and say what was cut; scores in folds go on from a checkpoint."""

from __future__ import annotations

import itertools
import time
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import LeaveOneOut

from rulecover import MIRCOClassifier, MIRCORegressor, RCBoostClassifier, RulePathClassifier, RulePathRegressor, RuleSet
from rulecover.checkpoint import Checkpoint
from rulecover.estimators import asked as asked_model
from rulecover.estimators import mirco, path_folds, pruning, rulepath
from rulecover.exceptions import CheckpointError, CutShortWarning
from rulecover.export.json_file import to_json
from rulecover.mirco import forward as covering
from rulecover.rcboost.pricing.oracles import ForestPricing
from rulecover.rulepath import forward
from rulecover.rulepath.response import best_exponent
from rulecover.setcover import Exact, Greedy, Search, Status, exact
from rulecover.setcover.kept_stages import KeptStages
from rulecover.setcover.reduce import reduced

X, y = load_breast_cancer(return_X_y=True)
X = X[:, :6]
FOREST = RandomForestClassifier(10, max_depth=4, random_state=0)


class Clock:
    """A clock by which every rule that is chosen takes a second, and nothing else takes any time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        enter = forward.ForwardFit.enter

        def slow(fit: Any, *args: Any, **settings: Any) -> None:
            self.now += 1
            enter(fit, *args, **settings)

        monkeypatch.setattr(forward.ForwardFit, "enter", slow)
        for module in (forward, path_folds, rulepath):
            monkeypatch.setattr(module.time, "perf_counter", lambda: self.now)


def path(**settings: Any) -> RulePathClassifier:
    return RulePathClassifier(FOREST, max_rules=6, gain="squares", random_state=0, **settings)


@pytest.mark.slow
@pytest.mark.parametrize(("limit", "rules", "folds"), [(1, 1, 0), (7, 4, 0), (13, 6, 1), (31, 6, 4), (37, 6, 5)])
def test_a_path_ends_in_time_and_says_what_was_cut(
    limit: int, rules: int, folds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = path().fit(X, y)
    clock = Clock(monkeypatch)
    if folds < 5:
        with pytest.warns(CutShortWarning, match=f"time_limit is {limit} s: ") as caught:
            cut = path(time_limit=limit).fit(X, y)
        assert f"its size was chosen in {folds} of 5 folds" in str(caught[0].message)
        assert f"its size was chosen in {folds} of 5 folds" in cut.size_reason_
        assert (f"the path ends at {rules} of up to 6 rules" in cut.size_reason_) == (rules < 6)
    else:
        cut = path(time_limit=limit).fit(X, y)
        assert cut.rules_ == whole.rules_

    assert clock.now <= limit
    assert len(cut.path_) == 1 + rules
    assert cut.at(rules).rules_ == whole.at(rules).rules_
    if not folds:
        assert cut.n_rules_ == rules


def test_a_path_without_folds_has_all_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    with pytest.warns(CutShortWarning, match="time_limit is 3 s: the path ends at 3 of up to 6 rules; give more time"):
        path(time_limit=3, choose="last").fit(X, y)

    assert clock.now == 3


def test_what_is_required_is_in_a_path_that_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    Clock(monkeypatch)
    with pytest.warns(CutShortWarning):
        cut = path(time_limit=0.5, choose="last", required=[0, 5]).fit(X, y)

    assert {0, 5} <= set(cut.rules_.clauses.columns.tolist())


def broken_off(model: Any, after: int, monkeypatch: pytest.MonkeyPatch, *data: Any) -> None:
    """Fits, and presses Ctrl-C once this many folds are done."""
    count, put = itertools.count(1), path_folds.Checkpoint.put

    def put_and_end(*args: Any) -> None:
        put(*args)
        if next(count) == after:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(path_folds.Checkpoint, "put", put_and_end)
        model.fit(*data)


@pytest.mark.slow
@pytest.mark.parametrize("trained", [True, False])
@pytest.mark.parametrize("after", [1, 2, 3])
def test_folds_that_were_done_are_not_done_again(
    trained: bool, after: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = FrozenEstimator(RandomForestClassifier(10, max_depth=4, random_state=0).fit(X, y))
    settings: dict[str, Any] = {"max_rules": 4, "cv": 3, "train_in_folds": trained, "random_state": 0}
    whole = RulePathClassifier(source, **settings).fit(X, y)
    model = RulePathClassifier(source, **settings, checkpoint=tmp_path / "path.npz")
    broken_off(model, after, monkeypatch, X, y)
    scored = itertools.count()
    size_scores = rulepath.size_scores
    for module in (rulepath, path_folds):
        monkeypatch.setattr(module, "size_scores", lambda *args: (next(scored), size_scores(*args))[1])
    model.fit(X, y)

    assert model.path_.equals(whole.path_) and model.n_rules_ == whole.n_rules_
    assert model.model_score_ == whole.model_score_ and np.array_equal(model.vote_.votes, whole.vote_.votes)
    assert next(scored) == (3 - after) * trained + 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_checkpoint_of_other_folds_or_of_half_a_fold_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = load_diabetes(return_X_y=True)
    settings: dict[str, Any] = {"pool": "forest", "max_rules": 2, "random_state": 0}
    file = tmp_path / "path.npz"
    broken_off(RulePathRegressor(**settings, cv=3, checkpoint=file), 1, monkeypatch, *data)
    with pytest.raises(CheckpointError, match="other data or settings"):
        RulePathRegressor(**settings, cv=2, checkpoint=file).fit(*data)
    with np.load(file) as kept:
        arrays = {name: array for name, array in kept.items() if name != "fold 0/model"}
    np.savez(file, **arrays)
    with pytest.raises(CheckpointError, match=r"path\.npz' does not fit the data; delete it"):
        RulePathRegressor(**settings, cv=3, checkpoint=file).fit(*data)


# Covers ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["search", "exact"])
def test_two_covers_share_the_time(solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = {"search": Search, "exact": Exact}[solver]
    given, solve = [], kind.__call__
    monkeypatch.setattr(
        kind, "__call__", lambda self, *a, **k: (given.append(self.time_limit), solve(self, *a, **k))[1]
    )
    MIRCOClassifier(FOREST, solver=solver, time_limit=2.0, random_state=0).fit(X, y)

    assert len(given) == 2 and given[0] <= 1.0 and given[1] < 2.0


@pytest.mark.parametrize("solver", [Search(effort=500), Exact(time_limit=None, effort=500)], ids=repr)
def test_a_solver_without_a_limit_of_its_own_keeps_that_of_the_estimator(
    solver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    given, solve = [], type(solver).__call__
    monkeypatch.setattr(
        type(solver), "__call__", lambda self, *a, **k: (given.append(self.time_limit), solve(self, *a, **k))[1]
    )
    begin = time.process_time()
    MIRCOClassifier(FOREST, solver=solver, prune=False, time_limit=0.5, random_state=0).fit(X, y)

    assert given and all(limit is not None and limit <= 0.5 for limit in given)
    assert time.process_time() - begin < 3


def test_every_choice_of_a_cover_is_told_the_time_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[float | None] = []
    solve, on = Greedy.__call__, covering.Forward.on
    monkeypatch.setattr(
        Greedy, "__call__", lambda self, *a, **k: (told.append(self.time_limit), solve(self, *a, **k))[1]
    )
    MIRCOClassifier(FOREST, solver=Greedy(bound="lp"), time_limit=0.7, random_state=0).fit(X, y)
    assert len(told) == 2 and all(seconds is not None and seconds < 0.7 for seconds in told)
    told.clear()
    MIRCOClassifier(FOREST, solver=Greedy(bound="lp", time_limit=0.1), time_limit=9, random_state=0).fit(X, y)
    assert len(told) == 2 and told[0] <= 0.05 and told[0] < told[1] <= 0.1
    told.clear()
    monkeypatch.setattr(covering.Forward, "on", lambda self, *a: (told.append(self.time_limit), on(self, *a))[1])
    MIRCORegressor(solver=covering.Forward(), time_limit=0.7, random_state=0).fit(*load_diabetes(return_X_y=True))
    assert told[0] is not None and told[0] < 0.7


def test_a_solver_that_cannot_be_told_of_the_limit_is_refused() -> None:
    class Untold:
        def __call__(self, problem: Any, *, max_rules: int | None = None) -> Any:
            return Greedy()(problem, max_rules=max_rules)

    MIRCOClassifier(FOREST, solver=Untold(), random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"time_limit is 2, but solver is .*Untold.* has no method within_seconds"):
        MIRCOClassifier(FOREST, solver=Untold(), time_limit=2, random_state=0).fit(X, y)


def test_a_forward_cover_that_is_out_of_time_still_covers_every_row(monkeypatch: pytest.MonkeyPatch) -> None:
    data = load_diabetes(return_X_y=True)
    whole = MIRCORegressor(random_state=0).fit(*data)
    Clock(monkeypatch)
    cut = MIRCORegressor(random_state=0, time_limit=5).fit(*data)

    assert cut.certificate_.status == Status.TIME_LIMIT and whole.certificate_.status != Status.TIME_LIMIT
    assert cut.certificate_.n_uncovered == 0 and not cut.missed(data[0]).any()
    assert cut.rules_[:2].clauses.feature.tolist() == whole.rules_[:2].clauses.feature.tolist()


@pytest.mark.parametrize(("limit", "folds"), [(15, 0), (35, 1), (100, 3)])
def test_whether_to_prune_is_decided_in_the_folds_that_there_is_time_for(
    limit: float, folds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fold takes ten seconds, as the training before it did."""
    now = [-10.0]
    prepare = MIRCOClassifier._prepare

    def prepared(*args: Any, **settings: Any) -> Any:
        now[0] = max(now[0], 0.0)
        return prepare(*args, **settings)

    monkeypatch.setattr(MIRCOClassifier, "_prepare", prepared)
    among = pruning._among
    monkeypatch.setattr(pruning.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(pruning, "_among", lambda *args: (now.__setitem__(0, now[0] + 10), among(*args))[1])
    model = MIRCOClassifier(FOREST, prune="held-out", time_limit=limit, random_state=0)
    if folds == 3:
        model.fit(X, y)
    else:
        with pytest.warns(CutShortWarning, match=f"whether to prune was decided in {folds} of 3 folds"):
            model.fit(X, y)

    assert now[0] == 10 * folds and (folds or model.pruned_)


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["exact", Exact(effort=0.1)], ids=repr)
def test_an_exact_cover_goes_on_from_its_checkpoint(
    solver: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, few, labels = tmp_path / "cover.npz", X[:150], y[:150]
    settings: dict[str, Any] = {"solver": solver, "random_state": 0}
    alone = MIRCOClassifier(FOREST, **settings).fit(few, labels)
    whole = MIRCOClassifier(FOREST, **settings, checkpoint=file).fit(few, labels)
    put = KeptStages.put
    for after in (1, 2, 4):
        count = itertools.count(1)

        def put_and_end(self: Any, *args: Any, count: Any = count, after: int = after) -> None:
            put(self, *args)
            if next(count) == after:
                raise RuntimeError

        model = MIRCOClassifier(FOREST, **settings, checkpoint=file)
        with monkeypatch.context() as patched, pytest.raises(RuntimeError):
            patched.setattr(KeptStages, "put", put_and_end)
            model.fit(few, labels)
        assert file.exists()
        if not isinstance(solver, str):
            model.set_params(solver=replace(solver, time_limit=300))
        assert to_json(model.fit(few, labels)) == to_json(whole) and not file.exists()

    assert whole.certificate_.objective == pytest.approx(alone.certificate_.objective)


@pytest.mark.slow
@pytest.mark.parametrize("prune", [True, "held-out"])
def test_a_checkpoint_is_for_all_exact_covers_of_a_fit(
    prune: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pruned rules are covered once more, and held-out rows are predicted by covers of other rows."""
    file, put = tmp_path / "cover.npz", Checkpoint.put

    def fitted(checkpoint: Path) -> str:
        settings = {"solver": Exact(effort=0.05), "prune": prune, "checkpoint": checkpoint, "random_state": 0}
        return to_json(MIRCOClassifier(FOREST, **settings).fit(X[:100], y[:100]))

    def put_and_end(self: Any, entries: Any) -> None:
        put(self, entries)
        raise RuntimeError

    whole = fitted(tmp_path / "whole.npz")
    monkeypatch.setattr(Checkpoint, "put", put_and_end)
    n_ended = 0
    while n_ended < 100:
        try:
            assert fitted(file) == whole
            break
        except RuntimeError:
            n_ended += 1
            assert file.exists()

    assert 1 < n_ended < 100 and not file.exists()


def test_a_checkpoint_of_a_cover_is_for_exact_ones(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="checkpoint keeps the work of solver='exact', but solver is 'greedy'"):
        MIRCOClassifier(checkpoint=tmp_path / "cover.npz", random_state=0).fit(X, y)


def test_a_cover_whose_first_choice_was_cut_short_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second choice, among the rules of the first one, is soon proved."""
    file, few, labels = tmp_path / "cover.npz", X[:150], y[:150]
    model = MIRCOClassifier(FOREST, solver="exact", random_state=0, checkpoint=file)
    whole, put, count = model.fit(few, labels), KeptStages.put, itertools.count(1)

    def put_and_end(self: Any, *args: Any) -> None:
        put(self, *args)
        if next(count) == 1:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(KeptStages, "put", put_and_end)
        cut = clone(model).fit(few, labels)
    assert next(count) > 1 and cut.certificate_.status == Status.TIME_LIMIT and file.exists()

    assert to_json(clone(model).fit(few, labels)) == to_json(whole) and not file.exists()


def test_a_certificate_says_that_the_first_of_two_choices_was_cut_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """With or without a checkpoint: the second choice, among the rules of the first one, is soon proved."""
    count = itertools.count()

    def late_at_first(problem: Any, **settings: Any) -> Any:
        if not next(count):
            raise TimeoutError
        return reduced(problem, **settings)

    model = MIRCOClassifier(FOREST, solver="exact", random_state=0)
    assert model.fit(X, y).certificate_.status == Status.OPTIMAL
    monkeypatch.setattr(exact, "reduced", late_at_first)
    cut = clone(model).fit(X, y).certificate_

    assert next(count) > 1 and cut.status == Status.TIME_LIMIT and cut.bound == pytest.approx(cut.objective)


def test_a_solver_with_a_file_of_its_own_is_refused(tmp_path: Path) -> None:
    """A pruned cover is two covers, and the file of the first one, cut short, would be foreign to the second."""
    solver = Exact(checkpoint=tmp_path / "cover.npz")
    with pytest.raises(ValueError, match="give checkpoint to MIRCOClassifier, and leave it out of the solver"):
        MIRCOClassifier(solver=solver, random_state=0).fit(X, y)


# Tables that take longer to read than there is time -------------------------------------------------------------------


@pytest.fixture
def no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock by which every look at it takes a second: nothing can be done in time."""
    clock = itertools.count()
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(clock)))


SOURCE = FrozenEstimator(RandomForestClassifier(10, max_depth=4, random_state=0).fit(X, y))


@pytest.mark.usefixtures("no_time")
@pytest.mark.parametrize("solver", ["greedy", "search", "exact"])
def test_a_cover_that_is_out_of_time_covers_every_row_by_what_was_read(solver: str) -> None:
    with pytest.warns(CutShortWarning, match=r"time_limit is 0\.1 s: 1 of 10 trees were read and 0 of \d+ rules were"):
        cover = MIRCOClassifier(SOURCE, solver=solver, time_limit=0.1, random_state=0).fit(X, y)

    assert cover.certificate_.n_uncovered == 0 and not cover.missed(X).any()
    assert cover.certificate_.status == Status.TIME_LIMIT


@pytest.mark.usefixtures("no_time")
def test_too_few_rules_for_a_cover_are_called_so_even_out_of_time() -> None:
    with pytest.warns(CutShortWarning):
        some = MIRCOClassifier(SOURCE, max_rules=1, time_limit=0.1, random_state=0).fit(X, y)

    assert some.certificate_.status == Status.LIMITED and some.certificate_.n_uncovered == some.missed(X).sum() > 0


@pytest.mark.usefixtures("no_time")
def test_a_cover_of_numbers_that_is_out_of_time_covers_every_row_by_what_was_read() -> None:
    data = load_diabetes(return_X_y=True)
    forest = FrozenEstimator(RandomForestRegressor(10, max_depth=4, random_state=0).fit(*data))
    with pytest.warns(CutShortWarning, match=r"time_limit is 0\.1 s: 1 of 10 trees were read; give more time"):
        cover = MIRCORegressor(forest, time_limit=0.1, random_state=0).fit(*data)

    assert not cover.missed(data[0]).any()


@pytest.mark.usefixtures("no_time")
def test_a_path_that_is_out_of_time_says_what_was_not_read_and_not_scored() -> None:
    with pytest.warns(CutShortWarning) as caught:
        model = RulePathClassifier(SOURCE, max_rules=6, time_limit=0.1, random_state=0).fit(X, y)
    said = str(caught[0].message)

    assert "1 of 10 trees were read and the path ends at 1 of up to 6 rules" in said
    assert "rules were chosen by the labels alone" in said
    assert (
        "the model itself was not scored on the training rows" in said and said.partition(";")[0] in model.size_reason_
    )
    assert model.score(X, y) > 0.8


@pytest.mark.parametrize(("limit", "asked"), [(3, 200), (30, 3200)])
def test_a_model_that_takes_long_to_answer_is_asked_about_few_rows_alone(
    limit: int, asked: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = np.random.default_rng(0).integers(0, len(y), 3200)
    now, out_of_bag = [0.0], asked_model.out_of_bag

    def a_row_in_a_millisecond(model: Any, rows: Any, places: Any) -> Any:
        now[0] += len(rows) / 1000
        return out_of_bag(model, rows, places)

    monkeypatch.setattr(asked_model, "out_of_bag", a_row_in_a_millisecond)
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    model = RulePathClassifier(SOURCE, max_rules=3, choose="last", time_limit=limit, random_state=0)
    with pytest.warns(CutShortWarning) if asked == 200 else nullcontext():
        model.fit(X[many], y[many])

    assert ("rules were chosen by the labels alone" in model.size_reason_) == (asked == 200)
    assert now[0] == pytest.approx(0.2 + (3.2 if asked == 3200 else 0.0))


def test_folds_are_made_one_by_one_as_far_as_there_is_time() -> None:
    class OneByOne(LeaveOneOut):
        made = 0

        def split(self, *given: Any) -> Any:
            for fold in super().split(*given):
                OneByOne.made += 1
                yield fold

    path = RulePathClassifier(FOREST, max_rules=2, cv=OneByOne(), time_limit=1e-3, random_state=0)
    with pytest.warns(CutShortWarning, match=f"its size was chosen in 0 of {len(y)} folds"):
        path.fit(X, y)
    assert OneByOne.made == 1

    path.set_params(time_limit=None, train_in_folds=False).fit(X[::20], y[::20])
    assert OneByOne.made == 1 + len(y[::20])


@pytest.mark.usefixtures("no_time")
def test_a_path_of_rules_that_is_out_of_time_takes_the_first_ones() -> None:
    pool = RuleSet.of_intervals(
        [{k % 5: (-np.inf, float(X[k, k % 5]))} for k in range(300)], [f"x{f}" for f in range(X.shape[1])]
    )
    with pytest.warns(CutShortWarning, match=r"time_limit is 0\.1 s: 128 of 300 rules were read and the path ends at"):
        cut = RulePathClassifier(pool, model_share=0, train_in_folds=False, time_limit=0.1, random_state=0).fit(X, y)
    whole = RulePathClassifier(pool, model_share=0, max_rules=2, choose="last", random_state=0).fit(X, y)

    assert cut.n_candidate_rules_ <= 128 < whole.n_candidate_rules_


@pytest.mark.usefixtures("no_time")
@pytest.mark.parametrize("prune", [False, True])
def test_a_cover_of_rules_that_is_out_of_time_takes_the_first_ones(prune: bool) -> None:
    """Rows that only the others cover stay uncovered, which is said."""
    names = [f"x{f}" for f in range(X.shape[1])]
    rules = RuleSet.of_intervals([{0: (-np.inf, float(value))} for value in np.sort(X[:300, 0])] + [{}], names)
    with pytest.warns(CutShortWarning, match=r"time_limit is 0\.1 s: 128 of 301 rules were read"):
        cut = MIRCOClassifier(rules, prune=prune, time_limit=0.1, random_state=0).fit(X, y)

    assert cut.n_candidate_rules_ == 128 and cut.certificate_.status == Status.TIME_LIMIT
    assert cut.uncovered_.tolist() == np.flatnonzero(X[:, 0] > np.sort(X[:300, 0])[127]).tolist()


@pytest.mark.usefixtures("no_time")
def test_rules_are_read_until_one_covers_a_row_even_out_of_time() -> None:
    names = [f"x{f}" for f in range(X.shape[1])]
    rules = RuleSet.of_intervals([{0: (1e9, np.inf)}] * 300 + [{}] * 300, names)
    with pytest.warns(CutShortWarning, match=r"384 of 600 rules were read"):
        cut = MIRCOClassifier(rules, time_limit=0.1, random_state=0).fit(X, y)

    assert cut.n_candidate_rules_ == 84 and not cut.uncovered_.size


def test_a_cover_of_rules_with_time_to_spare_is_the_same_as_without_a_limit() -> None:
    pool = MIRCOClassifier(SOURCE, random_state=0).fit(X, y).rules_
    rules = RuleSet.of_intervals([{k % 5: (-np.inf, float(X[k, k % 5]))} for k in range(300)], pool.feature_names)
    limited = MIRCOClassifier(rules.join(pool), time_limit=1000, random_state=0).fit(X, y)
    free = MIRCOClassifier(rules.join(pool), random_state=0).fit(X, y)

    assert limited.rules_ == free.rules_ and limited.certificate_.objective == free.certificate_.objective
    assert (limited.vote_.votes == free.vote_.votes).all()


def test_what_is_read_does_not_depend_on_the_clock_where_there_is_a_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = itertools.count()
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(clock)))
    settings: dict[str, Any] = {"time_limit": 0.1, "random_state": 0, "checkpoint": tmp_path / "file"}
    with pytest.warns(CutShortWarning) as caught:
        RulePathClassifier(SOURCE, max_rules=6, **settings).fit(X, y)
        MIRCOClassifier(SOURCE, solver="exact", **settings | {"checkpoint": tmp_path / "other"}).fit(X, y)

    assert not any("trees were read" in str(each.message) for each in caught)


@pytest.mark.parametrize(
    "model",
    [
        RCBoostClassifier(pricing="tree", time_limit=0.1, random_state=0),
        RCBoostClassifier(time_limit=0.1, random_state=0),
        RCBoostClassifier(pricing="binned", time_limit=0.1, random_state=0),
    ],
    ids=repr,
)
def test_boosting_that_is_cut_short_is_not_called_optimal(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count()
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(clock)))
    with pytest.warns(CutShortWarning, match="0 of up to"):
        model.fit(X, y)

    assert model.certificate_.status == Status.TIME_LIMIT
    assert model.certificate_.bound <= model.certificate_.objective
    assert not model.missed(X).any() and model.score(X, y) > 0.85


def test_a_call_that_would_take_too_long_is_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first tree took a second, as a look at the clock does; twenty of them would take longer."""
    seconds = {"tree": 1.0, "forest": 20 * np.sqrt(6) / 6}
    for name, expected in seconds.items():
        model = RCBoostClassifier(pricing=name, random_state=0).fit(X, y)
        assert model._seconds_of_a_call(1.0) == pytest.approx(expected)
    assert ForestPricing(10, max_features=3).first_trees(6) == 5.0
    assert ForestPricing(10, max_features=0.2).first_trees(10) == 2.0
    assert ForestPricing(10, max_features=None).first_trees(10) == 10.0


def test_calibration_takes_the_best_power_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[float] = []

    def loss(log_exponent: float) -> float:
        tried.append(log_exponent)
        return (log_exponent - 1.0) ** 2

    whole = best_exponent(loss)
    tried.clear()
    assert best_exponent(loss, time.perf_counter() - 1.0) == pytest.approx(tried[0], abs=1e-3) and len(tried) == 1
    assert best_exponent(loss, time.perf_counter() + 60.0) == whole == pytest.approx(1.0, abs=1e-3)


def test_trees_that_have_been_cut_in_time_are_all_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock jumps beyond half of the time once all trees are cut."""
    data = load_diabetes(return_X_y=True)
    forest = FrozenEstimator(RandomForestRegressor(10, max_depth=4, random_state=0).fit(*data))
    now, short = [0.0], mirco.without_small_branches
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(
        mirco, "without_small_branches", lambda *args, **kw: (short(*args, **kw), now.__setitem__(0, 6.0))[0]
    )
    whole = MIRCORegressor(forest, random_state=0).fit(*data)
    now[0] = 0.0

    assert MIRCORegressor(forest, time_limit=10, random_state=0).fit(*data).rules_ == whole.rules_
