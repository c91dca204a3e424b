"""Kernels: arrays in, arrays out, seeds explicit; compiled by numba when first called.

They are serial and release the interpreter's lock, so that callers can run them in threads. Each
has a slow version in plain numpy under ``tests/_kernels``. Arguments are marked IN, OUT, or both.
"""
