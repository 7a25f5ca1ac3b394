"""Models whose rules may not change: across threads, platforms and supported versions of numpy, scikit-learn, HiGHS.

    python tests/golden/golden.py            # what differs from rules.json
    python tests/golden/golden.py --renew    # writes rules.json again

Data are made by arithmetic of whole numbers, and trees are those of stored model files or grown by this package: no
library draws a number here, and none trains more than the first tree of a boosting.
"""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.tree import DecisionTreeClassifier

from rulecover import RCBoostClassifier, RuleSet, explain, read_trees
from rulecover.setcover import CoveringProblem, Exact, Greedy, Search, lp_bound

FOLDER = Path(__file__).parent
TABLE = FOLDER / "rules.json"
N_ROWS = 72
#: The first rows whose answers are kept.
_ANSWERED = 9

Golden = dict[str, Any]


def rows() -> np.ndarray:
    """Ties, numbers of several sizes, 0/1, negative numbers, and gaps in the last column."""
    i = np.arange(N_ROWS)
    gaps = np.where(i % 9 == 4, np.nan, 5.0 * i % 13)
    return np.column_stack([7 * i % 10, (i * i % 17) / 4, 3 * i % 7 * 100, i % 2, i**3 % 23 - 11, gaps]).astype(float)


def classes() -> np.ndarray:
    X, i = rows(), np.arange(N_ROWS)
    which = (X[:, 0] > 4).astype(int) + (X[:, 4] > 0)
    return np.array(["a", "b", "c"])[np.where(i % 11 == 0, (which + 1) % 3, which)]


def numbers() -> np.ndarray:
    X, i = rows(), np.arange(N_ROWS)
    return 2 * X[:, 0] + np.where(X[:, 4] > 0, 5.5, 0.0) + i % 3 / 4


# What is kept ---------------------------------------------------------------------------------------------------


def of_model(model: Any) -> Golden:
    """The rules of a fitted model, what is proved of them, and the answers for some rows."""
    certificate = getattr(model, "certificate_", None)
    shown = model.predict_proba if hasattr(model, "predict_proba") else model.predict
    kept: Golden = {"rules": model.rules_.to_text(), "answers": shown(rows()[:_ANSWERED]).round(7).tolist()}
    return kept if certificate is None else kept | {"objective": certificate.objective}


def explained(file: str, y: Callable[[], np.ndarray], n_jobs: int, **settings: Any) -> Golden:
    model = explain(FOLDER / file, rows(), y(), n_jobs=n_jobs, random_state=0, **settings)
    return of_model(model)


def boosted(n_jobs: int, **settings: Any) -> Golden:
    first = DecisionTreeClassifier(max_depth=3, random_state=0)
    return of_model(RCBoostClassifier(first, random_state=0, n_jobs=n_jobs, **settings).fit(rows(), classes()))


def by_hand(n_jobs: int) -> Golden:
    texts = [
        "x0 > 4 and x4 > 0",
        "x0 <= 4 and x4 <= 0",
        "(x5 <= 6 or missing) and x3 = 1",
        "x1 > 2",
        "x2 <= 300",
        "x2 > 300",
    ]
    rules = RuleSet.from_text(texts, [f"x{f}" for f in range(6)])
    return of_model(explain(rules, rows(), classes(), method="cover", n_jobs=n_jobs))


def leaves(file: str, n_jobs: int) -> Golden:
    return {"rules": read_trees(FOLDER / file).rules().to_text()}


def covered(solve: Any, n_jobs: int) -> Golden:
    """A covering problem of 40 samples and 60 rules, no two sets of which cost the same."""
    i, j = np.arange(40)[:, None], np.arange(60)[None]
    matrix = ((i * i + 3 * i * j + 7 * j) % 31 < 5) | (j % 40 == i)
    cost = 1 + (1 + np.arange(60) ** 2 % 61) / 1024 + 2.0 ** -(20 + np.arange(60) % 30)
    problem = CoveringProblem.from_sparse(scipy.sparse.csr_array(matrix), cost)
    cover = solve(problem)
    return {"rules": [str(rule) for rule in cover.rules], "objective": cover.objective, "LP": lp_bound(problem).value}


cover = partial(explained, method="cover")
path = partial(explained, method="path", choose="last", max_rules=8)

#: From a number of threads to what is kept.
GOLDEN: dict[str, Callable[[int], Golden]] = {
    "leaves of XGBoost": partial(leaves, "xgboost.json"),
    "leaves of LightGBM": partial(leaves, "lightgbm.txt"),
    "leaves of CatBoost": partial(leaves, "catboost.json"),
    "cover": partial(cover, "xgboost.json", classes),
    "cover as in the paper": partial(cover, "xgboost.json", classes, preset="as-in-paper"),
    "accurate cover": partial(cover, "catboost.json", classes, preset="accurate"),
    "cover by search": partial(cover, "catboost.json", classes, solver=Search(effort=0.05), vote="shares"),
    "exact cover": partial(cover, "xgboost.json", classes, solver=Exact(effort=0.05), vote="fitted", prune=False),
    "cover of entropy": partial(cover, "catboost.json", classes, criterion="entropy", demand=2, vote="counts"),
    "cover for numbers": partial(cover, "lightgbm.txt", numbers),
    "greedy cover for numbers": partial(cover, "lightgbm.txt", numbers, solver="greedy", ridge=None, vote="precision"),
    "path": partial(path, "xgboost.json", classes),
    "path of shares": partial(path, "catboost.json", classes, vote="fitted"),
    "path for numbers": partial(path, "lightgbm.txt", numbers),
    "boosting": partial(boosted, pricing="bicriteria", max_rmp_calls=4, vote="counts"),
    "boosting by exact search": partial(boosted, pricing="exact", max_rmp_calls=6, vote="log-odds"),
    "rules by hand": by_hand,
    "greedy": partial(covered, Greedy()),
    "strong greedy": partial(covered, Greedy("strong")),
    "search": partial(covered, Search(effort=0.05)),
    "exact": partial(covered, Exact(effort=0.05)),
}


def found(name: str, n_jobs: int = 1) -> Golden:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return GOLDEN[name](n_jobs)


def kept() -> dict[str, Golden]:
    table: dict[str, Golden] = json.loads(TABLE.read_text(encoding="utf-8"))
    return table


def differences(mine: Golden, other: Golden) -> list[str]:
    """What differs: rules at all, numbers by more than rounding."""
    wrong = [f"rules: {mine['rules']} but {other['rules']}"] if mine["rules"] != other["rules"] else []
    for name in sorted({*mine, *other} - {"rules"}):
        if not np.allclose(mine.get(name, np.nan), other.get(name, np.nan), rtol=1e-5, atol=1e-5):
            wrong.append(f"{name}: {mine.get(name)} but {other.get(name)}")
    return wrong


def in_lines(table: dict[str, Golden]) -> str:
    """JSON with a line for each rule, and one for the numbers."""
    lines = json.dumps(table, indent=1)
    return re.sub(r"\[[\s\d.,e\[\]-]+\]", lambda found: re.sub(r"\s+", " ", found[0]), lines) + "\n"


def main() -> None:
    table = {name: found(name) for name in GOLDEN}
    if "--renew" in sys.argv[1:]:
        TABLE.write_text(in_lines(table), encoding="utf-8")
        print(f"{len(table)} models written to {TABLE}")
        return
    wrong = {name: differences(mine, kept()[name]) for name, mine in table.items()}
    for name, said in wrong.items():
        print("\n".join([f"{name}:", *said]) if said else f"{name}: as before")
    sys.exit(1 if any(wrong.values()) else 0)


if __name__ == "__main__":
    main()
