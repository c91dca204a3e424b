"""Hellinger, LogisticSplit, AxisSplit: their tree settings and their errors."""

from __future__ import annotations

import pytest

from palmette import PalmetteError
from palmette.forest._tree_kernel import ROUTERS, TreeSettings
from palmette.routing import AxisSplit, Hellinger, LogisticSplit


def settings_of(router):
    settings = router.tree_settings()
    return TreeSettings(**{**settings, "router": ROUTERS[settings["router"]]})


def test_by_default_it_says_what_the_kernel_does_by_default():
    assert settings_of(Hellinger()) == TreeSettings()


@pytest.mark.parametrize("router", [Hellinger(), Hellinger(0, solver="adam"), LogisticSplit()])
def test_types_are_those_that_the_kernel_is_compiled_for(router):
    for name, value in settings_of(router)._asdict().items():
        assert type(value) is type(getattr(TreeSettings(), name)), name


def test_parameters_reach_the_kernel():
    adam = settings_of(
        Hellinger(
            0.3,
            solver="adam",
            alpha=0.1,
            alpha_growth=2,
            alpha_max=4,
            alpha_every=5,
            max_iter=9,
            scale_iter=2,
            start_iter=3,
            tol=0,
            learning_rate=1,
            batch_size=50,
            eta=10,
            prune=0,
            refit_bias=False,
        )
    )
    assert adam.router == ROUTERS["hellinger-adam"]
    assert (adam.rho, adam.refit_bias, adam.tolerance, adam.prune) == (0.3, False, 0.0, 0.0)
    assert (adam.alpha_first, adam.alpha_factor, adam.alpha_last, adam.alpha_stage) == (
        0.1,
        2,
        4,
        5,
    )
    assert (adam.max_iterations, adam.scale_iterations, adam.start_iterations) == (9, 2, 3)
    assert (adam.learning_rate, adam.batch_size, adam.eta) == (1.0, 50, 10.0)
    logistic = settings_of(LogisticSplit(0.5, max_iter=4, tol=0.1, refit_bias=True))
    assert logistic.router == ROUTERS["logistic"]
    assert (logistic.ridge, logistic.max_iterations, logistic.tolerance) == (0.5, 4, 0.1)
    assert logistic.refit_bias
    assert settings_of(AxisSplit()).router == ROUTERS["axis"]


@pytest.mark.parametrize(
    ("router", "message"),
    [
        (Hellinger(solver="sgd"), "solver='sgd': expected 'owlqn' or 'adam'"),
        (Hellinger("high"), "sparsity='high': expected 'auto' or a number of at least 0"),
        (Hellinger(-0.1), r"sparsity=-0\.1: expected 'auto'"),
        (Hellinger(alpha=0), "alpha=0: expected a positive number"),
        (Hellinger(alpha_growth=1), "alpha_growth=1: expected a number greater than 1"),
        (Hellinger(max_iter=0), "max_iter=0: expected a positive integer"),
        (Hellinger(prune=1), "prune=1: expected a number of at least 0 and below 1"),
        (Hellinger(tol=-1), "tol=-1: expected a number of at least 0"),
        (LogisticSplit(-1), "ridge=-1: expected a number of at least 0"),
        (LogisticSplit(max_iter=0), "max_iter=0: expected a positive integer"),
    ],
)
def test_invalid_parameters_raise(router, message):
    with pytest.raises(PalmetteError, match=message):
        router.tree_settings()
