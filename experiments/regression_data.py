"""Seven regression data sets: four of scikit-learn's, and three that come inside packages (nothing is downloaded)."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes, make_friedman1, make_friedman2, make_friedman3

#: The words of diamonds, from worst to best.
_ORDERS = {
    "cut": ["Fair", "Good", "Very Good", "Premium", "Ideal"],
    "color": list("JIHGFED"),
    "clarity": ["I1", "SI2", "SI1", "VS2", "VS1", "VVS2", "VVS1", "IF"],
}


def diabetes() -> tuple[pd.DataFrame, np.ndarray]:
    """442 patients, the course of their diabetes within a year."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    return X, y.to_numpy(dtype=float)


def friedman1() -> tuple[pd.DataFrame, np.ndarray]:
    """Five columns that matter, two of them together, and five that do not; noise of variance 1."""
    return _named(*make_friedman1(500, noise=1.0, random_state=0))


def friedman2() -> tuple[pd.DataFrame, np.ndarray]:
    """The impedance of a circuit, a product of columns; a third of its spread is noise."""
    return _named(*make_friedman2(500, noise=125.0, random_state=0))


def friedman3() -> tuple[pd.DataFrame, np.ndarray]:
    """The phase angle of the same circuit, a quotient of columns."""
    return _named(*make_friedman3(500, noise=0.1, random_state=0))


def cars() -> tuple[pd.DataFrame, np.ndarray]:
    """Miles per gallon of 398 cars (package vega_datasets)."""
    table = pd.read_json(str(files("vega_datasets") / "_data" / "cars.json")).dropna(subset="Miles_per_Gallon")
    y = table.pop("Miles_per_Gallon").to_numpy(dtype=float)
    table["Year"] = pd.to_datetime(table["Year"]).dt.year
    X = pd.get_dummies(table.drop(columns="Name"), dtype=float)
    return X.fillna(X.median()).astype(float), y


def diamonds() -> tuple[pd.DataFrame, np.ndarray]:
    """The price of 1000 diamonds, drawn from 53,940 (package plotnine)."""
    table = pd.read_csv(str(files("plotnine") / "data" / "diamonds.csv")).sample(1000, random_state=0)
    for name, words in _ORDERS.items():
        table[name] = table[name].map({word: place for place, word in enumerate(words)})
    y = table.pop("price").to_numpy(dtype=float)
    return table.reset_index(drop=True).astype(float), y


def star98() -> tuple[pd.DataFrame, np.ndarray]:
    """The share of pupils above the median in mathematics in 303 Californian school districts (package statsmodels)."""
    table = pd.read_csv(str(files("statsmodels") / "datasets" / "star98" / "star98.csv"))
    y = (table.pop("PR50M") / table.pop("MATHTOT")).to_numpy(dtype=float)
    return table.iloc[:, :12].astype(float), y  # the rest are products of these


def _named(X: np.ndarray, y: np.ndarray) -> tuple[pd.DataFrame, np.ndarray]:
    return pd.DataFrame(X, columns=[f"x{f}" for f in range(X.shape[1])]), y


DATA = {each.__name__: each for each in (diabetes, friedman1, friedman2, friedman3, cars, diamonds, star98)}
