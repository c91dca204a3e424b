"""Models of Palmette as ONNX graphs, for programs without Python.

Needs skl2onnx: ``pip install 'palmette[onnx]'``. The local estimators are converted by it, and
their probabilities are multiplied along the paths in the graph.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from palmette.class_tree import ClassTreeClassifier
from palmette.class_tree._routers import EstimatorRoutes
from palmette.exceptions import PalmetteError
from palmette.local import FlatClassifier, LocalPerParentClassifier

__all__ = ["to_onnx"]

_EXPECTED = (
    "expected a fitted FlatClassifier, LocalPerParentClassifier, or ClassTreeClassifier whose "
    "router is a scikit-learn classifier, over a tree, with one label per row"
)


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
    model : FlatClassifier, LocalPerParentClassifier or ClassTreeClassifier
        Fitted to numeric rows with one label per row and a tree. Its local estimators have
        probabilities, and are linear models, trees, forests, pipelines and others that skl2onnx
        converts. Of a `ClassTreeClassifier`, the router is a scikit-learn classifier.
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
        ``decoding="best_path"``; and ``node_probabilities``, columns as the nodes of
        ``model.hierarchy_``. The metadata ``palmette.classes`` is a JSON list of the paths of the
        labels.

    Notes
    -----
    Probabilities are those of the model up to the rounding of float32. Decision rules other than
    the most probable label are not part of the graph.
    """
    try:
        import onnx
        from onnx import TensorProto, helper
    except ImportError as error:
        raise PalmetteError(f"{error}: pip install 'palmette[onnx]'.") from error
    nodes = list(_nodes_of(model))
    graph = _Graph(int(model.n_features_in_), target_opset)
    shares, index = [graph.constant_columns()], []
    start = 2  # column 0 is one, column 1 is zero
    for node in nodes:
        shares.append(graph.estimator(node))
        options = node.options
        index.append(np.select([options == -1, options == -2], [0, 1], options + start))
        start += len(node.estimator.classes_)
    proba = graph.products(shares, np.array(index), model._answers.class_order)
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
    entry = made.metadata_props.add()
    entry.key, entry.value = "palmette.classes", json.dumps([str(each) for each in paths])
    onnx.checker.check_model(made)
    return made


# ---------------------------------------------------------------------- what a model consists of


def _nodes_of(model: Any) -> Iterator[_Node]:
    """Yield the estimators of a model, parents before children."""
    is_local = isinstance(model, FlatClassifier | LocalPerParentClassifier)
    if not is_local and not isinstance(model, ClassTreeClassifier):
        raise PalmetteError(f"cannot convert a {type(model).__name__}: {_EXPECTED}.")
    if model._answers.by_node or not model.hierarchy_.is_tree:
        raise PalmetteError(f"cannot convert a model of a DAG or of label sets: {_EXPECTED}.")
    if is_local:
        table = model._make_tasks(model.space_)
        options = table.to_array()
        for task, at in zip(table, options, strict=True):
            estimator = model._estimator_at(task)
            yield _Node(estimator, model._columns_of(task.key), _places(estimator, at, at < 0))
        return
    routes, tree = model.routes_, model.options_
    if not isinstance(routes, EstimatorRoutes) or model.exponent_ != 1.0:
        raise PalmetteError(
            f"cannot convert the router {type(routes).__name__}, or a calibrated class tree: "
            f"{_EXPECTED}, and calibration=None."
        )
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

        rows = "X"
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

    def products(self, shares: list[str], index: NDArray[Any], order: NDArray[Any]) -> str:
        """Multiply the probabilities along the paths of all classes, from the root downwards.

        Parameters
        ----------
        shares : list of str
            Names of arrays whose columns follow each other.
        index : int array of shape (n_estimators, n_classes)
            Column of every class; 0 is one.
        order : int array of shape (n_classes,)
            Order of the classes in the result.
        """
        joined = self.add("Concat", shares, axis=1)
        n_classes = len(order)
        steps = [list(column[column > 0]) for column in index.reshape(-1, n_classes).T[order]]
        depth = max((len(each) for each in steps), default=0)
        padded = np.array([each + [0] * (depth - len(each)) for each in steps], dtype=np.int64)
        padded = padded.reshape(n_classes, depth)
        first = np.zeros(n_classes, np.int64) if depth == 0 else padded[:, 0]
        product = self.add("Gather", [joined, self.array(first)], axis=1)
        for column in padded.T[1:]:
            product = self.add(
                "Mul", [product, self.add("Gather", [joined, self.array(column)], axis=1)]
            )
        return product

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
