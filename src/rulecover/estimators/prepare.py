"""Training data that are checked, and the model that their rules come from, trained or taken, and read once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rulecover.data.columns import SourceColumns
from rulecover.trees.tree import TreeEnsemble
from rulecover.typing import Ints


@dataclass(frozen=True, eq=False)
class Source:
    """A model that rules come from, trained or made by hand.

    Parameters
    ----------
    model
        The model, or rules.
    trees
        Its trees; ``None`` where its rules are there already, or where trees are grown later.
    columns
        What its columns are made of, where they are not numbers as they are given.
    used
        The columns that matter, where `columns` are given.
    """

    model: Any
    trees: TreeEnsemble | None = None
    columns: SourceColumns | None = None
    used: Ints | None = None


@dataclass(frozen=True, eq=False)
class Prepared:
    """All that a method starts from.

    Parameters
    ----------
    samples
        The rows that count, as the rules see them, and what is to be predicted.
    rows
        Their places among the rows that were given.
    source
        The model that the rules come from.
    """

    samples: Any
    rows: Ints
    source: Source
