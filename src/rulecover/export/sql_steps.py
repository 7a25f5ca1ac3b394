"""The steps of a script as SQL: each is a SELECT from the one before."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp

from rulecover.data.dates import DatePart
from rulecover.data.frames import UNSEEN, ZERO
from rulecover.data.inputs import Coded, Level, Number, TableInput
from rulecover.data.labels import Label
from rulecover.exceptions import ExportError
from rulecover.export.conditions import LONGEST_NAME, Condition, Script
from rulecover.export.dialects import Dialect, case, column, double, joined, name, text, whole
from rulecover.voting.answers import LARGEST_LOG_ODDS

#: Rules are added up in blocks of this many: databases limit how many columns a query may have.
BLOCK = 400

#: The levels of a column of truth values, and what SQLite keeps in their place.
_TRUTHS = {"False": 0, "True": 1}

#: What steps call their own columns, and what SQLite does not take for a name.
_OUR_TITLES = {"fired", "list", "best", "best_now", "total", "most", "keep_none", "true", "false", "null"}
_OUR_NUMBERED = re.compile(r"(x|keep|rule|votes|near|surplus|odds)_\d+")

Columns = dict[str, exp.Expression]


@dataclass(frozen=True)
class Step:
    """A SELECT from the step before it.

    Parameters
    ----------
    title
        What it is called.
    columns
        What it computes.
    keeps_columns
        Whether the columns of the step before are kept, too.
    groups
        The columns of the step before that rows are grouped by.
    where, at_most
        Which rows of the step before are taken, and how many at most.
    """

    title: str
    columns: Columns
    keeps_columns: bool = False
    groups: tuple[str, ...] = ()
    where: exp.Expression | None = None
    at_most: int | None = None

    @property
    def select(self) -> exp.Select:
        named = [exp.Alias(this=value, alias=name(title)) for title, value in self.columns.items()]
        select = exp.Select(expressions=[exp.Star(), *named] if self.keeps_columns else named)
        if self.where is not None:
            select = select.where(self.where, copy=False)
        if self.groups:
            select = select.group_by(*map(column, self.groups), copy=False)
        return select if self.at_most is None else select.limit(self.at_most, copy=False)


@dataclass(frozen=True, eq=False)
class Steps:
    """What a script does for each row of a table, as steps in SQL.

    Parameters
    ----------
    script
        The rules, votes and fallback.
    dialect
        The database's SQL.
    keep
        Columns of the table that are passed through.
    """

    script: Script
    dialect: Dialect
    keep: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.dialect.check_names(self.columns)
        self.dialect.check_names([*self.keep, *self.script.outputs])
        for kept in self.keep:
            if kept in self.script.outputs:
                raise ExportError(
                    f"the query returns a column {kept!r} of its own, next to which the table's cannot be kept; rename "
                    "that one, or leave it out of keep."
                )

    @cached_property
    def inputs(self) -> dict[int, TableInput]:
        """For each column in use, by number: where its values come from, dates themselves where they can be."""
        return {f: self._input(f, each) for f, each in self.script.inputs.items()}

    def _input(self, f: int, each: TableInput) -> TableInput:
        as_column = isinstance(each, DatePart) and not self.dialect.takes_apart(each)
        return Number(self.script.names[f]) if as_column else each

    @property
    def columns(self) -> list[str]:
        """The columns that the table must have."""
        return list(dict.fromkeys(each.name for each in self.inputs.values()))

    def __call__(self, source: exp.Identifier) -> Iterator[Step]:
        """All steps, the first of them from a table under this name."""
        yield Step("rows", self.rows(source))
        n_rules = len(self.script.votes)
        for b, start in enumerate(range(0, n_rules, BLOCK)):
            block = range(start, min(start + BLOCK, n_rules))
            yield Step(f"rules_{b}", {f"rule_{j}": self._met(j) for j in block}, keeps_columns=True)
            if self._fallback == "closest":
                so_far = [self._ref("best")] if b else []
                best = self.dialect.greatest([*so_far, *(self._share(j) for j in block)])
                yield Step(f"nearest_{b}", {"best_now": best}, keeps_columns=True)
            yield Step(f"votes_{b}", self._kept | self._added(block) | self._for_later(block))
        yield Step("tally", self._kept | self._tally())
        if self.script.nearest:
            yield Step("surplus", self._surplus(), keeps_columns=True)
            surplus = [self._ref(f"surplus_{k}") for k in range(len(self.script.base))]
            yield Step("nearest", {"total": self.dialect.greatest(surplus)}, keeps_columns=True)
        elif self.script.log_odds is not None:
            yield Step("likeliest", {"most": self.dialect.greatest(self._all_votes())}, keeps_columns=True)
            yield Step("likely", self._odds(self.script.log_odds), keeps_columns=True)
            yield Step("with_total", {"total": joined(exp.Add, self._all_odds())}, keeps_columns=True)
        else:
            yield Step("with_total", {"total": self._total()}, keeps_columns=True)
        if not self.script.always_has_votes:
            yield Step("decided", self._kept | self._decided())
        yield Step("answers", self._answers())

    # Rows: every feature as a float or a text, or NULL --------------------------------------------------------------

    def rows(self, source: exp.Identifier) -> Columns:
        """The columns to keep, and those in use as numbers, from a table under this name."""
        kept = {f"keep_{i}": column(title, of=source.copy()) for i, title in enumerate(self.keep)}
        used = {self._title(f): self._feature(f, each, source) for f, each in self.inputs.items()}
        return kept | used or {"keep_none": whole(0)}  # rules that always hold ask for no column

    def _feature(self, f: int, each: TableInput, source: exp.Identifier) -> exp.Expression:
        def given() -> exp.Column:
            return column(each.name, of=source.copy())

        if isinstance(each, DatePart):
            return self.dialect.part_of_date(given(), each)
        missing = _is_null(given())
        if isinstance(each, Level):
            same = [] if each.level is None else [(self._is_level(given(), each.level), self._number(1.0))]
            return case((missing, self._number(float(each.level is None))), *same, default=self._number(0.0))
        if f in self._texts:
            return case((missing, exp.null()), default=self.dialect.comparable(given()))
        if isinstance(each, Coded):
            codes = [(self._is(given(), label), self._number(code)) for label, code in each.codes]
            return case((missing, exp.null()), *codes, default=self._number(UNSEEN))
        known = self.dialect.known(given())
        if not each.zero_missing:
            return known
        zero = exp.LTE(this=exp.Abs(this=known), expression=self._number(ZERO))
        return case((zero, exp.null()), default=known.copy())

    def _is_level(self, given: exp.Expression, level: str) -> exp.Expression:
        if level in _TRUTHS:  # the column may be of truth values, which databases compare with their names
            numbers = [whole(_TRUTHS[level])] if self.dialect.name == "sqlite" else []
            return exp.In(this=given, expressions=[text(level), *numbers])
        return self.dialect.same_text(given, level)

    def _is(self, given: exp.Expression, label: Label) -> exp.Expression:
        if isinstance(label, str):
            return self.dialect.same_text(given, label)
        if isinstance(label, bool) and self.dialect.name == "sqlite":  # it keeps numbers, or the words of a file
            words = [text(str(label)), text(str(label).lower()), text(str(label).upper())]
            return exp.In(this=given, expressions=[whole(int(label)), *words])
        return exp.EQ(this=given, expression=self._label(label))

    # Rules: how many conditions of each are met ---------------------------------------------------------------------

    def covers(self, j: int, value: exp.Expression) -> exp.Expression:
        """A value where a row satisfies every condition of a rule, 0 elsewhere."""
        tests = [exp.Paren(this=self._condition(each)) for each in self.script.conditions[j]]
        return case((joined(exp.And, tests), value), default=whole(0)) if tests else value

    def _met(self, j: int) -> exp.Expression:
        ones = [case((self._condition(each), whole(1)), default=whole(0)) for each in self.script.conditions[j]]
        return joined(exp.Add, ones) if ones else whole(0)

    def _condition(self, condition: Condition) -> exp.Expression:
        known = self._known(condition)
        if not condition.missing:
            return known
        missing = _is_null(column(self._title(condition.feature)))
        return missing if condition.impossible else exp.Or(this=missing, expression=exp.Paren(this=known))

    def _known(self, condition: Condition) -> exp.Expression:
        def x() -> exp.Column:
            return column(self._title(condition.feature))

        if condition.impossible:
            return exp.EQ(this=whole(0), expression=whole(1))
        if condition.codes is not None:
            return _one_of(x(), [self._code(condition.feature, code) for code in condition.codes], condition.others)
        bounds: list[exp.Expression] = []
        if condition.above is not None:
            bounds.append(exp.GT(this=x(), expression=self._number(condition.above)))
        if condition.up_to is not None:
            bounds.append(exp.LTE(this=x(), expression=self._number(condition.up_to)))
        return joined(exp.And, bounds) if bounds else exp.Not(this=_is_null(x()))

    def _code(self, f: int, code: float) -> exp.Expression:
        """What a category is compared with: its text, or its code."""
        return self.dialect.comparable_text(self._texts[f][code]) if f in self._texts else self._number(code)

    def _fires(self, j: int) -> exp.Expression:
        return exp.EQ(this=self._ref(f"rule_{j}"), expression=whole(self.script.sizes[j]))

    def _share(self, j: int) -> exp.Expression:
        """The share of a rule's conditions that are met; one without any always fires, and is never used."""
        met = double(self._ref(f"rule_{j}"))
        return exp.Div(this=met, expression=whole(max(self.script.sizes[j], 1)))

    # Votes: of the rules that fire, and of the fallback ---------------------------------------------------------------

    def _added(self, block: range) -> Columns:
        """Sums over the rules up to the end of a block: how many fired, their numbers, and votes."""
        fired = [case((self._fires(j), whole(1)), default=whole(0)) for j in block]
        numbers = [case((self._fires(j), text(f",{j}")), default=text("")) for j in block]
        so_far = block[0] > 0
        sums: Columns = {
            "fired": joined(exp.Add, [*([self._ref("fired")] if so_far else []), *fired]),
            "list": joined(exp.DPipe, [*([self._ref("list")] if so_far else []), *numbers]),
        }
        for k in range(len(self.script.base)):
            sums[f"votes_{k}"] = self._sum([self._ref(f"votes_{k}")] if so_far else [], self._votes(block, k))
            if self._fallback == "closest":
                sums[f"near_{k}"] = self._sum([self._still_near(k)] if so_far else [], self._near(block, k))
            elif self._fallback == "all":
                sums[f"near_{k}"] = self._sum([self._ref(f"near_{k}")] if so_far else [], self._counted(block, k))
        return sums

    def _for_later(self, block: range) -> Columns:
        """What the rules of later blocks need."""
        if block[-1] + 1 == len(self.script.votes):
            return {}
        best: Columns = {"best": self._ref("best_now")} if self._fallback == "closest" else {}
        return best | {self._title(f): column(self._title(f)) for f in self.script.features}

    def _sum(self, so_far: list[exp.Expression], votes: list[exp.Expression]) -> exp.Expression:
        return joined(exp.Add, [*so_far, *votes] or [self._number(0.0)])

    def _votes(self, block: range, k: int) -> list[exp.Expression]:
        return self._terms([(j, self.script.votes[j][k]) for j in block], self._fires)

    def _near(self, block: range, k: int) -> list[exp.Expression]:
        votes = [(j, self.script.fallback_votes[j][k]) for j in block]
        return self._terms(votes, lambda j: exp.EQ(this=self._share(j), expression=self._ref("best_now")))

    def _terms(self, votes: list[tuple[int, float]], votes_if: Callable[[int], exp.Expression]) -> list[exp.Expression]:
        return [case((votes_if(j), self._number(vote)), default=whole(0)) for j, vote in votes if vote != 0]

    def _counted(self, block: range, k: int) -> list[exp.Expression]:
        votes = ((j, self.script.votes_each[j][k]) for j in block)
        return [
            exp.Mul(this=double(self._ref(f"rule_{j}")), expression=self._number(vote))
            for j, vote in votes
            if vote != 0
        ]

    def _still_near(self, k: int) -> exp.Expression:
        same = exp.EQ(this=self._ref("best"), expression=self._ref("best_now"))
        return case((same, self._ref(f"near_{k}")), default=whole(0))

    # Tally and answers ----------------------------------------------------------------------------------------------

    def _tally(self) -> Columns:
        """The votes for each row, those of the fallback where no rule fired."""
        tally: Columns = {title: self._ref(title) for title in ("fired", "list")}
        for k, base in enumerate(self.script.base):
            votes: exp.Expression = self._ref(f"votes_{k}")
            votes = exp.Add(this=votes, expression=self._number(base)) if base else votes
            tally[f"votes_{k}"] = case((self._some_fire(), votes), default=self._by_fallback(k))
        return tally

    def _by_fallback(self, k: int) -> exp.Expression:
        if self.script.constant is not None:
            return self._number(self.script.constant[k])
        near = self._ref(f"near_{k}")
        base = self._number(self.script.base[k])
        return exp.Add(this=near, expression=base) if self.script.fallback_adds_to_base else near

    def _decided(self) -> Columns:
        """The votes for each row, those of all training data where there are none."""
        has_votes = exp.GT(this=self._ref("total"), expression=whole(0))
        decided: Columns = {title: self._ref(title) for title in ("fired", "list")}
        totals = {f"votes_{k}": total for k, total in enumerate(self.script.totals)} | {
            "total": self.script.total_weight
        }
        for title, otherwise in totals.items():
            decided[title] = case((has_votes.copy(), self._ref(title)), default=self._number(otherwise))
        return decided

    def _answers(self) -> Columns:
        kept = {title: self._ref(f"keep_{i}") for i, title in enumerate(self.keep)}
        shares = [self._share_of(vote) for vote in self._all_odds()]
        values = [self._first(self.script.classes), *shares] if self.script.classes else [self._mean(shares[0])]
        values.append(exp.Substring(this=self._ref("list"), start=whole(2), length=whole(10**6)))
        values.append(case((self._some_fire(), text("rules")), default=text(self.script.fallback)))
        return kept | dict(zip(self.script.outputs, values, strict=True))

    def _surplus(self) -> Columns:
        """By how much the votes that are as large as that for a class exceed 1, each of them by the same amount.

        The largest of these is what nearest probabilities are lowered by; see `rulecover.voting.answers`.
        """
        surplus: Columns = {}
        for k, vote in enumerate(self._all_votes()):
            large = [exp.GTE(this=other, expression=vote.copy()) for other in self._all_votes()]
            votes = [case((test, test.this.copy()), default=self._number(0.0)) for test in large]
            number = [case((test.copy(), whole(1)), default=whole(0)) for test in large]
            excess = exp.Sub(this=exp.Paren(this=joined(exp.Add, votes)), expression=self._number(1.0))
            surplus[f"surplus_{k}"] = exp.Div(this=double(excess), expression=exp.Paren(this=joined(exp.Add, number)))
        return surplus

    def _odds(self, scale: float) -> Columns:
        """How likely each class is relative to the likeliest one."""
        odds: Columns = {}
        for k, vote in enumerate(self._all_votes()):
            least = self._number(-LARGEST_LOG_ODDS)
            behind = exp.Paren(this=exp.Sub(this=double(vote), expression=self._ref("most")))
            below = exp.Mul(this=self._number(scale), expression=behind)
            odds[f"odds_{k}"] = exp.Exp(this=case((exp.GT(this=below, expression=least), below.copy()), default=least))
        return odds

    def _all_odds(self) -> Sequence[exp.Expression]:
        """What probabilities are the shares of."""
        if self.script.log_odds is None:
            return self._all_votes()
        return [self._ref(f"odds_{k}") for k in range(len(self.script.base))]

    def _share_of(self, vote: exp.Expression) -> exp.Expression:
        if not self.script.nearest:
            return exp.Div(this=vote, expression=self._ref("total"))
        left = exp.Sub(this=vote.copy(), expression=self._ref("total"))
        return case((exp.GT(this=vote, expression=self._ref("total")), left), default=self._number(0.0))

    def _mean(self, share: exp.Expression) -> exp.Expression:
        if self.script.scale is None:
            return share
        centre, unit = map(self._number, self.script.scale)
        return exp.Add(this=centre, expression=exp.Mul(this=unit, expression=exp.Paren(this=share)))

    def _first(self, classes: list[Label]) -> exp.Expression:
        """The first class with most votes: one with more than all later ones, where no earlier one has."""
        labels = list(map(self._label, classes))
        branches = []
        for k, label in enumerate(labels[:-1]):
            later = [
                exp.GTE(this=self._ref(f"votes_{k}"), expression=self._ref(f"votes_{m}"))
                for m in range(k + 1, len(labels))
            ]
            branches.append((joined(exp.And, later), label))
        return case(*branches, default=labels[-1]) if branches else labels[-1]

    @cached_property
    def _texts(self) -> dict[int, dict[float, str]]:
        """For columns of categories that are all texts: the text of each code."""
        coded = {f: each for f, each in self.script.inputs.items() if isinstance(each, Coded)}
        texts = {
            f: {code: label for label, code in each.codes if isinstance(label, str)}
            for f, each in coded.items()
            if all(isinstance(label, str) for label, _ in each.codes)
        }
        named = [(each.feature, set(each.codes or ())) for rule in self.script.conditions for each in rule]
        unknown = {f for f, codes in named if f in texts and not codes <= texts[f].keys()}
        bounded = {
            each.feature for rule in self.script.conditions for each in rule if (each.above, each.up_to) != (None, None)
        }
        return {f: each for f, each in texts.items() if f not in unknown | bounded}

    @cached_property
    def _titles(self) -> dict[int, str]:
        """What columns are called in the steps: by their own names, unless these are too long or taken."""
        names = {
            f: self.script.names[f] if isinstance(each, DatePart) else each.name for f, each in self.inputs.items()
        }
        times = Counter(title.casefold() for title in names.values())
        return {
            f: title
            for f, title in names.items()
            if times[title.casefold()] == 1 and not _is_ours(title) and len(title.encode()) <= LONGEST_NAME
        }

    def _title(self, f: int) -> str:
        return self._titles.get(f, f"x_{f}")

    # Words ----------------------------------------------------------------------------------------------------------

    @property
    def _fallback(self) -> str:
        return self.script.answered_by

    def _ref(self, title: str) -> exp.Column:
        return column(title)

    @property
    def _kept(self) -> Columns:
        return {f"keep_{i}": self._ref(f"keep_{i}") for i in range(len(self.keep))}

    def _number(self, value: float) -> exp.Expression:
        return self.dialect.number(value)

    def _label(self, label: Label) -> exp.Expression:
        if isinstance(label, str):
            return self.dialect.string(label)
        if isinstance(label, bool):
            return self.dialect.truth(label)
        return whole(label) if isinstance(label, int) else self._number(label)

    def _all_votes(self) -> Sequence[exp.Expression]:
        return [self._ref(f"votes_{k}") for k in range(len(self.script.base))]

    def _total(self) -> exp.Expression:
        votes = self._all_votes()
        return joined(exp.Add, votes) if self.script.classes else votes[1]

    def _some_fire(self) -> exp.Expression:
        return exp.GT(this=self._ref("fired"), expression=whole(0))


def _is_null(value: exp.Expression) -> exp.Expression:
    return exp.Is(this=value, expression=exp.null())


def _one_of(x: exp.Expression, values: list[exp.Expression], others: bool) -> exp.Expression:
    """Whether a value is one of these, or a known one that is not."""
    if len(values) == 1:
        return (exp.NEQ if others else exp.EQ)(this=x, expression=values[0])
    found = exp.In(this=x, expressions=values)
    return exp.Not(this=found) if others else found


def _is_ours(title: str) -> bool:
    """Whether a step may have a column of its own by that name."""
    return title.casefold() in _OUR_TITLES or _OUR_NUMBERED.fullmatch(title.casefold()) is not None
