"""
Learners of class trees
=======================

Seven ways to learn a tree over the classes, measured by their agreement with the tree that the data
were generated from: the share of triplets of classes with the same order in both trees.
"""

# %%
from time import process_time

import matplotlib.pyplot as plt

import palmette as pm

data = pm.datasets.make_hierarchical_classification(
    1200, 20, branching=(3, 3, 3), class_sep=0.6, y_form="names", random_state=1
)
learners = [
    pm.BHCTree(),
    pm.MFTree(branching=3),
    pm.LabelEmbeddingTree(branching=3, random_state=0),
    pm.DependenceTree(branching=3, random_state=0),
    pm.AgglomerativeTree(),
    pm.BalancedTree(branching=3),
    pm.RandomTree(random_state=0),
]
names, agreement, seconds = [], [], []
for learner in learners:
    start = process_time()
    tree = learner.fit(data.X, data.y).hierarchy_
    seconds.append(process_time() - start)
    names.append(type(learner).__name__)
    agreement.append(pm.metrics.triplet_accuracy(tree, data.hierarchy))

# %%
# The random tree is the baseline.
figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
bars = axes.barh(names, agreement, color="tab:green")
axes.bar_label(bars, [f"{value:.2f} ({time:.2f} s)" for value, time in zip(agreement, seconds)])
axes.set(xlim=(0, 1.25), xlabel="share of triplets that agree (CPU seconds of fit)")
axes.invert_yaxis()
plt.show()
