"""How well texts without spaces are classified, beside characters of scikit-learn.

    python benchmarks/bench_scripts.py --babel zh ja th
    python benchmarks/bench_scripts.py TABLE.csv --text label --target group

The tables of Babel have the names of countries, languages, scripts, currencies, cities and times in
a language, and what they are names of. Others have a column of texts and one of classes. Both sides
use LinearSVC; the baseline counts groups of one to three characters of the whole text, with
sublinear tf-idf weights. The difference is that of the folds, with twice its standard error.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from palmette.table._texts import TextVectorizer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="*")
    parser.add_argument("--babel", nargs="*", default=[], help="languages")
    parser.add_argument("--text", default="text")
    parser.add_argument("--target", default="group")
    parser.add_argument("--folds", type=int, default=5)
    args = parser.parse_args()
    baseline = TfidfVectorizer(analyzer="char", ngram_range=(1, 3), sublinear_tf=True)
    print("| table | rows | ours | characters | difference |\n|---|---:|---:|---:|---:|")
    tables = {f"names, {code}": names_in(code) for code in args.babel}
    tables |= {name: pd.read_csv(name, dtype=str) for name in args.tables}
    for name, table in tables.items():
        frame = table.dropna(subset=[args.text, args.target])
        X, y = frame[args.text].to_numpy(dtype=object), frame[args.target].to_numpy(dtype=object)
        folds = StratifiedKFold(args.folds, shuffle=True, random_state=0)
        ours, theirs = (
            cross_val_score(make_pipeline(each, LinearSVC()), X, y, cv=folds)
            for each in (TextVectorizer(), baseline)
        )
        gaps = ours - theirs
        error = 2 * gaps.std(ddof=1) / np.sqrt(len(gaps))
        print(f"| {name} | {len(X):,} | {ours.mean():.3f} | {theirs.mean():.3f} "
              f"| {gaps.mean():+.3f} ± {error:.3f} |")  # fmt: skip


def names_in(code: str) -> pd.DataFrame:
    """Return names that Babel has in a language, and what they are names of."""
    from babel import Locale

    locale = Locale(code)
    kinds = ("territories", "languages", "scripts", "currencies", "variants")
    rows = [(str(name), kind) for kind in kinds for name in getattr(locale, kind).values()]
    rows += [(zone["city"], "cities") for zone in locale.time_zones.values() if "city" in zone]
    zones = [zone["long"] for zone in locale.meta_zones.values() if zone.get("long")]
    rows += [(zone.get("standard") or zone.get("generic"), "zones") for zone in zones]
    frame = pd.DataFrame(rows, columns=["text", "group"]).dropna().drop_duplicates("text")
    return frame[~frame["text"].map(str.isascii)].sample(frac=1, random_state=0)


if __name__ == "__main__":
    main()
