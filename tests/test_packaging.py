"""What a release says about itself: versions, Python versions, files that belong to it."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import palmette

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


def text_of(name):
    path = ROOT / name
    if not path.exists():
        pytest.skip(f"{name} is not in a source distribution")
    return path.read_text(encoding="utf-8")


def test_the_changelog_begins_with_this_version():
    first = re.search(r"^## (\S+), (unreleased|\d{4}-\d\d-\d\d)$", text_of("CHANGELOG.md"), re.M)
    assert first.group(1) == palmette.__version__


def test_the_citation_is_of_this_version():
    assert f"\nversion: {palmette.__version__}\n" in text_of("CITATION.cff")


def test_python_versions_are_those_that_are_tested():
    named = {
        each.rpartition(" ")[2] for each in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", each)
    }
    tested = set(re.findall(r"newest-(3\.\d+)", text_of(".github/workflows/tests.yml")))
    assert named == tested
    assert PROJECT["requires-python"] == f">={min(named)}"


def test_every_dependency_has_a_lower_bound():
    groups = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    free = [
        each
        for group in groups
        for each in group
        if not each.startswith("palmette[") and not re.search(r"[>=]=", each)
    ]
    assert free == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_can_be_read_and_ask_for_few_permissions(path):
    yaml = pytest.importorskip("yaml")
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert content["permissions"] == {"contents": "read"}
    for job in content["jobs"].values():
        for command in re.findall(
            r"^\.ci/\w+", "\n".join(s.get("run", "") for s in job.get("steps", []))
        ):
            assert (ROOT / command).exists()


def names_of(requirements):
    return {re.match(r"[\w.-]+", each)[0].replace("-", "_") for each in requirements}


def test_the_demo_runs_without_extras(tmp_path):
    project = tomllib.loads(text_of("pyproject.toml"))["project"]
    extras = set().union(*map(names_of, project["optional-dependencies"].values()))
    extras -= names_of(project["dependencies"]) | {"palmette", "psutil"}
    program = f"""
import sys
from importlib.abc import MetaPathFinder
class Absent(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {sorted(extras)}:
            raise ModuleNotFoundError("No module named " + repr(name), name=name)
sys.meta_path.insert(0, Absent())
from pathlib import Path
from palmette import datasets
from palmette.cli import demo
icd = datasets.load_icd10cm()
for part in ("train", "test"):  # a part of the rows takes less time
    for name in ("X", "y"):
        icd[f"{{name}}_{{part}}"] = icd[f"{{name}}_{{part}}"][:400]
datasets.load_icd10cm = lambda: icd
demo.demo(Path({str(tmp_path / "page.html")!r}), None, 0)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "hierarchical F1" in done.stdout
