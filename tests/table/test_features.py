"""Features of a table: kinds of columns, and texts as tf-idf weights."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest
import skrub
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

import palmette.table._texts as text_module
from palmette.exceptions import PalmetteError
from palmette.table import TextVectorizer
from palmette.table._features import TableFeatures
from palmette.table._schema import Schema


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


def test_the_end_of_a_very_long_text_is_not_used(monkeypatch):
    monkeypatch.setattr("palmette.table._texts._MOST_CHARACTERS", 20)
    short, long = TextVectorizer(pieces=None), TextVectorizer(pieces=None)
    assert long.fit(["red apple and pear, " + "plum " * 99, "red"]).n_words_ == (
        short.fit(["red apple and pear, ", "red"]).n_words_
    )


def test_numbers_alone_are_dense_bounded_and_around_zero(goods):
    vectorizer, _, X = features_of(goods[["price", "colour", "since"]])
    assert isinstance(X, np.ndarray)
    assert np.isfinite(X).all()
    assert np.abs(X).max() <= 3
    price = X[:, vectorizer.get_feature_names_out() == "price"]
    assert abs(np.median(price)) < 1e-9


def test_categories_and_gaps_are_flags():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"price": rng.lognormal(sigma=4.0, size=500), "kind": list("ab") * 250})
    frame.loc[0, "price"] = None  # standardized, its flag would be 22
    vectorizer, _, X = features_of(frame)
    columns = dict(zip(vectorizer.get_feature_names_out(), X.T, strict=True))
    assert set(columns) == {"kind_b", "price", "missingindicator_price"}
    assert set(columns["kind_b"]) == set(columns["missingindicator_price"]) == {0.0, 1.0}
    assert columns["price"][0] == 0.0
    assert np.abs(columns["price"]).max() <= 3.0


def test_other_columns_weigh_less_than_a_text():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"x{i}": rng.normal(size=60) for i in range(30)})
    frame["title"] = [f"a red line number {i}, of words that are all known" for i in range(60)]
    vectorizer, _, X = features_of(frame)
    n_words = len(vectorizer.texts_["title"].idf_)
    squares = np.asarray(X.multiply(X).toarray())
    assert squares[:, :n_words].sum(axis=1) == pytest.approx(1.0)
    assert squares[:, n_words:].sum(axis=1).mean() == pytest.approx(0.25)


def test_rows_alone_have_the_features_that_they_have_together(goods):
    vectorizer, schema, X = features_of(goods.drop(columns="kind"))
    parts = [vectorizer.transform(schema.cast(goods.iloc[i : i + 27])) for i in range(0, 80, 27)]
    assert np.allclose(sparse.vstack(parts).toarray(), X.toarray())


def test_numbers_are_those_of_skrub_in_the_order_of_the_columns():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "a": rng.normal(size=40),
            "kind": list("abcd") * 10,
            "kind_b": rng.normal(size=40) * 1e6,
            "since": pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(40), unit="D"),
            "gone": np.full(40, np.nan),
            "z": np.where(np.arange(40) % 3, rng.normal(size=40), np.nan),
        }
    )
    kinds = ["number", "category", "number", "date", "number", "number"]
    schema = Schema(dict(zip(frame, kinds, strict=True)))
    vectorizer = TableFeatures(schema)
    X = vectorizer.fit_transform(schema.cast(frame))
    whole = skrub.TableVectorizer()
    expected = np.asarray(whole.fit_transform(schema.cast(frame)), dtype=np.float64)
    layout = vectorizer._layout()
    assert np.array_equal(vectorizer._found(schema.cast(frame)), expected, equal_nan=True)
    assert next(name for _, name, _ in layout) == "a"
    assert len(layout) == expected.shape[1]
    assert "gone" not in [name for _, name, _ in layout]
    assert X.shape[1] == vectorizer.n_features_ == len(vectorizer.get_feature_names_out())
    assert np.array_equal(vectorizer.transform(schema.cast(frame)), X)


@pytest.mark.filterwarnings("ignore:Found unknown categories")
def test_categories_are_those_of_skrub():
    rng = np.random.default_rng(0)
    words = ["red", "Red ", "été", "no", "a_b", "N/A", " ", "-", None, "?", "x y", "nan"]
    frame = pd.DataFrame({f"c{i}": rng.choice(words[: 1 + i], 30) for i in range(12)}, dtype=object)
    frame["gone"] = np.array([None, "nan"] * 15, dtype=object)
    frame["late"] = np.array(["red"] * 10 + [None] * 20, dtype=object)
    frame["many"] = np.array([f"w{'abc'[i % 3]}{'x' * i}" for i in range(30)], dtype=object)
    schema = Schema(dict.fromkeys(frame, "category"))
    vectorizer = TableFeatures(schema).fit(schema.cast(frame[:20]))
    assert vectorizer.table_ is None  # which takes long for each column
    whole = skrub.TableVectorizer().fit(schema.cast(frame[:20]))
    expected = np.asarray(whole.transform(schema.cast(frame)), dtype=np.float64)
    assert np.array_equal(vectorizer.transform(schema.cast(frame)), expected)
    names = whole.get_feature_names_out().tolist()
    assert vectorizer.get_feature_names_out().tolist() == names


def test_categories_stay_categories_if_they_look_like_numbers_or_dates():
    codes = np.array(["01067", "80331", "10115"] * 4, dtype=object)
    days = np.array(["2024-01-31", "2024-02-01"] * 6, dtype=object)
    schema = Schema({"code": "category", "day": "category"})
    vectorizer = TableFeatures(schema)
    X = vectorizer.fit_transform(schema.cast(pd.DataFrame({"code": codes, "day": days})))
    assert set(X.ravel()) == {0.0, 1.0}
    names = ["code_01067", "code_10115", "code_80331", "day_2024-02-01"]
    assert vectorizer.get_feature_names_out().tolist() == names


def test_many_categories_in_a_column_are_encoded_as_strings():
    words = np.array([f"{a}{b}" for a in "abcdefgh" for b in "stuvwxyz"], dtype=object)
    schema = Schema({"few": "category", "word": "category"})
    frame = pd.DataFrame({"few": words[np.arange(64) % 3], "word": words})
    vectorizer = TableFeatures(schema)
    X = vectorizer.fit_transform(schema.cast(frame))
    assert (list(vectorizer.categories_), vectorizer.encoded_) == (["few"], ["word"])
    assert X[:, :3].sum(axis=1).tolist() == [1.0] * 64
    assert 3 < X.shape[1] <= 33


def test_a_model_in_which_skrub_encodes_numbers_still_answers(goods):
    """Files of version 0.1 have no `encoded_`, `numbers_` and `categories_`."""
    vectorizer, schema, X = features_of(goods[["price", "colour", "since"]])
    cast = schema.cast(goods[["price", "colour", "since"]])
    state = {k: v for k, v in vars(vectorizer).items() if not k.startswith(("enc", "num", "cat"))}
    state["table_"] = skrub.TableVectorizer().fit(cast)
    earlier = TableFeatures.__new__(TableFeatures)
    earlier.__setstate__(state)
    assert np.array_equal(earlier.transform(cast), X)
    assert earlier.get_feature_names_out().tolist() == vectorizer.get_feature_names_out().tolist()


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


TEXTS = [
    "a red apple",
    "a red car and a red van",
    "an apple pie",
    "the car",
    "",
    None,
    "Pie, apple",
]


@pytest.mark.parametrize("method", ["tfidf", "hashing"])
def test_rows_have_length_one_or_are_empty(method):
    X = TextVectorizer(method, max_columns=2**12).fit(TEXTS).transform(TEXTS)
    lengths = np.sqrt(X.multiply(X).sum(axis=1))
    assert np.allclose(lengths, [1, 1, 1, 1, 0, 0, 1])


def test_words_weigh_as_in_scikit_learn():
    texts = [text or "" for text in TEXTS]
    ours = TextVectorizer(pieces=None).fit(texts)
    theirs = TfidfVectorizer(
        sublinear_tf=True, min_df=2, ngram_range=(1, 2), token_pattern=r"(?u)\b\w+\b"
    ).fit(texts)
    assert sorted(ours.names_) == sorted(theirs.vocabulary_)
    order = [theirs.vocabulary_[name] for name in ours.names_]
    found = theirs.transform(texts).toarray()[:, order]
    assert np.allclose(ours.transform(texts).toarray(), found)


@pytest.mark.parametrize("method", ["tfidf", "hashing"])
def test_a_row_does_not_depend_on_its_neighbours(method):
    vectorizer = TextVectorizer(method, max_columns=2**12).fit(TEXTS)
    together = vectorizer.transform(TEXTS).toarray()
    alone = np.vstack([vectorizer.transform([text]).toarray() for text in TEXTS])
    assert np.array_equal(together, alone)


@pytest.mark.parametrize("method", ["tfidf", "hashing"])
def test_texts_in_pieces_give_the_same(method, monkeypatch):
    whole = TextVectorizer(method, max_columns=2**12).fit(TEXTS)
    expected = whole.transform(TEXTS).toarray()
    monkeypatch.setattr(text_module, "_CHARACTERS_AT_ONCE", 5)
    parts = TextVectorizer(method, max_columns=2**12).fit(TEXTS)
    assert np.array_equal(parts.transform(TEXTS).toarray(), expected)
    assert np.array_equal(parts.get_feature_names_out(), whole.get_feature_names_out())


def test_long_texts_have_fewer_pieces():
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcdefgh"), 6)) for _ in range(300)]
    texts = [" ".join(["commonword", *rng.choice(words, 12)]) for _ in range(120)]
    made = TextVectorizer().fit(texts)
    assert (made.pieces_, made.min_rows_, made.max_share_) == ((4, 4), 3, 0.2)
    pieces = made.names_[made.n_words_ :].tolist()
    assert "commonword" in made.names_[: made.n_words_]
    assert not {"*ommo*", "*onwo*"} & set(pieces)
    every = TextVectorizer(max_share=1.0).fit(texts).names_.tolist()
    assert "*ommo*" in every
    short = TextVectorizer().fit(words)
    assert (short.pieces_, short.min_rows_, short.max_share_) == ((3, 4), 2, 1.0)


@pytest.mark.parametrize("many", [3, 2000])
def test_rows_of_grams_are_counted_as_by_sets(many):
    rng = np.random.default_rng(0)
    texts = [" ".join(map(str, rng.integers(0, many, 40))) for _ in range(many)]
    made = TextVectorizer(pieces=None, min_rows=1, max_columns=2**20).fit(texts)
    expected = Counter(word for text in texts for word in set(text.split()))
    idf = dict(zip(made.names_, made.idf_, strict=True))
    for word, count in expected.items():
        assert idf[word] == np.log((1 + many) / (1 + count)) + 1
    assert (np.diff(made.idf_) >= 0).all()  # frequent grams first


def test_names_read_as_the_grams_do():
    vectorizer = TextVectorizer(pieces=(3, 3), min_rows=1).fit(["red car"])
    assert sorted(vectorizer.names_[: vectorizer.n_words_]) == ["car", "red", "red car"]
    pieces = sorted(vectorizer.names_[vectorizer.n_words_ :])
    assert pieces == ["*ar", "*car*", "*ed", "*red*", "ca*", "re*"]


def test_the_most_frequent_grams_are_kept():
    texts = ["a b", "a b", "a c", "a c", "a"]
    assert TextVectorizer(pieces=None, max_columns=2).fit(texts).names_.tolist().count("a") == 1
    assert len(TextVectorizer(pieces=None, max_columns=2).fit(texts).idf_) == 2


def test_grams_of_a_single_row_count_where_no_other_does():
    assert TextVectorizer(pieces=None).fit(["only once"]).transform(["once"]).nnz == 1


def test_scripts_without_spaces_get_short_pieces():
    assert TextVectorizer().fit(["数据科学", "机器学习"]).pieces_ == (1, 3)
    assert TextVectorizer().fit(["data science"]).pieces_ == (3, 4)


@pytest.mark.parametrize(
    "wrong", [{"method": "bag"}, {"pieces": (3, 2)}, {"pieces": "long"}, {"max_columns": 1}]
)
def test_wrong_parameters_are_named(wrong):
    with pytest.raises(PalmetteError, match=next(iter(wrong))):
        TextVectorizer(**wrong).fit(TEXTS)


def test_indices_are_those_that_scikit_learn_takes():
    X = TextVectorizer().fit(TEXTS).transform(TEXTS)
    assert X.indices.dtype == X.indptr.dtype == np.int32


def test_weights_that_are_not_finite_are_an_error(goods):
    vectorizer, schema, _ = features_of(goods[["title"]])
    vectorizer.texts_["title"].idf_[:] = np.nan
    with pytest.raises(PalmetteError, match="the features of a row are not finite"):
        vectorizer.transform(schema.cast(goods[["title"]]))


def test_numbers_and_times_have_the_same_features_whatever_their_unit_and_zero():
    rng = np.random.default_rng(0)
    price = np.rint(rng.normal(size=60) * 64) / 64
    seconds = np.rint(rng.normal(size=60) * 600)
    changes = (lambda x: x, lambda x: x * 2.0**-100, lambda x: x + 1.7e9, lambda x: x * 2.0**40)
    found = []
    for change in changes:
        frame = pd.DataFrame({"price": change(price), "other": rng.random(60)})
        vectorizer, schema, X = features_of(frame)
        assert np.array_equal(vectorizer.transform(schema.cast(frame)), X)
        found.append(X[:, vectorizer.get_feature_names_out() == "price"])
    for other in found:
        np.testing.assert_allclose(other, found[0], atol=1e-9)

    dates = pd.DataFrame({"since": pd.to_datetime(1_700_000_000 + seconds, unit="s")})
    vectorizer, _, X = features_of(dates)
    place = vectorizer.get_feature_names_out().tolist().index("since_total_seconds")
    order = np.argsort(seconds, kind="stable")
    assert len(np.unique(X[:, place])) == len(np.unique(seconds))
    assert (np.diff(X[order, place]) >= 0).all()


def test_a_column_of_dates_without_any():
    gone = np.full(4, np.datetime64("NaT"), dtype="datetime64[us]")
    frame = pd.DataFrame({"price": [1.0, 2.0, 4.0, 8.0], "since": gone})
    vectorizer = TableFeatures(Schema({"price": "number", "since": "date"}))
    assert vectorizer.fit_transform(frame).shape == (4, 1)
    assert vectorizer.get_feature_names_out().tolist() == ["price"]


def test_vowel_signs_and_other_marks_are_parts_of_words():
    texts = ["हिन्दी", "நன்றி", "cafe\u0301", "ภาษา"]
    words = TextVectorizer(pieces=None, min_rows=1).fit(texts[:3]).names_.tolist()
    assert sorted(words) == sorted(texts[:3])


def test_each_emoji_is_a_word():
    texts = ["🍎🍏 good", "🍎 bad", "👍🏽"]
    vectorizer = TextVectorizer(pieces=None, min_rows=1).fit(texts)
    assert {"🍎", "🍏", "good", "bad", "👍", "🏽"} <= set(vectorizer.names_)
    assert vectorizer.transform(["x🍎y"]).nnz == 1


def test_texts_without_spaces_have_pieces_of_single_rows_and_no_words():
    vectorizer = TextVectorizer().fit(["苦笑的脸", "冷汗，出汗", "iphone 手机壳"])
    assert vectorizer.n_words_ == 0
    names = {name.strip("*") for name in vectorizer.names_}
    assert {"汗", "冷汗", "手机壳", "苦笑的"} <= names


def test_words_without_spaces_are_no_identifiers():
    letters = [chr(code) for code in range(0x4E00, 0x4E00 + 400)]
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(letters, 3)) for _ in range(200)]
    assert Schema.infer(pd.DataFrame({"word": words})).kinds == {"word": "text"}
    codes = ["".join(rng.choice(list("abcdefghijklmnopqrstuvwxyz"), 9)) for _ in range(200)]
    frame = pd.DataFrame({"code": codes, "price": rng.random(200)})
    assert list(Schema.infer(frame).kinds) == ["price"]


def test_marks_and_spaces_of_scripts_without_spaces_tell_texts_apart():
    texts = ["アリス・ボブ", "アリス ボブ", "アリスボブ", "爱丽丝·鲍勃", "爱丽丝鲍勃"]
    rows = TextVectorizer().fit_transform(texts).toarray()
    assert len({row.tobytes() for row in rows}) == len(texts)
    assert [*TextVectorizer().fit(["two words", "twowords"]).names_].count("_") == 0
