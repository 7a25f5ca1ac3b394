"""``rulecover explain``: from a CSV file to rules, figures beside the forest's, and a certificate in words."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rulecover.cli.choices import Criterion, Fallback, Method, Solver, Task, Vote
from rulecover.cli.errors import one_line_errors, require_folder
from rulecover.cli.header import checked_target, read_header
from rulecover.cli.method import chosen_method

_DATA, _FOREST, _RULES, _OUTPUT = "The data", "The forest", "The rules", "The output"


def _some_threads(jobs: int) -> int:
    if jobs == 0:
        raise typer.BadParameter("0 threads do no work; give 1 or more, or -1 for every core.")
    return jobs


@one_line_errors
def explain(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="A CSV file with a header line.", show_default=False)],
    *,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "-t",
            metavar="COLUMN",
            help="The column to predict: a class or a number.",
            show_default=False,
        ),
    ] = None,
    task: Annotated[
        Task | None,
        typer.Option(
            help="Whether the target is taken as classes or as numbers.",
            show_default="classes unless it has many different numbers",
            rich_help_panel=_DATA,
        ),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN", help="A column to leave out; may be repeated.", rich_help_panel=_DATA, show_default=False
        ),
    ] = None,
    test_size: Annotated[
        float,
        typer.Option(metavar="SHARE", help="Share of the rows to hold out for the figures.", rich_help_panel=_DATA),
    ] = 0.25,
    max_levels: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="N",
            help="Text columns with more different values are left out: they are names, dates or free text.",
            rich_help_panel=_DATA,
        ),
    ] = 50,
    separator: Annotated[
        str | None,
        typer.Option(
            metavar="CHAR",
            help="What stands between cells.",
            show_default="guessed from the header",
            rich_help_panel=_DATA,
        ),
    ] = None,
    trees: Annotated[int, typer.Option(min=1, metavar="N", help="Trees in the forest.", rich_help_panel=_FOREST)] = 100,
    depth: Annotated[
        int,
        typer.Option(
            min=1, metavar="N", help="Depth of its trees: the most conditions in a rule.", rich_help_panel=_FOREST
        ),
    ] = 10,
    seed: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="Same seed, same split, same forest, same rules.", rich_help_panel=_FOREST
        ),
    ] = 0,
    jobs: Annotated[
        int,
        typer.Option(
            callback=_some_threads,
            metavar="N",
            help="Threads; -1 takes every core. The rules stay the same.",
            rich_help_panel=_FOREST,
        ),
    ] = 1,
    max_rules: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Never more rules than this: as many as cross-validation finds worth it. With --method cover rows "
            "may stay uncovered, and you are told how many.",
            show_default="no limit; 50 with --within; 20 in a cover of numbers",
            rich_help_panel=_RULES,
        ),
    ] = None,
    within: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            metavar="X",
            help="The fewest rules whose accuracy (of numbers R²) is at most this far below the forest's, by "
            "cross-validation.",
            show_default=False,
            rich_help_panel=_RULES,
        ),
    ] = None,
    method: Annotated[
        Method | None,
        typer.Option(
            help="cover: rules that cover every training row, with a proof of how few they could be. path: the rules "
            "that explain most, one after another, with fitted votes.",
            show_default="path with --within or --max-rules alone, cover otherwise",
            rich_help_panel=_RULES,
        ),
    ] = None,
    solver: Annotated[
        Solver | None,
        typer.Option(
            help="greedy: milliseconds, the paper's way. search: fewer rules in seconds. "
            "exact: the fewest, proved, or the best found when the time is up. "
            "forward, for numbers: those that explain most.",
            show_default="greedy; forward for numbers",
            rich_help_panel=_RULES,
        ),
    ] = None,
    demand: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="N",
            help="How many rules must cover each row: more rules, steadier votes.",
            rich_help_panel=_RULES,
        ),
    ] = 1,
    vote: Annotated[
        Vote | None,
        typer.Option(
            help="What a rule adds for each class: counts (its rows, as in the paper) or shares (of its rows). "
            "Of numbers, what a rule weighs in the mean: equal, support (its rows) or precision.",
            show_default="counts; fitted values for numbers",
            rich_help_panel=_RULES,
        ),
    ] = None,
    fallback: Annotated[
        Fallback | None,
        typer.Option(
            help="Who answers for a row that no rule covers: closest (the rules it almost meets), "
            "all (every rule, by how much of it is met), majority (the most frequent class), mean (of all rows), "
            "model (the forest).",
            show_default="closest; mean for numbers",
            rich_help_panel=_RULES,
        ),
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            min=0.001,
            metavar="SECONDS",
            help="Seconds for search or exact to choose the rules.",
            show_default="the solver's own",
            rich_help_panel=_RULES,
        ),
    ] = None,
    criterion: Annotated[
        Criterion | None,
        typer.Option(
            help="How the impurity of a rule is measured.",
            show_default="gini; squared_error for numbers",
            rich_help_panel=_RULES,
        ),
    ] = None,
    impurity_weight: Annotated[
        float,
        typer.Option(
            min=0.0,
            metavar="X",
            help="A rule costs 1 + this × impurity + length weight × conditions. Higher: purer rules, more of them.",
            rich_help_panel=_RULES,
        ),
    ] = 1.0,
    length_weight: Annotated[
        float,
        typer.Option(min=0.0, metavar="X", help="Price of a condition. Higher: shorter rules.", rich_help_panel=_RULES),
    ] = 0.0,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write a report to this HTML file.", show_default=False, rich_help_panel=_OUTPUT
        ),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print the rules and nothing else.", rich_help_panel=_OUTPUT)
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="On an error, show where it came from.", rich_help_panel=_OUTPUT)
    ] = False,
) -> None:
    """Explain a CSV file by a few rules that people can read.

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
        require_folder(report)
    cover = {
        "solver": solver and solver.value,
        "demand": demand,
        "vote": vote and vote.value,
        "fallback": fallback and fallback.value,
        "time_limit": time_limit,
        "criterion": criterion and criterion.value,
        "impurity_weight": impurity_weight,
        "length_weight": length_weight,
    }
    method = chosen_method(method, within=within, max_rules=max_rules, cover=cover)
    header = read_header(data, separator)
    target = checked_target(header, target, drop or [])

    from rulecover.cli.csv_data import read_table
    from rulecover.cli.pipeline import Forest, covered, explained, followed
    from rulecover.cli.printing import Printer

    printer = Printer(quiet=quiet)
    table = read_table(header, target, task=task, drop=drop or [], max_levels=max_levels)
    forest = Forest(trees=trees, depth=depth, seed=seed, jobs=jobs)
    if method is Method.PATH:
        rules_of = followed(forest, task=table.task, max_rules=max_rules, within=within)
    else:
        limit = {} if max_rules is None else {"max_rules": max_rules}
        options = {name: value for name, value in cover.items() if value is not None}
        rules_of = covered(forest, task=table.task, **options, **limit)
    summary = explained(table, forest, rules_of, test_size=test_size, printer=printer)
    printer.summary(summary)
    if report is not None:
        printer.report(summary, report)
