"""
Boosting by covers
==================

RCBoost solves a covering LP, trains the next trees on its duals, and takes in rules of negative reduced cost. The
history shows the objective, the pool and the least reduced cost, call by call.
"""

from matplotlib import pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from rulecover import RCBoostClassifier, plot

data = load_breast_cancer(as_frame=True)
X, y = data.data, data.target_names[data.target]
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
boosted = RCBoostClassifier.as_in_paper(max_rmp_calls=20, random_state=0).fit(X_train, y_train)
plot.history(boosted)
plt.show()

# %%
# Accuracy on held-out rows after each call.
accuracy = [float((stage == y_test).mean()) for stage in boosted.staged_predict(X_test)]
figure, ax = plt.subplots()
ax.plot(range(len(accuracy)), accuracy, marker="o")
ax.set(xlabel="RMP calls", ylabel="accuracy on held-out rows")
plt.show()
