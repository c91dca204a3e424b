"""
How many features, and how stable is the choice?
================================================

The number of features is chosen by cross-validation, and the smallest number within one standard
error of the best one is kept. Stability compares the features that are selected on random halves of
the rows.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.linear_model import LogisticRegression

import palmette as pm

data = pm.datasets.make_hierarchical_classification(
    500, 40, branching=(3, 3), n_informative=12, random_state=0
)
selector = pm.HierarchicalFeatureSelector(score="hirr")
model = pm.LocalPerParentClassifier(LogisticRegression(), feature_selector=selector)
counts = (2, 4, 6, 8, 12, 20, 40)
tried = pm.feature_selection.choose_n_features(model, data.X, data.y, counts=counts, cv=3)
print(f"best {tried.best}, smallest within one standard error {tried.n_features}")

# %%
stability = [
    pm.feature_selection.node_stability(
        selector.set_params(n_features_to_select=count),
        data.X,
        data.y,
        n_subsamples=4,
        random_state=0,
    ).mean
    for count in counts[:-1]
]
figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
axes.plot(tried.counts, tried.mean, "o-", color="tab:green", label="hierarchical F1")
axes.plot(counts[:-1], stability, "s--", color="tab:orange", label="stability")
axes.axvline(tried.n_features, color="tab:gray", linestyle=":", label="chosen")
axes.set(xlabel="features per node", xscale="log")
axes.set_xticks(counts, counts)
axes.set_xticks([], minor=True)
axes.legend()
plt.show()
