"""``rulecover explain``: from a table to rules, figures beside the forest's, and a certificate in words."""

from __future__ import annotations

from typing import Any

from rulecover.cli.errors import one_line_errors
from rulecover.cli.options import explain as of
from rulecover.cli.options.choices import Method
from rulecover.cli.options.method import chosen_method
from rulecover.cli.options.shared import (
    ClassWeights,
    DataFile,
    Debug,
    Drop,
    Jobs,
    MaxLevels,
    Quiet,
    Separator,
    Target,
    TaskOption,
    check_out,
)


@one_line_errors
def explain(
    data: DataFile,
    *,
    target: Target = None,
    task: TaskOption = None,
    drop: Drop = None,
    test_size: of.TestSize = 0.25,
    max_levels: MaxLevels = 50,
    separator: Separator = None,
    trees: of.Trees = 100,
    depth: of.Depth = 10,
    seed: of.Seed = 0,
    jobs: Jobs = 1,
    max_rules: of.MaxRules = None,
    within: of.Within = None,
    method: of.MethodOption = None,
    solver: of.SolverOption = None,
    demand: of.Demand = None,
    vote: of.VoteOption = None,
    fallback: of.FallbackOption = None,
    time_limit: of.TimeLimit = None,
    criterion: of.CriterionOption = None,
    impurity_weight: of.ImpurityWeight = 1.0,
    length_weight: of.LengthWeight = 0.0,
    prune: of.Prune = None,
    class_weight: ClassWeights = None,
    report: of.Report = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Explain a table by a few rules that people can read.

    A forest is trained on the file, and a few of its rules are chosen so that every training row is covered. They are
    printed with the number of rows they cover, checked on held-out rows beside the forest and a single decision tree,
    and come with a certificate: how many rules any such choice needs at least. With --max-rules or --within the rules
    are chosen for accuracy instead: the fewest that answer as well as they can, or almost as well as the forest.

    Text columns become conditions such as colour = red, and missing values are taken as they are. A target with many
    different numbers is predicted as a number.

    \b
    Examples:
      rulecover explain titanic.csv --target survived
      rulecover explain titanic.csv -t survived --drop name --report titanic.html
      rulecover explain titanic.csv -t survived --solver exact --time-limit 30
      rulecover explain titanic.csv -t survived --max-rules 5
      rulecover explain titanic.csv -t survived --within 0.01
      rulecover explain houses.csv -t price
    """  # noqa: D301 - the backspace keeps the lines of the examples apart
    if report is not None:
        check_out(report, data, option="--report")
    cover: dict[str, Any] = {
        "solver": solver and solver.value,
        "demand": demand,
        "vote": vote and vote.value,
        "fallback": fallback and fallback.value,
        "time_limit": time_limit,
        "criterion": criterion and criterion.value,
        "impurity_weight": impurity_weight,
        "length_weight": length_weight,
        "prune": prune,
    }
    method = chosen_method(method, within=within, max_rules=max_rules, cover=cover)

    from rulecover.cli.commands.pipeline import Forest, chosen_by, explained
    from rulecover.cli.options.settings import class_weight as class_weight_of
    from rulecover.cli.printing import Printer
    from rulecover.cli.tables.encoding import for_forests
    from rulecover.cli.tables.reading import labelled_table

    printer = Printer(quiet=quiet)
    columns = for_forests(max_levels)
    table = labelled_table(data, target, drop=drop or [], columns=columns, separator=separator, task=task)
    weights = class_weight_of(class_weight, table)
    forest = Forest(trees=trees, depth=depth, seed=seed, jobs=jobs, class_weight=weights)
    options: dict[str, Any] = {"within": within} if method is Method.PATH else cover
    options |= {"max_rules": max_rules, "class_weight": class_weight}
    rules_of = chosen_by(method, forest, table, {name: value for name, value in options.items() if value is not None})
    summary = explained(table, forest, rules_of, test_size=test_size, printer=printer)
    printer.summary(summary)
    if report is not None:
        printer.report(summary, report)
