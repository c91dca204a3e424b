"""Kernels: arrays in, arrays out, seeds explicit; compiled by numba when first called.

They are serial and release the interpreter's lock, so that threads can be put around them. Each has
a slow twin in plain numpy under ``tests/_kernels``.
"""
