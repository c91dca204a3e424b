"""The XML of MULAN: ``<labels>`` with nested or flat ``<label name="...">`` elements.

Labels are the columns of a table, so their names are distinct. A root is added: ``<labels>`` itself
is not a label. In a flat file all labels are children of the root.
"""

from __future__ import annotations

from typing import Any

from palmette.core.taxonomy.rows import PlaceRows, Tops, short
from palmette.core.taxonomy.sax import PlaceHandler, parse_xml, root_element
from palmette.core.taxonomy.source import Source

__all__ = ["ELEMENT", "looks_like", "parse"]

ELEMENT = "labels"


def looks_like(source: Source) -> bool:
    """Whether the root element is ``<labels>``."""
    return root_element(source) == ELEMENT


def parse(source: Source) -> PlaceRows:
    """Read the labels."""
    rows = PlaceRows(source, Tops.ALWAYS)
    parse_xml(source, _Labels(source, rows))
    return rows


class _Labels(PlaceHandler):
    def __init__(self, source: Source, rows: PlaceRows) -> None:
        super().__init__()
        self._source = source
        self._rows = rows
        self._open: list[int] = []
        self._lines: dict[str, int] = {}

    def startElement(self, name: str, attrs: Any) -> None:
        tag = name.rpartition(":")[2]
        if tag == ELEMENT and not self._open:
            return
        if tag != "label":
            raise self._source.error(
                f"found <{name}>: expected <label name='...'> within <labels>", self.line
            )
        label = attrs.get("name", "").strip()
        if not label:
            raise self._source.error("a <label> has no name attribute", self.line)
        if label in self._lines:
            raise self._source.error(
                f"the label {short(label)} is declared twice, first in line {self._lines[label]}. "
                "Rename one: labels are columns of the data",
                self.line,
            )
        self._lines[label] = self.line
        parent = self._open[-1] if self._open else -1
        self._open.append(self._rows.add(label, parent, self.line))

    def endElement(self, name: str) -> None:
        if self._open:
            self._open.pop()
