"""Whether `compare`, the leaderboard of `fit` and fresh rows tell the same about a model.

    python benchmarks/bench_compare_fit.py                              # 20 tables, 4 models
    python benchmarks/bench_compare_fit.py --tables clinc150,digits --models class-tree
    python benchmarks/bench_compare_fit.py --auto 10                    # the winner of --time 10

Every table is drawn from one set of rows: up to 3,000 to train, and up to 20,000 others, the fresh
ones; rows with equal inputs are on one side, as in the folds. Tables with fewer rows are drawn
several times, for 3,000 training rows in all. Columns of `compare` and `fit` are means over their
folds of the training rows; `fresh` is the model of `fit_table`, fitted on all training rows, on the
fresh ones. The difference is that between `fit` and `fresh`, with a standard error: that of the
fresh rows is bootstrapped, and that of the folds is taken as the same per row. The winner is the
best of the models by each column. Nothing is chosen on fresh rows.

Texts are clinc150, 20 Newsgroups, wos_1k, changed names of Shopify's categories, and docstrings of
the standard library; mail, docs, abstracts and debian (`apt-cache dumpavail`, left out where it is
not there) have columns of several kinds; the others are tables of numbers.
"""

from __future__ import annotations

import argparse
import email
import email.policy
import json
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from bench_table import SEPARATOR, shopify

from palmette import Hierarchy
from palmette.bench import compare, find_problem
from palmette.datasets import fetch, load_digits_hierarchy, load_stdlib_docstrings
from palmette.labels._labels import NodeLabels
from palmette.metrics import hierarchical_f1_score
from palmette.table import fit_table
from palmette.table._problem import find_groups
from palmette.table._schema import Schema, Unread

TEXTS = ("clinc150", "20newsgroups_bydate", "wos_1k", "shopify", "stdlib")
MIXED = ("mail", "docs", "abstracts", "debian")
NUMBERS = ("imclef07a", "imclef07d", "diatoms", "protein_dd", "saiapr5000", "digits", "letter",
           "pendigits", "landsat", "page_blocks", "yeast_uci")  # fmt: skip
MODELS = "class-tree,flat-linear,flat-naive-bayes,mf-tree"
MOST, MOST_FRESH = 3_000, 20_000
FEW = 2_500  # training rows; with less, a table is drawn several times
_RESAMPLES = 200


# ---------------------------------------------------------------------- tables


def load(name: str) -> pd.DataFrame | None:
    """Return a table whose target is the column "y"; None if its source is not there."""
    if name == "shopify":
        frame = pd.concat(shopify(0), ignore_index=True)
        levels = frame["y"].str.split(SEPARATOR).str[:3]  # else there is a row per class
        return frame.assign(y=levels.str.join(SEPARATOR))
    if name in ("stdlib", "docs"):
        return docstrings(with_parts=name == "docs")
    if name == "debian":
        return debian() if shutil.which("apt-cache") else None
    source = {"mail": "20newsgroups_bydate", "abstracts": "wos_1k"}.get(name, name)
    data = load_digits_hierarchy() if name == "digits" else fetch(source)
    X, y = _all_rows(data)
    h = data.hierarchy
    nodes = NodeLabels.encode(y, h).terminals
    paths = [SEPARATOR.join(map(str, h.path(node))) for node in nodes.tolist()]
    if name == "mail":
        frame = pd.DataFrame([_mail(text) for text in X])
    elif name == "abstracts":
        words = [", ".join(words) for words in data.keywords]
        frame = pd.DataFrame({"abstract": list(X), "keywords": words})
    elif isinstance(X, list):
        frame = pd.DataFrame({"text": X})
    else:
        frame = pd.DataFrame(np.asarray(X)).add_prefix("x")
    return frame.assign(y=paths)


def _all_rows(data: Any) -> tuple[Any, Any]:
    if "X" in data:
        return data.X, data.y
    parts = [part for part in ("train", "valid", "test") if data.get(f"X_{part}") is not None]
    y = np.concatenate([np.asarray(data[f"y_{part}"]) for part in parts])
    if isinstance(data.X_train, list):
        return [text for part in parts for text in data[f"X_{part}"]], y
    return np.concatenate([data[f"X_{part}"] for part in parts]), y


def docstrings(with_parts: bool) -> pd.DataFrame:
    """Return docstrings with their path; with parts, also the name and counts of the text."""
    data = load_stdlib_docstrings()
    frame = pd.DataFrame({"text": data.X})
    if with_parts:
        names = pd.Series(data.names)
        frame["name"] = names.str.rpartition(".")[2]
        frame["lines"] = frame["text"].str.count("\n") + 1
        frame["letters"] = frame["text"].str.len()
        frame["private"] = np.where(frame["name"].str.startswith("_"), "yes", "no")
    return frame.assign(y=[SEPARATOR.join(filter(None, row)) for row in data.y])


def _mail(text: str) -> dict[str, Any]:
    found = email.message_from_string(text, policy=email.policy.compat32)
    return {
        "subject": str(found["Subject"] or ""),
        "organization": str(found["Organization"] or "") or None,
        "host": str(found["From"] or "").rpartition("@")[2].split(" ")[0].rpartition(".")[2],
        "lines": str(found["Lines"] or "") or None,
        "text": str(found.get_payload())[:500],
    }


def debian() -> pd.DataFrame:
    """Return packages with their section, as apt lists them."""
    said = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, text=True, check=True)
    rows = []
    for block in said.stdout.split("\n\n"):
        cells = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line[:40])
        if "Section" in cells:
            rows.append(
                {
                    "package": cells.get("Package"),
                    "about": cells.get("Description", cells.get("Description-en")),
                    "size": cells.get("Installed-Size"),
                    "priority": cells.get("Priority"),
                    "all": cells.get("Architecture"),
                    "y": cells["Section"].replace("/", SEPARATOR),
                }
            )
    return pd.DataFrame(rows)


# ---------------------------------------------------------------------- figures


def divide(frame: pd.DataFrame, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return training rows and fresh rows; those with equal inputs are on one side."""
    X = frame.drop(columns="y").reset_index(drop=True)
    groups = find_groups(Schema.infer(X).cast(X, unread=Unread()))
    place = np.argsort(np.random.default_rng(seed).permutation(len(frame)))
    if groups is not None:
        _, first, group = np.unique(groups, return_index=True, return_inverse=True)
        place = place[first][group]
    order = np.argsort(place, kind="stable")
    n_train = min(MOST, len(frame) * 6 // 10)
    train, fresh = frame.iloc[order[:n_train]], frame.iloc[order[n_train:][:MOST_FRESH]]
    return train, fresh


def figures(
    name: str, models: list[str], auto: float | None, seed: int, folder: Path
) -> list[dict[str, Any]]:
    """Return the figures of the models on a table, means over its draws."""
    frame = load(name)
    if frame is None:
        return []
    n_rows = len(divide(frame, seed)[0])
    n_draws = int(np.ceil(MOST / n_rows)) if n_rows < FEW else 1
    draws = [list(_draw(frame, name, models, auto, seed + i, folder)) for i in range(n_draws)]
    return [_mean(rows) for rows in zip(*draws, strict=True)]


def _mean(rows: tuple[dict[str, Any], ...]) -> dict[str, Any]:
    mean = {**rows[0], "draws": len(rows)}
    for key in {"compare", "fit", "fresh", "error"} & mean.keys():
        mean[key] = float(np.mean([row[key] for row in rows]))
    mean["error"] /= np.sqrt(len(rows))
    mean["apart"] = max(abs(row.get("compare", row["fit"]) - row["fit"]) for row in rows)
    mean["model"] = ", ".join(dict.fromkeys(row["model"] for row in rows))
    return mean


def _draw(
    frame: pd.DataFrame, name: str, models: list[str], auto: float | None, seed: int, folder: Path
) -> Iterator[dict[str, Any]]:
    train, fresh = divide(frame, seed)
    path = folder / f"{name}.csv"
    train.to_csv(path, index=False)
    facts = {"table": name, "rows": len(train), "fresh_rows": len(fresh)}
    separator = SEPARATOR if train["y"].str.contains(SEPARATOR).any() else ""
    options = {"separator": separator, "seed": seed}
    if auto is not None:
        model = fit_table(path, "y", time=auto, **options)
        board = {entry["model"]: entry for entry in model.summary_["leaderboard"]}
        entry = board[model.summary_["winner"]]
        yield {**facts, **_figures(model, entry, fresh)}
        return
    problem = find_problem(path, "y", separator)
    for each in models:
        found = compare([problem], [each], ["hierarchical_f1"], seed=seed)
        model = fit_table(path, "y", model=each, time=None, **options)
        compared = float(np.mean([row["hierarchical_f1"] for row in found.rows]))
        (entry,) = model.summary_["leaderboard"]
        yield {**facts, **_figures(model, entry, fresh), "compare": compared}


def _figures(model: Any, entry: dict[str, Any], fresh: pd.DataFrame) -> dict[str, Any]:
    """Return the figure of a leaderboard, that of fresh rows, and the error of their difference."""
    separator = model.target_.separator
    truth = [tuple(cell.split(separator)) if separator else (cell,) for cell in fresh["y"]]
    predicted = model.predict(fresh)
    # labels that no training row has are errors here, as they are in the folds
    hierarchy = Hierarchy.from_paths(sorted({*truth, *predicted}))
    score = float(hierarchical_f1_score(truth, predicted, hierarchy=hierarchy))
    pairs = list(zip(truth, predicted, strict=True))
    common = np.array([sum(a[:k] == b[:k] for k in range(1, len(a) + 1)) for a, b in pairs])
    nodes = np.array([len(true) + len(other) for true, other in pairs])
    n, rng = len(pairs), np.random.default_rng(0)
    drawn = [rng.integers(0, n, n) for _ in range(_RESAMPLES)]
    spread = float(np.std([2 * common[rows].sum() / nodes[rows].sum() for rows in drawn]))
    n_tested = entry["folds"] * (model.summary_["rows"] - entry["rows"])
    return {
        "model": model.summary_["winner"],
        "fit": entry["hierarchical_f1"],
        "folds": entry["folds"],
        "trained_on": entry["rows"],
        "fresh": score,
        "error": spread * float(np.sqrt(1 + n / n_tested)),
    }


# ---------------------------------------------------------------------- tables of results


def show(rows: list[dict[str, Any]]) -> None:
    """Print a line per table and model, and what all of them say."""
    print(f"{'table':20} {'rows':>5} {'folds':>5} {'model':20} {'compare':>8} {'fit':>7} "
          f"{'fresh':>7} {'fit - fresh':>16}")  # fmt: skip
    for row in rows:
        compared = f"{row['compare']:.4f}" if "compare" in row else "-"
        print(
            f"{row['table']:20} {row['rows']:5} {row['folds']:5} {row['model'][:20]:20} "
            f"{compared:>8} {row['fit']:7.4f} {row['fresh']:7.4f} "
            f"{row['fit'] - row['fresh']:+8.4f} ± {row['error']:.4f}"
        )
    print(f"\nfit - fresh, all: {_gaps(rows)}")
    tables = list(dict.fromkeys(row["table"] for row in rows))
    if "compare" not in rows[0]:
        return
    best = {
        by: [max((r for r in rows if r["table"] == t), key=lambda r: r[by]) for t in tables]
        for by in ("compare", "fit", "fresh")
    }
    print(f"fit - fresh, winners: {_gaps(best['fit'])}")
    apart = max(row["apart"] for row in rows)
    print(f"compare - fit: at most {apart:.1e}")
    for by in ("compare", "fresh"):
        same = sum(a is b for a, b in zip(best["fit"], best[by], strict=True))
        print(f"winner by {by} is that by fit: {same} of {len(tables)}")


def _gaps(rows: list[dict[str, Any]]) -> str:
    """Return the mean difference, and how many are small, in words."""
    gaps = np.array([row["fit"] - row["fresh"] for row in rows])
    noise = np.array([row["error"] for row in rows])
    near = np.abs(gaps) <= 0.01
    within = near | (np.abs(gaps) <= 2 * noise)
    return (
        f"mean {gaps.mean():+.4f} ± {gaps.std() / np.sqrt(len(gaps)):.4f}; "
        f"within .01: {near.sum()} of {len(gaps)}; within .01 or two standard errors: "
        f"{within.sum()}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", default=",".join((*TEXTS, *MIXED, *NUMBERS)))
    parser.add_argument("--models", default=MODELS)
    parser.add_argument("--auto", type=float, help="seconds: the winner of the tournament instead")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="JSON lines; tables in it are not computed again")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows: list[dict[str, Any]] = []
    if options.out is not None and options.out.exists():
        rows = [json.loads(line) for line in options.out.read_text().splitlines()]
    with tempfile.TemporaryDirectory() as folder:
        for name in options.tables.split(","):
            if name in {row["table"] for row in rows}:
                continue
            models = options.models.split(",")
            found = figures(name, models, options.auto, options.seed, Path(folder))
            rows += found
            if options.out is not None:
                with options.out.open("a") as stream:
                    stream.writelines(json.dumps(row) + "\n" for row in found)
    show(rows)


if __name__ == "__main__":
    main()
