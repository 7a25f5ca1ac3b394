"""The one table of options: a new setting is one line here.

Parameters of the commands, checks of what goes with which method and the settings of estimators are made from it.
`rulecover explain` has some of the options of `rulecover fit`, with longer texts.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from rulecover.cli.options.choices import Format, MethodName, Preset, SqlDialect, StudyName, TaskName
from rulecover.cli.options.option import REQUIRED, Argument, Option
from rulecover.cli.options.parsers import (
    CLASS_DEMAND,
    CLASS_WEIGHT,
    METHOD,
    NUMBER_OR_NONE,
    SEED,
    THRESHOLD,
    WHOLE_OR_NONE,
    number_from,
    whole_from,
    workers,
)

Options = tuple[Argument | Option, ...]

DATA, MODEL, FOREST, RULES = "The data", "The model", "The forest", "The rules"
OUTPUT, SQL, WORK = "The output", "SQL", "The work"
COVERS, BOOSTING, PATHS = "Covers (--method cover)", "Boosting (--method boost)", "Paths (--method path)"

ANY, PATH, COVER, BOOST = tuple(MethodName), (MethodName.PATH,), (MethodName.COVER,), (MethodName.BOOST,)
COVER_BOOST, COVER_PATH = COVER + BOOST, COVER + PATH

WHOLE, NUMBER = whole_from(1), number_from(0.0)
SHARE, SECONDS = number_from(0.0, metavar="SHARE"), number_from(0.001, metavar="SECONDS")

#: Options by heading; those under the heading of a method apply to that method only.
_data, _model, _forest, _rules, _output, _sql, _work = (
    partial(Option, group=group) for group in (DATA, MODEL, FOREST, RULES, OUTPUT, SQL, WORK)
)
_cover = partial(Option, group=COVERS, methods=COVER)
_boost = partial(Option, group=BOOSTING, methods=BOOST)
_path = partial(Option, group=PATHS, methods=PATH)

# Options of several commands ------------------------------------------------------------------------------------------

MODEL_FILE = Argument("model", "MODEL", "A model that rulecover fit wrote; - for standard input.", Path, "read")
DATA_FILE = Argument(
    "data", "DATA", "A CSV, Parquet or Excel file, also compressed; - for standard input.", Path, "read"
)
DEBUG = _output("debug", bool, "On an error, show where it came from.", False)
QUIET = _output("quiet", bool, "Print only the result.", False, typed=("--quiet", "-q"))
#: How a file is read; see `tables.reading`.
READING: Options = (
    _data("separator", str, "The character between cells.", shown="guessed from the first lines", metavar="CHAR"),
    _data("encoding", str, "How letters are encoded, such as cp1252.", shown="guessed", metavar="NAME"),
    _data("sheet", str, "The sheet of an Excel file, or the file in a zip archive.", shown="the first", metavar="NAME"),
    _data("no_header", bool, "The first line is a row: columns are column_1, column_2 and so on.", False),
    _data("decimal", str, "The decimal mark: . or ,", shown="by the cells of each column", metavar="MARK"),
    _data("thousands", str, "The mark between groups of three digits.", shown="by the cells", metavar="MARK"),
    _data(
        "missing_values",
        str,
        "What cells have where nothing is known, such as unknown, next to an empty cell, NA and the like; may be "
        "repeated.",
        metavar="TEXT",
        many=True,
    ),
)
TARGET = Option(
    "target", str, "The column to predict: a class or a number.", typed=("--target", "-t"), metavar="COLUMN"
)
TASK = _data(
    "task",
    TaskName,
    "Whether the target is taken as classes or as numbers.",
    shown="classes unless it has many different numbers",
)
DROP = _data("drop", str, "A column to leave out; may be repeated.", metavar="COLUMN", many=True)
KEEP_IDS = _data("keep_ids", bool, "Use columns that look like ids, which are left out otherwise.", False)
MAX_LEVELS = _data(
    "max_levels",
    whole_from(2),
    "Different values of a text column; the rarest of more are taken together.",
    50,
)
METHOD_OF_RULES = Option(
    "method",
    METHOD,
    "path: the rules that explain most, one after another, with fitted votes: the most accurate small rule set. cover: "
    "rules that cover every training row, with a proof of how few they could be. boost: a pool of rules grown by "
    "boosting, or of those of a trained model.",
    MethodName.PATH.value,
)
SEED_OF_RULES = _forest("seed", SEED, "Same seed, same rules.", 0, setting="random_state")
JOBS = _forest(
    "jobs", workers("threads"), "Threads; -1 takes every core. The rules stay the same.", 1, setting="n_jobs"
)
SAVED_MODEL: Options = (
    _model("edited", bool, "Take a model file that was edited by hand after it was written.", False),
    _model("max_model_size", number_from(0.0), "The largest model file to read, in megabytes.", 100.0, metavar="MB"),
)


def _out(text: str, default: str) -> Option:
    return _output("out", Path, text, Path(default), typed=("--out", "-o"), metavar="FILE", file="written")


def _columns(name: str, typed: str, text: str, **settings: Any) -> Option:
    text = f"{text}; may be repeated."
    return _path(name, str, text, typed=(typed,), metavar="COLUMN", many=True, **settings)


# fit: every setting of the estimators ---------------------------------------------------------------------------------

#: Settings of methods; none has a value where it is not given.
SETTINGS: tuple[Option, ...] = (
    _forest("trees", WHOLE, "Trees (cover, path).", shown="100", methods=COVER_PATH, setting=""),
    _forest("depth", WHOLE, "Depth of the trees.", shown="10; 5 for boosting with numbers", methods=ANY, setting=""),
    _rules(
        "preset",
        Preset,
        "A named set of settings; options that you give take precedence. as-in-paper: covers, and boosting of classes, "
        "as they are printed there. few-rules: boosting at its best with at most --max-rules (100) rules. accurate: "
        "covers of classes at their best, every row covered three times.",
        methods=COVER_BOOST,
        setting="",
    ),
    _rules(
        "max_rules",
        WHOLE_OR_NONE,
        "The most rules there may be; none: no limit (cover, boost). With boost, as in --preset few-rules.",
        shown="15 in a path, or 3 per class, and 50 with --within; 20 in a cover of numbers; no limit otherwise",
        methods=ANY,
    ),
    _rules(
        "vote",
        ("counts", "shares", "fitted", "log-odds", "equal", "support", "precision"),
        "What a rule adds for each class, or its weight in a mean (path: log-odds or fitted); see explain.",
        shown="log-odds; shares for boost; fitted values for numbers",
        methods=ANY,
    ),
    _rules(
        "fallback",
        ("closest", "all", "majority", "mean"),
        "What predicts for a row that no rule covers (cover, boost).",
        shown="closest; mean for numbers",
        methods=COVER_BOOST,
    ),
    _rules(
        "criterion",
        ("gini", "entropy", "log_loss", "squared_error"),
        "How the impurity of a rule is measured (cover, boost).",
        shown="gini; squared_error for numbers",
        methods=COVER_BOOST,
    ),
    _rules(
        "threshold",
        THRESHOLD,
        "From which probability on the rarer of two classes is predicted, chosen in folds of the training rows: "
        "recall=0.8 finds 80 % of it, precision=0.6 makes 60 % of its predictions right, cost=5 takes a missed row for "
        "as bad as 5 false alarms.",
        shown="one half",
        methods=ANY,
        setting="",
    ),
    _rules(
        "class_weight",
        CLASS_WEIGHT,
        "balanced: every class counts the same, however few rows it has. CLASS=X: the weight of a row of that class; "
        "may be repeated.",
        shown="every row counts the same",
        many=True,
        methods=ANY,
    ),
    _rules(
        "scale",
        NUMBER,
        "For numbers: the squared error that costs as much as a rule (cover, boost).",
        shown="the variance",
        methods=COVER_BOOST,
    ),
    _rules(
        "min_samples",
        NUMBER,
        "The fewest rows that a rule covers (path; cover for numbers, where it is a share if below 1).",
        shown="2; by the number of rows for a cover of numbers",
        methods=COVER_PATH,
    ),
    _rules(
        "ridge",
        NUMBER_OR_NONE,
        "Higher: smaller votes (path; cover for numbers, where none uses plain means).",
        shown="5; 0.5 for log-odds",
        methods=COVER_PATH,
    ),
    _rules(
        "time_limit",
        SECONDS,
        "For everything once the table is read, figures in folds included. The best so far is kept, and a note says "
        "what was cut.",
        shown="the method's own",
        methods=ANY,
    ),
    _rules(
        "checkpoint",
        Path,
        "Keep what is done so far in this file, and go on from it if the command was killed; it is removed at the end. "
        "For a cover, with --solver exact.",
        metavar="FILE",
        methods=ANY,
        file="written",
    ),
    _cover(
        "solver",
        ("greedy", "search", "exact", "forward"),
        "How rules are chosen; see explain.",
        shown="greedy; forward for numbers",
    ),
    _cover(
        "demand",
        CLASS_DEMAND,
        "Rules that must cover each row. CLASS=N: each row of that class; may be repeated.",
        shown="1",
        many=True,
    ),
    _cover("impurity_weight", NUMBER, "Price of impurity; see explain.", shown="2; 1 for numbers"),
    _cover("length_weight", NUMBER, "Price of a clause; see explain.", shown="0"),
    _cover(
        "prune",
        ("yes", "no", "held-out"),
        "Whether to drop clauses that are not needed, and to cover again. held-out: unless it costs accuracy in "
        "three-fold cross-validation. For classes.",
        shown="yes",
    ),
    _cover(
        "estimator_weights",
        ("cost", "vote", "both", "none"),
        "Where the weights that a booster gives to its trees and leaves are used (--model).",
        shown="both",
    ),
    _boost(
        "max_rmp_calls",
        whole_from(0),
        "Calls of boosting, each of which adds trees.",
        shown="5 with forests, 50 otherwise",
        typed=("--calls",),
    ),
    _boost(
        "pricing",
        ("tree", "forest", "binned", "bicriteria", "exact"),
        "Where new rules come from.",
        shown="forest; tree for numbers",
    ),
    _boost("duals", ("equal", "vertex", "near"), "Which duals weigh the rows.", shown="equal"),
    _boost(
        "step",
        NUMBER,
        "The factor by which duals enter the weights of rows; 1 in the paper.",
        shown="so that a call adds a tenth of the weight",
    ),
    _boost("admit", ("all", "best"), "Which rules of a new tree enter the pool.", shown="all"),
    _boost("remove", ("stale",), "stale: rules whose reduced cost stays high leave the pool.", shown="rules stay"),
    _boost("rule_weights", ("z",), "z: rules vote by their share in the optimum.", shown="all the same"),
    _boost(
        "early_stopping",
        WHOLE,
        "Stop after this many calls without better predictions on a held-out tenth.",
        shown="never",
    ),
    _boost("on_interrupt", ("raise", "keep"), "On Ctrl-C. keep: the rules so far are written.", shown="raise"),
    _path(
        "within",
        NUMBER,
        "The fewest rules that are very likely at most this far below the forest, by cross-validation.",
    ),
    _path(
        "choose",
        ("one-se", "best", "last"),
        "How many rules to take, by cross-validation.",
        shown="one-se; best for a rare class",
    ),
    _path(
        "scoring",
        str,
        "The score by which the number of rules is chosen: a name that scikit-learn knows, such as average_precision.",
        shown="neg_brier_score; neg_log_loss for a rare class; accuracy with --within; r2 for numbers",
        metavar="NAME",
    ),
    _path(
        "gain",
        ("squares", "log-loss"),
        "By what the next rule is chosen, for classes.",
        shown="squares; log-loss for more than two classes",
    ),
    _path("cv", whole_from(2), "Folds of the cross-validation.", shown="5"),
    _path(
        "max_depth",
        WHOLE,
        "How deep in the trees to look for rules; see --depth.",
        shown="8; with fewer than 2,000 rows 4 for two classes, 6 for nine or more; 3 in bins",
    ),
    _path(
        "n_bins", whole_from(2), "Bins per column, cut at round numbers.", shown="as the trees split", typed=("--bins",)
    ),
    _path(
        "pool",
        ("forest", "boosted", "both"),
        "Take the rules of a forest, of boosted trees or of both, as in Python, where both are the default for more "
        "than two classes and for numbers.",
        shown="a forest of --trees and --depth",
    ),
    _path("max_clauses", WHOLE, "The most clauses in a rule.", shown="no limit"),
    _path(
        "model_share",
        number_from(0.0, 1.0),
        "The weight of the forest's predictions, next to the target, when rules are fitted.",
        shown="0.5; by noise for numbers",
    ),
    _path(
        "shrinkage",
        NUMBER,
        "Higher: rules that cover many rows come first.",
        shown="a twentieth of the rows, at most 50",
    ),
    _path("tries", whole_from(0), "How many rules are shortened at each step before one is chosen.", shown="5"),
    _columns("forbidden", "--forbid", "A column that no rule may use"),
    _columns("required", "--require", "A column that some rule must use"),
    _columns("rising", "--rising", "A column that must not lower the prediction as it grows", setting="monotone"),
    _columns("falling", "--falling", "A column that must not raise the prediction as it grows", setting="monotone"),
    _path(
        "keep",
        Path,
        "Rules that stay in: a model that fit wrote (.json), or a text file with one rule per line, such as age > 30 "
        "and colour = red.",
        metavar="FILE",
        file="read",
    ),
)

FIT: Options = (
    *(DATA_FILE, TARGET),
    Option(
        "model",
        Path,
        "A trained model whose rules are chosen from, in place of a forest: a file of XGBoost (JSON), LightGBM (text) "
        "or CatBoost (JSON). The table must have its columns; nothing is trained, no library is needed.",
        metavar="FILE",
        file="read",
    ),
    METHOD_OF_RULES,
    *(TASK, DROP, KEEP_IDS, MAX_LEVELS, *READING),
    *SETTINGS,
    *(SEED_OF_RULES, JOBS),
    _output(
        "folds",
        whole_from(0),
        "Folds of a cross-validation in which everything is trained again, for the figures; 0 leaves them out.",
        3,
    ),
    *(_out("Where to write the model, as JSON; - for standard output.", "model.json"), QUIET, DEBUG),
)

# explain: the few settings that matter most, in more words ------------------------------------------------------------


def _in_explain(name: str, text: str, **changed: Any) -> Option:
    """A setting of fit, in other words."""
    setting = next(each for each in SETTINGS if each.name == name)
    group = setting.group if setting.group == FOREST else RULES
    return replace(setting, text=text, group=group, **changed)


EXPLAIN: Options = (
    *(DATA_FILE, TARGET, TASK, DROP, KEEP_IDS),
    _data("test_size", SHARE, "Share of the rows to hold out for the figures.", 0.25),
    *(MAX_LEVELS, *READING),
    _in_explain("trees", "Trees in the forest.", default=100, shown="", methods=ANY),
    _in_explain("depth", "Depth of its trees: the most clauses in a rule.", default=10, shown=""),
    replace(SEED_OF_RULES, text="Same seed, same split, same forest, same rules."),
    JOBS,
    _in_explain(
        "max_rules",
        "The most rules; in a path, cross-validation finds out how many pay. With --method cover, rows may stay "
        "uncovered; their number is printed.",
        kind=WHOLE,
    ),
    _in_explain(
        "within",
        "The fewest rules whose accuracy (R² for numbers) is at most this far below the forest's, by cross-validation.",
    ),
    replace(METHOD_OF_RULES, group=RULES),
    _in_explain(
        "solver",
        "greedy: milliseconds, the paper's way. search: fewer rules in seconds. exact: the fewest, proved, or the best "
        "found when the time is up. forward, for numbers: those that explain most.",
    ),
    _in_explain(
        "demand",
        "How many rules must cover each row: more rules, steadier votes. CLASS=N: each row of that class; may be "
        "repeated.",
    ),
    _in_explain(
        "vote",
        "What a rule adds for each class: counts (its rows, as in the paper), shares (of its rows), fitted (by least "
        "squares) or log-odds (by logistic regression). For numbers, the weight of a rule in the mean: equal, support "
        "(its rows) or precision.",
    ),
    _in_explain(
        "fallback",
        "What predicts for a row that no rule covers: closest (the rules it almost satisfies), all (every rule, by "
        "its share of satisfied comparisons), majority (the most frequent class), mean (of all rows), model (the "
        "forest).",
        kind=("closest", "all", "majority", "model", "mean"),
    ),
    _in_explain(
        "time_limit",
        "Seconds for everything once the table is read, what rules are compared with included. --refit takes as long "
        "again.",
        shown="the method's own",
    ),
    _in_explain("criterion", "How the impurity of a rule is measured."),
    _in_explain(
        "impurity_weight",
        "A rule costs 1 + this × impurity + length weight × clauses. Higher: purer rules, more of them.",
    ),
    _in_explain("length_weight", "Price of a clause. Higher: shorter rules.", default=0.0, shown=""),
    _in_explain(
        "prune",
        "Whether to drop clauses that are not needed, and to cover again: fewer, shorter rules. For classes.",
        kind=("yes", "no"),
    ),
    *(each for each in SETTINGS if each.name in ("class_weight", "threshold")),
    _output("report", Path, "Write a report to this HTML file.", metavar="FILE", file="written"),
    _output(
        "save",
        Path,
        "Write the rules, exactly as they were checked, to this JSON file, which predict, why, report and export read.",
        metavar="FILE",
        file="written",
    ),
    _output("refit", bool, "With --save: write rules that are trained on all rows instead.", False),
    *(QUIET, DEBUG),
)

# What is done with a model --------------------------------------------------------------------------------------------

PREDICT: Options = (
    *(MODEL_FILE, DATA_FILE),
    _out("Where to write the predictions: a CSV file, a Parquet file by its name, or - for standard output.", "-"),
    _output(
        "keep",
        str,
        "A column of the data to write next to the predictions; may be repeated.",
        metavar="COLUMN",
        many=True,
    ),
    _output(
        "interval",
        SHARE,
        "For numbers, also write lower and upper: the true value should lie between them with this probability, "
        "such as 0.9.",
    ),
    _output(
        "exact",
        bool,
        "Write text to CSV as it is. Otherwise, text that a spreadsheet would run as a formula, such as =1+1, gets "
        "a leading apostrophe.",
        False,
    ),
    *(*READING, QUIET, *SAVED_MODEL, DEBUG),
)

WHY: Options = (
    *(MODEL_FILE, DATA_FILE),
    _data("row", WHOLE, "The row, counted from 1 below the header.", 1),
    *(*READING, *SAVED_MODEL, DEBUG),
)

REPORT: Options = (
    *(MODEL_FILE, DATA_FILE, TARGET, *READING),
    _out("Where to write the report, as HTML; - for standard output.", "report.html"),
    *(QUIET, *SAVED_MODEL, DEBUG),
)

CERTIFY: Options = (
    MODEL_FILE,
    _data(
        "table",
        str,
        "A CSV or Parquet file, - for CSV on standard input; with --database or --dialect a table of a database, a dot "
        "separating it from its schema.",
        REQUIRED,
        metavar="TABLE",
    ),
    *(TARGET, *READING),
    _sql("database", str, "Count in this file of SQLite or DuckDB, or in postgresql://….", metavar="DATABASE"),
    _sql("dialect", SqlDialect, "Print the query that counts in this database."),
    *(*SAVED_MODEL, DEBUG),
)

EXPORT: Options = (
    MODEL_FILE,
    Option("to", Format, "What to write.", REQUIRED),
    _out("Where to write it; - for standard output.", "-"),
    _sql("dialect", SqlDialect, "For sql: the database."),
    _sql("table", str, "For sql: the table; a dot separates it from its schema.", "data", metavar="NAME"),
    _sql(
        "keep",
        str,
        "For sql: a column of the table to return next to the predictions; may be repeated.",
        metavar="COLUMN",
        many=True,
    ),
    *(*SAVED_MODEL, DEBUG),
)

# example, demo and study ----------------------------------------------------------------------------------------------

EXAMPLE: Options = (
    Option(
        "part",
        ("all", "train", "held-out"),
        "Which rows: all, those to train on, or every fourth, held out to check the rules on.",
        "all",
    ),
    replace(_out("Where to write the table; - for standard output.", "-"), group=""),
    replace(DEBUG, group=""),
)

DEMO: Options = (
    Option("out", Path, "Where to write the report.", Path("rulecover-demo.html"), metavar="FILE", file="written"),
    replace(DEBUG, group=""),
)

STUDY: Options = (
    Argument(
        *("which", "STUDY"),
        "mirco: decision tree, forest and MIRCO (Table S.2). rcboost: forest, AdaBoost, gradient boosting and RCBoost "
        "(Table S.3). peers: what people use instead. all: these three. tables: run nothing, make tables of "
        "the results in --out.",
        StudyName,
    ),
    _data(
        "data",
        Path,
        "A folder with one CSV file per data set: header line, class in column 'target'.",
        shown="fetched from OpenML",
        metavar="DIR",
    ),
    _data(
        "datasets",
        str,
        "Which data sets: the paper's, or other CSV files of the folder.",
        shown="the paper's 15",
        metavar="A,B",
        many=True,
    ),
    _data("cache", Path, "Where data from OpenML are kept.", shown="scikit-learn's", metavar="DIR"),
    _work("out", Path, "Where results, tables and figures go.", Path("rulecover-study"), metavar="DIR"),
    _work("resume", bool, "Continue with the results in --out: what is done is kept, failures are tried again.", False),
    _work("jobs", workers("processes"), "Processes; -1 takes every core. The results stay the same.", 1),
    _work(
        "methods", str, "Which methods, instead of those of the study.", shown="the study's", metavar="A,B", many=True
    ),
    _work(
        "own",
        Path,
        "A Python file that registers methods of your own; they run along with the study's.",
        typed=("--with",),
        metavar="FILE.py",
    ),
    _work("seeds", str, "Shuffle the folds and seed the models.", shown="25", metavar="A,B", many=True),
    replace(DEBUG, group=""),
)

# What --help shows; --help-all shows the others, too ------------------------------------------------------------------

#: The options that most people need, by the names of their parameters.
COMMON_OF_FIT = (
    *("data", "target", "model", "method", "task", "drop", "max_rules", "within", "class_weight", "seed"),
    *("jobs", "folds", "out", "quiet"),
)
COMMON_OF_EXPLAIN = (
    *("data", "target", "method", "task", "drop", "test_size", "max_rules", "within", "class_weight", "threshold"),
    *("seed", "report", "save", "refit", "quiet"),
)
COMMON_OF_PREDICT = ("model", "data", "out", "keep", "interval", "exact", "quiet")
COMMON_OF_WHY = ("model", "data", "row")
COMMON_OF_REPORT = ("model", "data", "target", "out", "quiet")
