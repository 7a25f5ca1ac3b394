"""Where rules come from: when, by what, from which model and from which rows."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime

from rulecover.data.fingerprint import Fingerprint


@dataclass(frozen=True)
class Provenance:
    """Where rules come from.

    Parameters
    ----------
    date
        The day, as in 2026-11-16, by Greenwich time; see `today`.
    version
        The program and its version.
    made_by
        The estimator with the settings that were changed, or the command.
    seed
        The seed of all random choices; ``None`` if there was none.
    source
        The model that the rules are from.
    n_columns
        How many columns there were to choose from.
    data
        The training rows, by the columns that the rules use.
    """

    date: str
    version: str
    made_by: str
    seed: int | None
    source: str
    n_columns: int
    data: Fingerprint


def today() -> str:
    """The day by Greenwich time; that of the seconds in SOURCE_DATE_EPOCH, if it is set, so that files can be repeated.

    See https://reproducible-builds.org/specs/source-date-epoch/.
    """
    seconds = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = datetime.fromtimestamp(int(seconds), UTC) if seconds.isdigit() else datetime.now(UTC)
    return now.date().isoformat()
