"""Rules as an ONNX graph: all clauses of all rows compared at once, in double precision."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, checker, helper, numpy_helper

import rulecover
from rulecover.data.frames import ZERO
from rulecover.data.inputs import Number
from rulecover.exceptions import ExportError
from rulecover.export.conditions import Condition, Script
from rulecover.export.exported import vote_of
from rulecover.typing import Array
from rulecover.voting.answers import LARGEST_LOG_ODDS

#: ReduceMax takes its axes as an input from here on; runtimes of 2023 know both.
_OPSET, _IR = 18, 8


def to_onnx(model: Any) -> onnx.ModelProto:
    """The rules as an ONNX model, for onnxruntime and similar runtimes.

    Parameters
    ----------
    model
        A fitted model of this package, a `RuleSet` with evidence, or a `Vote`.

    Returns
    -------
    ModelProto
        The input is ``X``, rows x columns in double precision, NaN where a value is missing; the names of the columns
        stand in the model's metadata. The outputs are ``prediction``; for classes ``probabilities``, rows x classes;
        ``rules``, which rule fired for which row; and ``missed``, the rows that went to the fallback.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rulecover import MIRCOClassifier
    >>> graph = to_onnx(MIRCOClassifier(random_state=0).fit(*load_iris(return_X_y=True))).graph
    >>> [output.name for output in graph.output]
    ['prediction', 'probabilities', 'rules', 'missed']
    """
    return _Graph(Script(vote_of(model))).model()


class _Graph:
    """The nodes and constants of a graph while it grows."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def model(self) -> onnx.ModelProto:
        outputs = self._answers(*self._tally(self._met()))
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(np.float64))
        rows = helper.make_tensor_value_info("X", kind, ["rows", len(self.script.names)])
        graph = helper.make_graph(self.nodes, "rules", [rows], outputs, self.constants)
        made = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", _OPSET)],
            ir_version=_IR,
            producer_name="rulecover",
            producer_version=rulecover.__version__,
        )
        helper.set_model_props(made, {"columns": json.dumps(self.script.names)})
        checker.check_model(made)
        return made

    # Growing ----------------------------------------------------------------------------------------------------------

    def _do(
        self, operation: str, *inputs: str | Array, name: str = "", more: Sequence[str] = (), **settings: Any
    ) -> str:
        """Adds a node; arrays among its inputs become constants. Returns the name of its (first) output."""
        output = name or f"v{len(self.nodes)}"
        names = [each if isinstance(each, str) else self._constant(each) for each in inputs]
        self.nodes.append(helper.make_node(operation, names, [output, *more], **settings))
        return output

    def _constant(self, values: Array) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.array(values, order="C"), name))
        return name

    def _as_floats(self, values: str) -> str:
        return self._do("Cast", values, to=TensorProto.DOUBLE)

    # The steps --------------------------------------------------------------------------------------------------------

    def _met(self) -> str:
        """How many conditions of each rule each row satisfies, rows x rules."""
        widest = max(1, *self.script.sizes)
        slots = [[*rule, *[None] * (widest - len(rule))] for rule in self.script.conditions]
        flat = [condition for rule in slots for condition in rule]
        satisfied = self._satisfied([condition or _NEVER for condition in flat])
        shape = np.array([-1, len(slots), widest], dtype=np.int64)
        by_rule = self._do("Reshape", self._as_floats(satisfied), shape)
        return self._do("ReduceSum", by_rule, np.array([2], dtype=np.int64), keepdims=0)

    def _satisfied(self, conditions: list[Condition]) -> str:
        """Which row satisfies which condition, rows x conditions."""
        feature = np.array([condition.feature for condition in conditions], dtype=np.int64)
        values = self._do("Gather", "X", feature, axis=1)
        if self.script.zero_missing:
            values = self._without_zeros(values, feature)
        known = self._within(values, conditions)
        sets = [c for c, condition in enumerate(conditions) if condition.codes]
        if sets:
            place = np.arange(len(conditions))
            place[sets] = len(conditions) + np.arange(len(sets))
            known = self._do("Concat", known, self._one_of(values, conditions, sets), axis=1)
            known = self._do("Gather", known, place, axis=1)
        missing = np.array([[condition.missing for condition in conditions]])
        return self._do("Or", known, self._do("And", self._do("IsNaN", values), missing))

    def _without_zeros(self, values: str, feature: Array) -> str:
        inputs = self.script.inputs
        counts = [isinstance(read := inputs.get(f), Number) and read.zero_missing for f in feature.tolist()]
        zero = self._do("LessOrEqual", self._do("Abs", values), np.array(ZERO))
        return self._do("Where", self._do("And", zero, np.array([counts])), np.array(np.nan), values)

    def _within(self, values: str, conditions: list[Condition]) -> str:
        lower = np.array([[_lower(condition) for condition in conditions]])
        upper = np.array([[np.inf if condition.up_to is None else condition.up_to for condition in conditions]])
        above = self._do("Or", self._do("Greater", values, lower), np.isneginf(lower))
        return self._do("And", above, self._do("LessOrEqual", values, upper))

    def _one_of(self, values: str, conditions: list[Condition], sets: list[int]) -> str:
        codes = [conditions[c].codes or () for c in sets]
        padded = np.full((1, len(sets), max(map(len, codes))), np.nan)  # NaN equals nothing
        for c, mine in enumerate(codes):
            padded[0, c, : len(mine)] = mine
        asked = self._do("Gather", values, np.array(sets, dtype=np.int64), axis=1)
        same = self._do("Equal", self._do("Unsqueeze", asked, np.array([2], dtype=np.int64)), padded)
        found = self._do("ReduceMax", self._as_floats(same), np.array([2], dtype=np.int64), keepdims=0)
        others = np.array([[conditions[c].others for c in sets]])
        held = self._do("Xor", self._do("Greater", found, np.array(0.0)), others)
        return self._do("And", held, self._do("Not", self._do("IsNaN", asked)))

    def _tally(self, met: str) -> tuple[str, str]:
        """The votes for each row, and where the fallback gave them."""
        script = self.script
        fired = self._do("Equal", met, np.array([script.sizes], dtype=np.float64), name="rules")
        number = self._do("ReduceSum", self._as_floats(fired), _LAST, keepdims=1)
        missed = self._do("Equal", number, np.array(0.0))
        votes = self._do("MatMul", self._as_floats(fired), np.array(script.votes))
        votes = self._do("Add", votes, np.array([script.base]))
        tally = self._do("Where", missed, self._by_fallback(met), votes)
        if script.always_has_votes:
            return tally, missed
        has_votes = self._do("Greater", self._total(tally), np.array(0.0))
        return self._do("Where", has_votes, tally, np.array([script.totals])), missed

    def _by_fallback(self, met: str) -> str | Array:
        script = self.script
        if script.constant is not None:
            return np.array([script.constant])
        votes = self._votes_at_distance(met)
        return self._do("Add", votes, np.array([script.base])) if script.fallback_adds_to_base else votes

    def _votes_at_distance(self, met: str) -> str:
        """The votes of rules for rows that they do not cover."""
        script = self.script
        if script.answered_by == "all":
            return self._do("MatMul", met, np.array(script.votes_each))
        share = self._do("Div", met, np.maximum([script.sizes], 1).astype(np.float64))
        near = self._do("Equal", share, self._do("ReduceMax", share, _LAST, keepdims=1))
        return self._do("MatMul", self._as_floats(near), np.array(script.fallback_votes))

    def _total(self, tally: str) -> str:
        if self.script.classes:
            return self._do("ReduceSum", tally, _LAST, keepdims=1)
        return self._do("Gather", tally, np.array([1], dtype=np.int64), axis=1)

    def _shares(self, tally: str) -> str:
        return self._do("Div", tally, self._total(tally), name="probabilities")

    def _nearest(self, tally: str) -> str:
        """The shares that are nearest to the votes; see `rulecover.voting.answers`."""
        n = len(self.script.base)
        falling = self._do("TopK", tally, np.array([n], dtype=np.int64), axis=1, more=["places"])
        excess = self._do("Sub", self._do("CumSum", falling, np.array(1, dtype=np.int64)), np.array(1.0))
        surplus = self._do("Div", excess, np.arange(1.0, n + 1)[None])
        lowered = self._do("Sub", tally, self._do("ReduceMax", surplus, _LAST, keepdims=1))
        return self._do("Max", lowered, np.array(0.0), name="probabilities")

    def _softmax(self, tally: str, scale: float) -> str:
        below = self._do("Sub", tally, self._do("ReduceMax", tally, _LAST, keepdims=1))
        scaled = self._do("Mul", below, np.array(scale))
        odds = self._do("Exp", self._do("Max", scaled, np.array(-LARGEST_LOG_ODDS)))
        return self._do("Div", odds, self._do("ReduceSum", odds, _LAST, keepdims=1), name="probabilities")

    def _probabilities(self, tally: str) -> str:
        if self.script.log_odds is not None:
            return self._softmax(tally, self.script.log_odds)
        return self._nearest(tally) if self.script.nearest else self._shares(tally)

    def _answers(self, tally: str, missed: str) -> list[Any]:
        """The nodes that predict, and what the outputs are."""
        outputs = []
        if self.script.classes:
            labels = _labels(self.script.classes)
            self._probabilities(tally)
            most = self._do("ArgMax", tally, axis=1, keepdims=0, select_last_index=0)
            self._do("Gather", labels, most, name="prediction")
            outputs.append(helper.make_tensor_value_info("prediction", _kind(labels), ["rows"]))
            outputs.append(helper.make_tensor_value_info("probabilities", TensorProto.DOUBLE, ["rows", len(labels)]))
        else:
            centre, unit = self.script.scale or (0.0, 1.0)
            mean = self._do("Gather", self._shares(tally), np.array(0, dtype=np.int64), axis=1)
            self._do("Add", np.array(centre), self._do("Mul", np.array(unit), mean), name="prediction")
            outputs.append(helper.make_tensor_value_info("prediction", TensorProto.DOUBLE, ["rows"]))
        self._do("Squeeze", missed, np.array([1], dtype=np.int64), name="missed")
        outputs.append(helper.make_tensor_value_info("rules", TensorProto.BOOL, ["rows", len(self.script.sizes)]))
        outputs.append(helper.make_tensor_value_info("missed", TensorProto.BOOL, ["rows"]))
        return outputs


_LAST = np.array([1], dtype=np.int64)
_NEVER = Condition(0, impossible=True)


def _lower(condition: Condition) -> float:
    if condition.impossible:
        return np.inf
    return -np.inf if condition.above is None else condition.above


def _labels(labels: list[Any]) -> Array:
    kinds = {type(label) for label in labels}
    array = np.array(labels, dtype=object if kinds == {str} else None)
    if len(kinds) > 1 or (kinds != {str} and array.dtype.kind not in "ifb"):
        raise ExportError(f"the classes {labels[:5]} are of several types or too large for ONNX; train with text.")
    return array


def _kind(labels: Array) -> int:
    return TensorProto.STRING if labels.dtype.kind == "O" else int(helper.np_dtype_to_tensor_dtype(labels.dtype))
