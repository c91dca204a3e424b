"""
Which model for which data?
===========================

Four kinds of models are compared on three kinds of problems: few classes of dense features, many
classes with few rows, and sparse counts as from texts. No model is best on all of them; the
guide says more about :doc:`the choice of a model </guide/choosing_a_model>`.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

import palmette as pm

make = pm.datasets.make_hierarchical_classification
problems = {
    "10 digits,\n64 pixels": pm.datasets.load_digits_hierarchy(),
    "120 classes,\n10 rows each": make(
        1200, 30, branching=(4, 5, 6), class_sep=3.0, random_state=0
    ),
    "60 classes,\nsparse counts": make(
        1200, 2000, n_leaves=60, sparse=True, density=0.01, class_sep=0.8, random_state=0
    ),
}
models = {
    "flat": pm.FlatClassifier(LogisticRegression(max_iter=300)),
    "local per parent": pm.LocalPerParentClassifier(LogisticRegression(max_iter=300)),
    "class tree, learned": pm.MFTreeClassifier(random_state=0),
    "boosting": pm.HierarchicalBoostingClassifier(n_estimators=60, n_bags=1, random_state=0),
}

# %%
# Every model gets the hierarchy of the data, except the class tree, which learns its own.
scores = np.empty((len(problems), len(models)))
for i, data in enumerate(problems.values()):
    X = data.X / data.X.max()
    y = pm.NodeLabels.encode(data.y, data.hierarchy).terminals  # the number of the true node
    labels = np.asarray(data.hierarchy.path_strings)[y]
    X_train, X_test, y_train, y_test = train_test_split(X, labels, stratify=labels, random_state=0)
    for j, model in enumerate(models.values()):
        if "hierarchy" in model.get_params(deep=False):
            model.set_params(hierarchy=data.hierarchy)
        predicted = model.fit(X_train, y_train).predict(X_test)
        scores[i, j] = pm.metrics.hierarchical_f1_score(y_test, predicted, hierarchy=data.hierarchy)

# %%
figure, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
places = np.arange(len(problems))
for j, name in enumerate(models):
    bars = axes.bar(places + 0.2 * (j - 1.5), scores[:, j], 0.19, label=name)
    axes.bar_label(bars, fmt="%.2f", fontsize=8)
axes.set(xticks=places, xticklabels=problems, ylabel="hierarchical F1", ylim=(0, 1.25))
axes.legend(ncols=4, loc="upper center", fontsize=8)
plt.show()
