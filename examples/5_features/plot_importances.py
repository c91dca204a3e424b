"""
Importances of features at single nodes
=======================================

A boosted model has importances for all labels together, and for single nodes: a pixel that tells a
0 from other closed digits need not separate the 3 from the 5.
"""

# %%
import matplotlib.pyplot as plt

import palmette as pm

digits = pm.datasets.load_digits_hierarchy()
model = pm.HierarchicalBoostingClassifier(
    digits.hierarchy, n_estimators=60, n_bags=1, random_state=0
).fit(digits.X, digits.y)

# %%
# The importances are images here, since the features are pixels.
nodes = ("closed", "open", "open/curved", "open/straight")
figure, axes = plt.subplots(1, 5, figsize=(9, 2.2), layout="constrained")
axes[0].imshow(model.feature_importances_.reshape(8, 8), cmap="Greens")
axes[0].set_title("all labels")
for axis, node in zip(axes[1:], nodes):
    axis.imshow(model.feature_importances([node]).reshape(8, 8), cmap="Greens")
    axis.set_title(node)
for axis in axes:
    axis.axis("off")
plt.show()
