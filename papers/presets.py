"""Fit published methods by their presets again, and compare with the stored fits of the tables.

``python -m papers.presets`` takes one small data set of each paper, less than three CPU minutes;
``python -m papers.presets soshf`` takes one paper.
"""

from __future__ import annotations

import lzma
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from palmette.compare import ResultStore
from palmette.exceptions import PalmetteError
from papers.cells import Cells, Options

__all__ = ["PUBLISHED", "Again", "Row", "fit_again", "main"]

_STORED = Path(__file__).parent / "results" / "cells"
_COSTS = ("cpu_s", "fit_s", "predict_s", "peak_mib", "select_s", "classify_s", "tree_s", "us")
_SHOWN = ("f_own", "auc", "f1", "top_k")  # numbers of a row, of which papers have some

# class and preset of the methods of a table
PUBLISHED: dict[str, dict[str, tuple[str, str]]] = {
    "h-ada-mh": {
        "H-Ada.MH": ("HierarchicalAdaBoostClassifier", "paper"),
        "mask in the search": ("HierarchicalAdaBoostClassifier", "paper-search"),
        "AdaBoost.MH": ("HierarchicalAdaBoostClassifier", "adaboost-mh"),
    },
    "hirr-fs": {
        name: ("HirrScore", f"{name.lower()}-scaled")
        for name in ("Hier-FS", "HiRRpar-FS", "HiRRsib-FS", "HiRRfam-FS")
    },
    "mf-tree": {
        "MF-Tree as published": ("MFTreeClassifier", "published"),
        "MF-Tree, larger entry, one-hot router": ("MFTreeClassifier", "one-hot"),
    },
    "soshf": {
        **{
            name: ("BinaryRelevance", name)
            for name in (
                "svm-cost", "svm-down", "svm-adasyn", "rf-cost", "rf-down", "rf-adasyn"
            )
        },
        "ml-knn": ("MLkNN", "mulan"),
        "iblr": ("IBLR", "mulan"),
        "ecc": ("ChainEnsemble", "soshf"),
        "clr": ("CalibratedLabelRanking", "mulan"),
        "rakel": ("RAkEL", "mulan"),
        "homer": ("HOMER", "soshf"),
        "cocoa": ("COCOA", "soshf"),
        **{
            name: ("StructuredForestClassifier", name)
            for name in ("sf", "sf-lr", "sf-lr-cs", "sf-h", "sf-h-cs")
        },
    },
}  # fmt: skip


@dataclass(frozen=True)
class Row:
    """A stored fit beside one that was made now.

    Parameters
    ----------
    method, dataset : str
    stored, now : dict
        Results without what they cost; `stored` is empty if there is no fit of this estimator.
    """

    method: str
    dataset: str
    stored: dict[str, Any]
    now: dict[str, Any]

    @property
    def verdict(self) -> str:
        """Whether all numbers and predicted labels are the same."""
        if not self.stored:
            return "no stored fit of this estimator"
        return "equal" if self.stored == self.now else "not equal"


class Again(Cells):
    """Results that are computed even if they are stored; both are in `rows`.

    Parameters
    ----------
    stored : ResultStore
        Of a run; who made it is not compared.
    """

    def __init__(self, stored: ResultStore) -> None:
        super().__init__(None, {})
        self._earlier = stored
        self.rows: list[Row] = []

    def results(self, cell: dict[str, Any], compute: Callable[[], dict[str, Any]]) -> Any:
        """Return the results of a cell, computed now."""
        earlier = self._earlier.get({**cell, "made_with": {}})
        now = super().results(cell, compute)
        told = _without_costs(earlier or {}), _without_costs(now)
        self.rows.append(Row(cell["model"], cell["dataset"], *told))
        return now


def _without_costs(results: Any) -> Any:
    if isinstance(results, dict):
        return {
            key: _without_costs(value)
            for key, value in results.items()
            if key not in (*_COSTS, "notes")
        }
    return results


def fit_again(paper: str) -> list[Row]:
    """Fit the methods of a paper that have presets on one small data set.

    Parameters
    ----------
    paper : str
        A key of `PUBLISHED`.

    Returns
    -------
    list of Row
    """
    if paper not in _FITS:
        raise PalmetteError(f"paper={paper!r}: expected one of {', '.join(_FITS)}.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cells.jsonl"
        path.write_bytes(lzma.decompress((_STORED / f"{paper}.jsonl.xz").read_bytes()))
        again = Again(ResultStore(path, ignored=("made_with",)))
        _FITS[paper](again)
    return [row for row in again.rows if row.method in PUBLISHED[paper]]


def _soshf(cells: Cells) -> None:
    from papers.soshf.methods import METHODS, read_set
    from papers.soshf.outcome import find_outcome

    methods = [METHODS[key] for key in PUBLISHED["soshf"]]
    find_outcome(read_set("emotions"), methods, cells, n_splits=1, n_jobs=1)


def _h_ada_mh(cells: Cells) -> None:
    from palmette.compare import find_problem
    from papers.h_ada_mh.methods import tree_methods
    from papers.h_ada_mh.outcome import Setting, find_outcome
    from papers.h_ada_mh.tables import paper_set

    problem = find_problem("imclef07d")
    paper: Any = paper_set(problem.name)
    setting = Setting(problem, paper.rounds, None, paper.depth, 0, 1)
    chosen = [one for one in tree_methods() if one.key in PUBLISHED["h-ada-mh"]]
    find_outcome(setting, chosen, cells)


def _hirr_fs(cells: Cells) -> None:
    from papers.hirr_fs.methods import METHODS, read_set
    from papers.hirr_fs.outcome import find_outcome

    chosen = {key: METHODS[key] for key in PUBLISHED["hirr-fs"]}
    find_outcome(read_set("bridges"), Options(0, 1), cells, chosen)


def _mf_tree(cells: Cells) -> None:
    from papers.mf_tree.methods import methods, read_set
    from papers.mf_tree.outcome import find_outcome

    chosen = [one for one in methods() if one.key in PUBLISHED["mf-tree"]]
    find_outcome(read_set("imclef07a"), chosen, Options(0, 1), cells)


_FITS: dict[str, Callable[[Cells], None]] = {
    "h-ada-mh": _h_ada_mh,
    "hirr-fs": _hirr_fs,
    "mf-tree": _mf_tree,
    "soshf": _soshf,
}


def main(papers: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a table: method, preset, stored numbers, numbers now, equal or not.

    Parameters
    ----------
    papers : sequence of str
        Keys of `PUBLISHED`; all by default.
    """
    yield "| paper | method | preset | data set | stored | now | |"
    yield "|---|---|---|---|---|---|---|"
    for paper in papers or _FITS:
        for row in fit_again(paper):
            preset = '`{}.preset("{}")`'.format(*PUBLISHED[paper][row.method])
            shown = " | ".join(_words(part) for part in (row.stored, row.now))
            yield f"| {paper} | {row.method} | {preset} | {row.dataset} | {shown} | {row.verdict} |"


def _words(results: dict[str, Any]) -> str:
    """Write the numbers of a row that are shown, and how many labels were predicted.

    Examples
    --------
    >>> _words({"f1": [0.5, 0.25]}), _words({})
    ('f1 0.5000 0.2500', '–')
    """
    told = []
    for key in _SHOWN:
        value = results.get(key)
        values = value if isinstance(value, list) else [] if value is None else [value]
        told += [f"{key} {' '.join(f'{float(one):.4f}' for one in values)}"] if values else []
    for way, answer in results.get("answers", {}).items():
        told.append(f"{way or 'labels'}: {sum(answer['predicted'])}")  # a sum over rows
    return ", ".join(told) or "–"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for line in main(sys.argv[1:]):
        print(line, flush=True)
