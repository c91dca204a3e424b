"""The path over lambda: warm starts do not change the solutions."""

from __future__ import annotations

import numpy as np
import pytest
from tests.feature_selection.node_problems import problem, rows_and_classes

from palmette import PalmetteError
from palmette.feature_selection._hirr import HirrScore, lambda_path


@pytest.mark.parametrize("settings", [{}, {"relative": "lam", "parent": 3.0}])
def test_every_step_is_the_optimum_of_its_lambda(settings):
    posed = problem(*rows_and_classes())
    score = HirrScore(tol=1e-9, **settings)
    path = lambda_path(posed, [0.05, 0.5, 0.2], score=score)
    assert path.lams.tolist() == [0.5, 0.2, 0.05]
    for i, lam in enumerate(path.lams):
        facts = score.set_params(lam=lam).score(posed).facts
        assert path.objective[i] == pytest.approx(facts["objective_"][-1], rel=1e-7)
        assert np.array_equal(path.n_nonzero[i], facts["n_nonzero_"])
    assert np.array_equal((path.entered > 0).sum(axis=1) >= path.n_nonzero[-1], np.ones(4, bool))


def test_default_range():
    path = lambda_path(problem(*rows_and_classes()), n_lams=4, smallest=0.1)
    np.testing.assert_allclose(path.lams, [10**-0.25, 10**-0.5, 10**-0.75, 0.1])
    assert np.all(path.dual_gap >= 0)


def test_absolute_lambdas_are_asked_for():
    posed, score = problem(*rows_and_classes()), HirrScore(relative=False)
    with pytest.raises(PalmetteError, match="needs explicit lambdas"):
        lambda_path(posed, score=score)
    path = lambda_path(posed, [1.0, 2.0], score=score)
    assert path.objective[0] > path.objective[1]


def test_lambdas_are_above_0():
    with pytest.raises(PalmetteError, match="above 0"):
        lambda_path(problem(*rows_and_classes()), [0.1, 0.0])
