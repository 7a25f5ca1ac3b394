"""Parts of methods that remember what they were given."""

from __future__ import annotations

from rulecover.rcboost.pricing.oracles import TreePricing


class Spy(TreePricing):
    """The paper's pricing, which remembers what it was given."""

    def __init__(self) -> None:
        object.__setattr__(self, "seen", [])

    def __call__(self, data, duals, tree, seed):
        self.seen.append(duals)
        return super().__call__(data, duals, tree, seed)
