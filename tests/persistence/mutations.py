"""Model files with something wrong in them, drawn at random: bytes, members, JSON, arrays.

Changes inside of members come with checksums that fit, as one who means harm would make them.
"""

from __future__ import annotations

import hashlib
import io
import json
import random
import zipfile
from collections.abc import Callable
from typing import Any

__all__ = ["KINDS", "ODD_VALUES", "members_of", "mutated", "packed", "places_in", "sealed"]

Members = dict[str, bytes]

ODD_VALUES: list[Any] = [
    *[
        None,
        True,
        0,
        -1,
        1,
        7,
        2**31,
        2**63,
        -(2**70),
        1e308,
        "",
        "x",
        "__class__",
        "../../etc",
        [],
    ],
    *[{}, [[]], {"ref": 0}, {"ref": 10**6}, {"ref": -1}, {"list": [1]}, {"array": {"in": "f8"}}],
    *[
        {"tuple": []},
        {"dict": {}},
        {"foreign": 0},
        {"foreign": 99},
        {"type": "int"},
        {"a": 1, "b": 2},
    ],
    *[
        {"function": "os.system"},
        {"type": "subprocess.Popen"},
        {"dtype": "O"},
        {"dtype": "V10000000"},
    ],
    {"object": {"class": "hierarchy.Hierarchy", "state": {"predict": 1}}},
    {"object": {"class": "boosting.SharedTree", "state": {}}},
    {"object": {"class": "trees.Carts", "state": {"left": None}}},
    {"object": {"class": "class_tree.OptionTable", "state": {"first": 3}}},
    {"namedtuple": ["base.TunedAs", 1]},
    {"object": {"class": "palmette._files.os", "state": {}}},
    {"object": {"class": "builtins.eval", "state": {}}},
    {"holder": {"class": "subprocess.Popen", "state": {}}},
    {"holder": {"class": "sklearn.pipeline.Pipeline", "state": {"steps": 3}}},
    {"objects": {"shape": [10**9], "values": []}},
    {"scalar": ["<f8", "ff"]},
    {"sparse": {"class": "csr_array", "format": "csr", "shape": [1, 1], "parts": {}}},
    {"random": {"class": "Generator", "state": {"dict": {"bit_generator": "seed"}}}},
]


def members_of(content: bytes) -> Members:
    """Return the members of a zip file."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(members: Members | list[tuple[str, bytes]], packing: int = zipfile.ZIP_STORED) -> bytes:
    """Return members as a zip file."""
    stream = io.BytesIO()
    listed = list(members.items()) if isinstance(members, dict) else members
    with zipfile.ZipFile(stream, "w", packing) as archive:
        for name, content in listed:
            archive.writestr(zipfile.ZipInfo(name), content, packing)
    return stream.getvalue()


def sealed(members: Members) -> bytes:
    """Return members as a model file with a manifest that fits them."""
    manifest = json.loads(members["manifest.json"])
    rest = {name: content for name, content in members.items() if name != "manifest.json"}
    manifest["members"] = {n: [len(c), hashlib.sha256(c).hexdigest()] for n, c in rest.items()}
    return packed({"manifest.json": json.dumps(manifest).encode(), **rest})


def mutated(content: bytes, rng: random.Random) -> tuple[str, bytes]:
    """Return the name of a mutation and what it made of a file."""
    kind = rng.choice(KINDS)
    return kind.__name__, kind(content, rng)


# ---------------------------------------------------------------------- of bytes


def flip_bytes(content: bytes, rng: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 8, 64])):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def truncate(content: bytes, rng: random.Random) -> bytes:
    return content[: rng.randrange(len(content))]


def insert_or_drop_bytes(content: bytes, rng: random.Random) -> bytes:
    place, length = rng.randrange(len(content)), rng.randrange(1, 200)
    if rng.random() < 0.5:
        return content[:place] + rng.randbytes(length) + content[place:]
    return content[:place] + content[place + length :]


def spoil_the_directory(content: bytes, rng: random.Random) -> bytes:
    changed = bytearray(content)
    start = content.rfind(b"PK\x01\x02")
    for _ in range(3):
        changed[rng.randrange(start, len(changed))] = rng.randrange(256)
    return bytes(changed)


# ---------------------------------------------------------------------- of members


def swap_members(content: bytes, rng: random.Random) -> bytes:
    members = members_of(content)
    one, other = rng.choices(list(members), k=2)
    members[one], members[other] = members[other], members[one]
    return packed(members)


def drop_or_double_a_member(content: bytes, rng: random.Random) -> bytes:
    listed = list(members_of(content).items())
    place = rng.randrange(len(listed))
    if rng.random() < 0.5:
        del listed[place]
    else:
        listed.append(listed[place])
    return packed(listed)


def rename_a_member(content: bytes, rng: random.Random) -> bytes:
    members = members_of(content)
    old = rng.choice(list(members))
    names = ["../out.json", "/etc/passwd", "arrays/../x.npy", "a\\b", "arrays/z.npy", "x" * 300]
    members[rng.choice(names)] = members.pop(old)
    return packed(members) if "manifest.json" not in members else sealed(members)


# ---------------------------------------------------------------------- inside of members


def edit_the_manifest(content: bytes, rng: random.Random) -> bytes:
    members = members_of(content)
    members["manifest.json"] = _edited_json(members["manifest.json"], rng)
    return packed(members)


def edit_the_state(content: bytes, rng: random.Random) -> bytes:
    members = members_of(content)
    for _ in range(rng.choice([1, 1, 3])):
        members["state.json"] = _edited_json(members["state.json"], rng)
    return sealed(members)


def edit_an_array(content: bytes, rng: random.Random) -> bytes:
    members = members_of(content)
    arrays = [name for name in members if name.endswith(".npy")]
    if not arrays:
        return content
    name = rng.choice(arrays)
    change = rng.choice([flip_bytes, truncate, insert_or_drop_bytes])
    members[name] = change(members[name], rng)
    return sealed(members)


def edit_a_foreign_part(content: bytes, rng: random.Random) -> bytes:
    members = members_of(content)
    foreign = [name for name in members if name.endswith(".skops")]
    if not foreign:
        return edit_the_state(content, rng)
    name = rng.choice(foreign)
    inside = members_of(members[name])
    part = rng.choice(["schema.json", *inside])
    if part.endswith(".json"):
        inside[part] = _edited_json(inside[part], rng)
    else:
        inside[part] = rng.choice([flip_bytes, truncate, insert_or_drop_bytes])(inside[part], rng)
    members[name] = packed(inside)
    return sealed(members)


def _edited_json(content: bytes, rng: random.Random) -> bytes:
    """Return JSON with one value taken out, put in, doubled or replaced by an odd one."""
    decoded = json.loads(content)
    places = places_in(decoded)
    if not places:  # nothing is left of it
        return content
    owner, key = rng.choice(places)
    action = rng.randrange(4)
    if action == 0:
        del owner[key]
    elif action == 1:
        other, from_key = rng.choice(places)
        owner[key] = json.loads(json.dumps(other[from_key]))
    elif action == 2 and isinstance(owner, dict):
        owner[rng.choice(["ref", "class", "x", "__dict__", "state", str(key) + "_"])] = owner.pop(
            key
        )
    else:
        owner[key] = rng.choice(ODD_VALUES)
    return json.dumps(decoded).encode()


def places_in(decoded: Any) -> list[tuple[Any, Any]]:
    """Return the owner and the key of every value of a JSON document."""
    found: list[tuple[Any, Any]] = []
    waiting = [decoded]
    while waiting:
        each = waiting.pop()
        pairs = each.items() if isinstance(each, dict) else enumerate(each)
        for key, value in pairs:
            found.append((each, key))
            if isinstance(value, dict | list):
                waiting.append(value)
    return found


KINDS: list[Callable[[bytes, random.Random], bytes]] = [
    flip_bytes,
    truncate,
    insert_or_drop_bytes,
    spoil_the_directory,
    swap_members,
    drop_or_double_a_member,
    rename_a_member,
    edit_the_manifest,
    *[edit_the_state] * 5,
    *[edit_an_array] * 2,
    *[edit_a_foreign_part] * 3,
]
