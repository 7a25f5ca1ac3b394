"""Tree ensembles of every library that can be read: trainable, trained, as a booster and as a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import catboost
import lightgbm
import numpy as np
import xgboost
from record_data import Data, Target
from sklearn import ensemble, tree
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

PLAIN = ("array", "frame", "float32", "polars")
SPARSE = ("sparse", *PLAIN)
GAPS = ("gaps", "frame with gaps", *PLAIN)
MIXED = ("words", "texts", "categories")


@dataclass(frozen=True)
class Source:
    """How a model is made, on which kinds of data, and whether it knows labels as codes from 0 only.

    Parameters
    ----------
    make
        From a target and a seed to the model, not trained.
    kinds
        The kinds of `record_data.KINDS` that it is trained on.
    codes
        Whether labels must be codes.
    """

    make: Callable[[Target, int], Any]
    kinds: tuple[str, ...]
    codes: bool = False


def _sklearn(module: Any, name: str, target: Target, seed: int, **settings: Any) -> Any:
    kind = {"classes": "Classifier", "numbers": "Regressor"}[target]
    return getattr(module, f"{name}{kind}")(random_state=seed, **settings)


def _tree(target: Target, seed: int, depth: int = 3) -> Any:
    return _sklearn(tree, "DecisionTree", target, seed, max_depth=depth)


def _forest(target: Target, seed: int) -> Any:
    return _sklearn(ensemble, "RandomForest", target, seed, n_estimators=6, max_depth=4)


def _bagging(target: Target, seed: int) -> Any:
    return _sklearn(ensemble, "Bagging", target, seed, estimator=_tree(target, seed), n_estimators=4, max_features=0.8)


def _hist(target: Target, seed: int) -> Any:
    settings = {"max_iter": 4, "max_depth": 3, "min_samples_leaf": 5, "categorical_features": "from_dtype"}
    return _sklearn(ensemble, "HistGradientBoosting", target, seed, **settings)


def _ada(target: Target, seed: int) -> Any:
    return _sklearn(ensemble, "AdaBoost", target, seed, estimator=_tree(target, seed, 2), n_estimators=5)


def _voting(target: Target, seed: int) -> Any:
    members = [("forest", _forest(target, seed)), ("tree", _tree(target, seed))]
    return {"classes": ensemble.VotingClassifier, "numbers": ensemble.VotingRegressor}[target](members)


def _one_hot(target: Target, seed: int) -> Any:
    numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    words = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_pipeline(_by_type(numbers, words), _forest(target, seed))


def _ordinal(target: Target, seed: int) -> Any:
    words = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2)
    trees = _sklearn(ensemble, "ExtraTrees", target, seed, n_estimators=5, max_depth=4)
    return make_pipeline(_by_type(SimpleImputer(strategy="median"), words), trees)


def _by_type(numbers: Any, words: Any) -> ColumnTransformer:
    return ColumnTransformer(
        [
            ("numbers", numbers, make_column_selector(dtype_include=np.number)),
            ("words", words, make_column_selector(dtype_exclude=np.number)),
        ]
    )


def _scaled(target: Target, seed: int) -> Any:
    boosting = _sklearn(ensemble, "GradientBoosting", target, seed, n_estimators=4, max_depth=3)
    return make_pipeline(SimpleImputer(), StandardScaler(), boosting)


def _xgboost(target: Target, seed: int, **settings: Any) -> Any:
    make = {"classes": xgboost.XGBClassifier, "numbers": xgboost.XGBRegressor}[target]
    return make(n_estimators=4, max_depth=3, n_jobs=1, random_state=seed, enable_categorical=True, **settings)


def _lightgbm(target: Target, seed: int, **settings: Any) -> Any:
    make = {"classes": lightgbm.LGBMClassifier, "numbers": lightgbm.LGBMRegressor}[target]
    settings = {"n_estimators": 4, "num_leaves": 6, "min_child_samples": 5, **settings}
    return make(n_jobs=1, random_state=seed, verbose=-1, deterministic=True, force_col_wise=True, **settings)


def _catboost(target: Target, seed: int, **settings: Any) -> Any:
    make = {"classes": catboost.CatBoostClassifier, "numbers": catboost.CatBoostRegressor}[target]
    settings = {"iterations": 4, "depth": 3, "one_hot_max_size": 10, **settings}
    return make(thread_count=1, random_seed=seed, verbose=False, allow_writing_files=False, **settings)


#: What an estimator can clone and train.
TRAINABLE: dict[str, Source] = {
    "default": Source(lambda target, seed: None, PLAIN),
    "tree": Source(_tree, GAPS),
    "forest": Source(_forest, (*GAPS, "sparse")),
    "extra trees": Source(
        lambda target, seed: _sklearn(ensemble, "ExtraTrees", target, seed, n_estimators=5, max_depth=4), SPARSE
    ),
    "bagging": Source(_bagging, PLAIN),
    "gradient boosting": Source(
        lambda target, seed: _sklearn(ensemble, "GradientBoosting", target, seed, n_estimators=4), SPARSE
    ),
    "hist gradient boosting": Source(_hist, ("categories", *GAPS)),
    "adaboost": Source(_ada, PLAIN),
    "voting": Source(_voting, PLAIN),
    "one-hot pipeline": Source(_one_hot, MIXED),
    "ordinal pipeline": Source(_ordinal, ("words", "texts")),
    "scaled pipeline": Source(_scaled, GAPS),
    "xgboost": Source(_xgboost, ("categories", *GAPS), codes=True),
    "lightgbm": Source(_lightgbm, ("categories", "gaps", *PLAIN)),
    "catboost": Source(_catboost, ("gaps", "array", "frame")),
    "catboost with texts": Source(partial(_catboost, cat_features=["colour", "shape"]), ("texts",)),
}

#: What comes trained: the boosters inside the models, other ways of boosting, and model files.
TRAINED: dict[str, Source] = {
    "xgboost booster": Source(_xgboost, ("categories", "gaps", "array"), codes=True),
    "xgboost dart": Source(partial(_xgboost, booster="dart", rate_drop=0.3), GAPS, codes=True),
    "xgboost file": Source(_xgboost, ("gaps", "array", "frame"), codes=True),
    "lightgbm booster": Source(_lightgbm, ("categories", "gaps", "array"), codes=True),
    "lightgbm forest": Source(
        partial(_lightgbm, boosting_type="rf", subsample=0.7, subsample_freq=1, zero_as_missing=True), GAPS
    ),
    "lightgbm file": Source(_lightgbm, ("categories", "gaps", "array"), codes=True),
    "catboost depthwise": Source(partial(_catboost, grow_policy="Depthwise"), ("gaps", "frame")),
    "catboost file": Source(_catboost, ("gaps", "array"), codes=True),
}


def trained(name: str, model: Any, data: Data, folder: Path) -> Any:
    """The model, trained on the data; its booster or its file where the name says so."""
    model.fit(data.X, data.y)
    library, _, form = name.partition(" ")
    if form == "file":
        return _file_of(library, model, folder)
    if form == "booster":
        return model.get_booster() if library == "xgboost" else model.booster_
    return model


def _file_of(library: str, model: Any, folder: Path) -> Path:
    path = folder / {"xgboost": "model.json", "lightgbm": "model.txt", "catboost": "model.json"}[library]
    if library == "catboost":
        model.save_model(str(path), format="json")
    else:
        (model.get_booster() if library == "xgboost" else model.booster_).save_model(str(path))
    return path
