"""
Features per node, as a heat map
================================

HiRR-FS is one sparse regression over all nodes. The heat map shows which features separate the
children of which node; the triangles mark the features that are informative by construction.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import palmette as pm

data = pm.datasets.make_hierarchical_classification(
    600, 40, branching=(3, 3), n_informative=12, random_state=0
)
selector = pm.HierarchicalFeatureSelector(score="hirr", n_features_to_select=5)
selector.fit(data.X, data.y)
h = selector.hierarchy_

# %%
# One row of scores per inner node.
inner = np.flatnonzero(~h.is_leaf)
shown = selector.node_scores_[inner].toarray()
figure, axes = plt.subplots(figsize=(8, 2.6), layout="constrained")
image = axes.imshow(shown / shown.max(axis=1, keepdims=True), cmap="Greens", aspect="auto")
axes.set(
    yticks=range(len(inner)),
    yticklabels=["root", *h.path_strings[inner[1:]]],
    xlabel="feature",
    ylabel="node",
)
axes.plot(data.informative, [-0.62] * len(data.informative), "v", color="tab:orange")
axes.set_ylim(len(inner) - 0.5, -0.9)
figure.colorbar(image, label="score, relative to the best")
plt.show()
