"""The names that options accept, for classes and for numbers; tests hold them against the library's own tables."""

from enum import StrEnum


class Task(StrEnum):
    CLASSES = "classes"
    NUMBERS = "numbers"


class Method(StrEnum):
    COVER = "cover"
    PATH = "path"


class Solver(StrEnum):
    GREEDY = "greedy"
    SEARCH = "search"
    EXACT = "exact"
    FORWARD = "forward"


class Criterion(StrEnum):
    GINI = "gini"
    ENTROPY = "entropy"
    LOG_LOSS = "log_loss"
    SQUARED_ERROR = "squared_error"


class Vote(StrEnum):
    COUNTS = "counts"
    SHARES = "shares"
    FITTED = "fitted"
    EQUAL = "equal"
    SUPPORT = "support"
    PRECISION = "precision"


class Fallback(StrEnum):
    CLOSEST = "closest"
    ALL = "all"
    MAJORITY = "majority"
    MODEL = "model"
    MEAN = "mean"


class Trainer(StrEnum):
    MIRCO = "mirco"
    RCBOOST = "rcboost"
    PATH = "path"


class Choose(StrEnum):
    ONE_SE = "one-se"
    BEST = "best"
    LAST = "last"


class Pricing(StrEnum):
    TREE = "tree"
    FOREST = "forest"
    BINNED = "binned"
    BICRITERIA = "bicriteria"
    EXACT = "exact"


class Duals(StrEnum):
    EQUAL = "equal"
    VERTEX = "vertex"


class Admit(StrEnum):
    ALL = "all"
    BEST = "best"


class Remove(StrEnum):
    STALE = "stale"


class RuleWeights(StrEnum):
    Z = "z"


class EstimatorWeights(StrEnum):
    COST = "cost"
    VOTE = "vote"
    BOTH = "both"
    NONE = "none"


class OnInterrupt(StrEnum):
    RAISE = "raise"
    KEEP = "keep"


class Preset(StrEnum):
    AS_IN_PAPER = "as-in-paper"
    FEW_RULES = "few-rules"


class Format(StrEnum):
    SQL = "sql"
    PYTHON = "python"
    JAVASCRIPT = "javascript"
    PANDAS = "pandas"
    PMML = "pmml"
    ONNX = "onnx"
    TEXT = "text"
    MARKDOWN = "markdown"
    LATEX = "latex"
    SENTENCES = "sentences"


class SqlDialect(StrEnum):
    POSTGRES = "postgres"
    SQLITE = "sqlite"
    DUCKDB = "duckdb"
    BIGQUERY = "bigquery"
    SNOWFLAKE = "snowflake"
    SPARK = "spark"
    TSQL = "tsql"


class ShippedFallback(StrEnum):
    CLOSEST = "closest"
    ALL = "all"
    MAJORITY = "majority"
    MEAN = "mean"
