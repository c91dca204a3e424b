"""AdaBoostBHCClassifier: a learned binary class tree with binary AdaBoost at every node."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from palmette._arrays import count_rows
from palmette.base._column_units import Kind
from palmette.base._presets import Preset, preset, presets
from palmette.class_tree._boosted_router import BoostedRouter
from palmette.class_tree._classifier import ClassTreeClassifier
from palmette.class_tree._ensemble import ClassTreeEnsemble
from palmette.class_tree._fisher import BHCTree
from palmette.class_tree._simple import RandomTree
from palmette.labels._containers import row_index
from palmette.trees._binning import MAX_BINS

_PAPER = (
    "Jun and Ghosh, Multi-class boosting with class hierarchies, MCS 2009, "
    "doi:10.1007/978-3-642-02326-2_4; Algorithms 1 and 2, Tables 1 and 3, Figures 2 to 8"
)


class AdaBoostBHCClassifier(ClassTreeEnsemble):
    """AdaBoost.BHC: binary AdaBoost at every node of a binary tree over the classes.

    First a class tree is learned that groups similar classes. At every node, AdaBoost of unpruned
    classification trees separates the two sides, fitted to the rows of the node's classes only:
    C classes need C - 1 binary problems, most of them small.

    Parameters
    ----------
    tree : learner of a hierarchy, Hierarchy, or None
        A learner, such as ``BHCTree()``, is cloned and fitted inside `fit`. None takes the
        hierarchy from the paths in y; if y has plain labels, it is the published
        ``BHCTree("first_class")``. (``BHCTree()`` does not depend on the order of the classes;
        which of them is better depends on the data.) Nodes with more than two options are solved
        one against the rest.
    n_trees : int
        Number of class trees, whose probabilities are averaged. Those after the first use another
        seed and another order of the classes; a learner that depends on neither gives equal trees.
    n_estimators : int
        Number of boosting rounds at every node.
    max_depth : int, optional
        Maximum depth of the classification trees; without a limit their leaves are pure.
    max_features : int, float, "sqrt" or None
        Number or share of the features that are considered at a split; None for all.
    resample : bool or float
        Whether every round draws rows with probabilities proportional to their weights: as many as
        there are, or the given share. Without it, unpruned trees make no training errors, and
        boosting has no effect.
    decoding : "exact", "greedy", "beam", or a rule of `palmette.decoding`
        "exact" predicts the label with the largest product of probabilities along its path.
        "greedy" follows the sign at every node, as published, which is less accurate on most data;
        see `ClassTreeEnsemble`.
    beam_width : int
        Number of paths that "beam" keeps.
    sharpness : float
        Factor between the mean votes, from -1 to +1, and log-odds. It determines how much uncertain
        nodes count in soft decisions. The value of maximum likelihood is too large for these; in
        cross-validation values from 3 to 6 were best and hardly differed.
    calibration : None, float, or "out_of_fold"
        Exponent of the final label probabilities, which compensates for the small sharpness and
        changes no prediction. "out_of_fold" typically finds a value of about 2.
    max_bins : int
        Maximum number of bins per feature, at most 255.
    n_jobs : int, optional
        Number of threads; predictions do not depend on it.
    random_state : int, RandomState or None
    verbose : int
        Whether to print a line per class tree.

    Attributes
    ----------
    hierarchy_ : Hierarchy
        The first tree.
    hierarchy_learner_ : learner
        The fitted learner of the first tree, if it was learned.
    classes_ : array of shape (n_classes,)
    estimators_ : list of ClassTreeClassifier
        One per class tree.
    exponent_ : float
        Exponent of the probabilities, as set or found by `calibration`.

    References
    ----------
    G. Jun, J. Ghosh (2009). Multi-class boosting with class hierarchies. MCS 2009, LNCS 5519,
    32-41. doi:10.1007/978-3-642-02326-2_4

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = AdaBoostBHCClassifier(n_estimators=30, random_state=0).fit(X[:1000], y[:1000])
    >>> bool(clf.score(X[1000:], y[1000:]) > 0.9)
    True
    """

    bootstrap = False  # AdaBoost resamples the rows itself

    preset, presets = classmethod(preset), classmethod(presets)
    _presets: ClassVar = {
        "paper": Preset(
            "the tree from the first class on, 100 rounds of trees over all features, signs",
            {
                "tree": BHCTree(start="first_class", min_side=0.0),
                "max_features": None,
                "decoding": "greedy",
            },
            _PAPER,
            "Not printed: the temperatures of Algorithm 1, the ridge, and how the trees take "
            "weights; rows are drawn by weight. Features have 255 bins at most.",
        ),
        "ensemble": Preset(
            "three random class trees with four branches per node, and calibrated soft votes",
            {
                "tree": RandomTree(4),
                "n_trees": 3,
                "n_estimators": 65,
                "resample": 0.35,
                "decoding": "exact",
            },
        ),
    }

    def __init__(
        self,
        tree: Any = None,
        *,
        n_trees: int = 1,
        n_estimators: int = 100,
        max_depth: int | None = None,
        max_features: int | float | str | None = "sqrt",
        resample: bool | float = True,
        decoding: Any = "exact",
        beam_width: int = 5,
        sharpness: float = 4.0,
        calibration: float | str | None = 2.0,
        max_bins: int = MAX_BINS,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.tree = tree
        self.n_trees = n_trees
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.max_features = max_features
        self.resample = resample
        self.decoding = decoding
        self.beam_width = beam_width
        self.sharpness = sharpness
        self.calibration = calibration
        self.max_bins = max_bins
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _default_tree(self) -> Any:
        return BHCTree("first_class")

    def _kind_of_units(self) -> Kind:
        return "columns"

    def _member(self, tree: Any) -> ClassTreeClassifier:
        router = BoostedRouter(
            self.n_estimators,
            max_depth=self.max_depth,
            max_features=self.max_features,
            resample=self.resample,
            sharpness=self.sharpness,
            max_bins=self.max_bins,
        )
        return ClassTreeClassifier(
            tree,
            router=router,
            decoding=self.decoding,
            beam_width=self.beam_width,
            standardize=False,  # trees do not depend on the scales of features
            n_jobs=self.n_jobs,
        )

    def staged_predict(self, X: Any) -> Iterator[Any]:
        """Yield the labels predicted after each round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        labels of n_samples rows, as from `predict`
        """
        check_is_fitted(self)
        rows = self._read_features(X, reset=False)
        stages = [member.routes_.stages(member._routed(rows)) for member in self.estimators_]
        # votes are computed already: rows are represented by their numbers
        numbers = np.arange(count_rows(rows))[:, None]
        staged = copy.copy(self)
        staged.estimators_ = [copy.copy(member) for member in self.estimators_]
        for routes in zip(*stages, strict=True):
            for member, own in zip(staged.estimators_, routes, strict=True):
                member.routes_ = own
            yield self._answers.write(staged._decide(numbers), row_index(X))
