"""From a table to a model: reading, features, a tournament of models, predictions in chunks."""

from palmette.table._features import TextVectorizer
from palmette.table._model import TableModel, fit_table

__all__ = ["TableModel", "TextVectorizer", "fit_table"]
