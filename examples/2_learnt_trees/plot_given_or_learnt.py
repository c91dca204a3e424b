"""
A given tree, a learned tree, or none
=====================================

The same classifier along the hierarchy of the data, along three learned ones, along a random one,
and without any. A learner is fitted inside of `fit`, so that cross-validation is unbiased.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

import palmette as pm

data = pm.datasets.make_hierarchical_classification(
    900, 25, branching=(4, 3, 3), class_sep=2.5, y_form="names", random_state=3
)
trees = {
    "given": data.hierarchy,
    "BHC": pm.BHCTree(),
    "MF": pm.MFTree(branching=4),
    "Ward": pm.AgglomerativeTree(),
    "random": pm.RandomTree(branching=4, random_state=0),
    "none": None,
}
scores = [
    cross_val_score(
        pm.LocalPerParentClassifier(LogisticRegression(max_iter=200), hierarchy=tree),
        data.X,
        data.y,
        cv=3,
        scoring="accuracy",
    )
    for tree in trees.values()
]

# %%
# A learned tree comes close to the given one here, and a random one costs accuracy. On real data it
# depends: see "Learned hierarchies, given hierarchies and none" in :doc:`/benchmarks`.
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
axes.bar(list(trees), np.mean(scores, axis=1), yerr=np.std(scores, axis=1), color="tab:green")
axes.set(ylabel="accuracy (3 folds)", ylim=(np.min(scores) - 0.08, None))
plt.show()
