"""The page of claims is what the command prints, and verdicts follow from stored claims."""

from __future__ import annotations

import json

import pytest

from papers import list_published
from papers.claims import RESULTS, main, page, store, verdict_of
from papers.statements import CLAIMS, PaperClaim


def test_the_page_is_what_the_command_prints(capsys):
    """``python -m papers.claims > papers/README.md`` makes the page anew."""
    main([])
    printed = capsys.readouterr().out
    assert printed == (RESULTS.parent / "README.md").read_text(encoding="utf-8")


def test_every_paper_has_claims():
    assert {claim.paper for claim in CLAIMS} == {paper.name for paper in list_published()}
    assert len({(claim.paper, claim.where, claim.claim) for claim in CLAIMS}) == len(CLAIMS)


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.json")), ids=lambda path: path.stem)
def test_stored_results_are_of_a_paper_and_name_their_command(path):
    found = json.loads(path.read_text(encoding="utf-8"))
    assert found["name"] == path.stem
    assert found["command"].startswith(f"palmette bench {path.stem}")
    assert found["claims"]
    assert "figures" not in found


@pytest.mark.parametrize(
    ("held", "verdict"),
    [
        ([], "not measured yet"),
        ([True, True], "holds"),
        ([True, False, False], "holds partly (1 of 3)"),
        ([False], "does not hold"),
    ],
)
def test_verdicts(held, verdict):
    claim = PaperClaim("p", "Table 1", "it is so")
    assert verdict_of(claim, [{"holds": one} for one in held]) == verdict


def test_what_cannot_be_checked_says_why():
    claim = PaperClaim("p", "Table 1", "it is so", cannot="the data are lost")
    assert verdict_of(claim, [{"holds": True}]) == "cannot be checked: the data are lost"


def test_results_are_kept_without_figures(tmp_path):
    claims = [{"where": "Figure 3, diatoms", "words": "Figure 3, diatoms: 7.5 | rows.", "holds": 1}]
    table = {"title": "T", "rows": [{"set": "a", "F1": 0.5}], "notes": ["a note"]}
    result = {"name": "h-ada-mh", "reference": "A. Uthor.", "facts": {}, "tables": [table]}
    result |= {"claims": claims, "scores": {}, "notes": [], "figures": {"large": 1}}
    source = tmp_path / "results.json"
    source.write_text(json.dumps(result))
    store(source, "palmette bench h-ada-mh --quick", tmp_path)
    text = page(tmp_path)
    assert "| Figure 3 | classes of Diatoms have few rows | 7.53 ± 7.245 rows |" in text
    assert "7.5 \\| rows. | holds |" in text
    assert "| a | 0.500 |" in text
    assert "Stored results: `palmette bench h-ada-mh --quick`" in text
    assert "Nothing is stored yet: `palmette bench soshf --out FOLDER` measures it." in text


def test_results_of_other_sets_are_added(tmp_path):
    def run(name, words, **more):
        table = {"title": f"Table 2. {name}", "rows": [{"set": name}], "notes": []}
        common = {"title": "Table 1", "rows": [{"set": name}], "notes": []}
        claims = [{"where": "Table 2", "words": words, "holds": True}]
        result = {"name": "mf-tree", "reference": "R", "facts": {}, "tables": [common, table]}
        result |= {"claims": claims, "scores": {name: {}}, "notes": ["n"], **more}
        (tmp_path / "results.json").write_text(json.dumps(result))
        return tmp_path / "results.json"

    first, second = (f"palmette bench mf-tree --data {name}" for name in "ab")
    store(run("a", "it is so"), first, tmp_path)
    path = store(run("b", "it is so, too"), second, tmp_path, add=True)
    store(run("b", "it is so, too"), second, tmp_path, add=True)
    found = json.loads(path.read_text())
    assert found["command"] == f"{first}; {second}"
    titles = [table["title"] for table in found["tables"]]
    assert titles == ["Table 1", "Table 2. a", "Table 2. b"]
    assert found["tables"][0]["rows"] == [{"set": "a"}, {"set": "b"}]
    assert [claim["words"] for claim in found["claims"]] == ["it is so", "it is so, too"]
    assert list(found["scores"]) == ["a", "b"]
    assert found["notes"] == ["n"]
    assert f"Stored results: `{first}`, `{second}`;" in page(tmp_path)


def test_what_the_place_of_a_claim_adds_is_told(tmp_path):
    """The set, or the setting, of a stored claim is shown, unless its words begin with it."""
    claims = [
        {"where": "Figure 3, imclef07a", "words": "Figure 3, imclef07a: it is .5.", "holds": True},
        {"where": "Figure 3, diatoms", "words": "Figure 3, diatoms: diatoms, .6.", "holds": False},
        {"where": "Figure 3", "words": "Figure 3: it is .7.", "holds": False},
    ]
    result = {"name": "h-ada-mh", "reference": "R", "facts": {}, "tables": [], "claims": claims}
    source = tmp_path / "results.json"
    source.write_text(json.dumps(result | {"scores": {}, "notes": []}))
    store(source, "palmette bench h-ada-mh", tmp_path)
    row = next(line for line in page(tmp_path).splitlines() if line.startswith("| Figure 3 |"))
    assert "| imclef07a: it is .5.<br>diatoms, .6.<br>it is .7. | holds partly (1 of 3) |" in row
