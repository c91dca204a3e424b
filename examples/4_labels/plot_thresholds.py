"""
Thresholds that are tuned
=========================

A probability of one half is rarely the best threshold for a rare label. `ThresholdedMultilabel`
tunes one threshold per label on rows that the model has not seen, for any estimator.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.preprocessing import MultiLabelBinarizer

import palmette as pm

data = pm.datasets.make_hierarchical_classification(
    900, 20, branching=(12,), multi_path=1, imbalance=1.0, class_sep=2.5, random_state=1
)
y = MultiLabelBinarizer().fit_transform(data.y)
X_train, X_test, y_train, y_test = pm.multilabel.iterative_train_test_split(
    data.X, y, test_size=0.4, random_state=0
)
forest = pm.TreesMultilabel("random_forest", 40, decoding=0.5, random_state=0)
models = {
    "one half": forest,
    "best F1 per label": pm.ThresholdedMultilabel(forest, rule="f1", cv=3, random_state=0),
    "shrunk (the default)": pm.ThresholdedMultilabel(forest, cv=3, random_state=0),
}

# %%
# A threshold of one half predicts too few labels. The shrunk rule bounds how many are predicted.
macro, micro, ratio = [], [], []
for model in models.values():
    predicted = model.fit(X_train, y_train).predict(X_test)
    macro.append(pm.metrics.multilabel_f1_score(y_test, predicted, average="macro"))
    micro.append(pm.metrics.multilabel_f1_score(y_test, predicted, average="micro"))
    ratio.append(np.sum(predicted) / y_test.sum())

figure, axes = plt.subplots(1, 3, figsize=(9, 2.4), layout="constrained", sharey=True)
for axis, title, values in zip(
    axes, ("macro F1", "micro F1", "predicted labels per true one"), (macro, micro, ratio)
):
    bars = axis.barh(list(models), values, color="tab:green")
    axis.bar_label(bars, fmt="%.2f", padding=2)
    axis.set(title=title, xlim=(0, 1.3 * max(values)))
axes[0].invert_yaxis()
plt.show()
