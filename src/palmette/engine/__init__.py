"""The loops that all methods share."""
