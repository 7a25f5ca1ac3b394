"""What every reader of models promises: rules are the leaves that the library itself names, on and next to thresholds.

A new library is a line in `READERS`; a new kind of model of scikit-learn is a line in `sklearn_models.KINDS`.
"""

from __future__ import annotations

from collections.abc import Callable

import boosters
import pytest
from sklearn_models import KINDS, binned, hist_on_category_numbers, hist_on_frames, hist_on_numbers, read_model

from rulecover import readers

#: For each library: how often what is read of a random model disagrees with the library, from a seed.
READERS: dict[str, dict[str, Callable[[int], int]]] = {
    "sklearn": {kind: lambda seed, kind=kind: read_model(kind, seed).mismatches() for kind in KINDS}
    | {
        "histograms of numbers": lambda seed: hist_on_numbers(seed).mismatches(),
        "histograms of category numbers": lambda seed: hist_on_category_numbers(seed).mismatches(),
        "histograms of frames": lambda seed: hist_on_frames(seed).mismatches(),
        "trees on binned columns": lambda seed: binned(seed).mismatches(),
    },
    # Read from the model and from its file, which must be the same; leaf values, too.
    "xgboost": {"booster and file": lambda seed: boosters.mismatches(boosters.xgboost_case(seed), seed)},
    "lightgbm": {"booster and file": lambda seed: boosters.mismatches(boosters.lightgbm_case(seed), seed)},
    "catboost": {"booster and file": lambda seed: boosters.mismatches(boosters.catboost_case(seed), seed)},
}


def test_every_library_is_here() -> None:
    # Models of our own hold rules, not trees.
    assert READERS.keys() == readers._READERS.keys() - {"rulecover"}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of histograms themselves, which bin infinities by quantiles
@pytest.mark.parametrize(("library", "kind"), [(library, kind) for library in READERS for kind in READERS[library]])
def test_random_models_send_every_row_where_the_library_sends_it(library: str, kind: str, n_models: int) -> None:
    mismatches = READERS[library][kind]
    wrong = {seed: count for seed in range(n_models) if (count := mismatches(seed))}
    assert wrong == {}
