"""MFTree: the hierarchy of MF-Tree, from the spectrum of class similarity."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from palmette.class_tree.base import ClassTreeLearner
from palmette.engine.presets import Preset, PresetsMixin
from palmette.partition.spectral import SpectralPartition

__all__ = ["MFTree"]

_FEW_CLASSES = 50


class MFTree(PresetsMixin, ClassTreeLearner):
    """Divide classes again and again by the leading eigenvectors of their similarity.

    Works from the means of the classes, which stay sparse where X is sparse: rows are read once,
    and the kernel of all rows, which the paper starts from, is never formed.

    Parameters
    ----------
    branching : int or "auto"
        Groups that a group is divided into. "auto" is 5 for fewer than 50 classes and 8 for more:
        by cross-validation the better shapes for classifiers at the nodes.
    leaf_size : int or "auto"
        Groups of up to as many classes are not divided. "auto" is 1 for fewer than 50 classes, and
        16 for more.
    min_side : float
        Least share of a group's classes on either side, 0 to .5, which bounds the depth by
        log(n_classes) / -log(1 - min_side); of wider divisions, the least share outside of the
        largest group.
    kernel : "linear", transformer, str or callable
        "linear"; a feature map such as ``Nystroem()``, fitted to X; or, for a few thousand rows,
        the name of a kernel of scikit-learn such as "rbf", or a function of two blocks of rows.
    kernel_params : dict, optional
        Of a named kernel.
    weights : {"means", "roots", "sums"}
        How much classes count for their sizes: not, by square roots, or, as published, in full.
    centring : {"node", "global"}
        Where similarities are centred: at every node anew, or, as published, once.
    rule : {"kmeans", "abs"}
        2-means (k-means) on the eigenvectors, or, as published, the larger entry of two.
    tau : int
        Groups above this depth are divided around their largest classes instead. Published as a
        short cut; it saves next to nothing here and costs accuracy.
    max_depth : int, optional
        Groups at this depth are not divided.
    random_state : int, RandomState or None
        Only for a feature map that draws.

    Attributes
    ----------
    hierarchy_ : Hierarchy
    classes_ : array of shape (n_classes,)
    tree_ : GrownTree

    See Also
    --------
    MFTree.preset : "published" are the settings of the paper.

    References
    ----------
    L. Liu, P.-N. Tan, X. Liu (2015). MF-Tree: matrix factorization tree for large multi-class
    learning. CIKM 2015.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> tree = MFTree().fit(*load_iris(return_X_y=True))
    >>> print(tree.hierarchy_.draw())
    root
    ├─ 0
    └─ group 2
       ├─ 1
       └─ 2
    """

    _presets: ClassVar = {
        "published": Preset(
            "magnitudes of eigenvectors of class sums, centred once",
            {"rule": "abs", "weights": "sums", "centring": "global", "min_side": 0.0},
            "Liu, Tan and Liu (2015), Algorithm 1",
        ),
    }

    def __init__(
        self,
        branching: int | Literal["auto"] = 2,
        *,
        leaf_size: int | Literal["auto"] = 1,
        min_side: float = 0.05,
        kernel: Any = "linear",
        kernel_params: dict[str, Any] | None = None,
        weights: Literal["means", "roots", "sums"] = "means",
        centring: Literal["node", "global"] = "node",
        rule: Literal["kmeans", "abs"] = "kmeans",
        tau: int = 0,
        max_depth: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.branching = branching
        self.leaf_size = leaf_size
        self.min_side = min_side
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.weights = weights
        self.centring = centring
        self.rule = rule
        self.tau = tau
        self.max_depth = max_depth
        self.random_state = random_state

    def _leaf_size(self) -> int:
        if self.leaf_size == "auto":
            return 1 if len(self.classes_) < _FEW_CLASSES else 16
        return self.leaf_size

    def _branching(self) -> int:
        if self.branching == "auto":
            return 5 if len(self.classes_) < _FEW_CLASSES else 8
        return self.branching

    def _partition(self) -> SpectralPartition:
        return SpectralPartition(
            self._branching(),
            kernel=self.kernel,
            kernel_params=self.kernel_params,
            weights=self.weights,
            centring=self.centring,
            rule=self.rule,
            tau=self.tau,
            min_side=self.min_side,
        )
