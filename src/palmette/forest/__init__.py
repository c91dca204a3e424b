"""Structured forests: trees whose splits depend on all labels jointly."""

from palmette.forest._structured import StructuredForestClassifier

__all__ = ["StructuredForestClassifier"]
