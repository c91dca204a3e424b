"""How well texts without spaces are classified, beside characters of scikit-learn.

    python benchmarks/bench_scripts.py TABLE.csv --text label --target group

The table has a column of texts and one of classes, in any language. Both sides use LinearSVC; the
baseline counts groups of one to three characters of the whole text, with sublinear tf-idf weights.
The difference is that of the folds, with twice its standard error.
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
    parser.add_argument("tables", nargs="+")
    parser.add_argument("--text", required=True)
    parser.add_argument("--target", required=True)
    parser.add_argument("--folds", type=int, default=5)
    args = parser.parse_args()
    baseline = TfidfVectorizer(analyzer="char", ngram_range=(1, 3), sublinear_tf=True)
    print("| table | rows | ours | characters | difference |\n|---|---:|---:|---:|---:|")
    for name in args.tables:
        frame = pd.read_csv(name, dtype=str).dropna(subset=[args.text, args.target])
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


if __name__ == "__main__":
    main()
