"""The small problems of the comparisons."""

from tests.compare.conftest import texts, toy

__all__ = ["texts", "toy"]
