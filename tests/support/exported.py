"""Random models to export, rows to ask them about, and their own answers to compare with."""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from rulecover import (
    MIRCOClassifier,
    MIRCORegressor,
    RCBoostClassifier,
    RCBoostRegressor,
    RulePathClassifier,
    RulePathRegressor,
    RuleSet,
)
from rulecover.coverage import addable
from rulecover.data.categories import CategorySet
from rulecover.data.columns import Columns
from rulecover.export.conditions import Condition, conditions_of
from rulecover.export.exported import vote_of
from rulecover.rcboost.pricing.oracles import ForestPricing
from rulecover.rules.clauses import Clauses
from rulecover.targets.classes.evidence import ClassEvidence
from rulecover.voting.answers import AddedClasses, Classes, LogOddsClasses, Mean, in_log_odds_units
from rulecover.voting.fallback import EXPORTED_FALLBACKS, FALLBACKS, NUMERIC_FALLBACKS, ByRules, Constant, Fallback
from rulecover.voting.numbers import MEAN_VOTES
from rulecover.voting.vote import Vote

#: How many random models there are of each kind; where it is asked for, every format is tried on all of them.
ASKED = os.environ.get("RANDOM_MODELS")
N_MODELS = int(ASKED or 120)
FEW_TREES = ForestPricing(3)
LABELS = [
    np.array(["no", "yes"]),
    np.array([0, 1, 2]),
    np.array([-1, 1]),
    np.array([False, True]),
    np.array([1.0, 3.0, 5.0, 7.0]),
    np.array(["a'b", 'c"d', "e\\f\n", "größer"], dtype=object),
    # No classifier of scikit-learn takes these.
    np.array([-0.1, 0.30303030303030304]),
    np.array(["only"]),
]
#: The fallbacks that every format can write, by name: of rules for classes, and of rules for numbers.
CLASS_FALLBACKS = [name for name in FALLBACKS if name in EXPORTED_FALLBACKS]
NUMBER_FALLBACKS = [name for name in NUMERIC_FALLBACKS if name in EXPORTED_FALLBACKS]

#: What a name might try: to end its quotes, its statement, or the program; and what is merely odd.
HOSTILE = (
    'x"; DROP TABLE victim; --',
    "x'; DROP TABLE victim; --",
    "x`; DROP TABLE victim; --",
    "x]; DROP TABLE victim; --",
    "$$; DROP TABLE victim; --",
    "\\'; DROP TABLE victim; --",
    "*/ DROP TABLE victim; /*",
    "line\nbreak",
    "tab\there",
    "semi;colon",
    "percent %s %(x)s :name ?",
    "{brace}",
    "größe µ 体重 😀",
    " leading and trailing ",
    "rule_0",
    "votes_1",
    "keep_0",
    "select",
    "true",
    "FALSE",
    "rowid",
    "source",
    "x_1",
    "^.*$",
    "__proto__",
    "constructor",
    "x" * 60,
    '"""',
    "'''",
    "\\",
    "${alert(1)}",
    "</script><script>alert(1)</script>",
    "<!-- ",
    "]]>",
    "&amp;",
    "\u2028",
)


@dataclass(frozen=True, eq=False)
class Case:
    """A model, its neutral form, and rows."""

    model: Any
    rules: Vote
    X: np.ndarray

    @functools.cached_property
    def prediction(self) -> list[Any]:
        return self.model.predict(self.X).tolist()

    @functools.cached_property
    def probabilities(self) -> list[list[float]] | None:
        return self.model.predict_proba(self.X).tolist() if isinstance(self.rules.answer, Classes) else None

    @functools.cached_property
    def fired(self) -> list[list[int]]:
        return [np.flatnonzero(row).tolist() for row in self.rules.apply(self.X).toarray()]

    @functools.cached_property
    def decided_by(self) -> list[str]:
        return ["rules" if rules else self.rules.fallback.name for rules in self.fired]

    def table(self) -> list[tuple[Any, ...]]:
        """The answers as the columns that tables of answers have."""
        shares = self.probabilities or [[]] * len(self.X)
        texts = [",".join(map(str, rules)) for rules in self.fired]
        return [
            (answer, *each, text, by)
            for answer, each, text, by in zip(self.prediction, shares, texts, self.decided_by, strict=True)
        ]

    def agrees_with(self, table: list[tuple[Any, ...]]) -> bool:
        """Whether answers are the same, those from log-odds but for the last digits of exp."""
        return len(table) == len(self.X) and all(map(self._same, self.table(), table))

    def _same(self, mine: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
        if not isinstance(self.rules.answer, LogOddsClasses):
            return mine == other
        exact = [each[:1] + each[-2:] for each in (mine, other)]
        return exact[0] == exact[1] and same_probabilities(mine[1:-2], other[1:-2])

    def has_probabilities(self, shares: list[list[float]]) -> bool:
        """The same for the probabilities alone."""
        if not isinstance(self.rules.answer, LogOddsClasses):
            return shares == self.probabilities
        return same_probabilities(self.probabilities, shares)

    def rows(self) -> list[dict[str, float]]:
        return [dict(zip(self.rules.rules.feature_names, row, strict=True)) for row in self.X.tolist()]


def same_probabilities(mine: Any, other: Any) -> bool:
    """Whether probabilities agree to 13 digits."""
    return np.shape(mine) == np.shape(other) and bool(np.allclose(mine, other, rtol=1e-13, atol=0.0))


def random_clauses(rng: np.random.Generator, n_features: int, n_rules: int) -> Clauses:
    """Intervals, sets of categories, clauses for missing values alone, clauses that hold always, rules without any."""
    features, lower, upper, missing, category, lengths, sets = [], [], [], [], [], [], []
    for _ in range(n_rules):
        mine = rng.permutation(n_features)[: rng.integers(0 if rng.random() < 0.05 else 1, min(4, n_features) + 1)]
        lengths.append(len(mine))
        for f in np.sort(mine):
            features.append(f)
            missing.append(rng.random() < 0.3)
            low, high = np.sort(rng.normal(size=2) * 10.0 ** rng.integers(-3, 4))
            kind = rng.random()
            category.append(-1)
            if kind < 0.25 and f % 3 == 0:
                category[-1] = len(sets)
                codes = np.unique(rng.integers(-1, 6, size=rng.integers(1, 5))).astype(float)
                sets.append(CategorySet(tuple(codes.tolist()), others=bool(rng.random() < 0.3)))
                low, high = -np.inf, np.inf
            elif kind < 0.5:
                low = -np.inf
            elif kind < 0.75:
                high = np.inf
            elif kind < 0.8:
                low, high = -np.inf, np.inf
            elif kind < 0.85:
                low, high = np.inf, np.inf
            elif kind < 0.87:
                high, missing[-1] = low, True
            lower.append(low)
            upper.append(high)
    return Clauses(
        offset=np.cumsum([0, *lengths]),
        feature=np.array(features, dtype=np.intp),
        lower=np.array(lower, dtype=float),
        upper=np.array(upper, dtype=float),
        missing=np.array(missing, dtype=bool),
        category=np.array(category, dtype=np.intp),
        category_sets=tuple(sets),
    )


def random_fallback(rng: np.random.Generator, names: list[str]) -> Fallback:
    """One of these, or the base alone."""
    return EXPORTED_FALLBACKS[rng.choice([*names, "default"]).item()]


def random_rules(rng: np.random.Generator, *, names: tuple[str, ...] | None = None) -> Vote:
    """Votes made up of nothing but chance, with ties among the votes."""
    n_rules, n_features = int(rng.integers(1, 12)), int(rng.integers(1, 6))
    names = names or tuple(f"column {f}" for f in range(n_features))
    rules = RuleSet(random_clauses(rng, len(names), n_rules), Columns(names))
    if rng.random() < 0.25:
        fallback = random_fallback(rng, NUMBER_FALLBACKS)
        weight = rng.integers(1, 20, size=n_rules).astype(float)
        votes = addable(np.column_stack([weight * rng.integers(-50, 50, size=n_rules) / 8, weight]))
        answer = Mean() if rng.random() < 0.5 else Mean(float(rng.normal() * 1e3), float(rng.uniform(1e-3, 1e3)))
        if rng.random() < 0.5:
            return Vote(rules, votes, answer, np.array([3.0, 7.0]), fallback, np.zeros(2))
        added = np.column_stack([rng.integers(-50, 50, size=n_rules) / 8, np.zeros(n_rules)])
        return Vote(rules, added, answer, np.array([3.0, 7.0]), fallback, np.array([0.25, 1.0]), fallback_votes=votes)
    labels = LABELS[rng.integers(len(LABELS))]
    sums = rng.integers(0, 6, size=(n_rules, len(labels))).astype(float)
    sums[sums.sum(axis=1) == 0] = 1.0
    totals = sums.sum(axis=0) + 1
    rules = rules.with_evidence(ClassEvidence(sums, np.zeros(n_rules), np.ones(n_rules), totals, labels))
    if rng.random() < 0.3:
        return added_classes(rng, rules, labels, totals)
    weight = rng.random(n_rules) if rng.random() < 0.4 else np.ones(n_rules)
    base = rng.integers(0, 3, size=len(labels)).astype(float) if rng.random() < 0.3 else np.zeros(len(labels))
    fallback = random_fallback(rng, CLASS_FALLBACKS)
    return Vote(rules, addable(sums * weight[:, None]), Classes(labels), totals, fallback, base)


def added_classes(rng: np.random.Generator, rules: RuleSet, labels: np.ndarray, totals: np.ndarray) -> Vote:
    """Rules whose votes, negative ones too, are added to a base; many of them in quarters, so that sums are equal."""
    drawn = rng.normal(scale=0.4, size=(1 + len(rules), len(labels)))
    base, *votes = addable(drawn if rng.random() < 0.5 else np.round(4 * drawn) / 4)
    return Vote(rules, np.array(votes), AddedClasses(labels), totals, EXPORTED_FALLBACKS["default"], base)


def random_log_odds(rng: np.random.Generator) -> Vote:
    """Log-odds made up of nothing but chance, some of them far too large, many of them in quarters, with ties."""
    n_rules, names = int(rng.integers(1, 12)), tuple(f"column {f}" for f in range(int(rng.integers(1, 6))))
    labels = LABELS[rng.integers(len(LABELS))]
    sums = rng.integers(1, 6, size=(n_rules, len(labels))).astype(float)
    totals = sums.sum(axis=0) + 1
    seen = ClassEvidence(sums, np.zeros(n_rules), np.ones(n_rules), totals, labels)
    rules = RuleSet(random_clauses(rng, len(names), n_rules), Columns(names), evidence=seen)
    drawn = rng.normal(scale=10.0 ** rng.integers(-1, 4), size=(1 + n_rules, len(labels)))
    drawn = np.round(4 * drawn) / 4 if rng.random() < 0.5 else in_log_odds_units(drawn)
    base, *votes = np.column_stack([-drawn[:, 0], drawn[:, 0]]) if len(labels) == 2 else drawn
    fallback = random_fallback(rng, CLASS_FALLBACKS)
    return Vote(rules, np.array(votes), LogOddsClasses(labels), totals, fallback, base)


def random_path(rng: np.random.Generator, X: np.ndarray, y: np.ndarray, labels: np.ndarray) -> Any:
    """A fitted path of rules, for the classes or for numbers."""
    seed, depth = int(rng.integers(2**31)), int(rng.integers(2, 5))
    settings: dict[str, Any] = {"max_rules": int(rng.integers(1, 12)), "choose": "last", "ridge": 2.0}
    if rng.random() < 0.6:
        forest = RandomForestClassifier(4, max_depth=depth, random_state=seed)
        return RulePathClassifier(forest, **settings).fit(X, labels[y])
    number = (y + np.nan_to_num(X[:, 0]) + rng.normal(size=len(y))) * 10.0 ** rng.integers(-6, 9) - 3
    return RulePathRegressor(RandomForestRegressor(4, max_depth=depth, random_state=seed), **settings).fit(X, number)


def random_regressor(rng: np.random.Generator, X: np.ndarray, y: np.ndarray) -> Any:
    """Rules that vote on a number, plain means or fitted values, few enough to miss rows."""
    seed = int(rng.integers(2**31))
    number = (y + np.nan_to_num(X[:, 0]) + rng.normal(size=len(y))) * 10.0 ** rng.integers(-6, 9) - 3
    settings: dict[str, Any] = {
        "vote": MEAN_VOTES[rng.integers(3)],
        "fallback": rng.choice(NUMBER_FALLBACKS).item(),
        "random_state": seed,
    }
    if rng.random() < 0.6:
        forest = RandomForestRegressor(4, max_depth=int(rng.integers(2, 5)), random_state=seed)
        ridge = [None, 5.0][rng.integers(2)]
        return MIRCORegressor(forest, ridge=ridge, min_samples=2, max_rules=4, **settings).fit(X, number)
    tree = DecisionTreeRegressor(max_depth=3)
    weights = [None, "z"][rng.integers(2)]
    return RCBoostRegressor(tree, max_rmp_calls=3, rule_weights=weights, **settings).fit(X, number)


def random_data(rng: np.random.Generator) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
    """A seed, labels, rows, and the place of the label of each row."""
    seed = int(rng.integers(2**31))
    labels = LABELS[rng.integers(len(LABELS) - 2)]
    X, y = make_classification(
        60, 5, n_informative=4, n_redundant=0, n_classes=len(labels), n_clusters_per_class=1, flip_y=0.2,
        random_state=seed,
    )  # fmt: skip
    X[:, 0] = np.round(X[:, 0], 1)
    X[:, 1] *= 10.0 ** rng.integers(-20, 20)
    if rng.random() < 0.5:
        X[rng.random(X.shape) < 0.15] = np.nan
    return seed, labels, X, y


def fitted_log_odds(rng: np.random.Generator) -> Any:
    """A cover or a pool whose votes are fitted by a logistic regression, few enough rules to miss rows."""
    seed, labels, X, y = random_data(rng)
    fallback = rng.choice(CLASS_FALLBACKS).item()
    if rng.random() < 0.6:
        forest = RandomForestClassifier(4, max_depth=int(rng.integers(2, 5)), random_state=seed)
        return MIRCOClassifier(forest, fallback=fallback, vote="log-odds", max_rules=4).fit(X, labels[y])
    tree = DecisionTreeClassifier(max_depth=3)
    weights = [None, "z"][rng.integers(2)]
    settings = {"max_rmp_calls": 3, "pricing": FEW_TREES, "random_state": seed}
    boosted = RCBoostClassifier(tree, rule_weights=weights, vote="log-odds", fallback=fallback, **settings)
    return boosted.fit(X, labels[y])


def random_estimator(rng: np.random.Generator) -> Any:
    """A fitted model of any kind, on data with ties and, for one in two, missing values."""
    seed, labels, X, y = random_data(rng)
    kind = rng.random()
    if kind < 0.65:
        return random_path(rng, X, y, labels) if kind < 0.3 else random_regressor(rng, X, y)
    fallback = rng.choice(CLASS_FALLBACKS).item()
    vote = ["counts", "shares"][rng.integers(2)]
    if rng.random() < 0.6:
        forest = RandomForestClassifier(4, max_depth=int(rng.integers(2, 5)), random_state=seed)
        limit = [None, 4][rng.integers(2)]
        vote = [vote, "fitted"][rng.integers(2)]
        return MIRCOClassifier(forest, fallback=fallback, vote=vote, max_rules=limit).fit(X, labels[y])
    return RCBoostClassifier(
        DecisionTreeClassifier(max_depth=3),
        max_rmp_calls=3,
        pricing=FEW_TREES,
        rule_weights=[None, "z"][rng.integers(2)],
        vote=vote,
        fallback=fallback,
        random_state=seed,
    ).fit(X, labels[y])


def probes(rules: RuleSet, rng: np.random.Generator, n_rows: int = 40, *, missing: bool = True) -> np.ndarray:
    """Rows with values on the bounds and one ulp next to them, categories known and unknown, and missing values."""
    X = rng.normal(size=(n_rows, rules.n_features)) * 10.0 ** rng.integers(-2, 3, size=(n_rows, 1))
    for f in range(rules.n_features):
        mine = rules.clauses.feature == f
        bounds = np.concatenate([rules.clauses.lower[mine], rules.clauses.upper[mine], np.arange(-2.0, 7.0)])
        bounds = bounds[np.isfinite(bounds)]
        near = np.concatenate([bounds, np.nextafter(bounds, np.inf), np.nextafter(bounds, -np.inf)])
        chosen = rng.random(n_rows) < 0.8
        X[chosen, f] = rng.choice(near, size=chosen.sum())
    if missing:
        X[rng.random(X.shape) < 0.15] = np.nan
    return X


@functools.cache
def cases() -> list[Case]:
    """Random models, a third of them fitted."""
    rng = np.random.default_rng(7)
    found = []
    for number in range(N_MODELS):
        if number % 3:
            model: Any = random_rules(rng)
            takes_missing = True
        else:
            model = random_estimator(rng)
            takes_missing = bool(model.estimator_.__sklearn_tags__().input_tags.allow_nan)
        neutral = vote_of(model)
        found.append(Case(model, neutral, probes(neutral.rules, rng, missing=takes_missing)))
    return found


@functools.cache
def log_odds_cases() -> list[Case]:
    """Random models with votes in log-odds, a third of them fitted."""
    rng = np.random.default_rng(11)
    models = [random_log_odds(rng) if number % 3 else fitted_log_odds(rng) for number in range(N_MODELS)]
    found = []
    for model in models:
        neutral = vote_of(model)
        found.append(Case(model, neutral, probes(neutral.rules, rng)))
    return found


@dataclass(frozen=True)
class Even(Constant):
    """One vote for everything."""

    name: str = "even"

    def votes(self, vote: Vote) -> np.ndarray:
        return np.ones_like(vote.base)


#: Fallbacks of kinds that every format can write, but under names that the package does not have.
NEW_FALLBACKS: dict[str, Fallback] = {
    "even": Even(),
    "closest paths": ByRules("closest paths", "these rules vote", closest=True, along_paths=True),
    "all clauses": ByRules("all clauses", "these rules vote"),
}


@functools.cache
def new_fallback_cases() -> list[Case]:
    """Votes of each kind with each of these fallbacks, rules of trees among them, and rows that no rule covers."""
    plain = [each for each in (*cases(), *log_odds_cases()) if {*each.decided_by} & {"closest", "all"}]
    kinds = {(type(each.rules.answer), each.rules.rules.paths is None): each for each in plain}
    assert len(kinds) > 4
    votes = [(replace(each.rules, fallback=new), each.X) for each in kinds.values() for new in NEW_FALLBACKS.values()]
    return [Case(vote, vote, X) for vote, X in votes]


def many_rules(n_rules: int) -> Case:
    """A pool that is larger than what databases take as columns of one query."""
    rng = np.random.default_rng(0)
    names = tuple("abcdefgh")
    rules = RuleSet(random_clauses(rng, len(names), n_rules), Columns(names))
    sums = rng.integers(1, 50, size=(n_rules, 3)).astype(float)
    labels = np.array(["p", "q", "r"])
    totals = sums.sum(axis=0)
    rules = rules.with_evidence(ClassEvidence(sums, np.zeros(n_rules), np.ones(n_rules), totals, labels))
    model = Vote(rules, sums, Classes(labels), totals)
    return Case(model, model, probes(rules, rng, 30))


def hostile_case(hostile: str) -> Case:
    """Two rules and two classes; a column and a class have this name."""
    rules = RuleSet.of_intervals([{0: (0, np.inf)}, {0: (-np.inf, 1), 1: (2, 3)}], [hostile, "other"])
    labels = np.array([hostile, "plain"])
    sums = np.array([[3.0, 1.0], [1.0, 2.0]])
    rules = rules.with_evidence(ClassEvidence(sums, np.zeros(2), np.ones(2), sums.sum(axis=0), labels))
    model = Vote(rules, sums, Classes(labels), sums.sum(axis=0))
    return Case(model, model, probes(rules, np.random.default_rng(0), 10))


def text_case() -> tuple[Case, list[dict[str, Any]]]:
    """Rules on 0/1 columns that stand for levels of a text column, and rows with the text itself."""
    texts = ["red", 'it\'s "big"', "(missing)", "RED", "red ", "2020-01-01"]
    names = ["age", *(f"colour = {text}" for text in texts)]
    levels = {k: ("colour", name.removeprefix("colour = ")) for k, name in enumerate(names) if k}
    clauses: list[dict[int, tuple[float, float]]] = [
        {0: (30.0, np.inf), 1: (0.5, np.inf)},
        {2: (0.5, np.inf)},
        {3: (0.5, np.inf), 0: (-np.inf, 40.0)},
        {1: (-np.inf, 0.5), 2: (-np.inf, 0.5), 3: (-np.inf, 0.5), 0: (20.0, np.inf)},
        *({k: (0.5, np.inf)} for k in (4, 5, 6)),
    ]
    labels, sums = np.array(["no", "yes"]), np.array([[3, 1], [1, 5], [2, 2], [9, 0], [1, 7], [7, 2], [4, 3]], float)
    seen = ClassEvidence(sums, np.zeros(7), np.ones(7), sums.sum(axis=0), labels)
    rules = RuleSet(Clauses.of_intervals(clauses), Columns(tuple(names), levels=levels), evidence=seen)
    model = Vote(rules, sums, Classes(labels), sums.sum(axis=0))
    texts = [*texts[:2], None, *texts[3:], "never seen", "Red", "", " red", "RED "]
    raw = [{"age": age, "colour": text} for age in (10.0, 25.0, 35.0, 50.0, None) for text in texts]
    X = pd.DataFrame(raw)
    X = pd.DataFrame(
        {"age": X["age"]} | {k: X["colour"].fillna("(missing)") == level for k, (_, level) in levels.items()}
    )
    return Case(model, model, X.to_numpy(dtype=np.float64)), raw


def truth_case() -> tuple[Case, list[dict[str, Any]]]:
    """Rules on the level "True" of a column of truth values, and rows with the truth values themselves."""
    clauses = [{1: (0.5, np.inf)}, {1: (-np.inf, 0.5), 0: (2.0, np.inf)}]
    labels, sums = np.array(["no", "yes"]), np.array([[3.0, 1.0], [1.0, 5.0]])
    columns = Columns(("age", "colour = True"), levels={1: ("colour", "True")})
    seen = ClassEvidence(sums, np.zeros(2), np.ones(2), sums.sum(axis=0), labels)
    rules = RuleSet(Clauses.of_intervals(clauses), columns, evidence=seen)
    model = Vote(rules, sums, Classes(labels), sums.sum(axis=0))
    raw = [{"age": age, "colour": truth} for age in (1.0, 3.0) for truth in (True, False, None)]
    return Case(model, model, np.array([[row["age"], row["colour"] is True] for row in raw], dtype=float)), raw


def coded_cases() -> list[Case]:
    """Models with sets of categories, and rows of whole codes from -1 to 5."""
    chosen = [case for case in cases() if (case.rules.rules.clauses.category >= 0).any()]
    return [Case(case.model, case.rules, np.clip(np.round(case.X), -1, 5)) for case in chosen[:25]]


def all_but(clauses: Clauses) -> list[list[Condition]]:
    """The same conditions on whole codes from -1 to 5, with sets said the other way round: all values but the rest."""

    def turned(condition: Condition) -> Condition:
        if condition.codes is None or condition.impossible:
            return condition
        rest = tuple(float(code) for code in range(-1, 6) if code not in condition.codes)
        return replace(condition, codes=rest or (99.0,), others=not condition.others)

    return [[turned(condition) for condition in rule] for rule in conditions_of(clauses)]


def named_case() -> tuple[Case, list[dict[str, Any]]]:
    """Rules on categories that have names, on a column in which 0 is missing; and rows with the names themselves."""
    labels, sums = np.array(["no", "yes"]), np.array([[3.0, 1.0], [1.0, 5.0], [2.0, 2.0], [0.0, 9.0]])
    clauses = Clauses(
        offset=np.array([0, 2, 3, 4, 5]),
        feature=np.array([0, 1, 1, 0, 1]),
        lower=np.array([-np.inf, -np.inf, -np.inf, 2.0, -np.inf]),
        upper=np.array([1.5, np.inf, np.inf, np.inf, np.inf]),
        missing=np.array([True, False, True, False, False]),
        category=np.array([-1, 0, 1, -1, 2]),
        category_sets=(CategorySet((0.0, 2.0)), CategorySet((1.0,)), CategorySet((-1.0,))),
    )
    seen = ClassEvidence(sums, np.zeros(4), np.ones(4), sums.sum(axis=0), labels)
    categories = {1: ("red", 'it\'s "big"', "RED", "never named", "grün")}
    rules = RuleSet(clauses, Columns(("age", "colour"), categories, zero_missing=(0,)), evidence=seen)
    model = Vote(rules, sums, Classes(labels), sums.sum(axis=0))
    colours = [*categories[1], None, "never seen", "Red", "", "red "]
    raw = [{"age": age, "colour": colour} for age in (0.0, 1e-36, -1e-34, 1.0, 3.0, None) for colour in colours]
    codes = {label: code for code, label in enumerate(categories[1])}
    X = [
        [
            np.nan if row["age"] is None else row["age"],
            np.nan if row["colour"] is None else codes.get(row["colour"], -1),
        ]
        for row in raw
    ]
    return Case(model, model, np.array(X)), raw
