"""Numbers in strangers' texts: one parser, which no text brings down, that reads as Python does."""

from __future__ import annotations

import ast
import hashlib
import math
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import palmette
from palmette.datasets import read_table
from palmette.exceptions import TableWarning
from palmette.table import fit_table
from palmette.table._numbers import NumberForm, parse_numbers, unit_of

HUGE = ["9e7872688807", "1e2147483648", "1e4294967296", "9e7872688807d22d9e69", "1e-4294967296x",
        "-3.5E+99999999999999999999", "9" * 5000,
        "1e" + "9" * 5000, "inf", "-inf"]  # fmt: skip


def plain(text):
    return parse_numbers([text], NumberForm())[0]


@pytest.mark.parametrize("text", HUGE)
def test_a_number_beyond_the_range_is_none(text):
    assert math.isnan(plain(text))


@given(st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(allow_nan=False, allow_infinity=False).map("{:+.17e}".format),
    st.integers(-(10**30), 10**30).map(str),
    st.from_regex(r"[ \t]?[+-]?(\d{1,25}(\.\d{0,25})?|\.\d{1,25})([eE][+-]?\d{1,2})?[ \n]?",
                  fullmatch=True, alphabet=st.characters(codec="ascii")),
))  # fmt: skip
def test_plain_numbers_are_those_of_python(text):
    expected = float(text)
    found = plain(text)
    assert math.isnan(found) if math.isinf(expected) else found == expected


@given(st.lists(st.text(max_size=30) | st.sampled_from(["1", "2.5", "1_0", "\u0663", " 7"])))
def test_a_cell_is_read_the_same_beside_any_others(texts):
    together = parse_numbers(texts, NumberForm())
    np.testing.assert_array_equal(together, [plain(text) for text in texts])


@pytest.mark.parametrize(
    "text",
    ["1" + " " * 20_000 + "(", "(" * 20_000 + "x y", "1" + "," * 20_000 + "(", "1" + "e1" * 20_000],
)
def test_the_unit_of_a_long_cell_is_sought_in_linear_time(text):
    began = time.process_time()
    unit_of(text)
    assert time.process_time() - began < 1


@pytest.mark.parametrize("text", ["9" * 10**6, "9," * 500_000, "'" * 10**6, "\u0663" * 10**6])
def test_a_cell_of_a_million_characters_is_no_number_at_once(text):
    began = time.process_time()
    assert np.isnan(parse_numbers([text] * 3, NumberForm(",", "EUR"))).all()
    assert time.process_time() - began < 1


def test_hexadecimal_digests_are_no_numbers_anywhere(tmp_path):
    digests = [hashlib.md5(str(i).encode()).hexdigest() for i in range(3000)]
    digests = [each for each in digests if "e" in each[:4]][:60]
    few = [HUGE[i % 4] for i in range(60)]
    labels = ["a" if i % 2 else "b" for i in range(60)]
    frame = pd.DataFrame({"digest": digests, "few": few, "size": np.arange(60) % 7, "kind": labels})
    columns = {"digest": "category", "few": "category", "size": "number"}
    model = fit_table(frame, "kind", model="flat-naive-bayes", columns=columns, folds=0)
    with pytest.warns(TableWarning, match="60 values of the column 'size' cannot be read"):
        assert len(model.predict(frame.assign(size=HUGE[0]))) == 60
    frame.to_csv(tmp_path / "table.csv", index=False)
    read = read_table(tmp_path / "table.csv", target="kind").X
    assert read["few"].tolist() == few
    assert read["digest"].tolist() == digests


# ---------------------------------------------------------------------- the law

# parsers in C that end the process, or misread, at some texts in a version that is supported, and
# those that nobody has tried
_PARSERS = {"to_numeric", "to_datetime", "to_timedelta", "read_csv", "read_json", "read_html",
            "read_fwf", "read_clipboard", "read_excel", "read_xml", "read_stata", "read_sas",
            "read_spss", "read_hdf", "loadtxt", "genfromtxt", "fromtxt", "fromstring", "fromregex",
            "open_csv", "longdouble", "float128", "ujson", "orjson", "dateutil", "literal_eval",
            "TableVectorizer", "ToFloat", "ToFloat32", "ToDatetime", "Cleaner"}  # fmt: skip
_ALLOWED = {
    ("table/_dates.py", "to_datetime"): "with a format; python -m tests.attack.cells",
    ("table/_schema.py", "to_datetime"): "of dates, not of texts",
    ("table/_binary_files.py", "read_excel"): "cells are objects, as openpyxl reads them in Python",
    ("datasets/_reading.py", "loadtxt"): "numpy's own, of any exponent and length",
    ("persistence/_parts.py", "ToDatetime"): "a name of a class",
    ("persistence/_types.py", "dateutil"): "a name in a file, which is refused",
    ("datasets/_table.py", "read_csv"): "as Python's parser, in every version",
    ("table/_features.py", "TableVectorizer"): "gets dates and categories, no strings",
    ("table/_candidates.py", "literal_eval"): "options of the caller, within `except`",
}


def test_texts_are_not_given_to_parsers_that_may_end_the_process():
    root = Path(palmette.__file__).parent
    found = {}
    for path in sorted(root.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text if any(name in text for name in _PARSERS) else "")
        for node in ast.walk(tree):
            names = {
                ast.Attribute: lambda n: [n.attr],
                ast.Name: lambda n: [n.id],
                ast.alias: lambda n: n.name.split("."),
                ast.ImportFrom: lambda n: (n.module or "").split("."),
                ast.Constant: lambda n: [n.value] if isinstance(n.value, str) else [],
            }.get(type(node), lambda n: [])(node)
            for name in _PARSERS.intersection(names):
                found[path.relative_to(root).as_posix(), name] = node
    assert set(found) == set(_ALLOWED)
