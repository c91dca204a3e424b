"""From a table to a model: reading, features, a tournament of models, predictions in chunks."""

from typing import TYPE_CHECKING

from palmette._imports import lazy_names

if TYPE_CHECKING:
    from palmette.table._label_rows import label_rows
    from palmette.table._migrate import migrate
    from palmette.table._model import TableModel, fit_table
    from palmette.table._split import split_table
    from palmette.table._texts import TextVectorizer

__all__ = ["TableModel", "TextVectorizer", "fit_table", "label_rows", "migrate", "split_table"]

# a prediction needs none of what compares and fits models
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "palmette.table._label_rows": "label_rows",
        "palmette.table._migrate": "migrate",
        "palmette.table._model": "TableModel fit_table",
        "palmette.table._split": "split_table",
        "palmette.table._texts": "TextVectorizer",
    },
)
