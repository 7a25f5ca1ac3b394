"""Choices that commands act on; those that are only handed on to an estimator stand in the table of options."""

from enum import StrEnum


class TaskName(StrEnum):
    CLASSES = "classes"
    NUMBERS = "numbers"


class MethodName(StrEnum):
    PATH = "path"
    COVER = "cover"
    BOOST = "boost"


class Preset(StrEnum):
    AS_IN_PAPER = "as-in-paper"
    FEW_RULES = "few-rules"
    ACCURATE = "accurate"


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


class StudyName(StrEnum):
    MIRCO = "mirco"
    RCBOOST = "rcboost"
    PEERS = "peers"
    ALL = "all"
    TABLES = "tables"
