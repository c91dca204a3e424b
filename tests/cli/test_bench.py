"""`palmette bench`: options reach the function, tables reach the user, mistakes show at once."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from palmette.cli.bench import find_checkout
from palmette.compare import ResultStore
from palmette.exceptions import PalmetteError
from papers import registry
from papers.result import Claim, PublishedResult, Table


@pytest.fixture
def paper(monkeypatch):
    """Put a paper into the registry; return the calls that it gets."""
    calls = []

    def make(*args):
        calls.append(args)
        *_, watch = args
        watch("toy", "a method")
        table = Table("Table I. Things", ("who", "F1"), [("us", 0.5), ("them", None)], ["a note"])
        claims = [Claim("here", "here: the claim does not hold.", False)]
        draw = lambda facts: {"figure-1.png": b"ink"}  # noqa: E731
        return PublishedResult("p", "A. Uthor.", [table], claims, {}, draw, notes=["mind this"])

    published = registry.Published("p", "Things made again", "A. Uthor.", ("x", "y"), make)
    monkeypatch.setitem(registry._PAPERS, "p", published)
    return calls


# ---------------------------------------------------------------------- one call


def test_every_option_is_passed_on(palmette, called):
    calls = called("palmette.cli.bench.run_bench")
    result = palmette(
        *["bench", "h-ada-mh", "--data", "imclef07a, diatoms", "--rounds", "5", "--seed", "7"],
        *["--quick", "--splits", "2", "--jobs", "-1", "--resume", "r.jsonl", "--out", "folder"],
        *["--minutes", "2.5", "--any-machine"],
    )
    assert result.exit_code == 0, result.output
    assert calls == [
        (
            ("h-ada-mh",),
            {
                "list_all": False,
                "data": ["imclef07a", "diatoms"],
                "rounds": 5,
                "quick": True,
                "splits": 2,
                "minutes": 2.5,
                "seed": 7,
                "n_jobs": -1,
                "resume": Path("r.jsonl"),
                "any_machine": True,
                "out": Path("folder"),
            },
        )
    ]


def test_defaults(palmette, called):
    calls = called("palmette.cli.bench.run_bench")
    palmette("bench", "h-ada-mh")
    ((args, options),) = calls
    assert args == ("h-ada-mh",)
    assert options.pop("n_jobs") == 1
    assert not any(options.values())


def test_the_call_reaches_the_library(palmette, paper, tmp_path):
    words = ["--data", "y", "--rounds", 2, "--seed", 1, "--n-jobs", 3]
    result = palmette("bench", "p", *words, "--resume", tmp_path / "r.jsonl")
    assert result.exit_code == 0, result.output
    ((data, rounds, seed, n_jobs, store, _),) = paper
    assert (data, rounds, seed, n_jobs) == (("y",), 2, 1, 3)
    assert store.path == tmp_path / "r.jsonl"


def test_fits_of_other_machines_are_found_if_wanted(palmette, paper, tmp_path):
    path = tmp_path / "r.jsonl"
    ResultStore(path).put({"dataset": "x", "made_with": {"machine": "a"}}, {"f1": 0.5})
    wanted = {"dataset": "x", "made_with": {"machine": "b"}}
    for words, found in ((), None), (("--any-machine",), {"f1": 0.5}):
        palmette("bench", "p", "--resume", path, *words)
        *_, store, _ = paper.pop()
        assert store.get(wanted) == found
    result = palmette("bench", "p", "--any-machine")
    assert result.exit_code != 0
    assert "name the file of the finished fits" in result.output.replace("\n", " ")


def test_what_only_some_papers_have_reaches_them(palmette, monkeypatch):
    calls = []

    def make(*args, **options):
        calls.append((args[0], options))
        return PublishedResult("q", "A. Uthor.", [], [], {}, lambda facts: {})

    published = registry.Published("q", "s", "r", ("x", "y"), make, quick=("y",), has_splits=True)
    monkeypatch.setitem(registry._PAPERS, "q", published)
    for words in (["--quick"], ["--quick", "--data", "x"], ["--splits", 3], []):
        assert palmette("bench", "q", *words).exit_code == 0
    assert calls == [
        (("y",), {"quick": True}),
        (("x",), {"quick": True}),
        (("x", "y"), {"splits": 3}),
        (("x", "y"), {}),
    ]


# ---------------------------------------------------------------------- results


def test_tables_and_claims_are_printed(palmette, paper):
    result = palmette("bench", "p")
    assert result.exit_code == 0, result.output
    for words in ("A. Uthor.", "Table I. Things", "us    0.500", "them      –", "a note"):
        assert words in result.stdout
    assert "here: the claim does not hold." in result.stdout
    assert "note: mind this" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_files_are_written(palmette, paper, tmp_path):
    result = palmette("bench", "p", "--out", tmp_path / "new")
    assert result.exit_code == 0, result.output
    names = ["tables.md", "results.json", "figure-1.png"]
    assert [line.rpartition("/")[2] for line in result.stdout.splitlines()[-3:]] == names
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == sorted(names)


def test_the_list(palmette, paper):
    result = palmette("bench", "--list")
    assert result.exit_code == 0, result.output
    assert "h-ada-mh\n" in result.stdout
    assert "p\n  Things made again\n  A. Uthor.\n  data sets: x, y\n" in result.stdout
    assert "  besides, by name: bibtex, delicious, rcv1subset1, " in result.stdout
    assert paper == []


def test_an_interrupted_run_says_how_to_go_on(palmette, monkeypatch, tmp_path):
    def interrupt(*args):
        raise KeyboardInterrupt

    published = registry.Published("p", "s", "r", ("x",), interrupt)
    monkeypatch.setitem(registry._PAPERS, "p", published)
    path = tmp_path / "r.jsonl"
    result = palmette("bench", "p", "--resume", path)
    assert result.exit_code == 130
    hint = f"{path} has the finished fits: run the same command again"
    assert result.stderr == f"{hint}\ninterrupted\n"


# ---------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "name a paper, such as h-ada-mh"),
        (["h-ada"], "there is no benchmark 'h-ada'. Did you mean h-ada-mh?"),
        (["p", "--data", "z"], "p has no data set 'z': expected some of x, y"),
        (["p", "--data", ","], "no data set is named"),
        (["p", "--quick"], "p has no quick look. Choose one or two of its data sets instead: x, y"),
        (["p", "--splits", "2"], "--splits 2 was given, but p has no random splits"),
        (["p", "--jobs", "0"], "got --jobs 0"),
        (["p", "--out", "file"], "it is a file"),
        (["p", "--out", "no/where"], "there is no folder no"),
        (["p", "--resume", "file"], "file:1: this is not a line of comparison results"),
    ],
)
def test_mistakes_show_before_any_fit(fails, paper, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("x")
    assert message in fails("bench", *words)
    assert paper == []
    assert Path("file").read_text() == "x"


def test_figures_need_matplotlib(fails, paper, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert "palmette[plot]" in fails("bench", "p", "--out", tmp_path)
    assert paper == []


def test_usage_mistakes(palmette):
    for words in (["--rounds", "0"], ["--splits", "0"], ["--seed", "-1"], ["--nonsense"]):
        result = palmette("bench", "h-ada-mh", *words)
        assert result.exit_code == 2
        assert "Traceback" not in result.output


# ---------------------------------------------------------------------- without a checkout


@pytest.mark.parametrize("words", [["--list"], ["h-ada-mh"], ["no-such-paper"]])
def test_an_installed_package_says_how_to_get_the_papers(fails, monkeypatch, tmp_path, words):
    monkeypatch.setattr("palmette.cli.bench._source_folder", lambda: tmp_path)
    monkeypatch.chdir(tmp_path)
    message = " ".join(fails("bench", *words).split())
    assert "not part of the installed package. Clone the repository of Palmette" in message


def test_the_papers_of_a_checkout_around_the_current_folder_are_found(monkeypatch, tmp_path):
    monkeypatch.setattr("palmette.cli.bench._source_folder", lambda: tmp_path / "site-packages")
    for folder in ("papers", "src/palmette", "docs/api"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "papers/registry.py").touch()
    monkeypatch.chdir(tmp_path / "docs/api")
    assert find_checkout() == tmp_path
    (tmp_path / "src/palmette").rmdir()  # another project with a folder of that name
    with pytest.raises(PalmetteError, match="Clone the repository"):
        find_checkout()
