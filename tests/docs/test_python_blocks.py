"""Every Python block of the README and the documentation runs, and prints what the page shows."""

from __future__ import annotations

import sys
from importlib.util import find_spec

import numpy as np
import pytest
from joblib import parallel_config
from tests.docs.goods import make_goods
from tests.docs.pages import PAGES, ROOT, blocks_of, differences, run_block

import palmette as pm
from palmette.table._candidates import choose

SHORT = ("README.md", "tour.md")  # pages that speak of rows and labels without making them
WITH_CODE = [page for page in PAGES if blocks_of(page, "python")]
TREE = [("animal", "cat"), ("animal", "dog"), ("plant", "oak")]
# the docstrings of the library are those of the running Python; the pages were made with this one
SHOWN_PYTHON = (3, 11)  # whose docstrings the pages show, if all of the library is installed
IS_SHOWN_PYTHON = sys.version_info[:2] == SHOWN_PYTHON and find_spec("idlelib") is not None


def readme_names() -> dict[str, object]:
    """What README and tour speak of without making it: rows of three classes, a table."""
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1, 2], 10)
    y = [TREE[code] for code in codes]
    return {
        "X": rng.normal(size=(30, 4)) + 4 * np.eye(4)[codes],
        "y": y,
        "labels": np.array([path[-1] for path in y]),
        "test_table": make_goods(20, 1),
        "label_sets": [{TREE[code], TREE[2]} for code in codes],
    }


def parameter_of(page):
    """Return a page as a parameter: that of the README is for every run of the tests."""
    marks = () if page.name == "README.md" else pytest.mark.thorough
    return pytest.param(page, marks=marks, id=str(page.relative_to(ROOT)))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", [parameter_of(page) for page in WITH_CODE])
def test_blocks_run_and_print_what_is_shown(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # an example of the command line compares all models on these rows
    monkeypatch.setattr("palmette.table._fit.choose", lambda situation: choose(situation)[:3])
    (tmp_path / "taxonomy.txt").write_text("\n".join(" > ".join(path) for path in TREE))
    make_goods(40, 0).to_csv(tmp_path / "products.csv", index=False)
    names = readme_names() if page.name in SHORT else {}
    follows_python = "load_stdlib_docstrings" in page.read_text(encoding="utf-8")
    compares = not follows_python or IS_SHOWN_PYTHON
    for block in blocks_of(page, "python"):
        if page.name in SHORT:  # a block's own: models of the block before may take minutes
            names["clf"] = pm.LocalPerParentClassifier()
        with parallel_config("threading"):  # a process of joblib imports for seconds
            printed = run_block(page, block, names)
        if compares and block.shown is not None:
            assert not differences(printed, block.shown), f"{page.name}, line {block.line}"


def test_pages_are_found():
    names = {page.name for page in WITH_CODE}
    assert {"README.md", "index.md", "model_files.md", "taxonomy_and_text.md"} <= names


@pytest.mark.parametrize(
    ("printed", "shown", "n_found"),
    [
        ("F1 0.81\n", "F1 0.82\n", 0),
        ("F1 0.81\n", "F1 0.85\n", 1),
        ("1,010 rows\n", "1,000 rows\n", 0),
        ("1,100 rows\n", "1,000 rows\n", 1),
        ("├─ cat\n", "├─ dog\n", 1),
        ("one\ntwo\n", "one\n", 1),
    ],
)
def test_numbers_may_be_near_and_words_must_be_equal(printed, shown, n_found):
    assert len(differences(printed, shown)) == n_found
