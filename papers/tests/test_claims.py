"""The page of claims is what the command prints, and verdicts follow from stored claims."""

from __future__ import annotations

import json

import pytest

from palmette.exceptions import PalmetteError
from papers import list_published
from papers.claims import RESULTS, judge_again, main, page, store, verdict_of, without_row
from papers.statements import CLAIMS, NO_ROW, PaperClaim


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
    assert "| Figure 3 | classes of Diatoms have few rows | Diatoms 7.53 ± 7.245 rows |" in text
    assert "7.5 \\| rows. | holds |" in text
    assert "| a | 0.500 |" in text
    assert "Stored results: `palmette bench h-ada-mh --quick`" in text
    assert "Nothing is stored yet: `palmette bench soshf --out FOLDER` measures it." in text


def test_results_of_other_sets_are_added(tmp_path):
    def run(name, words, **more):
        table = {"title": f"Table 2. {name}", "rows": [{"set": name}], "notes": []}
        row = {"set": name} if name == "a" else {"set": name, "depth": 2}
        common = {"title": "Table 1", "rows": [row], "notes": []}
        claims = [{"where": f"Figure 5, {name}", "words": words, "holds": True}]
        result = {"name": "mf-tree", "reference": "R", "facts": {}, "tables": [common, table]}
        result |= {"claims": claims, "scores": {name: {}}, "notes": ["n"], **more}
        (tmp_path / "results.json").write_text(json.dumps(result))
        return tmp_path / "results.json"

    first, second = (f"palmette bench mf-tree --data {name}" for name in "ab")
    path = store(run("a", "it is so"), first, tmp_path)
    before = json.loads(path.read_text())
    before["claims"].append({"where": "Nowhere", "words": "no row shows it", "holds": True})
    path.write_text(json.dumps(before))
    path = store(run("b", "it is so, too"), second, tmp_path, add=True)
    store(run("b", "it was so, too"), second, tmp_path, add=True)
    store(run("b", "it is so, too"), second, tmp_path, add=True)
    found = json.loads(path.read_text())
    assert found["command"] == f"{first}; {second}"
    titles = [table["title"] for table in found["tables"]]
    assert titles == ["Table 1", "Table 2. a", "Table 2. b"]
    assert found["tables"][0]["rows"] == [{"set": "a", "depth": None}, {"set": "b", "depth": 2}]
    assert [claim["words"] for claim in found["claims"]] == ["it is so", "it is so, too"]
    assert list(found["scores"]) == ["a", "b"]
    assert found["notes"] == ["n"]
    assert f"Stored results: `{first}`, `{second}`;" in page(tmp_path)


def test_a_ranking_of_more_sets_replaces_that_of_fewer(tmp_path):
    for number, words in ((8, "before"), (10, "now")):
        claims = [{"where": f"Figure 8, {number} sets", "words": words, "holds": True}]
        result = {"name": "hirr-fs", "reference": "R", "facts": {}, "tables": [], "notes": []}
        source = tmp_path / "results.json"
        source.write_text(json.dumps({**result, "claims": claims, "scores": {}}))
        path = store(source, "palmette bench hirr-fs", tmp_path, add=True)
    assert [claim["words"] for claim in json.loads(path.read_text())["claims"]] == ["now"]


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


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.json")), ids=lambda path: path.stem)
def test_every_stored_claim_has_a_row_or_a_reason(path):
    """Rows are added to `papers.statements.CLAIMS`; places without one, and why, to `NO_ROW`."""
    left = without_row(json.loads(path.read_text(encoding="utf-8")))
    assert [claim["where"] + " | " + claim["words"] for claim in left] == []


def test_places_without_a_row_are_stored_and_say_why():
    for paper, places in NO_ROW.items():
        stored = json.loads((RESULTS / f"{paper}.json").read_text(encoding="utf-8"))
        for place, reason in places.items():
            assert reason
            assert any(claim["where"].startswith(place) for claim in stored["claims"]), place


def test_claims_without_a_row_are_found(monkeypatch):
    claims = [
        {"where": "Figure 3, diatoms", "words": "Figure 3, diatoms: 7.5.", "holds": True},
        {
            "where": "Figure 3b",
            "words": "Figure 3b: by its beginning.",
            "holds": True,
        },
        {"where": "Figure 4, toy", "words": "Figure 4, toy: of no space.", "holds": True},
        {"where": "Figure 99", "words": "Figure 99: it is new.", "holds": True},
    ]
    stored = {"name": "h-ada-mh", "claims": claims}
    assert without_row(stored) == claims[2:]
    monkeypatch.setattr("papers.claims.NO_ROW", {"h-ada-mh": {"Figure 9": "not in the paper"}})
    assert without_row(stored) == claims[2:3]


def stored_with(tmp_path, **more):
    result = {"name": "h-ada-mh", "reference": "R", "facts": {}, "tables": [], "claims": []}
    source = tmp_path / "results.json"
    source.write_text(json.dumps({**result, "scores": {}, "notes": [], **more}))
    store(source, "palmette bench h-ada-mh", tmp_path)
    return page(tmp_path)


def test_the_machine_and_the_versions_are_told(tmp_path):
    facts = {"machine": "x86_64", "processor": "x86_64", "cores": 16, "system": "Linux"}
    facts |= {"python": "3.11", "seed": 0, "rounds": {"a": 5, "b": 6}}
    text = stored_with(tmp_path, facts=facts)
    assert "Made on: x86_64, 16 cores, Linux, python 3.11, seed 0, rounds a 5 b 6.\n" in text


@pytest.mark.parametrize(("n_notes", "last"), [(20, "- n19"), (23, "- and 3 more, in `papers/")])
def test_warnings_are_told_once_and_counted(tmp_path, n_notes, last):
    text = stored_with(tmp_path, notes=[f"n{k}" for k in range(n_notes)] * 2)
    lines = text[text.index("<details><summary>Warnings") :].splitlines()
    shown = [line for line in lines[: lines.index("</details>")] if line.startswith("- ")]
    assert len(shown) == min(n_notes, 20) + (n_notes > 20)
    assert shown[-1].startswith(last)
    assert "Warnings of the fits" not in stored_with(tmp_path)


def test_claims_are_made_again_from_stored_tables(tmp_path, capsys):
    """Claims of other places go, unless the tables say nothing of what is listed to stay."""
    path = tmp_path / "adaboost-bhc.json"
    claims = [
        {"where": where, "words": "w", "holds": True, "so": None}
        for where in ("Table 9", "Figures 4 and 5, all features")
    ]
    rows = [{"data set": "iris: all features", "MH": 3.0, "MI": 2.0, "ECC": 1.0, "BHC": 1.5}]
    table = {"title": "Table 3. Training time", "rows": rows, "notes": []}
    path.write_text(json.dumps({"claims": claims, "tables": [table], "scores": {}, "command": "c"}))
    assert judge_again("adaboost-bhc", tmp_path) == path
    found = json.loads(path.read_text(encoding="utf-8"))
    assert found["command"] == "c"
    assert [claim["where"] for claim in found["claims"]] == [
        "Section 4, formula",
        "Table 3, all features",
        "Table 3, all features",
        "Figures 4 and 5, all features",
    ]
    path.unlink()
    with pytest.raises(PalmetteError, match="palmette bench adaboost-bhc --out"):
        judge_again("adaboost-bhc", tmp_path)
    with pytest.raises(SystemExit):
        main(["--judge", "no-paper"])
    assert "cannot be judged from stored tables" in capsys.readouterr().err
