"""Changes of the JSON of a file as a document: deep, large, or small but large in memory."""

from __future__ import annotations

import random
import zipfile
from collections.abc import Callable

from tests.attack.files import Taken, attributes_of, raw

__all__ = ["huge", "nested"]


def nested(taken: Taken, rng: random.Random) -> str:
    """Put in JSON that is deep, or that holds an object in itself many times."""
    depth = rng.choice([50, 99, 101, 900, 5_000, 100_000])
    kind = rng.choice(["list", "tuple", "dict", "plain", "objects", "skops", "twice", "keys"])
    if kind in ("twice", "keys"):
        return _doubled(taken, rng, kind)
    opening, closing = {
        "list": ('{"list":[', "]}"),
        "tuple": ('{"tuple":[', "]}"),
        "dict": ('{"dict":{"a":', "}}"),
        "plain": ("[", "]"),
        "objects": ('{"objects":{"shape":[1],"values":[', "]}}"),
        "skops": (
            '{"__class__":"list","__module__":"builtins","__loader__":"ListNode","content":[',
            "]}",
        ),
    }[kind]
    inside = "1" if kind == "dict" else ""
    if kind == "objects":
        inside = "1"
    text = raw(opening * depth + inside + closing * depth)
    if kind == "skops" and taken.skops:
        schema, _ = rng.choice(list(taken.skops.values()))
        schema["content"].append(text)
    else:
        owner, key = rng.choice(attributes_of(taken))
        owner[key] = text
    return f"{kind} {depth:,} deep"


def _doubled(taken: Taken, rng: random.Random, kind: str) -> str:
    """Append tuples that hold the next one twice: 2 to the power of their number in all."""
    n, length = len(taken.objects), rng.choice([10, 25, 60])
    for i in range(length):
        taken.objects.append({"tuple": [{"ref": n + i + 1}, {"ref": n + i + 1}]})
    taken.objects.append({"tuple": [1, "a"]})
    owner, key = rng.choice(attributes_of(taken))
    wraps = [{"set": [{"ref": n}]}, {"dict": [[{"ref": n}, 1]]}, {"frozenset": [{"ref": n}]}]
    inlined = {"tuple": [{"ref": n}, {"ref": n}]}
    owner[key] = rng.choice(wraps) if kind == "keys" else rng.choice([{"ref": n}, inlined])
    return f"{key}: 2^{length} tuples ({kind})"


def _times(value: str, n: int) -> str:
    return (value + ",") * (n - 1) + value


_TEXTS: list[Callable[[int], str]] = [
    lambda n: "[" + _times("[]", n) + "]",
    lambda n: '{"list":[' + _times("0", n) + "]}",
    lambda n: '{"list":[' + _times('{"list":[]}', n // 4) + "]}",
    lambda n: '{"dict":{' + ",".join(f'"{i}":0' for i in range(min(n, 10**5))) + "}}",
    lambda n: '{"tuple":[' + _times('{"ref":0}', n) + "]}",
    lambda n: '{"objects":{"shape":[' + f"{n}" + '],"values":[' + _times("1", n) + "]}}",
    lambda n: "1" * min(n, 10**5),
    lambda n: "1e9999999999",
    lambda n: '"' + "x" * n + '"',
    lambda n: '"\\ud800"',
]


def huge(taken: Taken, rng: random.Random) -> str:
    """Put in JSON with many values, compressed, or with very long ones."""
    n = rng.choice([10**4, 10**5, 10**6] + ([2 * 10**7] if rng.random() < 0.1 else []))
    taken.packing = zipfile.ZIP_DEFLATED
    text = rng.choice(_TEXTS)(n)
    place = rng.choice(["attribute", "attribute", "object", "manifest", "skops"])
    words = f"{text[:24]} of {len(text):,} characters in {place}"
    if place == "manifest":
        taken.manifest[rng.choice(["x", "summary", "libraries", "fingerprint"])] = raw(text)
    elif place == "skops" and taken.skops:
        schema, _ = rng.choice(list(taken.skops.values()))
        schema["content"].append(raw(text))
    elif place == "object":
        taken.objects.append(raw(text))
    else:
        owner, key = rng.choice(attributes_of(taken))
        owner[key] = raw(text)
    return words
