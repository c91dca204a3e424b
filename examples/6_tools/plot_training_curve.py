"""
Training curves and early stopping
==================================

The losses of boosting and the accuracy on held-out rows after every round show whether more rounds
help.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split

import palmette as pm

digits = pm.datasets.load_digits_hierarchy()
X_train, X_test, y_train, y_test = train_test_split(digits.X, digits.y, random_state=0)
model = pm.HierarchicalBoostingClassifier(
    digits.hierarchy, n_estimators=120, n_bags=1, random_state=0
).fit(X_train, y_train)
print(f"accuracy {model.score(X_test, y_test):.3f}")

# %%
pm.plotting.TrainingCurveDisplay.from_estimator(model, X_test, y_test)
plt.show()
