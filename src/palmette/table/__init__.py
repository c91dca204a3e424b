"""From a table to a model: reading, features, a tournament of models, predictions in chunks."""

from palmette.table._label_rows import label_rows
from palmette.table._migrate import migrate
from palmette.table._model import TableModel, fit_table
from palmette.table._texts import TextVectorizer

__all__ = ["TableModel", "TextVectorizer", "fit_table", "label_rows", "migrate"]
