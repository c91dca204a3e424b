"""ICD-10-CM's list of codes."""

from __future__ import annotations

import pytest

from palmette.exceptions import ReadError
from palmette.hierarchy._hierarchy import Hierarchy


def test_chapters_sections_and_prefixes(read):
    first = "1|A00-A09|A00|A000|B20|B20|E08-E13|E08|E083"
    second = "2|C00-C96|C00-C14|C00|C00A|C00AXX1"
    lines = f"{first}|{second}".split("|")
    assert read("\r\n".join(lines)) == Hierarchy.from_paths(
        [
            ("1", "A00-A09", "A00", "A000"),
            ("1", "B20", "B20"),
            ("1", "E08-E13", "E08", "E083"),
            ("2", "C00-C96", "C00-C14", "C00", "C00A", "C00AXX1"),
        ]
    )


def test_codes_with_dots(read):
    assert read("1\nA00-A09\nA00\nA00.0\n").path_strings[-1] == "1/A00-A09/A00/A00.0"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("A00-A09 A00", "is in no chapter"),
        ("1 A00-A09 A00 A00 B", "this is not a code"),
        ("1 A00-A09 A000", "no section or shorter code"),
        ("1 A00", "no section or shorter code"),
        ("1 A00-A09 A01 A02 A01", r":5: .*declared twice, first in line 3"),
        ("1 A00-A09 1", "declared twice, first in line 1"),
    ],
)
def test_broken(read, lines, message):
    with pytest.raises(ReadError, match=message):
        read("\n".join(lines.split()), format="icd10-codes")
