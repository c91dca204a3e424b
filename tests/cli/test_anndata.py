"""AnnData files: `palmette fit cells.h5ad`, and answers in `.obs`."""

from __future__ import annotations

from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import palmette as pm
from palmette.table._reading import read_chunks, read_whole
from palmette.table._sources import TableSource

anndata = pytest.importorskip("anndata", reason="the extra anndata is not installed")

OBO = """format-version: 1.2

[Term]
id: CL:1
name: leukocyte

[Term]
id: CL:2
name: lymphocyte
is_a: CL:1 ! leukocyte

[Term]
id: CL:3
name: T cell
is_a: CL:2 ! lymphocyte

[Term]
id: CL:4
name: B cell
is_a: CL:2 ! lymphocyte

[Term]
id: CL:5
name: monocyte
is_a: CL:1 ! leukocyte
"""


@pytest.fixture
def cells(tmp_path):
    """Sixty cells of three types, whose counts of five genes are sparse."""
    rng = np.random.default_rng(0)
    codes = np.arange(60) % 3
    means = np.array([[9, 0, 1, 1, 0], [0, 9, 1, 0, 1], [1, 1, 9, 0, 0]])
    counts = rng.poisson(means[codes])
    names = np.array(["CL:3", "CL:4", "CL:5"])[codes]
    made = anndata.AnnData(
        sparse.csr_matrix(counts.astype(np.float32)),
        obs=pd.DataFrame(
            {"cell_type": pd.Categorical(names), "cluster": codes.astype(str)},
            index=[f"cell{i}" for i in range(60)],
        ),
        var=pd.DataFrame(index=["CD3E", "MS4A1", "LYZ", "ACTB", "NKG7"]),
    )  # fmt: skip
    made.write_h5ad(tmp_path / "cells.h5ad")
    (tmp_path / "cl.obo").write_text(OBO, encoding="utf-8")
    return made, tmp_path


def test_cells_are_rows_and_chunks_change_nothing(cells):
    made, folder = cells
    source = TableSource.of(folder / "cells.h5ad")
    frame = read_whole(source)
    assert list(frame) == [*made.var_names, "cell_type", "cluster"]
    np.testing.assert_array_equal(frame.iloc[:, :5].to_numpy(), made.X.toarray())
    pd.testing.assert_frame_equal(pd.concat(read_chunks(source, 7), ignore_index=True), frame)


def test_a_model_of_cells_writes_coherent_levels_to_obs(cells, palmette):
    made, folder = cells
    model, out = folder / "m.palmette", folder / "out.h5ad"
    words = ["--target", "cell_type", "--hierarchy", folder / "cl.obo", "--folds", 0]
    words += ["--model", "flat-linear", "--out", model]
    result = palmette("fit", folder / "cells.h5ad", *words)
    assert result.exit_code == 0, result.output
    fitted = pm.load(model)
    assert set(fitted.schema_.kinds) == set(made.var_names)  # not the cluster, which is in .obs
    result = palmette("predict", model, folder / "cells.h5ad", "--out", out)
    assert result.exit_code == 0, result.output
    found = anndata.read_h5ad(out)
    np.testing.assert_array_equal(found.X.toarray(), made.X.toarray())
    assert list(found.obs_names) == list(made.obs_names)
    ends = found.obs["prediction"].astype(str).str.split(r"/| > ", regex=True).str[-1]
    assert (ends == found.obs["cell_type"].astype(str)).mean() > 0.9
    assert found.obs["probability"].between(0, 1).all()
    levels = [name for name in found.obs if "level" in name]
    assert levels == [f"prediction_level_{k}" for k in range(1, fitted.hierarchy_.max_depth + 1)]
    h = fitted.hierarchy_
    for _, row in found.obs.iterrows():
        named = [row[name] for name in levels if isinstance(row[name], str)]
        assert named[-1] == row["prediction"].split("/")[-1].split(" > ")[-1]
        for above, below in pairwise(named):
            assert h.index(above) in h.parents_of(h.index(below))


def test_names_of_the_ontology_are_predicted_where_the_cells_have_names(cells, palmette):
    made, folder = cells
    names = {"CL:3": "T cell", "CL:4": "B cell", "CL:5": "monocyte"}
    made.obs["cell_type"] = made.obs["cell_type"].astype(str).map(names)
    made.write_h5ad(folder / "cells.h5ad")
    model, out = folder / "m.palmette", folder / "out.h5ad"
    words = ["--target", "cell_type", "--hierarchy", folder / "cl.obo", "--folds", 0]
    words += ["--model", "flat-linear", "--out", model]
    result = palmette("fit", folder / "cells.h5ad", *words)
    assert result.exit_code == 0, result.output
    assert palmette("predict", model, folder / "cells.h5ad", "--out", out).exit_code == 0
    found = anndata.read_h5ad(out).obs
    assert (found["prediction"].astype(str) == made.obs["cell_type"]).mean() > 0.9
    assert set(found["prediction_level_1"].dropna()) == {"lymphocyte", "monocyte"}


def test_answers_go_to_an_anndata_file_only(cells, palmette):
    _, folder = cells
    table = folder / "cells.csv"
    read_whole(TableSource.of(folder / "cells.h5ad")).to_csv(table, index=False)
    words = ["--target", "cell_type", "--folds", 0, "--model", "flat-linear", "--drop", "cluster"]
    assert palmette("fit", table, *words, "--out", folder / "m.palmette").exit_code == 0
    result = palmette("predict", folder / "m.palmette", table, "--out", folder / "x.h5ad")
    assert result.exit_code == 2
    assert "is not one. Use another suffix" in result.stderr
    assert not (folder / "x.h5ad").exists()


TYPES = {
    "lymphocyte": None,
    "T cell": "lymphocyte",
    "CD4 T cell": "T cell",
    "CD4+/CD25 T Reg": "CD4 T cell",
    "CD4+/CD45RA+/CD25- Naive T": "CD4 T cell",
    "CD4+/CD45RO+ Memory": "CD4 T cell",
    "CD8+ Cytotoxic T": "T cell",
    "CD8+/CD45RA+ Naive Cytotoxic": "T cell",
    "CD19+ B": "lymphocyte",
    "CD56+ NK": "lymphocyte",
    "myeloid cell": None,
    "CD14+ Monocyte": "myeloid cell",
    "Dendritic": "myeloid cell",
    "CD34+": None,
}


def test_blood_cells_of_ten_types(tmp_path, palmette):
    """The 700 cells that the wheel of scanpy has, with 60 genes; most are told apart."""
    if find_spec("scanpy") is None:
        pytest.skip("scanpy, whose wheel has the cells, is not installed")
    folder = Path(next(iter(find_spec("scanpy").submodule_search_locations)))
    made = anndata.read_h5ad(folder / "datasets" / "10x_pbmc68k_reduced.h5ad")
    made = made[:, made.var["dispersions_norm"].to_numpy().argsort()[-60:]]
    ids = {name: f"CL:{number}" for number, name in enumerate(TYPES)}
    terms = [
        f"\n[Term]\nid: {ids[name]}\nname: {name}\n" + (f"is_a: {ids[above]}\n" if above else "")
        for name, above in TYPES.items()
    ]
    (tmp_path / "cl.obo").write_text("format-version: 1.2\n" + "".join(terms), encoding="utf-8")
    types = made.obs["bulk_labels"].map(ids).astype(str).to_numpy()
    for name, rows in (("train", slice(0, 500)), ("test", slice(500, 700))):
        obs = pd.DataFrame({"cell_type": types[rows]}, index=made.obs_names[rows])
        cells = anndata.AnnData(made.X[rows], obs=obs, var=pd.DataFrame(index=made.var_names))
        cells.write_h5ad(tmp_path / f"{name}.h5ad")
    words = ["--target", "cell_type", "--hierarchy", tmp_path / "cl.obo", "--folds", 0]
    words += ["--model", "local-per-parent", "--out", tmp_path / "m.palmette"]
    result = palmette("fit", tmp_path / "train.h5ad", *words)
    assert result.exit_code == 0, result.output
    words = [tmp_path / "m.palmette", tmp_path / "test.h5ad", "--out", tmp_path / "out.h5ad"]
    result = palmette("predict", *words)
    assert result.exit_code == 0, result.output
    found = anndata.read_h5ad(tmp_path / "out.h5ad").obs
    ends = found["prediction"].astype(str).str.split(" > ").str[-1]
    assert (ends == found["cell_type"].astype(str)).mean() > 0.6
