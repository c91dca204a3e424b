"""
A first model and its scores per node
=====================================

Handwritten digits are arranged in a small hierarchy of shapes. One logistic regression per parent
node chooses among its children, and the scores of all nodes are shown as colours.
"""

# %%
# The hierarchy has two levels below the open digits and one below the closed ones.
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

import palmette as pm

digits = pm.datasets.load_digits_hierarchy()
print(digits.hierarchy)

# %%
# `LocalPerParentClassifier` takes any scikit-learn classifier.
X_train, X_test, y_train, y_test = train_test_split(digits.X / 16, digits.y, random_state=0)
model = pm.LocalPerParentClassifier(LogisticRegression(max_iter=500), hierarchy=digits.hierarchy)
model.fit(X_train, y_train)
predicted = model.predict(X_test)
print(f"accuracy {(predicted == y_test).mean():.3f}")
f1 = pm.metrics.hierarchical_f1_score(y_test, predicted, hierarchy=digits.hierarchy)
print(f"hierarchical F1 {f1:.3f}")

# %%
# Errors between neighbours in the tree cost less than those between its branches. The plot shows
# which nodes are difficult.
pm.plotting.HierarchyDisplay.from_estimator(model, X_test, y_test, value="f1")
