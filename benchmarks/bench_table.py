"""From a table to a model: scores, CPU seconds and memory beside tf-idf with linear models.

    python benchmarks/bench_table.py scores --debian FOLDER     # all sets and systems
    python benchmarks/bench_table.py scores --sets clinc150 --systems class-tree,svc
    python benchmarks/bench_table.py columns --debian FOLDER    # other columns beside the texts
    python benchmarks/bench_table.py times --time 60            # whether --time is kept to
    python benchmarks/bench_table.py busy --time 30 --loops 2   # scores where the cores are busy
    python benchmarks/bench_table.py interrupts                 # seconds until Ctrl-C is honoured

FOLDER has train.csv and test.csv with the columns package, text, priority, size and category, made
from Debian's lists of packages and of their descriptions (below /var/lib/apt/lists) by

    python benchmarks/bench_table.py make-debian FOLDER --packages FILE --descriptions FILE

The other sets are those of the data home that PALMETTE_DATA names. The baselines are scikit-learn's
TfidfVectorizer (words and pairs in at least two rows, sublinear counts) over all texts of a row,
and LinearSVC or LogisticRegression over the labels, with their defaults. Every system runs in a
process of its own, after a fit on a few rows so that compilation does not count; CPU seconds are
those of features and fit, memory is the maximum of the process, intervals are bootstrapped over
test rows. Nothing is chosen on test rows.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd

SETS = ("debian", "20newsgroups_bydate", "clinc150", "wos_1k", "shopify")
SYSTEMS = ("class-tree", "class-tree-f1", "flat-linear", "auto", "svc", "logistic")
PLAIN = ("svc", "logistic")
SEPARATOR = " > "


# ---------------------------------------------------------------------- tables


def load(name: str, debian: str | None, seed: int) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """Return the training rows, the test rows and the columns of texts; the target is "y"."""
    if name == "debian":
        if debian is None:
            raise SystemExit("--debian: name the folder that make-debian has written")
        train, test = (pd.read_csv(Path(debian) / f"{part}.csv") for part in ("train", "test"))
        return _named(train), _named(test), ["package", "text"]
    if name == "shopify":
        return *shopify(seed), ["text"]
    from palmette.datasets import fetch

    data = fetch(name)
    if name == "wos_1k":  # no published split
        order = np.random.default_rng(seed).permutation(len(data.X))
        texts, paths = (
            np.array(data.X, dtype=object)[order],
            paths_of(data, np.asarray(data.y))[order],
        )
        cut = len(order) * 7 // 10
        parts = [(texts[:cut], paths[:cut]), (texts[cut:], paths[cut:])]
    else:
        parts = [
            (data.X_train, paths_of(data, np.asarray(data.y_train))),
            (data.X_test, paths_of(data, np.asarray(data.y_test))),
        ]
    train, test = (pd.DataFrame({"text": list(X), "y": y}) for X, y in parts)
    return train, test, ["text"]


def _named(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.rename(columns={"category": "y"})


def paths_of(data: Any, y: Any) -> np.ndarray:
    """Write labels as paths of their hierarchy."""
    h = data.hierarchy
    plain = np.asarray(y).tolist()
    known = [label if isinstance(label, str) or f"{label}" not in h.names else f"{label}"
             for label in dict.fromkeys(plain)]  # fmt: skip
    places = dict(zip(dict.fromkeys(plain), h.index(known), strict=True))
    cells = {label: SEPARATOR.join(map(str, h.path(int(i)))) for label, i in places.items()}
    return np.array([cells[label] for label in plain], dtype=object)


PAIRS = """
accessories:extras bag:sack bags:sacks bike:bicycle cabinets:cupboards car:automobile case:cover
cases:covers chairs:seats clothing:garments cups:mugs decor:ornaments dishes:plates equipment:gear
games:playsets gloves:mittens jackets:coats kits:sets lamps:lights machines:devices mats:rugs
pants:trousers parts:components racks:stands set:kit sets:kits shoes:footwear sofas:couches
storage:organisers supplies:goods tools:implements toys:playthings vehicle:automobile
women's:ladies'
"""
SYNONYMS = dict(pair.split(":") for pair in PAIRS.split())
SHOPIFY_TOPS = ("Apparel & Accessories", "Electronics", "Furniture", "Animals & Pet Supplies")


def shopify(seed: int, n_train: int = 4, n_test: int = 1) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Make texts of the categories of four departments: their names, changed in several ways."""
    import lzma

    from palmette.datasets import data_home

    file = data_home() / "taxonomies/shopify_product_taxonomy/categories.txt.xz"
    with lzma.open(file, "rt", encoding="utf-8") as lines:
        paths = [line.split(" : ", 1)[1].strip() for line in lines if line.startswith("gid:")]
    paths = [path for path in paths if path.split(SEPARATOR)[0] in SHOPIFY_TOPS]
    rng = np.random.default_rng(seed)
    train, test = [], []
    for path in paths:
        for number in range(n_train + n_test):
            row = {"text": _say(path.split(SEPARATOR), rng), "y": path}
            (train if number < n_train else test).append(row)
    return pd.DataFrame(train), pd.DataFrame(test)


def _say(path: list[str], rng: np.random.Generator) -> str:
    """Return a category as people would write it."""
    words = path[-1].lower().replace("&", "and").replace(",", "").split()
    words = [SYNONYMS.get(w, w) if rng.random() < 0.5 else w for w in words]
    words = [w for w in words if len(words) < 3 or rng.random() > 0.15] or words
    words = [_misspell(w, rng) if rng.random() < 0.1 else w for w in words]
    if len(path) > 2 and rng.random() < 0.6:
        words += path[-2].lower().replace("&", "").split()[-2:]
    if rng.random() < 0.3:
        rng.shuffle(words)
    return " ".join(words)


def _misspell(word: str, rng: np.random.Generator) -> str:
    if len(word) < 4:
        return word
    at = int(rng.integers(1, len(word) - 1))
    return word[:at] + word[at + 1 :]


def make_debian(given: argparse.Namespace) -> None:
    """Write tables of Debian's packages.

    The target is the section, then the role and the first language, use or interface among the
    tags of a package; paths of less than 18 packages are cut.
    """
    long = {r["Description-md5"]: r.get("Description-en", "") for r in records(given.descriptions)}
    rows, tagged = [], []
    for found in records(given.packages):
        tags = [t.strip() for t in found.get("Tag", "").replace("\n", " ").split(",") if t.strip()]
        path = [found.get("Section", "").split("/")[-1]]
        kinds = ("implemented-in::", "devel::", "use::", "interface::")
        path += [tag[6:] for tag in tags if tag.startswith("role::")][:1]
        if len(path) > 1:
            path += [tag.replace("::", " ") for tag in tags if tag.startswith(kinds)][:1]
        text = long.get(found.get("Description-md5", ""), found.get("Description", ""))
        row = {
            "package": found["Package"],
            "text": " ".join(text.split()),
            "priority": found.get("Priority", ""),
            "size": found.get("Installed-Size", ""),
        }
        rows.append((row, path))
        if tags:
            cell = ";".join(tag.replace("::", "/") for tag in tags)
            tagged.append({"package": row["package"], "text": row["text"], "tags": cell})
    counts = Counter(tuple(path[:k]) for _, path in rows for k in range(1, len(path) + 1))
    Random(0).shuffle(rows)
    table = []
    for row, path in rows:
        while len(path) > 1 and counts[tuple(path)] < 18:
            path = path[:-1]
        table.append({**row, "category": SEPARATOR.join(path)})
    folder = Path(given.folder)
    folder.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(table[:30_000]).to_csv(folder / "train.csv", index=False)
    pd.DataFrame(table[30_000:36_000]).to_csv(folder / "test.csv", index=False)
    pd.DataFrame(tagged).to_csv(folder / "tags.csv", index=False)
    print(
        f"wrote train.csv, test.csv and tags.csv of {len(rows):,} packages, {len(tagged):,} tagged"
    )


def records(file: str) -> Iterator[dict[str, str]]:
    """Yield the records of a list of packages, compressed as apt keeps them or not."""
    helper = ["/usr/lib/apt/apt-helper", "cat-file", file]
    text = subprocess.run(helper, capture_output=True, check=True).stdout.decode("utf-8", "replace")
    for block in text.split("\n\n"):
        found: dict[str, str] = {}
        key = ""
        for line in block.split("\n"):
            if line[:1] in (" ", "\t") and key:
                found[key] += "\n" + line[1:]
            elif ":" in line:
                key, _, value = line.partition(":")
                found[key] = value.strip()
        if found:
            yield found


# ---------------------------------------------------------------------- systems


def fit_plain(kind: str, train: pd.DataFrame, texts: list[str]) -> Callable[[pd.DataFrame], Any]:
    """Fit tf-idf and a linear model of scikit-learn; return its predictions of a table."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    def join(frame: pd.DataFrame) -> list[str]:
        return frame[texts].fillna("").astype(str).agg(" ".join, axis=1).tolist()

    words = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2), min_df=2)
    linear = LinearSVC() if kind == "svc" else LogisticRegression(max_iter=1000, C=10.0)
    model = make_pipeline(words, linear).fit(join(train), train["y"])
    return lambda frame: model.predict(join(frame))


def fit_palmette(kind: str, train: pd.DataFrame, seconds: float) -> Any:
    from palmette.table import fit_table

    if kind == "auto":
        return fit_table(train, "y", separator=SEPARATOR, time=seconds)
    settings = {"decoding": "min_expected_loss"} if kind.endswith("-f1") else None
    name = kind.removesuffix("-f1")
    return fit_table(
        train, "y", model=name, folds=0, separator=SEPARATOR, time=None, settings=settings
    )


def run_one(given: argparse.Namespace) -> dict[str, Any]:
    """Fit one system on one set, and return its figures."""
    from palmette.metrics import hierarchical_f1_score

    (name,), (system,) = given.sets, given.systems
    train, test, texts = load(name, given.debian, given.seed)
    if given.columns is not None:
        kept = [c for c in given.columns if c]
        train, test = (make_columns(part, kept)[[*texts, *kept, "y"]] for part in (train, test))
    few = train.groupby("y").head(2).head(400)
    if system in PLAIN:
        before = cpu_seconds()
        predict = fit_plain(system, train, texts)
        seconds, wall = cpu_seconds() - before, 0.0
        answers = list(predict(test))
    else:
        fit_palmette(system.replace("auto", "class-tree"), few, 1.0)
        before, start = cpu_seconds(), time.monotonic()
        model = fit_palmette(system, train, given.time)
        seconds, wall = cpu_seconds() - before, time.monotonic() - start
        answers = [SEPARATOR.join(path) for path in model.predict(test)]
    truth = [tuple(cell.split(SEPARATOR)) for cell in test["y"]]
    paths = [tuple(cell.split(SEPARATOR)) for cell in answers]
    rng = np.random.default_rng(0)
    scores = []
    for _ in range(100):
        rows = rng.integers(0, len(truth), len(truth)).tolist()
        scores.append(hierarchical_f1_score([truth[i] for i in rows], [paths[i] for i in rows]))
    low, high = np.quantile(scores, [0.025, 0.975])
    return {
        "set": name,
        "system": f"auto: {model.model}" if system == "auto" else system,
        "rows": len(train),
        "labels": int(train["y"].nunique()),
        "hierarchical_f1": hierarchical_f1_score(truth, paths),
        "low": low,
        "high": high,
        "accuracy": float(np.mean([a == b for a, b in zip(truth, paths, strict=True)])),
        "cpu": seconds,
        "wall": wall,
        "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def make_columns(frame: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Add columns without information to a table: a heavy tail with gaps, dates, categories."""
    rng = np.random.default_rng(len(frame))
    frame = frame.copy()
    if "tail" in names:
        frame["tail"] = rng.lognormal(0, 3, len(frame))
        frame.loc[rng.random(len(frame)) < 0.001, "tail"] = np.nan
    if "day" in names:
        days = rng.integers(0, 4000, len(frame))
        frame["day"] = (pd.Timestamp("2015-01-01") + pd.to_timedelta(days, unit="D")).strftime(
            "%Y-%m-%d"
        )
    if "shop" in names:
        frame["shop"] = rng.choice([f"shop {i}" for i in range(40)], len(frame))
    return frame


# ---------------------------------------------------------------------- commands


def in_process(words: list[str]) -> dict[str, Any]:
    """Run this file for one system, with one thread."""
    threads = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
    done = subprocess.run(
        [sys.executable, __file__, "one", *words],
        env={**os.environ, **threads},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    return dict(json.loads(done.stdout.splitlines()[-1]))


def scores(given: argparse.Namespace) -> None:
    """Print one line per set and system."""
    print("| set | rows | labels | system | hierarchical F1 (95 %) | accuracy | CPU s | peak MiB |")
    print("|---|---|---|---|---|---|---|---|")
    for name in given.sets:
        for system in given.systems:
            words = ["--sets", name, "--systems", system, "--time", str(given.time)]
            words += ["--seed", str(given.seed)]
            if given.debian:
                words += ["--debian", given.debian]
            print_line(in_process(words))


def print_line(found: dict[str, Any], system: str | None = None) -> None:
    print(
        f"| {found['set']} | {found['rows']:,} | {found['labels']:,} | {system or found['system']} "
        f"| {found['hierarchical_f1']:.4f} ({found['low']:.3f} to {found['high']:.3f}) "
        f"| {found['accuracy']:.4f} | {found['cpu']:.1f} | {found['mib']:,.0f} |",
        flush=True,
    )


def columns(given: argparse.Namespace) -> None:
    """Print what columns beside the texts cost."""
    print(
        "| set | rows | labels | columns | hierarchical F1 (95 %) | accuracy | CPU s | peak MiB |"
    )
    print("|---|---|---|---|---|---|---|---|")
    cases = [
        "",
        "priority",
        "size",
        "priority,size",
        "tail",
        "day",
        "shop",
        "priority,size,tail,day,shop",
    ]
    for case in cases:
        words = ["--sets", "debian", "--systems", "class-tree", f"--columns={case}"]
        print_line(
            in_process([*words, "--debian", given.debian]), f"texts, {case}" if case else "texts"
        )


def write_rows(path: Path, n_rows: int, seed: int = 0) -> None:
    """Write a table of clinc150's texts with words left out, a number and a category."""
    train, _, _ = load("clinc150", None, 0)
    rng = np.random.default_rng(seed)
    texts, labels = train["text"].tolist(), train["y"].tolist()
    rows = rng.integers(0, len(texts), n_rows)
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["text", "price", "shop", "label"])
        for i in rows.tolist():
            words = [w for w in texts[i].split() if rng.random() > 0.2]
            row = [f"{rng.lognormal():.2f}", f"shop {rng.integers(0, 30)}"]
            writer.writerow([" ".join(words), *row, labels[i]])


def times(given: argparse.Namespace) -> None:
    """Print how long `palmette fit --time` takes on tables of growing numbers of rows."""
    print("| rows | --time | limit s | wall s | kept to | model, rows fitted |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for n_rows in given.rows:
            table, model = Path(folder) / "table.csv", Path(folder) / "m.palmette"
            write_rows(table, n_rows)
            start = time.monotonic()
            done = subprocess.run(
                fit_words(table, model, given.time), capture_output=True, text=True
            )
            wall = time.monotonic() - start
            limit = 1.1 * given.time + 5
            last = [line for line in done.stdout.splitlines() if "fitted on" in line]
            print(
                f"| {n_rows:,} | {given.time:g} | {limit:.0f} | {wall:.1f} | "
                f"{'yes' if wall <= limit and not done.returncode else 'no'} | "
                f"{(last or [done.stderr[-200:]])[-1]} |",
                flush=True,
            )


# ---------------------------------------------------------------------- beside other work

BUSY = ("clinc150", "wos_1k", "20newsgroups_bydate", "shopify", "landsat", "pendigits", "optdigits",
        "letter", "page_blocks", "yeast_uci", "vehicle", "glass", "imclef07a", "imclef07d",
        "diatoms", "protein_dd", "saiapr5000", "coordinates", "made", "wide")  # fmt: skip


def load_busy(name: str, seed: int) -> tuple[pd.DataFrame, pd.DataFrame, bool]:
    """Return the training rows, the test rows, and whether they are texts; the target is "y"."""
    if name in ("clinc150", "wos_1k", "20newsgroups_bydate", "shopify"):
        train, test, _ = load(name, None, seed)
        return train, test, True
    if name in ("coordinates", "made", "wide"):
        X, y = made_numbers(name, seed)
        parts = _halves(X, y, seed)
    else:
        from palmette.datasets import fetch

        data = fetch(name)
        if "X_train" in data:
            parts = [(data.X_train, data.y_train), (data.X_test, data.y_test)]
        else:
            parts = _halves(np.asarray(data.X), np.asarray(data.y), seed)
        parts = [(X, paths_of(data, np.asarray(y))) for X, y in parts]
    train, test = (pd.DataFrame(np.asarray(X, dtype=float)).add_prefix("c").assign(y=y)
                   for X, y in parts)  # fmt: skip
    return train, test, False


def _halves(X: Any, y: Any, seed: int) -> list[tuple[Any, Any]]:
    order = np.random.default_rng(seed).permutation(len(y))
    cut = len(order) * 7 // 10
    return [(X[order[:cut]], y[order[:cut]]), (X[order[cut:]], y[order[cut:]])]


def made_numbers(name: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Make regions of a map, 22 columns of numbers, or 5,000."""
    rng = np.random.default_rng(seed)
    if name == "coordinates":
        X, centres = rng.uniform(-60, 60, (6000, 2)), rng.uniform(-60, 60, (60, 2))
        codes = ((X[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    elif name == "made":
        from sklearn.datasets import make_classification

        X, codes = make_classification(
            7000, 22, n_informative=10, n_redundant=4, n_classes=9, flip_y=0.02, random_state=seed
        )
    else:
        codes = rng.integers(0, 8, 570)
        shifts = 1.5 * rng.normal(size=(8, 5000)) * (rng.random((8, 5000)) < 0.02)
        X = rng.normal(size=(570, 5000)) + shifts[codes]
    return X, np.array([f"group {code // 3}{SEPARATOR}class {code}" for code in codes])


def busy(given: argparse.Namespace) -> None:
    """Print accuracy and seconds of `palmette fit --time`, beside loops that keep cores busy.

    The other system is LinearSVC on tf-idf weights for texts, and ExtraTreesClassifier for numbers,
    both with their defaults and without a limit.
    """
    print("| table | rows | fitted on | wall s | model | accuracy | LinearSVC or ExtraTrees |")
    print("|---|---|---|---|---|---|---|")
    loops = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(given.loops)
    ]
    try:
        for name in BUSY if given.sets == list(SETS) else given.sets:
            print(busy_line(name, given), flush=True)
    finally:
        for loop in loops:
            loop.kill()


def busy_line(name: str, given: argparse.Namespace) -> str:
    from sklearn.ensemble import ExtraTreesClassifier

    from palmette.persistence import load as read_model

    train, test, is_text = load_busy(name, given.seed)
    if is_text:
        theirs = fit_plain("svc", train, ["text"])(test)
    else:
        trees = ExtraTreesClassifier(random_state=0)
        theirs = trees.fit(train.drop(columns="y"), train["y"]).predict(test.drop(columns="y"))
    with tempfile.TemporaryDirectory() as folder:
        table, file = Path(folder) / "table.csv", Path(folder) / "m.palmette"
        train.to_csv(table, index=False)
        start = time.monotonic()
        words = fit_words(table, file, given.time, "y")
        done = subprocess.run(words, capture_output=True, text=True)
        wall = time.monotonic() - start
        if done.returncode:
            return f"| {name} | {len(train):,} | {done.stderr[-300:]} |"
        model = read_model(file)
    ours = [SEPARATOR.join(map(str, path)) for path in model.predict(test.drop(columns="y"))]
    scores = [float(np.mean(np.asarray(answers) == test["y"])) for answers in (ours, theirs)]
    facts = model.summary_
    return (
        f"| {name} | {len(train):,} | {facts['rows_fitted']:,} | {wall:.1f} | {facts['winner']} | "
        f"{scores[0]:.4f} | {scores[1]:.4f} |"
    )


def fit_words(table: Path, model: Path, seconds: float, target: str = "label") -> list[str]:
    command = [sys.executable, "-m", "palmette.cli.main", "fit", str(table), "--target", target]
    return [*command, "--time", str(seconds), "--out", str(model)]


def interrupts(given: argparse.Namespace) -> None:
    """Print how long a fit goes on after Ctrl-C and SIGTERM, at several moments."""
    print(
        "| signal | after s | first word after s | end after s | exit code | a model is written |"
    )
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "table.csv"
        write_rows(table, given.rows[0])
        for number in (signal.SIGINT, signal.SIGTERM):
            for after in (2, 4, 8, 12, 16, 24, 32):
                model = Path(folder) / "m.palmette"
                model.unlink(missing_ok=True)
                words = fit_words(table, model, given.time)
                process = subprocess.Popen(
                    words, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
                )
                time.sleep(after)
                process.send_signal(number)
                start = time.monotonic()
                said = None
                assert process.stderr is not None
                for line in process.stderr:
                    if "interrupted" in line or "terminated" in line or "kept" in line:
                        said = time.monotonic() - start
                        break
                process.communicate()
                print(
                    f"| {number.name} | {after} | {'-' if said is None else f'{said:.1f}'} | "
                    f"{time.monotonic() - start:.1f} | {process.returncode} | {model.is_file()} |",
                    flush=True,
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = ("scores", "columns", "times", "busy", "interrupts", "one", "make-debian")
    parser.add_argument("--loops", type=int, default=2, help="processes that do nothing else")
    parser.add_argument("command", choices=commands)
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--sets", type=lambda words: words.split(","), default=list(SETS))
    parser.add_argument("--systems", type=lambda words: words.split(","), default=list(SYSTEMS))
    parser.add_argument("--debian")
    parser.add_argument("--packages", help="..._main_binary-amd64_Packages")
    parser.add_argument("--descriptions", help="..._main_i18n_Translation-en")
    parser.add_argument("--columns", type=lambda words: words.split(","), default=None)
    parser.add_argument("--time", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rows", type=lambda words: [int(word) for word in words.split(",")],
                        default=[50, 500, 5_000, 50_000, 500_000, 1_000_000])  # fmt: skip
    given = parser.parse_args()
    if given.command == "one":
        print(json.dumps(run_one(given)))
    elif given.command == "make-debian":
        make_debian(given)
    else:
        {"scores": scores, "columns": columns, "times": times, "busy": busy,
         "interrupts": interrupts}[given.command](given)  # fmt: skip


if __name__ == "__main__":
    main()
