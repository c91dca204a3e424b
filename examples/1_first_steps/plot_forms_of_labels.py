"""
Labels in any form
==================

The same labels, written as paths, as names, as strings with a separator, as a data frame with one
column per level, or as a 0/1 matrix. Predictions come back in the form that was given.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.naive_bayes import GaussianNB

import palmette as pm

paths = [("animal", "cat"), ("animal", "dog"), ("plant", "oak"), ("plant", "fern")] * 10
rng = np.random.default_rng(0)
corners = {"cat": (0, 0), "dog": (0, 3), "oak": (4, 0), "fern": (4, 3)}
X = np.array([corners[leaf] for _, leaf in paths]) + rng.normal(size=(40, 2)) * 0.7
h = pm.Hierarchy.from_paths(paths)

forms = {
    "paths": paths,
    "names": [leaf for _, leaf in paths],
    "strings": [" > ".join(path) for path in paths],
    "columns": pd.DataFrame(paths, columns=["kingdom", "kind"]),
    "matrix": pm.NodeLabels.encode(paths, h).closed.toarray().astype(int)[:, 1:],
}

# %%
# Every form is read as the same nodes of the hierarchy.
for name in ("paths", "names", "strings", "columns"):
    model = pm.LocalPerParentClassifier(GaussianNB(), hierarchy=h).fit(X, forms[name])
    print(f"{name:8}", model.predict(X[:1]))

# %%
# `NodeLabels` is the common form inside of all estimators: a sparse matrix of rows and nodes,
# closed under ancestors.
labels = pm.NodeLabels.encode(forms["strings"], h)
figure, axes = plt.subplots(figsize=(6, 2.6), layout="constrained")
axes.imshow(labels.closed.toarray().T, aspect="auto", cmap="Greens")
axes.set(yticks=range(h.n_nodes), yticklabels=h.path_strings, xlabel="row")
plt.show()
