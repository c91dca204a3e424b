"""XML hierarchies of MULAN and ICD-10-CM, and the list of codes of ICD-10-CM.

XML is parsed as a stream with defusedxml: no entities, no external files, no recursion. MULAN
has ``<labels>`` with nested or flat ``<label name="...">`` elements; the names are distinct,
since labels are columns of a table. ICD-10-CM has chapters, sections, named by range, and
diagnoses, named by code with the dot (``A00.0``). Its list of codes has one code per line: a
number (``1``) starts a chapter and a range (``A00-A09``) a section; a category in two
consecutive lines is a section with one category and then the category itself; a longer code is
below its longest prefix. A section is below the innermost one whose range contains it."""

from __future__ import annotations

import re
from typing import Any
from xml.sax import SAXException, SAXParseException
from xml.sax.handler import ContentHandler

from palmette.hierarchy.files._source import PlaceRows, Source, Tops, short

# Atomic groups: text before the first element is scanned only once.
_FIRST_ELEMENT = re.compile(
    r"(?>\s+|<\?.*?\?>|<!--.*?-->|<!(?!--)[^>\[]*(?:\[[^\]]*\])?\s*>)*+<([^\s/>!?]+)", re.DOTALL
)


def root_element(source: Source) -> str | None:
    """Return the name of the root element, without its prefix; None if the file is not XML."""
    if not source.head.startswith("<"):
        return None
    match = _FIRST_ELEMENT.match(source.head)
    return match.group(1).rpartition(":")[2] if match else None


class PlaceHandler(ContentHandler):
    """A SAX handler with the current line."""

    @property
    def line(self) -> int:
        """Line of the current event."""
        # the parser sets the locator before the first event; typeshed does not declare it
        return int(self._locator.getLineNumber())  # type: ignore[attr-defined]


def parse_xml(source: Source, handler: PlaceHandler) -> None:
    """Send the events of an XML file to a handler; entities and malformed XML are errors."""
    from defusedxml import DefusedXmlException
    from defusedxml.sax import make_parser

    source.require_text()
    parser = make_parser()
    parser.forbid_dtd = False  # a document type alone is harmless
    parser.forbid_entities = parser.forbid_external = True
    parser.setContentHandler(handler)
    handler.setDocumentLocator(parser)
    try:
        # all at once: Expat would scan a long token again for every piece
        parser.feed(source.data)
        parser.close()
    except DefusedXmlException as error:
        raise source.error(
            f"the XML declares entities or refers to other files, which is not allowed ({error})"
        ) from None
    except SAXParseException as error:
        raise source.error(
            f"this is not well-formed XML ({error.getMessage()})",
            error.getLineNumber(),
            column=error.getColumnNumber() or 0,
        ) from None
    except (SAXException, LookupError) as error:  # an unknown encoding
        raise source.error(f"the XML cannot be read ({error})") from None


MULAN_ELEMENT = "labels"


def looks_like_mulan(source: Source) -> bool:
    """Whether the root element is ``<labels>``."""
    return root_element(source) == MULAN_ELEMENT


def parse_mulan(source: Source) -> PlaceRows:
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
        if tag == MULAN_ELEMENT and not self._open:
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


class Sections:
    """Nests the sections of a chapter, in the order of the file.

    Parameters
    ----------
    rows : PlaceRows
    """

    def __init__(self, rows: PlaceRows) -> None:
        self._rows = rows
        self._chapter = -1
        self._open: list[tuple[str, str, int]] = []

    def start_chapter(self, chapter: int) -> None:
        """Start a chapter, which closes all sections."""
        self._chapter = chapter
        self._open = []

    def add(self, name: str, line: int) -> int:
        """Add a section below the innermost open one whose range contains it, or the chapter."""
        first, _, last = name.partition("-")
        last = last or first
        while self._open and not (self._open[-1][0] <= first and last <= self._open[-1][1]):
            self._open.pop()
        parent = self._open[-1][2] if self._open else self._chapter
        node = self._rows.add(name, parent, line)
        self._open.append((first, last, node))
        return node


_CATEGORY = r"[A-Z][0-9A-Z]{2}"
_CHAPTER = re.compile(r"[0-9]{1,2}")
_SECTION = re.compile(f"{_CATEGORY}-{_CATEGORY}")
_CODE = re.compile(rf"{_CATEGORY}(?:\.?[0-9A-Z]{{1,4}})?")
_CATEGORY_LENGTH = 3


def looks_like_icd10_codes(source: Source) -> bool:
    """Whether the file begins with a chapter, a section and a code."""
    first = [line.strip() for line in source.sample[:3]]
    patterns = (_CHAPTER, _SECTION, _CODE)
    return len(first) == 3 and all(p.fullmatch(s) for p, s in zip(patterns, first, strict=True))


def parse_icd10_codes(source: Source) -> PlaceRows:
    """Read the codes."""
    rows = PlaceRows(source, Tops.ALWAYS)
    sections = Sections(rows)
    lines = [(number, line.strip()) for number, line in source.content_lines()]
    section, known = -1, dict[str, int]()
    in_chapter = False
    for place, (number, code) in enumerate(lines):
        if _CHAPTER.fullmatch(code):
            sections.start_chapter(rows.add(code, -1, number))
            in_chapter, section = True, -1
        elif not in_chapter:
            raise source.error("the code is in no chapter: expected its number above", number)
        elif _SECTION.fullmatch(code) or _is_section(code, lines[place + 1 : place + 2], known):
            section = sections.add(code, number)
        elif not _CODE.fullmatch(code):
            raise source.error(
                "this is not a code: expected A000, a range A00-A09 or a chapter number", number
            )
        else:
            parent = section if len(code) == _CATEGORY_LENGTH else _longest_prefix(code, known)
            if parent < 0:
                raise source.error("the code has no section or shorter code above it", number)
            known[code] = rows.add(code, parent, number)
    return rows


def _is_section(code: str, following: list[tuple[int, str]], known: dict[str, int]) -> bool:
    """Whether a category is a section of one: the next line repeats it, no earlier line has it."""
    again = bool(following) and following[0][1] == code
    return again and len(code) == _CATEGORY_LENGTH and code not in known


def _longest_prefix(code: str, known: dict[str, int]) -> int:
    for length in range(len(code) - 1, _CATEGORY_LENGTH - 1, -1):
        node = known.get(code[:length])
        if node is not None:
            return node
    return -1


ICD10_ELEMENT = "ICD10CM.tabular"
_NODES = ("chapter", "section", "diag")


def looks_like_icd10_xml(source: Source) -> bool:
    """Whether the root element is that of the tabular list of ICD-10-CM."""
    return root_element(source) == ICD10_ELEMENT


def parse_icd10_xml(source: Source) -> PlaceRows:
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
