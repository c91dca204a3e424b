"""Which classes of other libraries may be named in a file's own objects."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sklearn.base import BaseEstimator

from palmette.persistence import names

__all__ = ["BUNCH", "Untrusted", "trusted_class"]

BUNCH = "sklearn.utils._bunch.Bunch"

# parts of scikit-learn's meta-estimators that are no estimators; they hold attributes only
_HOLDERS = frozenset(
    {
        BUNCH,
        "sklearn.calibration._CalibratedClassifier",
        "sklearn.metrics._scorer._MultimetricScorer",
        "sklearn.metrics._scorer._PassthroughScorer",
        "sklearn.metrics._scorer._Scorer",
        "sklearn.utils._metadata_requests.MetadataRequest",
        "sklearn.utils._metadata_requests.MethodMetadataRequest",
    }
)


class Untrusted(ValueError):
    """A type of another library that neither Palmette nor the caller vouches for."""


def trusted_class(name: Any, trusted: Collection[str]) -> type:
    """Return an estimator of scikit-learn, or a class that the caller trusts, by its full name.

    Raises
    ------
    Untrusted
        Where it is neither.
    ValueError
        Where there is no such class.

    Examples
    --------
    >>> trusted_class("sklearn.pipeline.Pipeline", ())
    <class 'sklearn.pipeline.Pipeline'>
    >>> trusted_class("subprocess.Popen", ())
    Traceback (most recent call last):
      ...
    palmette.persistence.trust.Untrusted: subprocess.Popen
    """
    if not isinstance(name, str):
        raise ValueError(f"{str(name)[:40]} is no name of a class")
    outside = {"conftest", "externals", "tests"} & set(name.split("."))
    of_sklearn = name.startswith("sklearn.") and not outside
    if not of_sklearn and name not in trusted:
        raise Untrusted(name[:200])
    found = names.import_class(name)
    if found is None:
        raise ValueError(f"there is no class {name[:200]}")
    if name in trusted or name in _HOLDERS or issubclass(found, BaseEstimator):
        return found
    raise Untrusted(name)
