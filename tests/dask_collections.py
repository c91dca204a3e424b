"""What every public estimator does with a Dask array, found by running it.

``python -m tests.dask_collections`` prints the table of ``docs/scaling.md``: whether `fit` gathers
X, which a warning says, and whether answers are computed part by part and are those of an ordinary
array.
"""

from __future__ import annotations

import warnings
from typing import Any

import dask.array as da
import numpy as np
from sklearn.base import BaseEstimator
from tests.instances import PARAMETERS, public_estimators
from tests.what_goes_together import rows_of

__all__ = ["outcome"]

GATHERED = "all of it is gathered"


def outcome(kind: type[BaseEstimator]) -> tuple[str, str]:
    """Return what `fit` does with X, and which answers are computed part by part."""
    X, y = rows_of(several=False)
    estimator = kind(**PARAMETERS.get(kind.__name__, ({},))[0])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            fitted = estimator.fit(da.from_array(X, chunks=(20, 4)), y)
        except (ValueError, TypeError) as error:
            return f"an error ({type(error).__name__})", "none"
    said = any(GATHERED in str(each.message) for each in told)
    return "gathered, and told" if said else "gathered", _answers(fitted, X, y)


def _answers(fitted: Any, X: np.ndarray, y: Any) -> str:
    lazy, found = da.from_array(X, chunks=(20, 4)), []
    for method, given in (("predict", ()), ("predict_top_k", ()), ("score", (y,))):
        if not hasattr(fitted, method):
            continue
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            answer = getattr(fitted, method)(lazy, *given)
        if any(GATHERED in str(each.message) for each in told):
            continue
        if method == "predict" and not isinstance(answer, da.Array):
            continue
        if method == "score":
            assert np.isclose(answer, fitted.score(X, *given))
        found.append(f"`{method}`")
    return ", ".join(found) or "none"


def main() -> None:
    groups: dict[tuple[str, str], list[str]] = {}
    for kind in public_estimators():
        groups.setdefault(outcome(kind), []).append(f"`{kind.__name__}`")
    print("| estimators | X in `fit` without `client` | answers part by part |\n|---|---|---|")
    for (in_fit, answers), names in groups.items():
        print(f"| {', '.join(names)} | {in_fit} | {answers} |")


if __name__ == "__main__":
    main()
