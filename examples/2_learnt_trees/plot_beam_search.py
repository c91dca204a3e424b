"""
Greedy, beam and exact search
=============================

A greedy search follows the best child at every node and cannot correct an early error. A beam keeps
several nodes per level; as wide as the tree, it is exact. The tree is random here, so that early
errors are frequent.
"""

# %%
from time import process_time

import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split

import palmette as pm

data = pm.datasets.make_hierarchical_classification(
    2400, 40, branching=(5, 4, 4), class_sep=4.0, level_decay=0.8, y_form="names", random_state=0
)
X_train, X_test, y_train, y_test = train_test_split(data.X, data.y, random_state=0)
model = pm.ClassTreeClassifier(
    tree=pm.RandomTree(branching=4, random_state=0), router="linear", random_state=0
)
model.fit(X_train, y_train)

# %%
# The model is fitted once; the search is a parameter of the prediction.
widths = (1, 2, 3, 5, 10, 20)
accuracy, seconds = [], []
for width in widths:
    start = process_time()
    predicted = model.set_params(decoding="beam", beam_width=width).predict(X_test)
    seconds.append(process_time() - start)
    accuracy.append((predicted == y_test).mean())
exact = (model.set_params(decoding="exact").predict(X_test) == y_test).mean()

figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
axes.plot(widths, accuracy, "o-", label="beam search")
axes.axhline(exact, color="tab:gray", linestyle="--", label="exact search")
axes.set(xlabel="width of the beam (1 is greedy)", ylabel="accuracy", xscale="log")
axes.set_xticks(widths, widths)
axes.legend()
plt.show()
