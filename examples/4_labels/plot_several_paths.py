"""
Several paths per row: forest, kernel, network and their blend
==============================================================

Four coherent models for several paths per row, by the area under the micro-averaged
precision-recall curve, which needs no threshold.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split

import palmette as pm

data = pm.datasets.make_hierarchical_classification(
    700, 30, branching=(4, 4), multi_path=1, class_sep=2.0, random_state=0
)
X_train, X_test, y_train, y_test = train_test_split(data.X, data.y, random_state=0)
h = data.hierarchy
models = {
    "forest": pm.CoherentForestClassifier(40, hierarchy=h, random_state=0),
    "kernel": pm.CoherentKernelClassifier(hierarchy=h, random_state=0),
    "network": pm.CoherentNetworkClassifier((64,), n_epochs=15, hierarchy=h, random_state=0),
    "boosting": pm.HierarchicalBoostingClassifier(h, n_estimators=60, random_state=0),
}
members = [(name, models[name]) for name in ("forest", "kernel", "network")]
models["blend"] = pm.CoherentBlendClassifier(members, hierarchy=h, random_state=0)

# %%
scores = {}
for name, model in models.items():
    proba = model.fit(X_train, y_train).predict_node_proba(X_test)
    scores[name] = pm.metrics.micro_auprc(y_test, proba, hierarchy=h)

figure, axes = plt.subplots(figsize=(6, 2.8), layout="constrained")
bars = axes.barh(list(scores), list(scores.values()), color="tab:green")
axes.bar_label(bars, fmt="%.3f", padding=2)
axes.set(xlabel="micro AU(PRC)", xlim=(0, 1.15 * max(scores.values())))
axes.invert_yaxis()
plt.show()
