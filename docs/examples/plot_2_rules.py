"""
A picture of a rule set
=======================

How many rows each rule covers, of which classes, and which columns the rules use.
"""

from matplotlib import pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

import rulecover
from rulecover import plot

data = load_breast_cancer(as_frame=True)
X, y = data.data, data.target_names[data.target]
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
forest = RandomForestClassifier(50, max_depth=4, random_state=0).fit(X_train, y_train)
few = rulecover.explain(forest, X_train, y_train, max_rules=6)

# %%
# Each bar is a rule.
plot.rules(few.rules_)
plt.show()

# %%
# Rules overlap. Which cover the same held-out rows?
plot.overlap(few.rules_, X_test)
plt.show()

# %%
# How much of the held-out rows is covered, and how accurate the rules are, as they are added one by one.
plot.coverage(few, X_test, y_test)
plt.show()
