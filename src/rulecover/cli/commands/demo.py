"""``rulecover demo``: the main job on embedded data."""

from __future__ import annotations

from pathlib import Path

from sklearn.datasets import load_breast_cancer

from rulecover.cli.commands.explain import explain_table
from rulecover.cli.commands.fit import Training
from rulecover.cli.printing import Printer
from rulecover.cli.tables.labelled import Table


def demo(out: Path) -> None:
    """Prints rules on data that come with scikit-learn, and writes a report."""
    printer, data = Printer(), load_breast_cancer(as_frame=True)
    table = Table("Breast cancer biopsies", data.data, data.target_names[data.target])
    printer.say("Is a tumour benign or malignant? A forest of 100 trees has an answer; here it is in a few rules.\n")
    summary, _ = explain_table(table, Training(), test_size=0.25, printer=printer)
    printer.summary(summary)
    printer.report(summary, out)
    printer.say(
        "\nWhat to try next\n"
        "  rulecover explain YOUR.csv --target COLUMN   the same for data of your own\n"
        "  … --method cover                             rules that cover every row, with a proof of how few suffice\n"
        "  rulecover explain --help                     what can be set, with examples\n"
        "  rulecover.explain(model, X, y)               in Python, for a model that is already trained"
    )
