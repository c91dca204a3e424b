"""Small files that would take endless time or memory: recipes with what came of each.

``python -m tests.attack.bombs`` prints a line for each: its size, outcome, seconds and memory.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from tests.attack.files import Taken
from tests.attack.runner import Job, Result, attack
from tests.attack.victims import Victim, victims

from palmette.persistence._arrays import to_npy

__all__ = ["BOMBS", "Bomb", "results"]

_BLEND = "CoherentBlendClassifier"
_KERNEL = 15  # the object of the file of that name that is one of its members


@dataclass(frozen=True)
class Bomb(Job):
    """A change of a file that is always the same."""

    def bytes_of(self, victim: Victim) -> tuple[bytes, str]:
        taken = Taken(victim.content)
        BOMBS[self.mutator](taken)
        return taken.sealed(), self.mutator


def _append(taken: Taken, *objects: Any) -> dict[str, int]:
    """Append objects to the table, and return a reference to the last."""
    taken.objects.extend(objects)
    return {"ref": len(taken.objects) - 1}


def _array(taken: Taken, array: np.ndarray) -> dict[str, int]:
    name = taken.new_name()
    taken.members[f"arrays/{name}.npy"] = to_npy(array)
    return _append(taken, {"array": {"in": name}})


def _set(taken: Taken, value: Any) -> None:
    """Put a value into the root, where nothing is expected of it."""
    taken.objects[0]["object"]["state"]["random_state"] = value


def _value(value: Any) -> Callable[[Taken], None]:
    return lambda taken: _set(taken, value)


def _blends(depth: int, width: int) -> Callable[[Taken], None]:
    """Return what nests blends whose members are all the same blend."""

    def change(taken: Taken) -> None:
        written = taken.objects[0]["object"]
        weights = _array(taken, np.full(width, 1 / width))
        member = {"ref": _KERNEL}
        for _ in range(depth):
            names = [f"m{i}" for i in range(width)]
            parts = {
                "weights_": weights,
                "estimators_": _append(taken, {"list": [member] * width}),
                "estimators": _append(taken, {"list": [{"tuple": [n, member]} for n in names]}),
                "named_estimators_": _append(taken, {"dict": dict.fromkeys(names, member)}),
            }
            member = _append(taken, {"object": {**written, "state": {**written["state"], **parts}}})
        taken.state["root"] = member

    return change


def _cycle(taken: Taken) -> None:
    """Let a blend be a member of itself."""
    state = taken.objects[0]["object"]["state"]
    taken.objects[state["estimators_"]["ref"]]["list"][0] = {"ref": 0}


def _frozen(depth: int, wrap: Callable[[Any], Any]) -> Callable[[Taken], None]:
    """Return what nests frozen values, each with the next one twice, and asks for their hash."""

    def change(taken: Taken) -> None:
        last: Any = None
        for _ in range(depth):
            state = {"columns": last, "dtype": last, "is_numbered": False, "kind": None}
            state |= {"library": "list", "name": None}
            last = _append(taken, {"object": {"class": "labels.Container", "state": state}})
        _set(taken, wrap(last))

    return change


def _sparse(form: str) -> Callable[[Taken], None]:
    def change(taken: Taken) -> None:
        parts = {
            "data": _array(taken, np.empty(0)),
            "indices": _array(taken, np.empty(0, np.int64)),
            "indptr": _array(taken, np.zeros(2, np.int64)),
        }
        written = {"class": f"{form}_matrix", "format": "csr", "shape": [1, 2**40], "parts": parts}
        _set(taken, _append(taken, {"sparse": written}))

    return change


def _chain(n_nodes: int) -> Callable[[Taken], None]:
    """Return what adds a hierarchy in which each node is the only child of another."""

    def change(taken: Taken) -> None:
        edges = np.arange(n_nodes - 1)[:, None] + np.arange(2)
        names = [f"{i}" for i in range(n_nodes)]
        written = {"names": names, "edges": _array(taken, edges.astype(np.int32))}
        _set(taken, _append(taken, {"hierarchy": written}))

    return change


_RANGE = {"slice": ["range", 0, 10**6, 1]}

BOMBS: dict[str, Callable[[Taken], None]] = {
    **{f"blends {d} deep of {w}": _blends(d, w) for d, w in [(3, 2), (24, 2), (60, 2), (2, 100)]},
    "40 times one member": _blends(1, 40),
    "a blend in itself": _cycle,
    **{f"frozen values {d} deep": _frozen(d, lambda v: v) for d in (24, 60)},
    **{f"... as key, {d} deep": _frozen(d, lambda v: {"dict": [[v, 1]]}) for d in (24, 60)},
    **{f"... in a set, {d} deep": _frozen(d, lambda v: {"frozenset": [v]}) for d in (24, 60)},
    "a scalar of 10^9 bytes": _value({"scalar": ["V1000000000", 10**9]}),
    "a scalar of 10^9 letters": _value({"scalar": [{"dtype": "U500000000"}, ""]}),
    "an integer of 10^4 digits": _value({"scalar": ["<i8", 10**4000]}),
    "a range": _value(_RANGE),
    "a range of 10^15": _value({"slice": ["range", 0, 10**15, 1]}),
    "a hundred ranges": _value({"list": [_RANGE] * 100}),
    "an index of a range": _value(
        {"list": [{"pandas_index": {"values": _RANGE, "dtype": {"dtype": "<i8"}, "name": None}}]}
    ),
    **{f"a wide matrix, {form}": _sparse(form) for form in ("csr", "lil", "dok")},
    "a chain of 10^5 nodes": _chain(10**5),
}


def results() -> Iterator[tuple[int, Result]]:
    """Try all, and yield the bytes of each file and what came of it."""
    victim = victims()[_BLEND]()
    jobs = [Bomb(_BLEND, name, 0, i) for i, name in enumerate(BOMBS)]
    for job, result in zip(jobs, attack(victim, jobs), strict=True):
        yield len(job.bytes_of(victim)[0]), result


def main() -> int:
    """Print what came of each, and return 1 if any did harm."""
    bad = 0
    for n_bytes, each in results():
        print(
            f"{each.job.mutator:28}{n_bytes:10,} B  {each.outcome:9}{each.seconds:6.2f} s"
            f"{each.mebibytes:6} MiB  {each.message[:100]}"
        )
        bad += each.is_bad
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
