"""Parts of the rows: a report is the same however many there are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from tests.reporting.clouds import clouds

from palmette import LocalPerParentClassifier
from palmette._arrays import joined
from palmette.calibration import ConformalHierarchicalClassifier
from palmette.reporting import _parts, report
from palmette.reporting._parts import in_parts


def test_rows_beside_x_are_cut_like_x(monkeypatch):
    monkeypatch.setattr(_parts, "_ROWS", 3)
    X, beside = np.arange(7.0)[:, None], (np.arange(7), sparse.eye_array(7, format="csr"))
    parts = list(in_parts(lambda X, y, s: (X, y, s.indices), X, 2, None, beside))
    assert [len(part[0]) for part in parts] == [3, 3, 1]
    for each in range(3):
        np.testing.assert_array_equal(
            np.concatenate([part[each] for part in parts]).ravel(), np.arange(7)
        )


def test_parts_have_fewer_rows_if_there_are_many_nodes(monkeypatch):
    monkeypatch.setattr(_parts, "_NUMBERS_AT_ONCE", 100)
    assert list(in_parts(len, [0] * 10, n_nodes=10)) == [3, 3, 3, 1]


@pytest.mark.parametrize(
    "labels",
    [
        [("a",), ("b", "c")],
        np.array(["a", "long"]),
        np.array([["a", "b"], ["c", ""]], dtype=object),
        pd.Series(["a", "b"], index=[5, 7]),
        sparse.csr_array([[1, 0], [1, 1]]),
    ],
    ids=["paths", "names", "levels", "series", "sparse"],
)
def test_labels_keep_their_form(labels):
    rows = labels.iloc if hasattr(labels, "iloc") else labels
    whole = joined([rows[:1], rows[1:]])
    assert type(whole) is type(labels)
    if sparse.issparse(labels):
        labels, whole = labels.toarray(), whole.toarray()
    assert np.asarray(whole, dtype=object).tolist() == np.asarray(labels, dtype=object).tolist()
    if hasattr(labels, "index") and hasattr(labels, "iloc"):
        assert whole.index.tolist() == [5, 7]


def test_a_report_does_not_depend_on_its_parts(monkeypatch):
    train, labels = clouds(400, noise=0.5, seed=1)
    base = LocalPerParentClassifier(LogisticRegression())
    model = ConformalHierarchicalClassifier(base, random_state=0).fit(train, labels)
    X, y = clouds()
    whole = report(model, X, y, n_bootstrap=20, other=model).facts
    monkeypatch.setattr(_parts, "_ROWS", 7)
    cut = report(model, X, y, n_bootstrap=20, other=model).facts
    assert whole.keys() == cut.keys()
    for name in whole.keys() - {"made"}:
        assert whole[name] == cut[name], name


def test_rows_and_results_travel_as_bytes(monkeypatch):
    """Dask would send lists of labels object by object."""
    sent = []

    def stream_on(client, function, given, items):
        for item in items:
            sent.extend([item, found := function(*given, item)])
            yield found

    monkeypatch.setattr(_parts, "stream_on", stream_on)
    monkeypatch.setattr(_parts, "_ROWS", 3)
    X = [[("a", "b")], [("c",)], [{"d"}], ["e"]]
    found = list(in_parts(list, X, n_nodes=2, client="a cluster"))
    assert found == list(in_parts(list, X, n_nodes=2)) == [X[:3], X[3:]]
    assert len(sent) == 4
    assert {type(each) for each in sent} == {bytes}
