"""Tables of codes that nest by prefix."""

from __future__ import annotations

import pytest

from palmette.exceptions import ReadError
from palmette.hierarchy._hierarchy import Hierarchy


def test_blanks_within_codes(read):
    h = read("id\ttitle\nA01B 1\tTools\nA01B 11\tPloughs\nA01C\tSowing\n", "x.tsv")
    assert h == Hierarchy.from_paths([("A01B", "A01B 1"), ("A01B", "A01B 11"), ("A01C",)])


def test_prefixes_and_ranges(read):
    text = (
        ",\r\n2022 NAICS Code,2022 NAICS Title\r\n11,Agriculture\r\n111,Crops\r\n,\r\n"
        '31-33,"Manufacturing, all"\r\n311,Food\r\n33,"Two\r\nlines"\r\n3312,Steel\r\n'
    )
    h = read(text.replace('33,"Two\r\nlines"\r\n', ""), "x.csv")
    assert h == Hierarchy.from_paths([("11", "111"), ("31-33", "311"), ("31-33", "3312")])


def test_a_column_of_numbers_before_the_codes(read):
    h = read("Seq,Code,Title\n1,11,Agriculture\n2,111,Crops\n")
    assert h == Hierarchy.from_paths([("11", "111")])


def test_the_code_is_preferred_to_the_id(read):
    assert "B" in read("id,code,name\n1,B,x\n2,B1,y\n").names


def test_codes_without_prefixes_are_a_star(read):
    assert read("id,title\nA01B,x\nA01C,y\n") == Hierarchy.star(["A01B", "A01C"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,name\n1,cat\n2,dog\n3,cow\n", "consecutive numbers"),
        ("code,title\nA,x\nA,y\n", ":3: the code 'A' is repeated, first in line 2"),
        ("code,title\n,x\n", ":2: this row has no code"),
        ("code,title\n33-31,x\n", "is invalid"),
        ("code,title\n1-999999999,x\n", "is invalid"),
        ("a,b\n1,2\n", "no header with columns"),
        ("code,title\n", "has no nodes"),
        ('code,title\nA,"' + "x" * 200_000, "cannot be read"),
    ],
)
def test_broken(read, text, message):
    with pytest.raises(ReadError, match=message):
        read(text, format="codes")


def test_a_code_that_is_too_long(read):
    with pytest.raises(ReadError, match="has 8,001 characters: expected at most 256"):
        read("id\ttitle\n" + "a " * 4000 + "a\tx\n", format="codes")
