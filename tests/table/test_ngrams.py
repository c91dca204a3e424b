"""Grams by kernels equal grams by slices of strings."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from palmette.table._ngrams import find_columns, make_slots
from palmette.table._texts import _hash_texts

TEXTS = [
    "a red apple, a red car",
    "",
    "  ",
    "x",
    "don't stop_me now 42",
    "größe 数据 naïve",
    "aa aa",
]


def naive_grams(text, low, high):
    words = re.findall(r"\w+", text)
    grams = Counter(words) + Counter(("pair", a, b) for a, b in pairwise(words))
    for word in words:
        padded = f" {word} "
        for length in range(low, high + 1):
            if length >= len(padded):
                grams["piece", padded] += 1
                break
            for start in range(len(padded) - length + 1):
                grams["piece", padded[start : start + length]] += 1
    return grams


@pytest.mark.parametrize("sizes", [(1, 0), (1, 2), (2, 4), (3, 4)])
def test_counts_are_those_of_slices(sizes):
    grams = _hash_texts(TEXTS, *sizes, spans=False)
    for row, text in enumerate(TEXTS):
        found = Counter(grams.hashes[grams.first[row] : grams.first[row + 1]].tolist())
        expected = naive_grams(text, *sizes)
        assert sorted(found.values()) == sorted(expected.values())


def test_the_same_gram_has_the_same_hash_in_any_row():
    grams = _hash_texts(["red car", "a red", "red"], 3, 4, spans=True)
    by_name = {}
    names = grams.read(np.arange(len(grams.hashes)))
    for gram, name in zip(grams.hashes.tolist(), names, strict=True):
        by_name.setdefault((bool(gram >> 63), name), set()).add(gram)
    assert all(len(hashes) == 1 for hashes in by_name.values())
    assert (False, "red car") in by_name
    assert {(True, "re*"), (True, "*ed"), (True, "red*"), (True, "*red")} <= set(by_name)


def test_every_hash_is_found_in_its_slot():
    rng = np.random.default_rng(0)
    known = np.unique(rng.integers(0, 2**63, 500, dtype=np.uint64) * np.uint64(2))
    slots = np.empty(1024, dtype=np.int32)
    make_slots(known, slots)
    asked = np.concatenate([known[::-1], known[:5] + np.uint64(1)])
    columns = np.empty(len(asked), dtype=np.int32)
    find_columns(asked, known, slots, columns)
    assert columns.tolist() == [*range(len(known) - 1, -1, -1), -1, -1, -1, -1, -1]
