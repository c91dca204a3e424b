"""
Decision rules
==============

From the same probabilities, different rules choose different nodes: the most probable path, greedy
descent, or the answer with the minimum expected loss. Which is best depends on the metric.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

import palmette as pm

data = pm.datasets.make_hierarchical_classification(
    1500, 20, branching=(4, 3, 3), class_sep=2.2, random_state=0
)
h = data.hierarchy
X_train, X_test, y_train, y_test = train_test_split(data.X, data.y, random_state=0)
model = pm.LocalPerParentClassifier(LogisticRegression(), hierarchy=h).fit(X_train, y_train)

# %%
rules = {
    "best path": pm.decoding.BestPath(),
    "top-down": pm.decoding.TopDown(),
    "expected F1": pm.decoding.MinExpectedLoss("hierarchical_f1"),
    "expected tree error": pm.decoding.MinExpectedLoss("tree_induced_error"),
    "confident (.5)": pm.decoding.Confident(0.5),
}
measures = {
    "leaf accuracy": lambda y, p: pm.metrics.leaf_accuracy_score(y, p, hierarchy=h),
    "hierarchical F1": lambda y, p: pm.metrics.hierarchical_f1_score(y, p, hierarchy=h),
    "tree-induced error": lambda y, p: pm.metrics.tree_induced_error(y, p, hierarchy=h),
}
table = np.array(
    [
        [
            measure(y_test, model.set_params(decoding=rule).predict(X_test))
            for rule in rules.values()
        ]
        for measure in measures.values()
    ]
)

# %%
# Higher is better for the first two, lower for the last one.
figure, axes = plt.subplots(1, 3, figsize=(9, 2.8), layout="constrained", sharey=True)
for axis, name, values in zip(axes, measures, table):
    bars = axis.barh(list(rules), values, color="tab:green")
    axis.bar_label(bars, fmt="%.3f", fontsize=8, padding=2)
    axis.set(title=name, xlim=(0, 1.25 * values.max()))
axes[0].invert_yaxis()
plt.show()
