"""Every public name can be used with the oldest versions of what the package needs, and with the newest."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import is_classifier
from sklearn.datasets import load_diabetes, load_iris
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import rulecover
from rulecover import (
    MIRCOClassifier,
    RuleSet,
    RuleTransformer,
    Summary,
    explain,
    linear_rules,
    read_trees,
    write_report,
)
from rulecover.estimators.mirco import SOLVERS
from rulecover.export import from_json, to_javascript, to_json, to_pandas, to_pmml, to_python

#: What the modules of exports and studies need, beyond what the package brings.
EXTRAS = {"baycomp", "matplotlib", "onnx", "polars", "sqlglot", "xgboost", "lightgbm", "catboost"}

ESTIMATORS = [name for name in rulecover.__all__ if name.endswith(("Classifier", "Regressor"))]


def small(name: str) -> tuple[Any, Any, Any]:
    kind = getattr(rulecover, name)
    X, y = load_iris(return_X_y=True) if is_classifier(kind()) else load_diabetes(return_X_y=True)
    fewer: dict[str, Any] = {"max_rmp_calls": 2} if name.startswith("RCBoost") else {}
    return kind(random_state=0, **fewer), X[::3], y[::3]


@pytest.mark.parametrize("name", rulecover.__all__)
def test_a_public_name_can_be_imported(name: str) -> None:
    assert getattr(rulecover, name) is not None


def test_a_module_needs_the_package_and_at_most_its_extras() -> None:
    for module in walk_packages(rulecover.__path__, "rulecover."):
        try:
            import_module(module.name)
        except ModuleNotFoundError as missing:
            assert missing.name in EXTRAS, module.name


@pytest.mark.slow
def test_a_path_and_a_greedy_cover_do_without_the_lp_solver() -> None:
    program = """
import sys

sys.modules["highspy"] = None  # importing it raises
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from rulecover import MIRCOClassifier, explain

X, y = load_iris(return_X_y=True)
forest = RandomForestClassifier(5, random_state=0).fit(X, y)
print(len(explain(forest, X, y, max_rules=3).rules_), len(MIRCOClassifier.as_in_paper(forest).fit(X, y).rules_))
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=False)

    assert (done.returncode, len(done.stdout.split())) == (0, 2), done.stderr


@pytest.mark.slow
def test_a_class_name_is_used_once_in_the_package() -> None:
    sources = [path.read_text(encoding="utf-8") for folder in rulecover.__path__ for path in Path(folder).rglob("*.py")]
    nodes = [node for source in sources for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef)]
    names = Counter(node.name.lstrip("_") for node in nodes)

    assert [name for name, times in names.items() if times > 1] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_estimator_fits_answers_and_is_reported(name: str, tmp_path: Path) -> None:
    model, X, y = small(name)
    model.fit(X, y)
    assert set(model.why(X)["row"]) == set(range(len(X)))
    assert np.array_equal(from_json(to_json(model)).predict(X), model.predict(X))
    assert all(shipped(model) for shipped in (to_javascript, to_pandas, to_pmml, to_python))
    assert write_report(Summary.of(model, X, y, title="small"), tmp_path / "report.html").stat().st_size > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_estimator_fits_sparse_rows_alike(name: str) -> None:
    model, X, y = small(name)
    tree = DecisionTreeClassifier if is_classifier(model) else DecisionTreeRegressor
    model.set_params(estimator=tree(max_depth=3, random_state=0))
    if name.startswith("RulePath"):
        model.set_params(forbidden=[0])
    dense = model.fit(X, y).predict(X)
    assert np.array_equal(model.fit(csr_array(X), y).predict(X), dense)


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_solver_chooses_a_cover(solver: str) -> None:
    X, y = load_iris(return_X_y=True)
    model = MIRCOClassifier(solver=solver, demand=2, random_state=0).fit(X, y)
    assert 0.0 <= model.certificate_.gap < 1.0
    assert (model.apply(X).sum(axis=1) >= 2).all()


def test_rules_are_covered_read_and_turned_into_columns() -> None:
    X, y = load_iris(return_X_y=True)
    tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    few = explain(tree, X, y, method="cover")
    assert len(read_trees(tree).trees) == 1
    assert len(explain(RuleSet.from_text(few.rules_.to_text(), few.rules_.feature_names), X, y, method="cover").rules_)
    assert RuleTransformer(few).fit(X, y).transform(X).shape == (len(X), len(few.rules_))
    assert linear_rules(few, X, y).score(X, y) > 0.6
