"""Types of columns of pandas, polars and pyarrow, and models that learned from such labels."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from tests.persistence.round_trips import again

import palmette as pm
from palmette import PalmetteError

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

try:
    NAN_STRINGS = pd.StringDtype(na_value=np.nan)
except TypeError:  # pandas 2.2
    NAN_STRINGS = pd.StringDtype("pyarrow_numpy")

TYPES = [
    pd.CategoricalDtype(["b", "a"], ordered=True),
    pd.CategoricalDtype(pd.Index([1, 2])),
    pd.StringDtype(),
    NAN_STRINGS,
    pd.Int64Dtype(),
    pd.BooleanDtype(),
    pl.String(),
    pl.Int32(),
    pl.Categorical(),
    pl.Enum(["x", "y"]),
    pa.string(),
    pa.int16(),
    pa.dictionary(pa.int32(), pa.string()),
]


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_types_of_columns_come_back(dtype):
    made = again((dtype,))[0]
    assert made == dtype
    assert type(made) is type(dtype)


def test_types_that_no_label_has_are_refused():
    for dtype in (pl.List(pl.Int8), pa.list_(pa.int8())):
        with pytest.raises(PalmetteError, match="columns of labels do not have this type"):
            again({"dtype": dtype})


@pytest.mark.parametrize(
    "index", [pd.Index(["a", "b"], name="n"), pd.RangeIndex(3), pd.Index([1.5, np.nan])]
)
def test_indexes_come_back(index):
    assert again([index])[0].equals(index)
    assert again([index])[0].name == index.name


@pytest.mark.parametrize(
    "labels",
    [
        pd.Series(list("abab"), dtype="category", name="label"),
        pd.Series(list("abab")),
        pd.DataFrame({"top": list("aabb"), "low": list("xyzz")}),
        pl.Series("label", list("abab")),
        pl.DataFrame({"top": list("aabb"), "low": list("xyzz")}),
    ],
    ids=lambda y: f"{type(y).__module__.partition('.')[0]} {type(y).__name__}",
)
def test_models_write_labels_as_they_came(labels):
    X = np.array([[0.0, 1], [5, 1], [0, 7], [5, 7]])
    model = pm.LocalPerParentClassifier(GaussianNB()).fit(X, labels)
    told, asked = again(model).predict(X), model.predict(X)
    assert type(told) is type(asked)
    assert told.equals(asked)
