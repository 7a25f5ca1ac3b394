"""``rulecover demo``: the main job on embedded data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rulecover.cli.errors import one_line_errors, require_folder


@one_line_errors
def demo(
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where to write the report.")] = Path("rulecover-demo.html"),
    debug: Annotated[bool, typer.Option("--debug", help="On an error, show where it came from.")] = False,
) -> None:
    """Show it all in a few seconds: rules of a forest on breast cancer data that come with scikit-learn.

    569 biopsies, 30 measurements of cell nuclei each, benign or malignant. Nothing is downloaded.
    """
    from rulecover.cli.commands.pipeline import Forest, breast_cancer, covered, explained
    from rulecover.cli.printing import Printer

    require_folder(out)
    printer = Printer()
    table = breast_cancer()
    printer.say("Is a tumour benign or malignant? A forest of 100 trees has an answer; here it is in a few rules.\n")
    summary = explained(table, Forest(), covered(Forest()), test_size=0.25, printer=printer)
    printer.summary(summary)
    printer.report(summary, out)
    printer.say(
        "\nWhat to try next\n"
        "  rulecover explain YOUR.csv --target COLUMN   the same for data of your own\n"
        "  rulecover explain --help                     what can be set, with examples\n"
        "  rulecover.explain(model, X, y)               in Python, for a model that is already trained"
    )
