"""`palmette compile`: compile all kernels now, so that no later fit has to wait for them."""

from __future__ import annotations

import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from palmette._stopping import without_interrupts
from palmette.cli._options import say
from palmette.exceptions import PalmetteError

__all__ = ["FITS", "PARTS", "command", "compiled_ahead", "run_compile"]

PARTS = ("forests", "others", "texts", "large")

_FEW: dict[str, Any] = {"n_estimators": 2, "random_state": 0}
_N_LARGE = 40_000  # rows from which boosting computes in single precision
_N_NETWORK = 4_000  # rows from which the rows of a batch drop the same units


def command() -> None:
    """Compile all kernels and store them, for example in the image of a container.

    Otherwise the first fit of a model compiles its kernels. The machine code belongs to this
    version of Palmette, of numba and of Python, and to this kind of processor.

    Example: palmette compile
    """
    from palmette._kernel_files import cache_folder

    folder = cache_folder()
    if folder is None:
        raise PalmetteError(
            "no folder for machine code is writable: set NUMBA_CACHE_DIR to one that is."
        )
    start = time.monotonic()
    for part in PARTS:
        run_compile(part, say)
    say(f"all kernels are in {folder}, after {time.monotonic() - start:.0f} s")


def run_compile(part: str, tell: Callable[[str], None] = lambda line: None) -> None:
    """Fit and ask small models, on dense and sparse rows of one label and of several.

    Parameters
    ----------
    part : one of PARTS, or "likely"
    tell : callable
        Called with a line about every model.
    """
    for name, fit in FITS[part]():
        start = time.monotonic()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit()
        tell(f"{name}: {time.monotonic() - start:.1f} s")


def _every_kind(model: Any) -> Callable[[], None]:
    """Return a function that fits a model to every kind of rows and labels that it takes."""

    def fit() -> None:
        import numpy as np
        from scipy import sparse

        X = np.random.default_rng(0).normal(size=(60, 30))
        one = np.repeat(["a", "b", "c"], 20)
        several = [{name, "d"} if i % 4 else {name} for i, name in enumerate(one.tolist())]
        thin = sparse.csr_array(np.where(X > 1.8, X, 0.0))  # with more values it would become dense
        for rows in (X, thin):
            for y in (one, several):
                try:
                    model.fit(rows, y).predict(rows)
                except ValueError:  # a model of one label per row was given several
                    continue

    return fit


def _named(*models: Any) -> Iterator[tuple[str, Callable[[], None]]]:
    for model in models:
        yield type(model).__name__, _every_kind(model)


def _forests() -> Iterator[tuple[str, Callable[[], None]]]:
    import palmette as pm

    yield from _named(
        pm.StructuredForestClassifier(**_FEW),
        pm.StructuredForestClassifier.preset("sf-h-cs", decoding="auto", **_FEW),
        pm.StructuredForestClassifier(router="logistic", **_FEW),
        pm.StructuredForestClassifier(router="axis", **_FEW),
    )


def _others() -> Iterator[tuple[str, Callable[[], None]]]:
    import numpy as np

    import palmette as pm
    from palmette.weak import SharedTree

    def fit_flags() -> None:
        X = np.random.default_rng(0).integers(0, 2, (60, 5))
        pm.RAkEL(random_state=0).fit(X, [{"a"}, {"b"}, {"a", "b"}] * 20)

    yield from _named(
        pm.HierarchicalBoostingClassifier(**_FEW),
        pm.AdaBoostMHClassifier(**_FEW),
        pm.AdaBoostMHClassifier(weak_learner=SharedTree(), **_FEW),
        pm.HierarchicalAdaBoostClassifier(**_FEW),
        pm.HierarchicalAdaBoostClassifier(
            weak_learner=SharedTree(2, thresholds="best"), coefficient="per_class", **_FEW
        ),
        pm.AdaBoostECCClassifier(**_FEW),
        pm.AdaBoostECCClassifier(weak_learner="shared_tree", subsample=0.7, **_FEW),
        pm.AdaBoostBHCClassifier(**_FEW),
        pm.ClassTreeClassifier(router="linear"),
        pm.ClassTreeClassifier(router="logistic"),
        pm.LinearMultilabel(random_state=0),
        pm.RAkEL(random_state=0),
        pm.RAkEL.preset("mulan", random_state=0),
        pm.CoherentNetworkClassifier((4,), n_epochs=1, random_state=0),
    )
    yield "RAkEL of zeros and ones", fit_flags


def _texts() -> Iterator[tuple[str, Callable[[], None]]]:
    """Give models of a table of texts, whose features are more than its rows."""
    import numpy as np

    import palmette as pm
    from palmette.routing import LinearRouter

    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcdefgh"), 7)) for _ in range(200)]
    names = [" ".join(rng.choice(words, 6)) for _ in range(60)]

    def fit(loss: str) -> Callable[[], None]:
        def fit_table() -> None:
            model = pm.fit_table(
                {"name": names, "kind": ["a > x", "a > y", "b > z"] * 20},
                target="kind",
                model="class-tree",
                settings={"router": LinearRouter(loss)},
                columns={"name": "text"},
                folds=0,
            )
            model.predict({"name": names[:5]})

        return fit_table

    for loss in ("squared_hinge", "logistic"):
        yield f"table of texts, {loss.replace('_', ' ')}", fit(loss)


def _likely() -> Iterator[tuple[str, Callable[[], None]]]:
    """Give models that a first fit is likely to need, those first that it needs late."""
    import palmette as pm

    yield from _named(
        pm.ClassTreeClassifier(router="linear"), pm.HierarchicalBoostingClassifier(**_FEW)
    )
    yield from _texts()


def _large() -> Iterator[tuple[str, Callable[[], None]]]:
    """Give models that have other kernels for many rows, or for many classes."""

    import numpy as np

    import palmette as pm
    from palmette.routing import ForestRouter
    from palmette.weak import SharedTree

    def fit_classes() -> None:
        X, y = np.random.default_rng(0).normal(size=(120, 3)), np.arange(120) % 60
        pm.ClassTreeClassifier(router=ForestRouter(2)).fit(X, y).predict(X)

    yield "ClassTreeClassifier of many classes", fit_classes

    def fit_network() -> None:
        X = np.random.default_rng(0).normal(size=(_N_NETWORK, 3))
        y = [{"a"} if i % 3 else {"a", "b"} for i in range(_N_NETWORK)]
        settings: dict[str, Any] = {"n_epochs": 1, "batch_size": 1_000, "backend": "numpy"}
        pm.CoherentNetworkClassifier((4,), random_state=0, **settings).fit(X, y)

    yield "CoherentNetworkClassifier of many rows", fit_network

    def fit(model: Any, n_labels: int) -> Callable[[], None]:
        def fit_many() -> None:
            X = np.random.default_rng(0).normal(size=(_N_LARGE, 3))
            y = np.array(list("abcdefghij"))[np.arange(_N_LARGE) % n_labels]
            model.fit(X, y).predict(X[:5])

        return fit_many

    for model, n_labels in (
        (pm.HierarchicalBoostingClassifier(**_FEW), 3),
        (pm.HierarchicalBoostingClassifier(**_FEW), 10),
        (pm.HierarchicalBoostingClassifier(loss="path_softmax", **_FEW), 10),
        (pm.HierarchicalBoostingClassifier(loss="logistic", **_FEW), 10),
        (
            pm.HierarchicalAdaBoostClassifier(
                weak_learner=SharedTree(2, thresholds="best"), coefficient="per_class", **_FEW
            ),
            3,
        ),
    ):
        yield f"{type(model).__name__} of many rows, {n_labels} labels", fit(model, n_labels)


FITS = {
    "forests": _forests,
    "others": _others,
    "texts": _texts,
    "large": _large,
    "likely": _likely,
}


# ---------------------------------------------------------------------- while a table is read

# the end of its standard input, however this process ended, is the end of the other one
_PROGRAM = """
import os, sys, threading
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
from palmette.cli.compile import run_compile
run_compile("likely")
"""


@contextmanager
def compiled_ahead() -> Iterator[None]:
    """Compile kernels that are likely to be needed in another process, if they are not stored.

    That process and the fit start with different kernels, and load what the other one has stored.
    It has ended when the block is left, for whatever reason.
    """
    from palmette._kernel_files import cache_folder
    from palmette.table._candidates import compile_seconds

    if not compile_seconds(["linear", "others", "text"]) or cache_folder() is None:
        yield
        return
    with without_interrupts():  # Ctrl-C is for the first process, which ends the other one
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", _PROGRAM],  # no module of the current folder
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    try:
        yield
    finally:
        process.kill()
        process.communicate()
