"""The papers whose tables and figures can be made again, by name."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from palmette.bench.published.result import PublishedResult
from palmette.bench.store import ResultStore
from palmette.exceptions import PalmetteError

__all__ = ["Published", "find_published", "list_published", "run"]

Watch = Callable[[str, str], None]


@dataclass(frozen=True)
class Published:
    """A paper.

    Parameters
    ----------
    name : str
        As on the command line.
    summary : str
        One line for the list.
    reference : str
    datasets : tuple of str
        Names of the data home.
    make : callable
        Takes (datasets, rounds, seed, n_jobs, store, watch) and gives a PublishedResult.
    """

    name: str
    summary: str
    reference: str
    datasets: tuple[str, ...]
    make: Callable[..., PublishedResult]


def run(
    name: str,
    data: Sequence[str] | None = None,
    *,
    rounds: int | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    store: ResultStore | None = None,
    watch: Watch | None = None,
) -> PublishedResult:
    """Make the tables and the facts of the figures of a paper again.

    Parameters
    ----------
    name : str
        See `list_published`.
    data : sequence of str, optional
        Some of the paper's data sets; all by default.
    rounds : int, optional
        Rounds of boosting, where there are any, for a quick look; by default those of the paper.
    seed : int
    n_jobs : int, optional
        For the models; changes no figure but the seconds.
    store : ResultStore, optional
        Fits found in it are not done again, unless something that they depend on has changed.
    watch : callable, optional
        Called with (data set, method) before each fit.

    Returns
    -------
    PublishedResult

    Examples
    --------
    >>> run("h-ada-mh", ["imclef07a"]).tables[0].title  # doctest: +SKIP
    'Table I. The data sets'
    """
    paper = find_published(name)
    chosen = _choose(paper, data)
    if rounds is not None and rounds < 1:
        raise PalmetteError(f"rounds={rounds!r}: expected a positive integer.")
    return paper.make(chosen, rounds, seed, n_jobs, store, watch)


def _choose(paper: Published, data: Sequence[str] | None) -> tuple[str, ...]:
    """Return the data sets asked for, in the order of the paper."""
    if data is None:
        return paper.datasets
    wanted = list(data)
    for name in wanted:
        if name not in paper.datasets:
            raise PalmetteError(
                f"{paper.name} has no data set {name!r}: expected some of "
                f"{', '.join(paper.datasets)}."
            )
    if not wanted:
        raise PalmetteError(f"no data set is named: expected some of {', '.join(paper.datasets)}.")
    return tuple(name for name in paper.datasets if name in wanted)


def list_published() -> list[Published]:
    """Return all papers, by name.

    Examples
    --------
    >>> [paper.name for paper in list_published()]
    ['adaboost-bhc', 'h-ada-mh', 'hirr-fs', 'mf-tree']
    """
    return [_PAPERS[name] for name in sorted(_PAPERS)]


def find_published(name: str) -> Published:
    """Return the paper of a name."""
    if name in _PAPERS:
        return _PAPERS[name]
    near = difflib.get_close_matches(name, _PAPERS, n=1, cutoff=0.4)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise PalmetteError(
        f"there is no benchmark {name!r}.{hint} `palmette bench --list` names them all."
    )


def _h_ada_mh(*args: object) -> PublishedResult:
    from palmette.bench.published.h_ada_mh.run import make

    return make(*args)  # type: ignore[arg-type]


def _adaboost_bhc(*args: object) -> PublishedResult:
    from palmette.bench.published.adaboost_bhc.run import make

    return make(*args)  # type: ignore[arg-type]


def _hirr_fs(*args: object) -> PublishedResult:
    from palmette.bench.published.hirr_fs.run import make

    return make(*args)  # type: ignore[arg-type]


def _mf_tree(*args: object) -> PublishedResult:
    from palmette.bench.published.mf_tree.run import make

    return make(*args)  # type: ignore[arg-type]


_PAPERS = {
    "adaboost-bhc": Published(
        "adaboost-bhc",
        "Tables 1 to 3 and Figures 1 to 8: AdaBoost.BHC beside AdaBoost.MH, MI and ECC",
        "G. Jun, J. Ghosh (2009). Multi-class boosting with class hierarchies. MCS 2009.",
        ("iris", "glass", "yeast_uci", "page_blocks", "landsat", "optdigits", "pendigits"),
        _adaboost_bhc,
    ),
    "h-ada-mh": Published(
        "h-ada-mh",
        "Tables I and II and Figures 4 to 7: H-Ada.MH beside AdaBoost.MH, forests, naive Bayes",
        "C. Chelmis, W. Qi (2021). Hierarchical multiclass AdaBoost.",
        ("imclef07a", "imclef07d", "diatoms"),
        _h_ada_mh,
    ),
    "hirr-fs": Published(
        "hirr-fs",
        "Tables 2 to 8 and Figures 7 to 13: HiRR-FS beside Fisher, FSNM and mRMR, node by node",
        "H. Zhao, Q. Hu, P. Zhu, Y. Wang, P. Wang (2021). A recursive regularization based feature "
        "selection framework for hierarchical classification. IEEE TKDE 33.",
        (
            "protein_dd",
            "protein_f194_test_only",
            "saiapr5000",
            "bridges",
            "imclef07a",
            "imclef07d",
            "diatoms",
            "news20_951",
            "20newsgroups_bydate",
            "clinc150",
        ),
        _hirr_fs,
    ),
    "mf-tree": Published(
        "mf-tree",
        "Tables 2 and 3 and Figures 2 to 5: MF-Tree beside DAGSVM, DRHL, CMTL, RNMF, RDM, "
        "one-vs-rest",
        "L. Liu, P.-N. Tan, X. Liu (2015). MF-Tree: matrix factorization tree for large "
        "multi-class learning. CIKM 2015.",
        ("20newsgroups_bydate", "letter", "clinc150", "imclef07a", "diatoms", "omniglot_small"),
        _mf_tree,
    ),
}
