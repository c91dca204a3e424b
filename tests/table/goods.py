"""A small table of goods that every kind of column tells something about."""

from __future__ import annotations

import numpy as np
import pandas as pd

KINDS = ["Food > Fruit", "Food > Fish", "Tools > Saws", "Tools > Nails"]
WORDS = [["apple", "pear"], ["cod", "tuna"], ["blade", "teeth"], ["steel", "pin"]]


def make_goods(n_rows=80, seed=0):
    """Return a table as a CSV file has it: all cells are text, some are missing."""
    rng = np.random.default_rng(seed)
    kinds = np.arange(n_rows) % 4
    return pd.DataFrame(
        {
            "title": [f"{rng.choice(WORDS[k])} number {i}" for i, k in enumerate(kinds)],
            "price": [f"{10 * k + rng.random():.2f}" for k in kinds],
            "colour": [
                None if i % 9 == 4 else "rbgs"[k - (i % 10 == 7)] for i, k in enumerate(kinds)
            ],
            "since": [f"20{k + 10}-01-{i % 28 + 1:02d}" for i, k in enumerate(kinds)],
            "kind": [KINDS[k] for k in kinds],
        },
        dtype=object,
    )
