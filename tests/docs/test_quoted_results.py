"""Results that the documentation quotes are those of the result files: tables as written, sentences recomputed."""

from __future__ import annotations

import csv
import runpy
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from rulecover.study.comparison import side_by_side
from rulecover.study.paper import means, of_one_seed
from rulecover.study.ranks import mean_ranks
from rulecover.study.results import ResultsFile, as_frame
from rulecover.study.sentences import sentences
from rulecover.study.sheets import Sheet
from rulecover.study.tables import seeds_table, table_s2, table_s3

ROOT = Path(__file__).parents[2]
EXPERIMENTS = ROOT / "experiments"
STUDY = EXPERIMENTS / "study"
WORDS = {3: "three", 4: "four"}


def text(page: str) -> str:
    """A page on one line."""
    return " ".join((ROOT / page).read_text(encoding="utf-8").split())


@cache
def experiment(name: str) -> dict[str, Any]:
    """What the script of an experiment defines."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")  # the scripts set it where it is not set
        patch.syspath_prepend(EXPERIMENTS)
        return runpy.run_path(str(EXPERIMENTS / f"{name}.py"))


@cache
def results(name: str) -> pd.DataFrame:
    """The result file of an experiment."""
    return pd.read_csv(EXPERIMENTS / f"{name}.csv", keep_default_na=name != "boosters")


@cache
def study_results(name: str = "study") -> pd.DataFrame:
    return as_frame(ResultsFile(EXPERIMENTS / name / "results.jsonl").done().values())


def frontier_page(name: str = "frontier") -> str:
    script = experiment("frontier")
    return script["page"](results(name), script["peers"](STUDY))


def covers_table() -> str:
    with (EXPERIMENTS / "covers.csv").open(newline="") as file:
        made = experiment("covers")["as_markdown"](list(csv.DictReader(file)))
    return made[made.index("| data set") :]  # above it stands the day of the run


#: What the script of each experiment writes on its page, from the result file.
WRITTEN: dict[str, Callable[[], str]] = {
    "boosters": lambda: experiment("boosters")["table"](results("boosters")),
    "covers": covers_table,
    "covers_votes": lambda: experiment("covers_votes")["table"](results("covers_votes")),
    "frontier": frontier_page,
    "regression_paths": lambda: experiment("regression_paths")["page"](results("regression_paths")),
    "quality": lambda: experiment("quality")["page"](results("quality")),
    "log_odds": lambda: frontier_page("log_odds"),
    "larger": lambda: experiment("larger")["table"](results("larger")),
    "rcboost_defaults": lambda: experiment("rcboost_defaults")["table"](results("rcboost_defaults")),
    "regression": lambda: experiment("regression")["report"](results("regression")),
    "smaller_covers": lambda: experiment("smaller_covers")["table"](results("smaller_covers")),
    "steadier": lambda: experiment("steadier")["table"](results("steadier")),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITTEN)
def test_the_page_of_an_experiment_is_made_from_its_result_file(name: str) -> None:
    assert WRITTEN[name]() in (EXPERIMENTS / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("sheet", [table_s2, table_s3, sentences, mean_ranks, side_by_side, seeds_table])
def test_a_table_of_the_study_is_made_from_its_results(sheet: Callable[[pd.DataFrame], Sheet]) -> None:
    made = sheet(study_results())

    assert (STUDY / f"{made.name}.md").read_text(encoding="utf-8").startswith(made.markdown())


@cache
def of_few_rules() -> pd.DataFrame:
    """Each model of the frontier: means over its folds, data sets and seeds."""
    by_set = results("frontier").groupby(["model", "seed", "dataset"]).mean(numeric_only=True)
    return by_set.groupby("model").mean()


@cache
def apart(first: str, second: str) -> tuple[float, float]:
    """How much more accurate the first model is, and the standard error over the data sets."""
    folds = results("frontier").pivot_table(index=["seed", "dataset", "fold"], columns="model", values="accuracy")
    return experiment("frontier")["difference"](folds, first, second)


def difference(first: str, second: str, digits: int = 3) -> str:
    mean, error = apart(first, second)
    return f"{abs(mean):.{digits}f} ± {error:.{digits}f}"


def on_rcboost() -> Iterator[str]:
    few = of_few_rules()
    name, pool = "RCBoost, few rules, {}".format, few.loc["its pool, votes by shares"]
    best = few.loc[name(100)]
    yield f"it has {best['accuracy']:.4f} over seeds 7, 25 and 2026 with at most 100 rules"
    yield f"100 rules of {best['clauses']:.1f} clauses"
    yield f"{few.loc[name(50), 'accuracy']:.4f} with 50; its whole pool of {pool['rules']:.0f} rules"
    yield f"voting by shares, has {pool['accuracy']:.4f}"
    yield f"GradientBoosting {few.loc['GradientBoosting', 'accuracy']:.4f} on the same folds"
    more = difference(name(100), "GradientBoosting", 4)
    yield f"(a difference of {more}, standard error over the 15 data sets)"


def on_settings_of_rcboost() -> Iterator[str]:
    by_set = results("rcboost_defaults").groupby(["setting", "dataset"]).mean(numeric_only=True)
    mean = by_set.groupby(level="setting").mean()
    rules = ["defaults", "one tree per call, 50 calls", "`as_in_paper()`", "`few_rules(25)`"]
    for name in (*rules, "GradientBoosting", "forest of 100 trees"):
        line = mean.loc[name]
        size = f"{line['rules']:.0f} |" if name in rules else "|"
        yield f"| {name} | {line['accuracy']:.4f} | {line['log_loss']:.3f} | {size}"
    by_name = by_set["accuracy"].unstack("setting")
    off = by_name["defaults"] - by_name["GradientBoosting"]
    yield f"above GradientBoosting by {off.mean():.4f} ± {off.sem():.4f} (standard error over the data sets)"


def on_paths() -> Iterator[str]:
    few = of_few_rules()
    for size in (10, 25, 50, 100):
        line = few.loc[f"path {size}"]
        yield f"| path, {size} rules | {line['accuracy']:.4f} | {size} | {line['clauses']:.1f} |"
    yield f"| forest of 100 trees | {few.loc['forest', 'accuracy']:.4f} |"
    boosted = ["AdaBoost, depth 5", "GradientBoosting", "HistGradientBoosting"]
    ada, gradient, histogram = (f"{few.loc[name, 'accuracy']:.4f}" for name in boosted)
    yield f"AdaBoost (trees of depth 5) has {ada}, scikit-learn's GradientBoosting {gradient} and"
    yield f"HistGradientBoosting {histogram}"
    first, second, third = (difference("path 25", name) for name in boosted)
    yield f"(differences of {first}, {second} and {third}; here and below ± is the standard error over the 15"
    yield f"within half a point of the forest (−{difference('path 50', 'forest')})"
    yield f"RCBoost's preset of at most 100 rules has {few.loc['RCBoost, few rules, 100', 'accuracy']:.4f}"


def on_ingredients() -> Iterator[str]:
    def lost(setting: str) -> str:
        return " and ".join(difference(f"path {size}: {setting}", f"path {size}") for size in (25, 50))

    yield f"With the forest alone as target 25 and 50 rules lose {lost('the forest alone as target')}."
    in_bag = lost("the target softened by all trees, not those out of bag")
    yield f"in place of the out-of-bag answers they lose {in_bag}, with labels alone {lost('labels alone as target')}"
    yield f"a shrinkage of 5 costs 50 rules {difference('path 50: shrinkage 5', 'path 50')}"
    changed = [name for name in of_few_rules().index if ": " in name and "forest alone" not in name]
    assert all(
        round(abs(mean) / error, 1) <= 2 for mean, error in (apart(name, name.split(":")[0]) for name in changed)
    )


def on_larger_data() -> Iterator[str]:
    mean = results("larger").groupby(["dataset", "model"])["accuracy"].mean().unstack().map("{:.3f}".format)
    fifty, forest, boosted = mean["path 50"], mean["forest"], mean["LightGBM"]
    yield f"adult {fifty['adult']} (forest {forest['adult']}, LightGBM {boosted['adult']})"
    for name in ("default", "bank_mkt", "compas"):
        yield f"{name} {fifty[name]} ({forest[name]}, {boosted[name]})"
    magic = mean.loc["magic"]
    yield f"magic, {magic['path 50']} ({magic['forest']}, {magic['LightGBM']}; 100 rules {magic['path 100']})"
    yield f"on compas FIGS is above them ({mean.loc['compas', 'FIGS']} and {mean.loc['compas', 'path 25']})"
    yield f"it has {mean.loc['compas', 'EBM']} on compas and {mean.loc['skinnonskin', 'EBM']} on skinnonskin"


def on_bins() -> Iterator[str]:
    script, table = experiment("steadier"), experiment("steadier")["table"](results("steadier"))
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()]
    for setting, bins in (("no bins", "none"), ("10 bins", "10"), ("20 bins", "20")):
        for size in script["SIZES"][:2]:
            (line,) = (each for each in lines if each[:2] == [setting, str(size)])
            yield f"| {size} | {bins} |{f' {line[3]} |' if line[3] else ' |'} {line[6]} | {line[7]} | {line[8]} |"


def on_other_rule_learners() -> Iterator[str]:
    theirs = experiment("frontier")["peers"](STUDY).groupby(["model", "dataset"]).mean(numeric_only=True)
    mean = theirs.groupby("model").mean()
    few = results("frontier").query("seed == 25").groupby(["model", "dataset"])["accuracy"].mean()

    def figures(name: str) -> str:
        return f"{name} {mean.loc[name, 'accuracy']:.4f} with {mean.loc[name, 'rules']:,.0f}"

    def paths(name: str) -> str:
        ten, more = (few[f"path {size}"][theirs.loc[name].index].mean() for size in (10, 25))
        return f"(a path {ten:.4f} with 10 rules, {more:.4f} with 25)"

    yield f"{figures('FIGS')} rules, {figures('RUG')} and {figures('RUX')} {paths('RUX')}"
    yield f"on the eleven data sets of two classes {figures('RuleFit')} {paths('RuleFit')}"


def on_votes() -> Iterator[str]:
    few = of_few_rules()
    for name in ("cover 3", "pruned cover 3"):
        shares, counts, fitted = (
            few.loc[name + votes, "accuracy"] for votes in ("", ", votes by counts", ", own votes fitted")
        )
        joined = f"{counts:.4f} of the rows by counts, on {shares:.4f} by shares and on {fitted:.4f} with fitted votes"
        yield f"right on {joined}" if name == "cover 3" else f"right on {counts:.4f}, {shares:.4f} and {fitted:.4f}"
    losses = [few.loc[f"cover 3{votes}", "log_loss"] for votes in ("", ", own votes fitted", ", votes fitted")]
    yield "log loss {:.3f}, fitted votes {:.3f}, those of a path with a default vote {:.3f}".format(*losses)
    one = results("frontier").query("seed == 25 and model.str.startswith('its pool')")
    pool, z = (
        one[one["model"] == f"its pool, votes by {votes}"].groupby("dataset")[["accuracy", "rules"]].mean().mean()
        for votes in ("shares", "z")
    )
    yield f"let {z['rules']:.0f} of {pool['rules']:.0f} boosted rules vote"
    yield f"at {z['accuracy']:.4f} instead of {pool['accuracy']:.4f}"


def on_covers() -> Iterator[str]:
    few = of_few_rules()
    votes = [", votes by counts", "", ", own votes fitted", ", votes fitted"]
    for demand in (1, 3):
        for shown, name in (
            (f"demand {demand}", f"cover {demand}"),
            (f"demand {demand}, pruned", f"pruned cover {demand}"),
        ):
            line = few.loc[name]
            accuracies = " | ".join(f"{few.loc[name + vote, 'accuracy']:.4f}" for vote in votes)
            sizes = f"{line['rules']:.1f} | {line['clauses']:.1f} | {100 * line['missed']:.1f} %"
            yield f"| {shown} | {sizes} | {accuracies} |"
        held = few.loc[f"cover {demand}, pruned by held-out rows"]
        refitted = few.loc[f"cover {demand}, pruned by held-out rows, votes fitted", "accuracy"]
        sizes = f"{held['rules']:.1f} | {held['clauses']:.1f} | {100 * held['missed']:.1f} %"
        yield f'| demand {demand}, `prune="held-out"` | {sizes} | | | {held["accuracy"]:.4f} | {refitted:.4f} |'
        more = difference(f"cover {demand}, pruned by held-out rows", f"cover {demand}, own votes fitted")
        yield f"({more.replace(' ±', ' more, ±')}, standard error over the data sets)"
    same = [(f"pruned cover {demand}{vote}", f"cover {demand}{vote}") for demand in (1, 3) for vote in votes]
    assert all(abs(mean) < 2 * error for mean, error in (apart(*pair) for pair in same))
    errors = [apart(*pair)[1] for pair in same]
    yield f"two standard errors over the 15 data sets ({min(errors):.3f} to {max(errors):.3f})"
    proved = results("covers").set_index("dataset")
    optimal, open_ = (proved[(proved["status"] == "optimal") == is_proved] for is_proved in (True, False))
    small, large = (optimal[(optimal["exact_rules"] <= 15) == is_small] for is_small in (True, False))
    assert small["exact_seconds"].max() < 20
    yield f"On [{len(proved)} data sets](../experiments/covers.md) covers of up to {small['exact_rules'].max()} rules"
    yield f"Two with more rules were, too ({' and '.join(map(str, sorted(large['exact_rules'])))})"
    gaps = 100 * open_["gap"]
    yield f"and six were left with gaps of {gaps.min():.0f} to {gaps.max():.0f} % after 60 seconds"
    assert (len(large), len(open_)) == (2, 6)


def on_boosters() -> Iterator[str]:
    by_set = results("boosters").groupby(["model", "impurity_weight", "weights", "dataset"]).mean(numeric_only=True)
    mean = by_set.groupby(["model", "impurity_weight", "weights"]).mean()

    def rules(model: str, impurity: int, weights: str, unit: str = "") -> str:
        line = mean.loc[model, impurity, weights]
        return f"{line['accuracy']:.3f} with {line['rules']:.0f}{unit}"

    forest = mean.loc["forest", 1, "none"]["model_accuracy"]
    plain, purer = rules("forest", 1, "none", " rules"), rules("forest", 5, "none")
    yield f"| random forest, depth 10 | {forest:.3f} | {plain} | the same | {purer} |"
    shown = {"gradient boosting": ", depth 3", "histogram boosting": "", "AdaBoost": ", depth 5"}
    for model, more in shown.items():
        accuracy = mean.loc[model, 1, "none"]["model_accuracy"]
        cells = [f"{accuracy:.3f}", rules(model, 1, "none"), rules(model, 1, "both"), rules(model, 5, "both")]
        yield f"| {model.replace('histogram', 'histogram gradient')}{more} | {' | '.join(cells)} |"
    few, many = mean.loc["gradient boosting", 5, "both"], mean.loc["forest", 5, "none"]
    points = f"{100 * (round(many['accuracy'], 3) - round(few['accuracy'], 3)):.1f}"
    yield f"within {points} points of a forest's (both with"
    yield f"`impurity_weight=5`, {few['rules']:.0f} rules and {many['rules']:.0f})"


def on_votes_of_covers() -> Iterator[str]:
    made = ["demand", "prune", "vote", "fallback"]
    rows = results("covers_votes").fillna({"fallback": "-", "demand": 0, "prune": False})
    by_set = rows.groupby([*made, "dataset"])[["accuracy", "log_loss", "rules", "clauses"]].mean()
    mean = by_set.groupby(level=made).mean()
    covers = {
        "the defaults": (1, False, "counts"),
        "the same": (1, False, "log-odds"),
        "pruned": (1, True, "log-odds"),
        "`accurate()`": (3, True, "log-odds"),
    }
    for name, cover in covers.items():
        line = mean.loc[(*cover, "closest")]
        shown = f"{line['accuracy']:.4f} | {line['log_loss']:.3f} | {line['rules']:.1f} | {line['clauses']:.0f}"
        yield f"| {name} | {cover[2]} | {shown} |"
    forest = mean.xs("forest", level="vote").iloc[0]
    yield f"| the forest | | {forest['accuracy']:.4f} | {forest['log_loss']:.3f} |"
    best, plain = (by_set["accuracy"].loc[(*covers[name], "closest")] for name in ("`accurate()`", "the defaults"))
    yield f"by {(best - plain).mean():.4f} ± {(best - plain).sem():.4f} (standard error over the data sets)"
    lowest = mean["log_loss"].xs("closest", level="fallback").unstack("vote").idxmin(axis=1)
    assert lowest.tolist() == ["log-odds"] * 4
    yield "log-odds have the lowest log loss of the four kinds of votes, whichever of these covers they vote in"


def on_numbers() -> Iterator[str]:
    mean = experiment("regression")["means"](results("regression"))
    shown = {
        "refitted rules": "`MIRCORegressor`, refitted values",
        "plain rules": "the same, plain means of the greedy cover",
        "rule path": "`RulePathRegressor`, nothing tuned",
        "pruned tree": "tree, pruned by cost and complexity",
        "tuned tree": "tree, grown best first, leaf size tuned",
    }
    for method, name in shown.items():
        yield f"| {name} | {' | '.join(f'{mean[method, limit]:.3f}' for limit in (3, 5, 10, 15, 25, 50))} |"
    forest = mean["forest", 0]
    yield f"has {forest:.3f}, and RCBoost with all its rules {mean['RCBoost, all rules', 0]:.3f}"
    yield f"and {forest - mean['refitted rules', 50]:.3f} below the forest at 50"
    yield f"at 50 rules {mean['rule path', 50] - forest:.3f} above the forest"
    usual = results("regression").query("method == 'defaults'").groupby("dataset")[["r2", "inside"]].mean()
    forests = results("regression").query("method == 'forest'").groupby("dataset")["r2"].mean()
    off = (forests - usual["r2"]).sort_values()
    yield f"between {off.iloc[0]:.3f} ({off.index[0]}) and {off.iloc[-1]:.3f} ({off.index[-1]}) below the forest's"
    inside = 100 * usual["inside"]
    yield f"90 % intervals hold {inside.min():.0f} to {inside.max():.0f} % of the held-out numbers"
    yield f"90 % intervals of 20 rules held {inside.min():.0f} to {inside.max():.0f} % of the held-out numbers"


def on_the_study() -> Iterator[str]:
    counted = sentences(study_results()).numbers.set_index("sentence")

    def count(sentence: str) -> int:
        return int(counted.loc[sentence, "ours"].split()[0])

    def named(sentence: str) -> str:
        return counted.loc[sentence, "exceptions"].split(" ", 1)[1]

    both, tree = "RCB is better than ADA and GB ({})", "RCB is better than its first tree, iniDT ({})"
    exact, rounded = "before rounding", "as printed"
    yield (
        f"RCBoost is better than both ADA and GB on {WORDS[count(both.format(exact))]} data sets "
        f"({named(both.format(exact))})"
    )
    yield f"better than its first tree on {count(tree.format(exact))} of 15, all but {named(tree.format(exact))}"
    yield f"it is {WORDS[count(both.format(rounded))]} (not mammography)"
    yield f"and {count(tree.format(rounded))} (not banknote)"
    spread = "MIRCO varies no more than DT (standard deviation over the folds, {})"
    yield f"than the tree on {count(spread.format(rounded))} (standard deviations to two decimals"
    yield f"before rounding on {count(spread.format(exact))})"
    misses, fewer = "MIRCO misses less than 6 %", "MIRCO has fewer rules than DT"
    yield f"missed rows below 6 % on {count(misses)} of 15 data sets (not {named(misses)})"
    yield f"and than the tree on {count(fewer)} (not {named(fewer)})"
    mean, spread_of, _ = means(of_one_seed(study_results()), "accuracy")
    below = (mean["RF"] - mean["MIRCO"] > spread_of["RF"]).sum()
    yield f"below the forest's on {below} of 15 data sets"
    every = mean.dropna(axis="columns").mean().map("{:.3f}".format)
    yield f"(mean {every['RCB']} and {every['GB']})"
    yield f"below AdaBoost ({every['ADA']}) and the forest ({every['RF']})"
    yield f"RUX, on MIRCO's very forest, has {every['RUX']} on all data sets"
    yield f"a point more than MIRCO ({every['MIRCO']})"
    ranks = pd.read_csv(STUDY / "ranks.csv").set_index("model")["on all data sets"].map("{:.1f}".format)
    yield f"({ranks['MIRCO']} and {ranks['DT']}, with FIGS between them; the forest {ranks['RF']})"


def on_seeds() -> Iterator[str]:
    by_seed = study_results().groupby(["model", "dataset", "seed"])["accuracy"].mean().unstack()
    moves = (by_seed.max(axis=1) - by_seed.min(axis=1))[["iniDT", "RCB"]].unstack("model")
    yield f"the means of iniDT differ by up to {moves['iniDT'].max():.3f} (on {moves['iniDT'].idxmax()}"
    yield f"those of RCB by up to {moves['RCB'].max():.3f} (on {moves['RCB'].idxmax()})"


def on_duals() -> Iterator[str]:
    vertex, equal = (
        frame[frame["model"] == model].groupby("dataset")["accuracy"].mean().mean()
        for frame, model in ((study_results(), "RCB"), (study_results("rcboost_equal"), "RCB-equal"))
    )
    assert f"{vertex:.3f}" == f"{equal:.3f}"
    yield f"the mean of the 15 data sets is {vertex:.3f} with a vertex"


def on_the_comparison() -> Iterator[str]:
    models = pd.read_csv(STUDY / "models.csv").set_index(["data_sets", "model"])
    every, two = models.loc["all 15"], models.loc["the 11 that all have"]
    names = {"EBM": "**EBM**", "RCB": "RCBoost, as in the paper", "MIRCO": "MIRCO, as in the paper"}
    for model in ("RUX", "RUG", "FIGS", "RCB", "MIRCO"):
        accuracy, rules = every.loc[model, ["accuracy", "rules"]].astype(float)
        yield f"| {names.get(model, model)} | {accuracy:.3f} | {rules:,.0f} |"
    yield f"| **EBM** | **{float(every.loc['EBM', 'accuracy']):.3f}** | {float(every.loc['EBM', 'rules']):.0f} curves |"
    for model, unit in {"RuleFit": " terms", "MIRCO": "", "RIPPER": ""}.items():
        accuracy, rules = two.loc[model, ["accuracy", "rules"]].astype(float)
        yield f"| {model} | {accuracy:.3f} | {rules:.0f}{unit} |"
    for model, name in {"LightGBM": "LightGBM", "ADA": "AdaBoost, tuned"}.items():
        assert float(every.loc[model, "rules"]) > 2000
        yield f"| {name} | {float(every.loc[model, 'accuracy']):.3f} | thousands of leaves |"
    boosted = every.loc["XGBoost", ["accuracy", "rules"]].astype(float)
    yield f"| XGBoost | {boosted['accuracy']:.3f} | {boosted['rules']:,.0f} leaves |"
    yield f"| random forest, tuned | {float(every.loc['RF', 'accuracy']):.3f} | thousands of leaves |"
    yield from on_paths_in_the_comparison(every["accuracy"].astype(float))


def on_paths_in_the_comparison(others: pd.Series) -> Iterator[str]:
    by_set = results("log_odds").groupby(["model", "seed", "dataset"])["accuracy"].mean()
    same_folds = by_set.xs(25, level="seed")
    path = same_folds.groupby("model").mean()
    for size in (10, 25):
        yield f"| rule path, {size} rules | {path[f'path {size}']:.3f} | {size} |"
    two = experiment("frontier")["peers"](STUDY).query("model == 'RuleFit'")["dataset"].unique()
    yield f"| *two classes only:* rule path, 25 rules | {same_folds['path 25'][two].mean():.3f} | 25 |"
    new_splits = by_set.drop(25, level="seed").groupby("model").mean()
    yield f"a path has {new_splits['path 10']:.3f} with 10 rules and {new_splits['path 25']:.3f} with 25"
    behind = path["path 25"] - others[["EBM", "LightGBM", "ADA"]]
    yield f"25 rules are ahead of EBM, LightGBM and AdaBoost, by {behind.min():.3f} to {behind.max():.3f}"
    phoneme = by_set.groupby(["model", "dataset"]).mean().xs("phoneme", level="dataset")
    yield f"such as phoneme: 50 rules have {phoneme['path 50']:.3f}, the forest {phoneme['forest']:.3f}"


#: Pages, and sentences as the result files have them.
QUOTED: list[tuple[str, Callable[[], Iterator[str]]]] = [
    ("docs/rcboost.md", on_rcboost),
    ("docs/rcboost.md", on_settings_of_rcboost),
    ("docs/paths.md", on_paths),
    ("docs/paths.md", on_ingredients),
    ("docs/paths.md", on_larger_data),
    ("docs/paths.md", on_bins),
    ("docs/paths.md", on_other_rule_learners),
    ("docs/paths.md", on_votes),
    ("docs/covers.md", on_covers),
    ("docs/mirco.md", on_boosters),
    ("docs/mirco.md", on_votes_of_covers),
    ("docs/regression.md", on_numbers),
    ("docs/study.md", on_the_study),
    ("docs/study.md", on_seeds),
    ("docs/comparison.md", on_the_comparison),
    ("experiments/README.md", on_duals),
]


@pytest.mark.slow
@pytest.mark.parametrize(("page", "quoted"), QUOTED, ids=lambda value: getattr(value, "__name__", value))
def test_quoted_results_are_those_of_the_result_files(page: str, quoted: Callable[[], Iterator[str]]) -> None:
    said = text(page)

    assert [sentence for sentence in quoted() if sentence not in said] == []


def test_paths_by_log_odds_are_as_quoted() -> None:
    mean = results("log_odds").groupby(["model", "dataset"]).mean(numeric_only=True).groupby("model").mean()
    page = (ROOT / "docs" / "paths.md").read_text(encoding="utf-8")

    for size in (10, 25, 50, 100):
        figures = mean.loc[f"path {size}"]
        assert (
            f"| path, {size} rules | {figures['accuracy']:.4f} | {figures['log_loss']:.3f} | {figures['off']:.3f} | "
            f"{figures['clauses']:.1f} |" in page
        )
    forest = mean.loc["forest"]
    assert f"| {forest['accuracy']:.4f} | {forest['log_loss']:.3f} | {forest['off']:.3f} | |" in page
    losses = results("log_odds").groupby(["model", "dataset"])["log_loss"].mean()
    above = losses["path 25"] - losses["forest"]
    assert f"({above.mean():+.3f} ± {above.sem():.3f}, standard error over the data sets)" in page
    others = losses.unstack("model").drop(["phoneme", "glass"]).mean()
    assert f"({others['path 25']:.3f} and {others['forest']:.3f})" in page
