"""Data sets fetched from OpenML, and kept."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from sklearn.datasets import fetch_openml

from rulecover.exceptions import StudyError
from rulecover.study.datasets import TARGET, DataSet


def fetch(entry: DataSet, cache: Path | None) -> Any:
    """A data set of the registry as a table with the class in column ``target``; fetched once, then from the cache."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # about retries
            bunch = fetch_openml(
                data_id=entry.openml,
                target_column=entry.target or "default-target",
                as_frame=True,
                data_home=cache,
                n_retries=1,
                delay=0.5,
            )
    except (
        OSError,
        KeyError,
        ValueError,
    ) as error:  # no network, a server that refuses, or another file than expected
        reason = getattr(error, "reason", error)
        raise StudyError(
            f"{entry.name!r} could not be fetched from OpenML (data set {entry.openml}): {reason}. Without a network, "
            f"put {entry.name}.csv into a folder and name it with --data."
        ) from error
    return bunch.data.iloc[:, entry.drop :].assign(**{TARGET: bunch.target})
