"""The names that options accept, for classes and for numbers; tests hold them against the library's own tables."""

from enum import StrEnum


class Task(StrEnum):
    CLASSES = "classes"
    NUMBERS = "numbers"


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
