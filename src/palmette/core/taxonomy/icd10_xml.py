"""The tabular list of ICD-10-CM in XML: chapters, sections and nested diagnoses.

Chapters are named by number, sections by range, diagnoses by code with the dot (``A00.0``). Codes
with a seventh character are given by rules and not read; the list of codes (format
``icd10-codes``) has them.
"""

from __future__ import annotations

from typing import Any

from palmette.core.taxonomy.icd10_sections import Sections
from palmette.core.taxonomy.rows import PlaceRows, Tops
from palmette.core.taxonomy.sax import PlaceHandler, parse_xml, root_element
from palmette.core.taxonomy.source import Source

__all__ = ["ELEMENT", "looks_like", "parse"]

ELEMENT = "ICD10CM.tabular"
_NODES = ("chapter", "section", "diag")


def looks_like(source: Source) -> bool:
    """Whether the root element is that of the tabular list of ICD-10-CM."""
    return root_element(source) == ELEMENT


def parse(source: Source) -> PlaceRows:
    """Read chapters, sections and diagnoses."""
    rows = PlaceRows(source, Tops.ALWAYS)
    parse_xml(source, _Tabular(source, rows))
    return rows


class _Tabular(PlaceHandler):
    def __init__(self, source: Source, rows: PlaceRows) -> None:
        super().__init__()
        self._source = source
        self._rows = rows
        self._sections = Sections(rows)
        self._tags: list[str] = []
        self._nodes: list[int | None] = []  # open chapters, sections, diagnoses; None: unnamed
        self._text: list[str] | None = None

    def startElement(self, name: str, attrs: Any) -> None:
        if name in _NODES:
            if self._nodes and self._nodes[-1] is None:
                raise self._source.error(f"<{name}> precedes the <name> of its parent", self.line)
            self._nodes.append(self._section(attrs) if name == "section" else None)
        elif name == "name" and self._tags[-1:] in (["chapter"], ["diag"]):
            self._text = []
        self._tags.append(name)

    def characters(self, content: str) -> None:
        if self._text is not None:
            self._text.append(content)

    def endElement(self, name: str) -> None:
        self._tags.pop()
        if name in _NODES:
            if self._nodes.pop() is None:
                raise self._source.error(f"the <{name}> that ends here has no <name>", self.line)
        elif name == "name" and self._text is not None:
            self._nodes[-1] = self._named(self._tags[-1], "".join(self._text).strip())
            self._text = None

    def _section(self, attrs: Any) -> int:
        section = attrs.get("id", "").strip()
        if not section:
            raise self._source.error("a <section> has no id attribute", self.line)
        if self._tags[-1:] == ["section"]:
            return self._rows.add(section, self._above(), self.line)
        return self._sections.add(section, self.line)

    def _named(self, tag: str, name: str) -> int:
        if not name:
            raise self._source.error(f"the <name> of a <{tag}> is empty", self.line)
        if self._nodes[-1] is not None:
            raise self._source.error(f"a <{tag}> has two <name> elements", self.line)
        node = self._rows.add(name, self._above(1), self.line)
        if tag == "chapter":
            self._sections.start_chapter(node)
        return node

    def _above(self, skipped: int = 0) -> int:
        """Return the innermost open node without the last `skipped` ones, or -1."""
        place = len(self._nodes) - 1 - skipped
        node = self._nodes[place] if place >= 0 else None
        return -1 if node is None else node
