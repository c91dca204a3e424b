"""MixedNaiveBayes: against a literal version, scikit-learn's two, its checks, and model files."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import norm
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.utils.estimator_checks import check_estimator
from tests.persistence.round_trips import again

from palmette import FlatClassifier, PalmetteError
from palmette.local import MixedNaiveBayes, _naive_bayes
from palmette.models import find_model
from palmette.models._registry import ModelContext


def mixed(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows of four weights of words and two centred numbers, classes, and weights."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 60)
    words = rng.random((60, 4)) * (rng.random((60, 4)) < 0.4 + 0.2 * (np.arange(4) == y[:, None]))
    numbers = rng.normal(size=(60, 2)) + y[:, None] - 1.0
    return np.hstack([words, numbers]), y, rng.integers(1, 4, 60).astype(float)


def slow_log_joint(X, y, weights, alpha, smoothing) -> np.ndarray:
    """Return log prior plus log likelihoods, one row, class and column after the other."""
    n_words, total = 4, weights.sum()
    joint = np.zeros((len(X), 3))
    for c in range(3):
        rows = y == c
        w = weights[rows]
        counts = [(w * X[rows, j]).sum() + alpha for j in range(n_words)]
        for i, row in enumerate(X):
            joint[i, c] = np.log(w.sum() / total)
            for j in range(n_words):
                joint[i, c] += row[j] * np.log(counts[j] / sum(counts))
            for j in range(n_words, 6):
                mean = np.average(X[rows, j], weights=w)
                variance = np.average((X[rows, j] - mean) ** 2, weights=w)
                middle = np.average(X[:, j], weights=weights)
                whole = np.average((X[:, j] - middle) ** 2, weights=weights)
                joint[i, c] += norm.logpdf(row[j], mean, np.sqrt(variance + smoothing * whole))
    return joint


def test_log_likelihoods_of_words_and_numbers_are_added():
    X, y, weights = mixed()
    fitted = MixedNaiveBayes(0.5, var_smoothing=0.1).fit(sparse.csr_array(X), y, weights)
    assert fitted.is_normal_.tolist() == [False] * 4 + [True] * 2
    expected = slow_log_joint(X, y, weights, 0.5, 0.1)
    joint = fitted.joint_log_likelihood(sparse.csr_array(X))
    np.testing.assert_allclose(joint, expected, rtol=1e-10)
    assert fitted.predict(sparse.csr_array(X)).tolist() == expected.argmax(axis=1).tolist()


def test_words_alone_are_multinomial_and_numbers_alone_normal():
    X, y, weights = mixed()
    words, numbers = sparse.csr_array(X[:, :4]), X[:, 4:]
    plain = MultinomialNB(alpha=0.01).fit(words, y, weights)
    ours = MixedNaiveBayes(0.01).fit(words, y, weights)
    np.testing.assert_allclose(ours.predict_proba(words), plain.predict_proba(words))
    normal = GaussianNB(var_smoothing=1e-12).fit(numbers, y, weights)
    ours = MixedNaiveBayes(var_smoothing=1e-12).fit(numbers, y, weights)
    np.testing.assert_allclose(ours.predict_proba(numbers), normal.predict_proba(numbers))


# ---------------------------------------------------------------------- rows in chunks

ATTRIBUTES = ("class_log_prior_", "word_base_", "normal_coef_", "intercept_")


def assert_same_model(found, expected):
    np.testing.assert_array_equal(found.is_normal_, expected.is_normal_)
    for name in ATTRIBUTES:
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-12)
    np.testing.assert_allclose(
        found.word_coef_.toarray(), expected.word_coef_.toarray(), rtol=1e-12
    )


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("size", [1, 7, 59])
def test_chunks_of_any_size_and_order_give_the_model_of_one_fit(kind, size):
    X, y, weights = mixed()
    X[:20, 4:] = np.abs(X[:20, 4:])  # no negative value in the first chunks
    X[:, 5] += 50.0 * (kind is np.asarray)
    expected = MixedNaiveBayes().fit(kind(X), y, weights)
    for start in (0, 33):
        order, found = np.roll(np.arange(60), start), MixedNaiveBayes()
        for at in range(0, 60, size):
            rows = order[at : at + size]
            found.partial_fit(kind(X[rows]), y[rows], [0, 1, 2], weights[rows])
        assert_same_model(found, expected)
        np.testing.assert_allclose(
            found.predict_proba(kind(X)), expected.predict_proba(kind(X)), rtol=1e-10
        )


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_fit_reads_mapped_rows_a_few_at_a_time(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(_naive_bayes, "_VALUES_AT_ONCE", 50)
    X, y, weights = mixed()
    weights[::9] = 0.0
    expected = MixedNaiveBayes().fit(kind(X), y, weights)
    if kind is np.asarray:
        np.save(tmp_path / "X.npy", X)
        rows = np.load(tmp_path / "X.npy", mmap_mode="r")
    else:
        rows = sparse.csr_array(X)
        for name in ("data", "indices", "indptr"):
            np.save(tmp_path / f"{name}.npy", getattr(rows, name))
            setattr(rows, name, np.load(tmp_path / f"{name}.npy", mmap_mode="r"))
    found = MixedNaiveBayes().fit(rows, y, weights)
    for name in ATTRIBUTES:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    monkeypatch.setattr(_naive_bayes, "_VALUES_AT_ONCE", 2**20)
    assert_same_model(MixedNaiveBayes().fit(rows, y, weights), expected)


def test_a_fit_goes_on_and_so_does_its_file():
    X, y, _ = mixed()
    X = sparse.csr_array(X)
    found = again(MixedNaiveBayes().fit(X[:40], y[:40])).partial_fit(X[40:], y[40:])
    assert_same_model(found, MixedNaiveBayes().fit(X, y))
    with pytest.raises(PalmetteError, match=r"column 0 has a negative value, but the rows of fit"):
        found.partial_fit(-X, y)


def test_a_class_without_rows_so_far_is_not_predicted():
    X, y, _ = mixed()
    found = MixedNaiveBayes().partial_fit(X[y < 2], y[y < 2], classes=[2, 1, 0])
    proba = found.predict_proba(X)
    assert proba[:, 2].max() < 1e-200
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    found.check_arrays()


def test_classes_that_do_not_fit_the_first_call():
    X, y, _ = mixed()
    with pytest.raises(PalmetteError, match="the first call of partial_fit needs classes"):
        MixedNaiveBayes().partial_fit(X, y)
    with pytest.raises(PalmetteError, match=r"y has the label 2, which is not among the classes"):
        MixedNaiveBayes().partial_fit(X, y, classes=[0, 1])
    found = MixedNaiveBayes().partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(PalmetteError, match=r"classes=\[0, 1\] differ from those of the first"):
        found.partial_fit(X, y, classes=[0, 1])


def test_it_passes_the_checks_of_scikit_learn():
    for result in check_estimator(MixedNaiveBayes(), on_skip=None):
        assert result["status"] in ("passed", "skipped")


def test_the_model_of_the_registry_takes_mixed_rows_and_is_saved():
    X, y, _ = mixed()
    rows, names = sparse.csr_array(X), [("abc"[c],) for c in y]
    model = find_model("flat-naive-bayes").make(ModelContext(text=True))
    assert isinstance(model, FlatClassifier)
    fitted = model.fit(rows, names)
    loaded = again(fitted)
    assert np.array_equal(loaded.predict_proba(rows), fitted.predict_proba(rows))


def test_wrong_parameters_and_changed_arrays_are_refused():
    X, y, _ = mixed()
    with pytest.raises(PalmetteError, match=r"alpha=0\.0: expected a positive number"):
        MixedNaiveBayes(0.0).fit(X, y)
    fitted = MixedNaiveBayes().fit(sparse.csr_array(X), y)
    fitted.check_arrays()
    bad = {
        "word_coef_": fitted.word_coef_[:-1],
        "normal_coef_": fitted.normal_coef_[:1],
        "intercept_": np.full(3, np.inf),
        "statistics_": fitted.statistics_[:1],
    }
    for name, value in bad.items():
        kept = getattr(fitted, name)
        setattr(fitted, name, value)
        with pytest.raises(ValueError, match=r"not fit|not finite"):
            fitted.check_arrays()
        setattr(fitted, name, kept)


def test_files_have_no_scores_of_words_since_they_follow_from_the_sums():
    X, y, _ = mixed()
    rows = sparse.csr_array(X)
    fitted = MixedNaiveBayes().fit(rows, y).set_params(alpha=5.0)  # of the next fit
    loaded = again(fitted)
    assert "word_coef_" not in vars(loaded)
    assert_same_model(loaded, fitted)
    assert np.array_equal(loaded.predict_proba(rows), fitted.predict_proba(rows))
    assert again(loaded).alpha_ == 0.01
    with pytest.raises(AttributeError, match="no attribute 'word_coef_'"):
        MixedNaiveBayes().word_coef_  # noqa: B018


def test_files_of_earlier_versions_have_scores_of_words_only():
    X, y, _ = mixed()
    rows = sparse.csr_array(X)
    fitted = MixedNaiveBayes().fit(rows, y)
    earlier = MixedNaiveBayes()
    vars(earlier).update({n: v for n, v in vars(fitted).items() if n != "alpha_"})
    loaded = again(again(earlier))
    assert np.array_equal(loaded.predict_proba(rows), fitted.predict_proba(rows))


@pytest.mark.parametrize("alpha", [0.0, -1.0, np.inf, "1"])
def test_a_file_with_a_wrong_alpha_is_refused(alpha):
    X, y, _ = mixed()
    fitted = MixedNaiveBayes().fit(sparse.csr_array(X), y)
    fitted.alpha_ = alpha
    with pytest.raises(ValueError, match="alpha_ is no positive number"):
        fitted.check_arrays()
