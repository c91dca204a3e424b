"""Comparisons: models on data sets and splits, with scores, times and tests of significance."""

from palmette.compare._compare import LearntTree, compare, learn_tree
from palmette.compare._comparison import (
    COSTS,
    Comparison,
    best_value,
    check_output_name,
    format_cost,
    format_score,
    is_best,
    ranking_sentences,
    ranking_title,
    split_sentence,
)
from palmette.compare._measure import Usage, environment, measure
from palmette.compare._preparing import make_dense, prepare
from palmette.compare._problems import (
    EMBEDDED,
    Problem,
    Split,
    check_problem,
    find_problem,
    join_rows,
    make_splits,
    problem_of,
)
from palmette.compare._scores import DEFAULT_SCORES, SCORES, Score, find_scores
from palmette.compare._store import ResultStore, describe_estimator, fingerprint

__all__ = [
    "COSTS",
    "DEFAULT_SCORES",
    "EMBEDDED",
    "SCORES",
    "Comparison",
    "LearntTree",
    "Problem",
    "ResultStore",
    "Score",
    "Split",
    "Usage",
    "best_value",
    "check_output_name",
    "check_problem",
    "compare",
    "describe_estimator",
    "environment",
    "find_problem",
    "find_scores",
    "fingerprint",
    "format_cost",
    "format_score",
    "is_best",
    "join_rows",
    "learn_tree",
    "make_dense",
    "make_splits",
    "measure",
    "prepare",
    "problem_of",
    "ranking_sentences",
    "ranking_title",
    "split_sentence",
]
