"""Loaders of the sets in the data home: one file for each family of formats.

A loader gets what the manifest says and the files, and gives the fields of a Bunch.
"""
