"""The commands: what each is for, and its options. The file of a command is imported when it runs."""

from __future__ import annotations

from dataclasses import dataclass

from rulecover.cli.options import table
from rulecover.cli.options.table import Options


@dataclass(frozen=True)
class Command:
    """What a command is for, its options, and the names of those that its help shows; all if there are none."""

    help: str
    options: Options
    common: tuple[str, ...] = ()


COMMANDS = {
    "demo": Command(
        """Show it all in a few seconds: rules of a forest on breast cancer data that come with scikit-learn.

        569 biopsies, 30 measurements of cell nuclei each, benign or malignant. Nothing is downloaded.
        """,
        table.DEMO,
    ),
    "example": Command(
        """Write a small real table to try the other commands on: 344 penguins, with text and missing values.

        Three species on three islands; collected by Kristen Gorman and the Palmer Station Antarctica LTER, in the
        public domain (CC0).

        \b
        Examples:
          rulecover example > penguins.csv
          rulecover example --part held-out --out held-out.csv
        """,
        table.EXAMPLE,
    ),
    "explain": Command(
        """Explain a table by a few rules that people can read.

        A forest is trained on a part of the rows, and a few of its rules are chosen: at most 15 that predict as well as
        possible (--max-rules for another number), or the fewest that predict almost as well as the forest (--within).
        They are checked on the other rows, next to the forest, a decision tree and other rules. --method cover chooses
        rules that cover every training row, with a certificate: how few any such choice could have. --save writes the
        rules that were checked.

        Text columns become clauses such as colour = red, and missing values are used as they are. A target with
        many different numbers is predicted as a number.

        \b
        Examples:
          rulecover example > penguins.csv
          rulecover explain penguins.csv --target species
          rulecover explain penguins.csv -t sex --drop year --report penguins.html
          rulecover explain penguins.csv -t sex --max-rules 5 --save model.json
          rulecover explain penguins.csv -t sex --method cover --solver exact --time-limit 30
          rulecover explain penguins.csv -t sex --within 0.01
          rulecover explain penguins.csv -t body_mass_g
        """,
        table.EXPLAIN,
        table.COMMON_OF_EXPLAIN,
    ),
    "fit": Command(
        """Train on every row of a table, and write the rules to a file that predict, why, report and export read.

        The figures are those of rules that are trained in the same way in each fold of a cross-validation.

        \b
        Examples:
          rulecover fit penguins.csv --target species --out model.json
          rulecover fit penguins.csv -t species --model booster.json
          rulecover fit penguins.parquet -t species --method boost --calls 30
          rulecover fit penguins.csv -t species --max-rules 10 --forbid island
        """,
        table.FIT,
        table.COMMON_OF_FIT,
    ),
    "predict": Command(
        """Predict for every row of a table, a part at a time: it may be larger than memory.

        The columns of the output are prediction, a probability for each class, the numbers of the rules that fired,
        and what decided: the rules or the fallback. The table needs only the columns that the rules use.

        \b
        Examples:
          rulecover predict model.json penguins.csv --keep island --out predictions.csv
          rulecover predict model.json new.parquet --out predictions.parquet
          zcat new.csv.gz | rulecover predict model.json - | head
        """,
        table.PREDICT,
        table.COMMON_OF_PREDICT,
    ),
    "why": Command(
        """Explain a prediction: the rules that cover a row and their votes, or how the fallback decided.

        \b
        Example:
          rulecover why model.json penguins.csv --row 17
        """,
        table.WHY,
        table.COMMON_OF_WHY,
    ),
    "report": Command(
        """Report on a model: its rules, and its figures on labelled rows that it was not trained on.

        The report is one file that works offline.

        \b
        Example:
          rulecover report model.json held-out.csv --target species --out report.html
        """,
        table.REPORT,
        table.COMMON_OF_REPORT,
    ),
    "certify": Command(
        """Count what each rule of a model covers in a table, and say whether every row is covered.

        Files are read a part at a time. A table of a database is counted there: --database shop.duckdb --table orders;
        --dialect prints the query for other databases.

        \b
        Examples:
          rulecover certify model.json --table penguins.csv --target species
          rulecover certify model.json --table public.customers --dialect postgres
        """,
        table.CERTIFY,
    ),
    "export": Command(
        """Write a model as SQL, Python, JavaScript, pandas, PMML or ONNX; every one predicts as the model does.

        Or for people: its rules as a table in text, Markdown or LaTeX, or as English sentences.

        \b
        Examples:
          rulecover export model.json --to sql --dialect postgres --table public.customers --keep id
          rulecover export model.json --to javascript --out rules.js
          rulecover export model.json --to onnx --out rules.onnx
          rulecover export model.json --to sentences
        """,
        table.EXPORT,
    ),
    "study": Command(
        """Run the numerical study of the paper: 10 x 4 nested cross-validation, tables, figures.

        Results are appended to a file as they come. --resume continues a run that was stopped or killed, or in which
        some cells failed.

        \b
        Examples:
          rulecover study mirco --data DIR --datasets wine,seeds --jobs 2
          rulecover study all --data DIR --out results --resume
        """,
        table.STUDY,
    ),
}
