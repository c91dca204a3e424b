"""Every claim of every paper as a row: what is printed, what we found, and a verdict.

``python -m papers.claims > papers/README.md`` makes the page from the results that are stored in
``papers/results``. ``palmette bench NAME --out FOLDER`` and then
``python -m papers.claims --store FOLDER/results.json --command "palmette bench NAME ..."`` replace
the stored results of a paper; with ``--add`` they are added to these.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from papers.result import format_cell
from papers.statements import CLAIMS, REMARKS, WHOLE, PaperClaim

__all__ = ["RESULTS", "page", "store", "verdict_of"]

RESULTS = Path(__file__).parent / "results"
_KEPT = ("name", "reference", "facts", "tables", "claims", "scores", "notes")
_HEAD = """# Claims of the papers

Every claim of the papers whose methods are in this library: what is printed, what we measured, and
a verdict. `python -m papers.claims > papers/README.md` makes this page from the results in
`papers/results/`, each of which says the command that made it. A claim *holds partly* where it does
on some of the sets or by some of the measures, which are counted. *Not measured yet* means that the
stored results have nothing on it: the command that measures it is named with the paper. Intervals
are those of the tables below: of test rows drawn anew, or standard errors over rows or repeats."""


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
    lines = [f"## {paper}", "", reference, "", made, "", *remarks]
    lines += ["| place | claim | printed | ours | verdict |", "|---|---|---|---|---|"]
    for claim in (one for one in CLAIMS if one.paper == paper):
        judged = [] if stored is None or claim.cannot else stored["claims"]
        found = _belonging(claim, judged)
        ours = "<br>".join(_shortened(claim, one) for one in found) or "–"
        cells = (claim.where, claim.claim, claim.printed, ours, verdict_of(claim, found))
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join([*lines, "", *_tables(stored)]).rstrip()


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
    """Return the results of two runs as one; what both have is that of the second."""
    tables = {one["title"]: one for one in before["tables"]}
    for one in more["tables"]:
        tables[one["title"]] = _joined(tables.get(one["title"]), one)
    words = {one["words"] for one in more["claims"]}
    commands = [*before["command"].split("; "), more["command"]]
    return {
        **more,
        "command": "; ".join(dict.fromkeys(commands)),
        "tables": list(tables.values()),
        "claims": [one for one in before["claims"] if one["words"] not in words] + more["claims"],
        "scores": {**before["scores"], **more["scores"]},
        "notes": list(dict.fromkeys([*before["notes"], *more["notes"]])),
    }


def _joined(before: dict[str, Any] | None, more: dict[str, Any]) -> dict[str, Any]:
    """Return a table with the rows of both, by their first cells, if they have the same columns."""
    if before is None or not before["rows"] or not more["rows"]:
        return more
    columns = list(more["rows"][0])
    if list(before["rows"][0]) != columns:
        return more
    named = {row[columns[0]] for row in more["rows"]}
    rows = [row for row in before["rows"] if row[columns[0]] not in named] + more["rows"]
    return {**more, "rows": rows, "notes": list(dict.fromkeys([*before["notes"], *more["notes"]]))}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the page, or keep the results of a run."""
    parser = argparse.ArgumentParser(description="Claims of the papers, from stored results.")
    parser.add_argument("--store", type=Path, help="a results.json to keep")
    parser.add_argument("--command", help="the command that made it")
    parser.add_argument("--add", action="store_true", help="add to what is stored already")
    given = parser.parse_args(arguments)
    if given.store is None:
        sys.stdout.write(page())
    elif given.command is None:
        parser.error("--store needs --command: the command that made the results.")
    else:
        sys.stdout.write(f"{store(given.store, given.command, add=given.add)}\n")


if __name__ == "__main__":
    main()
