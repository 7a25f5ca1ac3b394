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


class Format(StrEnum):
    SQL = "sql"
    PYTHON = "python"
    JAVASCRIPT = "javascript"
    PANDAS = "pandas"
    PMML = "pmml"
    ONNX = "onnx"


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
