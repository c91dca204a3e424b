"""The page of published methods: its presets, parameters and commands are there, and none lacks."""

from __future__ import annotations

import inspect
import re

import pytest
from tests.docs.pages import ROOT
from tests.instances import public_estimators

import palmette as pm
from palmette import scoring
from palmette.feature_selection._selector import SCORES

PAGE = (ROOT / "docs" / "methods_by_paper.md").read_text(encoding="utf-8")
ACRONYMS = [
    "H-Ada.MH",
    "HiRR-FS",
    "HiRRpar-FS",
    "HiRRsib-FS",
    "HiRRfam-FS",
    "AdaBoost.BHC",
    "SOSHF",
    "SF-H-CS",
    "MF-Tree",
    "CMTL",
    "RDM",
    "RNMF",
    "DRHL",
    "DAGSVM",
    "COCOA",
    "HOMER",
    "RAkEL",
    "CLR",
    "ECC",
    "IBLR",
    "ML-kNN",
    "AdaBoost.MH",
    "AdaBoost.MI",
    "AdaBoost.ECC",
]
PRESETS = re.findall(r"`(\w+)\.preset\(\"([\w-]+)\"", PAGE)
CLASSES = {name: getattr(pm, name) for name, _ in PRESETS if hasattr(pm, name)} | {
    "C45Tree": pm.multilabel.C45Tree
}
PAPERS = re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]  # and the table of first publications
DOI = re.compile(r"doi:(10\.\d+/[^\s;,]+)")


@pytest.mark.parametrize("acronym", ACRONYMS)
def test_every_acronym_is_on_the_page(acronym):
    assert acronym in PAGE


@pytest.mark.parametrize(("name", "preset"), PRESETS)
def test_every_preset_on_the_page_is_there_and_tells_its_paper(name, preset):
    known = {one.lower(): each for one, each in CLASSES[name].presets().items()}[preset.lower()]
    assert known.summary
    assert known.reference
    CLASSES[name].preset(preset)


def test_every_published_preset_of_a_public_class_is_on_the_page():
    named = {(name, preset.lower()) for name, preset in PRESETS}
    spoken = {("HOMER", "mulan"), ("BinaryRelevance", "mulan")}  # MULAN's defaults, in no paper
    for kind in [*public_estimators(), scoring.HirrScore]:
        if not hasattr(kind, "presets"):
            continue
        published = {(kind.__name__, key) for key, one in kind.presets().items() if one.reference}
        scaled = {pair for pair in published if pair[1].endswith("-scaled")}
        assert published - scaled - spoken <= named


# BinaryRelevance is of no paper, and the publications of the other three have no identifier
@pytest.mark.parametrize(
    "name", sorted({*CLASSES} - {"BinaryRelevance", "HOMER", "C45Tree", "ClassTreeClassifier"})
)
def test_references_of_docstrings_can_be_followed(name):
    references = inspect.getdoc(CLASSES[name]).partition("References\n")[2]
    assert "doi:" in references or "https://" in references


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_references_of_presets_are_on_the_page(name):
    for preset in CLASSES[name].presets().values():
        for doi in DOI.findall(preset.reference):
            assert doi in PAGE


@pytest.mark.parametrize("paper", PAPERS, ids=lambda text: text.split("\n")[0])
def test_every_parameter_beside_a_letter_is_one_of_a_class_of_its_paper(paper):
    table = paper.partition("| in the paper | parameter |")[2]
    found = {
        parameter
        for name, preset in re.findall(r"`(\w+)\.preset\(\"([\w-]+)\"", paper)
        for parameter in CLASSES[name].preset(preset).get_params()
    }
    for line in table.strip().split("\n")[1:]:
        told = line.split("|")[2].partition("method")[0] if "|" in line else ""
        assert set(re.findall(r"`(\w+)`", told)) <= found


def test_every_command_on_the_page_is_one():
    registry = pytest.importorskip("papers.registry")
    named = set(re.findall(r"`palmette bench ([\w-]+)`", PAGE))
    assert named == {paper.name for paper in registry.list_published()} - {"multipath"}


def test_names_of_the_selector_are_those_of_the_page():
    assert {name for name in SCORES if name.startswith("hier")} == {
        name.lower() for name in re.findall(r"\bHier-?[A-Z]\w+", PAGE)
    }


@pytest.mark.parametrize(
    ("kind", "letter", "meant"),
    [
        (pm.HirrScore, "alpha", "parent"),
        (pm.HirrScore, "beta", "sibling"),
        (pm.BHCTree, "T", "T0"),
        (pm.NMFTree, "p", "branching"),
        (pm.DependenceTree, "p", "branching"),
        (pm.COCOA, "K", "n_couplings"),
        (pm.MLkNN, "k", "n_neighbors"),
        (pm.HierarchicalAdaBoostClassifier, "T", "n_estimators"),
        (pm.routing.Hellinger, "rho", "sparsity"),
    ],
)
def test_a_letter_of_a_paper_names_the_parameter_that_is_meant(kind, letter, meant):
    with pytest.raises(TypeError, match=f"the {letter} of the paper is {meant}"):
        kind(**{letter: 1})
    assert meant in kind().get_params()
