"""The paper's numerical study: its data, methods, folds, tables and figures, open to data and methods of your own."""

from rulecover.study import few_rules as _few  # noqa: F401  all three register their methods,
from rulecover.study import paper_methods as _paper  # noqa: F401
from rulecover.study import peers as _peers  # noqa: F401  before users register theirs
from rulecover.study.datasets import DATASETS, Data, DataSet, load
from rulecover.study.folds import Fold
from rulecover.study.methods import METHODS, Fitted, Method, fitted, register
from rulecover.study.results import Cell, Outcome, ResultsFile
from rulecover.study.run import Study, study
from rulecover.study.tuning import TuningGrid

__all__ = [
    "DATASETS",
    "METHODS",
    "Cell",
    "Data",
    "DataSet",
    "Fitted",
    "Fold",
    "Method",
    "Outcome",
    "ResultsFile",
    "Study",
    "TuningGrid",
    "fitted",
    "load",
    "register",
    "study",
]
