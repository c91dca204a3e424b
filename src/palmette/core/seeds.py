"""Seeds for estimators that are fitted independently."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

__all__ = ["seed_each"]


def seed_each(estimators: Sequence[Any], random_state: Any) -> None:
    """Give every estimator, and its parts that have one, a different random_state."""
    rng = check_random_state(random_state)
    for estimator in estimators:
        seeds = {
            name: int(rng.randint(np.iinfo(np.int32).max))
            for name in sorted(estimator.get_params(deep=True))
            if name == "random_state" or name.endswith("__random_state")
        }
        if seeds:
            estimator.set_params(**seeds)
