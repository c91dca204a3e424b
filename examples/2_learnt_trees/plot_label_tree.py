"""
A label tree for sets of many labels
====================================

With several labels per row from a large vocabulary, `ClassTreeClassifier` learns a tree over the
labels and finds the best of them by a beam search. Measures of ranked labels compare it with one
classifier per label.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

import palmette as pm

data = pm.datasets.make_hierarchical_classification(
    1500,
    1200,
    n_leaves=120,
    depth=2,
    sparse=True,
    density=0.03,
    class_sep=2.0,
    multi_path=2,
    random_state=0,
)
labels = [{path[-1] for path in row} for row in data.y]
X_train, X_test, y_train, y_test = train_test_split(data.X, labels, random_state=0)
models = {
    "label tree": pm.ClassTreeClassifier(random_state=0),
    "one classifier per label": pm.LinearMultilabel(random_state=0),
}

# %%
# Precision of the k best labels; every row has up to three true labels.
ks = (1, 2, 3, 4, 5)
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
for name, model in models.items():
    proba = model.fit(X_train, y_train).predict_proba(X_test)
    column = {label: i for i, label in enumerate(model.classes_)}
    truth = np.zeros(proba.shape, dtype=bool)
    for row, each in enumerate(y_test):
        truth[row, [column[label] for label in each if label in column]] = True
    axes.plot(ks, [pm.metrics.precision_at_k(truth, proba, k=k) for k in ks], "o-", label=name)
axes.set(xlabel="k", ylabel="precision of the k best labels", xticks=ks, ylim=(0, 1))
axes.legend()
plt.show()
