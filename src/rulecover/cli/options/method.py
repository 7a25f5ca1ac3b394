"""A cover or a path: which way to choose the rules, and which options belong to it."""

from __future__ import annotations

from collections.abc import Mapping

from rulecover.cli.errors import CommandError
from rulecover.cli.options.choices import Method

#: The options of covers and the values that they have where nobody gives them, by their names in Python; where it is
#: ``None``, what is predicted decides.
COVER_DEFAULTS: dict[str, object] = {
    "solver": None,
    "demand": None,
    "vote": None,
    "fallback": None,
    "time_limit": None,
    "criterion": None,
    "impurity_weight": 1.0,
    "length_weight": 0.0,
    "prune": None,
}


def chosen_method(
    method: Method | None, *, within: float | None, max_rules: int | None, cover: Mapping[str, object]
) -> Method:
    """The method that was asked for, or the one that the other options ask for; raises where they contradict it."""
    given = [_option(name) for name, value in cover.items() if value != COVER_DEFAULTS[name]]
    if method is None:
        method = Method.PATH if within is not None or (max_rules is not None and not given) else Method.COVER
    if method is Method.PATH and given:
        raise CommandError(
            f"{', '.join(given)} belong{'s' if len(given) == 1 else ''} to covers, but --within and --method path ask "
            "for a path of rules; leave one or the other out."
        )
    if method is Method.COVER and within is not None:
        raise CommandError("--within belongs to --method path; a cover has the rules that it takes to cover every row.")
    return method


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"
