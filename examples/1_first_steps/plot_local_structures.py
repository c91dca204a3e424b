"""
One classifier per parent, per node, per level, or one for all
==============================================================

The four structures of local classification, with the same estimator and the same data. They differ
in what each local model sees, in their number, and in the time of a fit.
"""

# %%
from time import process_time

import matplotlib.pyplot as plt
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

import palmette as pm

data = pm.datasets.make_hierarchical_classification(
    2000, 20, branching=(4, 4, 3), class_sep=3.0, random_state=0
)
X_train, X_test, y_train, y_test = train_test_split(data.X, data.y, random_state=0)
structures = {
    "flat": pm.FlatClassifier,
    "per parent": pm.LocalPerParentClassifier,
    "per node": pm.LocalPerNodeClassifier,
    "per level": pm.LocalPerLevelClassifier,
}

# %%
# The accuracy falls with every level, since a row must be right on all levels above.
figure, (left, right) = plt.subplots(
    1, 2, figsize=(8, 3.2), layout="constrained", width_ratios=(2, 1)
)
seconds = []
for name, structure in structures.items():
    start = process_time()
    model = structure(LogisticRegression(max_iter=300), hierarchy=data.hierarchy)
    model.fit(X_train, y_train)
    seconds.append(process_time() - start)
    predicted = model.predict(X_test)
    accuracy = [
        pm.metrics.level_accuracy_score(y_test, predicted, hierarchy=data.hierarchy, level=level)
        for level in (1, 2, 3)
    ]
    left.plot((1, 2, 3), accuracy, "o-", label=name)
left.set(xlabel="level", ylabel="accuracy", xticks=(1, 2, 3))
left.legend()
right.barh(list(structures), seconds, color="tab:gray")
right.set(xlabel="CPU seconds of fit")
plt.show()
