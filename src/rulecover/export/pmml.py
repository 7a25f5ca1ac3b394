"""Rules as PMML: a RuleSetModel whose weights are the votes; derived fields hold fallback and probabilities."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any
from xml.etree import ElementTree as ET

import rulecover
from rulecover.data.dates import DatePart
from rulecover.data.frames import UNSEEN, ZERO
from rulecover.data.inputs import Coded, Level, Number, TableInput
from rulecover.data.labels import Label
from rulecover.exceptions import ExportError
from rulecover.export.conditions import Condition, Script
from rulecover.export.exported import vote_of
from rulecover.voting.answers import LARGEST_LOG_ODDS

_NAMESPACE = "http://www.dmg.org/PMML-4_4"

#: Characters that XML files cannot hold.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

#: Prefixes of the derived fields.
_OURS = (
    "feature_",
    "met_",
    "fired",
    "share_",
    "best",
    "near_",
    "votes_",
    "votes_sum",
    "tally_",
    "total",
    "class",
    "answer",
    "surplus_",
    "most",
    "odds_",
)

_BEYOND_ZERO = (("lessThan", -ZERO), ("greaterThan", ZERO))

#: What gives parts of dates as digits.
_FORMATS = {"year": "%Y", "month": "%m"}

_TYPES = {str: "string", bool: "boolean", int: "integer", float: "double"}


def to_pmml(model: Any) -> str:
    """The rules as a PMML 4.4 document.

    Parameters
    ----------
    model
        A fitted model of this package, a `RuleSet` with evidence, or a `Vote`.

    Returns
    -------
    str
        For classes a RuleSetModel: each rule occurs once for each class, weighted by its votes, and the class
        with the largest sum of weights wins. What a RuleSetModel cannot express, the fallback of rows that no rule
        covers and the probabilities, is computed by derived fields. PMML leaves open which class wins a tie; JPMML
        takes the first, as this package does. For means a RegressionModel on a derived field. Dates are fields of the
        type dateTime, whose texts are such as ``2024-12-31T00:00:00``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rulecover import MIRCOClassifier
    >>> mirco = MIRCOClassifier(random_state=0).fit(*load_iris(return_X_y=True))
    >>> to_pmml(mirco).count("<SimpleRule ") > len(mirco.rules_)
    True
    """
    return _Document(Script(vote_of(model))).text()


class _Document:
    """A PMML document of a script."""

    def __init__(self, script: Script) -> None:
        self.script = script
        labels = script.model.answer.votes if script.classes else ()
        below_zero = script.model.votes.min() < 0 or script.model.base.min() < 0
        if script.classes and below_zero and not script.model.adds_up:
            raise ExportError("PMML cannot express negative votes for a class; export to another format.")
        for text in (*script.columns, *labels, *(label for label in self._categories() if isinstance(label, str))):
            _check(text)
        self.mark = ""
        while any(
            name.startswith(tuple(self.mark + word for word in _OURS)) for name in (*script.columns, *script.outputs)
        ):
            self.mark += "_"

    def _categories(self) -> Iterable[Label]:
        return (label for each in self.script.inputs.values() if isinstance(each, Coded) for label, _ in each.codes)

    def text(self) -> str:
        root = ET.Element("PMML", {"version": "4.4", "xmlns": _NAMESPACE})
        header = ET.SubElement(root, "Header")
        ET.SubElement(header, "Application", {"name": "rulecover", "version": rulecover.__version__})
        root.append(self._dictionary())
        transformed = ET.SubElement(root, "TransformationDictionary")
        transformed.extend(self._derived())
        root.append(self._rule_set(self.script.classes) if self.script.classes else self._regression())
        ET.indent(root)
        return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"

    # Fields -----------------------------------------------------------------------------------------------------------

    def _dictionary(self) -> ET.Element:
        kinds = {each.name: _kind_of(each) for each in self.script.inputs.values()}
        fields = [
            _element("DataField", name=name, optype=optype, dataType=kind) for name, (optype, kind) in kinds.items()
        ]
        labels = self.script.classes
        if labels:
            target = _element("DataField", name=self._our("class"), optype="categorical", dataType=_type_of(labels))
            target.extend(_element("Value", value=_written(label)) for label in labels)
        else:
            target = _element("DataField", name=self._our("class"), optype="continuous", dataType="double")
        return _element("DataDictionary", [*fields, target])

    def _schema(self) -> ET.Element:
        fields = [_element("MiningField", name=name) for name in self.script.columns]
        return _element("MiningSchema", [*fields, _element("MiningField", name=self._our("class"), usageType="target")])

    def _derived(self) -> Iterable[ET.Element]:
        """All that is computed for a row: features from text, counts, shares, and the tally."""
        script = self.script
        for f, each in script.inputs.items():
            if self._feature(f) != each.name:
                yield self._define(f"feature_{f}", _read(each))
        for j, rule in enumerate(script.conditions):
            yield self._define(f"met_{j}", _sum([self._one_if(condition) for condition in rule]))
        fires = [self._fires(j) for j in range(len(script.sizes))]
        yield self._define("fired", _sum([_if(fire, _number(1.0), _number(0.0)) for fire in fires]))
        if script.answered_by == "closest":
            for j, size in enumerate(script.sizes):
                yield self._define(f"share_{j}", _apply("/", self._ref(f"met_{j}"), _number(float(max(size, 1)))))
            yield self._define("best", _apply("max", *(self._ref(f"share_{j}") for j in range(len(script.sizes)))))
            for j in range(len(script.sizes)):
                same = _apply("equal", self._ref(f"share_{j}"), self._ref("best"))
                yield self._define(f"near_{j}", _if(same, _number(1.0), _number(0.0)))
        yield from self._tally()

    def _tally(self) -> Iterable[ET.Element]:
        script, classes = self.script, bool(self.script.classes)
        for k, base in enumerate(script.base):
            none = _apply("equal", self._ref("fired"), _number(0.0))
            votes = _apply("+", _sum([self._vote(j, k) for j in range(len(script.sizes))]), _number(base))
            yield self._define(f"votes_{k}", _if(none, self._by_fallback(k), votes))
        votes_sum = [self._ref(f"votes_{k}") for k in range(len(script.base))]
        if script.nearest:
            yield from self._surplus()
            return
        if script.log_odds is not None:
            yield from self._odds(script.log_odds)
            return
        yield self._define("votes_sum", _sum(votes_sum) if classes else votes_sum[1])
        for k, total in enumerate(script.totals):
            has_votes = _apply("greaterThan", self._ref("votes_sum"), _number(0.0))
            yield self._define(f"tally_{k}", _if(has_votes, self._ref(f"votes_{k}"), _number(total)))
        tally = [self._ref(f"tally_{k}") for k in range(len(script.base))]
        yield self._define("total", _sum(tally) if classes else tally[1])
        if not classes:
            centre, unit = script.scale or (0.0, 1.0)
            mean = _apply("/", self._ref("tally_0"), self._ref("total"))
            yield self._define("answer", _apply("+", _number(centre), _apply("*", _number(unit), mean)))

    def _surplus(self) -> Iterable[ET.Element]:
        """What nearest probabilities are lowered by; see `rulecover.voting.answers`."""
        votes = [f"votes_{k}" for k in range(len(self.script.base))]
        for k, mine in enumerate(votes):
            large = [partial(_apply, "greaterOrEqual", self._ref(other), self._ref(mine)) for other in votes]
            votes_sum = _sum(
                [_if(test(), self._ref(other), _number(0.0)) for test, other in zip(large, votes, strict=True)]
            )
            number = _sum([_if(test(), _number(1.0), _number(0.0)) for test in large])
            yield self._define(f"surplus_{k}", _apply("/", _apply("-", votes_sum, _number(1.0)), number))
        yield self._define("total", _apply("max", *(self._ref(f"surplus_{k}") for k in range(len(votes)))))

    def _odds(self, scale: float) -> Iterable[ET.Element]:
        """How likely each class is relative to the likeliest one, and the sum over all classes."""
        classes = range(len(self.script.base))
        yield self._define("most", _apply("max", *(self._ref(f"votes_{k}") for k in classes)))
        for k in classes:
            below = _apply("*", _number(scale), _apply("-", self._ref(f"votes_{k}"), self._ref("most")))
            yield self._define(f"odds_{k}", _apply("exp", _apply("max", below, _number(-LARGEST_LOG_ODDS))))
        yield self._define("total", _sum([self._ref(f"odds_{k}") for k in classes]))

    def _vote(self, j: int, k: int) -> ET.Element:
        return _if(self._fires(j), _number(self.script.votes[j][k]), _number(0.0))

    def _by_fallback(self, k: int) -> ET.Element:
        script = self.script
        if script.constant is not None:
            return _number(script.constant[k])
        closest = script.answered_by == "closest"
        weights, votes = ("near", script.fallback_votes) if closest else ("met", script.votes_each)
        terms = [_apply("*", self._ref(f"{weights}_{j}"), _number(vote[k])) for j, vote in enumerate(votes)]
        return _apply("+", _sum(terms), _number(script.base[k])) if script.fallback_adds_to_base else _sum(terms)

    def _fires(self, j: int) -> ET.Element:
        return _apply("equal", self._ref(f"met_{j}"), _number(float(self.script.sizes[j])))

    def _feature(self, f: int) -> str:
        """The field that holds a feature: a column of the data itself, or what is made of it."""
        each = self.script.inputs[f]
        plain = isinstance(each, Number) and not each.zero_missing
        return each.name if plain else self._our(f"feature_{f}")

    def _one_if(self, condition: Condition) -> ET.Element:
        """1 where a condition is met, 0 elsewhere; what is missing must not be compared."""
        name = self._feature(condition.feature)
        if condition.impossible or condition.any_known:
            met = _number(float(condition.any_known))
        else:
            met = _if(self._known(condition, name), _number(1.0), _number(0.0))
        return _if(_apply("isMissing", _field(name)), _number(float(condition.missing)), met)

    @staticmethod
    def _known(condition: Condition, name: str) -> ET.Element:
        if condition.codes is not None:
            found = "isNotIn" if condition.others else "isIn"
            return _apply(found, _field(name), *map(_number, condition.codes))
        tests = []
        if condition.above is not None:
            tests.append(_apply("greaterThan", _field(name), _number(condition.above)))
        if condition.up_to is not None:
            tests.append(_apply("lessOrEqual", _field(name), _number(condition.up_to)))
        return tests[0] if len(tests) == 1 else _apply("and", *tests)

    # Models -----------------------------------------------------------------------------------------------------------

    def _rule_set(self, classes: list[Label]) -> ET.Element:
        script, labels = self.script, list(map(_written, classes))
        default = labels[script.totals.index(max(script.totals))]
        rules = _element("RuleSet", defaultScore=default, defaultConfidence="0")
        rules.append(_element("RuleSelectionMethod", criterion="weightedSum"))
        for name, votes, predicate in self._weighted():
            for k, (label, weight) in enumerate(zip(labels, _raised(votes), strict=True)):
                # The base is there even if it weighs nothing: it puts the classes in order, the first wins ties.
                if weight or name == "base":
                    made = _element("SimpleRule", [predicate()], id=f"{name}, class {k}", score=label)
                    made.set("weight", repr(weight))
                    rules.append(made)
        parts = [self._schema(), self._output(), rules]
        return _element("RuleSetModel", parts, modelName="rules", functionName="classification")

    def _weighted(self) -> Iterator[tuple[str, list[float], Callable[[], ET.Element]]]:
        """All that votes: a name, votes for the classes, and when."""
        script = self.script
        missed = partial(_predicate, self._our("fired"), "equal", 0.0)
        yield "base", [0.0] * len(script.base), partial(ET.Element, "True")
        begins = partial(_predicate, self._our("fired"), "greaterThan", 0.0)
        always = script.answered_by == "default" or script.fallback_adds_to_base
        yield "begin", script.base, partial(ET.Element, "True") if always else begins
        for j, rule in enumerate(script.conditions):
            yield f"rule {j}", script.votes[j], partial(_all, [partial(self._predicate, each) for each in rule])
            if script.answered_by == "closest":
                near = partial(_predicate, self._our(f"near_{j}"), "equal", 1.0)
                yield f"nearly rule {j}", script.fallback_votes[j], partial(_all, [missed, near])
            if script.answered_by == "all":
                for part, each in enumerate(rule):
                    some = partial(_all, [missed, partial(self._predicate, each)])
                    yield f"part {part} of rule {j}", script.votes_each[j], some
        if script.constant is not None and script.answered_by == "constant":
            yield script.fallback, script.constant, missed
        if not script.always_has_votes:
            yield "all samples", script.totals, partial(_predicate, self._our("votes_sum"), "lessOrEqual", 0.0)

    def _predicate(self, condition: Condition) -> ET.Element:
        name = self._feature(condition.feature)
        missing = _element("SimplePredicate", field=name, operator="isMissing")
        if condition.impossible:
            return missing if condition.missing else ET.Element("False")
        if condition.any_known:
            return (
                ET.Element("True")
                if condition.missing
                else _element("SimplePredicate", field=name, operator="isNotMissing")
            )
        known = self._known_predicate(condition, name)
        return _element("CompoundPredicate", [missing, known], booleanOperator="or") if condition.missing else known

    @staticmethod
    def _known_predicate(condition: Condition, name: str) -> ET.Element:
        if condition.codes is not None:
            codes = _element("Array", type="real", n=str(len(condition.codes)))
            codes.text = " ".join(map(repr, condition.codes))
            found = "isNotIn" if condition.others else "isIn"
            return _element("SimpleSetPredicate", [codes], field=name, booleanOperator=found)
        bounds = ("greaterThan", condition.above), ("lessOrEqual", condition.up_to)
        return _all([partial(_predicate, name, test, bound) for test, bound in bounds if bound is not None])

    def _output(self) -> ET.Element:
        shares = [self._share(k) for k in range(len(self.script.base))]
        some = _apply("greaterThan", self._ref("fired"), _number(0.0))
        decided_by = _if(some, _constant("rules", "string"), _constant(self.script.fallback, "string"))
        titles = self.script.outputs[1:-2]
        fields = [("double", "continuous", title, share) for title, share in zip(titles, shares, strict=True)]
        fields.append(("string", "categorical", "decided_by", decided_by))
        return _element(
            "Output",
            [
                _element("OutputField", [value], name=title, optype=optype, dataType=kind, feature="transformedValue")
                for kind, optype, title, value in fields
            ],
        )

    def _share(self, k: int) -> ET.Element:
        if not self.script.nearest:
            part = "tally" if self.script.log_odds is None else "odds"
            return _apply("/", self._ref(f"{part}_{k}"), self._ref("total"))
        return _apply("max", _apply("-", self._ref(f"votes_{k}"), self._ref("total")), _number(0.0))

    def _regression(self) -> ET.Element:
        """A mean is not a score of a rule: PMML's rules only have classes."""
        sole = _element("NumericPredictor", name=self._our("answer"), coefficient="1")
        parts = [self._schema(), _element("RegressionTable", [sole], intercept="0")]
        return _element("RegressionModel", parts, modelName="rules", functionName="regression")

    # Words ------------------------------------------------------------------------------------------------------------

    def _our(self, name: str) -> str:
        return f"{self.mark}{name}"

    def _ref(self, name: str) -> ET.Element:
        return _field(self._our(name))

    def _define(self, name: str, value: ET.Element) -> ET.Element:
        return _element("DerivedField", [value], name=self._our(name), optype="continuous", dataType="double")


def _raised(votes: list[float]) -> list[float]:
    """Weights in place of votes: PMML's cannot be negative; adding the same to all classes keeps the prediction."""
    lowest = min(0.0, *votes)
    return [vote - lowest for vote in votes]


def _element(tag: str, inside: Sequence[ET.Element] = (), **attributes: str) -> ET.Element:
    made = ET.Element(tag, attributes)
    made.extend(inside)
    return made


def _kind_of(each: TableInput) -> tuple[str, str]:
    """The type of a column of the data."""
    if isinstance(each, DatePart):
        return "ordinal", "dateTime"
    if isinstance(each, Number):
        return "continuous", "double"
    return "categorical", _type_of([label for label, _ in each.codes] or [""]) if isinstance(each, Coded) else "string"


def _read(each: TableInput) -> ET.Element:
    """What is made of a column of the data; what is missing must not be compared."""
    given, missing = _field(each.name), _apply("isMissing", _field(each.name))
    if isinstance(each, DatePart):
        return _apply("if", _apply("isNotMissing", given), _part_of_date(each))
    if isinstance(each, Level):
        same = _apply("equal", given, _constant(each.level or "", "string"))
        known = _number(0.0) if each.level is None else _if(same, _number(1.0), _number(0.0))
        return _if(missing, _number(float(each.level is None)), known)
    if isinstance(each, Number):
        large = _apply("or", *(_apply(test, _field(each.name), _number(end)) for test, end in _BEYOND_ZERO))
        return _apply("if", _apply("isNotMissing", given), _apply("if", large, _field(each.name)))
    if not each.codes:
        return _apply("if", _apply("isNotMissing", given), _number(UNSEEN))
    table = _element("InlineTable", [_row(label, code) for label, code in each.codes])
    pair = _element("FieldColumnPair", field=each.name, column="label")
    return _element("MapValues", [pair, table], outputColumn="code", defaultValue=repr(UNSEEN), dataType="double")


def _part_of_date(each: DatePart) -> ET.Element:
    if each.part in _FORMATS:
        return _apply("formatDatetime", _field(each.name), _constant(_FORMATS[each.part], "string"))
    days = _apply("dateDaysSinceYear", _field(each.name), _constant("1970", "integer"))
    if each.part == "weekday":  # 1970-01-01 is a Thursday
        return _apply("+", _apply("modulo", _apply("+", days, _number(3.0)), _number(7.0)), _number(1.0))
    # All seconds since 1970 are more than the function for them can count in JPMML: it ends in 2038.
    seconds = _apply("+", _apply("*", days, _number(86400.0)), _apply("dateSecondsSinceMidnight", _field(each.name)))
    return _apply("/", seconds, _number(86400.0))


def _row(label: Label, code: float) -> ET.Element:
    cells = [ET.Element("label"), ET.Element("code")]
    cells[0].text, cells[1].text = _written(label), repr(code)
    return _element("row", cells)


def _field(name: str) -> ET.Element:
    return _element("FieldRef", field=name)


def _constant(value: str, kind: str) -> ET.Element:
    made = _element("Constant", dataType=kind)
    made.text = value
    return made


def _number(value: float) -> ET.Element:
    return _constant(repr(value), "double")


def _apply(function: str, *inside: ET.Element) -> ET.Element:
    return _element("Apply", inside, function=function)


def _if(condition: ET.Element, value: ET.Element, otherwise: ET.Element) -> ET.Element:
    return _apply("if", condition, value, otherwise)


def _sum(terms: Sequence[ET.Element]) -> ET.Element:
    return _apply("sum", *terms) if terms else _number(0.0)


def _predicate(name: str, operator: str, value: float) -> ET.Element:
    return _element("SimplePredicate", field=name, operator=operator, value=repr(value))


def _all(predicates: Sequence[Callable[[], ET.Element]]) -> ET.Element:
    if not predicates:
        return ET.Element("True")
    if len(predicates) == 1:
        return predicates[0]()
    return _element("CompoundPredicate", [predicate() for predicate in predicates], booleanOperator="and")


def _check(name: str) -> None:
    bad = _NO_XML.search(name)
    if bad is not None:
        raise ExportError(f"{name!r} has a character that no XML file can hold ({bad.group()!r}); rename it.")


def _type_of(labels: list[Label]) -> str:
    kinds = {_TYPES[type(label)] for label in labels}
    if len(kinds) > 1:
        raise ExportError(f"the classes {labels[:5]} are of several types; train with text labels.")
    return kinds.pop()


def _written(label: Label) -> str:
    return str(label).lower() if isinstance(label, bool) else str(label)
