"""Sixty and more tables as people write them, with what their owner means by each."""

from __future__ import annotations

import builtins
import inspect
import json
import mimetypes
import unicodedata
import uuid
from collections.abc import Callable, Iterable
from pathlib import Path as File
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

Path = tuple[str, ...]


class Made(NamedTuple):
    """A table and what its owner means.

    Parameters
    ----------
    table : DataFrame or path of a file
    target : str or list of str
    labels : list of paths, or of sets of paths
        One per row with a target.
    kinds : dict of str to str
        The columns that are inputs, with their kinds.
    """

    table: Any
    target: str | list[str]
    labels: list[Any]
    kinds: dict[str, str]


class Table(NamedTuple):
    """A table by name; a pattern says how a doubt is announced if it is not read as meant."""

    name: str
    make: Callable[[File], Made]
    doubt: str = ""


class Read(NamedTuple):
    """How a table was read."""

    verdict: str  # right, announced or silent
    was: str
    meant: str
    said: list[str]


def read(table: Table, folder: File) -> Read:
    """Read a table without options, and compare with what its owner means."""
    import re

    from palmette.exceptions import PalmetteError
    from palmette.table._problem import read_problem

    made, said = table.make(folder), []
    meant = summary(made.labels, made.kinds)
    try:
        problem = read_problem(made.table, made.target, tell=said.append)
    except PalmetteError as error:
        said.append(str(error))
        was, is_right = "refused", False
    else:
        was = summary(problem.truth, problem.schema.kinds)
        is_right = problem.truth == made.labels and problem.schema.kinds == made.kinds
    is_told = bool(table.doubt) and any(re.search(table.doubt, words) for words in said)
    return Read("right" if is_right else "announced" if is_told else "silent", was, meant, said)


def summary(labels: list[Any], kinds: dict[str, str]) -> str:
    """Describe paths and kinds in a few words."""
    several = any(isinstance(label, set) for label in labels)
    paths = {path for row in labels for path in (row if several else [row])}
    nodes = {path[:end] for path in paths for end in range(1, len(path) + 1)}
    words = " ".join(f"{name}:{kind}" for name, kind in kinds.items())
    form = "sets" if several else "paths"
    return f"{form}, {len(nodes)} nodes, depth {max(map(len, paths))}; {words}"


# ---------------------------------------------------------------------- trees

GOODS = {
    "Home & Garden": {"Kitchen": "Pots Pans Knives", "Beds": "Bunks Cots"},
    "Tools": {"Hand tools": "Saws Hammers", "Power tools": "Drills Sanders"},
    "Food": {"Fruit": "Apples Pears", "Fish": "Cod Hake Tuna", "Cheese": "Brie"},
}
DRESS = {
    "T-Shirts (men)": {"Long-sleeve": "V-neck Crew-neck", "Short-sleeve": "Polo Henley"},
    "Jeans": {"Slim-fit": "Mid-rise High-rise", "Straight": "501 505"},
    "Shoes": {"Low-top": "Size-4-7 Size-8-12", "High-top": "Kids Adults"},
}
OTHER = {
    "Hardware": {"Disk": "Slow Full Other", "Screen": "Black Other"},
    "Software": {"Mail": "Slow Lost Other", "Login": "Locked Other"},
    "Other": {"Phone": "Lost Other", "Badge": "Lost"},
}
ONE_TOP = {"All": {"Animals": "cat dog fox owl", "Plants": "oak elm fir", "Fungi": "cep"}}
FLAT = {"Animals": "cat dog fox owl", "Plants": "oak elm fir", "Fungi": "cep morel"}
SIZES = dict.fromkeys(("Shoes", "Shirts", "Hats", "Coats"), "Men Women Kids")
ZH = {
    "食品": {"水果": "苹果 梨子 香蕉", "鱼类": "鳕鱼 金枪鱼"},
    "工具": {"手动": "锯子 锤子", "电动": "电钻 磨机"},
    "家居用品": {"床": "沙发床 双层床", "厨房": "锅 刀具"},
}
JA = {
    "食品": {"くだもの": "りんご なし みかん", "さかな": "たら まぐろ"},
    "工具": {"手動": "のこぎり ハンマー", "電動": "ドリル サンダー"},
    "本・雑誌": {"小説": "推理 恋愛", "漫画": "少年 少女"},
}
TH = {
    "อาหาร": {"ผลไม้": "แอปเปิล ลูกแพร์ กล้วย", "ปลา": "ปลาค็อด ปลาทูน่า"},
    "เครื่องมือ": {"มือ": "เลื่อย ค้อน", "ไฟฟ้า": "สว่าน เครื่องขัด"},
}
AR = {
    "طعام": {"فواكه": "تفاح كمثرى موز", "سمك": "قد تونة"},
    "أدوات": {"يدوية": "منشار مطرقة", "كهربائية": "مثقاب صنفرة"},
}
HI = {
    "भोजन": {"फल": "सेब नाशपाती केला", "मछली": "कॉड टूना"},
    "औज़ार": {"हाथ": "आरी हथौड़ा", "बिजली": "ड्रिल सैंडर"},
}
EMOJI = {
    "🍎 Food": {"🍓 Fruit": "🍏 🍐 🍌", "🐟 Fish": "🐠 🐡"},
    "🔧 Tools": {"✋ Hand": "🪚 🔨", "⚡ Power": "🔩 🧰"},
}


def leaves(tree: dict[str, Any], inner: bool = False) -> list[Path]:
    """List the paths of a tree, and those of its inner nodes if they are labels, too."""
    found: list[Path] = []
    for name, below in tree.items():
        if inner:
            found.append((name,))
        if isinstance(below, str):
            found += [(name, each) for each in below.split()]
        else:
            found += [(name, *path) for path in leaves(below, inner)]
    return found


INPUTS = {"title": "text", "price": "number", "colour": "category"}
COLOURS = ("red", "green", "blue", "black")


def draw(paths: list[Path], n_rows: int = 160, seed: int = 0) -> list[Path]:
    """Return the path of every row, each path at least once."""
    rng = np.random.default_rng(seed)
    more = rng.integers(0, len(paths), n_rows - len(paths)).tolist()
    return [paths[i] for i in rng.permutation([*range(len(paths)), *more])]


def inputs(rows: Iterable[Path]) -> dict[str, Any]:
    """Return columns of a text, a number and a category, which do not tell the class."""
    paths = list(rows)
    rng = np.random.default_rng(1)
    return {
        "title": [f"{' '.join(path[-1].split())} {COLOURS[k % 4]} {rng.choice(list('abcdefgh'))}{k}"
                  for k, path in enumerate(paths)],
        "price": np.round(rng.gamma(2.0, 10.0, len(paths)), 2),
        "colour": [COLOURS[k] for k in rng.integers(0, 4, len(paths))],
    }  # fmt: skip


def paths_by(separator: str, tree: dict[str, Any], inner: bool = False) -> Callable[[File], Made]:
    """Make a table whose cells are paths with a separator."""

    def make(folder: File) -> Made:
        rows = draw(leaves(tree, inner))
        cells = [separator.join(path) for path in rows]
        return Made(pd.DataFrame({**inputs(rows), "class": cells}), "class", rows, INPUTS)

    return make


# one path in a cell: the separators that people use, on trees of all kinds
SEPARATED = [
    (":", GOODS, False), (": ", OTHER, True), (" : ", ZH, False), (">>", TH, False),
    (" >> ", DRESS, True), ("›", JA, False), (" › ", AR, True), ("→", HI, False),
    (" → ", EMOJI, False), ("▸", ZH, True), (" ▸ ", GOODS, True), ("=>", DRESS, True),
    (" => ", JA, True), ("->", AR, False), (" -> ", OTHER, False), (">", EMOJI, True),
    (" > ", DRESS, False), ("/", HI, True), (" / ", TH, True), ("|", JA, False),
    (" | ", ONE_TOP, True), ("\\", GOODS, False), ("::", ONE_TOP, False), (" :: ", SIZES, True),
    (".", FLAT, True), (" - ", DRESS, True), (" – ", HI, False), ("--", ONE_TOP, True),
    (" -- ", SIZES, False), ("»", AR, True), (" » ", OTHER, True), (";", FLAT, False),
    ("; ", TH, False), (", ", GOODS, False), ("_", ONE_TOP, False), ("__", ZH, False),
    ("~", EMOJI, False), ("#", FLAT, False), ("&gt;", GOODS, True), ("\t", ZH, False),
    ("＞", JA, True), ("：", ZH, True), (">>>", SIZES, True), ("❯", EMOJI, True),
    (" • ", HI, True), ("||", TH, True), ("\u2003", GOODS, False), ("  ", OTHER, False),
]  # fmt: skip


# ---------------------------------------------------------------------- levels in columns


def levels(order: list[int], target: list[int] | int, gap: bool = False,
           tree: dict[str, Any] = GOODS) -> Callable[[File], Made]:  # fmt: skip
    """Make a table with a column per level, in some order, of which some are the target."""
    names = ["area", "group", "kind"]

    def make(folder: File) -> Made:
        rows = draw(leaves(tree))
        columns: dict[str, Any] = inputs(rows)
        cells = [[*path] for path in rows]
        if gap:
            rows = [(path[0], path[2]) if path[1] == "Beds" else path for path in rows]
            cells = [[path[0], None, path[1]] if len(path) == 2 else [*path] for path in rows]
        for k in order:
            columns[names[k]] = [row[k] for row in cells]
        chosen = [target] if isinstance(target, int) else target
        lowest = max(chosen)
        meant = rows if gap else [path[: lowest + 1] for path in rows]
        return Made(pd.DataFrame(columns), [names[k] for k in chosen], meant, INPUTS)

    return make


def numbered_levels(folder: File) -> Made:
    """A number beside the name of every upper level."""
    made = levels([0, 1, 2], 2)(folder)
    numbers = {f"{name}_id": made.table[name].factorize()[0] + 100 for name in ("area", "group")}
    table = pd.DataFrame({**numbers, **made.table})
    return made._replace(table=table)


def addresses(folder: File) -> Made:
    made = paths_by("/", GOODS)(folder)
    cells = "https://example.org/" + made.table["class"].str.replace("[ &]+", "-", regex=True)
    return made._replace(table=made.table.assign(**{"class": cells}))


def codes_as_levels(folder: File) -> Made:
    """Sections, divisions and groups of activities by code, with their names beside them."""
    tree = {
        "A": {"01": "01.1 01.2 01.3", "02": "02.1 02.4"},
        "C": {"10": "10.1 10.5", "23": "23.5"},
    }
    rows = draw(leaves(tree))
    columns = dict(zip(("section", "division", "code"), zip(*rows, strict=True), strict=True))
    frame = pd.DataFrame({**inputs(rows), **columns})
    return Made(frame, ["section", "division", "code"], rows, INPUTS)


def codes_of_digits(folder: File) -> Made:
    """Numbers of enzymes."""
    rows = draw([(a, b, c) for a in "1234" for b in "12" for c in "135"])
    cells = [".".join(path) for path in rows]
    return Made(pd.DataFrame({**inputs(rows), "ec": cells}), "ec", rows, INPUTS)


def merged_cells(folder: File) -> Made:
    """A workbook whose upper levels are in the first row of each group only."""
    rows = sorted(draw(leaves(GOODS)))
    tops = [path[0] if k == 0 or rows[k - 1][0] != path[0] else None for k, path in enumerate(rows)]
    frame = pd.DataFrame({**inputs(rows), "area": tops, "kind": [path[2] for path in rows]})
    return Made(frame, ["area", "kind"], [(path[0], path[2]) for path in rows], INPUTS)


# ---------------------------------------------------------------------- several labels


def several(mark: str, separator: str, tree: dict[str, Any]) -> Callable[[File], Made]:
    """Make a table with several paths per cell."""

    def make(folder: File) -> Made:
        rows = sets_of(leaves(tree))
        cells = [mark.join(separator.join(path) for path in row) for row in rows]
        return of_sets(rows, cells)

    return make


def sets_of(paths: list[Path], seed: int = 3) -> list[list[Path]]:
    """Draw one to three paths per row; every path is there."""
    rng = np.random.default_rng(seed)
    sizes = rng.choice([1, 2, 3], 160, p=[0.4, 0.4, 0.2])
    drawn = [rng.choice(len(paths), size, replace=False) for size in sizes]
    drawn[: len(paths)] = [[k] for k in range(len(paths))]
    return [[paths[k] for k in row] for row in drawn]


def of_sets(rows: list[list[Path]], cells: list[Any]) -> Made:
    """Return a table with sets of paths."""
    frame = pd.DataFrame({**inputs([row[0] for row in rows]), "tags": cells})
    return Made(frame, "tags", [set(row) for row in rows], INPUTS)


def lists(write: Callable[[list[str]], Any], separator: str = " > ") -> Callable[[File], Made]:
    """Make a table of lists of paths."""

    def make(folder: File) -> Made:
        rows = sets_of(leaves(GOODS))
        return of_sets(rows, [write([separator.join(path) for path in row]) for row in rows])

    return make


def names_in_lists(write: Callable[[Any], Any], nested: bool) -> Callable[[File], Made]:
    """Make a table of lists of the names of a path, or of lists of such lists."""

    def make(folder: File) -> Made:
        if nested:
            rows = sets_of(leaves(GOODS))
            return of_sets(rows, [write([list(path) for path in row]) for row in rows])
        one = draw(leaves(GOODS))
        frame = pd.DataFrame({**inputs(one), "class": [write(list(path)) for path in one]})
        return Made(frame, "class", one, INPUTS)

    return make


def flat_sets(mark: str, names: str) -> Callable[[File], Made]:
    """Make a table of sets of plain names, in one order, as genres are written."""

    def make(folder: File) -> Made:
        known = names.split()
        rows = [sorted(row) for row in sets_of([(name,) for name in known])]
        return of_sets(rows, [mark.join(path[0] for path in row) for row in rows])

    return make


def flag_columns(cells: dict[bool, Any]) -> Callable[[File], Made]:
    """Make a table with a column per label, which says whether a row has it."""

    def make(folder: File) -> Made:
        rows = sets_of([(name,) for name in GENRES.split()])
        table = of_sets(rows, [""] * len(rows)).table.drop(columns="tags")
        flags = {f"is_{name}": [cells[(name,) in row] for row in rows] for name in GENRES.split()}
        named = [{(f"is_{name}",) for (name,) in row} for row in rows]
        return Made(table.assign(**flags), "is_*", named, INPUTS)

    return make


def flat_lists(frame: str, mark: str) -> Callable[[File], Made]:
    """Make a table of sets of plain names in brackets."""

    def make(folder: File) -> Made:
        made = flat_sets(mark, GENRES)(folder)
        return made._replace(table=made.table.assign(tags=made.table["tags"].map(frame.format)))

    return make


def framed(form: str, separator: str, end: str = "") -> Callable[[File], Made]:
    """Make a table of paths with something before, behind or between the names."""

    def make(folder: File) -> Made:
        made = paths_by(separator, FLAT)(folder)
        cells = made.table["class"].map(lambda cell: form.format(cell) + end)
        return made._replace(table=made.table.assign(**{"class": cells}))

    return make


def mixed_separators(folder: File) -> Made:
    made = paths_by(" > ", GOODS)(folder)
    cells = [(" > ", " / ")[k % 2].join(path) for k, path in enumerate(made.labels)]
    return made._replace(table=made.table.assign(**{"class": cells}))


# ---------------------------------------------------------------------- files


def as_lines(made: Made, file: File) -> Made:
    """Write a table as JSON lines."""
    records = made.table.to_dict("records")
    text = "\n".join(json.dumps(record, ensure_ascii=False) for record in records)
    file.write_text(text + "\n", encoding="utf-8")
    return made._replace(table=file)


def json_lines(folder: File) -> Made:
    return as_lines(lists(list)(folder), folder / "lists.jsonl")


def json_names(folder: File) -> Made:
    return as_lines(names_in_lists(list, nested=False)(folder), folder / "names.jsonl")


def json_objects(folder: File) -> Made:
    made = paths_by(" > ", GOODS)(folder)
    cells = [dict(zip(("top", "mid", "low"), path, strict=True)) for path in made.labels]
    return as_lines(made._replace(table=made.table.assign(**{"class": cells})), folder / "o.jsonl")


def workbook(first: str, empty_first: bool) -> Callable[[File], Made]:
    """Make a workbook with dates, whole numbers, and a second sheet."""

    def make(folder: File) -> Made:
        made = paths_by(" > ", JA)(folder)
        days = pd.date_range("2024-01-01", periods=len(made.labels)).to_pydatetime()
        frame = made.table.assign(since=days, pieces=np.arange(len(days)) % 17 + 1)
        file = folder / f"{first}.xlsx"
        with pd.ExcelWriter(file) as writer:
            if empty_first:
                pd.DataFrame().to_excel(writer, sheet_name=first, index=False)
            frame.to_excel(writer, sheet_name="data" if empty_first else first, index=False)
            legend = pd.DataFrame({"word": ["a"], "means": ["b"]})
            legend.to_excel(writer, sheet_name="legend", index=False)
        kinds = {**INPUTS, "since": "date", "pieces": "number"}
        return made._replace(table=file, kinds=kinds)

    return make


def european_csv(folder: File) -> Made:
    """Semicolons, decimal commas, thousands, dates of days first, in Windows' form."""
    made = paths_by(" > ", GOODS)(folder)
    n = len(made.labels)
    frame = made.table.drop(columns="price").assign(
        preis=[
            f"{1000 + 37 * k // 10}".replace("1", "1.", 1) + f",{k % 100:02d} €" for k in range(n)
        ],
        gewicht=[f"{k % 23},{k % 7}" for k in range(n)],
        seit=[f"{k % 28 + 1:02d}.{k % 12 + 1:02d}.2024" for k in range(n)],
    )
    frame.to_csv(folder / "european.csv", sep=";", index=False, encoding="utf-8-sig")
    kinds = {"title": "text", "colour": "category", "preis": "number", "gewicht": "number",
             "seit": "date"}  # fmt: skip
    return made._replace(table=folder / "european.csv", kinds=kinds)


def identifiers(folder: File) -> Made:
    """Running numbers, UUIDs, codes of orders, postcodes with zeros, and a flag."""
    made = paths_by(" / ", FLAT)(folder)
    n, rng = len(made.labels), np.random.default_rng(5)
    frame = made.table.assign(
        order_id=[f"{k}" for k in rng.permutation(n) + 10_000],
        row=[str(k + 1) for k in range(n)],
        uid=[str(uuid.UUID(int=int(k))) for k in rng.integers(1, 2**62, n)],
        zip=[f"{k:05d}" for k in rng.choice([1067, 10115, 20095, 80331, 4109], n)],
        new=[("yes", "no")[k] for k in rng.integers(0, 2, n)],
    )
    kinds = {**INPUTS, "zip": "category", "new": "category"}
    return made._replace(table=frame, kinds=kinds)


def no_header(folder: File) -> Made:
    made = paths_by(" > ", GOODS)(folder)
    made.table.to_csv(folder / "bare.csv", header=False, index=False)
    return made._replace(table=folder / "bare.csv", target="class")


# ---------------------------------------------------------------------- from Python itself


def exceptions(folder: File) -> Made:
    """Exceptions below each other, with the first line of their documentation."""
    kinds = [each for each in vars(builtins).values() if inspect.isclass(each)]
    errors = sorted(
        {each for each in kinds if issubclass(each, Exception)}, key=lambda e: e.__name__
    )
    rows = [
        tuple(c.__name__ for c in e.__mro__[-2::-1] if issubclass(c, Exception)) for e in errors
    ]
    words = [f"{e.__name__}: {' '.join((e.__doc__ or '').split())[:80]}" for e in errors]
    frame = pd.DataFrame({"words": words * 2, "class": [" → ".join(path) for path in rows] * 2})
    return Made(frame, "class", rows * 2, {"words": "text"})


def media_types(folder: File) -> Made:
    """Suffixes of files and their media types."""
    known = mimetypes.MimeTypes().types_map[True]
    pairs = sorted((suffix, kind) for suffix, kind in known.items() if kind.count("/") == 1)
    frame = pd.DataFrame({"words": [f"a file that ends in {s[1:]}" for s, _ in pairs],
                          "type": [kind for _, kind in pairs]})  # fmt: skip
    return Made(frame, "type", [tuple(kind.split("/")) for _, kind in pairs], {"words": "text"})


def characters(folder: File) -> Made:
    """Names of characters, with their category of two letters, which begins with the wider one."""
    codes = [c for c in map(chr, range(0x20, 0x700)) if unicodedata.name(c, "")]
    rows = [(unicodedata.category(c)[0], unicodedata.category(c)) for c in codes]
    major, minor = zip(*rows, strict=True)
    names = [unicodedata.name(c) for c in codes]
    frame = pd.DataFrame({"name": names, "major": major, "category": minor})
    return Made(frame, "category", rows, {"name": "text"})


def newsgroups(folder: File) -> Made:
    names = """comp.graphics comp.os.ms-windows.misc comp.sys.ibm.pc.hardware comp.windows.x
    comp.sys.mac.hardware rec.autos rec.motorcycles rec.sport.baseball rec.sport.hockey sci.crypt
    sci.electronics sci.med sci.space misc.forsale talk.politics.misc talk.politics.guns
    talk.politics.mideast talk.religion.misc alt.atheism soc.religion.christian"""
    rows = draw([tuple(name.split(".")) for name in names.split()])
    frame = pd.DataFrame({**inputs(rows), "group": [".".join(path) for path in rows]})
    return Made(frame, "group", rows, INPUTS)


# ---------------------------------------------------------------------- flat ones, and doubts


def plain_names(names: list[str]) -> Callable[[File], Made]:
    """Make a table of flat classes."""

    def make(folder: File) -> Made:
        rows = draw([(name,) for name in names])
        frame = pd.DataFrame({**inputs(rows), "class": [path[0] for path in rows]})
        return Made(frame, "class", rows, INPUTS)

    return make


def meant_as_paths(cells: list[str], paths: list[Path]) -> Callable[[File], Made]:
    """Make a table whose flat names are meant as paths."""

    def make(folder: File) -> Made:
        rows = draw(list(range(len(cells))))  # type: ignore[arg-type]
        frame = pd.DataFrame(
            {**inputs([paths[k] for k in rows]), "class": [cells[k] for k in rows]}
        )
        return Made(frame, "class", [paths[k] for k in rows], INPUTS)

    return make


def emoji_only(folder: File) -> Made:
    """Texts of emoji, and classes that are emoji."""
    rng = np.random.default_rng(2)
    rows = draw([(e,) for e in "😀😡😢😍"])
    texts = ["".join(rng.choice(list("🍎🍐🐟🔧🔨😀🎉🚗🌧🔥💔🎂"), 6)) + path[0] for path in rows]
    return Made(pd.DataFrame({"text": texts, "mood": [p[0] for p in rows]}), "mood", rows,
                {"text": "text"})  # fmt: skip


def keywords(words: str, classes: str) -> Callable[[File], Made]:
    """Make a table of keywords without spaces."""

    def make(folder: File) -> Made:
        rng = np.random.default_rng(4)
        rows = draw([(name,) for name in classes.split()], 200)
        texts = ["".join(rng.choice(words.split(), 3)) + path[0] for path in rows]
        return Made(pd.DataFrame({"keywords": texts, "class": [p[0] for p in rows]}), "class", rows,
                    {"keywords": "text"})  # fmt: skip

    return make


def prices(folder: File) -> Made:
    made = paths_by(" > ", GOODS)(folder)
    labels = [(str(price),) for price in made.table["price"]]
    return Made(made.table, "price", labels, {})


def all_different(folder: File) -> Made:
    made = paths_by(" > ", GOODS)(folder)
    return Made(made.table, "title", [(title,) for title in made.table["title"]], {})


LOCALES = ["en-US", "en-GB", "de-DE", "de-AT", "fr-FR", "fr-CA", "pt-PT", "pt-BR"]
CITIES = ["Lyon, France", "Paris, France", "Rome, Italy", "Bari, Italy", "Bonn, Germany",
          "Ulm, Germany"]  # fmt: skip
DEPARTMENTS = ["Clothing, Shoes & Jewelry", "R&D", "Toys/Games", "Health & Beauty",
               "Home & Kitchen", "Musical Instruments (new)", "T-Shirts", "A/V"]  # fmt: skip
GENRES = "Action Comedy Drama Horror Sci-Fi Romance Thriller War"

SCRIPTS = ("Chinese", "Japanese", "Thai", "Arabic", "Hindi", "emoji")


def script_of(tree: dict[str, Any]) -> str:
    """Return the script of a tree, for the name of its table."""
    trees = zip(SCRIPTS, (ZH, JA, TH, AR, HI, EMOJI), strict=True)
    return next((script for script, each in trees if each is tree), "English")


TABLES = [
    *(
        Table(
            f"{script_of(tree)}, {'inner labels, ' * inner}separator {s!r}",
            paths_by(s, tree, inner),
        )
        for s, tree, inner in SEPARATED
    ),
    Table("levels in columns", levels([0, 1, 2], [0, 1, 2])),
    Table("levels of a target, named from the bottom", levels([2, 0, 1], [2, 1, 0])),
    Table("Chinese, the lowest level is the target", levels([1, 2, 0], 2, tree=ZH)),
    Table("a level in the middle is the target", levels([0, 2, 1], 1, tree=GOODS)),
    Table("levels with a gap", levels([0, 1, 2], [0, 1, 2], gap=True)),
    Table("numbers beside the names of levels", numbered_levels),
    Table("levels as codes", codes_as_levels),
    Table("codes of digits", codes_of_digits),
    Table("upper levels in merged cells", merged_cells, "merged"),
    Table("several paths, ', ' and '::'", several(", ", "::", GOODS)),
    Table("Hindi, several paths, '; ' and ' :: '", several("; ", " :: ", HI)),
    Table("Arabic, several paths, ' | ' and ' > '", several(" | ", " > ", AR)),
    Table("Chinese, several paths, lines and '/'", several("\n", "/", ZH)),
    Table("Thai, several paths, ';' and ':'", several(";", ":", TH)),
    Table("several paths, ' + ' and ' > '", several(" + ", " > ", GOODS)),
    Table("several plain names, ' / '", flat_sets(" / ", GENRES)),
    Table("a column per label, of zeros and ones", flag_columns({True: 1, False: 0})),
    Table("a column per label, of yes and no", flag_columns({True: "Yes", False: "no"})),
    Table("addresses", addresses, "are addresses"),
    Table("lists without quotes", flat_lists("{{{}}}", ",")),
    Table("tags in angle brackets", flat_lists("<{}>", "><")),
    Table("a separator at the end", framed("{};", ";")),
    Table("a separator at the beginning", framed("/{}", "/")),
    Table("arrows that are emoji", framed("{}", " ➡️ ")),
    Table("names in brackets", framed("{}", " (", ")"), "names in brackets"),
    Table("two separators", mixed_separators, r"labels have ' > '"),
    Table("JSON lists in texts", lists(lambda row: json.dumps(row, ensure_ascii=False))),
    Table("Python lists in texts", lists(repr, " >> ")),
    Table("lists of names in texts", names_in_lists(json.dumps, nested=False)),
    Table("lists of lists of names", names_in_lists(json.dumps, nested=True)),
    Table("JSON lines with lists of paths", json_lines),
    Table("JSON lines with lists of names", json_names),
    Table("JSON lines with objects", json_objects, "has objects"),
    Table("genres with |", flat_sets("|", GENRES)),
    Table("tags with commas", flat_sets(", ", "python pandas web sql linux mail graphics")),
    Table("Chinese tags with 、", flat_sets("、", "科幻 喜剧 动作 恐怖 爱情 战争 悬疑")),
    Table("Arabic tags with ،", flat_sets("، ", "سياسة رياضة ثقافة علوم صحة سفر")),
    Table("Japanese, a workbook with two sheets", workbook("items", empty_first=False)),
    Table(
        "Japanese, an empty first sheet",
        workbook("cover", empty_first=True),
        r"data.*legend.*--sheet|--sheet",
    ),
    Table("a European CSV file", european_csv),
    Table("identifiers and codes", identifiers),
    Table("no names of columns", no_header, "--no-header"),
    Table("Python's exceptions", exceptions),
    Table("media types of suffixes", media_types),
    Table("Unicode categories", characters),
    Table("newsgroups", newsgroups),
    Table("emoji only", emoji_only),
    Table(
        "Chinese keywords", keywords("手机 电脑 电视 便宜 快递 质量 屏幕 充电", "好评 差评 中评")
    ),
    Table(
        "Japanese keywords", keywords("スマホ 画面 電池 安い 早い 壊れた 返品", "良い 悪い 普通")
    ),
    Table("Thai keywords", keywords("โทรศัพท์ หน้าจอ แบตเตอรี่ ราคาถูก ส่งเร็ว", "ดี แย่ ปกติ")),
    Table("flat departments", plain_names(DEPARTMENTS)),
    Table("digits", plain_names(list("0123456789"))),
    Table("locales", plain_names(LOCALES), "'-' could separate"),
    Table(
        "locales that are paths",
        meant_as_paths(LOCALES, [tuple(x.split("-")) for x in LOCALES]),
        "'-' could separate",
    ),
    Table(
        "cities before their countries",
        meant_as_paths(CITIES, [tuple(x.split(", ")[::-1]) for x in CITIES]),
        "from the bottom",
    ),
    Table("prices as the target", prices, "each of them would be a class.*--yes"),
    Table("titles as the target", all_different, "each of them would be a class.*--yes"),
]
