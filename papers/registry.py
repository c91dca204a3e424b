"""The papers whose tables and figures can be reproduced, by name."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from palmette.compare import ResultStore
from palmette.exceptions import PalmetteError
from papers.result import PublishedResult

__all__ = ["Published", "find_published", "list_published", "run"]

Watch = Callable[[str, str], None]


@dataclass(frozen=True)
class Published:
    """A paper.

    Parameters
    ----------
    name : str
        Name on the command line.
    summary : str
        One line for `palmette bench --list`.
    reference : str
    datasets : tuple of str
        Names of data sets in the data home.
    make : callable
        Called with (datasets, rounds, seed, n_jobs, store, watch), returns a PublishedResult. If
        there is a short run it accepts ``quick=True``; if there are random splits, their number as
        ``splits``.
    quick : tuple of str
        Data sets of the short run, which takes less than two minutes; empty if there is none.
    has_splits : bool
        Whether the paper uses random splits.
    has_limit : bool
        Whether results may be of some fits only, those that were finished in time.
    more : tuple of str
        Data sets that are used only if they are named: some that are not in the paper, and those of
        the paper that a reader may have a copy of (docs/data.md).
    """

    name: str
    summary: str
    reference: str
    datasets: tuple[str, ...]
    make: Callable[..., PublishedResult]
    quick: tuple[str, ...] = ()
    has_splits: bool = False
    has_limit: bool = False
    more: tuple[str, ...] = ()


def run(
    name: str,
    data: Sequence[str] | None = None,
    *,
    rounds: int | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    store: ResultStore | None = None,
    watch: Watch | None = None,
    quick: bool = False,
    splits: int | None = None,
    minutes: float | None = None,
) -> PublishedResult:
    """Reproduce the tables and figures of a paper.

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
    quick : bool
        A look that takes less than two minutes, at a few small data sets unless `data` names
        others.
    splits : int, optional
        Number of random splits, for papers that have them; by default that of the paper.
    minutes : float, optional
        No fit is begun after this time; the results are of those that are finished and of those in
        the store. 0 fits nothing.

    Returns
    -------
    PublishedResult

    Examples
    --------
    >>> run("h-ada-mh", ["imclef07a"]).tables[0].title  # doctest: +SKIP
    'Table I. The data sets'
    """
    paper = find_published(name)
    options = _options(paper, quick, splits, minutes)
    chosen = paper.quick if quick and data is None else _choose(paper, data)
    if rounds is not None and rounds < 1:
        raise PalmetteError(f"rounds={rounds!r}: expected a positive integer.")
    return paper.make(chosen, rounds, seed, n_jobs, store, watch, **options)


def _options(
    paper: Published, quick: bool, splits: int | None, minutes: float | None
) -> dict[str, Any]:
    """Return the options that only some papers have, if they are given."""
    if quick and not paper.quick:
        raise PalmetteError(
            f"{paper.name} has no quick look. Choose one or two of its data sets instead: "
            f"{', '.join(paper.datasets)}."
        )
    if splits is not None and not paper.has_splits:
        raise PalmetteError(f"splits={splits!r} was given, but {paper.name} has no random splits.")
    if splits is not None and splits < 1:
        raise PalmetteError(f"splits={splits!r}: expected a positive integer.")
    if minutes is not None and not paper.has_limit:
        raise PalmetteError(
            f"minutes={minutes!r} was given, but the tables of {paper.name} need all fits."
        )
    found: dict[str, Any] = {"quick": True} if quick else {}
    given = {"splits": splits, "minutes": minutes}
    return found | {name: value for name, value in given.items() if value is not None}


def _choose(paper: Published, data: Sequence[str] | None) -> tuple[str, ...]:
    """Return the requested data sets in the order of the paper."""
    if data is None:
        return paper.datasets
    wanted, known = list(data), (*paper.datasets, *paper.more)
    for name in wanted:
        if name not in known:
            raise PalmetteError(
                f"{paper.name} has no data set {name!r}: expected some of {', '.join(known)}."
            )
    if not wanted:
        raise PalmetteError(f"no data set is named: expected some of {', '.join(known)}.")
    return tuple(name for name in known if name in wanted)


def list_published() -> list[Published]:
    """Return all papers, by name.

    Examples
    --------
    >>> [paper.name for paper in list_published()]
    ['adaboost-bhc', 'h-ada-mh', 'hirr-fs', 'mf-tree', 'multipath', 'soshf', 'soshf-parts']
    """
    return [_PAPERS[name] for name in sorted(_PAPERS)]


def find_published(name: str) -> Published:
    """Return the paper with a name."""
    if name in _PAPERS:
        return _PAPERS[name]
    near = difflib.get_close_matches(name, _PAPERS, n=1, cutoff=0.4)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise PalmetteError(
        f"there is no benchmark {name!r}.{hint} `palmette bench --list` names them all."
    )


def _h_ada_mh(*args: object, **options: Any) -> PublishedResult:
    from papers.h_ada_mh.run import make

    return make(*args, **options)  # type: ignore[arg-type]


def _adaboost_bhc(*args: object, **options: Any) -> PublishedResult:
    from papers.adaboost_bhc.run import make

    return make(*args, **options)  # type: ignore[arg-type]


def _hirr_fs(*args: object, **options: Any) -> PublishedResult:
    from papers.hirr_fs.run import make

    return make(*args, **options)  # type: ignore[arg-type]


def _mf_tree(*args: object, **options: Any) -> PublishedResult:
    from papers.mf_tree.run import make

    return make(*args, **options)  # type: ignore[arg-type]


def _soshf(*args: object, **options: Any) -> PublishedResult:
    from papers.soshf.run import make

    return make(*args, **options)  # type: ignore[arg-type]


def _soshf_parts(*args: object, **options: Any) -> PublishedResult:
    from papers.soshf.parts import make_parts

    return make_parts(*args, **options)  # type: ignore[arg-type]


def _multipath(*args: object, **options: Any) -> PublishedResult:
    from papers.multipath.run import make

    return make(*args, **options)  # type: ignore[arg-type]


_PAPERS = {
    "adaboost-bhc": Published(
        "adaboost-bhc",
        "Tables 1 to 3 and Figures 1 to 8: AdaBoost.BHC beside AdaBoost.MH, MI and ECC",
        "G. Jun, J. Ghosh (2009). Multi-class boosting with class hierarchies. MCS 2009.",
        ("iris", "glass", "yeast_uci", "page_blocks", "landsat", "optdigits", "pendigits"),
        _adaboost_bhc,
        quick=("iris", "glass"),
        has_splits=True,
    ),
    "h-ada-mh": Published(
        "h-ada-mh",
        "Tables I and II and Figures 4 to 7: H-Ada.MH beside AdaBoost.MH, forests, naive Bayes",
        "C. Chelmis, W. Qi (2021). Hierarchical multiclass AdaBoost.",
        ("imclef07a", "imclef07d", "diatoms"),
        _h_ada_mh,
        quick=("imclef07d",),
    ),
    "hirr-fs": Published(
        "hirr-fs",
        "Tables 2 to 8 and Figures 5 to 13: HiRR-FS beside Fisher, FSNM and mRMR, node by node",
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
        quick=("bridges",),
        has_limit=True,
        more=("voc", "cifar100", "sun", "ilsvrc65", "protein_f194"),
    ),
    "mf-tree": Published(
        "mf-tree",
        "Tables 2 and 3 and Figures 2 to 5: MF-Tree beside DAGSVM, DRHL, CMTL, RNMF, RDM, "
        "one-vs-rest",
        "L. Liu, P.-N. Tan, X. Liu (2015). MF-Tree: matrix factorization tree for large "
        "multi-class learning. CIKM 2015.",
        (
            "20newsgroups_bydate",
            "letter",
            "clinc150",
            "imclef07a",
            "diatoms",
            "omniglot_small",
            "generated_1618",
        ),
        _mf_tree,
        quick=("imclef07a",),
        has_splits=True,
        more=("caltech256", "wiki"),
    ),
    "multipath": Published(
        "multipath",
        "Several paths per row, trees and DAGs: the blend beside C-HMCNN, HMCN-F and CLUS-ENS",
        "E. Giunchiglia, T. Lukasiewicz (2020). Coherent hierarchical multi-label classification "
        "networks. NeurIPS 33.",
        (
            "cellcycle_fun",
            "derisi_fun",
            "eisen_fun",
            "gasch1_fun",
            "spo_fun",
            "cellcycle_go",
            "derisi_go",
            "eisen_go",
            "gasch1_go",
            "spo_go",
            "enron_corr",
            "diatoms",
            "imclef07a",
            "imclef07d",
        ),
        _multipath,
        quick=("eisen_fun", "enron_corr"),
    ),
    "soshf": Published(
        "soshf",
        "Tables 1 and 2: structured Hellinger forests beside 13 multi-label methods and newer ones",
        "Z. A. Daniels, D. N. Metaxas (2017). Addressing imbalance in multi-label classification "
        "using structured Hellinger forests. AAAI 2017.",
        (
            "cal500",
            "emotions",
            "medical",
            "enron",
            "scene",
            "yeast",
            "corel5k",
            "rcv1subset1_top944",
            "rcv1subset2_top944",
            "tmc2007_500",
        ),
        _soshf,
        quick=("emotions", "medical"),
        has_splits=True,
        has_limit=True,
        more=("bibtex", "delicious", "rcv1subset1", "rcv1subset2", "tmc2007", "mediamill"),
    ),
    "soshf-parts": Published(
        "soshf-parts",
        "What the parts of structured Hellinger forests do: base forest, beta, penalty, batches",
        "Z. A. Daniels, D. N. Metaxas (2017). Addressing imbalance in multi-label classification "
        "using structured Hellinger forests. AAAI 2017.",
        ("cal500", "emotions", "medical", "enron", "scene", "yeast", "corel5k"),
        _soshf_parts,
        quick=("emotions",),
        has_splits=True,
        has_limit=True,
    ),
}
