"""
Confusion by level and below a parent
=====================================

A confusion matrix of all classes is unreadable when there are many. One per level, or one of the
children of a node, is not.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

import palmette as pm

digits = pm.datasets.load_digits_hierarchy()
X_train, X_test, y_train, y_test = train_test_split(digits.X, digits.y, random_state=0)
model = pm.LocalPerParentClassifier(
    DecisionTreeClassifier(random_state=0), hierarchy=digits.hierarchy
).fit(X_train, y_train)

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
show = pm.plotting.HierarchicalConfusionDisplay.from_estimator
show(model, X_test, y_test, level=2, ax=left)
show(model, X_test, y_test, parent="closed", ax=right)
plt.show()
