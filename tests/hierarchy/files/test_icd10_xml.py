"""ICD-10-CM's XML."""

from __future__ import annotations

import pytest

from palmette.exceptions import ReadError
from palmette.hierarchy._hierarchy import Hierarchy


def tabular(body: str) -> str:
    return (
        "<ICD10CM.tabular><version>2026</version>\n<introduction><title>name</title></introduction>"
        f"\n{body}</ICD10CM.tabular>"
    )


def test_chapters_sections_and_diagnoses(read):
    body = """<chapter><name>1</name><desc>x</desc>
      <sectionIndex><sectionRef id="A00-A09"/></sectionIndex>
      <section id="A00-A09"><diag><name>A00</name><includes><note>name</note></includes>
        <diag><name> A00.0 </name></diag></diag></section>
      <section id="B20"><diag><name>B20</name></diag></section></chapter>
      <chapter><name>2</name></chapter>"""
    assert read(tabular(body)) == Hierarchy.from_paths(
        [("1", "A00-A09", "A00", "A00.0"), ("1", "B20", "B20"), ("2",)]
    )


def test_sections_are_nested_by_their_ranges(read):
    ids = ["C00-C96", "C00-C75", "C00-C14", "C50", "C7A", "C76-C80", "D00-D09"]
    body = "".join(f'<section id="{i}"/>' for i in ids)
    h = read(tabular(f"<chapter><name>2</name>{body}</chapter>"))
    assert h.path_strings.tolist()[1:] == [
        "2",
        "2/C00-C96",
        "2/C00-C96/C00-C75",
        "2/C00-C96/C00-C75/C00-C14",
        "2/C00-C96/C00-C75/C50",
        "2/C00-C96/C7A",
        "2/C00-C96/C76-C80",
        "2/D00-D09",
    ]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("<chapter></chapter>", "<chapter> that ends here has no <name>"),
        ("<chapter><section id='A00-A09'/></chapter>", "precedes the <name>"),
        ("<chapter><name>1</name><section/></chapter>", "no id attribute"),
        ("<chapter><name> </name></chapter>", "is empty"),
        ("<chapter><name>1</name><name>2</name></chapter>", "two <name>"),
        ("<chapter><name>1</name></chapter><chapter><name>1</name></chapter>", "declared twice"),
        ("", "has no nodes"),
    ],
)
def test_broken(read, body, message):
    with pytest.raises(ReadError, match=message):
        read(tabular(body))


def test_deep_nesting_is_quick(read):
    deep = "".join(f"<diag><name>{i}</name>" for i in range(20_000)) + "</diag>" * 20_000
    body = f"<chapter><name>1</name><section id='A00'>{deep}</section></chapter>"
    assert read(tabular(body)).max_depth == 20_002
