"""The options of ``rulecover fit``: none is forgotten, and each does what the setting of the estimator does."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xgboost
from commands import fruit, run
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.class_weight import compute_sample_weight
from typer.main import get_command

import rulecover
from rulecover import RCBoostClassifier, RCBoostRegressor, RuleSet, explain
from rulecover.cli.main import app
from rulecover.cli.options.choices import MethodName
from rulecover.cli.options.parsers import _OLD_METHODS
from rulecover.cli.options.table import FIT, JOBS, SEED_OF_RULES
from rulecover.cli.options.table import SETTINGS as TABLE
from rulecover.estimators.binned import BinnedTrees
from rulecover.estimators.mirco import WEIGHTS
from rulecover.export import from_json, to_json
from rulecover.rcboost import boost

ESTIMATORS = {
    MethodName.COVER: (rulecover.MIRCOClassifier, rulecover.MIRCORegressor),
    MethodName.BOOST: (rulecover.RCBoostClassifier, rulecover.RCBoostRegressor),
    MethodName.PATH: (rulecover.RulePathClassifier, rulecover.RulePathRegressor),
}

#: Parameters without an option, and why.
WITHOUT_OPTION = {
    "estimator": "a model is an object; --trees, --depth and --model say which one",
    "train_in_folds": "a forest is trained in the folds, a model file is not",
    "verbose": "bars are shown on a terminal unless --quiet",
    "warm_start": "a command fits once",
}


# None is forgotten ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "estimator"), [(method, kind) for method, kinds in ESTIMATORS.items() for kind in kinds]
)
def test_every_parameter_of_an_estimator_has_an_option_or_a_reason(method: MethodName, estimator: type) -> None:
    typed = {name for param in get_command(app).commands["fit"].params for name in param.opts}  # type: ignore[attr-defined]
    options = [each for each in TABLE if method in each.methods] + [SEED_OF_RULES, JOBS]

    assert {each.spelled for each in options} <= typed
    assert set(inspect.signature(estimator).parameters) - set(WITHOUT_OPTION) <= {each.sets for each in options}


def test_every_option_of_a_method_is_a_parameter_of_its_estimators() -> None:
    for method, kinds in ESTIMATORS.items():
        known = {name for kind in kinds for name in inspect.signature(kind).parameters}
        limit = {"max_rules"} if method is MethodName.BOOST else set()  # of the preset few-rules
        assert {each.sets for each in TABLE if method in each.methods and each.sets} <= known | limit


def test_every_line_of_the_table_is_complete() -> None:
    for option in TABLE:
        assert option.methods and option.text.endswith((".", ")")) and option.group, option.name
        assert option.default is None, option.name
    assert len({option.name for option in FIT}) == len({option.spelled for option in FIT}) == len(FIT)


CHOICES: dict[str, Any] = {option.name: option.kind for option in TABLE}


def test_choices_are_those_of_the_estimators() -> None:
    assert {None if each == "none" else each for each in CHOICES["estimator_weights"]} == set(WEIGHTS)
    for each in CHOICES["on_interrupt"]:
        RCBoostClassifier(0, on_interrupt=each, max_rmp_calls=0)._check_settings()


# Each does what the setting does --------------------------------------------------------------------------------------


def some_rows() -> pd.DataFrame:
    """Three columns of numbers, one with gaps, a rare class and a price."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({name: rng.normal(size=240).round(2) for name in ("age", "size", "noise")})
    signal = frame["age"] + (frame["size"] > 0.3) + rng.normal(0, 0.6, 240)
    frame["size"] = frame["size"].where(rng.random(240) > 0.1)
    return frame.assign(ill=np.where(signal > 1.2, "yes", "no"), price=(100 * signal).round(1))


ROWS = some_rows()
X = ROWS[["age", "size", "noise"]]
TARGETS = {"classes": "ill", "numbers": "price"}

#: What is given in all cases, and what it means in Python.
ALWAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "cover": ("--trees 6 --depth 4", {}),
    "boost": ("--calls 2", {"max_rmp_calls": 2}),
    "path": ("--trees 6 --depth 4 --max-rules 4", {"max_rules": 4}),
}


def target(task: str) -> np.ndarray:
    return ROWS[TARGETS[task]].to_numpy(dtype=str if task == "classes" else float)


def forest(task: str, trees: int = 6, depth: int = 4, seed: int = 0, class_weight: Any = None) -> Any:
    if task == "classes":
        weight = None if class_weight is None else compute_sample_weight(class_weight, target(task))
        return RandomForestClassifier(trees, max_depth=depth, random_state=seed).fit(X, target(task), weight)
    return RandomForestRegressor(trees, max_depth=depth, max_features=1 / 3, random_state=seed).fit(X, target(task))


def binned_forest(task: str, n_bins: int) -> Any:
    return FrozenEstimator(BinnedTrees(forest(task), n_bins).fit(X, target(task)))


def in_python(method: str, task: str, settings: dict[str, Any]) -> str:
    y = target(task)
    settings = {"random_state": 0} | ALWAYS[method][1] | settings
    if method == "cover":
        source = settings.pop("estimator", None) or forest(task, class_weight=settings.get("class_weight"))
        return to_json(explain(source, X, y, method="cover", **settings))
    make = settings.pop("make", ESTIMATORS[MethodName(method)][task == "numbers"])
    if method == "path":
        trained = forest(task, class_weight=settings.get("class_weight"))
        settings = {"estimator": FrozenEstimator(trained)} | settings
    return to_json(make(**settings).fit(X, y))


def on_the_command_line(method: str, task: str, words: str, folder: Path) -> str:
    done = run(
        *("fit", folder / "rows.csv", "-t", TARGETS[task], "--task", task, "--method", method, "-o", "-"),
        *("--drop", TARGETS["numbers" if task == "classes" else "classes"]),
        *(word.format(folder=folder) for word in f"{ALWAYS[method][0]} {words}".split()),
    )
    assert done.exit_code == 0, done.output
    return done.stdout


def rules_in(file: str) -> dict[str, Any]:
    """All that a model file says, but for where its rules come from."""
    written: dict[str, Any] = json.loads(file)
    return {name: part for name, part in written.items() if name not in ("provenance", "checksum")}


KEPT = ["age > 0.5 and (size <= 1 or missing)", "noise <= 0"]
ACCURATE = {"demand": 3, "prune": True, "vote": "log-odds", "impurity_weight": 1}
IN_PAPER = {"solver": "greedy", "max_rules": None, "min_samples": 1, "ridge": None}
SETTINGS: list[tuple[str, str, str, dict[str, Any]]] = [
    ("cover", "classes", "--solver exact", {"solver": "exact"}),
    ("cover", "classes", "--solver search --time-limit 2", {"solver": "search", "time_limit": 2.0}),
    ("cover", "classes", "--demand 2", {"demand": 2}),
    ("cover", "classes", "--demand yes=3", {"demand": {"yes": 3}}),
    ("cover", "classes", "--demand 2 --demand yes=3", {"demand": {"no": 2, "yes": 3}}),
    ("cover", "classes", "--max-rules 3", {"max_rules": 3}),
    ("cover", "classes", "--impurity-weight 9", {"impurity_weight": 9}),
    ("cover", "classes", "--length-weight 2", {"length_weight": 2}),
    ("cover", "classes", "--prune no", {"prune": False}),
    ("cover", "classes", "--prune held-out", {"prune": "held-out"}),
    ("cover", "classes", "--prune no --prune held-out", {"prune": "held-out"}),
    ("cover", "classes", "--vote shares", {"vote": "shares"}),
    ("cover", "classes", "--vote fitted --demand 2", {"vote": "fitted", "demand": 2}),
    ("cover", "classes", "--vote counts", {"vote": "counts"}),
    ("cover", "classes", "--vote log-odds", {"vote": "log-odds"}),
    ("cover", "classes", "--fallback all", {"fallback": "all"}),
    ("cover", "classes", "--class-weight balanced", {"class_weight": "balanced"}),
    ("cover", "classes", "--class-weight yes=5", {"class_weight": {"yes": 5}}),
    ("cover", "classes", "--class-weight yes=5 --class-weight no=0.5", {"class_weight": {"yes": 5, "no": 0.5}}),
    ("cover", "classes", "--criterion entropy", {"criterion": "entropy"}),
    ("cover", "classes", "--seed 4", {"random_state": 4, "estimator": forest("classes", seed=4)}),
    ("cover", "numbers", "--scale 100", {"scale": 100}),
    ("cover", "numbers", "--min-samples 60", {"min_samples": 60}),
    ("cover", "numbers", "--min-samples 0.2", {"min_samples": 0.2}),
    ("cover", "numbers", "--ridge 50", {"ridge": 50}),
    ("cover", "numbers", "--ridge none", {"ridge": None}),
    ("cover", "numbers", "--vote support", {"vote": "support", "ridge": None}),
    ("cover", "numbers", "--max-rules none", {"max_rules": None}),
    ("cover", "numbers", "--max-rules 4", {"max_rules": 4}),
    ("cover", "numbers", "--solver greedy", {"solver": "greedy"}),
    ("cover", "numbers", "--demand 2", {"demand": 2}),
    ("cover", "numbers", "--fallback closest", {"fallback": "closest"}),
    ("cover", "classes", "--preset accurate", ACCURATE),
    ("cover", "classes", "--preset accurate --demand 2", ACCURATE | {"demand": 2}),
    ("cover", "classes", "--preset as-in-paper", {"preset": "as-in-paper"}),
    ("cover", "numbers", "--preset as-in-paper", IN_PAPER),
    ("cover", "numbers", "--preset as-in-paper --impurity-weight 9", IN_PAPER | {"impurity_weight": 9}),
    ("boost", "classes", "--calls 4", {"max_rmp_calls": 4}),
    ("boost", "classes", "--pricing tree", {"pricing": "tree"}),
    ("boost", "classes", "--duals vertex", {"duals": "vertex"}),
    ("boost", "classes", "--step 1", {"step": 1}),
    ("boost", "classes", "--admit best", {"admit": "best"}),
    (
        *("boost", "classes", "--calls 9 --duals vertex --remove stale"),
        {"max_rmp_calls": 9, "duals": "vertex", "remove": "stale"},
    ),
    ("boost", "classes", "--rule-weights z", {"rule_weights": "z"}),
    ("boost", "classes", "--early-stopping 1", {"early_stopping": 1}),
    ("boost", "classes", "--time-limit 0.001", {"time_limit": 0.001}),
    ("boost", "classes", "--checkpoint {folder}/boost.npz", {}),
    ("boost", "classes", "--vote counts", {"vote": "counts"}),
    ("boost", "classes", "--fallback majority", {"fallback": "majority"}),
    ("boost", "classes", "--criterion entropy", {"criterion": "entropy"}),
    ("boost", "classes", "--class-weight yes=5", {"class_weight": {"yes": 5}}),
    ("boost", "classes", "--depth 3", {"estimator": DecisionTreeClassifier(max_depth=3)}),
    ("boost", "classes", "--preset as-in-paper", {"make": RCBoostClassifier.as_in_paper}),
    ("boost", "classes", "--max-rules 5", {"make": RCBoostClassifier.few_rules, "max_rules": 5}),
    ("boost", "classes", "--preset few-rules --max-rules 5", {"make": RCBoostClassifier.few_rules, "max_rules": 5}),
    ("boost", "classes", "--max-rules none", {}),
    (
        *("boost", "classes", "--max-rules 5 --vote fitted"),
        {"make": RCBoostClassifier.few_rules, "max_rules": 5, "vote": "fitted"},
    ),
    ("boost", "numbers", "--max-rules 5", {"make": RCBoostRegressor.few_rules, "max_rules": 5}),
    ("boost", "numbers", "--scale 0.1", {"scale": 0.1}),
    ("boost", "numbers", "--step 1", {"step": 1}),
    (
        *("boost", "numbers", "--depth 3"),
        {"estimator": DecisionTreeRegressor(max_depth=3, min_weight_fraction_leaf=0.01)},
    ),
    ("path", "classes", "--max-rules 9 --choose last", {"max_rules": 9, "choose": "last"}),
    ("path", "classes", "--max-rules 20 --choose best", {"max_rules": 20, "choose": "best"}),
    ("path", "classes", "--within 0.2", {"within": 0.2}),
    ("path", "classes", "--choose best --cv 2", {"choose": "best", "cv": 2}),
    ("path", "classes", "--choose best --scoring recall_macro", {"choose": "best", "scoring": "recall_macro"}),
    ("path", "classes", "--choose last --gain log-loss", {"choose": "last", "gain": "log-loss"}),
    ("path", "classes", "--choose last --vote fitted", {"choose": "last", "vote": "fitted"}),
    ("path", "classes", "--choose last --max-depth 1", {"choose": "last", "max_depth": 1}),
    ("path", "classes", "--choose last --bins 4", {"choose": "last", "estimator": binned_forest("classes", 4)}),
    ("path", "numbers", "--choose best --bins 9", {"choose": "best", "estimator": binned_forest("numbers", 9)}),
    ("path", "classes", "--choose last --min-samples 100", {"choose": "last", "min_samples": 100}),
    ("path", "classes", "--choose last --max-clauses 1", {"choose": "last", "max_clauses": 1}),
    ("path", "classes", "--choose last --model-share 0", {"choose": "last", "model_share": 0}),
    ("path", "classes", "--choose last --ridge 50", {"choose": "last", "ridge": 50}),
    ("path", "classes", "--choose last --shrinkage 0", {"choose": "last", "shrinkage": 0}),
    ("path", "classes", "--choose last --tries 0", {"choose": "last", "tries": 0}),
    ("path", "classes", "--choose last --forbid age", {"choose": "last", "forbidden": ["age"]}),
    ("path", "classes", "--choose last --require noise", {"choose": "last", "required": ["noise"]}),
    (
        *("path", "classes", "--choose last --rising age --falling size"),
        {"choose": "last", "monotone": {"age": 1, "size": -1}},
    ),
    ("path", "classes", "--choose last --class-weight yes=5", {"choose": "last", "class_weight": {"yes": 5}}),
    (
        *("path", "classes", "--choose last --keep {folder}/kept.txt"),
        {"choose": "last", "keep": RuleSet.from_text(KEPT, list(X.columns))},
    ),
    ("path", "numbers", "--choose last --min-samples 100", {"choose": "last", "min_samples": 100}),
    ("path", "numbers", "--choose last --shrinkage 0", {"choose": "last", "shrinkage": 0}),
    (
        *("path", "numbers", "--choose last --keep {folder}/kept.txt"),
        {"choose": "last", "keep": RuleSet.from_text(KEPT, list(X.columns))},
    ),
]

#: Cases in which the last option may change nothing but the time that it takes.
MAY_CHANGE_NOTHING = (
    *("--vote log-odds", "--solver search --time-limit 2", "--prune held-out"),
    *("--checkpoint {folder}/boost.npz", "--max-rules none"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("options")
    ROWS.to_csv(made / "rows.csv", index=False)
    (made / "kept.txt").write_text("\n".join([KEPT[0], "", f"  {KEPT[1]} "]))
    return made


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::rulecover.exceptions.CutShortWarning")
@pytest.mark.parametrize("case", SETTINGS, ids=lambda case: " ".join(case[:3]))
def test_an_option_gives_the_model_that_the_setting_gives(
    case: tuple[str, str, str, dict[str, Any]], folder: Path
) -> None:
    method, task, words, settings = case
    model = on_the_command_line(method, task, words, folder)
    without = on_the_command_line(method, task, f" {words}".rpartition(" --")[0], folder)

    assert rules_in(model) == rules_in(in_python(method, task, settings))
    assert rules_in(model) != rules_in(without) or words in MAY_CHANGE_NOTHING


def test_every_option_is_among_these_cases() -> None:
    typed = {word for _, _, words, _ in SETTINGS for word in words.split()} | {"--trees", "--depth"}

    apart = {"--estimator-weights", "--on-interrupt", "--threshold", "--pool"}
    assert {option.spelled for option in TABLE} - apart <= typed


@pytest.mark.slow
@pytest.mark.parametrize(("task", "pool", "words"), [("three", "both", "--bins 9"), ("numbers", "boosted", "")])
def test_a_path_through_a_pool_is_that_of_python(task: str, pool: str, words: str, tmp_path: Path) -> None:
    rows = X.iloc[:120].assign(colour=np.where(X["age"][:120] > 0.4, "red", "blue"))
    y = ROWS["price"][:120] if task == "numbers" else pd.cut(ROWS["price"][:120], 3, labels=["a", "b", "c"]).astype(str)
    rows.assign(y=y).to_csv(tmp_path / "rows.csv", index=False)
    settings = {"max_rules": 3, "choose": "last", "random_state": 0, "pool": pool} | ({"n_bins": 9} if words else {})
    kind = ESTIMATORS[MethodName.PATH][task == "numbers"]

    done = run(
        "fit", tmp_path / "rows.csv", "-t", "y", *f"--choose last --max-rules 3 --pool {pool} -o - {words}".split()
    )

    assert done.exit_code == 0, done.output
    assert rules_in(done.stdout) == rules_in(
        to_json(kind(**settings).fit(rows, y.to_numpy(dtype=float if task == "numbers" else str)))
    )


@pytest.mark.parametrize("vote", ["fitted", "log-odds"])
def test_the_votes_of_a_path_have_a_penalty(vote: str, folder: Path) -> None:
    words = ("fit", folder / "rows.csv", "-t", "ill", "--drop", "price", "--trees", 5, "--choose", "last", "-o", "-")

    texts = [run(*words, "--vote", vote, "--ridge", ridge) for ridge in (0.1, 50)]

    assert [done.exit_code for done in texts] == [0, 0], texts[0].output
    assert from_json(texts[0].stdout).votes.tolist() != from_json(texts[1].stdout).votes.tolist()


def test_a_pool_has_a_forest_and_an_encoder_of_its_own(folder: Path) -> None:
    words = ("fit", folder / "rows.csv", "-t", "ill", "--pool", "both")

    assert "--pool and --trees exclude each other" in run(*words, "--trees", 5).output
    assert "--pool is for training, but --model is trained" in run(*words, "--model", folder / "kept.txt").output


def test_a_pool_encodes_texts_and_leaves_ids_out_itself(tmp_path: Path) -> None:
    fruit().to_csv(tmp_path / "fruit.csv", index=False)
    words = ("fit", tmp_path / "fruit.csv", "-t", "kind", "--pool", "both", "-o", tmp_path / "model.json")

    levels, ids = run(*words, "--max-levels", 5), run(*words, "--keep-ids")
    assert "--max-levels and --pool exclude each other: a pool has an encoder of its own; leave one" in levels.stderr
    assert "--keep-ids and --pool exclude each other: a pool leaves ids out itself; leave one out" in ids.stderr


@pytest.mark.parametrize("option", ["--require", "--rising", "--falling"])
def test_only_columns_of_numbers_rise_fall_or_are_required(option: str, tmp_path: Path) -> None:
    fruit().to_csv(tmp_path / "fruit.csv", index=False)
    done = run("fit", tmp_path / "fruit.csv", "-t", "kind", option, "colour")
    assert done.exit_code == 1
    assert (
        "column 'colour' holds neither numbers nor dates, which --require, --rising and --falling need" in done.stderr
    )


@pytest.mark.parametrize(("old", "new"), _OLD_METHODS.items())
def test_an_earlier_name_of_a_method_leads_to_the_new_one(old: str, new: MethodName, folder: Path) -> None:
    done = run("fit", folder / "rows.csv", "-t", "ill", "--method", old)
    assert done.exit_code == 2
    assert f"'{old}' is called '{new.value}' now" in " ".join(done.stderr.replace("│", " ").split())


@pytest.mark.slow
@pytest.mark.parametrize("weights", CHOICES["estimator_weights"])
def test_the_weights_of_a_booster_count_where_they_are_asked_for(weights: str, folder: Path) -> None:
    file = folder / "booster.json"
    booster = xgboost.XGBClassifier(n_estimators=6, max_depth=3, random_state=0).fit(X, ROWS["ill"] == "yes")
    booster.save_model(file)
    done = run(
        *("fit", folder / "rows.csv", "-t", "ill", "--drop", "price", "--model", file, "-o", "-"),
        *("--method", "cover", "--estimator-weights", weights),
    )

    asked = None if weights == "none" else weights
    few = explain(file, X, ROWS["ill"], estimator_weights=asked, random_state=0, method="cover")
    assert from_json(done.stdout).votes.tolist() == few.vote_.votes.tolist()
    assert from_json(done.stdout).rules == few.rules_


@pytest.mark.slow
def test_rules_found_before_an_interrupt_are_kept_if_asked_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    after_two = on_the_command_line("boost", "classes", "", folder)
    count = boost.tracked

    def interrupted(calls: Any, *words: Any, **settings: Any) -> Iterator[Any]:
        for number, each in enumerate(count(calls, *words, **settings)):
            if number == 2:
                raise KeyboardInterrupt
            yield each

    monkeypatch.setattr(boost, "tracked", interrupted)
    kept = on_the_command_line("boost", "classes", "--calls 9 --on-interrupt keep", folder)
    raised = run(
        *("fit", folder / "rows.csv", "-t", "ill", "--drop", "price", "--method", "boost", "--calls", 9),
        *("-o", folder / "no.json"),
    )

    assert from_json(kept).rules == from_json(after_two).rules
    assert raised.exit_code != 0 and not (folder / "no.json").exists()


# Rules to keep --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_rules_of_a_saved_model_are_kept_whatever_the_order_of_the_columns(tmp_path: Path) -> None:
    frame = fruit(200).replace({"colour": {"": "blue"}})
    frame.to_csv(tmp_path / "fruit.csv", index=False)
    frame[["kind", "ripe", "weight", "id", "colour"]].to_csv(tmp_path / "turned.csv", index=False)
    words = ("-t", "kind", "--drop", "id", "--trees", 5)
    run("fit", tmp_path / "fruit.csv", *words, "--method", "cover", "--max-rules", 3, "-o", tmp_path / "old.json")

    done = run(
        *("fit", tmp_path / "turned.csv", *words, "--method", "path", "--max-rules", 6, "--choose", "last"),
        *("--keep", tmp_path / "old.json", "-o", tmp_path / "new.json"),
    )

    assert done.exit_code == 0, done.output
    old, new = (from_json((tmp_path / f"{name}.json").read_text()).rules for name in ("old", "new"))
    said = [{(clause.name, str(clause)) for clause in rule.clauses} for rule in old]
    assert said == [{(clause.name, str(clause)) for clause in rule.clauses} for rule in new[: len(old)]]
    assert len(old) == 3 < len(new)


@pytest.mark.slow
def test_a_rule_on_texts_is_kept_from_a_line(tmp_path: Path) -> None:
    fruit(200).to_csv(tmp_path / "fruit.csv", index=False)
    (tmp_path / "rules.txt").write_text("colour = red and weight > 100\n", encoding="utf-8")

    done = run(
        *("fit", tmp_path / "fruit.csv", "-t", "kind", "--trees", 5, "--method", "path", "--max-rules", 3),
        *("--keep", tmp_path / "rules.txt", "-o", tmp_path / "model.json"),
    )

    assert done.exit_code == 0, done.output
    assert from_json((tmp_path / "model.json").read_text()).rules[0].text == "colour = red and weight > 100"


# Values that are none -------------------------------------------------------------------------------------------------

WRONG_WORDS = {
    "--max-rules 0": "'0' is not a whole number of at least 1, or none",
    "--max-rules few": "'few' is not a whole number of at least 1, or none",
    "--ridge -1 --method path": "'-1' is not a number of at least 0, or none",
    "--demand yes=x": "'yes=x' is not a whole number of at least 1, or CLASS=N",
    "--class-weight heavy": "'heavy' is not balanced, or CLASS=X with a number, such as yes=2",
    "--class-weight yes=nan": "'yes=nan' is not balanced, or CLASS=X with a number",
    "--estimator-weights all": "not one of 'cost', 'vote', 'both', 'none'",
    "--method boost --on-interrupt stop": "not one of 'raise', 'keep'",
    "--preset best": "not one of 'as-in-paper', 'few-rules', 'accurate'",
    "--method path --cv 1": "'--cv': '1' is not a whole number of at least 2",
    "--method path --tries -1": "'--tries': '-1' is not a whole number of at least 0",
    "--method path --max-depth 0": "'--max-depth': '0' is not a whole number of at least 1",
    "--method path --model-share 2": "'--model-share': '2' is not a number from 0 to 1",
    "--method path --shrinkage inf": "'--shrinkage': 'inf' is not a number of at least 0",
    "--seed 99999999999": "'--seed': '99999999999' is not a whole number from 0 to 4294967295",
    "--scale nan": "'--scale': 'nan' is not a number of at least 0",
}
WRONG_TOGETHER = {
    "--method cover --fallback mean": "error: --fallback is 'mean'; choose one of 'closest', 'all', 'majority'.",
    "--method path --forbid nope": "error: --forbid names 'nope', but there is no such column",
    "--method path --require nope": "error: --require names 'nope'",
    "--method path --falling nope": "error: --falling names 'nope'",
    "--method cover --demand maybe=2": "--demand names the class 'maybe', but the target has 'no', 'yes'",
    "--class-weight maybe=2": "--class-weight names the class 'maybe', but the target has 'no', 'yes'",
    "--class-weight yes=2 --class-weight balanced": "balanced or CLASS=X for some classes, not both",
    "--method cover --estimator-weights cost": "a forest is trained, which has none; name the booster's file",
    "--method path --within 0.1 --choose last": "--within and --choose exclude each other: both say how many rules",
    "--method cover --vote equal --ridge 3": "--vote and --ridge exclude each other: one weighs plain means",
    "--method path --rising age --falling age": "column 'age' cannot be both --rising and --falling",
    "--method cover --scale 3": "--scale is for numbers, but the target is predicted as a class; leave it out",
    "--method cover --ridge 3": "--ridge is for numbers",
    "--step 1": "--step belongs to --method boost, but the method is path; add --method boost",
    "--method boost --preset as-in-paper --max-rules 5": "--max-rules goes with --preset few-rules",
    "--method boost --max-rules 5 --fallback all": "error: --fallback is 'all', but a few rules add to a default vote",
    "--method boost --step 0": "error: --step is 0.0; it must be finite and above 0",
    "--preset accurate": "--preset belongs to --method cover and boost, but the method is path",
    "--method cover --preset few-rules": "--preset few-rules is for boosting (--method boost); leave it out",
    "--preset accurate --method boost": "--preset accurate is for covers (--method cover) of classes; leave it out",
    "--method path --max-rules none": "error: --max-rules is none; it must be a whole number",
    "--method path --min-samples 0.5": "error: --min-samples is 0.5; it must be a whole number",
    "--method cover --model x.json --prune held-out": "--prune held-out trains in folds, but --model is trained",
    "--model x.json --within 0.1": "a model file does not predict; give --max-rules",
    "--model x.json --method boost --depth 3": "--depth is for training, but --model is trained",
    "--method path --keep none.txt": "there is no file 'none.txt' here; --keep takes a model that rulecover fit wrote",
    "--method path --keep rows.csv": "rows.csv, line 1, is not a rule on the columns of rows.csv: position 3",
    "--method path --keep empty.txt": "empty.txt has no rule to keep",
    "--method path --keep bytes.txt": "bytes.txt is not UTF-8 text",
    "--method path --keep words.txt": "words.txt, line 2, compares the column 'age' with words",
    "--method path --keep idle.txt": "rule 0 of idle.txt, 'age > 99', covers no row of rows.csv",
    "--method path --keep bad.json": "bad.json: this is not JSON",
    "--method path --keep other.json": "other.json has rules on 'colour', but rows.csv has no such column",
}


@pytest.fixture(scope="module")
def wrong(folder: Path) -> Path:
    fruit(100).to_csv(folder / "fruit.csv", index=False)
    run("fit", folder / "fruit.csv", "-t", "kind", "--drop", "id", "--trees", 3, "-o", folder / "other.json")
    (folder / "empty.txt").write_text("\n \n")
    (folder / "bytes.txt").write_bytes(b"\xff\xfe\x00")
    (folder / "words.txt").write_text("age > 1\nage = old\n")
    (folder / "idle.txt").write_text("age > 99\n")
    (folder / "bad.json").write_text("{")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(("words", "said"), [*WRONG_WORDS.items(), *WRONG_TOGETHER.items()])
def test_a_wrong_value_is_one_line_with_a_way_out(
    words: str, said: str, wrong: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(wrong)
    before = set(wrong.iterdir())

    done = run("fit", "rows.csv", "-t", "ill", "--drop", "price", "-o", "no.json", *words.split())

    assert done.exit_code == (2 if words in WRONG_WORDS else 1), done.output
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
    assert said in done.stderr
    assert set(wrong.iterdir()) == before


def test_the_demand_of_a_class_is_not_for_numbers(tmp_path: Path) -> None:
    fruit().to_csv(tmp_path / "fruit.csv", index=False)
    done = run("fit", tmp_path / "fruit.csv", "-t", "weight", "--method", "cover", "--demand", "plum=2")
    assert done.exit_code == 1
    assert "--demand CLASS=N is for classes, but the target is predicted as a number; give N alone" in done.stderr
