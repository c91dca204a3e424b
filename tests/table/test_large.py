"""Tables that are larger than the memory: a sample, features on disk, and the same model."""

from __future__ import annotations

import errno
import os
import shutil
import weakref

import numpy as np
import pandas as pd
import pytest

from palmette.base import _scratch
from palmette.base._scratch import Scratch
from palmette.exceptions import PalmetteError, ReadError
from palmette.local import fit_in_passes
from palmette.models import make_model
from palmette.table import _large, fit_table
from palmette.table._large import (
    LargeTable,
    draw_numbers,
    expected_rows,
    read_or_sample,
    stratified_rows,
    usable_memory,
)
from palmette.table._sources import TableSource

N_ROWS = 1200
N_LABELLED = 1177
TINY = 1e-9  # GiB: every table is too large


def goods(n_rows=N_ROWS, seed=0):
    """Return a table with a text, a number and a path, some of them missing."""
    rng = np.random.default_rng(seed)
    kinds = np.array(["Food/Fruit", "Food/Bread", "Tools/Saws", "Tools/Nails"])
    words = np.array(["apple pear", "loaf rye", "blade steel", "iron point"])
    codes = rng.integers(4, size=n_rows)
    extra = rng.choice(["red", "new", "large", "small", "cheap"], size=n_rows)
    frame = pd.DataFrame(
        {
            "name": [
                f"{words[c]} {e} {i % 97}"
                for i, (c, e) in enumerate(zip(codes, extra, strict=True))
            ],
            "price": (codes + rng.normal(size=n_rows)).round(2),
            "kind": kinds[codes],
        }
    )
    frame.loc[::50, "kind"] = None
    frame.loc[[7, 400], "kind"] = ["Tools/Rare", "Food/Rare"]
    return frame


@pytest.fixture
def table(tmp_path, monkeypatch):
    """Return a CSV file whose sample has about 200 rows."""
    path = tmp_path / "goods.csv"
    goods().to_csv(path, index=False)
    monkeypatch.setattr(_large, "_LEAST_SAMPLE", 200)
    monkeypatch.setattr(_large, "_CHUNK_ROWS", 300)
    return path


def fitted(path, **options):
    options = {"model": "class-tree", "folds": 0, "memory": TINY, "time": None, **options}
    columns = {"name": "text", "price": "number"}
    return fit_table(path, "kind", columns=columns, **options)


# ---------------------------------------------------------------------- the sample


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet", "csv.gz"])
def test_the_number_of_rows_is_known_before_they_are_read(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr(_large, "_HEAD_BYTES", 5000)
    path = tmp_path / f"goods.{suffix}"
    if suffix == "parquet":
        goods().to_parquet(path)
    elif suffix == "jsonl":
        goods().to_json(path, orient="records", lines=True)
    else:
        goods().to_csv(path, index=False, sep="\t" if suffix == "tsv" else ",")
    found = expected_rows(TableSource.of(path))
    if suffix == "csv.gz":
        assert found is None
        return
    np.testing.assert_allclose(found, N_ROWS, rtol=0 if suffix == "parquet" else 0.1)
    both = expected_rows(TableSource.of([str(path), str(path)]))
    np.testing.assert_allclose(both, 2 * N_ROWS, rtol=0 if suffix == "parquet" else 0.1)


def test_lines_in_cells_are_no_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(_large, "_bytes_needed", lambda frame: len(frame) * 2**20)
    letters = goods().assign(name=lambda table: table["name"] + "\nDear all,\n" * 20)
    letters.to_csv(tmp_path / "letters.csv", index=False)
    for head in (100, 20_000):  # a part of the rows, or all of them
        monkeypatch.setattr(_large, "_HEAD_ROWS", head)
        found = read_or_sample(TableSource.of(tmp_path / "letters.csv"), "kind", 1.5, 0)
        assert not isinstance(found, LargeTable)
        assert len(found.frame) == N_ROWS


@pytest.mark.parametrize("known", [True, False])
def test_memory_is_estimated_and_told(table, monkeypatch, known):
    if not known:
        monkeypatch.setattr(_large, "expected_rows", lambda source: None)
    monkeypatch.setattr(_large, "_HEAD_ROWS", 100)
    monkeypatch.setattr(_large, "_bytes_needed", lambda frame: len(frame) * 2**20)
    monkeypatch.setattr(_large, "_CHUNK_ROWS", 50)
    read = []
    monkeypatch.setattr(_large, "join_parts", lambda parts: read.append(len(parts)) or parts[0])
    said = []
    found = read_or_sample(TableSource.of(table), "kind", 1.0, 0, tell=said.append)
    assert isinstance(found, LargeTable)
    assert said == [
        "the table has 1,200 rows, which do not fit in memory: a fit to all rows in memory needs "
        f"about 1.2 GiB, and 1.0 may be used. Models are compared on {len(found.rows):,} rows, and "
        "the best one reads its rows from disk if it can"
    ]
    assert not isinstance(
        read_or_sample(TableSource.of(table), "kind", 1.25, 0, tell=said.append), LargeTable
    )
    assert said[1:] == ["a fit to all rows in memory needs about 1.2 GiB, and 1.2 may be used"]
    read_or_sample(TableSource.of(table), "kind", 1.25, 0)


def test_a_table_that_fits_is_read_whole(table):
    found = read_or_sample(TableSource.of(table), "kind", 1.0, 0)
    pd.testing.assert_frame_equal(
        found.frame,
        pd.read_csv(table, dtype=object).where(lambda f: f.notna(), None),
        check_dtype=False,
    )


def test_the_sample_has_the_smallest_numbers_and_every_target(table):
    found = read_or_sample(TableSource.of(table), "kind", TINY, 3)
    assert isinstance(found, LargeTable)
    frame = goods()
    labelled = frame["kind"].notna().to_numpy()
    numbers = np.where(labelled, draw_numbers(np.arange(N_ROWS), 3), np.iinfo(np.uint64).max)
    expected = set(np.argsort(numbers)[:200].tolist())
    for rows in frame.groupby("kind").indices.values():
        expected |= set(rows[np.argsort(numbers[rows])[:3]].tolist())
    assert found.rows.tolist() == sorted(expected)
    assert found.sample["name"].tolist() == frame["name"][sorted(expected)].tolist()
    names = frame["kind"].dropna().drop_duplicates().tolist()
    assert [names[c] if c >= 0 else None for c in found.codes] == [
        kind if isinstance(kind, str) else None for kind in frame["kind"]
    ]


@pytest.mark.parametrize("n_rows", [pytest.param(1, marks=pytest.mark.thorough), 77, 5000])
@pytest.mark.parametrize("memory", [TINY, 2e-4])
def test_the_size_of_the_chunks_changes_nothing(table, monkeypatch, n_rows, memory):
    monkeypatch.setattr(_large, "_HEAD_ROWS", 100)
    monkeypatch.setattr(_large, "_LEAST_SAMPLE", 5)
    expected = read_or_sample(TableSource.of(table), "kind", memory, 0)
    monkeypatch.setattr(_large, "_CHUNK_ROWS", n_rows)
    found = read_or_sample(TableSource.of(table), "kind", memory, 0)
    np.testing.assert_array_equal(found.rows, expected.rows)
    np.testing.assert_array_equal(found.codes, expected.codes)
    pd.testing.assert_frame_equal(found.sample, expected.sample)


def test_targets_in_several_columns_and_in_lists(tmp_path, monkeypatch):
    monkeypatch.setattr(_large, "_LEAST_SAMPLE", 2)
    path = tmp_path / "levels.csv"
    path.write_text("top,below,x\na,b,1\na,,2\na,b,3\n,,4\n")
    found = read_or_sample(TableSource.of(path), ["top", "below"], TINY, 0)
    assert found.codes.tolist() == [0, 1, 0, 2]
    lists = pd.DataFrame({"y": [["a", "b"], ["c"], None, ["a", "b"]], "x": [1, 2, 3, 4]})
    lists.to_parquet(tmp_path / "lists.parquet")
    found = read_or_sample(TableSource.of(tmp_path / "lists.parquet"), "y", TINY, 0)
    assert found.codes.tolist()[:2] == [0, 1]
    assert found.codes[3] == 0


@pytest.mark.parametrize("size", [1, 7, 20, 120])
def test_a_sample_has_all_targets_and_a_share_of_each(size):
    rng = np.random.default_rng(0)
    codes = rng.permutation(np.repeat([0, 1, 2, 3], [60, 40, 19, 1])).astype(np.int32)
    rows = stratified_rows(codes, size, seed=1)
    assert len(rows) == len(set(rows.tolist())) == size
    assert (np.diff(rows) > 0).all()
    found = np.bincount(codes[rows], minlength=4)
    if size >= 7:
        assert found.min() >= 1
    if size == 20:
        np.testing.assert_allclose(found, [10, 6, 3, 1], atol=1)
    nested = set(stratified_rows(codes, max(size // 2, 1), seed=1).tolist())
    assert nested <= set(rows.tolist())


def test_memory_that_is_no_amount(table):
    with pytest.raises(PalmetteError, match=r"memory=-1: expected a positive number of GiB"):
        fit_table(table, "kind", memory=-1)
    assert usable_memory(2.0) == 2 * 2**30
    assert usable_memory(None) > 2**27


# ---------------------------------------------------------------------- fits


FROM_DISK = {
    "class-tree": {},
    "hierarchical-boosting": {"n_estimators": 5},
    "flat-naive-bayes": {},
    "local-per-parent-sgd": {"max_iter": 2},
}


@pytest.mark.parametrize("model", FROM_DISK)
def test_the_model_is_that_of_all_rows_in_memory(table, model):
    said = []
    found = fitted(table, model=model, settings=FROM_DISK[model], tell=said.append)
    frame = goods().dropna(subset="kind")
    X = found.vectorizer_.transform(found.schema_.cast(found.read(table).loc[frame.index]))
    twin = make_model(model, text=True).set_params(**found.estimator_.get_params(deep=False))
    y = [tuple(kind.split("/")) for kind in frame["kind"]]
    if model.endswith("sgd"):
        fit_in_passes(twin, X, y, n_passes=2, seed=0)
    else:
        twin.fit(X, y)
    assert twin.get_params().get("scratch") is None
    np.testing.assert_array_equal(twin.predict_proba(X), found.estimator_.predict_proba(X))
    assert found.summary_["rows"] == found.summary_["rows_fitted"] == len(frame)
    assert found.summary_["rows_without_target"] == N_ROWS - len(frame)
    counts = frame["kind"].value_counts()
    assert found.summary_["class_rows"] == [counts["/".join(path)] for path in found.classes_]
    assert "the table has 1,200 rows, which do not fit in memory" in said[0]
    assert any("in the scratch folder" in sentence for sentence in said)


def test_chunks_change_nothing_in_the_model(table, monkeypatch):
    X = goods().head(50)
    expected = fitted(table).predict_proba(X)
    monkeypatch.setattr(_large, "_CHUNK_ROWS", 111)
    np.testing.assert_array_equal(fitted(table).predict_proba(X), expected)


def test_chunks_are_read_in_order_and_one_is_in_memory_at_a_time(table, monkeypatch):
    alive, most, begun = weakref.WeakSet(), [], []
    read = _large.read_parts

    def watched(source, rows):
        begun.append(0)
        for part in read(source, rows):
            assert part.lines[0] == begun[-1] * 100 + 2  # after the line of names
            begun[-1] += 1
            manager = part.frame._mgr
            alive.add(manager)
            most.append(len(alive))
            yield part
            del part, manager

    monkeypatch.setattr(_large, "read_parts", watched)
    monkeypatch.setattr(_large, "_CHUNK_ROWS", 100)
    monkeypatch.setattr(_large, "_HEAD_ROWS", 100)
    fitted(table)
    assert begun == [12, 12]  # the sample, and the features of all rows
    assert max(most) <= 3  # the chunk before is still named while the next one is read


def test_a_folder_gives_the_model_of_one_file(table, tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    for number, start in enumerate(range(0, N_ROWS, 500)):
        goods()[start : start + 500].to_csv(folder / f"{number}.csv", index=False)
    X = goods().head(50)
    np.testing.assert_array_equal(fitted(folder).predict_proba(X), fitted(table).predict_proba(X))


def test_a_model_that_copies_rows_gets_as_many_as_fit(table):
    said = []
    found = fitted(table, model="local-per-parent", memory=2e-4, tell=said.append)
    n_rows = found.summary_["rows_fitted"]
    assert 0 < n_rows < found.summary_["rows"]
    rows = found.summary_["class_rows"]
    assert min(rows) == 1  # and labels of one row are in the model
    told = f"local-per-parent is fitted on {n_rows:,} of 1,177 rows: allow more memory"
    assert told in " ".join(said)


@pytest.mark.thorough
def test_a_tournament_on_the_sample_and_a_learnt_hierarchy(table):
    found = fitted(table, model="auto", folds=2, time=30.0)
    assert found.summary_["rows"] == N_LABELLED
    board = {entry["model"]: entry for entry in found.summary_["leaderboard"]}
    assert max(entry["rows"] for entry in board.values()) < 250
    for name in ("class-tree", "flat-naive-bayes", "local-per-parent-sgd"):
        assert board[name]["final_rows"] == N_LABELLED
        assert "sample" not in board[name]["note"]
    copied = [board[name] for name in ("flat-extra-trees", "local-per-parent")]
    for entry in copied:
        if entry["folds"]:
            n_rows = entry["final_rows"]
            assert n_rows < N_LABELLED
            assert f"it can be fitted on a sample of {n_rows:,} rows only" in entry["note"]
    assert any(entry["folds"] for entry in copied)
    learned = fitted(table, hierarchy="learn")
    assert learned.learnt_
    assert sum(learned.summary_["class_rows"]) == N_LABELLED


def test_several_labels_per_row(table, tmp_path):
    frame = goods().dropna()
    frame["kind"] = frame["kind"] + np.where(np.arange(len(frame)) % 3 == 0, ";Sale", "")
    path = tmp_path / "several.csv"
    frame.to_csv(path, index=False)
    found = fitted(path, model="multilabel-linear", labels_separator=";", memory=0.01)
    assert found.summary_["class_rows"][[p[-1] for p in found.classes_].index("Sale")] == len(
        frame[::3]
    )


def test_bad_rows_are_counted_once(table):
    with open(table, "a") as file:
        file.write("a,b,c,d,e\n")
    found = fitted(table, skip_bad_rows=True, tell=print)
    assert found.summary_["rows_skipped"] == 1
    assert found.summary_["rows_fitted"] == N_LABELLED


# ---------------------------------------------------------------------- faults


def test_the_scratch_folder_is_removed(table, tmp_path):
    place = tmp_path / "scratch"
    place.mkdir()
    fitted(table, scratch=place)
    assert list(place.iterdir()) == []
    with pytest.raises(PalmetteError, match="cannot create a scratch folder in"):
        fitted(table, scratch=tmp_path / "none")


def test_a_full_disk(table, tmp_path, monkeypatch):
    def write(self, name, array):
        with self._explaining():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Scratch, "append", write)
    with pytest.raises(PalmetteError, match=r"the scratch folder .* is full after 0.0 GiB"):
        fitted(table, scratch=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["goods.csv"]


def test_a_disk_that_is_too_small(table, monkeypatch):
    monkeypatch.setattr(_scratch, "_SPARE", 2**62)
    with pytest.raises(PalmetteError, match=r"need about 0.0 GiB in the scratch folder .* free"):
        fitted(table)


def test_a_scratch_folder_that_vanishes_in_the_middle(table, tmp_path, monkeypatch):
    append, place = Scratch.append, tmp_path / "scratch"
    place.mkdir()

    def write(self, name, array):
        append(self, name, array)
        shutil.rmtree(self.path)

    monkeypatch.setattr(Scratch, "append", write)
    with pytest.raises(PalmetteError, match=r"the scratch folder .* has vanished: nothing was"):
        fitted(table, scratch=place)
    assert list(place.iterdir()) == []


def test_a_table_that_changes_between_the_readings(table):
    large = read_or_sample(TableSource.of(table), "kind", TINY, 0)
    goods(700).to_csv(table, index=False)
    with pytest.raises(ReadError, match=r"had 1,200 rows when it was first read"):
        list(large.chunks(np.ones(N_ROWS, dtype=bool)))
