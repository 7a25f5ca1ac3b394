"""Model files of XGBoost, LightGBM and CatBoost, read by our own parsers: no library is needed, no code is run."""

from __future__ import annotations

import os
from pathlib import Path

from rulecover.exceptions import DamagedModelError
from rulecover.readers.files import catboost_json, lightgbm_text, xgboost_json
from rulecover.readers.files.building import check_paths
from rulecover.readers.files.fields import Field
from rulecover.trees.tree import TreeEnsemble

#: Larger files are refused before they are read.
MAX_BYTES = 2**31

_WAY_OUT = (
    "files that can be read: XGBoost's model.save_model('model.json'), LightGBM's booster.save_model('model.txt'), "
    "CatBoost's model.save_model('model.json', format='json')"
)


def read(path: str | os.PathLike[str]) -> TreeEnsemble:
    """The trees of a model file, our own code as their routes."""
    name = Path(path).name
    size = Path(path).stat().st_size
    if size > MAX_BYTES:
        raise DamagedModelError(f"{name} has {size:,} bytes, more than the limit of {MAX_BYTES:,}; use fewer trees.")
    try:
        text = Path(path).read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise DamagedModelError(f"{name} is a binary file, or damaged; {_WAY_OUT}.") from None
    return read_text(text, name)


def read_text(text: str, name: str = "the model") -> TreeEnsemble:
    """The trees of a model file, given its text."""
    ensemble = _parsed(text, name)
    check_paths(name, ensemble.trees)
    return ensemble


def _parsed(text: str, name: str) -> TreeEnsemble:
    if text.startswith("tree\n") or text.startswith("tree\r\n"):
        return lightgbm_text.parse(text, name=name).ensemble
    if not text.lstrip().startswith("{"):
        raise DamagedModelError(f"{name} is not a model file that can be read; {_WAY_OUT}.")
    document = Field.of_json(text, name)
    if document.get("learner") is not None:
        return xgboost_json.parse(document).ensemble
    if document.get("features_info") is not None:
        return catboost_json.parse(document).ensemble
    raise DamagedModelError(f"{name} is JSON, but not a model that can be read; {_WAY_OUT}.")
