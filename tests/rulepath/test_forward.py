"""The forward choice: its sums, its ridge and its gains, against brute force."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import lsq_linear
from sklearn.ensemble import RandomForestClassifier
from strategies import DataSet, candidate_sets, data_sets, ensemble_of, trees

from rulecover import RuleSet, read_trees
from rulecover.rulepath.candidates import Candidates, node_candidates, rule_candidates
from rulecover.rulepath.constraints import Constraints
from rulecover.rulepath.forward import Contest, forward_path
from rulecover.rulepath.shorten import satisfied, shortened
from rulecover.rulepath.sizes import best, one_standard_error, within
from rulecover.rulepath.squares import Squares, Terms
from rulecover.trees.tree import Tree
from rulecover.voting.answers import nearest_probabilities
from rulecover.voting.ridge import GrowingRidge

#: For what needs data without ties: only there.
SEEDS = st.integers(0, 2**32 - 1)


class Problem(NamedTuple):
    """The rows that each rule covers, their targets and weights, the penalty, and the sign of each rule's vote."""

    columns: np.ndarray
    target: np.ndarray
    weight: np.ndarray
    strength: float
    signs: list[int]


@st.composite
def problems(draw: Any) -> Problem:
    n, k, outputs = draw(st.integers(1, 20)), draw(st.integers(1, 8)), draw(st.integers(1, 3))
    return Problem(
        draw(arrays(bool, (n, k))),
        draw(arrays(float, (n, outputs), elements=st.integers(-99, 99).map(float))) / 16,
        draw(arrays(float, n, elements=st.integers(1, 3).map(float))),
        draw(st.integers(1, 200)) / 10,
        draw(st.lists(st.integers(-1, 1), min_size=k, max_size=k)),
    )


def problem_of_seed(seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    n, k, outputs = int(rng.integers(3, 30)), int(rng.integers(1, 12)), int(rng.integers(1, 4))
    columns = rng.random((n, k)) < rng.uniform(0.1, 0.9)
    target, weight = rng.normal(size=(n, outputs)), rng.integers(1, 4, n).astype(float)
    return Problem(columns, target, weight, float(rng.uniform(0.1, 20)), rng.integers(-1, 2, k).tolist())


def grown(
    columns: np.ndarray, target: np.ndarray, weight: np.ndarray, strength: float, signs: list[int]
) -> GrowingRidge:
    weighted = target * weight[:, None]
    ridge = GrowingRidge(
        total=weight.sum(),
        sums=weighted.sum(axis=0),
        squares=float((weighted * target).sum()),
        strength=strength,
    )
    for j, sign in enumerate(signs):
        mine = columns[:, j]
        common = np.array([weight[mine].sum(), *((weight[mine & columns[:, p]]).sum() for p in range(j))])
        ridge.add(common, size=weight[mine].sum(), sums=weighted[mine].sum(axis=0), sign=sign)
    return ridge


def with_ones(columns: np.ndarray) -> np.ndarray:
    return np.column_stack([np.ones(len(columns)), columns]).astype(float)


@given(problems())
def test_the_growing_ridge_is_the_direct_solution(problem: Problem) -> None:
    columns, target, weight, strength, _ = problem

    ridge = grown(columns, target, weight, strength, [0] * columns.shape[1])

    H, free = with_ones(columns), np.diag([0.0] + [strength] * columns.shape[1])
    direct = np.linalg.solve(H.T @ (H * weight[:, None]) + free, H.T @ (target * weight[:, None]))
    loss = (weight[:, None] * (target - H @ direct) ** 2).sum() + strength * (direct[1:] ** 2).sum()
    assert ridge.votes() == pytest.approx(direct, rel=1e-7, abs=1e-9)
    assert ridge.loss() == pytest.approx(loss, rel=1e-7, abs=1e-9)


@example(problem_of_seed(4678))  # where rounding gave a vote of the other sign
@given(problems())
def test_votes_that_are_held_to_a_sign_are_the_best_of_those(problem: Problem) -> None:
    columns, _, weight, strength, signs = problem
    target = problem.target[:, :1]

    ridge = grown(columns, target, weight, strength, signs)

    H, root = with_ones(columns), np.sqrt(weight)[:, None]
    penalty = np.sqrt(strength) * np.eye(columns.shape[1] + 1)[1:]
    low = np.array([-np.inf, *(0.0 if s > 0 else -np.inf for s in signs)])
    high = np.array([np.inf, *(0.0 if s < 0 else np.inf for s in signs)])
    whole, wanted = np.vstack([H * root, penalty]), np.concatenate([(target * root)[:, 0], np.zeros(len(penalty))])
    direct = lsq_linear(whole, wanted, (low, high), method="bvls", tol=1e-13).x
    assert ridge.votes()[:, 0] == pytest.approx(direct, rel=1e-5, abs=1e-7)
    assert ridge.loss() == pytest.approx(np.square(whole @ direct - wanted).sum(), rel=1e-7, abs=1e-9)
    assert (ridge.votes()[1:, 0] * np.array(signs) >= 0).all()


@given(problems())
@example(problem_of_seed(4678))
def test_rules_that_are_chosen_keep_their_signs_at_every_size(problem: Problem) -> None:
    columns, target, weight, strength, signs = problem
    target = target[:, :1]
    weighted = target * weight[:, None]
    squares = Squares(
        total=weight.sum(),
        sizes=weight @ columns,
        own=columns.T @ weighted,
        sums=weighted.sum(axis=0),
        squares=float((weighted * target).sum()),
        whole=float((weighted * target).sum()),
        centre=np.zeros(1),
        terms=Terms(ridge=strength),
    )
    common = columns.T @ (columns * weight[:, None])

    for j, sign in enumerate(signs):
        overlap = common[:, j]
        squares.add(np.append(overlap[j], overlap[:j]), sums=columns[:, j] @ weighted, overlap=overlap, sign=sign)

        expected = grown(columns[:, : j + 1], target, weight, strength, signs[: j + 1])
        np.testing.assert_allclose(squares.votes[-1], expected.votes(), atol=1e-9)
        assert squares.loss[-1] == pytest.approx(expected.loss())


@pytest.mark.slow
@given(st.data(), st.booleans(), st.booleans())
@settings(max_examples=40)
def test_candidates_cover_what_their_rules_cover_and_add_up_over_it(
    data: st.DataObject, weighted: bool, missing: bool
) -> None:
    candidates, (X, y, _) = data.draw(candidate_sets(weighted=weighted, missing=missing))
    met = candidates.rules().apply(X).toarray()
    weight = np.ones(len(X)) if candidates.weight is None else candidates.weight
    values, some = np.column_stack([y, X[:, 0] > 3]), y > 0

    assert [candidates.covered(j).tolist() for j in range(len(candidates))] == met.T.tolist()
    assert candidates.sizes.tolist() == (weight @ met).tolist()
    assert candidates.overlap(some).tolist() == ((weight * some) @ met).tolist()
    assert candidates.sums(values).tolist() == (met.T.astype(float) @ (values * weight[:, None])).tolist()


def random_candidates(seed: int, *, weighted: bool = False) -> tuple[Candidates, np.ndarray]:
    """Candidates of which no two are equally good, so that the choice does not depend on rounding."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 80))
    X = np.round(rng.normal(size=(n, 4)), 1)
    y = (X[:, 0] + X[:, 1] > rng.normal(size=n)).astype(int)
    model = RandomForestClassifier(5, random_state=seed % 1000).fit(X, y)
    weight = rng.integers(1, 5, n).astype(float) if weighted else None
    depth = int(rng.integers(1, 6))
    return node_candidates(read_trees(model), X, weight, tuple("abcd"), max_depth=depth, min_samples=2), X


@pytest.mark.slow
@given(SEEDS)
@settings(max_examples=20)
def test_rules_that_are_there_already_are_candidates_like_nodes(seed: int) -> None:
    nodes, X = random_candidates(seed, weighted=True)
    target = np.random.default_rng(seed).normal(size=(len(X), 1))

    rules = rule_candidates(nodes.rules(), X, nodes.weight, min_samples=2)

    assert rules.sizes.tolist() == nodes.sizes.tolist()
    one, two = (forward_path(each, target, X, max_rules=5) for each in (nodes, rules))
    assert one.rules == two.rules
    assert one.votes == pytest.approx(two.votes)


@pytest.mark.slow
@given(data_sets(), st.lists(trees(), min_size=1, max_size=3), st.integers(1, 5))
@settings(max_examples=40)
def test_every_node_within_the_depth_is_a_candidate_and_no_root(data: DataSet, several: list[Tree], depth: int) -> None:
    found = node_candidates(ensemble_of(several), data.X, None, tuple("abc"), max_depth=depth, min_samples=1)

    wanted = 0
    for tree in several:
        reached, deep = tree.apply(data.X), {0: 0}
        for node in range(len(tree.left)):  # the children of a node have higher numbers
            deep |= dict.fromkeys(
                (child for child in (tree.left[node], tree.right[node]) if child >= 0), deep[node] + 1
            )
        for node, its_depth in deep.items():
            covered = np.isin(reached, leaves_below(tree, node)).sum()
            wanted += 0 < its_depth <= depth and 0 < covered < len(data.X)
    assert len(found) == wanted


def leaves_below(tree: Tree, node: int) -> list[int]:
    """The leaves that are reached by way of a node."""
    if tree.left[node] < 0:
        return [node]
    return leaves_below(tree, tree.left[node]) + leaves_below(tree, tree.right[node])


@pytest.mark.slow
@given(candidate_sets())
@settings(max_examples=40)
def test_of_rules_that_cover_the_same_one_is_kept_and_it_is_the_shortest(drawn: tuple[Candidates, DataSet]) -> None:
    candidates, (X, *_) = drawn
    rules = candidates.rules()
    met = rules.apply(X).toarray().T

    kept = candidates.distinct(np.argsort(rules.lengths, kind="stable"))

    shortest: dict[bytes, int] = {}
    for mask, length in zip(met, rules.lengths.tolist(), strict=True):
        shortest[mask.tobytes()] = min(length, shortest.get(mask.tobytes(), length))
    assert {met[j].tobytes(): int(rules.lengths[j]) for j in kept} == shortest
    assert len(kept) == len(shortest)


@pytest.mark.slow
@given(candidate_sets() | candidate_sets(weighted=True))
@settings(max_examples=40)
def test_the_path_takes_the_largest_gain_at_every_step(drawn: tuple[Candidates, DataSet]) -> None:
    candidates, (X, y, _) = drawn
    target = np.column_stack([y, np.roll(y, 1) + X[:, 0]])
    terms = Terms(ridge=2.0, shrinkage=3.0, tries=0)

    path = forward_path(candidates, target, X, max_rules=6, terms=terms)

    met = candidates.rules().apply(X).toarray().T.astype(float)
    weight = np.ones(len(X)) if candidates.weight is None else candidates.weight
    sizes = met @ weight
    taken = path.rules.apply(X).toarray().T.astype(float)
    for k in range(len(taken)):
        residual = target - path.votes[k, 0] - taken[:k].T @ path.votes[k, 1 : k + 1]
        gains = np.square(met @ (residual * weight[:, None])).sum(axis=1) / (sizes * (1 - sizes / weight.sum()) + 3.0)
        mine = np.square(taken[k] * weight @ residual).sum()
        size = taken[k] @ weight
        already = (met[:, None] == taken[None, :k]).all(axis=2).any(axis=1)
        assert mine / (size * (1 - size / weight.sum()) + 3.0) == pytest.approx(gains[~already].max(), rel=1e-6)


@pytest.mark.slow
@given(candidate_sets())
@settings(max_examples=30)
def test_sets_are_nested_and_the_loss_never_rises(drawn: tuple[Candidates, DataSet]) -> None:
    candidates, (X, y, _) = drawn

    long, short = (forward_path(candidates, y[:, None], X, max_rules=k, terms=Terms(2.0, 3.0, 3)) for k in (8, 4))

    assert (np.diff(long.loss) <= 1e-9).all()
    assert long.rules[: len(short.rules)] == short.rules
    assert long.votes[: len(short.votes), : len(short.votes)] == pytest.approx(short.votes)
    covered = long.rules.apply(X).toarray().T
    assert len({mask.tobytes() for mask in covered}) == len(covered)


@pytest.mark.slow
@given(SEEDS)
@settings(max_examples=20)
def test_a_constant_on_top_of_the_targets_goes_into_the_default_vote(seed: int) -> None:
    candidates, X = random_candidates(seed)
    target = np.random.default_rng(seed).integers(-1000, 1000, (len(X), 1)) / 256  # exact with the constant, too

    low, high = (forward_path(candidates, target + constant, X, max_rules=5) for constant in (0.0, 2.0**20))

    assert high.rules == low.rules
    assert high.votes[:, 1:] == pytest.approx(low.votes[:, 1:], abs=1e-6)
    assert high.votes[:, 0] == pytest.approx(low.votes[:, 0] + 2.0**20)


def test_rounding_of_constant_targets_explains_nothing() -> None:
    candidates, X = random_candidates(0)
    noise = np.random.default_rng(0).integers(-1, 2, (len(X), 1)) * 1e-16

    assert len(forward_path(candidates, 0.1 + noise, X, max_rules=5).rules) == 0


def test_a_shortened_rule_drops_the_clause_that_does_not_help() -> None:
    X = np.array([[x, z] for x in range(4) for z in range(4)], dtype=float)
    rule = RuleSet.of_intervals([{0: (1, np.inf), 1: (-np.inf, 1)}], ["x", "z"])
    wanted = X[:, 0] > 1

    found = shortened(satisfied(rule, X), lambda covered, kept: -(covered != wanted).sum(axis=1).astype(float))

    assert found.kept.tolist() == [True, False]
    assert found.covered.tolist() == wanted.tolist()
    assert str(rule.keep_clauses(found.kept)[0]) == "if x > 1"


def test_a_clause_that_tells_no_sample_apart_goes_whichever_way_the_rounding_falls() -> None:
    X = np.arange(6.0)[:, None].repeat(2, axis=1)
    rule = RuleSet.of_intervals([{0: (2, np.inf), 1: (1, np.inf)}], ["x", "z"])

    def gains(covered: np.ndarray, kept: np.ndarray) -> np.ndarray:
        return np.where(covered.sum(axis=1) == 3, 1.0, 0.0) * np.where(kept.all(axis=1), 1.0, 1.0 - 1e-15)

    assert shortened(satisfied(rule, X), gains).kept.tolist() == [True, False]


@pytest.mark.slow
@given(candidate_sets() | candidate_sets(missing=True))
@settings(max_examples=40)
def test_a_shortened_rule_gains_no_less_and_covers_what_its_clauses_say(drawn: tuple[Candidates, DataSet]) -> None:
    candidates, (X, worth, _) = drawn
    rules = candidates.rules()
    for j in range(min(5, len(rules))):
        rule = rules[j : j + 1]

        found = shortened(satisfied(rule, X), lambda covered, kept: covered @ worth)

        short = rule.keep_clauses(found.kept)
        assert len(short.clauses.feature) >= 1
        assert short.apply(X).toarray()[:, 0].tolist() == found.covered.tolist()
        assert found.gain == pytest.approx(found.covered @ worth)
        assert found.gain >= candidates.covered(j) @ worth - 1e-9


def test_one_standard_error_takes_the_smallest_size_that_is_as_good_within_noise() -> None:
    steady = np.array([[0.6, 0.8, 0.9, 0.9], [0.6, 0.8, 0.9, 0.9]])
    noisy = np.array([[0.6, 0.80, 0.80, 0.75], [0.6, 0.84, 1.0, 0.75]])

    assert one_standard_error(steady) == 2
    assert best(noisy) == 2
    assert one_standard_error(noisy) == 1


def test_within_compares_with_the_model_and_knows_when_no_size_will_do() -> None:
    scores = np.array([[0.5, 0.88, 0.895, 0.93]] * 2)

    assert within(scores, np.array([0.9, 0.9]), 0.01) == 2
    assert within(scores, np.array([0.9, 0.9]), 0.0) == 3
    assert within(scores, np.array([0.99, 0.99]), 0.05) is None


def test_what_is_sure_but_next_to_nothing_is_not_worth_a_rule() -> None:
    easy = np.array([[-0.25, -0.0003, -0.0001, -0.00003]] * 5)

    assert one_standard_error(easy) == 1
    assert one_standard_error(easy, least=2) == 2
    assert best(easy) == 3


@settings(max_examples=50)
@given(arrays(float, 5, elements=st.integers(-300, 300).map(float)).map(lambda ten_thousandths: ten_thousandths / 1e4))
def test_within_allows_for_folds_that_share_most_of_their_rows(behind: np.ndarray) -> None:
    upper = behind.mean() + scipy.stats.t.ppf(0.95, 4) * behind.std(ddof=1) * np.sqrt(1 / 5 + 1 / 4)
    model, scores = np.full(5, 0.9), (0.9 - behind)[:, None]

    assert within(scores, model, upper + 1e-9) == 0
    assert within(scores, model, upper - 1e-9) is None


@st.composite
def votes_and_shares(draw: Any) -> tuple[np.ndarray, np.ndarray]:
    """Votes for some classes, and shares of them."""
    n = draw(st.integers(2, 5))
    parts = draw(arrays(float, n, elements=st.integers(0, 9).map(float)))
    assume(parts.any())
    return draw(arrays(float, n, elements=st.integers(-20, 20).map(float))) / 8, parts / parts.sum()


@given(votes_and_shares())
def test_nearest_probabilities_are_probabilities_and_nearer_than_any_others(
    drawn: tuple[np.ndarray, np.ndarray],
) -> None:
    vote, others = drawn

    (mine,) = nearest_probabilities(vote[None])

    assert (mine >= 0).all() and mine.sum() == pytest.approx(1.0)
    assert mine.argmax() == vote.argmax()
    assert np.square(others - vote).sum() >= np.square(mine - vote).sum() - 1e-12


@pytest.mark.parametrize("tries", [0, 1, 5, 300])
@pytest.mark.parametrize("kind", ["some are near", "few are near", "ties"])
def test_those_that_lead_gain_most_and_have_few_clauses(tries: int, kind: str) -> None:
    rng = np.random.default_rng(tries)
    clauses = [dict.fromkeys(range(rng.integers(1, 4)), (0.0, np.inf)) for _ in range(200)]
    rules = RuleSet.of_intervals(clauses, ["x", "y", "z"])
    gains = {
        "some are near": rng.uniform(1.0, 9.0, 200),
        "few are near": np.append(rng.uniform(-1.0, 1.0, 199), 100.0),
        "ties": rng.integers(-1, 3, 200) + 1e-13 * rng.normal(size=200),
    }[kind]
    contest = Contest(rules, lambda *_: {}, Constraints.of(("x", "y", "z")), tries)

    found = contest._leading(gains)

    rounded, lengths = np.round(gains / gains.max(), 9), rules.lengths
    order = sorted(np.flatnonzero(gains > 0).tolist(), key=lambda j: (-rounded[j], lengths[j], j))
    assert found.tolist() == order[: max(1, tries)]
