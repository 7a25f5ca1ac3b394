"""``rulecover study``: the paper's numerical study, run, resumed and extended."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from rulecover.cli.errors import CommandError, one_line_errors
from rulecover.cli.values import whole_from

_DATA, _WORK = "The data", "The work"


class Which(StrEnum):
    MIRCO = "mirco"
    RCBOOST = "rcboost"
    PEERS = "peers"
    ALL = "all"
    TABLES = "tables"


def _some_jobs(jobs: int) -> int:
    if jobs == 0:
        raise typer.BadParameter("0 processes do no work; give 1 or more, or -1 for every core.")
    return jobs


@one_line_errors
def study(
    which: Annotated[
        Which,
        typer.Argument(
            metavar="STUDY",
            help="mirco: decision tree, forest and MIRCO (Table S.2). rcboost: forest, AdaBoost, gradient boosting and "
            "RCBoost (Table S.3). peers: what users would pick instead. all: these three. "
            "tables: run nothing, make the tables of the results in --out.",
            show_default=False,
        ),
    ],
    *,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="A folder with one CSV file a data set: header line, class in column 'target'.",
            show_default="fetched from OpenML",
            rich_help_panel=_DATA,
        ),
    ] = None,
    datasets: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            help="Which data sets: the paper's, or other CSV files of the folder.",
            show_default="the paper's 15",
            rich_help_panel=_DATA,
        ),
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Where data from OpenML are kept.",
            show_default="scikit-learn's",
            rich_help_panel=_DATA,
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Where results, tables and figures go.", rich_help_panel=_WORK)
    ] = Path("rulecover-study"),
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on with the results in --out: what is done is kept, failures are tried again.",
            rich_help_panel=_WORK,
        ),
    ] = False,
    jobs: Annotated[
        int,
        typer.Option(
            parser=whole_from(-1),
            callback=_some_jobs,
            metavar="N",
            help="Processes; -1 takes every core. The results stay the same.",
            rich_help_panel=_WORK,
        ),
    ] = 1,
    methods: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            help="Which methods, instead of those of the study.",
            show_default="the study's",
            rich_help_panel=_WORK,
        ),
    ] = None,
    own: Annotated[
        Path | None,
        typer.Option(
            "--with",
            metavar="FILE.py",
            help="A Python file that registers methods of your own; they run beside the study's.",
            show_default=False,
            rich_help_panel=_WORK,
        ),
    ] = None,
    seeds: Annotated[
        str, typer.Option(metavar="A,B", help="Shuffle the folds and seed the models.", rich_help_panel=_WORK)
    ] = "25",
    debug: Annotated[bool, typer.Option("--debug", help="On an error, show where it came from.")] = False,
) -> None:
    """Run the numerical study of the paper: 10 x 4 nested cross-validation, tables, figures.

    Results are appended to a file as they come. A run that was stopped, killed or in parts failed goes on with
    --resume.

    \b
    Examples:
      rulecover study mirco --data DIR --datasets wine,seeds --jobs 2
      rulecover study all --data DIR --out results --resume
    """  # noqa: D301 - the backspace keeps the lines of the examples apart
    from rulecover.cli.studying import make_tables, run_study

    if which is Which.TABLES:
        make_tables(out, data, _names("--datasets", datasets))
        return
    run_study(
        which.value,
        own=own,
        jobs=jobs,
        methods=_names("--methods", methods),
        out=out,
        datasets=_names("--datasets", datasets),
        folder=data,
        cache=cache,
        seeds=[_whole(seed) for seed in seeds.split(",")],
        resume=resume,
    )


def _names(option: str, text: str | None) -> list[str] | None:
    if text is None:
        return None
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise CommandError(f"{option} {text!r} names none; name some with commas between, or leave it out.")
    return names


def _whole(text: str) -> int:
    if not text.strip().isdecimal():
        raise CommandError(f"--seeds takes whole numbers with commas between, not {text!r}.")
    return int(text)
