"""Structured forests: trees whose splits look at all labels together."""

from palmette.forest.structured import StructuredForestClassifier

__all__ = ["StructuredForestClassifier"]
