"""The reference has every public name, and the pages that are there are all reached."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest
from tests.docs.pages import ROOT

import palmette as pm

DOCS = ROOT / "docs"
REFERENCE = "\n".join(page.read_text(encoding="utf-8") for page in sorted(DOCS.glob("api/*.md")))
# a module has a page of its members; a table with a toctree gives every name a page of its own
DOCUMENTED = set(re.findall(r"^\.\. automodule:: (\S+)$", REFERENCE, re.M))
for table in re.findall(r":toctree: generated\n\n((?:   \S+\n)+)", REFERENCE):
    DOCUMENTED.update(name.lstrip("~") for name in table.split())
# the page of such a module has tables of its members, each with a page of its own
TABLES = re.findall(r"^\.\. py:module:: palmette\.(\S+)$", REFERENCE, re.M)
DOCUMENTED.update(f"palmette.{module}" for module in TABLES)
MODULES = [name for name in pm.__all__ if inspect.ismodule(getattr(pm, name))]


@pytest.mark.parametrize("name", [name for name in pm.__all__ if name not in MODULES])
def test_every_public_object_is_in_the_reference(name):
    defined_in = getattr(getattr(pm, name), "__module__", "")
    assert f"palmette.{name}" in DOCUMENTED or defined_in == "palmette.exceptions"


@pytest.mark.parametrize("name", MODULES)
def test_every_public_module_is_in_the_reference(name):
    assert f"palmette.{name}" in DOCUMENTED


def test_exceptions_are_in_the_reference():
    assert "palmette.exceptions" in DOCUMENTED


@pytest.mark.parametrize("module", TABLES)
def test_every_member_of_a_module_with_tables_has_a_page(module):
    place = import_module(f"palmette.{module}")  # its names are imported when they are asked for
    # a name of the package itself has its page under `palmette.`
    names = {
        name
        for name in place.__all__
        if callable(getattr(place, name)) and f"palmette.{name}" not in DOCUMENTED
    }
    here = {
        name.rpartition(".")[2] for name in DOCUMENTED if name.startswith(f"palmette.{module}.")
    }
    assert here == names


def left_out() -> list[tuple[str, str]]:
    """Pairs of a module and a name that its part of the reference does not show."""
    parts = re.findall(r"automodule:: (\S+)\n   :exclude-members: (.*)$", REFERENCE, re.MULTILINE)
    return [(module, name) for module, names in parts for name in names.split(", ")]


@pytest.mark.parametrize(("module", "name"), left_out())
def test_what_a_module_leaves_out_is_documented_at_the_top(module, name):
    assert name in getattr(pm, module.rpartition(".")[2]).__all__
    assert f"palmette.{name}" in DOCUMENTED


LINKING = [
    *sorted(DOCS.glob("**/*.md")),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md")),
]
EXAMPLES = sorted((ROOT / "examples").glob("*/*.py"))


@pytest.mark.parametrize("page", LINKING, ids=lambda page: page.stem)
def test_links_between_pages_lead_somewhere(page: Path):
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_of_the_gallery_has_a_title_a_picture_and_no_data_home(example: Path):
    text = example.read_text(encoding="utf-8")
    compile(text, str(example), "exec")
    assert example.name.startswith("plot_")  # otherwise the gallery shows it without running it
    assert re.match(r'"""\n(.+)\n=+\n\n', text), "expected a title, underlined"
    assert "plt" in text or "pm.plotting" in text
    assert "datasets.fetch" not in text


def test_the_gallery_is_large():
    assert len(EXAMPLES) >= 24


def test_external_links_are_well_formed():
    """No network is needed: `sphinx-build -b linkcheck` asks whether the pages exist."""
    found = set()
    for page in [*LINKING, ROOT / "CHANGELOG.md", ROOT / "SECURITY.md", ROOT / "pyproject.toml"]:
        text = page.read_text(encoding="utf-8")
        found.update(re.findall(r"https?://[^\s)>\"'`,|]+", text))
    of_this_machine = ("http://127.0.0.1", "http://palmette;")  # the latter is a name in nginx
    found = {link for link in found if not link.startswith(of_this_machine)}
    assert found
    for link in found:
        assert re.fullmatch(r"https://[a-z0-9.-]+\.[a-z]{2,}(/[\w./%~#?=&-]*)?", link), link
