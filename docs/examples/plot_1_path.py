"""
How many rules does it take?
============================

A path has a rule set of every size. The curve shows what each further rule brings on rows that were not used, and where
the forest is.
"""

# %%
# Wines of three growers, by thirteen measurements.
from matplotlib import pyplot as plt
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier

from rulecover import RulePathClassifier, plot

data = load_wine(as_frame=True)
X, y = data.data, data.target.map(dict(enumerate(["Barolo", "Grignolino", "Barbera"])))
forest = RandomForestClassifier(50, random_state=0)
path = RulePathClassifier(forest, max_rules=15, cv=5, random_state=0).fit(X, y)
plot.path(path)
plt.show()

# %%
# The size that was taken, and why.
print(path.size_reason_)

# %%
# Its rules, and what each adds to the log-odds.
path.vote_
