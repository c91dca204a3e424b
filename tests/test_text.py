"""Control characters and formulas in texts of others."""

from __future__ import annotations

import csv
import io
import json
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import palmette as pm
from palmette._text import CONTROL, csv_writer, excel_safe, excel_safe_csv, visible


@pytest.mark.parametrize("code", [0, 8, 11, 13, 27, 31, 127, 128, 0x9B, 0x202E, 0x2066, 0xDC80])
def test_control_characters_are_escaped(code):
    assert visible(f"a{chr(code)}b") == f"a\\u{code:04x}b"


@pytest.mark.parametrize("text", ["", "plain", "tab\tand\nline", "naïve 中文 🌳 עברית", "a\u200db"])
def test_other_texts_stay(text):
    assert visible(text) == text


@given(st.text())
def test_law_json_with_escapes_is_the_same_json(text):
    written = visible(json.dumps(text, ensure_ascii=False))
    assert json.loads(written) == text
    assert not CONTROL.search(written)
    assert visible(visible(text)) == visible(text)


@pytest.mark.parametrize(
    "cell", ["=1+1", "+A1", "-A1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "＝1", "-1+1", "- a"]
)
def test_formulas_get_an_apostrophe(cell):
    assert excel_safe(cell) == "'" + cell


@pytest.mark.parametrize(
    "cell", ["-1.5", "+3", "-1e-5", "-1.234,5", "-5%", "a=b", "", "1-1", "'=1", -1.5, -2, None]
)
def test_numbers_and_other_cells_stay(cell):
    assert excel_safe(cell) is cell


@given(st.lists(st.lists(st.text(st.characters(exclude_characters="\0")), min_size=2, max_size=2)))
def test_law_only_formulas_change_in_csv(rows):
    stream = io.StringIO()
    csv_writer(stream).writerows(rows)
    assert list(csv.reader(io.StringIO(stream.getvalue(), newline=""))) == rows
    back = csv.reader(io.StringIO(excel_safe_csv(stream.getvalue()), newline=""))
    assert list(back) == [[excel_safe(cell) for cell in row] for row in rows]


# ---------------------------------------------------------------------- lines of warnings

X = np.arange(12.0).reshape(6, 2)


@pytest.mark.parametrize(
    "call",
    [
        lambda: pm.LocalPerParentClassifier().fit(X, ["a/b", "a/c", "d"] * 2),
        lambda: pm.BinaryRelevance().fit(X, np.tile([[1, 0], [0, 0]], (3, 1))),
        lambda: pm.HierarchicalFeatureSelector(n_features_to_select=9).fit(X, list("ab") * 3),
        lambda: pm.ThresholdedMultilabel(cv=2).fit(X, list("ab") * 3),
        lambda: pm.metrics.hierarchical_precision_score([("a",)], [()]),
    ],
)
def test_a_warning_names_the_line_that_called_palmette(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    assert caught[0].filename == __file__
    assert "np." not in str(caught[0].message)
