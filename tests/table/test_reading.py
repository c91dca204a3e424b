"""Tables of every format read alike; what is wrong with them is said with its place."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import random
import zipfile

import pandas as pd
import pytest

from palmette.exceptions import PalmetteError, ReadError
from palmette.table._reading import as_frame, read_chunks, read_parts, read_whole
from palmette.table._sources import BadRows, TableSource

CSV = 'name,price\n"apple, red",2.5\ncar,\n"two\nlines",7\n'


def read(path, **options):
    return read_whole(TableSource.of(path, **options))


def fails(path, **options):
    with pytest.raises(ReadError) as caught:
        read(path, **options)
    assert str(path) in str(caught.value)
    return str(caught.value)


# ---------------------------------------------------------------------- what is right


def test_cells_of_csv_stay_text_and_empty_ones_are_missing(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("code,name\n007,NA\n,b\n")
    frame = read(path)
    assert frame["code"].tolist() == ["007", None]
    assert frame["name"].tolist() == ["NA", "b"]


@pytest.mark.parametrize(
    ("suffix", "pack"),
    [
        (".csv", lambda text: text.encode()),
        (".csv.gz", lambda text: gzip.compress(text.encode())),
        (".csv.bz2", lambda text: bz2.compress(text.encode())),
        (".csv.xz", lambda text: lzma.compress(text.encode())),
        (".csv", lambda text: text.encode("utf-8-sig")),
        (".csv", lambda text: text.encode("utf-16")),
        (".csv", lambda text: text.replace(",", ";").replace("apple;", "apple,").encode()),
        (".txt", lambda text: text.replace("\n", "\r\n", 1).encode()),
    ],
)
def test_packings_encodings_and_delimiters(tmp_path, suffix, pack):
    path = tmp_path / f"goods{suffix}"
    path.write_bytes(pack(CSV))
    assert read(path)["name"].tolist() == ["apple, red", "car", "two\nlines"]


def test_zip_and_zst(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.csv.zip", "w") as archive:
        archive.writestr("a.csv", CSV)
    assert len(read(tmp_path / "a.csv.zip")) == 3
    pa = pytest.importorskip("pyarrow")
    with pa.CompressedOutputStream(str(tmp_path / "a.csv.zst"), "zstd") as stream:
        stream.write(CSV.encode())
    assert len(read(tmp_path / "a.csv.zst")) == 3


def test_the_other_formats_hold_the_same(tmp_path):
    frame = pd.DataFrame({"name": ["apple", "car"], "price": [2.5, None]})
    frame.to_parquet(tmp_path / "a.parquet")
    frame.to_excel(tmp_path / "a.xlsx", index=False)
    frame.to_csv(tmp_path / "a.tsv", sep="\t", index=False)
    lines = [json.dumps(row) for row in ({"name": "apple", "price": 2.5}, {"name": "car"})]
    (tmp_path / "a.jsonl").write_text("\n".join(lines) + "\n\n")
    (tmp_path / "a.json").write_text(f"[{', '.join(lines)}]")
    for name in ("a.parquet", "a.xlsx", "a.tsv", "a.jsonl", "a.json"):
        found = read(tmp_path / name)
        assert list(found.columns) == ["name", "price"], name
        assert found["name"].tolist() == ["apple", "car"]
        assert [float(found["price"][0]), pd.isna(found["price"][1])] == [2.5, True]


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet", "a.xlsx"])
def test_chunks_join_to_the_whole(tmp_path, name):
    frame = pd.DataFrame({"a": [str(i) for i in range(10)], "b": ["x"] * 10})
    path = tmp_path / name
    if name.endswith(".jsonl"):
        frame.to_json(path, orient="records", lines=True)
    else:
        write = {"csv": "to_csv", "parquet": "to_parquet", "xlsx": "to_excel"}
        getattr(frame, write[name.split(".")[1]])(path, index=False)
    parts = list(read_chunks(TableSource.of(path), rows=3))
    assert [len(part) for part in parts] == [3, 3, 3, 1]
    assert pd.concat(parts)["a"].astype(str).tolist() == frame["a"].tolist()


def test_standard_input(monkeypatch):
    class Input:
        buffer = io.BytesIO(CSV.encode())

    monkeypatch.setattr("sys.stdin", Input)
    assert len(read("-")) == 3


def test_frames_of_other_libraries():
    pl = pytest.importorskip("polars")
    assert as_frame(pl.DataFrame({"a": [1, 2]})).shape == (2, 1)
    assert as_frame(pd.DataFrame({1: ["x"]})).columns.tolist() == ["1"]
    with pytest.raises(PalmetteError, match="table is a int"):
        as_frame(3)


# ---------------------------------------------------------------------- what is wrong


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "the file is empty"),
        ("\n\n", "the file is empty"),
        ("a,b\n", "the table has no rows"),
        ("a,a\n1,2\n", "two columns have the name 'a'"),
        ("a,b\n1,2\n1,2,3\n", "3: the row has 3 cells, but the first line has 2 columns"),
        ("Export\nunits\na,b\n1,2\n", "has 1 column. Remove lines before the names of the"),
        ("a,b\n1,2\n1\n", "3: the row has 1 cell,"),
        ('a,b\n1,"2\n', "the row cannot be read"),
        ("a,b\n1,\0\n", "this is a binary file"),
    ],
)
def test_broken_csv(tmp_path, content, words):
    path = tmp_path / "a.csv"
    path.write_text(content)
    assert words in fails(path)


@pytest.mark.parametrize("header", [True, False])
def test_the_line_in_which_spreadsheets_name_the_delimiter_is_no_row(tmp_path, header):
    path = tmp_path / "a.csv"
    path.write_text("\nsep=;\na,b;c\n1,5;2\n3,5;4\n")
    found = read(path, header=header)
    assert found.shape == (3 - header, 2)
    if header:
        assert found["c"].astype(int).tolist() == [2, 4]


def test_a_wrong_encoding_is_named_with_what_to_do(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("name\ncafé\n".encode("latin-1"))
    assert "--encoding latin-1" in fails(path)
    assert read(path, encoding="latin-1")["name"].tolist() == ["café"]
    for encoding in ("utf-16-le", "utf-16-be"):  # without a byte order mark
        path.write_bytes("name\ncafé\n".encode(encoding))
        assert f"--encoding {encoding}" in fails(path)
        assert read(path, encoding=encoding)["name"].tolist() == ["café"]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.jsonl", b'{"a": 1}\n{"a": \n', "2: this is not a JSON object"),
        ("a.jsonl", b'{"a": 1}\n[1]\n', "2: expected an object"),
        ("a.json", b'[{"a": 1}, ', "this is not a JSON list"),
        ("a.parquet", b"PAR1 no PAR1", "the table cannot be read"),
        ("a.xlsx", b"no zip", "the table cannot be read"),
        ("a.csv.gz", b"no gzip", "the table cannot be read"),
        ("a.csv.gz", gzip.compress(b"a,b\n1,2\n" * 99, mtime=0)[:-20], "the table cannot be read"),
    ],
)
def test_broken_files_of_other_formats(tmp_path, name, content, words):
    path = tmp_path / name
    path.write_bytes(content)
    assert words in fails(path)


def test_a_late_key_of_json_lines_has_its_line(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1}\n{"a": 2}\n{"a": 3, "b": 4}\n')
    assert read(path)["b"].tolist() == [None, None, 4]
    with pytest.raises(ReadError, match="3: the key 'b' does not occur in the first rows"):
        list(read_chunks(TableSource.of(path), rows=2))


def test_names_that_cannot_be_read(tmp_path):
    assert "the file does not exist" in fails(tmp_path / "none.csv")
    with pytest.raises(ReadError, match=r"suffix '.doc' is not that of a table"):
        TableSource.of("a.doc")
    with pytest.raises(PalmetteError, match="format='xml'"):
        TableSource.of("a.csv", "xml")
    with pytest.raises(PalmetteError, match="encoding='klingon'"):
        TableSource.of("a.csv", encoding="klingon")
    with pytest.raises(PalmetteError, match="delimiter=';;'"):
        TableSource.of("a.csv", delimiter=";;")
    (tmp_path / "d.csv").mkdir()
    assert "the folder contains no" in fails(tmp_path / "d.csv")


# ---------------------------------------------------------------------- folders


def folder_of(tmp_path, **texts):
    folder = tmp_path / "parts"
    folder.mkdir()
    for name, text in texts.items():
        (folder / f"{name}.csv").write_text(text)
    return folder


def test_the_files_of_a_folder_are_parts_of_one_table(tmp_path):
    folder = folder_of(tmp_path, b="y,x\n3,c\n", a="x,y\na,1\nb,2\n", _log="z\n9\n")
    (folder / "notes.md").write_text("not a table")
    frame = read_whole(TableSource.of(folder))
    assert frame.to_dict("list") == {"x": ["a", "b", "c"], "y": ["1", "2", "3"]}
    assert [len(chunk) for chunk in read_chunks(TableSource.of(folder), rows=1)] == [1, 1, 1]
    pd.DataFrame({"x": ["p"], "y": ["4"]}).to_parquet(folder / "c.parquet")
    assert len(read_whole(TableSource.of(folder))) == 3  # the format of the first file
    assert len(read_whole(TableSource.of(folder, "parquet"))) == 1


def test_several_files_are_parts_of_one_table(tmp_path):
    folder = folder_of(tmp_path, a="x\n1\n", b="x\n2\n")
    (tmp_path / "c.csv").write_text("x\n3\n")
    source = TableSource.of([str(tmp_path / "c.csv"), str(folder)])
    assert read_whole(source)["x"].tolist() == ["3", "1", "2"]
    with pytest.raises(PalmetteError, match="standard input, '-', cannot be combined with files"):
        TableSource.of(["a.csv", "-"])
    with pytest.raises(ReadError, match=r"none\.csv: the file does not exist"):
        read_whole(TableSource.of([str(tmp_path / "c.csv"), str(tmp_path / "none.csv")]))


def test_a_folder_with_other_columns_or_without_tables(tmp_path):
    folder = folder_of(tmp_path, a="x,y\na,1\n", b="x,z\nc,3\n")
    assert "b.csv: the files of the folder have different columns, such as 'y'" in fails(folder)
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "the folder contains no table" in fails(empty)


def test_bad_rows_of_a_folder_name_their_file(tmp_path):
    folder = folder_of(tmp_path, a="x,y\na,1\n", b="x,y\nc,3,4\nd,4\n")
    bad = BadRows()
    assert len(read_whole(TableSource.of(folder, bad=bad))) == 2
    assert [(line, reason[:7]) for line, reason, _ in bad.rows] == [(2, "b.csv: ")]


@pytest.mark.parametrize("seed", range(60))
def test_plain_lines_are_read_as_by_csv(tmp_path, seed, monkeypatch):
    rng = random.Random(seed)
    width, end = rng.choice([1, 2, 3]), rng.choice(["\n", "\r\n", "\r"])
    pieces = ["a", "bc", "", " ", "é", "\u2028", "\x0b", "x y", "\t", "'"]
    rare = ['"q"', '"a,b"', '"two\nlines"', "\n", "\r", ","] if seed % 3 else ["a"]
    rows = [",".join(f"name{i}" for i in range(width))]
    for _ in range(rng.randint(0, 40)):
        cells = [rng.choice(rare if rng.random() < 0.03 else pieces) for _ in range(width)]
        rows.append(rng.choice(["", rows[0]]) if rng.random() < 0.02 else ",".join(cells))
    path = tmp_path / "a.csv"
    path.write_text(end.join(rows) + rng.choice(["", end]), "utf-8", newline="")

    def read():
        source = TableSource.of(path, bad=BadRows())
        try:
            parts = list(read_parts(source, 7))
        except ReadError as error:
            return str(error)
        frames = [(part.frame.to_dict("list"), part.lines.tolist()) for part in parts]
        return frames, source.bad.rows

    found = read()
    monkeypatch.setattr("palmette.table._delimited._RowReader._plain_rows", lambda *_: [])
    assert found == read()
