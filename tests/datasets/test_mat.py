from __future__ import annotations

import io
import struct
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from palmette.datasets._mat import Mat5Error, read_mat, read_mat5
from palmette.exceptions import HierarchyError, ReadError

Write = Callable[[str, str | bytes], Path]
TREE = np.array([[3, 1], [3, 1], [0, 0]], dtype=np.uint8)


def saved(compressed: bool = False, **variables: Any) -> bytes:
    stream = io.BytesIO()
    scipy.io.savemat(stream, variables, do_compression=compressed)
    return stream.getvalue()


# ---------------------------------------------------------------------- the format

dtypes = st.sampled_from(
    [np.float64, np.float32, np.int8, np.uint16, np.int32, np.uint64, np.bool_]
)


@settings(max_examples=40, deadline=None)
@given(
    hnp.arrays(dtypes, hnp.array_shapes(min_dims=2, max_dims=2, min_side=0, max_side=6)),
    st.booleans(),
    st.booleans(),
)
def test_matrices_are_read_as_scipy_reads_them(
    matrix: np.ndarray, compressed: bool, thin: bool
) -> None:
    value = sparse.csc_array(matrix.astype(np.float64)) if thin else matrix
    content = saved(compressed, other=["text"], m=value)
    ours = read_mat5(content, {"m"}, 10**6)["m"].value
    theirs = scipy.io.loadmat(io.BytesIO(content))["m"]
    if thin:
        ours, theirs = ours.toarray(), theirs.toarray()
    np.testing.assert_array_equal(ours, theirs)


def test_other_variables_are_named_only() -> None:
    found = read_mat5(saved(True, a=np.eye(2), b={"x": 1}, c="text"), {"a"}, 10)
    assert {name: variable.value is None for name, variable in found.items()} == {
        "a": False,
        "b": True,
        "c": True,
    }


@pytest.mark.parametrize(
    "value", [{"x": 1}, "text", np.array([["a", 1]], dtype=object), 1j, np.zeros((2, 2, 2))]
)
def test_what_is_no_real_matrix_is_refused(value: Any) -> None:
    with pytest.raises(Mat5Error, match="expected a real matrix"):
        read_mat5(saved(m=value), {"m"}, 10**6)


def test_big_endian_files_are_read() -> None:
    def element(kind: int, body: bytes) -> bytes:
        return struct.pack(">II", kind, len(body)) + body + b"\0" * (-len(body) % 8)

    matrix = (
        element(6, struct.pack(">II", 6, 0))
        + element(5, struct.pack(">ii", 1, 2))
        + element(1, b"m")
        + element(9, struct.pack(">dd", 1.5, -2))
    )
    content = b"x" * 124 + b"\x01\x00MI" + element(14, matrix)
    assert read_mat5(content, {"m"}, 10)["m"].value.tolist() == [[1.5, -2]]


def test_a_sparse_matrix_with_wild_indices_is_refused() -> None:
    content = saved(m=sparse.csc_array(np.eye(4)))
    for value in (4, 2**31 - 1, -1):
        rows = struct.pack("<iiii", 0, 1, 2, 3)
        wild = content.replace(rows, struct.pack("<iiii", 0, 1, 2, value), 1)
        assert wild != content
        with pytest.raises(Mat5Error, match="index outside of its 4 rows"):
            read_mat5(wild, {"m"}, 100)


# ---------------------------------------------------------------------- the layouts


def test_data_array_and_tree(write: Write) -> None:
    content = saved(data_array=[[0.5, 1], [0.7, 2], [0.1, 3]], tree=TREE)
    bunch = read_mat(write("f.mat", content))
    assert bunch.X.tolist() == [[0.5], [0.7], [0.1]]
    assert bunch.y.tolist() == [1, 2, 3]
    assert bunch.hierarchy.names.tolist() == [3, 1, 2]
    assert bunch.hierarchy.index([1, 3]).tolist() == [1, 0]
    assert bunch.feature_names.tolist() == ["x0"]


def test_levels_are_not_trusted(write: Write) -> None:
    tree = [[0, 0], [1, 1], [2, 7], [2, 7]]  # the levels of nodes 3 and 4 are wrong
    bunch = read_mat(write("f.mat", saved(data_array=[[1.0, 3]], tree=tree)))
    assert bunch.hierarchy.max_depth == 2
    assert bunch.hierarchy.names.tolist() == [1, 2, 3, 4]


def test_a_tree_of_bytes_is_widened(write: Write) -> None:
    parents = np.full(250, 250, dtype=np.uint8)
    parents[-1] = 0
    content = saved(data_array=[[1.0, 249]], tree=parents[:, None])
    assert read_mat(write("f.mat", content)).hierarchy.n_leaves == 249


def test_mostly_zeros_are_sparse(write: Write) -> None:
    data = np.zeros((10, 30))
    data[:, -1] = 1
    data[3, 4] = 2
    bunch = read_mat(write("f.mat", saved(data_array=data, tree=TREE)))
    assert isinstance(bunch.X, sparse.csr_array)
    np.testing.assert_array_equal(bunch.X.toarray(), data[:, :-1])


@pytest.mark.parametrize("negative", [0, -1])
def test_data_and_target(write: Write, negative: int) -> None:
    target = np.array([[1, negative, 1], [negative, 1, 1]], dtype=np.int8)
    bunch = read_mat(write("f.mat", saved(data=np.eye(3), target=target)))
    assert bunch.y.tolist() == [[1, 0], [0, 1], [1, 1]]
    assert bunch.label_names.tolist() == ["y0", "y1"]
    assert bunch.hierarchy.n_leaves == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (saved(a=1, b=2), "expected the variables data_array and tree.*found a, b"),
        (saved(data_array=[[1.0, 9]], tree=TREE), "row 1 of data_array has the class 9"),
        (saved(data_array=[[1.0, 1.5]], tree=TREE), "classes are not integers"),
        (saved(data_array=[[1.0, np.nan]], tree=TREE), "classes are not integers"),
        (saved(data_array=[[1.0, 1]], tree=[[5], [0]]), "not a node from 1 to 2"),
        (saved(data_array=[[1.0]], tree=TREE), "shape"),
        (saved(data=np.eye(3), target=np.ones((2, 2))), "labels x rows"),
        (saved(data=np.eye(2), target=[[1, 7]]), "target has"),
        (b"MATLAB 7.3 MAT-file" + b" " * 493 + b"\x89HDF\r\n\x1a\n", "HDF5.*'-v7'"),
        (b"\x89HDF\r\n\x1a\n", "HDF5"),
        (b"", "no MATLAB 5 head"),
        (b"junk" * 100, "no MATLAB 5 head"),
    ],
)
def test_errors_say_what_is_wrong(write: Write, content: bytes, message: str) -> None:
    with pytest.raises(ReadError, match=message):
        read_mat(write("f.mat", content))


def test_a_tree_with_a_cycle_or_two_roots_is_an_error(write: Write) -> None:
    for tree in ([[2], [1], [0]], [[0], [0]]):
        with pytest.raises(HierarchyError, match=r"f\.mat"):
            read_mat(write("f.mat", saved(data_array=[[1.0, 1]], tree=tree)))


def test_absurd_sizes_are_refused_before_anything_is_made(write: Write) -> None:
    content = saved(data_array=np.ones((3, 2)), tree=TREE)
    shape = struct.pack("<ii", 3, 2)
    for claim in ((2**31 - 1, 2**31 - 1), (-1, -6), (2**30, 2)):
        absurd = content.replace(shape, struct.pack("<ii", *claim), 1)
        assert absurd != content
        with pytest.raises(ReadError, match="expected at most"):
            read_mat(write("f.mat", absurd))


# ---------------------------------------------------------------------- version 7.3


def hdf5(fill: Callable[[Any], None]) -> bytes:
    h5py = pytest.importorskip("h5py")
    stream = io.BytesIO()
    with h5py.File(stream, "w", userblock_size=512) as file:
        fill(file)
    return stream.getvalue()


def test_hdf5_holds_the_same_matrices(write: Write) -> None:
    data = np.array([[0.5, 0.0, 1], [0.0, 0.7, 2], [0.0, 0.0, 3]])

    def fill(file: Any) -> None:
        file["tree"] = TREE.T
        thin = sparse.csc_array(data)
        group = file.create_group("data_array")
        group.attrs["MATLAB_sparse"] = np.uint64(3)
        for key, value in (("ir", thin.indices), ("jc", thin.indptr), ("data", thin.data)):
            group[key] = value
        file["notes"] = np.zeros((2, 2, 2))

    found = read_mat(write("f.mat", hdf5(fill)))
    whole = read_mat(
        write("g.mat", hdf5(lambda f: f.update({"tree": TREE.T, "data_array": data.T})))
    )
    for bunch in (found, whole):
        X = bunch.X.toarray() if sparse.issparse(bunch.X) else bunch.X
        np.testing.assert_array_equal(X, data[:, :2])
        assert bunch.y.tolist() == [1, 2, 3]


def test_hdf5_reads_no_other_files_and_no_other_things(write: Write) -> None:
    h5py = pytest.importorskip("h5py")
    outside = h5py.ExternalLink("other.mat", "/data_array")
    cases = [
        (lambda f: f.update({"data_array": outside}), "data_array is a link to another file"),
        (lambda f: f.update({"data_array": h5py.SoftLink("/x")}), "is a link"),
        (
            lambda f: f.create_dataset("tree", (2, 2), "f8", external="o.bin"),
            "not an array of real",
        ),
        (lambda f: f.create_dataset("tree", data=["text"]), "not an array of real"),
        (lambda f: f.create_dataset("tree", (2**20, 2**20), "f8", chunks=(64, 64)), "at most"),
        (lambda f: f.create_group("tree"), "struct"),
        (lambda f: f.update({"tree": np.zeros((2, 2, 2))}), "3 dimensions"),
    ]
    for fill, message in cases:
        with pytest.raises(ReadError, match=message):
            read_mat(write("f.mat", hdf5(fill)))
    with pytest.raises(ReadError, match="HDF5"):
        read_mat(write("f.mat", hdf5(lambda f: f.update({"tree": TREE.T}))[:600]))


def test_without_h5py_the_package_is_named(write: Write, monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(ReadError, match=r"needs h5py: pip install 'palmette\[hdf5\]'.*'-v7'"):
        read_mat(write("f.mat", b"\x89HDF\r\n\x1a\n"))


def test_a_packed_bomb_is_cut_off(write: Write) -> None:
    bomb = zlib.compress(struct.pack("<II", 14, 2**32 - 1) + b"\0" * 5_000_000)
    content = b" " * 124 + b"\x00\x01IM" + struct.pack("<II", 15, len(bomb)) + bomb
    with pytest.raises(ReadError):
        read_mat(write("f.mat", content))
