"""
Calibrated probabilities on every level
=======================================

Naive Bayes is overconfident. Calibration curves that are fitted by cross-fitting correct this, and
the probabilities of children still sum to that of their parent.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

import palmette as pm

digits = pm.datasets.load_digits_hierarchy()
X_train, X_test, y_train, y_test = train_test_split(
    digits.X / 16, digits.y, test_size=0.4, random_state=0
)
bayes = pm.LocalPerParentClassifier(GaussianNB(var_smoothing=1e-3), hierarchy=digits.hierarchy)
models = {"raw": bayes}
for method in ("sigmoid", "isotonic"):
    models[method] = pm.CalibratedHierarchicalClassifier(bayes, method=method, cv=3, random_state=0)

# %%
# One curve per level; the expected calibration error is in the legend.
for name, model in models.items():
    model.fit(X_train, y_train)
    display = pm.plotting.HierarchicalReliabilityDisplay.from_estimator(model, X_test, y_test)
    display.ax_.set_xlabel(f"confidence, {name}")
plt.show()
