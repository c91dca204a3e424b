"""Make the embedded table of ICD-10-CM from the tabular list of its publisher.

    python benchmarks/make_icd10cm.py    # reads the data home, writes into the package

Rows are the titles of codes and their inclusion terms, in the nine chapters of `CHAPTERS`: few
enough that a demonstration takes some seconds. Half of the inclusion terms are test rows; a term
that is also a training row, word by word, is none.
"""

from __future__ import annotations

import csv
import io
import lzma
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from palmette.datasets import data_home

CHAPTERS = ("1", "2", "4", "5", "6", "9", "10", "11", "14")
SOURCE = "taxonomies/icd10cm/icd10c-tabular-April-1-2026.xml.xz"
WRITTEN = Path(__file__).parents[1] / "src" / "palmette" / "datasets" / "icd10cm.csv.xz"
Row = tuple[bool, str, str, str, str]  # is it a title, the text, chapter, section, category


def rows_of(root: ElementTree.Element) -> Iterator[Row]:
    """Yield titles and terms with their paths, in the order of the list."""
    for chapter in root.findall("chapter"):
        number = chapter.findtext("name", "")
        if number in CHAPTERS:
            for section in chapter.findall("section"):
                path = (f"{number} {_title(chapter)}", f"{section.get('id')} {_title(section)}")
                for code in section.findall("diag"):
                    category = f"{code.findtext('name')} {code.findtext('desc')}"
                    yield from _rows_below(code, (*path, category))


def _rows_below(code: ElementTree.Element, path: tuple[str, str, str]) -> Iterator[Row]:
    yield True, code.findtext("desc", "").strip(), *path
    for kind in ("inclusionTerm", "includes"):
        for note in code.findall(f"{kind}/note"):
            if note.text:
                yield False, note.text.strip(), *path
    for below in code.findall("diag"):
        yield from _rows_below(below, path)


def _title(part: ElementTree.Element) -> str:
    return re.sub(r"\s*\([A-Z0-9-]+\)$", "", part.findtext("desc", "").strip())


def main() -> None:
    with lzma.open(data_home() / SOURCE) as stream:
        root = ElementTree.parse(stream).getroot()
    rows = list(rows_of(root))
    terms = [i for i, row in enumerate(rows) if not row[0]]
    chosen = np.random.default_rng(0).permutation(terms)[: len(terms) // 2].tolist()
    known = {row[1].casefold() for i, row in enumerate(rows) if i not in {*chosen}}
    test = {i for i in chosen if rows[i][1].casefold() not in known}
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(["part", "text", "chapter", "section", "category"])
    for i, (_, *cells) in enumerate(rows):
        writer.writerow(["test" if i in test else "train", *cells])
    WRITTEN.write_bytes(lzma.compress(table.getvalue().encode("utf-8"), preset=9))
    print(f"{len(rows) - len(test):,} training rows, {len(test):,} test rows, "
          f"{WRITTEN.stat().st_size:,} bytes")  # fmt: skip


if __name__ == "__main__":
    main()
