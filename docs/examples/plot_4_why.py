"""
Why this prediction, and can the probability be trusted?
========================================================

The votes of the rules that cover a row add up to its prediction. The second picture shows how often a probability comes
true.
"""

from matplotlib import pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from rulecover import RulePathClassifier, plot

data = load_breast_cancer(as_frame=True)
X, y = data.data, data.target_names[data.target]
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
model = RulePathClassifier(max_rules=8, choose="last", random_state=0).fit(X_train, y_train)

# %%
# One biopsy.
plot.explanation(model, X_test, row=3)
plt.show()

# %%
# The same as a table.
model.why(X_test[3:4])

# %%
# Half of the biopsies were held out. Of those with a probability near 0.8, about eight in ten should be of the class.
plot.reliability(model, X_test, y_test)
plt.show()
