"""``rulecover fit``: from a table to a model in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rulecover.cli.choices import Criterion, ShippedFallback, Solver, Trainer, Vote
from rulecover.cli.errors import one_line_errors
from rulecover.cli.options import DATA, OUTPUT, DataFile, Debug, Quiet, Separator, check_out

_RULES = "The rules"


@one_line_errors
def fit(
    data: DataFile,
    *,
    target: Annotated[
        str | None,
        typer.Option("--target", "-t", metavar="COLUMN", help="The column to predict: a class.", show_default=False),
    ] = None,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Where to write the model, as JSON; - for standard output.",
            rich_help_panel=OUTPUT,
        ),
    ] = Path("model.json"),
    drop: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN", help="A column to leave out; may be repeated.", rich_help_panel=DATA, show_default=False
        ),
    ] = None,
    max_levels: Annotated[
        int, typer.Option(min=1, metavar="N", help="Text columns with more values are left out.", rich_help_panel=DATA)
    ] = 50,
    separator: Separator = None,
    method: Annotated[
        Trainer,
        typer.Option(
            help="mirco: a few rules of a forest. rcboost: a pool of rules grown by boosting.", rich_help_panel=_RULES
        ),
    ] = Trainer.MIRCO,
    trees: Annotated[
        int, typer.Option(min=1, metavar="N", help="Trees of the forest (mirco).", rich_help_panel=_RULES)
    ] = 100,
    depth: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Depth of the trees.", show_default="10, with rcboost 5", rich_help_panel=_RULES
        ),
    ] = None,
    calls: Annotated[
        int, typer.Option(min=0, metavar="N", help="Trees that boosting adds (rcboost).", rich_help_panel=_RULES)
    ] = 50,
    solver: Annotated[
        Solver, typer.Option(help="How rules are chosen (mirco); see explain.", rich_help_panel=_RULES)
    ] = Solver.GREEDY,
    demand: Annotated[
        int, typer.Option(min=1, metavar="N", help="Rules that must cover each row (mirco).", rich_help_panel=_RULES)
    ] = 1,
    max_rules: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Never more rules (mirco).", show_default="no limit", rich_help_panel=_RULES
        ),
    ] = None,
    vote: Annotated[Vote, typer.Option(help="What a rule adds for each class.", rich_help_panel=_RULES)] = Vote.COUNTS,
    fallback: Annotated[
        ShippedFallback, typer.Option(help="Who answers for a row that no rule covers.", rich_help_panel=_RULES)
    ] = ShippedFallback.CLOSEST,
    criterion: Annotated[
        Criterion, typer.Option(help="How the impurity of a rule is measured.", rich_help_panel=_RULES)
    ] = Criterion.GINI,
    time_limit: Annotated[
        float | None,
        typer.Option(
            min=0.001,
            metavar="SECONDS",
            help="For search, exact, and boosting.",
            show_default="the method's own",
            rich_help_panel=_RULES,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Same seed, same rules.", rich_help_panel=_RULES)] = 0,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Train on every row of a table, and write the rules to a file that predict, why and export read.

    \b
    Examples:
      rulecover fit titanic.csv --target survived --out titanic.json
      rulecover fit titanic.parquet -t survived --method rcboost --calls 30
    """  # noqa: D301 - the backspace keeps the lines of the examples apart
    check_out(out)

    from rulecover.cli.printing import Printer
    from rulecover.cli.tables import labelled_table
    from rulecover.cli.training import Training, trained, write_model
    from rulecover.cli.wording import readable

    printer = Printer(quiet=quiet or str(out) == "-")
    table = labelled_table(data, target, drop=drop or [], max_levels=max_levels, separator=separator)
    settings = Training(
        method=method.value,
        trees=trees,
        depth=depth,
        seed=seed,
        common={"vote": vote.value, "fallback": fallback.value, "criterion": criterion.value, "time_limit": time_limit},
        mirco={"solver": solver.value, "demand": demand, "max_rules": max_rules},
        rcboost={"max_rmp_calls": calls},
    )
    model = trained(table, settings, printer)
    write_model(model, out)
    if str(out) == "-":
        return
    printer.rules(readable(model.rules, table.levels))
    printer.say(f"\n{len(model.rules)} rules written to {out}.")
