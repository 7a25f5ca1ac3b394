"""How texts write dates, as patterns that the regular expressions of all languages read alike."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rulecover.data.dates import DatePart, is_iso

_YEAR, _UP_TO_99 = "([0-9]{4})", "([0-9]{1,2})"
_HOUR, _SIXTIETH = "([01]?[0-9]|2[0-3])", "([0-5]?[0-9])"
_ZONE = "(?: ?(?:Z|([+-](?:[01][0-9]|2[0-3]))(?::?([0-5][0-9]))?))?"
_TIME = f"[T ]{_HOUR}:{_SIXTIETH}(?::{_SIXTIETH}(?:[.][0-9]*)?)?{_ZONE}"
_ISO = f"{_YEAR}-{_UP_TO_99}(?:-{_UP_TO_99}(?:{_TIME})?)?"

#: A pattern, and the numbers of its groups that are the year, the month and the day.
DateText = tuple[str, tuple[int, int, int]]


def date_text(written: str) -> DateText:
    """What a text must match to be a date, as a whole.

    ISO 8601 has five more groups, all of which may be empty: hour, minute, second, and the hours, with their sign, and
    the minutes by which the time is ahead of UTC. What matches is a date unless there is no such month or day.

    Parameters
    ----------
    written
        How the dates were written in training, as in `DatePart`.

    Examples
    --------
    >>> date_text("%d/%m/%Y")
    (' *([0-9]{1,2})/([0-9]{1,2})/([0-9]{4}) *', (3, 2, 1))
    """
    if is_iso(written):
        return f" *{_ISO} *", (1, 2, 3)
    letters = re.findall("%(.)", written)
    year, month, day = (letters.index(letter) + 1 for letter in "Ymd")
    pattern = written.replace(".", "[.]").replace("%Y", _YEAR).replace("%m", _UP_TO_99).replace("%d", _UP_TO_99)
    return f" *{pattern} *", (year, month, day)


def date_texts(inputs: Iterable[object]) -> dict[str, DateText]:
    """What the texts of each column of dates must match, by its name."""
    return {each.name: date_text(each.written) for each in inputs if isinstance(each, DatePart)}
