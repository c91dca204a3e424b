"""Every reader gives a sound answer or a PalmetteError, whatever bytes it gets."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from scipy import sparse

from palmette.datasets._arff import read_arff
from palmette.datasets._clus import read_clus
from palmette.datasets._home import DatasetEntry, list_datasets
from palmette.datasets._mat import read_mat
from palmette.datasets._mulan import read_mulan
from palmette.datasets._named_sets import load_newsgroups, load_omniglot
from palmette.datasets._rda import read_rda
from palmette.datasets._table import read_delimited, read_libsvm, read_table
from palmette.exceptions import PalmetteError
from palmette.labels._labels import NodeLabels

# ---------------------------------------------------------------------- one sound file a format

pytestmark = pytest.mark.thorough

DENSE_ARFF = b"""% a comment
@relation 'some thing'
@ATTRIBUTE a numeric
@attribute 'b c' {x, "y z", '?'}
@attribute s string
@attribute d real [0, 1]
@data
1.5, x, 'it\\'s', 0
?, "y z", "a, b", 1e-3
% between
-2,x,?,.5
"""
SPARSE_ARFF = b"""@relation r
@attribute a numeric
@attribute b {0,1}
@attribute c {x,y}
@data
{0 1.5, 1 1}
{}
{2 'y'}
{0 ?}
"""
CLUS_TREE = b"""@relation r
@attribute a numeric
@attribute b {w,n}
@attribute class hierarchical 1,1/2,1/2/7,3
@data
1,w,1@1/2@1/2/7
?,n,3
2,?,1/2
"""
CLUS_DAG = b"""@relation r
@attribute id string
@attribute a numeric
@attribute class hierarchical root/GO1,GO1/GO2,root/GO3,GO3/GO2
@data
g1,1,GO2@GO3
g2,2,GO1
"""
MULAN_ARFF = b"""@relation r
@attribute a numeric
@attribute y1 {0,1}
@attribute y2 {0,1}
@data
1,0,1
2,1,1
"""
MULAN_XML = b"""<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
<label name="y2"><label name="y1"></label></label>
</labels>
"""
LIBSVM = b"1 1:0.5 3:2 # note\n-1 2:1\n\n7 qid:3 1:1e3\n"
LIBSVM_MULTI = b"1,5 1:0.5 3:2\n2:1\n7 1:1\n"
CSV = b"a,b,kind\n1,x,Food > Fruit\n2,,Garden\n3,z,Food\n"
SPACED = b"n1 0.5 1 A\nn2 ? 2 B\n"


def mat_file(compressed: bool = False, **variables: Any) -> bytes:
    stream = io.BytesIO()
    scipy.io.savemat(stream, variables, do_compression=compressed)
    return stream.getvalue()


TREE = np.array([[3, 1], [3, 1], [0, 0]], dtype=np.uint8)
MAT_TREE = mat_file(data_array=[[0.5, 1], [0.7, 2], [0, 3]], tree=TREE)
MAT_PACKED = mat_file(True, data_array=np.arange(60.0).reshape(20, 3) % 3 + 1, tree=TREE)
MAT_LABELS = mat_file(data=sparse.csc_array(np.eye(4)), target=np.ones((2, 4), dtype=np.uint8))


@cache
def rda_file() -> bytes:
    import pandas as pd
    import rdata

    frame = pd.DataFrame({"a": [0.0, 1, 0], "b": [1.0, 0, 0], "y": [1.0, 0, 1], "z": [0.0, 0, 1]})
    labels = pd.DataFrame({"index": np.array([3, 4], dtype=np.int32)})
    content = {
        "dataset": frame,
        "labels": labels,
        "attributesIndexes": np.array([1, 2], dtype=np.int32),
    }
    converted = rdata.conversion.convert_python_to_r_data({"small": content}, file_type="rda")
    stream = io.BytesIO()
    rdata.unparser.unparse_fileobj(stream, converted, file_type="rda")
    return stream.getvalue()


def parquet_file() -> bytes:
    import pandas as pd

    stream = io.BytesIO()
    pd.DataFrame({"a": [1, 2], "kind": ["x", "y"]}).to_parquet(stream)
    return stream.getvalue()


def bitmap(width: int = 9, height: int = 4) -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", 0)

    rows = b"".join(b"\0" + bytes(range(row, row + (width + 7) // 8)) for row in range(height))
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0))
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


def zip_file(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def tar_file() -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name in ("20news-bydate-train/comp.x/1", "20news-bydate-test/rec.y/2"):
            member = tarfile.TarInfo(name)
            member.size = 5
            archive.addfile(member, io.BytesIO(b"hello"))
    return stream.getvalue()


# ---------------------------------------------------------------------- readers as path -> answer


def with_labels(path: Path) -> Any:
    names = path.with_suffix(".names.xml")
    names.write_bytes(MULAN_XML)
    return read_mulan(path, names)


def with_data(path: Path) -> Any:
    data = path.with_suffix(".data.arff")
    data.write_bytes(MULAN_ARFF)
    return read_mulan(data, path)


def newsgroups(path: Path) -> Any:
    return load_newsgroups(DatasetEntry("n", "g", {}, path.parent), {"x.tar": path})


def omniglot(path: Path) -> Any:
    files = {"small1.zip": path, "small2.zip": path}
    return load_omniglot(DatasetEntry("o", "g", {}, path.parent), files)


def manifest(path: Path) -> Any:
    return list_datasets(data_home=path.parent)


MANIFEST = b'[{"name": "a", "group": "g", "files": [{"path": "x", "sha256": "0"}]}]'

# name: (reader, file name, a sound file)
FORMATS: dict[str, tuple[Callable[[Path], Any], str, Callable[[], bytes]]] = {
    "dense arff": (read_arff, "f.arff", lambda: DENSE_ARFF),
    "sparse arff": (read_arff, "f.arff", lambda: SPARSE_ARFF),
    "arff in xz": (read_arff, "f.arff.xz", lambda: lzma.compress(SPARSE_ARFF)),
    "arff in gz": (read_arff, "f.arff.gz", lambda: gzip.compress(SPARSE_ARFF)),
    "arff in bz2": (read_arff, "f.arff.bz2", lambda: bz2.compress(SPARSE_ARFF)),
    "arff in zip": (read_arff, "f.arff.zip", lambda: zip_file({"f.arff": SPARSE_ARFF})),
    "clus tree": (read_clus, "f.arff", lambda: CLUS_TREE),
    "clus dag": (read_clus, "f.arff", lambda: CLUS_DAG),
    "mulan arff": (with_labels, "f.arff", lambda: MULAN_ARFF),
    "mulan xml": (with_data, "f.xml", lambda: MULAN_XML),
    "libsvm": (read_libsvm, "f.libsvm", lambda: LIBSVM),
    "libsvm, several labels": (read_libsvm, "f.libsvm", lambda: LIBSVM_MULTI),
    "mat with tree": (read_mat, "f.mat", lambda: MAT_TREE),
    "mat packed": (read_mat, "f.mat", lambda: MAT_PACKED),
    "mat with labels": (read_mat, "f.mat", lambda: MAT_LABELS),
    "rda": (read_rda, "f.rda", rda_file),
    "rda in gz": (read_rda, "f.rda", lambda: gzip.compress(rda_file())),
    "csv": (lambda p: read_table(p, "kind", path_separator=">"), "f.csv", lambda: CSV),
    "csv, column path": (lambda p: read_table(p, ["kind", "b"]), "f.csv", lambda: CSV),
    "parquet": (lambda p: read_table(p, "kind"), "f.parquet", parquet_file),
    "delimited": (
        lambda p: read_delimited(p, separator=None, target=-1, ignored=(0,)),
        "f.data",
        lambda: SPACED,
    ),
    "tar": (newsgroups, "x.tar", tar_file),
    "zip of png": (omniglot, "x.zip", lambda: zip_file({"s/Greek/c1/1.png": bitmap()})),
    "manifest": (manifest, "manifest.json", lambda: MANIFEST),
}

NASTY = [
    b"\0", b"'", b'"', b"\\", b"{", b"}", b",", b"?", b"%", b"@", b"@data\n", b"\n", b"\r", b" ",
    b"@attribute x {a}\n", b"@attribute y hierarchical a/b,b/a\n", b"1e999", b"nan", b"-inf",
    b"{1000000000000 1}", b"1000000000000000000:1 ", b"-1:1", b"1_0", b"\xff\xfe", b"/", b"//",
    "\N{MATHEMATICAL BOLD DIGIT ONE}".encode(), b"<!DOCTYPE x [<!ENTITY a 'b'>]>", b"&a;", b"\t",
    b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\x80\0\0\0", b"9" * 400,
]  # fmt: skip


@cache
def sound(name: str) -> bytes:
    """Return the sound file of a format."""
    return FORMATS[name][2]()


def damaged(content: bytes, changes: bytes) -> bytes:
    """Cut, overwrite, repeat and insert: four bytes describe a change."""
    numbers = iter(changes)
    for kind, high, low, number in zip(numbers, numbers, numbers, numbers, strict=True):
        place = (256 * high + low) % (len(content) + 1)
        match ["cut", "flip", "drop", "insert", "repeat"][kind % 5]:
            case "cut":
                content = content[:place]
            case "flip":
                content = content[:place] + bytes([number]) + content[place + 1 :]
            case "drop":
                content = content[:place] + content[place + 1 + number % 40 :]
            case "insert":
                content = content[:place] + NASTY[number % len(NASTY)] + content[place:]
            case "repeat":
                again = content[place : place + 1 + number % 80]
                content = content[:place] + again + content[place:]
    return content


def attempt(reader: Callable[[Path], Any], path: Path) -> Any:
    """Return what is read, None where that is refused as it should be; let other errors through."""
    try:
        return reader(path)
    except PalmetteError:
        return None


def check_answer(answer: Any) -> None:
    """A sound answer has as many labels as rows, and the hierarchy knows all of them."""
    if not hasattr(answer, "hierarchy") or "y" not in answer:
        return
    rows = answer.X.shape[0]
    assert (answer.y.shape[0] if hasattr(answer.y, "shape") else len(answer.y)) == rows
    is_single_column = getattr(answer.y, "ndim", 1) == 2 and answer.y.shape[1] == 1
    if rows and not is_single_column:  # which would be taken for names
        assert NodeLabels.encode(answer.y, answer.hierarchy).n_samples == rows


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


@pytest.mark.parametrize("name", FORMATS)
def test_sound_files_are_read(name: str, folder: Path) -> None:
    reader, file_name, _ = FORMATS[name]
    path = folder / file_name
    path.write_bytes(sound(name))
    check_answer(reader(path))


@pytest.mark.filterwarnings("ignore")  # numpy, scipy and rdata warn about what they find odd
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_damaged_files_give_our_errors_only(folder: Path, data: st.DataObject) -> None:
    junk = data.draw(st.binary(max_size=200)) if data.draw(st.integers(0, 19)) == 0 else None
    size = 4 * data.draw(st.integers(1, 4))
    changes = data.draw(st.binary(min_size=size, max_size=size))
    for i, (name, (reader, file_name, _)) in enumerate(FORMATS.items()):
        note(name)
        path = folder / file_name
        # each format has changes of its own
        own = bytes((byte + 37 * i * place) % 256 for place, byte in enumerate(changes, 1))
        path.write_bytes(damaged(sound(name), own) if junk is None else junk)
        answer = attempt(reader, path)
        if answer is not None:
            check_answer(answer)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FORMATS)
def test_every_truncation_gives_our_errors_only(name: str, folder: Path) -> None:
    reader, file_name, _ = FORMATS[name]
    path = folder / file_name
    content = sound(name)
    for end in range(0, len(content), max(1, len(content) // 60)):
        path.write_bytes(content[:end])
        answer = attempt(reader, path)
        if answer is not None:
            check_answer(answer)


def test_drawings_are_there_and_of_one_size(tmp_path: Path) -> None:
    sizes = {"s/Greek/c1/1.png": bitmap(), "s/Greek/c1/2.png": bitmap(width=12)}
    for members in ({"s/Greek/c1/1.txt": b""}, sizes):
        (tmp_path / "x.zip").write_bytes(zip_file(members))
        with pytest.raises(PalmetteError, match="no drawings, or they differ in size"):
            omniglot(tmp_path / "x.zip")
