"""Rules as expressions of polars."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import polars as pl
import polars.selectors as cs

from rulecover.data.dates import DatePart, is_iso
from rulecover.data.frames import UNSEEN, ZERO
from rulecover.data.inputs import Coded, Level, TableInput
from rulecover.exceptions import ExportError
from rulecover.export.conditions import Condition, Script
from rulecover.export.date_texts import date_text
from rulecover.export.exported import vote_of
from rulecover.voting.answers import LARGEST_LOG_ODDS


def to_polars(model: Any) -> pl.Expr:
    """An expression that predicts for every row of a polars data frame, lazy ones included.

    Parameters
    ----------
    model
        A fitted model of this package, a `RuleSet` with evidence, or a `Vote`.

    Returns
    -------
    Expr
        A struct named "answer" with the fields ``prediction``; for classes one ``probability_…`` each; ``rules``, the
        numbers of the rules that fired, such as ``0,3``; and ``decided_by``, "rules" or the name of the fallback.

    Raises
    ------
    ExportError
        If a name or a label has a character that polars cannot hold.

    Examples
    --------
    >>> import polars as pl
    >>> from sklearn.datasets import load_iris
    >>> from rulecover import MIRCOClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> answer = to_polars(MIRCOClassifier(random_state=0).fit(X, y))
    >>> pl.DataFrame(X.to_dict("list")).select(answer).unnest("answer")["prediction"].to_list()[:3]
    [0, 0, 0]
    """
    try:
        return _answer(Script(vote_of(model)))
    except UnicodeEncodeError as error:
        bad = error.object[error.start]
        raise ExportError(f"{error.object!r} has a character that polars cannot hold ({bad!r}); rename it.") from None


def _answer(script: Script) -> pl.Expr:
    """The steps of the script; each adds fields to a struct, which later steps read."""
    steps = [
        _met,
        _votes_of_fired,
        _near,
        _tally,
        _votes_or_totals,
        *_probabilities(script),
        _answered,
    ]
    rows = pl.struct(
        pl.int_range(pl.len()).alias("row"), *(_feature(each).alias(f"x{f}") for f, each in script.inputs.items())
    )
    done = reduce(lambda made, step: made.struct.with_fields(**step(script)), steps, rows)
    return done.struct.field("answer")


def _feature(each: TableInput) -> pl.Expr:
    if isinstance(each, DatePart):
        return _date_part(each).cast(pl.Float64)
    given = cs.by_name(each.name).as_expr()  # names of pl.col may be patterns
    if isinstance(each, Level):
        return _level(given, each.level).cast(pl.Float64)
    if isinstance(each, Coded):
        return _code(given, each)
    # A cast alone would take dates and texts for numbers; a sum complains.
    number = (given + pl.lit(0.0, dtype=pl.Float64)).cast(pl.Float64).fill_nan(None)
    return pl.when(number.abs() > ZERO).then(number) if each.zero_missing else number


def _level(given: pl.Expr, level: str | None) -> pl.Expr:
    if level is None:
        return given.is_null()
    # Truth values are written in small letters here.
    names = [level, level.lower()] if level in ("True", "False") else [level]
    return given.cast(pl.String).is_in(names).fill_null(False)


def _code(given: pl.Expr, each: Coded) -> pl.Expr:
    if not each.codes:  # only whether there is a value matters; as texts, numbers that are missing are NaN
        return pl.when(given.cast(pl.String).fill_null("NaN") != "NaN").then(pl.lit(UNSEEN))
    texts = isinstance(each.codes[0][0], str)
    known = given.cast(pl.String) if texts else given.cast(pl.Float64).fill_nan(None)
    code = pl.lit(UNSEEN)
    for label, number in each.codes:
        code = pl.when(known == label).then(number).otherwise(code)
    return pl.when(known.is_not_null()).then(code)


def _date_part(each: DatePart) -> pl.Expr:
    moment = _moment(each)
    if each.part in ("year", "month", "weekday"):
        found: pl.Expr = getattr(moment.dt, each.part)()
        return found
    return _divided((moment.dt.timestamp("us") // 1_000_000).cast(pl.Float64), 86400.0)


def _moment(each: DatePart) -> pl.Expr:
    """The dates of a column, whatever its type: a selector of other types is empty, and `coalesce` is given nothing."""
    moments, nothing = cs.date() | cs.datetime(time_zone=None), cs.by_dtype(pl.Null)
    as_such = (cs.by_name(each.name) & (moments | nothing)).as_expr().cast(pl.Datetime("us"))
    # Columns of other types are in the way of functions of texts, and the error has their name.
    return pl.coalesce(as_such, _parsed((cs.by_name(each.name) - moments - nothing).as_expr(), each))


def _parsed(given: pl.Expr, each: DatePart) -> pl.Expr:
    """Dates from texts, empty ones being missing; any other that is not a date is an error that shows it.

    These are functions of the one column, so that there are none where it is not selected.
    """
    pattern, (year, month, day) = date_text(each.written)
    rest = "0${4}:0${5}:0${6} ${7}:0${8}" if is_iso(each.written) else "0:0:0 :0"
    text = (
        given.str.extract_groups("^((?s:.+))$")
        .struct.field("1")
        .alias(each.name)
        .str.replace(f"^{pattern}$", f"date ${{{year}}}-${{{month}}}-0${{{day}}} {rest}")
    )
    # What is empty becomes the first day, midnight, and UTC; other numbers lose the 0 in front of them.
    for found, by in (("-0 ", "-1 "), (" :0$", " +00:00"), (":0$", ":00")):
        text = text.str.replace(found, by)
    text = text.str.replace_all(r"\b0([0-9]{2})\b", "${1}")
    return text.str.to_datetime("date %Y-%m-%d %H:%M:%S %z", time_unit="us").dt.replace_time_zone(None)


def _met(script: Script) -> dict[str, pl.Expr]:
    """How many conditions of each rule are met."""
    return {
        f"met{j}": pl.sum_horizontal(pl.lit(0), *(_condition(condition).cast(pl.Int32) for condition in rule))
        for j, rule in enumerate(script.conditions)
    }


def _condition(condition: Condition) -> pl.Expr:
    x = pl.field(f"x{condition.feature}")
    if condition.impossible:
        return x.is_null() if condition.missing else pl.lit(False)
    if condition.codes is not None:
        found = x.is_in(list(condition.codes))
        known = ~found if condition.others else found
    else:
        known = x.is_not_null()
        known = known if condition.above is None else known & (x > condition.above)
        known = known if condition.up_to is None else known & (x <= condition.up_to)
    return known.fill_null(condition.missing) | (x.is_null() & condition.missing)


def _votes_of_fired(script: Script) -> dict[str, pl.Expr]:
    """The votes of the rules that fire, their numbers, and the largest share of conditions that are met."""
    fires = [pl.field(f"met{j}") == size for j, size in enumerate(script.sizes)]
    sums = {f"votes{k}": _sum(script.votes, k, fires) for k in range(len(script.base))}
    numbers = [pl.when(fire).then(pl.lit(f",{j}")).otherwise(pl.lit("")) for j, fire in enumerate(fires)]
    sums["fired"] = pl.any_horizontal(fires)
    sums["list"] = pl.concat_str(numbers).str.slice(1)
    sums["best"] = pl.max_horizontal(_shares(script))
    return sums


def _shares(script: Script) -> list[pl.Expr]:
    return [_divided(pl.field(f"met{j}").cast(pl.Float64), float(max(size, 1))) for j, size in enumerate(script.sizes)]


def _divided(numbers: pl.Expr, by: float) -> pl.Expr:
    """A quotient that is rounded once: polars multiplies by the reciprocal of a number, but divides by a column."""
    return numbers / (numbers * 0.0 + by)


def _sum(votes: list[list[float]], k: int, votes_if: list[pl.Expr]) -> pl.Expr:
    sums = [pl.when(each).then(vote[k]).otherwise(0.0) for each, vote in zip(votes_if, votes, strict=True) if vote[k]]
    return pl.sum_horizontal(pl.lit(0.0), *sums)


def _near(script: Script) -> dict[str, pl.Expr]:
    """The votes of the fallback."""
    begin = script.base if script.fallback_adds_to_base else [0.0] * len(script.base)
    if script.answered_by == "closest":
        nearest = [share == pl.field("best") for share in _shares(script)]
        return {f"near{k}": base + _sum(script.fallback_votes, k, nearest) for k, base in enumerate(begin)}
    if script.answered_by == "all":
        met = [pl.field(f"met{j}").cast(pl.Float64) for j in range(len(script.sizes))]
        each = script.votes_each
        return {
            f"near{k}": base + pl.sum_horizontal(pl.lit(0.0), *(count * each[j][k] for j, count in enumerate(met)))
            for k, base in enumerate(begin)
        }
    return {f"near{k}": pl.lit(vote) for k, vote in enumerate(script.constant or script.base)}


def _tally(script: Script) -> dict[str, pl.Expr]:
    return {
        f"votes{k}": pl.when(pl.field("fired")).then(pl.field(f"votes{k}") + base).otherwise(pl.field(f"near{k}"))
        for k, base in enumerate(script.base)
    }


def _votes_or_totals(script: Script) -> dict[str, pl.Expr]:
    """The votes, those of all training data where there are none."""
    if script.always_has_votes:
        return {}
    has_votes = _total(script) > 0
    return {
        f"votes{k}": pl.when(has_votes).then(pl.field(f"votes{k}")).otherwise(total)
        for k, total in enumerate(script.totals)
    }


def _total(script: Script) -> pl.Expr:
    votes = [pl.field(f"votes{k}") for k in range(len(script.base))]
    return pl.sum_horizontal(votes) if script.classes else votes[1]


def _probabilities(script: Script) -> list[Callable[[Script], dict[str, pl.Expr]]]:
    """The steps from votes to probabilities."""
    if script.log_odds is not None:
        return [_odds, _shared_odds]
    return [_surplus, _nearest] if script.nearest else [_shared]


def _shared(script: Script) -> dict[str, pl.Expr]:
    """Probabilities: the shares of the votes."""
    return {f"share{k}": pl.field(f"votes{k}") / _total(script) for k in range(len(script.base))}


def _odds(script: Script) -> dict[str, pl.Expr]:
    """How likely each class is relative to the likeliest one."""
    assert script.log_odds is not None
    votes = [pl.field(f"votes{k}") for k in range(len(script.base))]
    below = [script.log_odds * (vote - pl.max_horizontal(votes)) for vote in votes]
    return {f"odds{k}": pl.max_horizontal(each, pl.lit(-LARGEST_LOG_ODDS)).exp() for k, each in enumerate(below)}


def _shared_odds(script: Script) -> dict[str, pl.Expr]:
    """Probabilities: the shares of the odds."""
    odds = [pl.field(f"odds{k}") for k in range(len(script.base))]
    return {f"share{k}": each / pl.sum_horizontal(odds) for k, each in enumerate(odds)}


def _surplus(script: Script) -> dict[str, pl.Expr]:
    """By how much the votes that are as large as that for a class exceed 1, each of them by the same amount."""
    votes = [pl.field(f"votes{k}") for k in range(len(script.base))]
    large = [[other >= vote for other in votes] for vote in votes]
    sums = [
        pl.sum_horizontal(pl.when(same).then(other).otherwise(0.0) for same, other in zip(mine, votes, strict=True))
        for mine in large
    ]
    numbers = [pl.sum_horizontal(same.cast(pl.Float64) for same in mine) for mine in large]
    return {f"surplus{k}": (sums - 1.0) / n for k, (sums, n) in enumerate(zip(sums, numbers, strict=True))}


def _nearest(script: Script) -> dict[str, pl.Expr]:
    """Probabilities: the shares that are nearest to the votes."""
    surplus = pl.max_horizontal([pl.field(f"surplus{k}") for k in range(len(script.base))])
    return {
        f"share{k}": pl.max_horizontal(pl.field(f"votes{k}") - surplus, pl.lit(0.0)) for k in range(len(script.base))
    }


def _answered(script: Script) -> dict[str, pl.Expr]:
    votes = [pl.field(f"votes{k}") for k in range(len(script.base))]
    if script.classes:
        first, most = pl.lit(None), pl.max_horizontal(votes)
        for vote, label in reversed(list(zip(votes, script.classes, strict=True))):
            first = pl.when(vote == most).then(pl.lit(label)).otherwise(first)
        values = [first, *(pl.field(f"share{k}") for k in range(len(votes)))]
    else:
        centre, unit = script.scale or (0.0, 1.0)
        values = [centre + unit * (votes[0] / votes[1])]
    decided_by = pl.when(pl.field("fired")).then(pl.lit("rules")).otherwise(pl.lit(script.fallback))
    values += [pl.field("list"), decided_by]
    return {"answer": pl.struct(value.alias(title) for title, value in zip(script.outputs, values, strict=True))}
