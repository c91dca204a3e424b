"""Models of Palmette as ONNX graphs, for programs without Python.

Needs skl2onnx: ``pip install 'palmette[onnx]'``. The local estimators are converted by it, and
their probabilities are multiplied along the paths in the graph. The linear classifiers of class
trees are one matrix product; their scores are added along the paths.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from palmette.base._column_units import ColumnUnits
from palmette.class_tree import ClassTreeClassifier
from palmette.class_tree._linear_routes import LinearRoutes
from palmette.class_tree._routers import EstimatorRoutes
from palmette.exceptions import PalmetteError
from palmette.hierarchy._names import shown
from palmette.local import FlatClassifier, LocalPerParentClassifier
from palmette.table import TableModel

__all__ = ["to_onnx"]

_EXPECTED = (
    "expected a FlatClassifier or LocalPerParentClassifier whose estimators have probabilities, or "
    "a ClassTreeClassifier or MFTreeClassifier whose router is linear (router='linear', 'spectral' "
    "or a LinearRouter) or a scikit-learn classifier with probabilities; over a tree, with one "
    "label per row"
)
_PROBABILITIES = "of the estimator; a table model's calibration is not part of the graph"
_FAR = 2.0**16  # spreads from zero: float32 has 24 digits
_MOST_EXPONENT = 100  # of units: float32 has 127
_MAX_WEIGHTS = 2**27  # 1 GiB; an ONNX file has at most 2 GiB


class _Node(NamedTuple):
    """The estimator of one node, and the options of every class there.

    Parameters
    ----------
    estimator : fitted scikit-learn classifier
    columns : int array or None
        Features that it uses; None for all.
    options : int array of shape (n_classes,)
        For every class, the class of the estimator on the path to it; -1 if the path does not pass
        here, or -2 if the estimator has no such class.
    """

    estimator: Any
    columns: NDArray[Any] | None
    options: NDArray[np.int64]


def to_onnx(model: Any, *, node_proba: bool = False, target_opset: int | None = None) -> Any:
    """Convert a fitted classifier to an ONNX graph of its probabilities.

    Parameters
    ----------
    model : FlatClassifier, LocalPerParentClassifier, ClassTreeClassifier or MFTreeClassifier
        Fitted to numeric rows with one label per row and a tree. Its local estimators have
        probabilities, and are linear models, trees, forests, pipelines and others that skl2onnx
        converts. The router of a class tree is linear, or a scikit-learn classifier with
        probabilities and without calibration.
    node_proba : bool
        Whether the graph also has probabilities of all nodes: a matrix product of
        n_classes x n_nodes.
    target_opset : int, optional
        Version of the operators; by default the newest that skl2onnx tests.

    Returns
    -------
    onnx.ModelProto
        Input ``X``: float32 of shape (n_samples, n_features). Outputs: ``probabilities``, float32
        of shape (n_samples, n_classes), columns as ``model.classes_``; ``best``, int64 of shape
        (n_samples,), the column of the most probable label, which is the prediction of
        ``decoding="best_path"``, and of class trees ``decoding="exact"``; and
        ``node_probabilities``, columns as the nodes of ``model.hierarchy_``. The metadata
        ``palmette.classes`` is a JSON list of the paths of the labels; ``palmette.probabilities``
        says that the calibration of a table model is not part of the graph.

    Notes
    -----
    Probabilities are those of the model up to the rounding of float32. Of a table model,
    ``estimator_`` is converted, without the calibration of the table model. Decision rules other
    than the most probable label are not part of the graph; the beam search of class trees is not
    either.
    The weights of linear class trees are a dense matrix of n_features x n_options.
    """
    _check_model(model)
    try:
        import onnx
        from onnx import TensorProto, helper
    except ImportError as error:
        raise PalmetteError(f"{error}: pip install 'palmette[onnx]'.") from error
    graph = _Graph(int(model.n_features_in_), target_opset)
    units = getattr(model, "column_units_", None)
    if units is not None:
        graph.rows = _in_units(graph, units)
    if isinstance(getattr(model, "routes_", None), LinearRoutes):
        proba = _linear_proba(graph, model)
    else:
        proba = _product_proba(graph, list(_nodes_of(model)), model._answers.class_order)
    outputs = [("probabilities", TensorProto.FLOAT, len(model.classes_))]
    graph.add("Identity", [proba], "probabilities")
    graph.add("ArgMax", [proba], "best", axis=1, keepdims=0)
    if node_proba:
        above = np.asarray(model.hierarchy_.closure[model.space_.classes].todense(), np.float32)
        matrix = graph.array(above[model._answers.class_order])
        graph.add("MatMul", [proba, matrix], "node_probabilities")
        outputs.append(("node_probabilities", TensorProto.FLOAT, model.hierarchy_.n_nodes))
    described = [helper.make_tensor_value_info(n, kind, [None, m]) for n, kind, m in outputs]
    described.append(helper.make_tensor_value_info("best", TensorProto.INT64, [None]))
    made = graph.model(described)
    paths = model.hierarchy_.path_strings[model.space_.classes][model._answers.class_order]
    notes = {"classes": json.dumps([str(each) for each in paths]), "probabilities": _PROBABILITIES}
    for key, value in notes.items():
        entry = made.metadata_props.add()
        entry.key, entry.value = f"palmette.{key}", value
    onnx.checker.check_model(made)
    return made


# ---------------------------------------------------------------------- what a model consists of


def _check_model(model: Any) -> None:
    """Raise an error that lists what can be converted, unless this model can be."""
    if isinstance(model, TableModel):
        raise PalmetteError(
            "cannot convert a table model, whose columns become features before: convert its "
            "estimator_, whose rows are model.features(table). The probabilities of the graph are "
            "then without the calibration of the table model."
        )
    is_local = isinstance(model, FlatClassifier | LocalPerParentClassifier)
    if not is_local and not isinstance(model, ClassTreeClassifier):
        raise PalmetteError(f"cannot convert a {type(model).__name__}: {_EXPECTED}.")
    check_is_fitted(model)
    if model._answers.by_node or not model.hierarchy_.is_tree:
        raise PalmetteError(f"cannot convert a model of a DAG or of label sets: {_EXPECTED}.")
    if is_local:
        return
    if hasattr(model, "feature_map_"):
        raise PalmetteError(
            f"cannot convert a class tree whose kernel is a transformer: {_EXPECTED}. Transform X "
            "before the fit, and convert the transformer apart."
        )
    if not isinstance(model.routes_, EstimatorRoutes | LinearRoutes):
        raise PalmetteError(
            f"cannot convert the router {type(model.router_).__name__}: {_EXPECTED}."
        )
    if isinstance(model.routes_, EstimatorRoutes) and model.exponent_ != 1.0:
        raise PalmetteError(
            "cannot convert a calibrated class tree with classifiers of scikit-learn: fit it with "
            "calibration=None, or with router='linear'."
        )


def _nodes_of(model: Any) -> Iterator[_Node]:
    """Yield the estimators of a model, parents before children."""
    if not isinstance(model, ClassTreeClassifier):
        table = model._make_tasks(model.space_)
        options = table.to_array()
        for task, at in zip(table, options, strict=True):
            estimator = model._estimator_at(task)
            yield _Node(estimator, model._columns_of(task.key), _places(estimator, at, at < 0))
        return
    tree, routes = model.options_, cast(EstimatorRoutes, model.routes_)
    for node, estimator in routes.estimators.items():
        below = tree.below[tree.first[node] : tree.first[node + 1]].tocoo()
        at = np.full(tree.n_classes, -1)
        at[below.col] = below.row
        yield _Node(estimator, None, _places(estimator, at, at < 0))


def _places(estimator: Any, options: NDArray[Any], elsewhere: NDArray[Any]) -> NDArray[np.int64]:
    """Return the position of the option of every class among the classes of an estimator."""
    if not hasattr(estimator, "predict_proba"):
        raise PalmetteError(
            f"cannot convert {type(estimator).__name__}: it has no probabilities. Use a classifier "
            "with predict_proba, such as LogisticRegression."
        )
    known = np.asarray(estimator.classes_)
    at = np.searchsorted(known, options).clip(0, len(known) - 1)
    return np.where(elsewhere, -1, np.where(known[at] == options, at, -2)).astype(np.int64)


# ---------------------------------------------------------------------- products of estimators


def _product_proba(graph: _Graph, nodes: list[_Node], order: NDArray[Any]) -> str:
    """Multiply the probabilities of estimators along the paths of all classes.

    Parameters
    ----------
    graph : _Graph
    nodes : list of _Node
        Parents before children.
    order : int array of shape (n_classes,)
        Order of the classes in the result.

    Returns
    -------
    str
        Name of the result of shape (n_samples, n_classes).
    """
    shares, index = [graph.constant_columns()], []
    start = 2  # column 0 is one, column 1 is zero
    for node in nodes:
        shares.append(graph.estimator(node))
        options = node.options
        index.append(np.select([options == -1, options == -2], [0, 1], options + start))
        start += len(node.estimator.classes_)
    columns = np.array(index).reshape(len(nodes), len(order)).T[order]
    return graph.along_paths("Mul", shares, [list(each[each > 0]) for each in columns])


def _in_units(graph: _Graph, units: ColumnUnits) -> str:
    """Return the name of the rows in the units that trees have seen them in."""
    from onnx import TensorProto

    away = np.abs(units.centres) * np.ldexp(1.0, units.exponents)
    lost = np.flatnonzero((away > _FAR) | (np.abs(units.exponents) > _MOST_EXPONENT))
    if len(lost):
        raise PalmetteError(
            f"cannot convert: rows of an ONNX graph are float32, which does not tell the values of "
            f"columns {shown(lost.tolist())} apart. Subtract a middle value from them, divide by "
            "their spread, and fit the model to the result."
        )
    rows = graph.add("Cast", ["X"], to=TensorProto.DOUBLE)
    rows = graph.add("Sub", [rows, graph.array(units.centres)])
    rows = graph.add("Mul", [rows, graph.array(np.ldexp(1.0, units.exponents))])
    return graph.add("Cast", [rows], to=TensorProto.FLOAT)


# ---------------------------------------------------------------------- linear class trees


def _linear_proba(graph: _Graph, model: Any) -> str:
    """Add the scores of linear classifiers along the paths of all classes.

    All is computed in double precision, as the model does, and rounded at the end.
    """
    from onnx import TensorProto

    routes, table, order = model.routes_, model.options_, model._answers.class_order
    if routes.n_features * len(routes.bias) > _MAX_WEIGHTS:
        raise PalmetteError(
            f"the model has {routes.n_features:,} features and {len(routes.bias):,} linear "
            f"classifiers: expected at most {_MAX_WEIGHTS:,} weights in an ONNX file, which has no "
            "sparse matrices. Select features first."
        )
    rows = graph.add("Cast", [graph.rows], to=TensorProto.DOUBLE)
    if model.scale_ is not None:
        rows = graph.add("Sub", [rows, graph.array(model.scale_.mean_)])
        rows = graph.add("Div", [rows, graph.array(model.scale_.scale_)])
    margins = graph.add("MatMul", [rows, graph.array(routes.coef.toarray().T)])
    margins = graph.add("Add", [margins, graph.array(routes.bias)])
    zeros = graph.add("Mul", [graph.constant_columns(), graph.array(np.zeros(2, np.float32))])
    parts, column = [graph.add("Cast", [zeros], to=TensorProto.DOUBLE)], 2
    columns = np.zeros(len(table.targets), np.int64)  # of options; 0 for the only one of a node
    n_lanes = np.diff(routes.first_lane)
    shapes = np.unique(np.column_stack([table.sizes, n_lanes])[table.sizes > 1], axis=0)
    for size, n_here in shapes.tolist():
        nodes = np.flatnonzero((table.sizes == size) & (n_lanes == n_here))
        lanes = routes.first_lane[nodes][:, None] + np.arange(n_here)
        parts.append(_option_scores(graph, margins, routes.link, lanes, size, len(routes.bias)))
        options = table.first[nodes][:, None] + np.arange(size)
        columns[options] = np.arange(options.size).reshape(options.shape) + column
        column += options.size
    above = table.below.tocsc()  # the options above every class, parents first
    steps = [columns[above.indices[above.indptr[k] : above.indptr[k + 1]]] for k in order]
    scores = graph.along_paths("Add", parts, [sorted(each[each > 0].tolist()) for each in steps])
    scores = graph.add("Mul", [scores, graph.array(np.array(float(model.exponent_)))])
    return graph.add("Cast", [graph.add("Softmax", [scores], axis=1)], to=TensorProto.FLOAT)


def _option_scores(
    graph: _Graph, margins: str, link: str, lanes: NDArray[np.int64], size: int, n_lanes: int
) -> str:
    """Add the scores of the options of nodes with equally many; see `LinearRoutes`.

    Parameters
    ----------
    graph : _Graph
    margins : str
        Name of the margins of all classifiers.
    link : str
    lanes : int array of shape (n_nodes, n_classifiers)
        Classifiers of every node.
    size : int
        Number of options of each of the nodes.
    n_lanes : int
        Number of classifiers of all nodes.

    Returns
    -------
    str
        Name of an array of shape (n_samples, n_nodes * size).
    """
    flat = graph.array(np.array([0, len(lanes) * size]))

    def hinge(values: str) -> str:
        one = graph.array(np.array(1.0))
        short = graph.add("Relu", [graph.add("Sub", [one, values])])
        return graph.add("Mul", [short, short])

    if link == "pairs":
        pairs = [(a, b) for a in range(size) for b in range(a + 1, size)]
        both = graph.add("Concat", [graph.add("Neg", [margins]), margins], axis=1)
        rivals = [
            [k + n_lanes * (option == b) for k, (a, b) in enumerate(pairs) if option in (a, b)]
            for option in range(size)
        ]
        index = lanes[:, :1, None] + np.array(rivals)
        losses = hinge(graph.add("Gather", [both, graph.array(index)], axis=1))
        axis = graph.array(np.array([3]))
        scores = graph.add("Neg", [graph.add("ReduceMean", [losses, axis], keepdims=0)])
        return graph.add("Reshape", [scores, flat])
    values = graph.add("Gather", [margins, graph.array(lanes)], axis=1)
    if lanes.shape[1] < size:  # one classifier, which is positive for the second of two options
        values = graph.add("Concat", [graph.add("Neg", [values]), values], axis=2)
    if link in ("squared_hinge", "siblings"):
        scale = graph.array(np.array(-2.0 if link == "siblings" else -1.0))
        values = graph.add("Mul", [hinge(values), scale])
    elif link == "logistic":  # the logarithm of the sigmoid
        decay = graph.add("Exp", [graph.add("Neg", [graph.add("Abs", [values])])])
        below = graph.add("Neg", [graph.add("Relu", [graph.add("Neg", [values])])])
        one = graph.array(np.array(1.0))
        values = graph.add("Sub", [below, graph.add("Log", [graph.add("Add", [one, decay])])])
    if link != "squared_hinge":
        shares = graph.add("LogSoftmax", [values], axis=2)
        if link == "siblings":  # the scores less half the logarithm of their sum
            half = graph.array(np.array(0.5))
            shares = graph.add("Mul", [graph.add("Add", [shares, values]), half])
        values = shares
    return graph.add("Reshape", [values, flat])


# ---------------------------------------------------------------------- the graph


class _Graph:
    """Nodes and constants of an ONNX graph with the input ``X``."""

    def __init__(self, n_features: int, target_opset: int | None) -> None:
        self.n_features = n_features
        self._target_opset = target_opset
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._versions: dict[str, int] = {}
        self._n_names = 0
        self.rows = "X"

    def add(self, operator: str, inputs: list[str], output: str = "", **attributes: Any) -> str:
        """Add an operator; return the name of its output."""
        from onnx import helper

        output = output or self._name()
        self._nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output

    def array(self, values: NDArray[Any]) -> str:
        """Add a constant; return its name."""
        from onnx import numpy_helper

        name = self._name()
        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def _name(self) -> str:
        self._n_names += 1
        return f"palmette_{self._n_names}"

    def constant_columns(self) -> str:
        """Return a column of ones and one of zeros, as long as the rows."""
        n_rows = self.add("Shape", ["X"], start=0, end=1)
        shape = self.add("Concat", [n_rows, self.array(np.array([2]))], axis=0)
        return self.add("Expand", [self.array(np.array([[1, 0]], np.float32)), shape])

    def estimator(self, node: _Node) -> str:
        """Add the operators of an estimator; return the name of its probabilities."""
        from onnx import compose
        from skl2onnx import to_onnx as convert
        from skl2onnx.common.data_types import FloatTensorType

        rows = self.rows
        if node.columns is not None:
            rows = self.add(
                "Gather", [rows, self.array(np.asarray(node.columns, np.int64))], axis=1
            )
        n_columns = self.n_features if node.columns is None else len(node.columns)
        made = convert(
            node.estimator,
            initial_types=[("X", FloatTensorType([None, n_columns]))],
            options={"zipmap": False},
            target_opset=self._target_opset,
        )
        for each in made.opset_import:
            self._versions[each.domain] = max(each.version, self._versions.get(each.domain, 1))
        made = compose.add_prefix(made, f"{self._name()}_")
        [given] = made.graph.input
        self._nodes += [*made.graph.node]
        for each in self._nodes[-len(made.graph.node) :]:
            each.input[:] = [rows if name == given.name else name for name in each.input]
        self._constants += [*made.graph.initializer]
        return str(made.graph.output[1].name)

    def along_paths(self, operator: str, parts: list[str], steps: list[list[int]]) -> str:
        """Combine the columns along the paths of all classes, from the root downwards.

        Parameters
        ----------
        operator : {"Add", "Mul"}
        parts : list of str
            Names of arrays whose columns follow each other; column 0 changes nothing.
        steps : list of n_classes lists of int
            Columns of every class.
        """
        joined = self.add("Concat", parts, axis=1)
        depth = max((len(each) for each in steps), default=0)
        padded = np.zeros((len(steps), max(depth, 1)), dtype=np.int64)
        for row, each in zip(padded, steps, strict=True):
            row[: len(each)] = each
        found = self.add("Gather", [joined, self.array(padded[:, 0])], axis=1)
        for column in padded.T[1:]:
            found = self.add(
                operator, [found, self.add("Gather", [joined, self.array(column)], axis=1)]
            )
        return found

    def model(self, outputs: list[Any]) -> Any:
        """Return the whole model."""
        from onnx import TensorProto, helper

        given = helper.make_tensor_value_info("X", TensorProto.FLOAT, [None, self.n_features])
        graph = helper.make_graph(self._nodes, "palmette", [given], outputs, self._constants)
        versions = {"": 18, **self._versions}
        domains = [helper.make_opsetid(domain, number) for domain, number in versions.items()]
        made = helper.make_model(graph, opset_imports=domains, producer_name="palmette")
        made.ir_version = 10 if versions[""] >= 21 else 9
        return made
