"""
Imbalance: how rare are the labels, and who finds them?
=======================================================

Twenty labels whose frequencies follow Zipf's law. A structured forest with tuned thresholds is
compared with extra trees, label by label.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import f1_score
from sklearn.preprocessing import MultiLabelBinarizer

import palmette as pm

data = pm.datasets.make_hierarchical_classification(
    1000, 25, branching=(20,), multi_path=1, imbalance=1.2, class_sep=3.5, random_state=0
)
y = MultiLabelBinarizer().fit_transform(data.y)
found = pm.metrics.describe_labels(y)
print(f"{found.n_labels} labels, {found.cardinality:.1f} per row")
print(f"the most frequent is {found.max_imbalance:.0f} times as frequent as the rarest")

# %%
# Iterative stratification divides the rows of every label in proportion.
X_train, X_test, y_train, y_test = pm.multilabel.iterative_train_test_split(
    data.X, y, test_size=0.4, random_state=0
)
models = {
    "structured forest": pm.StructuredForestClassifier(n_estimators=40, random_state=0),
    "extra trees": pm.TreesMultilabel("extra_trees", 40, random_state=0),
}
order = np.argsort(-y.sum(axis=0))
figure, (top, bottom) = plt.subplots(
    2, 1, figsize=(7, 4.4), layout="constrained", sharex=True, height_ratios=(1, 2)
)
top.bar(range(y.shape[1]), y.sum(axis=0)[order], color="tab:gray")
top.set_ylabel("rows")
for j, (name, model) in enumerate(models.items()):
    predicted = model.fit(X_train, y_train).predict(X_test)
    f1 = f1_score(y_test, predicted, average=None, zero_division=0)
    bottom.bar(np.arange(len(f1)) + 0.4 * (j - 0.5), f1[order], 0.38, label=name)
    print(f"{name}: macro F1 {f1.mean():.3f}")
bottom.set(xlabel="label, from frequent to rare", ylabel="F1")
bottom.legend()
plt.show()
