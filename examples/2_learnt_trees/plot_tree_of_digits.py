"""
What a learned tree says about the classes
==========================================

`BHCTree` divides the ten digits by their pixels. The mean images of its groups show what they have
in common, which is not what a person calls round or straight.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import palmette as pm

digits = pm.datasets.load_digits_hierarchy()
tree = pm.BHCTree().fit(digits.X / 16, digits.y).hierarchy_
print(tree)
print(f"triplets that agree: {pm.metrics.triplet_accuracy(tree, digits.hierarchy):.2f}")

# %%
# The mean image of every node, level by level.
means = {}
for node in range(tree.n_nodes):
    below = [tree.names[leaf] for leaf in tree.leaves if node in tree.ancestors(leaf, True)]
    means[node] = digits.X[np.isin(digits.y, below)].mean(axis=0).reshape(8, 8), below

levels = [np.flatnonzero(tree.depth == depth) for depth in range(tree.max_depth + 1)]
figure, axes = plt.subplots(
    len(levels), max(map(len, levels)), figsize=(7, 1.35 * len(levels)), layout="constrained"
)
for row, nodes in zip(axes, levels):
    for axis in row:
        axis.axis("off")
    for axis, node in zip(row, nodes):
        image, below = means[node]
        axis.imshow(image, cmap="Greys")
        axis.set_title(" ".join(map(str, below)), fontsize=8)
plt.show()
