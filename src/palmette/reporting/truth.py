"""The true labels of a table's rows, where a model of tables reads them itself."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.core.rows import count_rows, take_rows
from palmette.exceptions import LabelError, PalmetteError

__all__ = ["rows_with_truth"]


def rows_with_truth(model: Any, X: Any) -> tuple[Any, Any, NDArray[np.int32] | None]:
    """Take the rows that have a label, and their labels, out of a table.

    Labels that the hierarchy does not know are kept where that can be done, so that the model's
    errors on them count; of a learnt hierarchy, and with several paths a row, such rows are left
    out with those that have no label.

    Parameters
    ----------
    model : TableModel
        A model with `read_target`, which knows its target column.
    X : DataFrame

    Returns
    -------
    X : DataFrame of the rows with a label
    y : their labels
    places : int array, or None where no row is left out
        Their numbers in the table.
    """
    if not hasattr(model, "read_target"):
        raise PalmetteError(
            f"y is missing: {type(model).__name__} cannot read the true labels from X. Pass y, the "
            "true label of every row."
        )
    known = np.asarray(model.labelled_rows(X), dtype=bool)
    if known.all():
        return X, model.read_target(X), None
    written = model.target_.read(X)
    keeps_unknown = not (model.several_paths_ or model.learnt_ or not model.hierarchy_.is_tree)
    kept = known | np.array([keeps_unknown and path is not None for path in written], dtype=bool)
    if not kept.any():
        raise LabelError(
            f"none of the {count_rows(X)} rows has a label that the model can be judged by: "
            f"expected them in {', '.join(model.target_.columns)}."
        )
    places = np.flatnonzero(kept).astype(np.int32)
    read = iter(
        model.read_target(take_rows(X, np.flatnonzero(known).astype(np.int32)))
        if known.any()
        else ()
    )
    labels = [next(read) if known[row] else written[row] for row in places.tolist()]
    return take_rows(X, places), labels, places
