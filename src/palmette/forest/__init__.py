"""Structured forests: trees whose splits look at all labels together."""

from palmette.forest._structured import StructuredForestClassifier

__all__ = ["StructuredForestClassifier"]
