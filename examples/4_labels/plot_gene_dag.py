"""
A DAG of gene functions
=======================

Gene functions form a DAG: a function may have several parents, and a gene several functions. All
nodes have coherent probabilities: a child never exceeds its parents.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

import palmette as pm

edges = [
    ("function", "metabolism"),
    ("function", "transport"),
    ("function", "signalling"),
    ("metabolism", "lipids"),
    ("metabolism", "sugars"),
    ("transport", "lipid transport"),
    ("lipids", "lipid transport"),  # the second parent
    ("transport", "ion transport"),
    ("signalling", "receptors"),
    ("signalling", "ion channels"),
    ("ion transport", "ion channels"),  # another one
]
h = pm.Hierarchy.from_edges(edges)
data = pm.datasets.make_hierarchical_classification(
    800, 15, hierarchy=h, multi_path=1, class_sep=3.0, y_form="sets", random_state=0
)
X_train, X_test, y_train, y_test = train_test_split(data.X, data.y, random_state=0)

# %%
# A forest whose leaves hold training rows: its predictions are explained by neighbours.
forest = pm.CoherentForestClassifier(40, hierarchy=h, random_state=0).fit(X_train, y_train)
proba = forest.predict_node_proba(X_test)
print("predicted:", sorted(forest.predict(X_test[:1])[0]))
print("true:     ", sorted(y_test[0]))
print(forest.explain(X_test[:1], "ion channels")[0])

# %%
# The probabilities of 25 genes: rows of parents are darker than those of their children.
figure, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
image = axes.imshow(proba[:25].T, cmap="Greens", vmin=0, vmax=1, aspect="auto")
axes.set(yticks=range(h.n_nodes), yticklabels=h.names, xlabel="gene")
truth = pm.NodeLabels.encode(y_test[:25], h).closed.toarray()
genes, nodes = np.nonzero(truth)
axes.plot(genes, nodes, ".", color="tab:orange", label="true")
figure.colorbar(image, label="probability")
axes.legend(loc="lower right", bbox_to_anchor=(1, 1))
plt.show()
