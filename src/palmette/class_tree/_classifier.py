"""ClassTreeClassifier: classification along a class tree, given or learned."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import softmax
from sklearn.base import clone
from sklearn.utils import check_consistent_length, check_random_state

from palmette._arrays import FloatArray, IntArray, count_rows, read_rows, take_rows
from palmette.base._answers import OnePath, lists_as_matrix
from palmette.base._classifier import HierarchicalClassifier
from palmette.base._column_scale import ColumnScale
from palmette.base._column_units import Kind
from palmette.base._fitting import (
    Threads,
    check_target,
    check_weights,
    path_target,
    used_rows,
)
from palmette.base._lazy import is_lazy
from palmette.base._presets import Preset, preset, presets
from palmette.base._temperature import fit_inverse_temperature, held_out_third, temperature_scaled
from palmette.class_tree._chosen_router import resolve_router, unit_kind_of_router
from palmette.class_tree._confusion import LabelEmbeddingTree
from palmette.class_tree._dependence import DependenceTree
from palmette.class_tree._label_set_answers import (
    best_of_sets,
    check_sets,
    decide_sets,
    fit_sets,
    read_sets,
    takes_sets,
)
from palmette.class_tree._linear_routes import check_routes
from palmette.class_tree._nmf import NMFTree
from palmette.class_tree._relaxed import RelaxedTree
from palmette.class_tree._routing import OptionTable, Router, Routes, RoutingProblem
from palmette.class_tree._search import DagSpace, best_labels, class_scores
from palmette.class_tree._shared_router import SharedRoutes
from palmette.decisions._decode import normalize_rows
from palmette.decisions._rules import Beam, BestPath, TopDown, resolve_decoding
from palmette.exceptions import HierarchyError, LabelError, PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._containers import row_index
from palmette.labels._labels import NodeLabels
from palmette.persistence.checks import require

_HELD_OUT = 2**24  # maximum number of probabilities used for calibration: 128 MiB
_SEARCHES = ("beam", "greedy", "top_down", "exact", "best_path")
_HELD_OUT_ROWS = 3_000  # enough to fit one number


_CLASSES_NOT_ROWS = (
    "Published: rows are divided, whatever their classes, and leaves have one-class machines. Here "
    "classes are divided, and a leaf has one class."
)


def _rival(summary: str, tree: Any, method: str, differs: str) -> Preset:
    return Preset(
        summary,
        {"tree": tree, "router": "linear", "decoding": "greedy", "standardize": False},
        f"{method}; in Table 2 of Liu, Tan and Liu, CIKM 2015, doi:10.1145/2806416.2806540",
        f"{differs} The classifiers of nodes and their parameters are not printed.",
    )


class ClassTreeClassifier(HierarchicalClassifier):
    """Classify along a tree over the classes, by a beam search for the best path.

    At every node a router scores the options. Scores are summed along a path, and the label at the
    end of the best path is predicted. A group of many classes is a node with many options, which
    are separated one against the rest. If a class is below several groups, its best path counts.

    With label sets it is a probabilistic label tree: an option is true of a row if any label below
    it is, its classifier is trained on the rows of which its node is true, and the probability of a
    label is the product along its path. Hundreds of thousands of labels need a few dozen
    classifiers per row.

    Parameters
    ----------
    tree : learner of a hierarchy, Hierarchy, or None
        A learner, such as ``MFTree()``, is cloned and fitted inside `fit`. None takes the hierarchy
        from the paths in y, tuples or columns; if y has names or strings,
        ``MFTree("auto", leaf_size="auto")`` is fitted, and ``KMeansTree()`` if it has label sets,
        with ``leaf_size=300`` if rows have ten labels or more on average.
        In a given hierarchy all nodes are labels, and predictions are closed under ancestors;
        with label sets, children of nodes with more than 100 are divided into groups, which are
        learned and are no nodes of the hierarchy.
    router : "auto", "linear", "logistic", "adaboost", "flat", "kernel", "forest", "spectral", \
Router, or scikit-learn classifier
        Trains the classifiers of the nodes. "auto" compares linear classifiers along the tree with
        kernel regression, a forest and the average of the two, or for a sparse X with linear
        classifiers of all classes and a forest, by cross-validation on up to 3,000 rows, which
        takes 1 to 10 CPU seconds. See `palmette.routing.ChosenRouter`. Label sets have linear
        classifiers only: "auto" and "linear" choose the weight of the loss and the scale of sparse
        rows (length one, with or without inverse document frequencies unless all rows have length
        one already) on held-out rows, and leave
        out small weights of sparse rows; "logistic" and `LinearRouter` are used without changes.
    decoding : "beam", "greedy", "exact", or a rule of `palmette.decoding`
        "beam" follows the best `beam_width` paths, "greedy" the best one, "exact" evaluates all
        nodes; so does "beam" if the router has a model of all classes, such as "kernel". Other
        rules decide by the probabilities, for which all nodes are evaluated too. With label sets,
        "beam", "greedy" and "exact" predict the labels above ``threshold_``, and the most probable
        one if there is none and no training row was without labels; if all training rows had one
        label, only the most probable one. Rules are those for several paths, such as a number or
        `palmette.decoding.TopK`.
    beam_width : int
        Number of paths that "beam" keeps; twice as many with label sets.
    closure : Hierarchy, optional
        With label sets along a learned tree: hierarchy of the labels, a tree or DAG such as a
        thesaurus, along which answers are closed. It does not change which labels are found and how
        they are ranked; ancestors are added to predictions. The probability of a node is that of
        any label at or below it, as if they were independent. With one path per row it is the tree.
    calibration : None, float, or "out_of_fold"
        Exponent of the class probabilities, the inverse of a temperature; they are scaled to sum to
        one afterwards. Above 1 they become more extreme; their order does not change.
        "out_of_fold" maximizes the likelihood of a third of the rows under classifiers fitted to
        the other two thirds, which about doubles the fit time. With label sets, None means the
        same: the held-out rows are needed for the threshold in any case.
    standardize : bool
        Whether the columns of a dense X are scaled to mean 0 and standard deviation 1, for the tree
        and the classifiers. Columns of zeros and ones are left unchanged, and columns of mostly
        zeros are not centred. A sparse X is left unchanged, and so is the input of a scikit-learn
        classifier that is given as the router.
    n_jobs : int, optional
        Number of threads; predictions do not depend on it.
    random_state : int, RandomState or None
        Seed of the tree and the classifiers, if they use random numbers; None leaves their own
        seeds unchanged.
    verbose : int
        Whether to print the steps of the fit: the tree, the scores of routers that are compared,
        and the end of training.

    Attributes
    ----------
    hierarchy_ : Hierarchy
    hierarchy_learner_ : learner
        The fitted learner, if the hierarchy was learned.
    classes_ : array of shape (n_classes,)
    options_ : OptionTable
        The options of every node, from the root to the classes.
    router_ : Router
        The router that was trained: the chosen one if `router` is "auto".
    router_scores_ : dict of str to float
        Accuracies of the routers that "auto" compared, on held-out rows; else empty. With label
        sets, nDCG at 5 of the settings that were compared or, along a given hierarchy, the area
        below the precision-recall curve of its nodes.
    routes_ : Routes
        The fitted classifiers of all nodes.
    scale_ : ColumnScale or None
        Means and standard deviations of the columns, if they are standardized.
    exponent_ : float
        Exponent of the probabilities, as set or found by `calibration`.
    label_tree_ : LabelTree
        With label sets: the classifiers, options and scale of the rows.
    threshold_ : float
        With label sets: the threshold of all labels with the best micro-F1 on held-out rows.

    Notes
    -----
    Classifiers of a hinge loss score ``-max(0, 1 - margin)^2``: an option with a margin of 1 or
    more has score 0, so that paths of unequal depth can be compared. Probabilities are then the
    softmax of the scores of the classes. If the router gives probabilities, those of the classes
    are products along paths.

    A router that fits one model of all classes, such as "kernel" or "forest", gives every option
    the sum of the probabilities of its classes: the tree does not change the probabilities, and
    the default prediction is the most probable class.

    Probabilities do not depend on the search: `predict_proba` always evaluates all nodes, its rows
    sum to one, and its largest entry is the prediction of ``decoding="exact"``. With a beam, the
    cost of `predict` and `predict_top_k` grows with the depth and not with the number of classes;
    the best label differs from the most probable one if its path left the beam.

    References
    ----------
    Jasinska, Dembczynski, Busa-Fekete, Pfannschmidt, Klerx, Huellermeier, Extreme F-measure
    maximization using sparse probability estimates, ICML 2016 (probabilistic label trees).

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> from palmette.class_tree import RandomTree
    >>> clf = ClassTreeClassifier(RandomTree(random_state=0)).fit(X[:300], y[:300])
    >>> clf.predict(X[1001:1005])
    array([4, 0, 5, 3])
    >>> sorted(clf.router_scores_)
    ['forest', 'kernel', 'kernel+forest', 'linear']

    >>> texts = ["grey cat", "black cat", "grey dog", "black dog"] * 5
    >>> tags = [{"cat", "grey"}, {"cat", "black"}, {"dog", "grey"}, {"dog", "black"}] * 5
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> words = CountVectorizer().fit(texts)
    >>> clf = ClassTreeClassifier().fit(words.transform(texts), tags)
    >>> sorted(clf.predict(words.transform(["a black dog"]))[0])
    ['black', 'dog']
    """

    preset, presets = classmethod(preset), classmethod(presets)
    _presets: ClassVar = {
        "cmtl": _rival(
            "a tree of classes that are confused, linear classifiers at its nodes",
            LabelEmbeddingTree(),
            "CMTL, by Bengio, Weston and Grangier, NIPS 23, 2010",
            "Confusions are smoothed, and counted on held-out rows.",
        ),
        "drhl": _rival(
            "a DAG in which classes may be on both sides, from the pairs confused least",
            RelaxedTree(starts="pairs", n_starts=5),
            "DRHL, by Gao and Koller, ICCV 2011, doi:10.1109/ICCV.2011.6126481",
            "Five pairs are tried at a node; how many are tried is not printed.",
        ),
        "rnmf": _rival(
            "a tree by non-negative factorization of the means of classes",
            NMFTree(),
            "RNMF, by Liu, Comar, Saha, Tan and Nucci, ICPR 2012",
            _CLASSES_NOT_ROWS,
        ),
        "rdm": _rival(
            "a tree by the dependence of groups and the means of classes",
            DependenceTree(),
            "RDM, after Song, Smola, Gretton and Borgwardt, ICML 2007, doi:10.1145/1273496.1273599",
            _CLASSES_NOT_ROWS,
        ),
    }

    closure: Hierarchy | None = None  # other class trees, and files, lack the parameter
    verbose: int = 0  # files may lack the parameter

    def __init__(
        self,
        tree: Any = None,
        *,
        router: Any = "auto",
        decoding: Any = "beam",
        beam_width: int = 5,
        closure: Hierarchy | None = None,
        calibration: float | str | None = None,
        standardize: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.tree = tree
        self.router = router
        self.decoding = decoding
        self.beam_width = beam_width
        self.closure = closure
        self.calibration = calibration
        self.standardize = standardize
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({"standardize": False, **state})  # a parameter that files may lack

    # ------------------------------------------------------------------ fitting

    @property
    def hierarchy(self) -> Any:
        """The hierarchy of answers, under the parameter name of the other classifiers."""
        return self.tree if self.closure is None else self.closure

    def _make_tree(self) -> Any:
        """Return a hierarchy, an unfitted learner, or None for the paths in y."""
        tree = self.tree
        if tree is None or isinstance(tree, Hierarchy):
            return tree
        if hasattr(tree, "fit") and not isinstance(tree, type):
            return clone(tree)
        raise HierarchyError(
            f"tree is a {type(tree).__name__}: expected a palmette.Hierarchy, a learner of one "
            "(such as palmette.MFTree()) or None."
        )

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ClassTreeClassifier:
        """Learn the tree, if it is not given, and the classifiers of its nodes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Data frames and texts too, if the tree is given and the router is a classifier that
            accepts them.
        y : labels of n_samples rows
            In any form that `NodeLabels.encode` reads: one path per row, or label sets.
        sample_weight : array-like of shape (n_samples,), optional
            Only their ratios count; rows of weight 0 are left out.

        Returns
        -------
        self
        """
        self._check_width()
        self._check_calibration()
        router = resolve_router(self.router)
        X = self._read_features(X, reset=True)
        weights = check_weights(sample_weight, count_rows(X))
        used = used_rows(weights)
        check_consistent_length(X, y)
        if weights is not None and used is not None:
            X, weights = take_rows(X, np.flatnonzero(used)), weights[used]
        self._any_rows = router.takes_any_rows
        rng = None if self.random_state is None else check_random_state(self.random_state)
        X = self._scaled(self._prepare(X, rng, reset=True), weights)
        for name in ("label_tree_", "hierarchy_learner_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        sets = read_sets(self, y, used)
        if sets is not None:
            self._print(f"label tree of {count_rows(X):,} rows")
            fit_sets(self, X, sets, weights, router, rng)
            self._print_choice()
            return self
        self._check_decoding(False)
        if self.decoding not in _SEARCHES:
            resolve_decoding(self.decoding, also=_SEARCHES)
        codes = self._read_labels(X, y, weights, used, rng)
        self.options_ = OptionTable.of(self.hierarchy_, self.space_.classes)
        self._print(f"tree of {self.space_.n_classes:,} classes")
        seed = None if rng is None else int(rng.randint(2**31 - 1))
        with Threads(self.n_jobs) as threads:
            learner = getattr(self, "hierarchy_learner_", None)
            problem = RoutingProblem(X, codes, self.options_, weights, seed, threads.map, learner)
            self.router_, self.router_scores_ = router.choose(problem)
            self._print_choice()
            self.routes_ = self.router_.train(problem)
            self._print("classifiers trained")
            self.exponent_ = self._fit_exponent(self.router_, problem)
        return self

    def _kind_of_units(self) -> Kind:
        return unit_kind_of_router(self.router, self.standardize)

    def _print(self, line: str) -> None:
        if self.verbose:
            print(line, flush=True)

    def _print_choice(self) -> None:
        for name, score in self.router_scores_.items():
            self._print(f"{name}: {score:.4f} on held-out rows")

    def _scaled(self, X: Any, weights: FloatArray | None) -> Any:
        """Set ``scale_`` and return the rows of `fit` with it."""
        self.scale_ = None
        if self.standardize and not self._any_rows and not sparse.issparse(X):
            self.scale_ = ColumnScale().fit(X, weights)
        return self._rows_of(X)

    def _rows_of(self, X: Any) -> Any:
        """Return prepared rows as the router gets them."""
        scale = getattr(self, "scale_", None)
        if scale is None:
            return X
        return scale.transform_table(X.toarray() if sparse.issparse(X) else X)

    def _fit_exponent(self, router: Router, problem: RoutingProblem) -> float:
        """Return the exponent that is set, or fit it to a held-out third of the rows."""
        if self.calibration != "out_of_fold":
            return 1.0 if self.calibration is None else float(self.calibration)
        is_held_out = held_out_third(problem.codes, problem.seed or 0)
        train, test = np.flatnonzero(~is_held_out), np.flatnonzero(is_held_out)
        if not test.size:  # no class has three rows
            return 1.0
        routes = router.train(problem.restrict(train))
        n_test = max(1, min(_HELD_OUT // self.space_.n_classes, _HELD_OUT_ROWS))
        if len(test) > n_test:
            test = test[np.linspace(0, len(test) - 1, n_test).astype(np.int64)]
        proba = self._uncalibrated_proba(routes, take_rows(problem.X, test))
        weights = np.ones(len(test)) if problem.weights is None else problem.weights[test]
        return fit_inverse_temperature(proba, problem.codes[test], weights)

    def _prepare(self, X: Any, rng: Any = None, *, reset: bool = False) -> Any:
        """Return X as a numeric dense or CSR matrix, unless the router accepts any rows.

        Matrices of float64 have been checked when X was read.
        """
        is_matrix = isinstance(X, np.ndarray) or sparse.issparse(X)
        if self._any_rows or (is_matrix and X.dtype == np.float64):
            return X
        return read_rows(X, named=self, reset=reset, dtype=np.float64)

    def _read_labels(
        self, X: Any, y: Any, weights: FloatArray | None, used: Any, rng: Any
    ) -> IntArray:
        """Set ``hierarchy_``, ``space_`` and ``classes_``; return the class of every used row.

        X and weights contain the used rows only, y all rows.
        """
        tree = self._make_tree() if self.closure is None else self.closure
        if isinstance(tree, Hierarchy):
            labels = NodeLabels.encode(check_target(lists_as_matrix(y, tree)), tree)
            return self._learn_paths(labels, used)
        labels = NodeLabels.encode(check_target(y), flat=True)  # a tree is learned over strings
        # rows of one label each, such as ("a",), are labels, and answers have their form
        alone = labels.form.kind == "paths" and labels.hierarchy.depth.max(initial=0) <= 1
        if labels.form.kind != "names" and not (alone and tree is not None):
            if labels.form.several and used is not None:
                labels = NodeLabels(labels.hierarchy, labels.given[used], labels.form)
                used = None  # rows of weight 0 may have several paths
            if tree is not None:
                raise LabelError(
                    f"tree={self.tree!r} is learned over labels, but y has paths. Pass one "
                    "label per row, sets of labels, which are not ordered, such as {'a', 'b'}, or "
                    "tree=None to use the hierarchy in y."
                )
            return self._learn_paths(labels, used)
        terminals = labels.terminals if used is None else labels.terminals[used]
        nodes, codes = np.unique(terminals, return_inverse=True)
        spelled = labels.form.class_labels(nodes, labels.hierarchy)
        names = _plain(labels.hierarchy.names[nodes] if alone else spelled)[codes]
        learner = default_tree() if tree is None else tree
        if rng is not None and "random_state" in learner.get_params():
            learner.set_params(random_state=int(rng.randint(2**31 - 1)))
        given = {} if weights is None else {"sample_weight": weights}
        self.hierarchy_learner_ = learner.fit(X, names, **given)
        learned = NodeLabels.encode(names, learner.hierarchy_)
        form = labels.form
        learned.form = replace(learned.form, container=form.container, width=form.width)
        if alone:
            learned.form = replace(learned.form, kind="sets", row_type=form.row_type)
        return self._learn_paths(learned, None)

    def _learn_paths(self, labels: NodeLabels, used: NDArray[np.bool_] | None) -> IntArray:
        """Set the attributes that depend on the labels; return the class of every used row."""
        if labels.hierarchy.is_tree:
            answers, codes = path_target(labels, used)
            self._set_answers(answers)
            return codes.astype(np.int32)
        terminals = labels.terminals if used is None else labels.terminals[used]
        classes, positions = np.unique(terminals, return_inverse=True)
        space: Any = DagSpace(labels.hierarchy, classes)
        self._set_answers(OnePath(space, labels.form))
        return positions.astype(np.int32)

    # ------------------------------------------------------------------ prediction

    def _check_width(self) -> None:
        if not (isinstance(self.beam_width, int | np.integer) and self.beam_width >= 1):
            raise PalmetteError(f"beam_width={self.beam_width!r}: expected a positive integer.")

    def _check_calibration(self) -> None:
        given = self.calibration
        if given is None or given == "out_of_fold":
            return
        if isinstance(given, Real) and np.isfinite(given) and given > 0:
            return
        raise PalmetteError(
            f"calibration={given!r}: expected None, a positive number or 'out_of_fold'."
        )

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        if hasattr(self, "label_tree_"):
            check_sets(self)
        elif hasattr(self, "routes_"):
            n_classes = len(self.space_.classes)
            width = None if hasattr(self, "feature_map_") else self.n_features_in_
            check_routes(self.routes_, self.options_, width, n_classes)
            scale = getattr(self, "scale_", None)
            require(scale is None or isinstance(scale, ColumnScale), "scale_ is not a ColumnScale")
            if scale is not None:
                width = len(getattr(scale, "scale_", ()))
                require(width == self.n_features_in_, "scale_ has another number of features")

    def _width(self) -> int | None:
        """Return the beam width of the decision rule; 0 for all nodes, None for other rules."""
        rule = self.decoding
        if rule == "beam":
            self._check_width()
            return 0 if self._knows_all_classes() else self.beam_width
        if rule in ("greedy", "top_down") or isinstance(rule, TopDown):
            return 1
        if rule in ("exact", "best_path") or isinstance(rule, BestPath):
            return 0
        if isinstance(rule, Beam):
            return rule.width
        resolve_decoding(rule, also=_SEARCHES)
        if isinstance(self.space_, DagSpace):
            raise HierarchyError(
                f"decoding={rule!r} needs a tree, but in this hierarchy classes are below several "
                "groups. Use 'beam', 'greedy' or 'exact'."
            )
        return None

    def _knows_all_classes(self) -> bool:
        """Return whether probabilities of all classes are computed in any case."""
        return isinstance(self.routes_, SharedRoutes)

    def _node_proba_of(self, X: Any) -> FloatArray:
        proba = self.label_tree_.proba(self._rows_of(self._prepare(X)))
        return np.asarray(self.label_tree_.whole_proba(proba, self._answers.columns))

    def predict(self, X: Any) -> Any:
        """Predict labels in the form of the `y` that the model was fitted on.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        labels of n_samples rows
            With label sets along a hierarchy: the labels that are predicted themselves, which may
            be above one another; those above them that are only implied are written if `y` lists
            all ancestors.
        """
        if not hasattr(self, "label_tree_") or is_lazy(X):
            return super().predict(X)
        decision = decide_sets(self, self._read_rows(X))
        if decision is None:
            return super().predict(X)
        closed, listed = decision
        return self._answers.write(closed, row_index(X), listed)

    def _decide(self, X: Any) -> Any:
        if self._answers.by_node:
            decision = decide_sets(self, X)
            return super()._decide(X) if decision is None else decision[0]
        width = self._width()
        if width is None:
            return np.asarray(super()._decide(X))
        classes = self.space_.classes
        if width:
            return np.asarray(classes[self._search(X, width)[0][:, 0]])
        order = self._answers.class_order  # of equal probabilities, the first label wins
        best = [table[:, order].argmax(axis=1) for table in self._tables(X)]
        return np.asarray(classes[order[np.concatenate(best)]])

    def _search(self, X: Any, width: int) -> tuple[IntArray, FloatArray]:
        """Return the labels and scores of the best paths, both of shape (n_samples, width)."""
        table = self.options_
        width = min(width, table.n_classes)

        def follow(part: Any) -> tuple[IntArray, FloatArray]:
            rows = self._routed(part)
            return best_labels(table, self.routes_, rows, count_rows(part), width)

        per_row = 2 * width * int(table.sizes.max())  # numbers held in memory
        with Threads(self.n_jobs) as threads:
            share = -(-count_rows(X) // threads.n_threads)
            pieces = [
                take_rows(X, slice(start, start + share))
                for start in range(0, count_rows(X), share)
            ]
            found = threads.map(
                follow, [part for each in pieces for part in self._parts(each, per_row)]
            )
        labels, values = zip(*found, strict=True)
        return np.concatenate(labels), np.concatenate(values)

    def _routed(self, X: Any) -> Any:
        """Return rows in the form that the routes score."""
        return self.routes_.prepare(self._rows_of(self._prepare(X)))

    def _class_proba_of(self, X: Any) -> FloatArray:
        proba = self._uncalibrated_proba(self.routes_, self._rows_of(self._prepare(X)))
        return proba if self.exponent_ == 1.0 else temperature_scaled(proba, self.exponent_)

    def _uncalibrated_proba(self, routes: Routes, X: Any) -> FloatArray:
        """Return the class probabilities before calibration."""
        if isinstance(routes, SharedRoutes):
            return routes.proba(X)
        scores = class_scores(self.options_, routes, routes.prepare(X), count_rows(X))
        if routes.are_log_proba:
            return normalize_rows(np.exp(scores))
        return np.asarray(softmax(scores, axis=1))

    def _top_k(self, X: Any, k: int) -> tuple[IntArray, FloatArray]:
        """Return the best labels; with "beam" or "greedy", those of at least `k` best paths.

        With a beam and calibration, or a router without probabilities, the probabilities are
        normalized over the labels that the beam reached.
        """
        if self._answers.by_node:
            found = best_of_sets(self, X, k)
            return super()._top_k(X, k) if found is None else found
        width = self._width()
        if not width:
            return super()._top_k(X, k)
        k = min(k, self.options_.n_classes)
        labels, values = self._search(X, max(width, k))
        if (labels[:, :k] < 0).any():  # in a DAG, paths that met may leave fewer than k labels
            return super()._top_k(X, k)
        if self.routes_.are_log_proba and self.exponent_ == 1.0:
            shares = np.exp(values)
        else:
            shares = softmax(self.exponent_ * values, axis=1)
        return self.space_.classes[labels[:, :k]], shares[:, :k]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        router = resolve_router(self.router, copy=False)
        tags.input_tags.sparse = router.takes_sparse
        tags.classifier_tags.multi_label = takes_sets(router)
        return tags


def _plain(names: NDArray[Any]) -> NDArray[Any]:
    """Return the names as a numeric array if all of them are numpy numbers."""
    values = names.tolist()
    return np.array(values) if all(isinstance(v, np.number) for v in values) else names


def default_tree() -> Any:
    """Return the learner that is used when `tree` is None."""
    from palmette.class_tree._spectral import MFTree

    return MFTree("auto", leaf_size="auto")
