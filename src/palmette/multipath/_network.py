"""CoherentNetworkClassifier: a small neural network with one output per node."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from palmette._arrays import FloatArray
from palmette.base._devices import has_torch_device
from palmette.base._fitting import one_thread_if_small
from palmette.base._parameters import check_positive, is_count, is_number
from palmette.decisions._thresholds import Threshold
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.multipath._base import CoherentClassifier
from palmette.multipath._layers import (
    NumpyNetwork,
    initial_weights,
    learning_rates,
)
from palmette.multipath._torch_layers import train_with_torch

_MIN_STEPS = 2_000  # with one path per row: fewer steps underfit data of many classes
_BATCH = 64  # rows of a batch at which the learning rate is not scaled
_NARROWEST, _WIDEST = 64, 500  # units of the layers
_RATE = 1e-3  # of the widest
_MANY_ROWS = 4_000  # from which all rows of a batch drop the same units, which is faster
_MUCH_DROPOUT = 0.3  # if they drop at least this share of them
_EPOCHS, _EPOCHS_OF_MANY_ROWS = 25, 15  # if each row drops units of its own, and if not


class CoherentNetworkClassifier(CoherentClassifier):
    """Neural network over a hierarchy: ReLU hidden layers and one sigmoid output per node.

    The loss is the binary cross-entropy on the labels with their ancestors; the output biases are
    initialized with the log-odds of the nodes. Probabilities are made coherent at prediction.

    Parameters
    ----------
    hidden : tuple of int or "auto"
        Number of units of each hidden layer; "auto" is two layers of half the number of rows, at
        least 64 and at most 500.
    n_epochs : int or "auto"
        Number of epochs; "auto" is 25, more if every row has one path and there are few rows, and
        15 if all rows of a batch drop the same units.
    dropout : float or "auto"
        Proportion of hidden units dropped per step; "auto" is 0.5, or 0.2 if every row has one
        path. Every row drops units of its own; with at least 4,000 rows and a proportion of at
        least 0.3, all rows of a batch drop the same units, which takes less time.
    learning_rate : float or "auto"
        Initial learning rate of Adam; it decreases to 0 by cosine annealing. "auto" is 0.001 for
        layers of 500 units and batches of 64 rows, and larger for smaller layers and larger
        batches: in proportion to the square root of their size.
    batch_size : int
        Maximum number of rows per batch. Large ones take less time per epoch, and may need more
        epochs.
    weight_decay : float
        l2 penalty.
    backend : {"auto", "numpy", "torch"}
        "auto" is torch if it is installed and has a CUDA device, else numpy.
    missing, categorical_features, hierarchy, decoding, dag_rule
        As in `CoherentForestClassifier`.
    random_state : int, RandomState or None
    verbose : int
        Whether to print the loss of every epoch.

    Attributes
    ----------
    loss_curve_ : list of float
        Mean training loss per epoch.
    n_epochs_ : int
        Number of epochs.
    hidden_ : tuple of int
        Number of units of each hidden layer.
    backend_ : str
        Backend used.

    Examples
    --------
    >>> from palmette import CoherentNetworkClassifier
    >>> X = [[0.0, 1], [0.1, 1], [1, 0.1], [1, 0.0]]
    >>> y = [{("a", "b")}, {("a", "b")}, {("a", "c"), ("d",)}, {("a", "c"), ("d",)}]
    >>> network = CoherentNetworkClassifier((8,), n_epochs=400, dropout=0.0, random_state=0)
    >>> sorted(network.fit(X, y).predict([[1, 0.05]])[0])
    [('a', 'c'), ('d',)]
    """

    def __init__(
        self,
        hidden: tuple[int, ...] | str = "auto",
        *,
        n_epochs: int | str = "auto",
        dropout: float | str = "auto",
        learning_rate: float | str = "auto",
        batch_size: int = 64,
        weight_decay: float = 1e-5,
        backend: str = "auto",
        missing: str = "mean",
        categorical_features: Any = "from_dtype",
        hierarchy: Hierarchy | None = None,
        decoding: str | float | Threshold = "auto",
        dag_rule: str = "all",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.hidden = hidden
        self.n_epochs = n_epochs
        self.dropout = dropout
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.weight_decay = weight_decay
        self.backend = backend
        self.missing = missing
        self.categorical_features = categorical_features
        self.hierarchy = hierarchy
        self.decoding = decoding
        self.dag_rule = dag_rule
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        if self.n_epochs != "auto" and not (
            isinstance(self.n_epochs, Integral) and self.n_epochs > 0
        ):
            raise PalmetteError(
                f"n_epochs={self.n_epochs!r}: expected 'auto' or a positive integer."
            )
        dropout: Any = self.dropout
        if dropout != "auto" and not (is_number(dropout) and 0 <= dropout < 1):
            raise PalmetteError(
                f"dropout={dropout!r}: expected 'auto' or a number of at least 0 and below 1."
            )
        check_positive(self, "learning_rate", words=("auto",))
        is_auto = isinstance(self.hidden, str) and self.hidden == "auto"
        sizes = self.hidden if isinstance(self.hidden, tuple | list) else (None,)
        if not is_auto and not all(map(is_count, sizes)):
            raise PalmetteError(f"hidden={self.hidden!r}: expected 'auto' or a tuple of integers.")
        if not is_count(self.batch_size):
            raise PalmetteError(f"batch_size={self.batch_size!r}: expected a positive integer.")
        if not (is_number(self.weight_decay) and self.weight_decay >= 0):
            raise PalmetteError(
                f"weight_decay={self.weight_decay!r}: expected a number of at least 0."
            )
        if self.backend not in ("auto", "numpy", "torch"):
            raise PalmetteError(f"backend={self.backend!r}: expected 'auto', 'numpy' or 'torch'.")

    # ------------------------------------------------------------------ fitting

    def _fit_nodes(self, X: Any, Y: sparse.csr_array, weights: FloatArray | None) -> None:
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        rng = np.random.default_rng(seed)
        X = self._scale(X, weights)
        n_rows = Y.shape[0]
        weights = np.ones(n_rows) if weights is None else weights / weights.mean()
        prior = np.asarray(Y.T @ weights) / n_rows
        single = self._has_one_path_per_row(Y)
        dropout = (0.2 if single else 0.5) if self.dropout == "auto" else float(self.dropout)
        size = min(self.batch_size, n_rows)
        n_batches = -(-n_rows // size)
        width = min(max(n_rows // 2, _NARROWEST), _WIDEST)
        self.hidden_ = (width, width) if isinstance(self.hidden, str) else tuple(self.hidden)
        # narrow layers need larger steps, and fewer
        growth = float(np.sqrt(_WIDEST / max(self.hidden_, default=_WIDEST)))
        shared = n_rows >= _MANY_ROWS and dropout >= _MUCH_DROPOUT
        self.n_epochs_ = self._epochs(single, shared, n_batches, growth)
        rate = _RATE * growth * float(np.sqrt(max(size, _BATCH) / _BATCH))
        first = rate if self.learning_rate == "auto" else float(self.learning_rate)
        rates = np.split(learning_rates(first, self.n_epochs_ * n_batches), self.n_epochs_)
        self.loss_curve_: list[float] = []
        parts = initial_weights([X.shape[1], *self.hidden_, Y.shape[1]], prior, rng)
        self.backend_ = self._choose_backend()
        order = np.random.default_rng([seed, 1])

        def batches(epoch: int) -> list[NDArray[np.intp]]:
            return np.array_split(order.permutation(n_rows), n_batches)

        scale = weights.astype(np.float32)
        given = X, Y, scale, batches, rates, rng, self._record_loss, shared
        if self.backend_ == "torch":
            parts = train_with_torch(
                parts, *given, dropout=dropout, decay=self.weight_decay, seed=seed
            )
            self._network = NumpyNetwork(parts, dropout, self.weight_decay)
        else:
            self._network = NumpyNetwork(parts, dropout, self.weight_decay)
            largest = max(
                *(part.size for part in parts), size * max(part.shape[0] for part in parts)
            )
            with one_thread_if_small(largest):
                self._network.train(*given)

    def _epochs(self, single: bool, shared: bool, n_batches: int, growth: float) -> int:
        if self.n_epochs != "auto":
            return int(self.n_epochs)
        usual = _EPOCHS_OF_MANY_ROWS if shared else _EPOCHS
        steps = _MIN_STEPS if self.learning_rate != "auto" else round(_MIN_STEPS / growth)
        return max(usual, -(-steps // n_batches)) if single else usual

    def _choose_backend(self) -> str:
        if self.backend == "auto":
            return "torch" if has_torch_device() else "numpy"
        return self.backend

    def _record_loss(self, epoch: int, loss: float) -> None:
        self.loss_curve_.append(loss)
        if self.verbose:
            print(f"epoch {epoch + 1} of {self.n_epochs_}: loss {loss:.5f}")

    # ------------------------------------------------------------------ predicting

    def _node_proba_of(self, X: Any) -> FloatArray:
        return self._network.proba(self.scaling_.transform(X))

    def _numbers_over_nodes(self) -> int:
        return super()._numbers_over_nodes() + 2 * sum(
            part.size for part in self._network.parts[1:-1:2]
        )
