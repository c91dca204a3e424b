"""MF-Tree: the tables and figures of its paper, reproduced."""
