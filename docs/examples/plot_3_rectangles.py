"""
A cover, as in the paper
========================

Rules over two columns are rectangles. A cover reaches every row; where rectangles overlap, rules vote together.
"""

from matplotlib import pyplot as plt
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

from rulecover import MIRCOClassifier, plot

X, y = load_iris(return_X_y=True, as_frame=True)
X, y = X[["petal length (cm)", "petal width (cm)"]], y.map(dict(enumerate(["setosa", "versicolor", "virginica"])))
cover = MIRCOClassifier(RandomForestClassifier(30, max_depth=3, random_state=0), solver="exact", random_state=0).fit(
    X, y
)
plot.rectangles(cover.rules_, X, y, features=list(X.columns))
plt.show()

# %%
# How few rules could cover every flower? The certificate has the answer.
print(cover.certificate_)

# %%
cover.rules_
