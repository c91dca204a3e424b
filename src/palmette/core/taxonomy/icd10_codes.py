"""ICD-10-CM as a plain list of codes in the order of the book, one per line.

A number (``1``) starts a chapter and a range (``A00-A09``) starts a section; a category in two
consecutive lines is a section with one category and then the category itself. A longer code is
below its longest prefix: placeholders leave gaps (``E0837X1`` is below ``E0837``).
"""

from __future__ import annotations

import re

from palmette.core.taxonomy.icd10_sections import Sections
from palmette.core.taxonomy.rows import PlaceRows, Tops
from palmette.core.taxonomy.source import Source

__all__ = ["looks_like", "parse"]

_CATEGORY = r"[A-Z][0-9A-Z]{2}"
_CHAPTER = re.compile(r"[0-9]{1,2}")
_SECTION = re.compile(f"{_CATEGORY}-{_CATEGORY}")
_CODE = re.compile(rf"{_CATEGORY}(?:\.?[0-9A-Z]{{1,4}})?")
_CATEGORY_LENGTH = 3


def looks_like(source: Source) -> bool:
    """Whether the file begins with a chapter, a section and a code."""
    first = [line.strip() for line in source.sample[:3]]
    patterns = (_CHAPTER, _SECTION, _CODE)
    return len(first) == 3 and all(p.fullmatch(s) for p, s in zip(patterns, first, strict=True))


def parse(source: Source) -> PlaceRows:
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
