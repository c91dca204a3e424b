"""Kernels: arrays in, arrays out, seeds explicit. None is needed yet."""
