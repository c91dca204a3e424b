"""Rounds of a fit as tasks of scikit-learn's callbacks: the only file that touches those.

They are marked experimental there. They are tried out when this module is imported; where they have
gone or changed, estimators fit as before, and only `set_callbacks` is missing, and says why.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from numpy.typing import NDArray
from sklearn import __version__ as sklearn_version
from sklearn.utils.metaestimators import available_if

__all__ = [
    "IterativeFitMixin",
    "callbacks_of",
    "is_whole_fit",
    "monitored_fit",
    "monitored_rounds",
    "state_of",
    "was_done_before",
]

State = tuple[Mapping[str, str], Mapping[str, NDArray[Any]]]
Method = TypeVar("Method", bound=Callable[..., Any])

_ROUND, _DONE_BEFORE = "round", "round done before"  # names of tasks


class _Watch:
    """The tasks of one fit: the fit itself, and its rounds one after the other."""

    def __init__(self, state: Callable[[], State] | None) -> None:
        self.state = state
        self._estimator: Any = None
        self._fit: Any = None
        self._round: Any = None

    def open(
        self,
        estimator: Any,
        stop: int,
        data: dict[str, Any],
        fitted: Callable[[], dict[str, Any]] | None,
    ) -> None:
        self._estimator, self._data, self._fitted = estimator, data, fitted
        self._fit = estimator._init_callback_context(max_subtasks=stop)
        self._fit.call_on_fit_task_begin(estimator=estimator, **data)

    def pass_over(self) -> None:
        """Begin and end a round that an earlier fit has done, so that progress counts it."""
        context = self._fit.subcontext(task_name=_DONE_BEFORE)
        context.call_on_fit_task_begin(estimator=self._estimator)
        context.call_on_fit_task_end(estimator=self._estimator)

    def begin(self, turn: int) -> None:
        self._round = self._fit.subcontext(task_name=_ROUND)
        # before the first round there is no model to make a copy of
        ready = self._fitted if turn else None
        self._round.call_on_fit_task_begin(
            estimator=self._estimator, **self._data, reconstruction_attributes=ready
        )

    def end(self, fitted: Any) -> bool:
        """End the round, and tell whether a callback asks for no more of them."""
        context, self._round = self._round, None
        return bool(
            context.call_on_fit_task_end(
                estimator=self._estimator, **self._data, reconstruction_attributes=fitted
            )
        )

    def close(self) -> None:
        """End what is open, once `fit` has returned: the estimator can predict as it is."""
        if self._round is not None:  # the loop was left by `break`
            self.end({})
        if self._fit is not None:
            self._fit.call_on_fit_task_end(
                estimator=self._estimator, **self._data, reconstruction_attributes={}
            )

    def rounds(self, first: int, stop: int) -> Iterator[int]:
        for _ in range(first):
            self.pass_over()
        for turn in range(first, stop):
            self.begin(turn)
            yield turn
            if self.end(self._fitted):
                return


# Fits under way in this process, by id of their estimator; kept off the estimator, whose copies are
# handed to callbacks, pickled and sent about. None until the rounds begin.
_watches: dict[int, _Watch | None] = {}


# ---------------------------------------------------------------------- what scikit-learn offers


def _try_out(mixin: type, decorator: Callable[[Any], Any]) -> str | None:
    """Take a fit of two rounds through the callbacks; say what is wrong with them, if anything."""
    seen: list[str] = []

    class Recorder:
        def setup(self, estimator: Any, context: Any) -> None:
            seen.append("setup")

        def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
            seen.append(f"begin {context.task_name}")

        def on_fit_task_end(
            self, estimator: Any, context: Any, *, X: Any = None, fitted_estimator: Any = None
        ) -> bool:
            rounds = getattr(fitted_estimator, "rounds_", None)
            seen.append(f"end {context.task_name} {context.task_id} {X} {rounds}")
            return True

        def teardown(self, estimator: Any, context: Any) -> None:
            seen.append("teardown")

    class Trial(mixin):  # type: ignore[misc]
        @decorator
        def fit(self) -> None:
            watch = _Watch(None)
            watch.open(self, 3, {"X": 7, "y": None, "metadata": None}, lambda: {"rounds_": 2})
            for _ in watch.rounds(1, 3):
                pass
            watch.close()

    try:
        trial = Trial().set_callbacks(Recorder())
        if len(callbacks_of(trial)) != 1:
            return "the callbacks that were set are not to be found"
        trial.fit()
    except Exception as error:  # whatever a changed interface may come up with
        return f"{type(error).__name__}: {error}"
    wanted = [
        *("setup", "begin fit"),
        *(f"begin {_DONE_BEFORE}", f"end {_DONE_BEFORE} 0 None None"),
        *(f"begin {_ROUND}", f"end {_ROUND} 1 7 2"),
        *("end fit 0 7 None", "teardown"),
    ]
    return None if seen == wanted else f"a fit called {seen}, where {wanted} was expected"


def callbacks_of(estimator: Any) -> list[Any]:
    """Callbacks that are set on an estimator, or handed down to it by a search or a pipeline."""
    return list(getattr(estimator, "_skl_callbacks", ()))


try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks

    _unusable = _try_out(CallbackSupportMixin, with_callbacks)
except ImportError as error:
    _unusable = str(error)


def _offered(self: Any) -> bool:
    raise AttributeError(
        f"{type(self).__name__} takes no callbacks here: those of scikit-learn {sklearn_version} "
        f"are not the ones that Palmette knows ({_unusable}). Fit without them, or install "
        "scikit-learn 1.9."
    )


class _WithoutCallbacks:
    """Stands in for the mixin of scikit-learn where that is of no use."""

    # no method rather than one that fails: searches then leave the estimator alone
    @available_if(_offered)
    def set_callbacks(self, *callbacks: Any) -> Any:
        """Set callbacks for the estimator."""


# gives an estimator `set_callbacks`; its `fit` is to use the two functions below
IterativeFitMixin: Any = _WithoutCallbacks if _unusable else CallbackSupportMixin


# ---------------------------------------------------------------------- what estimators use


def monitored_fit(method: Method) -> Method:
    """Decorate a `fit` that uses `monitored_rounds`.

    Callbacks hear of the end of the fit once it has returned, also where its loop was left by
    ``break``, and are told to clean up even where it failed.

    Parameters
    ----------
    method : callable
        The method `fit`.

    Returns
    -------
    callable
        With the same signature.
    """

    def ended(estimator: Any, *args: Any, **kwargs: Any) -> Any:
        _watches[id(estimator)] = None
        try:
            result = method(estimator, *args, **kwargs)
            watch = _watches[id(estimator)]
            if watch is not None:
                watch.close()
            return result
        finally:
            del _watches[id(estimator)]

    if _unusable:
        return method
    managed = with_callbacks(ended)

    @functools.wraps(method)
    def fit(estimator: Any, *args: Any, **kwargs: Any) -> Any:
        # a `fit` that calls the one of its base class is one fit, not two
        plain = not callbacks_of(estimator) or id(estimator) in _watches
        return (method if plain else managed)(estimator, *args, **kwargs)

    return fit  # type: ignore[return-value]


def monitored_rounds(
    estimator: Any,
    first: int,
    stop: int,
    *,
    X: Any = None,
    y: Any = None,
    metadata: dict[str, Any] | None = None,
    fitted: Callable[[], dict[str, Any]] | None = None,
    state: Callable[[], State] | None = None,
) -> Iterator[int]:
    """Count the rounds of a fit, and tell the callbacks as they begin and end.

    Without callbacks this is ``range(first, stop)`` and costs no more. It ends early where a
    callback asks for that; the body of the loop may ``break`` as well.

    Parameters
    ----------
    estimator : estimator with `IterativeFitMixin`
        In the course of its `fit`, which is decorated by `monitored_fit`.
    first, stop : int
        Rounds ``first`` to ``stop - 1`` are to be done; those before count as done.
    X, y : rows and labels, optional
        For callbacks that score; best as they came to `fit`.
    metadata : dict, optional
        What else came to `fit`, such as ``{"sample_weight": ...}``.
    fitted : callable, optional
        Gives the fitted attributes of the model as it is between rounds. It is called only for a
        callback that wants a model: a shallow copy of the estimator with these attributes set.
    state : callable, optional
        Gives a fingerprint and named arrays, all that is needed to go on from here, for
        `palmette.Checkpoint`. It is called between rounds and once more when `fit` has returned.

    Yields
    ------
    int
        Number of the round.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> class Halves(IterativeFitMixin, BaseEstimator):
    ...     @monitored_fit
    ...     def fit(self, X, y=None):
    ...         self.value_ = 1.0
    ...         for _ in monitored_rounds(self, 0, 3, X=X, y=y, fitted=lambda: vars(self)):
    ...             self.value_ /= 2
    ...         return self
    >>> Halves().fit([[0.0]]).value_
    0.125
    """
    if not callbacks_of(estimator):
        return iter(range(first, stop))
    data = {"X": X, "y": y, "metadata": metadata}
    return _watched_rounds(estimator, first, stop, data, fitted, state)


def _watched_rounds(
    estimator: Any,
    first: int,
    stop: int,
    data: dict[str, Any],
    fitted: Callable[[], dict[str, Any]] | None,
    state: Callable[[], State] | None,
) -> Iterator[int]:
    name = type(estimator).__name__
    if _watches.get(id(estimator), estimator) is not None:
        raise RuntimeError(
            f"{name}.fit: its rounds are watched, so it must be decorated by monitored_fit, and "
            "call monitored_rounds no more than once."
        )
    watch = _watches[id(estimator)] = _Watch(state)
    watch.open(estimator, stop, data, fitted)
    yield from watch.rounds(first, stop)


# ---------------------------------------------------------------------- what our callbacks use


def state_of(estimator: Any) -> Callable[[], State] | None:
    """Return what gives the state of a fit under way, or None where the fit offers none."""
    watch = _watches.get(id(estimator))
    return None if watch is None else watch.state


def is_whole_fit(estimator: Any, context: Any) -> bool:
    """Whether a task is the whole fit of the estimator, not a part of it."""
    return context is getattr(estimator, "_callback_fit_ctx", None)


def was_done_before(context: Any) -> bool:
    """Whether a task stands for a round of an earlier fit that this one goes on from."""
    return bool(context.task_name == _DONE_BEFORE)
