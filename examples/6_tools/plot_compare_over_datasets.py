"""
Compare models over several data sets
=====================================

Ranks over data sets, with Friedman's test and a critical-difference diagram: bars join methods
whose mean ranks do not differ significantly.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import palmette as pm

estimators = {
    "logistic": LogisticRegression(max_iter=200),
    "naive Bayes": GaussianNB(),
    "tree": DecisionTreeClassifier(random_state=0),
}
models = {f"flat, {name}": pm.FlatClassifier(each) for name, each in estimators.items()}
for name, each in estimators.items():
    models[f"local, {name}"] = pm.LocalPerParentClassifier(each)

# %%
# Ten generated data sets of different difficulty.
scores = np.empty((10, len(models)))
for seed in range(len(scores)):
    data = pm.datasets.make_hierarchical_classification(
        300, 10, branching=(3, 3), class_sep=1.5 + 0.2 * seed, random_state=seed
    )
    X_train, X_test, y_train, y_test = train_test_split(data.X, data.y, random_state=seed)
    for j, model in enumerate(models.values()):
        predicted = model.fit(X_train, y_train).predict(X_test)
        scores[seed, j] = pm.metrics.hierarchical_f1_score(y_test, predicted)

pm.plotting.CriticalDifferenceDisplay.from_scores(scores, methods=list(models))
plt.show()
