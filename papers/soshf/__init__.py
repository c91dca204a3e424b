"""Structured Hellinger forests and other methods: the tables of the paper, reproduced."""
