"""AnnData files (.h5ad): cells are rows, genes are columns, and answers go to `.obs`."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scipy import sparse

from palmette._files import atomic_write
from palmette.exceptions import PalmetteError, ReadError
from palmette.table._sources import STDIN, TableSource
from palmette.table._writing import Piece

if TYPE_CHECKING:
    import pandas as pd

    from palmette.table._model import TableModel

SUFFIX = ".h5ad"
FORMAT = "anndata"


@contextmanager
def _opened(source: TableSource) -> Iterator[Any]:
    """Open a file without reading its matrix."""
    if source.name == STDIN:
        raise PalmetteError("AnnData cannot be read from standard input: pass the name of a file.")
    try:
        _refuse_other_files(source)
        import anndata
    except ImportError as error:
        raise ReadError(
            f"{error}. Reading .h5ad needs anndata: pip install 'palmette[anndata]'",
            path=source.title,
        ) from error
    found = anndata.read_h5ad(source.name, backed="r")
    try:
        if found.X is None:
            raise ReadError("the file has no matrix X", path=source.title)
        yield found
    finally:
        found.file.close()


def _refuse_other_files(source: TableSource) -> None:
    """Raise an error if parts of a file are in others: HDF5 would read any file that it names."""
    import h5py

    with h5py.File(source.name) as file:
        seen, waiting = set(), [("", file)]
        while waiting:
            path, group = waiting.pop()
            if hash(group.id) in seen:  # a group may contain itself
                continue
            seen.add(hash(group.id))
            for name in group:
                is_here = isinstance(group.get(name, getlink=True), h5py.HardLink)
                part = group[name] if is_here else None
                if isinstance(part, h5py.Dataset):
                    is_here = not (part.external or part.is_virtual)
                if not is_here:
                    raise ReadError(
                        f"{path}/{name} is a link, perhaps to another file, and only this one is "
                        "read. Write a copy without links",
                        path=source.title,
                    )
                if isinstance(part, h5py.Group):
                    waiting.append((f"{path}/{name}", part))


def cells_in_chunks(source: TableSource, rows: int) -> Iterator[pd.DataFrame]:
    """Yield the cells of a file: the genes of X, then the columns of `.obs`.

    Parameters
    ----------
    source : TableSource
    rows : int
        Maximum number of cells of a chunk, the only ones that are dense.
    """
    import pandas as pd

    with _opened(source) as found:
        genes = [str(name) for name in found.var_names]
        for start in range(0, found.n_obs, rows):
            values = found.X[start : start + rows]
            dense = values.toarray() if sparse.issparse(values) else values
            facts = found.obs.iloc[start : start + rows].astype(object).reset_index(drop=True)
            facts = facts.set_axis([str(name) for name in facts.columns], axis=1)
            yield pd.concat([pd.DataFrame(dense, columns=genes), facts], axis=1)


def names_in(source: TableSource) -> tuple[list[str], list[str]]:
    """Return the names of the genes, and of the columns of `.obs`."""
    with _opened(source) as found:
        return [str(each) for each in found.var_names], [str(each) for each in found.obs.columns]


# ---------------------------------------------------------------------- answers


@dataclass(frozen=True)
class _Answers:
    """Form of pieces: the columns that the file does not have."""

    known: frozenset[str]

    def __call__(self, frame: pd.DataFrame) -> Piece:
        return Piece(len(frame), frame[[name for name in frame if name not in self.known]])


class _Collected:
    """A writer that collects the answers of all cells."""

    def __init__(self, known: frozenset[str]) -> None:
        self.form = _Answers(known)
        self.pieces: list[pd.DataFrame] = []

    def append(self, piece: Piece) -> None:
        """Keep the answers of some cells."""
        self.pieces.append(piece.content)

    def write(self, frame: pd.DataFrame) -> None:
        """Keep the answers of some cells."""
        self.append(self.form(frame))


@contextmanager
def obs_writer(path: Path, source: TableSource, model: TableModel) -> Iterator[_Collected]:
    """Write a copy of an AnnData file whose `.obs` also has the answers.

    The levels of a prediction are columns of their own, ``prediction_level_1`` for the top: each
    is an ancestor of the next one, so that they are coherent. In a DAG, the first of several
    parents is taken.

    Parameters
    ----------
    path : Path
    source : TableSource
        The file with the cells.
    model : TableModel
    """
    import pandas as pd

    if source.format != FORMAT or source.more or Path(source.name).is_dir():
        raise PalmetteError(
            f"cannot write {path}: predictions are added to an AnnData file, but {source.title} "
            f"is not one. Use another suffix than {SUFFIX}."
        )
    genes, facts = names_in(source)
    writer = _Collected(frozenset([*genes, *facts]))
    yield writer
    import anndata

    cells = anndata.read_h5ad(source.name)
    answers = pd.concat(writer.pieces, ignore_index=True)
    levels = _levels(model)
    for name in answers:
        values = answers[name]
        if values.dtype.kind == "f":
            cells.obs[name] = values.to_numpy()
            continue
        cells.obs[name] = pd.Categorical(values)
        if name.rstrip("_") == "prediction" and not model.several_paths_:
            for depth in range(model.hierarchy_.max_depth):
                own = [levels.get(text, ())[depth : depth + 1] for text in values]
                column = pd.Categorical([each[0] if each else None for each in own])
                cells.obs[f"{name}_level_{depth + 1}"] = column
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        cells.write_h5ad(Path(folder, path.name))
        with atomic_write(path, "wb") as out, Path(folder, path.name).open("rb") as made:
            shutil.copyfileobj(made, out)


def _levels(model: TableModel) -> dict[str, tuple[str, ...]]:
    """Return the names from the top to every node, by the text of the node."""
    h = model.hierarchy_
    found = {}
    for node in range(1, h.n_nodes):
        names = []
        place = node
        while place:
            names.append(str(h.names[place]))
            place = int(h.parents_of(place)[0])
        text = model.label_text(h.path(node) if h.is_tree else h.names[node])
        found[text] = tuple(reversed(names))
    return found
