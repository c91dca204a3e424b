"""Whether answers depend on the units of columns: every estimator, columns rescaled and shifted.

    PALMETTE_DATA=... python benchmarks/bench_units.py [--only NAME] [--sets NAME]

Every public estimator, with the presets and options of fit_fingerprints.py, is fitted on one half
of the rows of two small sets, and again after X became a X + b, column by column. Values are first
rounded to multiples of 2^-12 of the power of two above the largest, so that all shifts are exact: a
method that only compares values, or standardizes them in double precision, gives the same answers.

Per line, "accuracy / equal": the share of rows of the other half that are right, and the share
whose label equals that of the model of the columns as they are; "refused" is an error of Palmette.
Of learners of a hierarchy, and of selectors, "equal" is 1 or 0 for the hierarchy, and the share of
features. One column is of 1e9 in "one 1e9"; in "mixed" a goes from 1e-30 to 1e30.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from fit_fingerprints import estimators
from sklearn.base import clone
from sklearn.utils import get_tags
from threadpoolctl import threadpool_limits

from palmette import datasets
from palmette.exceptions import PalmetteError

N_ROWS = 240
GRID = 2.0**-12


def rounded(X):
    """Return values as multiples of a power of two, by which sums with large numbers are exact."""
    top = 2.0 ** np.ceil(np.log2(np.abs(X).max(axis=0) + 1e-300))
    return np.rint(X / (top * GRID)) * (top * GRID)


def changes(X):
    """Return functions of rows by name: a X + b per column."""
    n_columns = X.shape[1]
    mixed = 2.0 ** np.rint(np.linspace(-100, 100, n_columns))
    spread = 2.0 ** np.ceil(np.log2(np.ptp(X, axis=0) + 1e-300))
    one = np.where(np.arange(n_columns) == 1, 2.0**30, 1.0)
    return {
        "as it is": lambda rows: rows,
        "1e-30": lambda rows: rows * 2.0**-100,
        "1e-8": lambda rows: rows * 2.0**-27,
        "1e8": lambda rows: rows * 2.0**27,
        "1e30": lambda rows: rows * 2.0**100,
        "+1.7e9": lambda rows: rows + 2.0**31,
        "+1e9 spreads": lambda rows: rows + 2.0**30 * spread,
        "one 1e9": lambda rows: rows * one,
        "mixed": lambda rows: rows * mixed,
    }


def sets():
    """Yield names, rows, plain labels or label sets of two small sets."""
    rng = np.random.default_rng(0)
    glass = datasets.fetch("glass")
    yield "glass", glass.X, glass.y, rng.permutation(len(glass.X))
    songs = datasets.fetch("emotions")
    X = np.asarray(songs.X_train)[:, ::4]
    yield "emotions", X, np.asarray(songs.y_train), rng.permutation(len(X))


def answers(model, X):
    """Return what is compared of a fitted model: labels of rows, edges, or features."""
    if hasattr(model, "predict"):
        return list(map(as_label, model.predict(X)))
    if hasattr(model, "get_support"):
        return model.get_support().tolist()
    return [str(sorted(map(str, model.hierarchy_.edges)))]


def as_label(label):
    return label if isinstance(label, (str, set, tuple)) else np.asarray(label).tolist()


def share(found, expected):
    return np.mean([a == b for a, b in zip(found, expected, strict=True)])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="only estimators whose name has this text")
    parser.add_argument("--sets", default="glass,emotions")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name, X, y, order in sets():
        if name not in options.sets.split(","):
            continue
        X, y, order = rounded(np.asarray(X, float)), np.asarray(y), order[:N_ROWS]
        fitted_on, asked = order[::2], order[1::2]
        truth = list(map(as_label, y[asked]))
        for kind, estimator in estimators():
            if options.only not in kind:
                continue
            if y.ndim == 2 and not get_tags(estimator).classifier_tags:
                continue
            if y.ndim == 2 and not get_tags(estimator).classifier_tags.multi_label:
                continue
            cells, usual, begin = [], None, time.perf_counter()
            for change in changes(X).values():
                model = clone(estimator)
                if "random_state" in model.get_params():
                    model.set_params(random_state=0)
                rows = change(X)
                try:
                    found = answers(model.fit(rows[fitted_on], y[fitted_on]), rows[asked])
                except PalmetteError:
                    cells.append("refused")
                except Exception as error:
                    cells.append(f"!{type(error).__name__}")
                else:
                    usual = found if usual is None else usual
                    right = f"{share(found, truth):.2f}/" if len(found) == len(truth) else ""
                    cells.append(f"{right}{share(found, usual):.3f}")
            seconds = time.perf_counter() - begin
            print(f"{name} {kind} | {' | '.join(cells)} | {seconds:.1f} s", flush=True)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
