"""
Conformal sets and nodes
========================

A conformal prediction contains the true label with a probability that is chosen, for any model. It
may be a set of labels, or the deepest single node.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

import palmette as pm

digits = pm.datasets.load_digits_hierarchy()
h = digits.hierarchy
X_train, X_test, y_train, y_test = train_test_split(
    digits.X / 16, digits.y, test_size=0.4, random_state=0
)
bayes = pm.LocalPerParentClassifier(GaussianNB(var_smoothing=1e-3), hierarchy=h)
careful = pm.ConformalHierarchicalClassifier(bayes, random_state=0)

# %%
# A wanted coverage, the coverage on test rows, and the price: the size of the sets, and the depth
# of the nodes.
wanted = (0.7, 0.8, 0.9, 0.95, 0.98)
measured, sizes, depths = [], [], []
for coverage in wanted:
    careful.set_params(coverage=coverage).fit(X_train, y_train)
    sets = careful.predict_set(X_test)
    measured.append(np.mean([digit in each for digit, each in zip(y_test, sets)]))
    sizes.append(np.mean([len(each) for each in sets]))
    depths.append(h.depth[careful.predict_node_numbers(X_test)].mean())

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
left.plot(wanted, wanted, "--", color="tab:gray", label="wanted")
left.plot(wanted, measured, "o-", color="tab:green", label="measured")
left.set(xlabel="wanted coverage", ylabel="measured coverage of the sets")
left.legend()
right.plot(wanted, sizes, "o-", label="mean size of sets")
right.plot(wanted, depths, "s--", label="mean depth of nodes")
right.set(xlabel="wanted coverage")
right.legend()
plt.show()
