"""Every claim of every paper as a row: what is printed, what we found, and a verdict.

``python -m papers.claims > papers/README.md`` makes the page from the results that are stored in
``papers/results``. ``palmette bench NAME --out FOLDER`` and then
``python -m papers.claims --store FOLDER/results.json --command "palmette bench NAME ..."`` replace
the stored results of a paper; with ``--add`` they are added to these. ``--judge NAME`` makes the
claims of stored results again from their tables, without any fits.
"""

from __future__ import annotations

import argparse
import importlib
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from palmette.exceptions import PalmetteError
from papers.result import format_cell
from papers.statements import CLAIMS, NO_ROW, REMARKS, WHOLE, PaperClaim

__all__ = ["RESULTS", "judge_again", "page", "store", "verdict_of", "without_row"]

RESULTS = Path(__file__).parent / "results"
# modules with a function `judge_tables(tables, scores)`, and the places of claims that are left as
# they are if the stored tables say nothing of them
_JUDGES: dict[str, tuple[str, tuple[str, ...]]] = {
    "adaboost-bhc": ("papers.adaboost_bhc.judging", ("Figures 4 and 5",)),
}
_KEPT = ("name", "reference", "facts", "tables", "claims", "scores", "notes")
_HEAD = """# Claims of the papers

Every claim of the papers whose methods are in this library: what is printed, what we measured, and
a verdict. `python -m papers.claims > papers/README.md` makes this page from the results in
`papers/results/`, each of which says the command that made it. A claim *holds partly* where it does
on some of the sets or by some of the measures, which are counted. *Not measured yet* means that the
stored results have nothing on it: the command that measures it is named with the paper. What
follows a ± is a standard error over rows or repeats or, of samples of rows and of counts, a
standard deviation; the notes of the tables say which. Other intervals hold 95% of the scores of
test rows drawn anew."""
_N_NOTES = 20  # that are shown of a paper


def verdict_of(claim: PaperClaim, found: Sequence[dict[str, Any]]) -> str:
    """Return the verdict on a claim, given the stored claims that belong to it.

    Examples
    --------
    >>> claim = PaperClaim("h-ada-mh", "Table II", "it is better")
    >>> verdict_of(claim, [{"holds": True}, {"holds": False}])
    'holds partly (1 of 2)'
    >>> verdict_of(claim, [])
    'not measured yet'
    >>> verdict_of(claim, [{"holds": False, "so": (5, 7)}, {"holds": True, "so": (7, 7)}])
    'holds partly (12 of 14)'
    """
    if claim.cannot:
        return f"cannot be checked: {claim.cannot}"
    if not found:
        return "not measured yet"
    if all(one["holds"] for one in found):
        return "holds"
    counts = [one.get("so") or (int(one["holds"]), 1) for one in found]
    n_held, n_all = (sum(column) for column in zip(*counts, strict=True))
    return f"holds partly ({n_held} of {n_all})" if n_held else "does not hold"


def page(folder: Path = RESULTS) -> str:
    """Return the page of all claims in Markdown.

    Parameters
    ----------
    folder : Path
        Of stored results.

    Returns
    -------
    str
    """
    parts = [_HEAD]
    for paper in dict.fromkeys(claim.paper for claim in CLAIMS):
        path = folder / f"{paper}.json"
        stored = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
        parts.append(_section(paper, stored))
    return "\n\n".join(parts) + "\n"


def _section(paper: str, stored: dict[str, Any] | None) -> str:
    own = f"`palmette bench {paper}`"
    reference = paper if stored is None else f"{stored['reference']}"
    made = (
        f"Nothing is stored yet: `palmette bench {paper} --out FOLDER` measures it."
        if stored is None
        else f"Stored results: {_commands(stored)}; all of the paper: {WHOLE.get(paper, own)}."
    )
    remarks = [REMARKS[paper], ""] if paper in REMARKS and stored is not None else []
    facts = [_made_on(stored), ""] if stored is not None and stored["facts"] else []
    lines = [f"## {paper}", "", reference, "", made, "", *facts, *remarks]
    lines += ["| place | claim | printed | ours | verdict |", "|---|---|---|---|---|"]
    for claim in (one for one in CLAIMS if one.paper == paper):
        judged = [] if stored is None or claim.cannot else stored["claims"]
        found = _belonging(claim, judged)
        ours = "<br>".join(_shortened(claim, one) for one in found) or "–"
        cells = (claim.where, claim.claim, claim.printed, ours, verdict_of(claim, found))
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join([*lines, "", *_tables(stored), "", *_notes(stored)]).rstrip()


def without_row(stored: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the stored claims of a paper that are on no row of the page, but should be.

    Parameters
    ----------
    stored : dict
        Results of a paper. Claims of the places in `papers.statements.NO_ROW` need no row.

    Returns
    -------
    list of dict
    """
    rows = [one for one in CLAIMS if one.paper == stored["name"] and not one.cannot]
    shown = [judged for row in rows for judged in _belonging(row, stored["claims"])]
    excepted = tuple(NO_ROW.get(stored["name"], {}))
    return [
        one
        for one in stored["claims"]
        if one not in shown and not one["where"].startswith(excepted)
    ]


_ELSEWHERE = "fits were made elsewhere"  # as `papers.cells` notes them


def _made_on(stored: dict[str, Any]) -> str:
    """Name the machine, the versions and the options of a run, and where other fits come from."""
    facts = stored["facts"]
    told = {key: value for key, value in facts.items() if key not in ("machine", "processor")}
    parts = list(dict.fromkeys(str(facts[k]) for k in ("machine", "processor") if k in facts))
    if "cores" in told:
        parts.append(f"{told.pop('cores')} cores")
    if "system" in told:
        parts.append(str(told.pop("system")))
    for key, value in told.items():
        words = value
        if isinstance(value, dict):
            words = " ".join(f"{name} {number}" for name, number in value.items())
        parts.append(f"{key} {words}")
    others = [f" {note}." for note in stored["notes"] if _ELSEWHERE in note]
    return f"Made on: {', '.join(parts)}.{''.join(others)}"


def _notes(stored: dict[str, Any] | None) -> list[str]:
    """Return the warnings of the run, folded: each one once, and not too many."""
    if stored is None or not stored["notes"]:
        return []
    notes = [note for note in dict.fromkeys(stored["notes"]) if _ELSEWHERE not in note]
    more = len(notes) - _N_NOTES
    lines = ["<details><summary>Warnings of the fits</summary>", ""]
    lines += [f"- {' '.join(note.split())}" for note in notes[:_N_NOTES]]
    if more > 0:
        lines.append(f"- and {more} more, in `papers/results/{stored['name']}.json`")
    return [*lines, "", "</details>"]


def _commands(stored: dict[str, Any]) -> str:
    return ", ".join(f"`{one}`" for one in stored["command"].split("; "))


def _belonging(claim: PaperClaim, judged: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        one
        for one in judged
        if one["where"].startswith(claim.where) and claim.about in one["words"]
    ]


def _shortened(claim: PaperClaim, judged: dict[str, Any]) -> str:
    """Return the words of a stored claim; of its place, which begins them, only what is new."""
    words: str = judged["words"]
    where: str = judged["where"]
    told = words.removeprefix(f"{where}: ")
    rest = where.removeprefix(f"{claim.where}, ")
    is_new = (rest != where or not claim.where) and not told.startswith(rest)
    return f"{rest}: {told}" if is_new and told != words else told


def _tables(stored: dict[str, Any] | None) -> list[str]:
    """Return the stored tables, folded."""
    if stored is None or not stored["tables"]:
        return []
    lines = ["<details><summary>Tables</summary>", ""]
    for table in stored["tables"]:
        if not table["rows"]:
            continue
        columns = list(table["rows"][0])
        lines += [f"### {table['title']}", "", "| " + " | ".join(columns) + " |"]
        lines.append("|---|" + "---:|" * (len(columns) - 1))
        for row in table["rows"]:
            cells = (format_cell(row[column]).replace("|", "\\|") for column in columns)
            lines.append("| " + " | ".join(cells) + " |")
        lines += ["", *(f"{note}\n" for note in table["notes"])]
    return [*lines, "</details>"]


def store(source: Path, command: str, folder: Path = RESULTS, *, add: bool = False) -> Path:
    """Keep the results of a run, without the data of its figures.

    Parameters
    ----------
    source : Path
        The ``results.json`` that `palmette bench --out` wrote.
    command : str
        What made them.
    folder : Path
    add : bool
        Whether tables and claims are added to those that are stored, such as those of other data
        sets; rows of tables of the same title, and claims, that both have are kept once.

    Returns
    -------
    Path
        The stored file.
    """
    found = json.loads(source.read_text(encoding="utf-8"))
    kept = {"command": command, **{key: found[key] for key in _KEPT}}
    folder.mkdir(exist_ok=True)
    path = folder / f"{found['name']}.json"
    if add and path.is_file():
        kept = _added(json.loads(path.read_text(encoding="utf-8")), kept)
    path.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def _added(before: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """Return the results of two runs as one; what both have is that of the second.

    Claims have their sets in their places. Earlier claims that no row shows any more, as they were
    worded otherwise, are left out, and so are those on the ranks of another number of sets.
    """
    tables = {one["title"]: one for one in before["tables"]}
    for one in more["tables"]:
        tables[one["title"]] = _joined(tables.get(one["title"]), one)
    places = {_place_of(one) for one in more["claims"]}
    gone = without_row(before)
    earlier = [one for one in before["claims"] if _place_of(one) not in places and one not in gone]
    commands = [*before["command"].split("; "), more["command"]]
    return {
        **more,
        "facts": {**before["facts"], **more["facts"]},
        "command": "; ".join(dict.fromkeys(commands)),
        "tables": list(tables.values()),
        "claims": [*earlier, *more["claims"]],
        "scores": {**before["scores"], **more["scores"]},
        "notes": list(dict.fromkeys([*before["notes"], *more["notes"]])),
    }


def _place_of(claim: dict[str, Any]) -> str:
    """Return the place of a claim without the number of sets that it is on."""
    return re.sub(r", \d+ sets$", "", claim["where"])


def _joined(before: dict[str, Any] | None, more: dict[str, Any]) -> dict[str, Any]:
    """Return a table with the rows and the columns of both; rows are told by their first cells."""
    if before is None or not before["rows"] or not more["rows"]:
        return more
    columns = list(dict.fromkeys([*more["rows"][0], *before["rows"][0]]))
    first = columns[0]
    if first not in before["rows"][0]:
        return more
    known = {row[first]: row for row in before["rows"]}
    named = {row[first] for row in more["rows"]}
    earlier = [row for row in before["rows"] if row[first] not in named]
    both = [*earlier, *({**known.get(row[first], {}), **row} for row in more["rows"])]
    rows = [{name: row.get(name) for name in columns} for row in both]
    return {**more, "rows": rows, "notes": list(dict.fromkeys([*before["notes"], *more["notes"]]))}


def judge_again(name: str, folder: Path = RESULTS) -> Path:
    """Make the claims of a stored result again, from its stored tables and scores.

    Parameters
    ----------
    name : str
        Paper, as in `palmette bench`.
    folder : Path
        Of stored results.

    Returns
    -------
    Path
        The stored file.

    Raises
    ------
    PalmetteError
        If the claims of the paper are not a function of tables, or nothing is stored.
    """
    if name not in _JUDGES:
        papers = ", ".join(_JUDGES)
        raise PalmetteError(
            f"{name!r} cannot be judged from stored tables: only {papers} can. Run "
            f"palmette bench {name} --out FOLDER, and store its results with --store."
        )
    path = folder / f"{name}.json"
    if not path.is_file():
        raise PalmetteError(
            f"there is no {path}: run palmette bench {name} --out FOLDER, and store its results "
            "with --store."
        )
    module, places = _JUDGES[name]
    found = json.loads(path.read_text(encoding="utf-8"))
    judge = importlib.import_module(module).judge_tables
    made = [vars(claim) for claim in judge(found["tables"], found["scores"])]
    told = {one["where"] for one in made}
    kept = [
        one
        for one in found["claims"]
        if one["where"].startswith(places) and one["where"] not in told
    ]
    text = json.dumps({**found, "claims": made + kept}, indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")
    return path


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the page, or keep the results of a run."""
    parser = argparse.ArgumentParser(description="Claims of the papers, from stored results.")
    parser.add_argument("--store", type=Path, help="a results.json to keep")
    parser.add_argument("--command", help="the command that made it")
    parser.add_argument("--add", action="store_true", help="add to what is stored already")
    parser.add_argument("--judge", metavar="NAME", help="a paper whose claims are made again")
    given = parser.parse_args(arguments)
    if given.judge is not None:
        try:
            sys.stdout.write(f"{judge_again(given.judge)}\n")
        except PalmetteError as error:
            parser.error(str(error))
    elif given.store is None:
        sys.stdout.write(page())
    elif given.command is None:
        parser.error("--store needs --command: the command that made the results.")
    else:
        sys.stdout.write(f"{store(given.store, given.command, add=given.add)}\n")


if __name__ == "__main__":
    main()
