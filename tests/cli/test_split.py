"""`palmette split`: the sides share no equal rows, groups or times, and no cell changes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import palmette as pm
from palmette.cli.split import split
from palmette.table._reading import as_frame

WORDS = (
    *("garden", "kitchen", "steel", "wooden", "small", "large"),
    *("blue", "green", "folding", "heavy", "portable", "electric"),
)
KINDS = ["Food > Fruit", "Food > Bread", "Tools > Saws", "Tools > Nails", "Tools > Drills"]


def make_orders(n: int = 400, seed: int = 0) -> pd.DataFrame:
    """Orders of customers, whose texts are long, with classes of very different sizes."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(len(KINDS), n, p=[0.5, 0.25, 0.15, 0.07, 0.03])
    words = [" ".join(rng.choice(WORDS, 12)) for _ in range(n)]
    days = pd.Timestamp("2023-01-01") + pd.to_timedelta(rng.integers(0, 700, n), unit="D")
    return pd.DataFrame(
        {
            "text": [f"{KINDS[k].split()[-1]} {w}" for k, w in zip(kind, words, strict=True)],
            "price": [f"{p:.2f}".replace(".", ",") for p in rng.uniform(1, 99, n)],
            "customer": [f"C{c}" for c in rng.integers(0, 60, n)],
            "day": days.strftime("%d.%m.%Y"),
            "kind": [KINDS[k] for k in kind],
        }
    )


@pytest.fixture
def orders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = make_orders()
    frame.to_csv("orders.csv", sep=";", index=False)
    return frame


def sides(suffix: str = "csv", name: str = "orders") -> tuple[pd.DataFrame, pd.DataFrame]:
    return tuple(as_frame(f"{name}.{side}.{suffix}") for side in ("train", "test"))


def test_every_option_is_a_parameter(parse):
    parameters = parse(
        split,
        *["t.csv", "--target", "a,b", "--out", "x.csv", "--test-out", "y.csv", "--test", ".3"],
        *["--group", "g", "--time", "t", "--similarity", ".9", "--separator", "/"],
        *["--labels-separator", ";", "--date-format", "%d.%m.%Y", "--seed", "4"],
        *["--format", "tsv", "--encoding", "latin-1", "--delimiter", ";", "--sheet", "one"],
        "--no-header",
    )  # fmt: skip
    assert parameters == {
        "table": "t.csv",
        "target": ["a,b"],
        "out": Path("x.csv"),
        "test_out": Path("y.csv"),
        "test_size": 0.3,
        "group": "g",
        "time": "t",
        "similarity": 0.9,
        "separator": "/",
        "labels_separator": ";",
        "date_format": "%d.%m.%Y",
        "seed": 4,
        "format": "tsv",
        "encoding": "latin-1",
        "delimiter": ";",
        "sheet": "one",
        "header": False,
    }


def test_classes_have_equal_shares_and_rows_keep_their_bytes(palmette, orders):
    result = palmette("split", "orders.csv", "--target", "kind")
    assert result.exit_code == 0, result.output
    assert "400 rows: 320 training rows and 80 test rows (20.0%)" in result.stdout
    assert "paths with the separator ' > '" in result.stdout
    both = [Path(f"orders.{side}.csv").read_bytes().splitlines(True) for side in ("train", "test")]
    whole = Path("orders.csv").read_bytes().splitlines(True)
    assert both[0][0] == both[1][0] == whole[0]
    assert sorted(both[0][1:] + both[1][1:]) == sorted(whole[1:])
    places = [whole.index(line) for line in both[1][1:]]
    assert places == sorted(places)
    training, test = sides()
    for kind, n_rows in orders["kind"].value_counts().items():
        assert abs((test["kind"] == kind).sum() - 0.2 * n_rows) <= 1
    tools = orders["kind"].str.startswith("Tools").sum()
    assert abs(test["kind"].str.startswith("Tools").sum() - 0.2 * tools) <= 1
    assert len(training) == 320


def test_a_seed_gives_the_same_rows_as_python(palmette, orders):
    told: list[str] = []
    training, test = pm.split_table(orders, "kind", test_size=0.3, seed=7, tell=told.append)
    palmette("split", "orders.csv", "--target", "kind", "--test", ".3", "--seed", "7")
    assert [each["text"].tolist() for each in sides()] == [
        training["text"].tolist(), test["text"].tolist()
    ]  # fmt: skip
    assert "280 training rows and 120 test rows" in told[0]
    assert set(test.index) == set(orders.index) - set(training.index)
    _, other = pm.split_table(orders, "kind", test_size=0.3, seed=8)
    assert set(other.index) != set(test.index)


def test_groups_are_on_one_side(palmette, orders):
    result = palmette("split", "orders.csv", "--target", "kind", "--group", "customer")
    assert "groups: 60 in the column 'customer', of which " in result.stdout
    training, test = sides()
    assert not set(training["customer"]) & set(test["customer"])
    assert 70 <= len(test) <= 90


def test_rows_without_a_group_are_by_themselves(orders):
    orders.loc[:99, "customer"] = None
    told: list[str] = []
    training, test = pm.split_table(orders, "kind", group="customer", tell=told.append)
    assert 10 <= test["customer"].isna().sum() <= 30
    assert not set(training["customer"].dropna()) & set(test["customer"].dropna())
    assert any("100 rows without one" in words for words in told)


def test_the_newest_rows_are_the_test_rows(palmette, orders):
    result = palmette("split", "orders.csv", "--target", "kind", "--time", "day")
    training, test = (pd.to_datetime(s["day"], format="%d.%m.%Y") for s in sides())
    assert training.max() < test.min()
    assert 72 <= len(test) <= 88
    assert f"begin at {test.min():%Y-%m-%d} in the column 'day'" in result.stdout


def test_times_may_be_numbers(orders):
    orders["year"] = np.arange(len(orders)) // 40
    training, test = pm.split_table(orders, time="year")
    assert training["year"].max() < test["year"].min()
    assert len(test) == 80


def test_a_group_is_as_old_as_its_oldest_row(orders):
    told: list[str] = []
    training, test = pm.split_table(orders, "kind", group="customer", time="day", tell=told.append)
    assert not set(training["customer"]) & set(test["customer"])
    first = pd.to_datetime(orders["day"], format="%d.%m.%Y").groupby(orders["customer"]).min()
    assert first[test["customer"].unique()].min() > first[training["customer"].unique()].max()
    assert any("newer belong to older rows" in words for words in told)


def test_rows_without_a_time_are_training_rows(orders):
    orders.loc[:9, "day"] = None
    training, _ = pm.split_table(orders, "kind", time="day")
    assert training["day"].isna().sum() == 10


def _with_repeats(orders: pd.DataFrame) -> pd.DataFrame:
    equal = orders.iloc[:60]
    marks = orders.iloc[60:120].assign(text=lambda f: f["text"].str.upper() + "!")
    near = orders.iloc[120:180].assign(
        text=lambda f: f["text"] + " now", price="5,00", customer="C1", day="01.02.2023"
    )
    return pd.concat([orders, equal, marks, near], ignore_index=True)


@pytest.mark.parametrize("seed", range(5))
def test_equal_and_similar_rows_are_on_one_side(orders, seed):
    table = _with_repeats(orders)
    told: list[str] = []
    _, test = pm.split_table(table, "kind", seed=seed, tell=told.append)
    side = pd.Series(0, index=table.index)
    side[test.index] = 1
    assert (side[:180].to_numpy() == side[400:].to_numpy()).all()
    assert abs(len(test) - 0.2 * len(table)) <= 2
    assert any(words.startswith("180 rows repeat another row") for words in told)


def test_equal_inputs_only(orders):
    table = _with_repeats(orders)
    _, test = pm.split_table(table, "kind", similarity=1)
    side = table.index.isin(test.index)
    assert (side[:120] == side[400:520]).all()
    assert (side[120:180] != side[520:]).any()


def test_short_texts_with_other_inputs_are_not_similar():
    prices = np.random.default_rng(0).uniform(5, 50, 50).round(2)
    shops = pd.DataFrame({"name": "Corner Cafe", "price": prices, "kind": ["a", "b"] * 25})
    training, test = pm.split_table(shops, "kind")
    assert (len(training), len(test)) == (40, 10)


def test_classes_on_one_side_are_named(palmette, orders):
    orders.loc[0, "kind"] = "Food > Cheese"
    orders.to_csv("orders.csv", index=False)
    result = palmette("split", "orders.csv", "--target", "kind")
    assert "1 class is in the " in result.stdout
    assert " rows only, such as 'Food > Cheese'" in result.stdout


def test_labels_of_several_paths_and_levels(orders):
    orders["tags"] = ["red; blue" if i % 2 else "red" for i in range(400)]
    told: list[str] = []
    _, test = pm.split_table(orders, "tags", labels_separator=";", tell=told.append)
    assert (test["tags"] == "red; blue").sum() == 40
    assert any("2 classes" in words for words in told)
    orders["top"] = orders["kind"].str.split().str[0]
    _, test = pm.split_table(orders, ["top", "kind"], separator=None)
    assert len(test) == 80


@pytest.mark.parametrize("suffix", ["jsonl", "parquet", "xlsx", "tsv"])
def test_formats_are_those_of_the_table(palmette, orders, suffix):
    orders["when"] = pd.Timestamp("2024-05-01 10:00")
    orders["count"] = range(400)
    if suffix == "jsonl":
        orders["when"] = orders["when"].astype(str)
        orders.to_json("orders.jsonl", orient="records", lines=True)
    elif suffix == "parquet":
        orders.to_parquet("orders.parquet")
    elif suffix == "xlsx":
        orders.to_excel("orders.xlsx", index=False)
    else:
        orders.to_csv("orders.tsv", sep="\t", index=False)
    result = palmette("split", f"orders.{suffix}", "--target", "kind")
    assert result.exit_code == 0, result.output
    training, test = sides(suffix)
    whole = as_frame(f"orders.{suffix}")
    both = pd.concat([training, test], ignore_index=True)
    both = both.sort_values("count", key=lambda c: c.astype(int)).reset_index(drop=True)
    pd.testing.assert_frame_equal(both, whole, check_dtype=suffix != "xlsx")


def test_parquet_keeps_its_types(palmette, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = pa.table(
        {
            "id": pa.array([1, None] * 20, pa.int32()),
            "kind": pa.array(["a", "b"] * 20).dictionary_encode(),
            "price": pa.array([i * 7 % 40 for i in range(40)], pa.decimal128(9, 2)),
        }
    )
    pq.write_table(table, "t.parquet")
    assert palmette("split", "t.parquet", "--target", "kind").exit_code == 0
    assert pq.read_schema("t.test.parquet").equals(table.schema)
    assert len(pq.read_table("t.test.parquet")) == 8


ODD = 'name,kind\r\n"a\nb",x\r\n\r\n 01 ,y\r\n"say ""x""",x\r\n=1+1,y\r\n+5,x\r\né,y'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_text_files_are_copied_in_their_encoding(palmette, tmp_path, monkeypatch, encoding):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_bytes(ODD.encode(encoding))
    words = ["--encoding", "latin-1"] if encoding == "latin-1" else []
    result = palmette("split", "t.csv", "--target", "kind", "--test", ".5", *words)
    assert result.exit_code == 0, result.output
    texts = [Path(f"t.{side}.csv").read_bytes().decode(encoding) for side in ("train", "test")]
    head = "name,kind\r\n"
    assert all(text.startswith(head) for text in texts)
    pieces = ODD.removeprefix(head).replace("\r\n\r\n", "\r\n").split("\r\n")
    assert sum(text.count(piece) for text in texts for piece in pieces) == len(pieces)


def test_tables_without_a_header(palmette, orders):
    orders.to_csv("plain.csv", header=False, index=False)
    result = palmette("split", "plain.csv", "--no-header", "--target", "col5")
    assert result.exit_code == 0, result.output
    lines = [Path(f"plain.{side}.csv").read_text().splitlines() for side in ("train", "test")]
    assert sorted(lines[0] + lines[1]) == sorted(Path("plain.csv").read_text().splitlines())


def test_folders_and_compressed_files(palmette, orders):
    Path("parts").mkdir()
    orders.iloc[:200].to_csv("parts/a.csv", index=False)
    orders.iloc[200:, ::-1].to_csv("parts/b.csv", index=False)
    assert palmette("split", "parts", "--target", "kind").exit_code == 0
    both = pd.concat(sides(name="parts"))
    assert sorted(both["text"]) == sorted(orders["text"])
    orders.to_csv("orders.csv.gz", index=False)
    assert palmette("split", "orders.csv.gz", "--target", "kind").exit_code == 0
    assert sorted(pd.concat(sides())["text"]) == sorted(orders["text"])


def test_models_fitted_on_one_side_predict_the_other(palmette, orders):
    palmette("split", "orders.csv", "--target", "kind", "--out", "a.csv", "--test-out", "b.xlsx")
    fit = ["--target", "kind", "--model", "flat-naive-bayes", "--folds", "0"]
    assert palmette("fit", "a.csv", *fit, "--out", "m.palmette").exit_code == 0
    result = palmette("eval", "m.palmette", "b.xlsx")
    assert "80 rows" in result.stdout, result.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--test", "0"], "--test-size 0.0: expected a share between 0 and 1"),
        (["--test", "1"], "--test-size 1.0: expected a share"),
        (["--similarity", "0"], "--similarity 0.0: expected a share"),
        (["--group", "custmer"], "Did you mean 'customer'?"),
        (["--group", "kind"], "this is the target"),
        (["--time", "text"], "none of its values can be read as a date"),
        (["--out", "orders.csv"], "orders.csv is the table itself"),
        (["--out", "a.csv", "--test-out", "./a.csv"], "is to have both sides"),
        (["--out", "a.doc"], "expected one of the suffixes"),
    ],
)
def test_errors_say_what_to_do(fails, orders, words, message):
    before = sorted(Path().iterdir())
    assert message in fails("split", "orders.csv", "--target", "kind", *words)
    assert sorted(Path().iterdir()) == before


def test_rows_that_all_belong_together(fails, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"a": ["same"] * 30, "kind": ["x", "y"] * 15}).to_csv("t.csv", index=False)
    assert "all rows belong together" in fails("split", "t.csv", "--target", "kind")


def test_a_table_of_which_no_column_is_an_input(palmette, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"kind": ["x", "y"] * 15}).to_csv("t.csv", index=False)
    assert palmette("split", "t.csv", "--target", "kind").exit_code == 0
    assert [len(each) for each in sides(name="t")] == [24, 6]
