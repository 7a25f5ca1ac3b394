"""What can be printed in several formats: as text, Markdown, LaTeX and HTML, and as sentences."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rulecover.show.grid import Grid


class Printed(ABC):
    """Something that is a table of cells, one row per rule."""

    @abstractmethod
    def _grid(self) -> Grid: ...

    @abstractmethod
    def _sentences(self) -> list[str]: ...

    def to_markdown(self) -> str:
        """A table in Markdown.

        Returns
        -------
        str
            Cells are escaped, so that any name can be in them.

        Examples
        --------
        >>> from rulecover import RuleSet
        >>> print(RuleSet.from_text(["age > 30"], ["age"]).to_markdown())
        | rule | if |
        | ---: | --- |
        | 0 | age > 30 |
        """
        return self._grid().markdown()

    def to_latex(self) -> str:
        """A tabular in LaTeX, for the package booktabs.

        Returns
        -------
        str
            The tabular alone, without a table around it.
        """
        return self._grid().latex()

    def sentences(self) -> list[str]:
        """The rules in plain English, one sentence per rule.

        Returns
        -------
        list of str
            In the order of the rules.

        Examples
        --------
        >>> from rulecover import RuleSet
        >>> RuleSet.from_text(["age > 30 and (size <= 9 or missing)"], ["age", "size"]).sentences()
        ['If age is above 30 and size at most 9 (or missing).']
        """
        return self._sentences()

    def __str__(self) -> str:
        return self._grid().text()

    def _repr_html_(self) -> str:
        return self._grid().html()
