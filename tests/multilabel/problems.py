"""A multi-label problem of a few rows that several tests use: drawing it takes long."""

from __future__ import annotations

from sklearn.datasets import make_multilabel_classification

X, Y = make_multilabel_classification(120, 8, n_classes=4, n_labels=2, random_state=1)
