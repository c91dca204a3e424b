"""A small table of goods, under the names that examples use."""

from __future__ import annotations

import numpy as np
import pandas as pd

KINDS = {
    "Food > Fruit": "apple pear plum cherry grape",
    "Food > Bread": "rye wheat loaf roll toast",
    "Tools > Saws": "blade teeth steel hand chain",
    "Tools > Nails": "brass iron long head point",
}


def make_goods(n_rows: int, seed: int) -> pd.DataFrame:
    """Return rows with a title, a price and a category."""
    rng = np.random.default_rng(seed)
    kinds = list(KINDS)
    chosen = [kinds[i % len(kinds)] for i in range(n_rows)]
    titles = [" ".join(rng.choice(KINDS[kind].split(), 3)) for kind in chosen]
    prices = [round(5 + 3 * kinds.index(kind) + rng.random(), 2) for kind in chosen]
    return pd.DataFrame({"title": titles, "price": prices, "category": chosen})
