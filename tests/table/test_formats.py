"""The same table read from every format is the same, and is written to every format."""

from __future__ import annotations

import datetime
import gzip
import json
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.table.goods import make_goods

from palmette.exceptions import PalmetteError, ReadError, TableWarning
from palmette.table import _binary_files as binary_files
from palmette.table import _delimited as delimited
from palmette.table._problem import read_problem
from palmette.table._reading import as_frame, read_chunks, read_whole
from palmette.table._schema import Schema
from palmette.table._sources import BadRows, TableSource
from palmette.table._target import TargetForm
from palmette.table._writing import OURS, open_writer

ROWS = {
    "title": ["None", "NA", "", "null", None, "a\nb", " x ", "été", "-", "007"],
    "price": [1.0, None, 2.5, -3.0, 1e9, 7.0, 8.0, 12.25, 0.0, 1.0],
    "colour": ["NA", "red", "red", None, "NA", "", "blue", "red", "NA", "blue"],
    "kind": ["None", "NA", "N/A", "null", "nan", "", None, "none", "#", "1.0"],
}


def read(path, **options):
    return read_whole(TableSource.of(path, **options))


def write_xlsx(frame, path):
    frame.to_excel(path, index=False)


def write_arrow(frame, path):
    pq.write_table(pa.table(frame.to_dict("list")), path)


WAYS = {
    "a.csv": lambda f, p: f.to_csv(p, index=False),
    "a.tsv": lambda f, p: f.to_csv(p, index=False, sep="\t"),
    "a.xlsx": write_xlsx,
    "a.parquet": write_arrow,
    "a.jsonl": lambda f, p: p.write_text("".join(json.dumps(r) + "\n" for r in records(f))),
    "a.json": lambda f, p: p.write_text(json.dumps(records(f))),
}


def records(frame):
    return frame.to_dict("records")


def plain(frame):
    """Return what a model learns from a table: kinds, cast columns, and paths of the target."""
    schema = Schema.infer(frame, leave_out=["kind"], given={"title": "category"})
    cast = {name: cells.tolist() for name, cells in schema.cast(frame).items()}
    paths = TargetForm.find(frame, "kind", separator="").read(frame)
    return (
        schema.kinds,
        {n: [None if c != c else c for c in cells] for n, cells in cast.items()},
        paths,
    )


@pytest.mark.parametrize("name", WAYS)
def test_a_table_is_the_same_in_every_format(tmp_path, name):
    frame = pd.DataFrame(ROWS, dtype=object)
    WAYS[name](frame, tmp_path / name)
    kinds, cast, paths = plain(as_frame(frame))
    assert kinds == {"title": "category", "price": "number", "colour": "category"}
    assert cast["title"] == [None if cell == "" else cell for cell in ROWS["title"]]
    words = [cell and (cell,) for cell in ROWS["kind"]]  # only empty cells are empty
    assert paths == [word or None for word in words]
    assert plain(read(tmp_path / name)) == (kinds, cast, paths)


@pytest.mark.parametrize("library", ["pandas", "strings", "arrow", "polars", "dict"])
def test_a_table_is_the_same_in_every_library(library):
    pl = pytest.importorskip("polars")
    frame = pd.DataFrame(ROWS, dtype=object)
    made = {
        "pandas": lambda: frame.convert_dtypes(),
        "strings": lambda: frame.assign(
            **{n: frame[n].astype("string[pyarrow]") for n in ("title", "kind")},
            colour=frame["colour"].astype("category"),
        ),
        "arrow": lambda: pa.table(ROWS),
        "polars": lambda: pl.DataFrame(ROWS, strict=False),
        "dict": lambda: ROWS,
    }
    assert plain(as_frame(made[library]())) == plain(as_frame(frame))


def test_cells_of_other_types_become_plain():
    cells = [b"caf\xc3\xa9", b"\xff", np.array(["a", ""]), np.str_("x"), 10**400, np.int8(3)]
    cells += [pd.NaT, np.float32("nan"), [np.array([1])], np.complex64(1j)]
    found = as_frame({"a": pd.Series(cells, dtype=object)})["a"].tolist()
    assert found == ["café", "\\xff", ["a", ""], "x", str(10**400), 3, None, None, [[1]], "1j"]


def test_complex_numbers_are_no_numbers_with_an_order():
    frame = as_frame({"a": [1j, 2.0, complex("nan")]})
    assert frame["a"].tolist() == ["1j", "(2+0j)", None]
    assert Schema.infer(frame).kinds == {"a": "category"}


@pytest.mark.parametrize(
    "table",
    [
        {"a": [1, 2], "b": [1]},
        {"a": 1},
        pa.table({"a": pa.UnionArray.from_dense(
            pa.array([0, 1], pa.int8()), pa.array([0, 0], pa.int32()),
            [pa.array([1]), pa.array(["x"])],
        )}),
    ],
)  # fmt: skip
def test_tables_that_pandas_cannot_take(table):
    with pytest.raises(PalmetteError, match=r"^table is a \w+\.\w+ that pandas cannot take \("):
        as_frame(table)


def test_a_cell_of_a_text_may_hold_a_zero_character(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("title,kind\n" + "word,a\nword,a\0\n" * 5)
    assert read(path)["kind"].tolist() == ["a", "a\0"] * 5
    path.write_bytes(b"title,kind\n" + b"word,a\nw\xe9rd,a\0\n" * 5)
    with pytest.raises(ReadError, match="this is a binary file"):
        read(path)


def test_integers_beside_missing_values_keep_their_digits(tmp_path):
    large = 2**60 + 1
    pq.write_table(pa.table({"a": [large, None], "b": [7, None]}), tmp_path / "a.parquet")
    frame = read(tmp_path / "a.parquet")
    assert frame["a"].tolist() == [large, None]
    assert (frame["b"].dtype, frame["b"][0]) == (np.float64, 7.0)


# ---------------------------------------------------------------------- what is no text


def broken_parquet(path):
    texts = pa.array(["ab", "\x7fb", "cd", None])
    data = texts.buffers()[2].to_pybytes().replace(b"\x7f", b"\xe9")
    made = pa.StringArray.from_buffers(
        4, texts.buffers()[1], pa.py_buffer(data), texts.buffers()[0]
    )
    pq.write_table(pa.table({"a": made, "b": [1, 2, 3, 4]}), path)
    return path


def test_parquet_with_other_bytes_than_text(tmp_path):
    path = broken_parquet(tmp_path / "a.parquet")
    words = r"the column 'a' of row 2 is not text in utf-8 \(byte 0xe9\)\. Pass its encoding"
    with pytest.raises(ReadError, match=words):
        read(path)
    assert read(path, encoding="latin-1")["a"].tolist() == ["ab", "éb", "cd", None]
    bad = BadRows()
    assert read(path, bad=bad)["b"].tolist() == [1, 3, 4]
    assert [(line, text) for line, _, text in bad.rows] == [(None, "b'\\xe9b'")]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": "x\\ud800"}', r":2: \\ud800 is half of a surrogate pair"),
        ('{"\\udFFF": 1}', r":2: \\udfff is half of a surrogate pair"),
        ('{"a": ["\\ud800"]}', r":2: \\ud800 is half"),
        (
            '{"a": %s}' % ("1" * 5_000),
            ":2: this is not a JSON object .a number has too many digits",
        ),
    ],
)
def test_lines_of_json_that_hold_no_text(tmp_path, text, words):
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": "\\ud83d\\ude00"}\n' + text)
    with pytest.raises(ReadError, match=f"{words}.*--skip-bad-rows"):
        read(path)
    bad = BadRows()
    assert read(path, bad=bad)["a"].tolist() == ["😀"]
    assert len(bad) == 1
    path.write_text(f"[{text}]")
    with pytest.raises(ReadError, match=words.split(": ", 1)[1][:18].replace("object", "list")):
        read(path)


def test_halves_of_pairs_in_a_frame_are_replaced_and_told():
    with pytest.warns(TableWarning, match="texts of the column 'a' have halves of surrogate pairs"):
        frame = as_frame({"a": ["x\ud800", "y"], "b": ["é", 1]})
    assert frame["a"].tolist() == ["x\N{REPLACEMENT CHARACTER}", "y"]


# ---------------------------------------------------------------------- what fills the memory


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.csv.gz", b"a,b\n" + b"x" * 10_000, "a line has more than 1,000 bytes"),
        ("a.csv.gz", b"," * 100, "the first line has more than 50 columns"),
        ("a.csv.gz", b'a,b\n"' + b"x,\n" * 1_000, "field larger than field limit"),
        ("a.jsonl.gz", b'{"a": "' + b"x" * 10_000, "a line has more than 1,000 bytes"),
        ("a.json.gz", b"[" + b'{"a": 1},' * 1_000, "the list has more than 1,000 characters"),
    ],
)
def test_small_files_with_large_contents(tmp_path, monkeypatch, name, content, words):
    monkeypatch.setattr(delimited, "_MAX_LINE", 1_000)
    monkeypatch.setattr(delimited, "_MAX_COLUMNS", 50)
    monkeypatch.setattr(delimited, "_MAX_CELL_CHARACTERS", 500)
    monkeypatch.setattr(delimited, "free_memory", lambda: 1_000)
    monkeypatch.setattr("palmette.table._delimited.io.DEFAULT_BUFFER_SIZE", 100)
    (tmp_path / name).write_bytes(gzip.compress(content))
    with pytest.raises(ReadError, match=words):
        read(tmp_path / name)


@pytest.mark.parametrize("name", ["a.csv", "quoted.csv", "a.jsonl"])
def test_chunks_of_long_rows_have_fewer(tmp_path, monkeypatch, name):
    monkeypatch.setattr(delimited, "_CHUNK_BYTES", 20_000)
    texts = [f"{i} " + "x" * 5_000 + "\n" * ("q" in name) for i in range(40)]
    WAYS[f"a{(tmp_path / name).suffix}"](pd.DataFrame({"a": texts}), tmp_path / name)
    parts = [part["a"].tolist() for part in read_chunks(TableSource.of(tmp_path / name))]
    assert 2 < len(parts) < 20
    assert [text for part in parts for text in part] == texts


def workbook(path, row):
    """Write a workbook whose sheet ends with some rows in XML."""
    pd.DataFrame({"a": ["x"] * 3}).to_excel(path, index=False)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part.replace(b"</sheetData>", row + b"</sheetData>"))
    return path


CELL = b'<c r="XFD1048576" t="inlineStr"><is><t>x</t></is></c>'


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (b'<row r="1048576">' + CELL + b"</row>", "to row 1,048,576 and column 16,384"),
        (b"<row><c/></row>" * 1_000, r"to row 1,00\d and column 1: expected at most 1,000 rows"),
    ],
)
def test_sheets_that_reach_too_far(tmp_path, monkeypatch, row, words):
    monkeypatch.setattr(binary_files, "_MAX_SHEET_ROWS", 2**20 if b"r=" in row else 1_000)
    with pytest.raises(ReadError, match=words):
        read(workbook(tmp_path / "a.xlsx", row))


def test_texts_of_a_workbook_that_need_more_memory_than_is_free(tmp_path, monkeypatch):
    path = workbook(tmp_path / "a.xlsx", b"")
    monkeypatch.setattr(binary_files, "free_memory", lambda: 1_000)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("xl/sharedStrings.xml", b"x" * 1_000)
    with pytest.raises(ReadError, match="the texts of the workbook have 1,000 bytes"):
        read(path)


# ---------------------------------------------------------------------- writing

DAY = datetime.date(2024, 1, 31)
STRANGE = {
    "text": pd.Series(["a", None, "x\ud800"], dtype=object),
    "nullable": pd.array([1, None, 3], dtype="Int64"),
    "flag": pd.array([True, None, False], dtype="boolean"),
    "float": [1.5, np.nan, 1234567890.25],
    "huge": pd.Series([10**400, None, 1], dtype=object),
    "day": [DAY, None, DAY],
    "time": pd.to_datetime(["2024-01-31 12:00", None, "2024-02-01 00:00"]),
    "wait": pd.to_timedelta(["1s", None, "2s"]),
    "list": [["a", None], None, [np.nan, np.int64(2)]],
    "mixed": ["a", pd.NA, 1.5],
    "kind": pd.Categorical(["a", None, "b"]),
    "score": [0.123456789, np.nan, 1.0],
}


def written(tmp_path, suffix):
    frame = pd.DataFrame(STRANGE)
    frame.attrs[OURS] = ["score"]
    path = tmp_path / f"a{suffix}"
    with open_writer(path) as writer:
        writer.write(frame)
        writer.write(frame)
    return path


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_missing_values_are_empty_cells(tmp_path, suffix):
    path = written(tmp_path, suffix)
    found = pd.read_csv(
        path, sep="\t" if suffix == ".tsv" else ",", dtype=str, keep_default_na=False
    )
    assert found.iloc[[1, 4]].to_numpy().tolist() == [[""] * len(STRANGE)] * 2
    first, third = found.iloc[0].to_dict(), found.iloc[2].to_dict()
    assert first == {
        "text": "a", "nullable": "1", "flag": "True", "float": "1.5", "huge": str(10**400),
        "day": "2024-01-31", "time": "2024-01-31 12:00:00", "wait": "0 days 00:00:01",
        "list": '["a", null]', "mixed": "a", "kind": "a", "score": "0.123457",
    }  # fmt: skip
    assert (third["text"], third["float"], third["list"]) == (
        "x\\ud800",
        "1234567890.25",
        "[null, 2]",
    )
    assert third["score"] == "1"


@pytest.mark.parametrize("suffix", [".jsonl", ".ndjson"])
def test_missing_values_are_null(tmp_path, suffix):
    lines = written(tmp_path, suffix).read_text(encoding="utf-8").splitlines()
    first, gone, third = (json.loads(line, parse_constant=pytest.fail) for line in lines[:3])
    assert set(gone.values()) == {None}
    assert first["huge"] == 10**400
    assert (first["nullable"], first["flag"], first["time"]) == (1, True, "2024-01-31 12:00:00")
    assert (third["list"], third["mixed"], third["text"]) == ([None, 2], 1.5, "x\ud800")


def test_parquet_has_texts_where_a_column_has_several_types(tmp_path):
    found = pq.read_table(written(tmp_path, ".parquet"))
    assert [column.null_count for column in found.columns] == [2] * len(STRANGE)
    rows = found.to_pylist()
    assert (rows[0]["huge"], rows[0]["mixed"], rows[2]["mixed"]) == (str(10**400), "a", "1.5")
    assert (rows[0]["nullable"], rows[0]["day"], rows[2]["text"]) == (1, DAY, "x\\ud800")


@pytest.mark.parametrize(
    "cell", [{}, {"b": {}}, pa.array([(1, 2, 3)], pa.month_day_nano_interval())[0].as_py()]
)
def test_parquet_has_texts_of_what_it_has_no_type_for(tmp_path, cell):
    path = tmp_path / "a.parquet"
    with open_writer(path) as writer:
        writer.write(pd.DataFrame({"a": [None, cell]}))
    first, second = pq.read_table(path)["a"].to_pylist()
    assert first is None
    assert isinstance(second, str)


def test_a_terminal_gets_the_same(capsys):
    with open_writer(None) as writer:
        writer.write(pd.DataFrame(STRANGE))
    assert capsys.readouterr().out.splitlines()[2] == "," * (len(STRANGE) - 1)


def test_an_empty_first_sheet_names_the_others(tmp_path):
    path = tmp_path / "a.xlsx"
    with pd.ExcelWriter(path) as writer:
        pd.DataFrame().to_excel(writer, sheet_name="Notes", index=False)
        pd.DataFrame({"a": [1, 2]}).to_excel(writer, sheet_name="Goods 2024", index=False)
    with pytest.raises(ReadError, match=r"first sheet is empty.*pass --sheet 'Goods 2024'"):
        read(path)
    assert read(path, sheet="Goods 2024")["a"].tolist() == [1, 2]
    with pytest.raises(ReadError, match="the sheet is empty"):
        read(path, sheet="Notes")


def test_a_target_that_another_sheet_has_is_looked_for_there(tmp_path):
    path = tmp_path / "a.xlsx"
    with pd.ExcelWriter(path) as writer:
        pd.DataFrame({"notes": ["see below"]}).to_excel(writer, sheet_name="Notes", index=False)
        make_goods().to_excel(writer, sheet_name="A & B", index=False)
    with pytest.raises(PalmetteError, match=r"no target column 'kind'.*pass --sheet 'A & B'"):
        read_problem(path, "kind")
    assert read_problem(TableSource.of(path, sheet="A & B"), "kind").n_rows == 80
    make_goods().to_excel(tmp_path / "b.xlsx", startrow=3, index=False)
    with pytest.raises(PalmetteError, match="hardly any names of columns: remove what stands"):
        read_problem(tmp_path / "b.xlsx", "kind")


def test_objects_of_json_with_other_keys_each_are_no_table(tmp_path):
    rows = ",".join(f'{{"k{i}": 1, "kind": "{"ab"[i % 2]}"}}' for i in range(17_000))
    (tmp_path / "t.json").write_text(f"[{rows}]")
    with pytest.raises(PalmetteError, match="17,000 objects have 17,001 different keys"):
        as_frame(tmp_path / "t.json")
