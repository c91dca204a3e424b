"""Changes after which each part is whole by itself, and the parts do not fit together.

An object of one file is put into another, or to another place of its own; sizes are changed
wherever they occur, or in one place; rows of arrays come in another order.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from tests.attack.files import Taken
from tests.persistence.mutations import places_in

from palmette.persistence._arrays import to_npy

__all__ = ["grafted", "moved", "reordered", "sizes_changed"]

_DONORS = Path(__file__).parents[1] / "persistence" / "stored"


def grafted(taken: Taken, rng: random.Random) -> str:
    """Replace an object by one of another model, often of the same class."""
    donors = sorted(_DONORS.glob("*.palmette"))
    number = _drawn(taken, rng)
    kind = _kind_of(taken.objects[number])
    for donor in rng.sample(donors, len(donors)):
        other = _taken(donor)
        alike = [i for i, each in enumerate(other.objects) if _kind_of(each) == kind]
        if not alike and rng.random() < 0.1:
            alike = [i for i, each in enumerate(other.objects) if each.keys() == {kind[0]}]
        if alike:
            chosen = rng.choice(alike)
            taken.objects[number] = _carried(taken, other, chosen, rng)
            return f"object {number} {kind} from {chosen} of {donor.stem}"
    return moved(taken, rng)


def moved(taken: Taken, rng: random.Random) -> str:
    """Replace an object by another of the same file, often of the same class."""
    for _ in range(20):
        number = _drawn(taken, rng)
        kind = _kind_of(taken.objects[number])
        alike = [
            i for i, each in enumerate(taken.objects) if i != number and _kind_of(each) == kind
        ]
        if alike:
            chosen = rng.choice(alike)
            if rng.random() < 0.5:
                objects = taken.objects
                objects[number], objects[chosen] = objects[chosen], objects[number]
                return f"{number} and {chosen} {kind} swapped"
            refs = [(o, k) for o, k in places_in(taken.state) if o[k] == {"ref": number}]
            for owner, key in refs if rng.random() < 0.5 else refs[:1]:
                owner[key] = {"ref": chosen}
            return f"{number} is {chosen} {kind}"
    return sizes_changed(taken, rng)


def _drawn(taken: Taken, rng: random.Random) -> int:
    """Return the number of an object; each kind is as likely, however many there are."""
    kinds: dict[Any, list[int]] = {}
    for i, each in enumerate(taken.objects):
        kinds.setdefault(_kind_of(each), []).append(i)
    return rng.choice(kinds[rng.choice(list(kinds))])


def _kind_of(written: Any) -> tuple[str, str]:
    [(tag, content)] = written.items()
    named = isinstance(content, dict) and isinstance(content.get("class"), str)
    return tag, content["class"] if named else ""


@cache
def _taken(file: Path) -> Taken:
    return Taken(file.read_bytes())


def _carried(taken: Taken, other: Taken, number: int, rng: random.Random) -> Any:
    """Return an object of another file, after its parts were appended to the table."""
    numbers: dict[int, int] = {}
    members: dict[str, str] = {}
    skops = max([-1, *(int(n[8:12]) for n in taken.skops)]) + 1
    shift = False

    def carry(value: Any) -> Any:
        nonlocal shift
        if isinstance(value, list):
            return [carry(each) for each in value]
        if not isinstance(value, dict):
            return value
        if value.keys() == {"ref"} and type(value["ref"]) is int:
            return {"ref": carry_object(value["ref"])}
        if value.keys() == {"foreign"} and type(value["foreign"]) is int:
            shift = True
            return {"foreign": value["foreign"] + 64 * skops}
        if isinstance(value.get("in"), str):
            if value["in"] not in members:
                members[value["in"]] = taken.new_name()
                content = other.members[f"arrays/{value['in']}.npy"]
                taken.members[f"arrays/{members[value['in']]}.npy"] = content
            return {**value, "in": members[value["in"]]}
        return {key: carry(each) for key, each in value.items()}

    def carry_object(place: int) -> int:
        if place not in numbers:
            numbers[place] = len(taken.objects)
            taken.objects.append(None)
            taken.objects[numbers[place]] = carry(other.objects[place])
        return numbers[place]

    made = carry(other.objects[number])
    if shift:
        for name, (schema, inside) in other.skops.items():
            again = json.loads(json.dumps(schema)), dict(inside)
            taken.skops[f"foreign/{int(name[8:12]) + skops:04d}.skops"] = again
            taken.members.setdefault(f"foreign/{int(name[8:12]) + skops:04d}.skops", b"")
    return made


def sizes_changed(taken: Taken, rng: random.Random) -> str:
    """Change a size, such as the number of classes, in numbers and shapes: everywhere or not."""
    slots = [slot for slot in taken.slots() if slot.get().dtype.kind in "biufc"]
    axes = [(slot, axis) for slot in slots for axis in range(slot.get().ndim)]
    places = [(owner, key) for owner, key in places_in(taken.objects)]
    shapes = {id(o[k]) for o, k in places if k == "shape" and "in" in o}
    plain = [
        (owner, key)
        for owner, key in places
        if type(owner[key]) is int
        and id(owner) not in shapes
        and key not in ("ref", "foreign", "at")
    ]
    lengths = [slot.get().shape[axis] for slot, axis in axes] + [o[k] for o, k in plain]
    small = [n for n in lengths if 1 < n < 1000]
    if not small:
        return reordered(taken, rng)
    before = rng.choice(small)
    after = rng.choice([before - 1, before + 1, 1, 0, 2 * before, -before, -1])
    share = rng.choice([0.3, 1.0])
    n_changed = 0
    for owner, key in plain:
        if owner[key] == before and rng.random() < share:
            owner[key] = after
            n_changed += 1
    if after >= 0 and rng.random() < 0.7:
        for slot, axis in axes:
            array = slot.get()
            if axis < array.ndim and array.shape[axis] == before and rng.random() < share:
                slot.put(np.take(array, [i % before for i in range(after)], axis))
                n_changed += 1
    return f"{n_changed} sizes of {before} to {after}"


def reordered(taken: Taken, rng: random.Random) -> str:
    """Put the rows of some arrays, or the values of a list, in another order or several times."""
    change: Callable[[int], list[int]] = rng.choice(
        [
            lambda n: rng.sample(range(n), n),
            lambda n: [*range(n)][::-1],
            lambda n: [rng.randrange(n) for _ in range(n)],
            lambda n: sorted(rng.randrange(n) for _ in range(n)),
        ]
    )
    lists = [
        owner[key]
        for owner, key in places_in(taken.objects)
        if isinstance(owner[key], list) and len(owner[key]) > 1
    ]
    slots = [slot for slot in taken.slots() if slot.get().ndim and len(slot.get()) > 1]
    if lists and (not slots or rng.random() < 0.4):
        chosen = rng.choice(lists)
        chosen[:] = [json.loads(json.dumps(chosen[i])) for i in change(len(chosen))]
        return f"a list of {len(chosen)} in another order"
    if not slots:
        taken.members["arrays/extra.npy"] = to_npy(np.arange(3))
        return "an array more"
    for slot in slots if rng.random() < 0.1 else [rng.choice(slots)]:
        array = slot.get()
        slot.put(array[change(len(array))])
    return f"an array of {array.shape} in another order"
