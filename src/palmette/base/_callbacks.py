"""Support for callbacks: each round of a fit is a task.

scikit-learn has callbacks since 1.9. They are experimental, so only this module uses them, and
tests them when it is imported. Older versions have none: there a small mixin of ours calls the same
hooks, so that `palmette.Checkpoint` works everywhere. Where callbacks have changed, estimators fit
without them, and only `set_callbacks` is missing; the error says why.
"""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from numpy.typing import NDArray
from sklearn import __version__ as sklearn_version
from sklearn.utils.metaestimators import available_if

State = tuple[Mapping[str, str], Mapping[str, NDArray[Any]]]
Method = TypeVar("Method", bound=Callable[..., Any])

_ROUND, _DONE_BEFORE = "round", "round done before"  # names of tasks


class _FitTasks:
    """The callback tasks of one fit: the fit itself, and its rounds."""

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

    def skip_round(self) -> None:
        """Begin and end a round of an earlier fit, so that progress includes it."""
        context = self._fit.subcontext(task_name=_DONE_BEFORE)
        context.call_on_fit_task_begin(estimator=self._estimator)
        context.call_on_fit_task_end(estimator=self._estimator)

    def begin(self, turn: int) -> None:
        self._round = self._fit.subcontext(task_name=_ROUND)
        # before the first round there is no fitted model
        ready = self._fitted if turn else None
        self._round.call_on_fit_task_begin(
            estimator=self._estimator, **self._data, reconstruction_attributes=ready
        )

    def end(self, fitted: Any) -> bool:
        """End the round, and return whether a callback stops the fit."""
        context, self._round = self._round, None
        return bool(
            context.call_on_fit_task_end(
                estimator=self._estimator, **self._data, reconstruction_attributes=fitted
            )
        )

    def close(self) -> None:
        """End all open tasks after `fit` has returned; the estimator itself is fitted by then."""
        if self._round is not None:  # the loop was left by `break`
            self.end({})
        if self._fit is not None:
            self._fit.call_on_fit_task_end(
                estimator=self._estimator, **self._data, reconstruction_attributes={}
            )

    def rounds(self, first: int, stop: int) -> Iterator[int]:
        for _ in range(first):
            self.skip_round()
        for turn in range(first, stop):
            self.begin(turn)
            yield turn
            if self.end(self._fitted):
                return


# Running fits of this process by id of their estimator; None until the rounds begin. They are no
# attribute of the estimator, since callbacks copy and pickle it.
_running: dict[int, _FitTasks | None] = {}


# ---------------------------------------------------------------------- before scikit-learn 1.9


_HOOKS = ("setup", "on_fit_task_begin", "on_fit_task_end", "teardown")


class _Task:
    """A task of a fit, which callbacks get as `context`."""

    def __init__(
        self, estimator_name: str, task_name: str, task_id: int = 0, max_subtasks: int = 0
    ) -> None:
        self.estimator_name = estimator_name
        self.task_name = task_name
        self.task_id = task_id
        self.max_subtasks = max_subtasks
        self._n_subtasks = 0

    def subcontext(self, task_name: str) -> _Task:
        """Return the next task inside of this one."""
        self._n_subtasks += 1
        return _Task(self.estimator_name, task_name, self._n_subtasks - 1)

    def call_on_fit_task_begin(self, *, estimator: Any, **given: Any) -> None:
        """Notify all callbacks of the begin of the task."""
        self._call("on_fit_task_begin", estimator, given)

    def call_on_fit_task_end(self, *, estimator: Any, **given: Any) -> bool:
        """Notify all callbacks of the end of the task; return whether one of them stops the fit."""
        return self._call("on_fit_task_end", estimator, given)

    def _call(self, name: str, estimator: Any, given: dict[str, Any]) -> bool:
        ready: dict[str, Any] = {}  # values that several hooks need are computed once
        stops = False
        for callback in callbacks_of(estimator):
            hook = getattr(callback, name)
            asked = [
                each.name
                for each in inspect.signature(hook).parameters.values()
                if each.kind is each.KEYWORD_ONLY
            ]
            for each in asked:
                if each not in ready:
                    ready[each] = (
                        self._model(estimator, given.get("reconstruction_attributes"))
                        if each == "fitted_estimator"
                        else given.get(each)
                    )
            stops |= bool(hook(estimator, self, **{each: ready[each] for each in asked}))
        return stops

    @staticmethod
    def _model(estimator: Any, attributes: Any) -> Any:
        values = attributes() if callable(attributes) else attributes
        if values is None:
            return None
        model = copy.copy(estimator)
        vars(model).update(values)
        return model


class _OwnCallbacks:
    """Replaces the mixin of scikit-learn where that has none."""

    def set_callbacks(self, *callbacks: Any) -> Any:
        """Set callbacks for the estimator.

        Parameters
        ----------
        *callbacks : callback instances
            Such as `palmette.Checkpoint`: objects with the methods `setup`, `on_fit_task_begin`,
            `on_fit_task_end` and `teardown`. Without any, those that were set are removed.

        Returns
        -------
        self
        """
        for each in callbacks:
            missing = [hook for hook in _HOOKS if not callable(getattr(each, hook, None))]
            if missing or isinstance(each, type):
                raise TypeError(
                    f"{each!r} is not a callback: expected an object with the methods "
                    f"{', '.join(_HOOKS)}."
                )
        if callbacks:
            self._skl_callbacks = list(callbacks)
        else:
            vars(self).pop("_skl_callbacks", None)
        return self

    def __sklearn_clone__(self) -> Any:
        cloned = super().__sklearn_clone__()  # type: ignore[misc]
        if hasattr(self, "_skl_callbacks"):
            cloned._skl_callbacks = self._skl_callbacks
        return cloned

    def _init_callback_context(self, max_subtasks: int) -> _Task:
        self._callback_fit_ctx = _Task(type(self).__name__, "fit", 0, max_subtasks)
        for each in callbacks_of(self):
            each.setup(self, self._callback_fit_ctx)
        return self._callback_fit_ctx


def _with_own_callbacks(method: Method) -> Method:
    """Tear callbacks down after a fit, even if it failed."""

    @functools.wraps(method)
    def fit(estimator: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return method(estimator, *args, **kwargs)
        finally:
            context = vars(estimator).pop("_callback_fit_ctx", None)
            if context is not None:
                for each in callbacks_of(estimator):
                    each.teardown(estimator, context)

    return fit  # type: ignore[return-value]


# ---------------------------------------------------------------------- callbacks of scikit-learn


def _test_callbacks(mixin: type, decorator: Callable[[Any], Any]) -> str | None:
    """Run a fit of two rounds with callbacks; return a description of what fails, or None."""
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
            tasks = _FitTasks(None)
            tasks.open(self, 3, {"X": 7, "y": None, "metadata": None}, lambda: {"rounds_": 2})
            for _ in tasks.rounds(1, 3):
                pass
            tasks.close()

    try:
        trial = Trial().set_callbacks(Recorder())
        if len(callbacks_of(trial)) != 1:
            return "the callbacks that were set are not found"
        trial.fit()
    except Exception as error:  # a changed interface may raise anything
        return f"{type(error).__name__}: {error}"
    wanted = [
        *("setup", "begin fit"),
        *(f"begin {_DONE_BEFORE}", f"end {_DONE_BEFORE} 0 None None"),
        *(f"begin {_ROUND}", f"end {_ROUND} 1 7 2"),
        *("end fit 0 7 None", "teardown"),
    ]
    return None if seen == wanted else f"a fit called {seen}: expected {wanted}"


def callbacks_of(estimator: Any) -> list[Any]:
    """Return the callbacks of an estimator, its own or those of a search or pipeline around it."""
    return list(getattr(estimator, "_skl_callbacks", ()))


try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks

except ImportError:
    CallbackSupportMixin, with_callbacks = _OwnCallbacks, _with_own_callbacks

_unusable = _test_callbacks(CallbackSupportMixin, with_callbacks)


def _offered(self: Any) -> bool:
    raise AttributeError(
        f"{type(self).__name__} does not support the callbacks of scikit-learn "
        f"{sklearn_version} ({_unusable}). Fit without them, or install scikit-learn 1.9."
    )


class _WithoutCallbacks:
    """Replaces the mixin of scikit-learn if that is not usable."""

    # no method rather than one that fails: searches check for it
    @available_if(_offered)
    def set_callbacks(self, *callbacks: Any) -> Any:
        """Set callbacks for the estimator."""


# adds `set_callbacks` to an estimator whose `fit` uses the two functions below
IterativeFitMixin: Any = _WithoutCallbacks if _unusable else CallbackSupportMixin


# ---------------------------------------------------------------------- for estimators


def monitored_fit(method: Method) -> Method:
    """Decorate a `fit` that uses `monitored_rounds`.

    Callbacks are notified of the end of the fit after it has returned, also if its loop ended with
    ``break``, and are torn down even if it failed.

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
        _running[id(estimator)] = None
        try:
            result = method(estimator, *args, **kwargs)
            tasks = _running[id(estimator)]
            if tasks is not None:
                tasks.close()
            return result
        finally:
            del _running[id(estimator)]

    if _unusable:
        return method
    managed = with_callbacks(ended)

    @functools.wraps(method)
    def fit(estimator: Any, *args: Any, **kwargs: Any) -> Any:
        # a `fit` that calls the one of its base class is one fit, not two
        plain = not callbacks_of(estimator) or id(estimator) in _running
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
    """Yield the rounds of a fit, and notify the callbacks of the begin and end of each.

    Without callbacks this is ``range(first, stop)``, at no extra cost. It ends early if a callback
    stops the fit; the body of the loop may also ``break``.

    Parameters
    ----------
    estimator : estimator with `IterativeFitMixin`
        During its `fit`, which is decorated with `monitored_fit`.
    first, stop : int
        The rounds are ``first`` to ``stop - 1``; earlier ones count as done.
    X, y : rows and labels, optional
        For callbacks that compute scores; preferably as passed to `fit`.
    metadata : dict, optional
        Other arguments of `fit`, such as ``{"sample_weight": ...}``.
    fitted : callable, optional
        Returns the fitted attributes of the model after a round. It is called only for a callback
        that needs a model: a shallow copy of the estimator with these attributes.
    state : callable, optional
        Returns a fingerprint and named arrays from which the fit can be continued, for
        `palmette.Checkpoint`. It is called after rounds and once more when `fit` has returned.

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
    return _rounds_with_callbacks(estimator, first, stop, data, fitted, state)


def _rounds_with_callbacks(
    estimator: Any,
    first: int,
    stop: int,
    data: dict[str, Any],
    fitted: Callable[[], dict[str, Any]] | None,
    state: Callable[[], State] | None,
) -> Iterator[int]:
    name = type(estimator).__name__
    if _running.get(id(estimator), estimator) is not None:
        raise RuntimeError(
            f"{name}.fit has callbacks, so it must be decorated with monitored_fit, and call "
            "monitored_rounds only once."
        )
    tasks = _running[id(estimator)] = _FitTasks(state)
    tasks.open(estimator, stop, data, fitted)
    yield from tasks.rounds(first, stop)


# ---------------------------------------------------------------------- for callbacks


def state_of(estimator: Any) -> Callable[[], State] | None:
    """Return the function that returns the state of a running fit, or None if there is none."""
    tasks = _running.get(id(estimator))
    return None if tasks is None else tasks.state


def is_whole_fit(estimator: Any, context: Any) -> bool:
    """Return whether a task is the whole fit of the estimator, not a part of it."""
    return context is getattr(estimator, "_callback_fit_ctx", None)


def was_done_before(context: Any) -> bool:
    """Return whether a task is a round of an earlier fit that this one continues."""
    return bool(context.task_name == _DONE_BEFORE)
