"""
A report, and its facts
=======================

A report evaluates a model on rows that it has not seen. It is a dictionary of plain values, which
is written as HTML, Markdown or JSON, and from which any picture can be made.
"""

# %%
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

import palmette as pm

digits = pm.datasets.load_digits_hierarchy()
X, y = digits.X / 16, digits.y
model = pm.LocalPerParentClassifier(LogisticRegression(), hierarchy=digits.hierarchy)
report = pm.report(model.fit(X[::2], y[::2]), X[1::2], y[1::2])
print(report.facts["verdict"])

# %%
# The HTML page is a single file without any reference to the network.
page = Path(tempfile.mkdtemp()) / "report.html"
report.write(page)
print(f"{page.stat().st_size / 1000:.0f} kB")

# %%
# Headline scores with their bootstrap intervals.
figures = [each for each in report.facts["figures"] if each["name"] != "tree_induced_error"]
values = np.array([[each["value"], each["low"], each["high"]] for each in figures])
figure, axes = plt.subplots(figsize=(6, 2.8), layout="constrained")
axes.errorbar(
    values[:, 0],
    np.arange(len(figures)),
    xerr=np.abs(values[:, 1:] - values[:, :1]).T,
    fmt="o",
    capsize=4,
    color="tab:green",
)
axes.set_yticks(np.arange(len(figures)), [each["name"].replace("_", " ") for each in figures])
axes.invert_yaxis()
axes.set(xlabel="score, with 95 % interval")
plt.show()
