"""Imported by the process from which those of `palmette predict --jobs` are forked.

Numba registers its types and functions when the first kernel is loaded, which takes .3 CPU seconds:
processes that are forked afterwards need not do so.
"""

from __future__ import annotations

from palmette._numba_parts import cpu_target

cpu_target.typing_context.refresh()
cpu_target.target_context.refresh()
