"""
Many classes: the time of a prediction
======================================

A flat linear classifier compares a row with every class. A class tree visits a few nodes per level,
so that the number of products grows with the depth of the tree.
"""

# %%
from time import process_time

import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split
from sklearn.svm import LinearSVC

import palmette as pm

sizes = (50, 150, 400)
models = {
    "LinearSVC, one against the rest": lambda: LinearSVC(tol=0.1, random_state=0),
    "MFTreeClassifier": lambda: pm.MFTreeClassifier(random_state=0),
}
pm.MFTreeClassifier().fit([[0.0], [1.0], [2.0]] * 3, [0, 1, 2] * 3)  # compiles or loads kernels
accuracy = {name: [] for name in models}
seconds = {name: [] for name in models}
for n_classes in sizes:
    data = pm.datasets.make_hierarchical_classification(
        8 * n_classes,
        1500,
        n_leaves=n_classes,
        depth=3,
        sparse=True,
        density=0.02,
        class_sep=4.0,
        y_form="names",
        random_state=0,
    )
    parts = train_test_split(data.X, data.y, stratify=data.y, random_state=0)
    X_train, X_test, y_train, y_test = parts
    for name, make in models.items():
        start = process_time()
        model = make().fit(X_train, y_train)
        seconds[name].append(process_time() - start)
        accuracy[name].append((model.predict(X_test) == y_test).mean())

# %%
# Accuracy is similar; the time of a fit is not.
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
for name in models:
    left.plot(sizes, accuracy[name], "o-", label=name)
    right.loglog(sizes, seconds[name], "o-", label=name)
left.set(xlabel="number of classes", ylabel="accuracy", ylim=(0, 1))
right.set(xlabel="number of classes", ylabel="CPU seconds of fit")
right.set_xticks(sizes, sizes, minor=False)
right.set_xticks([], minor=True)
left.legend(fontsize=8)
plt.show()
