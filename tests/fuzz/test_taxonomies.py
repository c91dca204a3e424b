"""Spoilt taxonomy files through the commands: an answer or one message, and never half a file."""

from __future__ import annotations

import sqlite3

import numpy as np
import pytest
from tests.fuzz.mutations import MUTATIONS, run_soundly

from palmette import Hierarchy
from palmette.hierarchy.files._registry import READERS, WRITERS

pytestmark = pytest.mark.thorough

PATHS = [("animal", "cat"), ("animal", "dog", "pug"), ("plant", "oak"), ("plant", "äsche")]
WRITTEN_BY_HAND = {
    ".obo": b"format-version: 1.2\n\n[Term]\nid: G:1\nname: top\n\n[Term]\nid: G:2\nname: low\n"
    b"is_a: G:1 ! top\n\n[Term]\nid: G:3\nname: gone\nis_obsolete: true\n",
    ".xml": b'<?xml version="1.0"?>\n<labels xmlns="http://mulan.sourceforge.net/labels">\n'
    b'<label name="a"><label name="b"/></label><label name="c"/>\n</labels>\n',
    ".arff": b"@relation r\n@attribute x numeric\n@attribute class hierarchical 1,1/2,3,3/4\n"
    b"@data\n1,1/2\n2,3/4\n",
    ".lines": b"animal > cat\nanimal > dog > pug\nplant > oak\n",
    ".icd": b"1\nA00-A09\nA00\nA000\nA001\n2\nC00-C14\nC00\n",
    ".codes": b"code,title\nA,one\nA1,two\nA12,three\nB,four\n",
    ".tabular": b"<ICD10CM.tabular><chapter><name>1</name><section id='A00-A09'><diag>"
    b"<name>A00</name></diag></section></chapter></ICD10CM.tabular>",
}


def sound_files(folder) -> dict[str, bytes]:
    """Return one sound file of every format, by suffix."""
    h = Hierarchy.from_paths(PATHS)
    found = dict(WRITTEN_BY_HAND)
    for writer in WRITERS.values():
        if writer.name in READERS:
            h.write(folder / f"h{writer.suffixes[0]}")
            found[writer.suffixes[0]] = (folder / f"h{writer.suffixes[0]}").read_bytes()
    database = folder / "go.sqlite"
    with sqlite3.connect(database) as connection:
        connection.execute("create table go_term (id text, term text)")
    connection.close()
    return found | {".sqlite": database.read_bytes()}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return sound_files(tmp_path_factory.mktemp("sound"))


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.__name__)
def test_hierarchy_takes_any_file(mutation, files, palmette, tmp_path):
    for seed, (suffix, sound) in enumerate(sorted(files.items())):
        spoilt = tmp_path / f"taxonomy{suffix}"
        for draw, words in enumerate([["check"], ["show", "--out", tmp_path / "out.json"]] * 2):
            spoilt.write_bytes(mutation(sound, np.random.default_rng([seed, draw])))
            run_soundly(palmette, tmp_path, "hierarchy", *words, spoilt)


def test_sound_files_are_read(files, palmette, tmp_path):
    for suffix in sorted(set(files) - {".sqlite"}):
        (tmp_path / f"taxonomy{suffix}").write_bytes(files[suffix])
        code = run_soundly(palmette, tmp_path, "hierarchy", tmp_path / f"taxonomy{suffix}")
        assert code == 0, suffix


CRAFTED = {
    "a cycle": (".edges", b"a\tb\nb\tc\nc\ta\n"),
    "a node below itself": (".edges", b"a\ta\n"),
    "a thousand levels": (".lines", b" > ".join(b"n%d" % i for i in range(1000))),
    "json nested deeply": (".json", b"[" * 100_000),
    "json of numbers": (".json", b"[1, 2, {}]"),
    "newick nested deeply": (".nwk", b"(" * 50_000 + b"a" + b")" * 50_000 + b";"),
    "entities that grow": (
        ".xml",
        b'<!DOCTYPE labels [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><labels/>',
    ),
    "nothing": (".txt", b""),
    "NUL bytes": (".txt", b"\x00" * 100),
}


@pytest.mark.parametrize("name", CRAFTED)
def test_odd_taxonomies(name, palmette, tmp_path):
    suffix, content = CRAFTED[name]
    file = tmp_path / f"taxonomy{suffix}"
    file.write_bytes(content)
    run_soundly(palmette, tmp_path, "hierarchy", "check", file)
    run_soundly(palmette, tmp_path, "hierarchy", file, "--out", tmp_path / "out.svg")
