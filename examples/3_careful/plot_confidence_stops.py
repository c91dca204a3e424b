"""
Stop where the model is unsure
==============================

`Confident(p)` predicts the deepest node with a probability of at least p. A higher p gives shorter
paths that are right more often.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

import palmette as pm

digits = pm.datasets.load_digits_hierarchy()
h = digits.hierarchy
X_train, X_test, y_train, y_test = train_test_split(
    digits.X / 16, digits.y, test_size=0.4, random_state=0
)
model = pm.CalibratedHierarchicalClassifier(
    pm.LocalPerParentClassifier(GaussianNB(var_smoothing=1e-2), hierarchy=h),
    cv=3,
    random_state=0,
).fit(X_train, y_train)

# %%
truth = h.index(y_test)
thresholds = np.linspace(0, 0.99, 15)
depths, correct = [], []
for threshold in thresholds:
    nodes = model.set_params(decoding=pm.decoding.Confident(threshold)).predict_nodes(X_test)
    depths.append(h.depth[nodes].mean())
    correct.append(np.mean([n in h.ancestors(t, True) for n, t in zip(nodes, truth)]))

figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
axes.plot(thresholds, correct, "o-", color="tab:green", label="share of correct nodes")
axes.set(xlabel="confidence that is required", ylabel="share of correct nodes")
other = axes.twinx()
other.plot(thresholds, depths, "s--", color="tab:orange")
other.set_ylabel("mean depth of the predicted node", color="tab:orange")
plt.show()

# %%
# The same as one curve per level: accuracy among the rows that are answered.
pm.plotting.CoverageDisplay.from_estimator(model, X_test, y_test)
