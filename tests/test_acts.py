"""Every place of the source that reaches an import, a file, a process or the network.

A value that was read from a file must not get there. A new place fails the test until it is on the
list, under a reason why no file decides what it does.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import palmette

SOURCE = Path(palmette.__file__).parent
# by their last names, and with the module where the name alone has other meanings
CALLS = set(
    """
    __import__ attrgetter eval exec import_module methodcaller
    CDLL Unpickler loads joblib.load np.load pickle.load
    atomic_write copyfile copyfileobj fdopen fromfile glob iterdir listdir makedirs memmap mkdir
    mkdtemp mmap open open_bytes os.chmod os.link os.remove os.rename os.replace os.symlink
    os.truncate os.walk read_bytes read_text rglob rmdir rmtree scandir tofile unlink write_bytes
    write_text NamedTemporaryFile OSFile ParquetFile ParquetWriter TemporaryDirectory TemporaryFile
    ZipFile read_csv read_excel read_feather read_h5ad read_html read_json read_parquet write_h5ad
    Client LocalCluster Server connect create_connection create_server download_artifacts socket
    urlopen urlretrieve webbrowser
    Parallel Pool Popen Process ProcessPoolExecutor check_call check_output get_context os.execv
    os.execve os.fork os.kill os.spawnv os.system spawn subprocess.run
    """.split()  # noqa: SIM905
)
# files without any of them are not parsed
ANY = re.compile(r"\b(?:getattr|" + "|".join(n.rpartition(".")[2] for n in CALLS) + r")\(")
HARMLESS = ("json.loads", "tomllib.loads", "tasks.open")
# modules with their calls, by the reason why no file that was read decides what these do
PLACES = {
    "Names of attributes are in the source beside it.": """
_kernels.py: getattr
_numba_parts.py: getattr
base/_adapters.py: getattr*2
base/_callbacks.py: getattr*2
base/_column_units.py: getattr
base/_foreign.py: getattr
base/_lazy.py: getattr*3
base/_parameters.py: getattr*3
boosting/_hierarchical.py: getattr*2
boosting/_hypotheses.py: getattr
boosting/_weak.py: getattr
calibration/_conformal.py: getattr*2
class_tree/_k_means_tree.py: getattr
class_tree/_label_tree.py: getattr*2
class_tree/_linear_routes.py: getattr*2
class_tree/_spectral.py: getattr
compare/_problems.py: getattr
decisions/_tuned.py: getattr
feature_selection/_hirr.py: getattr*2
feature_selection/_univariate.py: getattr
forest/_oblique_trees.py: getattr*6
forest/_parameters.py: getattr*2
local/_features.py: getattr
local/_global_naive_bayes.py: getattr
local/_naive_bayes.py: getattr*3
metrics/_complexity.py: getattr
migration/_classifier.py: getattr*2
multilabel/_balanced_k_means.py: getattr
multilabel/_cocoa.py: getattr
multilabel/_leaf_shares.py: getattr*4
multilabel/_neighbours.py: getattr
multilabel/_trees.py: getattr
multipath/_kernel.py: getattr
persistence/_codecs.py: getattr*3
persistence/_objects.py: getattr
persistence/_parts.py: getattr*2
persistence/checks.py: getattr
reporting/_training.py: getattr
table/_explain.py: getattr
table/_features.py: getattr
""",
    "Modules and classes are in a table of the source, and names of files are looked up there.": """
_imports.py: getattr import_module*3
feature_selection/_selector.py: attrgetter getattr import_module
metrics/_scorers.py: getattr*2 import_module
models/_catalogue.py: getattr*3 import_module
models/_tree_learners.py: getattr import_module
multilabel/_binary_relevance.py: import_module
persistence/_types.py: getattr*7 import_module*5
""",
    "Names of `STORED`, and of classes that were reviewed or that the caller trusts.": """
persistence/_foreign.py: import_module loads
persistence/names.py: getattr import_module*2
""",
    "`palmette bench` runs the programs of the clone that it is called in.": """
cli/bench.py: import_module
""",
    "Only what is inside of the file that the caller names is read, and nothing is extracted.": """
datasets/_reading.py: ZipFile open*2 read_bytes*2
persistence/_archive.py: ZipFile*2 open
persistence/_skops.py: ZipFile*6 import_module*2
persistence/_reading.py: open
""",
    "Files have names that the caller has passed, or temporary ones beside them.": """
_files.py: ZipFile chmod fdopen link listdir open*8 open_bytes replace unlink*3
boosting/_checkpoint.py: getattr mkdir
cli/card.py: atomic_write
cli/compare.py: atomic_write mkdir
cli/demo.py: atomic_write
cli/eval.py: atomic_write
cli/hierarchy.py: atomic_write
cli/learn.py: atomic_write read_text
cli/review.py: atomic_write
compare/_comparison.py: atomic_write getattr
compare/_store.py: open*2
datasets/_arff.py: read_text
datasets/_embedded.py: read_bytes*2 walk
datasets/_mat.py: read_bytes
datasets/_named_sets.py: read_text*7
datasets/_rda.py: read_bytes
datasets/_table.py: ParquetFile read_bytes*3 read_csv read_text
hierarchy/_change_lines.py: read_bytes
hierarchy/files/__init__.py: atomic_write
hierarchy/files/_source.py: read_bytes
mlflow.py: download_artifacts getattr iterdir mkdir write_text
persistence/_writing.py: atomic_write
persistence/checkpoints.py: atomic_write open
reporting/_report.py: atomic_write
table/_delimited.py: open*3
table/_large.py: glob open
table/_binary_files.py: ParquetFile ZipFile*2 open read_excel
table/_reading.py: glob open read_bytes
table/_split_files.py: ParquetFile ParquetWriter atomic_write*2
table/_sources.py: OSFile atomic_write glob*2 iterdir open*2 open_bytes
table/_writing.py: ParquetWriter*2 atomic_write*2
""",
    "The manifest of data sets lists files of its own folder only: others are an error.": """
datasets/_home.py: open read_text rglob
""",
    "`palmette.toml` has options of a list only; os.devnull.": """
cli/main.py: getattr open read_text
""",
    "A copy in a temporary folder; tables of the file are checked, and no code of it is run.": """
hierarchy/files/_ontologies.py: TemporaryDirectory connect write_bytes
""",
    "Links to other files, in which HDF5 keeps parts, are errors.": """
table/_anndata.py: TemporaryDirectory atomic_write copyfileobj open read_h5ad*2 write_h5ad
""",
    "Files of the package or of the system, by names in the source.": """
_arrays.py: read_text*3
compare/_measure.py: CDLL iterdir read_text*4 write_text
reporting/_html.py: read_text*2
reviewing/_page.py: read_text
serving/_pages.py: read_text
""",
    "Machine code that was compiled here, in folders of the package or user.": """
_kernel_files.py: TemporaryFile glob*2 iterdir loads mkdir open*3 read_bytes replace unlink*3
""",
    "A temporary folder where the caller has said; its files are of this process.": """
base/_scratch.py: TemporaryFile loads memmap*2 mkdtemp open*2 rmtree
""",
    "The cluster of the caller: `client` of what was loaded has its default.": """
base/_clients.py: Client*2 LocalCluster
boosting/_team.py: Client create_connection create_server getattr loads*2
""",
    "`n_jobs` is that of the caller: it has its default in whatever was loaded.": """
base/_fitting.py: Parallel
class_tree/_confusion.py: Parallel
feature_selection/_base.py: Parallel
feature_selection/_hirr_solvers.py: Parallel
feature_selection/_number.py: Parallel
feature_selection/_stability.py: Parallel
""",
    "Processes of the command itself, which send each other what they made.": """
reporting/_parts.py: loads
serving/_process.py: CDLL Server create_server fork kill*2 mmap
cli/compile.py: Popen
table/_workers.py: Process get_context loads*5
""",
}


def calls_in(path):
    """Count the calls of a file that are of interest, by the name of what is called."""
    found = Counter()
    source = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)) if ANY.search(source) else ():
        if not isinstance(node, ast.Call):
            continue
        whole = ast.unparse(node.func)
        name = whole.rpartition(".")[2]
        is_dynamic = len(node.args) > 1 and not isinstance(node.args[1], ast.Constant)
        if whole in HARMLESS or (whole == "getattr" and not is_dynamic):
            continue
        if {name, whole} & CALLS or whole == "getattr":
            found[name] += 1
    return found


def test_every_place_is_listed():
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        if calls := calls_in(path):
            words = " ".join(f"{name}*{n}" if n > 1 else name for name, n in sorted(calls.items()))
            found[path.relative_to(SOURCE).as_posix()] = words
    lines = [line for group in PLACES.values() for line in group.strip().split("\n")]
    listed = dict(line.split(": ") for line in lines)
    assert len(listed) == len(lines)
    new = {path: calls for path, calls in found.items() if listed.get(path) != calls}
    assert not new, "write these on the list, under the reason why no file decides what they do"
    assert found == listed
