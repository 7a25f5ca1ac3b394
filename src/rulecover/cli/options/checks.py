"""Which options of ``rulecover fit`` belong to which way of training."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

from rulecover.cli.errors import CommandError
from rulecover.cli.options.choices import Preset, Trainer

_MIRCO, _RCBOOST, _PATH = Trainer.MIRCO, Trainer.RCBOOST, Trainer.PATH

#: The methods that have an option, by its name in Python.
METHODS = {
    **dict.fromkeys(("depth", "class_weight"), tuple(Trainer)),
    "max_rules": tuple(Trainer),
    "trees": (_MIRCO, _PATH),
    **dict.fromkeys(("vote", "fallback", "criterion", "scale", "time_limit", "preset"), (_MIRCO, _RCBOOST)),
    **dict.fromkeys(("min_samples", "ridge"), (_MIRCO, _PATH)),
    **dict.fromkeys(("solver", "demand", "impurity_weight", "length_weight", "estimator_weights"), (_MIRCO,)),
    **dict.fromkeys(("prune", "prune_held_out"), (_MIRCO,)),
    **dict.fromkeys(("max_rmp_calls", "pricing", "duals", "step", "admit", "remove"), (_RCBOOST,)),
    **dict.fromkeys(("rule_weights", "early_stopping", "on_interrupt"), (_RCBOOST,)),
    **dict.fromkeys(("within", "choose", "cv", "max_depth", "model_share", "shrinkage", "tries"), (_PATH,)),
    **dict.fromkeys(("max_clauses", "forbidden", "required", "rising", "falling", "keep"), (_PATH,)),
}

_SPELLED = {
    "max_rmp_calls": "--calls",
    "forbidden": "--forbid",
    "required": "--require",
    "monotone": "--rising or --falling",
}


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
    given = {name: _plain(asked[name]) for name in METHODS if _is_given(asked[name])}
    if trained:
        _check_trained(method, given)
    elif "estimator_weights" in given:
        raise CommandError(
            "--estimator-weights is about the weights in a booster, but a forest is trained, which has none; name the "
            "booster's file by --model, or leave it out."
        )
    for name in given:
        if method not in METHODS[name]:
            raise CommandError(
                f"{spelled(name)} belongs to --method {' and '.join(METHODS[name])}, but the method is "
                f"{method.value}; leave one or the other out."
            )
    _check_together(method, given)
    return given


def _check_trained(method: Trainer, given: Mapping[str, Any]) -> None:
    if method is not Trainer.MIRCO:
        raise CommandError(
            f"--model goes with --method mirco: a file has trees whose rules can be covered, but {method.value} asks "
            "for a model that it can train."
        )
    for name in ("trees", "depth", "prune_held_out"):
        if name in given:
            raise CommandError(f"{spelled(name)} is for training, but --model is trained; leave one or the other out.")


#: Two options of which only one can be heard, and why.
_APART = {
    ("prune", "prune_held_out"): "one always prunes, the other only where it pays",
    ("within", "choose"): "both say how many rules are taken",
    ("vote", "ridge"): "one weighs plain means of numbers, the other fits values",
}


def _check_together(method: Trainer, given: Mapping[str, Any]) -> None:
    for (one, other), why in _APART.items():
        if one in given and other in given:
            raise CommandError(f"{spelled(one)} and {spelled(other)} exclude each other: {why}; leave one of them out.")
    if "max_rules" in given and method is Trainer.RCBOOST and given.get("preset") != Preset.FEW_RULES:
        raise CommandError(
            "--max-rules belongs to --method mirco and path, and to --preset few-rules of rcboost: a boosting has the "
            "rules that its --calls find; leave it out, or say --preset few-rules."
        )


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Enum) else value


def _is_given(value: Any) -> bool:
    return bool(value) or (isinstance(value, (int, float)) and not isinstance(value, bool))


def spelled(name: str) -> str:
    """An option as it is typed."""
    return _SPELLED.get(name, f"--{name.replace('_', '-')}")
