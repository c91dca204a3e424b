"""Structured Hellinger forests and the methods beside them: the paper's tables, made again."""
