"""RCBoost as its users see it, and the properties of column generation on random data."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.class_weight import compute_sample_weight
from spied import Spy

from rulecover import MIRCOClassifier, RCBoostClassifier, explain
from rulecover.estimators.rcboost import FirstTreeElsewhere
from rulecover.exceptions import CutShortWarning, SolverError
from rulecover.rcboost.admission import Negative
from rulecover.rcboost.boost import BoostRun
from rulecover.rcboost.pricing.oracles import ForestPricing, TreePricing
from rulecover.rcboost.removal import Stale
from rulecover.setcover import Status
from rulecover.setcover.master import Master
from rulecover.setcover.near import NearMaster
from rulecover.targets.classes.samples import ClassSamples


def data(seed: int = 0, n: int = 250, classes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(n, 8, n_informative=5, n_classes=classes, flip_y=0.1, random_state=seed)
    return X, y


def boosted(**settings) -> RCBoostClassifier:
    """One tree per call, votes by counts."""
    usual = {"max_rmp_calls": 12, "pricing": "tree", "vote": "counts", "random_state": 0}
    return RCBoostClassifier(**(usual | settings))


@pytest.mark.slow
@pytest.mark.parametrize(("duals", "step"), [("equal", "even"), ("vertex", "even"), ("equal", 1.0), ("vertex", 1.0)])
def test_column_generation_keeps_its_promises_on_random_data(duals: str, step) -> None:
    for seed in range(6):
        X, y = data(seed)
        spy = Spy()
        model = boosted(duals=duals, step=step, pricing=spy).fit(X, y)
        history = model.history_
        objectives = [*history["objective"], model.certificate_.objective]
        assert (np.diff(objectives) <= 1e-6).all()  # it never rises
        assert (np.diff([len(pool) for pool, _ in model._stages]) >= 0).all()
        total = np.ones(len(y))
        for given, objective in zip(spy.seen, history["objective"], strict=True):
            assert given.current.sum() == pytest.approx(objective, abs=1e-6)
            total = total + given.current * (0.1 * len(y) / objective if step == "even" else step)
            np.testing.assert_allclose(given.accumulated, total)
            assert given.accumulated.min() >= 1
        covered = model.pool_.apply(X).toarray()
        cost = model.pool_.evidence.cost
        final = Master(_coverage(covered), cost).solve()
        assert final.objective == pytest.approx(model.certificate_.objective, abs=1e-6)
        assert (cost - covered.T @ final.duals).min() > -1e-6  # no rule of the final pool prices out negative
        assert not model.missed(np.random.default_rng(seed).normal(size=(50, 8))).any()


def _coverage(covered: np.ndarray):
    from rulecover.coverage import Coverage

    return Coverage.of_masks(covered.T)


@pytest.mark.slow
def test_no_rule_enters_twice() -> None:
    for seed in range(10):
        X, y = data(seed)
        model = boosted(max_rmp_calls=40).fit(X, y)
        texts = {(rule.text, tuple(rule.counts.values())) for rule in model.pool_}
        columns = np.unique(model.pool_.apply(X).toarray(), axis=1)
        assert len(texts) == len(model.pool_) == columns.shape[1]


def test_costs_and_votes_use_plain_counts() -> None:
    X, y = data(1)
    model = boosted().fit(X, y)
    covered = model.pool_.apply(X).toarray().astype(float)
    counts = covered.T @ np.eye(3)[y]
    np.testing.assert_allclose(model.pool_.evidence.sums, counts)
    gini = 1 - np.square(counts / counts.sum(axis=1, keepdims=True)).sum(axis=1)
    np.testing.assert_allclose(model.pool_.evidence.cost, 1 + gini)
    tally = covered @ counts
    np.testing.assert_array_equal(model.predict(X), tally.argmax(axis=1))


def test_stages_run_from_the_first_tree_to_the_whole_pool() -> None:
    X, y = data(2)
    model = boosted().fit(X, y)
    stages = list(model.staged_predict(X))
    assert len(stages) == model.n_rmp_calls_ + 1
    np.testing.assert_array_equal(stages[0], model.initial_estimator_.predict(X))
    np.testing.assert_array_equal(stages[-1], model.predict(X))
    np.testing.assert_allclose(list(model.staged_predict_proba(X))[-1], model.predict_proba(X))


@pytest.mark.parametrize("weights", [None, "z"])
def test_the_source_model_predicts_rows_that_are_missed_in_stages_too(weights) -> None:
    X, y = data(2)
    forest = RandomForestClassifier(5, max_depth=4, random_state=0).fit(X, y)
    settings = {"max_rmp_calls": 8, "remove": Stale(above=0.0, calls=1), "rule_weights": weights, "random_state": 0}
    model = explain(forest, X, y, method="boost", fallback="model", **settings)
    far = np.random.default_rng(0).normal(scale=3, size=(400, 8))
    assert model.missed(far).any()

    np.testing.assert_array_equal(list(model.staged_predict(far))[-1], model.predict(far))
    np.testing.assert_array_equal(list(model.staged_predict_proba(far))[-1], model.predict_proba(far))


@pytest.mark.slow
@pytest.mark.parametrize("weights", [None, "z"])
def test_a_stage_is_the_model_of_that_many_calls(weights) -> None:
    X, y = data(3)
    long = boosted(rule_weights=weights).fit(X, y)
    for calls, stage in enumerate(long.staged_predict(X)):
        short = boosted(rule_weights=weights, max_rmp_calls=calls).fit(X, y)
        assert short.n_rmp_calls_ == calls
        if weights is None:
            assert len(short.rules_) == len(long._stages[calls][0])
            np.testing.assert_array_equal(short.predict(X), stage)
        else:  # the last solve of the short run may end in another optimum than the long run's solve on its way
            assert np.mean(short.predict(X) == stage) > 0.9


@pytest.mark.slow
def test_warm_start_goes_on_where_it_was() -> None:
    X, y = data(4)
    model = boosted(max_rmp_calls=3, warm_start=True).fit(X, y)
    assert model.n_rmp_calls_ == 3
    model.set_params(max_rmp_calls=9).fit(X, y)
    whole = boosted(max_rmp_calls=9).fit(X, y)
    assert model.n_rmp_calls_ == whole.n_rmp_calls_
    assert model.history_["added"].tolist()[:3] == whole.history_["added"].tolist()[:3]
    assert (np.diff([*model.history_["objective"], model.certificate_.objective]) <= 1e-6).all()


@pytest.mark.parametrize("settings", [{"admit": Negative(at_most=1), "max_rmp_calls": 50}, {"early_stopping": 1}])
def test_a_warm_start_goes_on_with_nothing_that_came_to_its_end(settings) -> None:
    X, y = data(4, n=60)
    model = boosted(**{"max_rmp_calls": 50, "warm_start": True, "random_state": 0, **settings}).fit(X, y)
    calls = len(model.history_)
    assert calls < 50

    model.set_params(max_rmp_calls=60).fit(X, y)

    assert len(model.history_) == calls


def test_a_copy_of_a_warm_model_predicts_the_same_and_begins_anew() -> None:
    X, y = data(4)
    model = boosted(max_rmp_calls=2, warm_start=True).fit(X, y)

    loaded = pickle.loads(pickle.dumps(model))

    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    whole = boosted(max_rmp_calls=3).fit(X, y)
    assert loaded.set_params(max_rmp_calls=3).fit(X, y).rules_ == whole.rules_
    assert model.set_params(max_rmp_calls=3).fit(X, y).n_rmp_calls_ == whole.n_rmp_calls_


def test_duals_near_the_optimum_end_in_an_exact_one_and_go_on_from_there() -> None:
    X, y = data(4)
    settings = {"duals": "near", "pricing": ForestPricing(10)}
    model = boosted(max_rmp_calls=2, warm_start=True, **settings).fit(X, y)
    model.set_params(max_rmp_calls=5).fit(X, y)
    whole = boosted(max_rmp_calls=5, **settings).fit(X, y)

    assert model.rules_ == whole.rules_ and model.history_["objective"].equals(whole.history_["objective"])
    covered, cost = whole.pool_.apply(X).toarray(), whole.pool_.evidence.cost
    optimum = Master(_coverage(covered), cost).solve().objective
    assert whole.certificate_.status == Status.OPTIMAL and whole.certificate_.bound == whole.certificate_.objective
    assert whole.certificate_.objective == pytest.approx(optimum, abs=1e-6) == cost @ whole.z_
    before, z = whole._stages[0]
    assert whole.history_["objective"][1] <= cost[before] @ z[before] + 1e-9  # a bound, and what its shares cost
    assert (covered[:, before] @ z[before] >= 1 - 1e-9).all()


def test_a_last_solve_that_is_cut_short_is_certified_by_what_was_found(monkeypatch) -> None:
    def late(master, *, deadline=None):
        raise TimeoutError

    X, y = data(4)
    whole = boosted(max_rmp_calls=4, duals="near", pricing=ForestPricing(10)).fit(X, y)
    monkeypatch.setattr(NearMaster, "optimum", late)
    cut = boosted(max_rmp_calls=4, duals="near", pricing=ForestPricing(10)).fit(X, y)

    covered, cost = cut.pool_.apply(X).toarray(), cut.pool_.evidence.cost
    assert (covered @ cut.z_ >= 1 - 1e-9).all()
    assert cut.certificate_.status == Status.TIME_LIMIT
    assert cut.certificate_.objective == pytest.approx(cost @ cut.z_)
    assert cut.certificate_.bound <= whole.certificate_.objective <= cut.certificate_.objective + 1e-6


def test_it_stops_early_on_held_out_rows() -> None:
    X, y = data(5, n=600)
    model = boosted(max_rmp_calls=100, early_stopping=3).fit(X, y)
    assert model.n_rmp_calls_ < 100
    assert len(list(model.staged_predict(X))) == model.n_rmp_calls_ + 1


def test_rules_weighted_by_their_share_are_fewer_and_misses_go_to_the_fallback() -> None:
    X, y = data(6)
    model = boosted(rule_weights="z").fit(X, y)
    assert len(model.rules_) == (model.z_ > 1e-9).sum() < len(model.pool_)
    assert not model.missed(X).any()  # what the LP covers is covered
    far = np.random.default_rng(0).normal(scale=3, size=(400, 8))
    assert len(model.predict(far)) == 400
    assert set(model.why(far[model.missed(far)])["decided_by"]) <= {"closest"}


def test_votes_are_shown_where_every_row_of_a_class_is_held_out() -> None:
    pages = []
    for labels in (["a", "b"], ["b", "a"]):
        model = RCBoostClassifier(early_stopping=True, vote="log-odds", random_state=0).fit([[1.0], [1.0]], labels)
        pages.append(model.vote_._repr_html_())

        assert sorted(model.rules_.evidence.all_counts.tolist()) == [0.0, 1.0]
    assert ['<td class="number">0.00</td>' in page for page in pages].count(True) == 1


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{}, {"rule_weights": "z"}, {"early_stopping": 3}, {"class_weight": "balanced"}])
def test_log_odds_of_a_pool_beat_its_shares_in_log_loss(settings) -> None:
    X, y = data(8, n=600)
    train, test = slice(None, None, 2), slice(1, None, 2)
    shares, fitted = (boosted(vote=vote, **settings).fit(X[train], y[train]) for vote in ("shares", "log-odds"))
    assert fitted.rules_ == shares.rules_
    assert log_loss(y[test], fitted.predict_proba(X[test])) < log_loss(y[test], shares.predict_proba(X[test]))
    assert (fitted.predict_proba(X) > 0).all() and (fitted.predict_proba(X) < 1).all()
    with pytest.raises(ValueError, match="vote='shares' for staged predictions"):
        next(fitted.staged_predict_proba(X))


@pytest.mark.slow
def test_the_defaults_predict_new_rows_better_than_the_settings_of_the_paper() -> None:
    scores = []
    for seed in range(4):
        X, y = data(seed, n=600)
        models = (make(random_state=0) for make in (RCBoostClassifier, RCBoostClassifier.as_in_paper))
        found = [model.fit(X[:300], y[:300]) for model in models]
        scores.append([(m.score(X[300:], y[300:]), -log_loss(y[300:], m.predict_proba(X[300:]))) for m in found])

    by_default, paper = np.mean(scores, axis=0)
    assert (by_default > paper + 0.01).all()


def test_the_preset_of_the_paper_grows_one_tree_per_call_and_votes_by_counts() -> None:
    X, y = data(7)
    paper = RCBoostClassifier.as_in_paper(max_rmp_calls=6, random_state=0).fit(X, y)
    spelled = boosted(max_rmp_calls=6, duals="vertex", step=1.0, admit="all", fallback="closest").fit(X, y)
    assert paper.rules_ == spelled.rules_
    assert paper.vote_.votes.tolist() == paper.rules_.evidence.sums.tolist()


@pytest.mark.slow
def test_pricing_by_forests_and_admitting_the_best_rule_only() -> None:
    X, y = data(7)
    forest = boosted(pricing="forest", max_rmp_calls=3).fit(X, y)
    tree = boosted(max_rmp_calls=3).fit(X, y)
    assert forest.history_["added"].iloc[0] > tree.history_["added"].iloc[0]
    assert boosted(pricing=ForestPricing(n_estimators=3), max_rmp_calls=2).fit(X, y).n_rmp_calls_ == 2
    assert (boosted(admit="best").fit(X, y).history_["added"] <= 1).all()
    assert (boosted(admit=Negative(at_most=3)).fit(X, y).history_["added"] <= 3).all()


@pytest.mark.slow
@pytest.mark.parametrize("duals", ["equal", "vertex", "near"])
def test_rules_that_stay_dear_leave_the_pool_and_no_training_row_is_missed(duals: str) -> None:
    removed, missed = 0, 0
    for seed in range(8):
        X, y = data(seed)
        spy = Spy()
        model = boosted(duals=duals, pricing=spy, max_rmp_calls=25, remove=Stale(above=0.2, calls=2)).fit(X, y)
        objectives = [*model.history_["objective"], model.certificate_.objective]
        assert duals == "near" or (np.diff(objectives) <= 1e-6).all()
        covered, cost = model.pool_.apply(X).toarray(), model.pool_.evidence.cost
        dear_for = np.zeros(len(cost), dtype=int)
        for given, (before, z), (after, _) in zip(spy.seen, model._stages, model._stages[1:], strict=False):
            assert covered[:, before].any(axis=1).all() and (z[np.setdiff1d(np.arange(len(z)), before)] == 0).all()
            dear = (cost[before] - covered[:, before].T @ given.current > 0.2) & (z[before] == 0)
            dear_for[before] = np.where(dear, dear_for[before] + 1, 0)
            np.testing.assert_array_equal(np.setdiff1d(before, after), np.sort(before[dear_for[before] >= 2]))
            dear_for[np.setdiff1d(before, after)] = 0  # a rule may come back
        entered = len(model._stages[0][0]) + model.history_["added"].sum()
        assert entered - len(model.rules_) == model.history_["removed"].sum()
        assert model.history_["rules"].iloc[-1] == len(model.rules_)
        assert not model.missed(X).any()
        stages = list(model.staged_predict_proba(X))
        np.testing.assert_array_equal(stages[-1], model.predict_proba(X))
        removed += model.history_["removed"].sum()
        missed += model.missed(np.random.default_rng(seed).normal(size=(200, 8), scale=3)).sum()
    assert removed > 50
    assert missed > 0  # rows that only rules which left would cover go to the fallback: none raised


@pytest.mark.slow
def test_the_preset_for_few_rules_weighs_classes() -> None:
    X, y = make_classification(400, weights=[0.9], flip_y=0.2, random_state=0)
    settings = {"random_state": 0, "max_rmp_calls": 1}
    plain, fair = (RCBoostClassifier.few_rules(5, class_weight=w, **settings).fit(X, y) for w in (None, "balanced"))
    assert fair.class_weight == "balanced" and (fair.predict(X) == 1).sum() > 1.5 * (plain.predict(X) == 1).sum()
    weighted = RCBoostClassifier.few_rules(5, **settings).fit(X, y, compute_sample_weight("balanced", y))
    np.testing.assert_allclose(fair.predict_proba(X), weighted.predict_proba(X), atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{}, {"vote": "shares"}, {"early_stopping": 3}, {"rule_weights": "z"}])
def test_a_stage_of_a_changing_pool_is_the_model_of_that_many_calls(settings) -> None:
    X, y = data(5)
    rows = np.random.default_rng(0).normal(size=(300, 8), scale=2)
    removing = {"remove": Stale(above=0.1, calls=2), "max_rmp_calls": 20, **settings}
    long = boosted(**removing).fit(X, y)
    if "rule_weights" in settings or "early_stopping" in settings:
        np.testing.assert_array_equal(list(long.staged_predict(rows))[-1], long.predict(rows))
        return
    assert long.history_["removed"].sum() > 0
    for calls, stage in list(enumerate(long.staged_predict_proba(rows)))[::4]:
        short = boosted(**{**removing, "max_rmp_calls": calls}).fit(X, y)
        np.testing.assert_allclose(short.predict_proba(rows), stage, atol=1e-9)


@pytest.mark.slow
def test_mirco_of_a_trained_pool_covers_with_some_of_its_rules() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = boosted().fit(X, y)
    few = explain(model, X, y, method="cover", prune=False)
    assert isinstance(few, MIRCOClassifier)
    assert len(few.rules_) < len(model.rules_) and not few.missed(X).any()
    assert {rule.text for rule in few.rules_} <= {rule.text for rule in model.rules_}
    assert few.fidelity(X) > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("labels", [["no", "yes"], [-5, 3], [False, True]], ids=["strings", "negative", "booleans"])
def test_any_labels_will_do(labels) -> None:
    X, y = data(8, classes=2)
    model = boosted().fit(X, np.array(labels)[y])
    assert set(model.predict(X)) <= set(labels)


def test_weights_count_as_repeated_rows() -> None:
    X, y = data(9)
    weight = np.random.default_rng(0).integers(1, 3, len(y))
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    weighted = boosted(estimator=tree, max_rmp_calls=0).fit(X, y, sample_weight=weight)
    repeated = boosted(estimator=tree, max_rmp_calls=0).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.rules_.evidence.sums, repeated.rules_.evidence.sums)
    np.testing.assert_array_equal(weighted.predict(X), repeated.predict(X))


def test_a_pickled_cloned_and_searched_model_works() -> None:
    X, y = load_iris(return_X_y=True)
    model = boosted(warm_start=False).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    clone(model)
    search = GridSearchCV(
        boosted(), {"max_rmp_calls": [1, 5], "estimator": [DecisionTreeClassifier(max_depth=3)]}, cv=3
    )
    assert search.fit(X, y).best_score_ > 0.9
    assert cross_val_score(model, X, y, cv=3, n_jobs=2).mean() > 0.9


@pytest.mark.slow
def test_fits_in_threads_are_those_of_one_thread() -> None:
    tasks = [(seed, duals) for seed in range(4) for duals in ("equal", "vertex")]

    def answer(task: tuple[int, str]) -> np.ndarray:
        seed, duals = task
        X, y = data(seed)
        return boosted(duals=duals).fit(X, y).predict_proba(X)

    alone = [answer(task) for task in tasks]
    with ThreadPoolExecutor(8) as pool:
        for one, other in zip(alone, pool.map(answer, tasks), strict=True):
            np.testing.assert_array_equal(one, other)


_FORKS = """
import multiprocessing
import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from rulecover import MIRCOClassifier, RCBoostClassifier

def answer(seed):
    X, y = make_classification(250, 8, n_informative=5, n_classes=3, flip_y=0.1, random_state=seed)
    boosted = RCBoostClassifier(max_rmp_calls=5, random_state=0).fit(X, y)
    forest = RandomForestClassifier(5, max_depth=3, random_state=0)
    exact = MIRCOClassifier(forest, solver="exact", random_state=0).fit(X[:60], y[:60])
    return boosted.predict_proba(X), exact.predict_proba(X)

if __name__ == "__main__":
    alone = [answer(seed) for seed in range(4)]  # the parent has solved LPs and a MIP before it forks
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for one, other in zip(alone, pool.map(answer, range(4)), strict=True):
            assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
    print("same")
"""


@pytest.mark.slow
def test_fits_in_forked_workers_are_those_of_the_parent(tmp_path) -> None:
    script = tmp_path / "forks.py"
    script.write_text(_FORKS)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=240, check=False)
    assert done.stdout == "same\n", done.stderr


def test_boosting_beats_its_first_tree() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    model = boosted(max_rmp_calls=30).fit(X_train, y_train)
    assert model.score(X_test, y_test) > model.initial_estimator_.score(X_test, y_test)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_pool() -> None:
    X, y = data(10)
    one, two = (boosted(pricing="forest", max_rmp_calls=3, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    assert one.rules_ == two.rules_


class Interrupting(TreePricing):
    def __call__(self, data, duals, tree, seed):
        if duals.accumulated.max() > 2:
            raise KeyboardInterrupt
        return super().__call__(data, duals, tree, seed)


def test_an_interrupted_fit_keeps_the_rules_of_the_last_full_call_if_asked_to() -> None:
    X, y = data(11)
    model = boosted(pricing=Interrupting(), on_interrupt="keep").fit(X, y)
    assert len(model.rules_) >= model.initial_estimator_.get_n_leaves()
    assert model.score(X, y) > 0.4
    with pytest.raises(KeyboardInterrupt):
        boosted(pricing=Interrupting()).fit(X, y)


_LONG_FIT = """
import signal
import numpy as np
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier
from rulecover import RCBoostClassifier
from rulecover.rcboost.pricing.oracles import TreePricing

class Speaking(TreePricing):
    def __call__(self, data, duals, tree, seed):
        print("call", flush=True)
        return super().__call__(data, duals, tree, seed)

X, y = make_classification(3000, 12, n_informative=8, n_classes=3, flip_y=0.2, random_state=0)
tree = DecisionTreeClassifier(max_depth=8, max_features=4, random_state=0)
paper = RCBoostClassifier.as_in_paper
settings = {"estimator": tree, "random_state": 0}
model = paper(max_rmp_calls=100_000, on_interrupt="keep", pricing=Speaking(), **settings).fit(X, y)
signal.signal(signal.SIGINT, signal.SIG_IGN)
short = paper(max_rmp_calls=model.n_rmp_calls_, **settings).fit(X, y)
same = np.array_equal(model.predict_proba(X), short.predict_proba(X)) and model.n_rmp_calls_ < 100_000
print("same" if same else "other", model.n_rmp_calls_, len(model.rules_), len(short.rules_), flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("calls", "seconds"), [(1, 0.0), (3, 0.02), (12, 0.005)])
def test_ctrl_c_leaves_the_model_of_the_last_full_call(calls: int, seconds: float, tmp_path) -> None:
    script = tmp_path / "long_fit.py"
    script.write_text(_LONG_FIT)
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert [process.stdout.readline() for _ in range(calls)] == ["call\n"] * calls
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        answer, _ = process.communicate(timeout=240)
    assert answer.splitlines()[-1].startswith("same "), answer


@pytest.mark.slow
def test_a_tree_of_a_sample_says_whether_there_is_time_for_one_of_all_rows() -> None:
    samples = ClassSamples(np.zeros((500, 1)), np.arange(500) % 2, np.arange(2))

    def grow(some: ClassSamples, seed: int) -> Any:
        time.sleep(0.02)
        return len(some.y), seed

    def first(seconds: float | None, n_rows: int, n_parts: int) -> tuple[Any, str]:
        deadline = None if seconds is None else time.perf_counter() + seconds
        grown = FirstTreeElsewhere(grow, samples, deadline, classes=True)
        return grown(7, n_rows, n_parts), grown.some

    assert first(None, 10**9, 1) == first(1000.0, 1000, 1) == (None, "")
    assert first(1000.0, 10**8, 1) == ((500, 7), "500 of 100,000,000 rows")
    assert first(1000.0, 10**8, 10**6) == (None, "")
    assert first(0.0, 500, 1) == ((500, 7), "")  # which is one of all rows


def test_a_time_limit_is_kept() -> None:
    X, y = make_classification(3000, 20, n_informative=10, random_state=0)
    start = time.perf_counter()
    with pytest.warns(CutShortWarning, match="time_limit is 1 s: .* of up to 100000 calls were made"):
        model = boosted(max_rmp_calls=100_000, time_limit=1.0, estimator=DecisionTreeClassifier(max_depth=8)).fit(X, y)
    assert time.perf_counter() - start < 15  # one call more, and a busy machine
    assert model.n_rmp_calls_ < 100_000


class SlowClock:
    """A clock by which a call takes ten seconds, and so does the first tree."""

    def __init__(self) -> None:
        self.now = 0.0

    def tree(self, tree: DecisionTreeClassifier) -> DecisionTreeClassifier:
        clock = self

        class Slow(DecisionTreeClassifier):
            def fit(self, X, y, sample_weight=None):
                clock.now += 10
                return super().fit(X, y, sample_weight=sample_weight)

        return Slow(**tree.get_params())


@pytest.mark.parametrize(("limit", "calls"), [(9, 0), (25, 1), (39, 2), (41, 3), (65, 5)])
def test_a_time_limit_holds_for_the_whole_fit(limit, calls, monkeypatch) -> None:
    X, y = data(0)
    clock = SlowClock()
    tree = clock.tree(DecisionTreeClassifier(max_depth=4))
    monkeypatch.setattr("rulecover.rcboost.boost.time.perf_counter", lambda: clock.now)
    with pytest.warns(CutShortWarning, match=f"time_limit is {limit} s: {calls} of up to 50 calls were made"):
        model = boosted(estimator=tree, max_rmp_calls=50, time_limit=limit).fit(X, y)
    assert model.n_rmp_calls_ == calls
    assert clock.now <= max(10, limit)
    assert model.certificate_.bound == pytest.approx(model.certificate_.objective)


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{}, {"early_stopping": 10}])
def test_a_solve_that_is_cut_short_leaves_the_last_shares_and_a_bound(settings, monkeypatch) -> None:
    X, y = data(1)
    whole = boosted(max_rmp_calls=4, **settings).fit(X, y)
    solve, n_solves = Master.solve, [0]

    def few(self, *, deadline=None):
        n_solves[0] += 1
        if deadline is not None and n_solves[0] > 4:
            raise TimeoutError
        return solve(self, deadline=deadline)

    monkeypatch.setattr(Master, "solve", few)
    with pytest.warns(CutShortWarning):
        model = boosted(max_rmp_calls=50, time_limit=1000, **settings).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), whole.predict_proba(X))
    certificate = model.certificate_
    assert certificate.bound <= whole.certificate_.objective <= certificate.objective + 1e-9
    assert model.pool_.evidence.cost @ model.z_ == pytest.approx(certificate.objective)


@pytest.mark.parametrize(
    ("settings", "calls"),
    [
        ({}, 5),
        ({"pricing": "forest"}, 5),
        ({"pricing": ForestPricing(n_estimators=2)}, 5),
        ({"pricing": "tree"}, 50),
        ({"pricing": TreePricing()}, 50),
        ({"pricing": "tree", "max_rmp_calls": 7}, 7),
        ({"max_rmp_calls": 0}, 0),
    ],
)
def test_by_default_there_are_five_calls_of_forests_and_fifty_of_trees(
    monkeypatch: pytest.MonkeyPatch, settings: dict, calls: int
) -> None:
    asked = []

    def noted(run: BoostRun, max_calls: int, **limits: object) -> None:
        asked.append(max_calls)

    monkeypatch.setattr("rulecover.estimators.rcboost.boost", noted)
    RCBoostClassifier(**settings).fit(*load_iris(return_X_y=True))
    assert asked == [calls]


@pytest.mark.parametrize(
    ("setting", "error", "message"),
    [
        ({"max_rmp_calls": -1}, ValueError, "max_rmp_calls is -1; it must be at least 0"),
        ({"early_stopping": 0}, ValueError, "early_stopping is 0"),
        ({"duals": "random"}, ValueError, "duals is 'random'; choose one of 'equal', 'vertex'"),
        ({"step": 0}, ValueError, "step is 0; it must be finite and above 0"),
        ({"step": "big"}, ValueError, "step is 'big'; give 'even' or a number"),
        ({"remove": "old"}, ValueError, "remove is 'old'; choose one of 'stale'"),
        ({"remove": len}, TypeError, "an object to be called with calls"),
        ({"rule_weights": "w"}, ValueError, "rule_weights is 'w'"),
        ({"on_interrupt": "cry"}, ValueError, "on_interrupt is 'cry'"),
        ({"pricing": "guess"}, ValueError, "pricing is 'guess'; choose one of 'tree', 'forest'"),
        ({"admit": "none"}, ValueError, "admit is 'none'; choose one of 'all', 'best'"),
        ({"time_limit": -1}, ValueError, "time_limit is -1"),
        ({"estimator": LogisticRegression()}, TypeError, "no rules can be read"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
def test_settings_out_of_range_are_named_with_their_value(setting, error, message) -> None:
    X, y = data(0, n=60)
    with pytest.raises(error, match=message):
        RCBoostClassifier(**setting).fit(X, y)


def test_a_forest_may_be_the_first_pool() -> None:
    X, y = data(12)
    forest = RandomForestClassifier(n_estimators=3, max_depth=3, random_state=0)
    model = boosted(estimator=forest, max_rmp_calls=2).fit(X, y)
    assert model.n_rmp_calls_ == 2 and not model.missed(X).any()


def test_an_lp_engine_that_fails_is_named_with_the_call_and_the_pool_is_kept(monkeypatch) -> None:
    X, y = data(13)
    solve, calls = Master.solve, []

    def failing(self, **limits):
        calls.append(1)
        if len(calls) == 3:
            raise SolverError("the covering LP ended as 'Unknown'.")
        return solve(self, **limits)

    monkeypatch.setattr(Master, "solve", failing)
    model = boosted()
    with pytest.raises(SolverError, match=r"RMP call 3: .*'Unknown'.* rules generated so far are in pool_"):
        model.fit(X, y)
    assert len(model.pool_) > 20
