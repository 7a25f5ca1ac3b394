"""The names that options accept; tests hold them against the library's own tables."""

from enum import StrEnum


class Method(StrEnum):
    COVER = "cover"
    PATH = "path"


class Solver(StrEnum):
    GREEDY = "greedy"
    SEARCH = "search"
    EXACT = "exact"


class Criterion(StrEnum):
    GINI = "gini"
    ENTROPY = "entropy"
    LOG_LOSS = "log_loss"


class Vote(StrEnum):
    COUNTS = "counts"
    SHARES = "shares"


class Fallback(StrEnum):
    CLOSEST = "closest"
    ALL = "all"
    MAJORITY = "majority"
    MODEL = "model"


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
