"""How large a report is, and how soon Chromium shows it.

    python benchmarks/bench_report.py                      # Shopify's taxonomy, 14,606 nodes
    python benchmarks/bench_report.py --taxonomy google_product_taxonomy --rows 5000
    python benchmarks/bench_report.py --model model.palmette --table test.csv [--other b.palmette]

Rows are texts made of the words on the path to a class, some of them left out and some taken from
elsewhere; the model looks for the class with most of these words. With --model, it is a model of
`palmette fit` and the rows are those of a table. Needs playwright and Chromium, and without --model
the data home (PALMETTE_DATA).
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_extraction.text import TfidfVectorizer

import palmette as pm
from palmette.datasets import fetch
from palmette.labels._space import LabelSpace
from palmette.reporting import report

BROWSER_OPTIONS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class NearestWords(ClassifierMixin, BaseEstimator):
    """Takes the class whose words are most like those of a row; probabilities by softmax."""

    def __init__(self, sharpness: float = 25.0) -> None:
        self.sharpness = sharpness

    def fit(self, hierarchy: pm.Hierarchy) -> NearestWords:
        self.hierarchy_ = hierarchy
        self.classes_ = hierarchy.path_strings[hierarchy.leaves]
        self.vectorizer_ = TfidfVectorizer(token_pattern=r"\w+")
        self.words_ = self.vectorizer_.fit_transform(map(words_of, self.classes_))
        self._space = LabelSpace(hierarchy, hierarchy.leaves)
        return self

    def _likeness(self, texts: list[str]) -> np.ndarray:
        return (self.vectorizer_.transform(texts) @ self.words_.T).toarray()

    def predict(self, texts: list[str]) -> np.ndarray:
        parts = [
            self.classes_[self._likeness(texts[start : start + 500]).argmax(axis=1)]
            for start in range(0, len(texts), 500)
        ]
        return np.concatenate(parts)

    def predict_node_proba(self, texts: list[str]) -> np.ndarray:
        scores = self.sharpness * self._likeness(texts)
        proba = np.exp(scores - scores.max(axis=1, keepdims=True))
        proba /= proba.sum(axis=1, keepdims=True)
        return self._space.marginals(proba).T


def words_of(path: str) -> str:
    return " ".join(re.findall(r"\w+", path.lower()))


def make_rows(hierarchy: pm.Hierarchy, n_rows: int, seed: int) -> tuple[list[str], np.ndarray]:
    """Texts of some leaves' words, and the leaves' paths."""
    rng = np.random.default_rng(seed)
    paths = hierarchy.path_strings[rng.choice(hierarchy.leaves, n_rows)]
    everything = np.array(words_of(" ".join(hierarchy.path_strings[hierarchy.leaves])).split())
    texts = []
    for path in paths:
        words = [word for word in words_of(path).split() if rng.random() < 0.55]
        noise = rng.choice(everything, rng.integers(1, 4)).tolist()
        texts.append(" ".join(rng.permutation(words + noise).tolist()))
    return texts, paths


def time_in_browser(page: Path, repeats: int) -> list[float]:
    """Seconds from the request to a page that is drawn and answers, each in a fresh tab."""
    from playwright.sync_api import sync_playwright

    seconds = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=BROWSER_OPTIONS
        )
        for _ in range(repeats):
            tab = browser.new_page(viewport={"width": 1280, "height": 900})
            begin = time.perf_counter()
            tab.goto(page.as_uri())
            tab.wait_for_selector("html[data-ready=true] .row")
            tab.evaluate("() => new Promise((done) => requestAnimationFrame(() => done(1)))")
            seconds.append(time.perf_counter() - begin)
            tab.close()
        browser.close()
    return seconds


def make_case(options: argparse.Namespace) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """Return a model, rows with their labels, and options of the report."""
    hierarchy = fetch(options.taxonomy).hierarchy
    texts, paths = make_rows(hierarchy, options.rows, options.seed)
    title = f"{options.taxonomy}, {options.rows:,} rows"
    return NearestWords().fit(hierarchy), (texts, paths), {"title": title}


def load_case(options: argparse.Namespace) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """Return a model of a file, its table, and options of the report."""
    frame = pd.read_csv(options.table, dtype=str, keep_default_na=False)
    more = {"title": f"{options.model.stem} on {options.table.name}"}
    if options.other:
        names = (options.model.stem, options.other.stem)
        more |= {"other": pm.load(options.other), "names": names}
    return pm.load(options.model), (frame,), more


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--taxonomy", default="shopify_product_taxonomy")
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path, help="keep the page here")
    parser.add_argument("--model", type=Path, help="a model of palmette fit, instead of a taxonomy")
    parser.add_argument("--table", type=Path, help="a table with true labels, for --model")
    parser.add_argument("--other", type=Path, help="a second model, to compare")
    options = parser.parse_args()

    model, rows, more = load_case(options) if options.model else make_case(options)
    begin = time.process_time()
    found = report(model, *rows, **more)
    made = time.process_time() - begin
    with tempfile.TemporaryDirectory() as folder:
        page = (options.out or Path(folder) / "report.html").resolve()
        begin = time.perf_counter()
        found.write(page)
        written = time.perf_counter() - begin
        seconds = time_in_browser(page, options.repeats)
        size = page.stat().st_size
    facts = found.facts["setting"]
    print(f"{facts['hierarchy']['nodes']:,} nodes, {facts['data']['rows']:,} rows; {found!r}")
    print(found.facts["verdict"])
    print(f"facts {made:.1f} CPU s, page written in {written:.2f} s, {size / 1e6:.2f} MB")
    print(
        f"opens in {statistics.median(seconds):.2f} s (median of {len(seconds)}; first "
        f"{seconds[0]:.2f} s, slowest {max(seconds):.2f} s)"
    )


if __name__ == "__main__":
    main()
