"""Which options of ``rulecover fit`` belong to which way of training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rulecover.cli.choices import Trainer
from rulecover.cli.errors import CommandError

_MIRCO, _RCBOOST, _PATH = Trainer.MIRCO, Trainer.RCBOOST, Trainer.PATH

#: The methods that have an option, by its name in Python.
METHODS = {
    "depth": tuple(Trainer),
    "class_weight": tuple(Trainer),
    "trees": (_MIRCO, _PATH),
    "max_rules": (_MIRCO, _PATH),
    **dict.fromkeys(("vote", "fallback", "criterion", "time_limit"), (_MIRCO, _RCBOOST)),
    **dict.fromkeys(("solver", "demand", "impurity_weight", "length_weight", "prune"), (_MIRCO,)),
    **dict.fromkeys(("max_rmp_calls", "pricing", "duals", "admit", "remove"), (_RCBOOST,)),
    **dict.fromkeys(("rule_weights", "early_stopping"), (_RCBOOST,)),
    **dict.fromkeys(("within", "choose", "max_clauses", "model_share", "ridge"), (_PATH,)),
    **dict.fromkeys(("forbidden", "required", "rising", "falling"), (_PATH,)),
}

_SPELLED = {"max_rmp_calls": "--calls", "forbidden": "--forbid", "required": "--require"}


def given_options(method: Trainer, asked: Mapping[str, Any], *, trained: bool) -> dict[str, Any]:
    """What was asked for, as plain values by their names in Python, if the method has it.

    Parameters
    ----------
    method
        How rules are made.
    asked
        All parameters of the command; an option that was not given is ``None`` or empty.
    trained
        Whether the model is there already.
    """
    given = {name: asked[name] for name in METHODS if _is_given(asked[name])}
    if trained and method is not Trainer.MIRCO:
        raise CommandError(
            f"--model goes with --method mirco: a file has trees whose rules can be covered, but {method.value} asks "
            "for a model that it can train."
        )
    for name in given:
        if method not in METHODS[name]:
            raise CommandError(
                f"{spelled(name)} belongs to --method {' and '.join(METHODS[name])}, but the method is "
                f"{method.value}; leave one or the other out."
            )
        if trained and name in ("trees", "depth"):
            raise CommandError(f"{spelled(name)} is for training, but --model is trained; leave one or the other out.")
    return given


def _is_given(value: Any) -> bool:
    return bool(value) or (isinstance(value, (int, float)) and not isinstance(value, bool))


def spelled(name: str) -> str:
    """An option as it is typed."""
    return _SPELLED.get(name, f"--{name.replace('_', '-')}")
