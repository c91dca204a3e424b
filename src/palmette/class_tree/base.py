"""The base of learners of class hierarchies, under the name of this room."""

from palmette.engine.tree_learner import ClassTreeLearner

__all__ = ["ClassTreeLearner"]
