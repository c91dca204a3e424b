"""MFTreeClassifier: classification along the tree of MF-Tree."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import clone

from palmette._arrays import FloatArray, read_rows
from palmette.base._presets import Preset, preset, presets
from palmette.class_tree._chosen_router import resolve_router
from palmette.class_tree._class_kernel import check_kernel, is_precomputed, is_rows
from palmette.class_tree._classifier import ClassTreeClassifier
from palmette.class_tree._linear import LinearRouter
from palmette.class_tree._shared_router import FlatRouter
from palmette.class_tree._spectral import MFTree
from palmette.class_tree._spectral_router import SpectralRouter, warn_of_other_kernel

_PAPER = "Liu, Tan and Liu, CIKM 2015, doi:10.1145/2806416.2806540"


class MFTreeClassifier(ClassTreeClassifier):
    """Classify along a tree that is learned from the spectrum of class similarity.

    Every group is divided into a few groups, so that a row needs few decisions, each among options
    that linear classifiers can separate; a beam search corrects errors of the first decisions. The
    accuracy is about that of one classifier per class against the rest, for a fraction of the dot
    products if there are many classes. Rows may have label sets. The paper decides by projections
    on the eigenvectors of the tree instead: ``MFTreeClassifier.preset("published")``, with any
    `kernel` and `tau`. Its errors at every level add up; there are far fewer of them with
    ``preset("one-hot")``, another reading of the paper, and a kernel whose width was chosen.

    Parameters
    ----------
    branching, leaf_size, min_side, weights, centring, rule, tau, max_depth
        Parameters of the tree; see `MFTree`.
    kernel : "linear", transformer, str or callable
        A transformer, such as ``Nystroem()``, is fitted to X, and the tree and the classifiers of
        its nodes use the transformed features. The name of a kernel, a function or "precomputed"
        is used for the tree, see `MFTree`, and for the decisions of ``router="spectral"``: other
        routers have no use for it, and linear ones warn.
    kernel_params : dict, optional
        Parameters of a named kernel; see `MFTree`.
    router, decoding, beam_width, calibration, standardize, n_jobs, random_state, verbose
        See `ClassTreeClassifier`. If `kernel` is a transformer or "precomputed", X is used as it
        is, and nothing is standardized. The tree over the labels is always learned: for a hierarchy
        that is known, use `ClassTreeClassifier`.

    Attributes
    ----------
    hierarchy_ : Hierarchy
        The learned tree.
    hierarchy_learner_ : MFTree
    classes_ : array of shape (n_classes,)
    options_ : OptionTable
    router_ : Router
    router_scores_ : dict of str to float
    routes_ : Routes
    scale_ : ColumnScale or None
    exponent_ : float
    label_tree_, threshold_
        With label sets; see `ClassTreeClassifier`.
    feature_map_ : transformer
        The fitted transformer, if `kernel` is one.

    References
    ----------
    L. Liu, P.-N. Tan, X. Liu (2015). MF-Tree: matrix factorization tree for large multi-class
    learning. CIKM 2015. doi:10.1145/2806416.2806540

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = MFTreeClassifier().fit(X[:1000], y[:1000])
    >>> clf.predict(X[1000:1005])
    array([1, 4, 0, 5, 3])

    The published decisions depend on the width of the kernel, which is chosen on training rows:

    >>> from sklearn.model_selection import GridSearchCV
    >>> clf = MFTreeClassifier.preset("one-hot", kernel="rbf")
    >>> widths = {"kernel_params": [{"gamma": gamma} for gamma in (0.001, 0.005, 0.02)]}
    >>> found = GridSearchCV(clf, widths, cv=3).fit(X[:1000], y[:1000])
    >>> found.best_params_
    {'kernel_params': {'gamma': 0.005}}
    >>> round(found.score(X[1000:], y[1000:]), 2)
    0.88
    """

    preset, presets = classmethod(preset), classmethod(presets)
    _presets: ClassVar = {
        "published": Preset(
            "a binary tree by magnitudes of eigenvectors, and projections on them as routers",
            {
                "branching": 2,
                "leaf_size": 1,
                "rule": "abs",
                "weights": "sums",
                "centring": "global",
                "min_side": 0.0,
                "router": "spectral",
                "decoding": "greedy",
                "standardize": False,
            },
            f"{_PAPER}; Algorithms 1 to 3, Tables 2 and 3",
        ),
        "one-hot": Preset(
            "as published, but with the larger entry of G instead of its magnitude, and indicators "
            "as routers: G as it is before the paper relaxes it",
            {
                "branching": 2,
                "leaf_size": 1,
                "rule": "max",
                "weights": "sums",
                "centring": "global",
                "min_side": 0.0,
                "router": SpectralRouter(one_hot=True),
                "decoding": "greedy",
                "standardize": False,
            },
            f"{_PAPER}; Algorithms 1 and 2",
        ),
        "refitted": Preset(
            "a binary tree by 2-means on eigenvectors, with linear classifiers trained anew",
            {"branching": 2, "leaf_size": 1, "beam_width": 5},
        ),
        "pairwise": Preset(
            "a classifier for every pair of options of a node: twice the dot products, more "
            "accurate if there are few features",
            {"branching": 5, "leaf_size": 1, "router": LinearRouter(against="each")},
        ),
        "wide": Preset(
            "eight parts per group, down to 16 classes, which are separated one against the rest",
            {"branching": 8, "leaf_size": 16, "beam_width": 2},
        ),
    }

    def __init__(
        self,
        branching: int | Literal["auto"] = "auto",
        *,
        leaf_size: int | Literal["auto"] = "auto",
        min_side: float = 0.05,
        kernel: Any = "linear",
        kernel_params: dict[str, Any] | None = None,
        weights: Literal["means", "roots", "sums"] = "means",
        centring: Literal["node", "global"] = "node",
        rule: Literal["kmeans", "abs", "max"] = "kmeans",
        tau: int = 0,
        max_depth: int | None = None,
        router: Any = "linear",
        decoding: Any = "beam",
        beam_width: int = 3,
        calibration: float | str | None = None,
        standardize: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
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
        self.router = router
        self.decoding = decoding
        self.beam_width = beam_width
        self.calibration = calibration
        self.standardize = standardize
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @property
    def tree(self) -> MFTree:
        """The learner of the tree, for features that are transformed already."""
        return MFTree(
            self.branching,
            leaf_size=self.leaf_size,
            min_side=self.min_side,
            kernel="linear" if self._maps_features() else self.kernel,
            kernel_params=self.kernel_params,
            weights=self.weights,
            centring=self.centring,
            rule=self.rule,
            tau=self.tau,
            max_depth=self.max_depth,
            n_jobs=self.n_jobs,
        )

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MFTreeClassifier:
        """Learn the tree and the classifiers of its nodes; see `ClassTreeClassifier.fit`."""
        check_kernel(self.kernel, self.kernel_params)
        router = resolve_router(self.router, copy=False)
        if is_rows(self.kernel) and isinstance(router, LinearRouter | FlatRouter):
            warn_of_other_kernel(self, "linear")
        super().fit(X, y, sample_weight)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_precomputed(self.kernel)
        return tags

    def _maps_features(self) -> bool:
        return hasattr(self.kernel, "transform")

    def _scaled(self, X: Any, weights: FloatArray | None) -> Any:
        if not (self._maps_features() or is_precomputed(self.kernel)):
            return super()._scaled(X, weights)
        self.scale_ = None
        return X

    def _prepare(self, X: Any, rng: Any = None, *, reset: bool = False) -> Any:
        if not self._maps_features():
            return super()._prepare(X, rng, reset=reset)
        if reset:
            self.feature_map_ = clone(self.kernel)
            if rng is not None and "random_state" in self.feature_map_.get_params():
                self.feature_map_.set_params(random_state=int(rng.randint(2**31 - 1)))
            mapped = self.feature_map_.fit_transform(X)
        else:
            mapped = self.feature_map_.transform(X)
        return (
            mapped
            if self._any_rows
            else read_rows(mapped, named=self, reset=reset, dtype=np.float64)
        )
