"""Rules on the layout of the package: where a file may stand, and what it may import."""

from __future__ import annotations

import ast
import gc
import inspect
import re
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
from tests import import_graph as graph
from tests.instances import public_estimators

import palmette

PACKAGE = Path(palmette.__file__).parent
SHARED = ("base", "trees")
SHORT = 150  # lines; a shorter private module with one importer belongs to that one


def test_no_module_imports_itself_through_others():
    assert graph.circles() == []


@pytest.mark.parametrize("folder", SHARED)
def test_shared_folders_hold_what_several_methods_need(folder):
    users = {method: graph.reached_from(method) for method in graph.METHODS}
    modules = [name for name in graph.sources() if graph.folder_of(name) == folder]
    files = [name for name in modules if name != f"palmette.{folder}"]
    assert files
    alone = {
        name: methods
        for name in files
        if len(methods := [m for m, reached in users.items() if name in reached]) < 2
    }
    assert alone == {}, "move these into the folder of the method that uses them"


def test_short_private_modules_have_several_importers():
    alone = []
    for name in graph.single_importers():
        [importer] = graph.importers()[name]
        is_private = name.rpartition(".")[2].startswith("_")
        same_folder = graph.folder_of(name) == graph.folder_of(importer) != ""
        if is_private and same_folder and graph.n_lines(name) < SHORT:
            alone.append(f"{name} ({graph.n_lines(name)} lines) <- {importer}")
    assert alone == [], "merge these into the module that imports them"


def test_every_folder_has_its_layer():
    folders = {graph.folder_of(name) for name in graph.sources()} - {""}
    assert folders == {name for layer in graph.LAYERS for name in layer}


def test_imports_go_down_the_layers():
    level = {name: i for i, layer in enumerate(graph.LAYERS) for name in layer}
    wrong = [
        (name, other)
        for name, found in graph.imports().items()
        for other in found
        if (a := graph.folder_of(name)) and (b := graph.folder_of(other)) and a != b
        if level[a] >= level[b]
    ]
    assert wrong == []


@pytest.mark.parametrize("estimator", public_estimators(), ids=lambda each: each.__name__)
def test_estimators_inherit_from_few_classes(estimator):
    own = [
        each
        for each in estimator.__mro__
        if each.__module__.startswith("palmette")
        and each.__name__ != "_OwnCallbacks"  # scikit-learn's, where it has one
    ]
    assert len(own) <= 5, own


# ---------------------------------------------------------------------- what a fit enters


def files_entered(call: Any) -> set[str]:
    """Return the files of the package whose functions are entered by a call."""
    folder = str(Path(inspect.getfile(palmette)).parent)
    found: set[str] = set()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(folder):
            found.add(frame.f_code.co_filename.removeprefix(folder))

    gc.collect()
    gc.disable()  # objects of other tests may enter files of their own when they are collected
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
        gc.enable()
    return found


@pytest.mark.parametrize(
    ("estimator", "most"),
    [
        (palmette.LocalPerParentClassifier(), 17),
        (palmette.HierarchicalBoostingClassifier(n_estimators=2, n_bags=1, random_state=0), 26),
    ],
    ids=["local", "boosting"],
)
def test_a_fit_enters_few_files(estimator, most):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = [("a", "b") if row[0] > 0 else ("a", "c") if row[1] > 0 else ("d",) for row in X]
    estimator.fit(X, y)  # imports and compiles
    # methods of a class that another test has loaded from a file are guarded there
    entered = files_entered(lambda: estimator.fit(X, y)) - {"/persistence/_guarded.py"}
    assert len(entered) <= most, " ".join(sorted(entered))


def test_one_module_decorates_compiled_functions():
    named = [path.name for path in graph.PACKAGE.rglob("*.py") if "njit" in path.read_text()]
    assert named == ["_kernels.py"]


# names that Windows lacks, and the files that ask for the system, or for the name, before
OF_POSIX = {
    "fcntl": {"_files.py"},
    "geteuid": {"_files.py", "_kernel_files.py"},
    "O_NOFOLLOW": {"_files.py"},
    "O_NONBLOCK": {"_files.py"},
    "posix_fallocate": {"base/_scratch.py"},
    "fork": {"serving/_process.py"},
    "pthread_sigmask": {"_stopping.py", "serving/_process.py"},
    "SIG_BLOCK": {"_stopping.py", "serving/_process.py"},
    "SIGKILL": {"serving/_process.py"},
    "SIG_SETMASK": {"_stopping.py"},
    "sysconf": {"_arrays.py", "compare/_measure.py"},
}
NOWHERE = {
    *(
        "getuid",
        "grp",
        "killpg",
        "mkfifo",
        "pwd",
        "resource",
        "setsid",
        "SIGHUP",
    ),
    *("SIGUSR1", "SIGUSR2", "sched_getaffinity", "statvfs", "termios", "uname"),
}


def test_names_that_windows_lacks_are_in_files_that_check_for_them():
    found: dict[str, set[str]] = {}
    mentioned = re.compile(rf"\b({'|'.join(OF_POSIX.keys() | NOWHERE)})\b")
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)) if mentioned.search(source) else ():
            named = set()
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                named = {node.attr} if node.value.id in ("os", "signal", "fcntl") else set()
            elif isinstance(node, ast.Import):
                named = {each.name for each in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                named = {node.module}
            for name in named & (OF_POSIX.keys() | NOWHERE):
                found.setdefault(name, set()).add(path.relative_to(PACKAGE).as_posix())
    assert found == OF_POSIX
