"""Features of a table: sparse with texts, without gaps, the same in any chunk."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import sparse

from palmette.table.schema import Schema
from palmette.table.vectorize import TableFeatures


def features_of(frame, text="tfidf"):
    schema = Schema.infer(frame)
    vectorizer = TableFeatures(schema, text)
    return vectorizer, schema, vectorizer.fit_transform(schema.cast(frame))


def test_texts_keep_the_matrix_sparse(goods):
    vectorizer, _, X = features_of(goods.drop(columns="kind"))
    assert sparse.issparse(X)
    assert np.isfinite(X.data).all()
    assert X.shape == (len(goods), vectorizer.n_features_)
    assert len(vectorizer.get_feature_names_out()) == vectorizer.n_features_
    assert X.indices.dtype == np.int32
    assert "texts by tfidf" in vectorizer.describe()


def test_numbers_alone_are_dense_and_scaled(goods):
    _, _, X = features_of(goods[["price", "colour", "since"]])
    assert isinstance(X, np.ndarray)
    assert np.allclose(X.mean(axis=0), 0, atol=1e-9)
    assert np.isfinite(X).all()


def test_rows_alone_have_the_features_that_they_have_together(goods):
    vectorizer, schema, X = features_of(goods.drop(columns="kind"))
    parts = [vectorizer.transform(schema.cast(goods.iloc[i : i + 27])) for i in range(0, 80, 27)]
    assert np.allclose(sparse.vstack(parts).toarray(), X.toarray())


def test_gaps_and_new_categories_are_no_trouble(goods):
    vectorizer, schema, _ = features_of(goods.drop(columns="kind"))
    strange = pd.DataFrame(
        {"title": [None, "xyz"], "price": [None, "1"], "colour": ["pink", None], "since": None}
    )
    X = vectorizer.transform(schema.cast(strange))
    assert np.isfinite(X.data).all()
    assert X.shape[1] == vectorizer.n_features_


def test_words_are_told_by_column_where_there_are_several(goods):
    alone, _, _ = features_of(goods[["title"]])
    both, _, _ = features_of(goods[["title", "price"]])
    assert "apple" in alone.get_feature_names_out()
    assert "title: apple" in both.get_feature_names_out()
    assert both.get_feature_names_out()[-1] == "price"


def test_hashing_has_a_fixed_width(goods):
    _, _, X = features_of(goods[["title"]], "hashing")
    assert X.shape[1] == 2**17
