"""Rules counted and proved on a table that stays where it is."""

from __future__ import annotations

from typing import Any

import narwhals as nw

from rulecover.counting.certificate import TableCertificate
from rulecover.counting.frames import counted, rules_alone
from rulecover.exceptions import MismatchedDataError


def certify(model: Any, table: Any, *, target: str | None = None) -> TableCertificate:
    """How many rows of a table each rule covers, and the proof that every row is covered, or how many are not.

    The rows are counted in one pass by the library or database that the table belongs to; none of them is fetched.

    Parameters
    ----------
    model
        A fitted model of this package, a `RuleSet` with evidence, or a `Vote`.
    table
        A frame of pandas, polars (lazy ones too) or Arrow, or a DuckDB relation. Others that narwhals supports, such as
        PySpark and Ibis tables, are taken but not tested. For other databases,
        `rulecover.counting.query.counting_query` writes the query.
    target
        The column with the true classes or numbers, if the table has it.

    Returns
    -------
    TableCertificate
        See its ``is_cover``, ``support``, ``precision`` and ``to_frame``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rulecover import MIRCOClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> mirco = MIRCOClassifier(max_rules=2, random_state=0).fit(X, y)
    >>> certify(mirco, X).is_cover
    False
    """
    try:
        frame = nw.from_native(table)
    except TypeError as error:
        raise MismatchedDataError(
            f"the table is a {type(table).__name__}; give a data frame of pandas, polars or Arrow, a DuckDB relation, "
            "or a PySpark or Ibis table."
        ) from error
    return counted(rules_alone(model), frame, target)
