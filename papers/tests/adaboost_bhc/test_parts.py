"""Every row is tested once a repeat, and repeats differ."""

from __future__ import annotations

import numpy as np

from papers.adaboost_bhc.methods import Protocol, make_parts


def test_cross_validation_tests_every_row_once_a_repeat(problem_of):
    problem = problem_of()
    parts = list(make_parts(problem, Protocol(4, 2), seed=5))
    assert [part.name for part in parts[:5]] == [
        *(f"repeat-0-fold-{fold}" for fold in range(4)),
        "repeat-1-fold-0",
    ]
    assert [part.seed for part in parts] == [5] * 4 + [6] * 4
    for repeat in (parts[:4], parts[4:]):
        tested = np.concatenate([part.X_test for part in repeat])
        np.testing.assert_array_equal(np.sort(tested[:, 0]), np.sort(problem.X_train[:, 0]))
        for part in repeat:
            assert np.unique(part.y_test, return_counts=True)[1].tolist() == [2, 2, 2]
            assert len(part.X_train) + len(part.X_test) == 24
    assert not np.array_equal(parts[0].X_test, parts[4].X_test)


def test_a_published_test_part_is_kept(problem_of):
    problem = problem_of(has_split=True)
    parts = list(make_parts(problem, Protocol(n_seeds=3), seed=1))
    assert [(part.name, part.seed) for part in parts] == [
        ("seed-0", 1),
        ("seed-1", 2),
        ("seed-2", 3),
    ]
    assert all(part.X_test is problem.X_test for part in parts)


def test_words():
    assert Protocol(4, 10, 40).words() == (
        "4-fold cross-validation 10 times where there is no test part, 40 seeds where there is one"
    )
