"""
Fit on a Dask cluster
=====================

Local classifiers and forests fit their models on the workers of a Dask cluster. The model is the
same as without one, and has no part of the cluster.
"""

# %%
# Here the cluster is a single process with threads; `Client("tcp://...")` is a real one.
import matplotlib.pyplot as plt
import numpy as np
from distributed import Client
from sklearn.naive_bayes import GaussianNB

import palmette as pm

data = pm.datasets.make_hierarchical_classification(
    1000, 12, branching=(4, 4), class_sep=2.5, random_state=0
)
with Client(processes=False, dashboard_address=":0", n_workers=2) as client:
    on_cluster = pm.LocalPerNodeClassifier(GaussianNB(), client=client).fit(data.X, data.y)
alone = pm.LocalPerNodeClassifier(GaussianNB()).fit(data.X, data.y)

# %%
# Both models give the same probabilities.
ours, theirs = (each.predict_node_proba(data.X).ravel() for each in (alone, on_cluster))
print(f"largest difference: {np.abs(ours - theirs).max():.1e}")
figure, axes = plt.subplots(figsize=(3.6, 3.6), layout="constrained")
axes.plot(ours, theirs, ".", markersize=2, color="tab:green")
axes.set(xlabel="probabilities, one process", ylabel="probabilities, cluster", aspect="equal")
plt.show()
