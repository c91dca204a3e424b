"""Small models of the three kinds that a server may have, each fitted once per process."""

from __future__ import annotations

import warnings
from functools import cache

from tests.table.goods import make_goods

from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy._vocabulary import Vocabulary
from palmette.table import TableModel, fit_table

with warnings.catch_warnings():  # newer versions prefer a successor of httpx
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

__all__ = ["TestClient", "of_subjects", "of_tables", "of_texts", "without_scores"]

SUBJECTS = {"u:cat": "cat purr", "u:dog": "dog bark", "u:oak": "oak acorn"}


@cache
def of_texts() -> TableModel:
    """Return a model of one column of text."""
    goods = make_goods()[["title", "kind"]]
    return fit_table(goods, "kind", model="flat-naive-bayes", folds=0)


@cache
def without_scores() -> TableModel:
    """Return a model of one column of text that has no probabilities."""
    goods = make_goods()[["title", "kind"]]
    return fit_table(goods, "kind", model="flat-svm", folds=0)


@cache
def of_tables() -> TableModel:
    """Return a model of columns of all kinds."""
    columns = {"title": "text", "price": "number", "colour": "category", "since": "date"}
    return fit_table(make_goods(), "kind", model="flat-naive-bayes", columns=columns, folds=0)


@cache
def of_subjects() -> TableModel:
    """Return a model of texts with several subjects each, concepts of a thesaurus that is a DAG."""
    edges = [("root", "u:life"), ("root", "u:pets"), ("u:life", "u:cat"), ("u:life", "u:dog"),
             ("u:life", "u:oak"), ("u:pets", "u:cat"), ("u:pets", "u:dog")]  # fmt: skip
    vocabulary = Vocabulary(
        {
            "en": {"u:life": "life", "u:cat": "cat", "u:dog": "dog", "u:oak": "oak"},
            "fi": {"u:life": "elämä", "u:cat": "kissa", "u:dog": "koira", "u:pets": "lemmikit"},
        },
        notations={"u:cat": ["59.1"]},
        language="en",
    )
    hierarchy = Hierarchy.from_edges(edges).with_vocabulary(vocabulary)
    names = list(SUBJECTS)
    pairs = [(names[i % 3], names[(i + 1 + i // 3 % 2) % 3]) for i in range(48)]
    table = {
        "text": [f"{SUBJECTS[a]} and {SUBJECTS[b]}" for a, b in pairs],
        "subjects": [f"{a};{b}" for a, b in pairs],
    }
    return fit_table(
        table, "subjects", hierarchy=hierarchy, labels_separator=";", separator="",
        columns={"text": "text"}, model="multilabel-linear", folds=0,
    )  # fmt: skip
