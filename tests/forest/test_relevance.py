"""Features that are related to the labels by themselves are preferred by the splits."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import roc_auc_score

from palmette import PalmetteError
from palmette.forest import StructuredForestClassifier
from palmette.forest import _growing as growing
from palmette.forest._growing import ForestGrower, TreeDraws
from palmette.forest._parameters import tree_settings
from palmette.forest._rows import distinct_rows

RNG = np.random.default_rng(0)
USEFUL = RNG.normal(size=(120, 3))
Y = (USEFUL @ RNG.normal(size=(3, 4)) + RNG.normal(size=(120, 4)) > 0.8).astype(int)
X = np.column_stack([USEFUL, RNG.normal(size=(120, 40))])


def forest(relevance, n_trees=15, **parameters):
    return StructuredForestClassifier(
        n_trees, relevance=relevance, mixed=False, random_state=0, decoding=0.5, **parameters
    )


def grower(rows, labels, power=0.5):
    labels = sparse.csr_array(labels.astype(bool))
    merged = distinct_rows(rows, labels, None)
    settings = tree_settings(forest(power), rows.shape[1])
    kept = rows[merged.first]
    kept = kept if sparse.issparse(kept) else kept.astype(np.float32)
    draws = TreeDraws(0.75, 1.0, 1.0)
    return ForestGrower(kept, labels[merged.first], merged, draws, settings, 0, power), merged


def all_rows(found):
    """The draw of a tree, with all rows in the place of some."""
    return found._draw(0)._replace(times=np.ones(len(X), dtype=np.int64))


def literal_factors(rows, labels, power):
    """Factors by a loop over features and labels."""
    excess = []
    for feature in rows.T:
        squares = [np.corrcoef(feature, label)[0, 1] ** 2 for label in labels.T]
        excess.append(max(len(rows) * np.mean(squares) - 1, 0.02))
    return 2 ** np.rint(power * np.log2(np.array(excess) / np.mean(excess)))


@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_array])
def test_factors_are_those_of_the_correlations(as_rows, monkeypatch):
    found, merged = grower(as_rows(X.astype(np.float32)), Y)
    draw = all_rows(found)
    literal = literal_factors(X[merged.first], Y[merged.first], 0.5)
    np.testing.assert_array_equal(found._factors(draw), literal)
    assert literal[:3].min() >= 2 > np.median(literal[3:])
    monkeypatch.setattr(growing, "_SKETCH", 3)  # mixtures of labels have nearly the same mean
    sketched = found._factors(draw)
    assert np.abs(np.log2(sketched) - np.log2(literal)).max() <= 3
    assert sketched[:3].min() > np.median(sketched[3:])


def test_labels_with_few_rows_do_not_count():
    rare = np.zeros((120, 1), dtype=int)
    rare[:4] = 1
    found, _ = grower(X, rare)
    assert found._factors(all_rows(found)) is None
    more, _ = grower(X, np.column_stack([Y, rare]))
    found, _ = grower(X, Y)
    np.testing.assert_array_equal(more._factors(all_rows(more)), found._factors(all_rows(found)))


@pytest.mark.parametrize("rows", [X, sparse.csr_array(np.where(np.abs(X) > 0.7, X, 0))])
def test_trees_send_training_rows_where_they_grew(rows):
    model = forest(0.75, max_samples=1.0).fit(rows, Y)
    leaves = model.apply(rows)
    for tree, column in enumerate(leaves.T):
        start, stop = model.trees_.tree_starts[tree : tree + 2]
        grown = model.trees_.row_weight[start:stop]
        np.testing.assert_array_equal(np.bincount(column, minlength=stop - start), grown)


def test_columns_of_noise_cost_less():
    rng = np.random.default_rng(1)
    test = rng.normal(size=(400, 43))
    truth = (test[:, :3] @ np.linalg.lstsq(USEFUL, Y - Y.mean(0), rcond=None)[0]) > 0.1
    plain, preferred = (
        roc_auc_score(truth, forest(power, 30).fit(X, Y).predict_proba(test))
        for power in (0.0, 0.5)
    )
    assert preferred > plain + 0.02
    importances = forest(0.5, 30).fit(X, Y).feature_importances_
    assert importances[:3].sum() > forest(0.0, 30).fit(X, Y).feature_importances_[:3].sum()


def test_the_power_is_checked():
    for bad in (-0.1, 1.5, "some", None):
        with pytest.raises(PalmetteError, match=r"relevance=.*expected a number from 0 to 1"):
            forest(bad).fit(X, Y)
