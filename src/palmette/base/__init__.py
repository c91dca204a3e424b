"""Shared by all estimators: reading X and y, answers, adapters, callbacks, weights."""
