"""A review as one HTML page, which needs no network and works without JavaScript."""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from palmette._arrays import is_missing
from palmette._text import visible
from palmette.exceptions import PalmetteError
from palmette.reporting._html import PAGE_HEAD
from palmette.reviewing._doubts import percent

if TYPE_CHECKING:
    import pandas as pd

_LONGEST = 400  # characters of a cell that are shown
_N_PAIRS = 20

_PAGE = (
    PAGE_HEAD
    + """<main id="main" tabindex="-1">
<section>
<h1>{title}</h1>
{head}
<p id="search" hidden><label>Show rows with <input type="search" id="wanted"></label>
<span id="shown" class="muted" role="status"></span></p>
</section>
{sections}
</main>
<script>{script}</script>
</body>
</html>
"""
)

_STYLE = """
td { vertical-align: top; }
td, th { padding-right: 1rem; }
td.text { min-width: 18rem; max-width: 34rem; overflow-wrap: anywhere; }
td.label { min-width: 9rem; }
td .same { color: var(--soft); }
td .apart { font-weight: 600; }
#search input { font: inherit; padding: .25rem .5rem; width: min(24rem, 100%); }
"""

# hides the rows that do not contain a text
_SCRIPT = """"use strict";
(() => {
  const box = document.getElementById("wanted");
  const rows = [...document.querySelectorAll("tbody.findings tr")];
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const shown = document.getElementById("shown");
  box.addEventListener("input", () => {
    const wanted = box.value.toLowerCase();
    let count = 0;
    rows.forEach((row, i) => {
      row.hidden = !texts[i].includes(wanted);
      count += row.hidden ? 0 : 1;
    });
    shown.textContent = `${count} of ${rows.length} rows`;
  });
  document.getElementById("search").hidden = false;
})();
"""

_SECTIONS = (
    ("wrong label", "Labels that are probably wrong",
     "The most doubtful ones come first. All of them are more probably wrong than right."),
    ("equal rows", "Equal rows with different labels",
     "At most one of the labels is right, or the columns do not distinguish the rows."),
    ("unknown label", "Labels that are not in the hierarchy",
     "They may be misspelled, or new."),
    ("no class", "Rows that fit no class",
     "They may need a class of their own, or belong elsewhere."),
    ("uncertain", "Least certain rows",
     "Their labels would teach the model most."),
)  # fmt: skip


_LISTED = {
    "equal rows": "equal rows with different labels",
    "unknown label": "unknown labels",
    "no class": "rows that fit no class",
    "uncertain": "uncertain rows",
}


def review_page(found: pd.DataFrame, title: str = "Rows to review") -> str:
    """Write a review as one HTML page.

    Texts of the table are escaped, and the content security policy of the page allows its own style
    and script only.

    Parameters
    ----------
    found : DataFrame
        Result of `palmette.review`.
    title : str

    Returns
    -------
    str
    """
    facts = found.attrs.get("review")
    if facts is None or "finding" not in found.columns:
        raise PalmetteError("expected the table that palmette.review returns, with its attrs.")
    style = _report_style() + _STYLE
    return _PAGE.format(
        title=_text(title),
        style=style,
        style_hash=_hash(style),
        script=_SCRIPT,
        script_hash=_hash(_SCRIPT),
        head="\n".join(f"<p class='lead'>{_text(words)}</p>" for words in sentences(facts)),
        sections="\n".join(_sections(found)),
    )


def sentences(facts: dict[str, Any]) -> list[str]:
    """Return a verdict in a few sentences.

    Parameters
    ----------
    facts : dict
        ``attrs["review"]`` of a review.

    Examples
    --------
    >>> facts = {"rows": 200, "labelled": 200, "assessed": 200, "likely_wrong": 9, "folds": 5,
    ...          "expected_wrong": 10.2, "expected_share": 0.051, "expected_interval": [5.1, 18.0],
    ...          "model": "class-tree", "unknown_labels": 0, "several_labels": False,
    ...          "listed": {"equal rows": 2}}
    >>> print(*sentences(facts), sep=" ")
    By estimate, 10 of 200 labels (5.1 %; between 5 and 18 at 95 %) are wrong; 9 are more probably
    wrong than right. Also listed: 2 equal rows with different labels. Every row was judged by a
    class-tree that was fitted on other rows (5 folds).
    """
    words = []
    if facts["assessed"]:
        n, of = f"{facts['expected_wrong']:,.0f}", f"{facts['assessed']:,}"
        share = f"{100 * facts['expected_share']:.1f} %"
        if facts["expected_interval"] is not None:
            low, high = facts["expected_interval"]
            share += f"; between {low:,.0f} and {high:,.0f} at 95 %"
        if facts["several_labels"]:
            wrong = f"{n} of {of} rows ({share}) lack a label or have a wrong one"
        else:
            wrong = f"{n} of {of} labels ({share}) are wrong"
        more = f"{facts['likely_wrong']:,} are more probably wrong than right"
        words.append(f"By estimate, {wrong}; {more}.")
    rest = [f"{facts['listed'][name]:,} {title}" for name, title in _LISTED.items()
            if facts["listed"].get(name)]  # fmt: skip
    if rest:
        words.append(f"Also listed: {', '.join(rest)}.")
    without = facts["rows"] - facts["labelled"] - facts["unknown_labels"]
    if without:
        words.append(f"{without:,} rows have no label.")
    unsure = facts["labelled"] - facts["assessed"]
    if unsure:
        words.append(f"{unsure:,} labels are too rare to be judged.")
    if facts["folds"]:
        words.append(
            f"Every row was judged by a {facts['model']} that was fitted on other rows "
            f"({facts['folds']} folds)."
        )
    else:
        words.append(f"The rows were judged by the given model, a {facts['model']}.")
    return words


def _sections(found: pd.DataFrame) -> Iterator[str]:
    wrong = found[found["finding"] == "wrong label"]
    for finding, title, words in _SECTIONS:
        rows = found[found["finding"] == finding]
        if not len(rows):
            continue
        yield (
            f"<section><h2>{_text(title)}</h2>\n<p class='lead'>{_text(words)} "
            f"{len(rows):,} rows are listed.</p>"
        )
        yield _table(rows)
        if finding == "wrong label" and len(wrong) > 1:
            yield from _pairs(wrong)
        yield "</section>"


def _pairs(wrong: pd.DataFrame) -> Iterator[str]:
    """The most frequent changes of labels."""
    counts = (
        wrong.groupby(["given", "proposed"], sort=False)
        .size()
        .sort_values(ascending=False, kind="stable")
    )
    counts = counts[counts > 1][:_N_PAIRS]
    if not len(counts):
        return
    yield "<h3>Most frequent changes</h3>"
    yield _frame(
        ["given", "proposed", "rows"],
        "".join(
            f"<tr><td class='label'>{_text(given)}</td><td class='label'>"
            f"{_apart(given, proposed)}</td><td class='n'>{n:,}</td></tr>"
            for (given, proposed), n in counts.items()
        ),
    )


def _table(rows: pd.DataFrame) -> str:
    columns = list(rows.columns)
    place = columns[0]
    extra = columns[columns.index("reason") + 1 :]
    extra = [name for name in extra if name not in ("missing", "superfluous")]
    titles = [place, "given", "proposed", "score", "reason", *extra]
    body = []
    for row in rows.to_dict("records"):
        cells = [
            f"<td class='n'>{_text(row[place])}</td>",
            f"<td class='label'>{_text(row['given'])}{_share(row['given_probability'])}</td>",
            f"<td class='label'>{_apart(row['given'], row['proposed'])}"
            f"{_share(row['proposed_probability'])}</td>",
            f"<td class='n'>{row['score']:.3f}</td>",
            f"<td class='text'>{_text(row['reason'])}</td>",
        ]
        cells += [f"<td class='text'>{_text(_shown(row[name]))}</td>" for name in extra]
        body.append(f"<tr>{''.join(cells)}</tr>")
    return _frame(titles, "\n".join(body), "findings")


def _frame(titles: list[str], body: str, kind: str = "") -> str:
    head = "".join(f"<th scope='col'>{_text(title)}</th>" for title in titles)
    return (
        "<div class='table-frame' tabindex='0' role='region' aria-label='table'><table><thead><tr>"
        f"{head}</tr></thead><tbody class='{kind}'>{body}</tbody></table></div>"
    )


def _apart(given: str, proposed: str) -> str:
    """Write a proposed label, with the part that the given one shares less visible."""
    same = 0
    for a, b in zip(str(given), str(proposed), strict=False):
        if a != b:
            break
        same += 1
    while same and str(proposed)[same - 1].isalnum():  # whole names only
        same -= 1
    head, tail = str(proposed)[:same], str(proposed)[same:]
    return f"<span class='same'>{_text(head)}</span><span class='apart'>{_text(tail)}</span>"


def _share(p: Any) -> str:
    return "" if is_missing(p) else f" <span class='muted'>{_text(percent(p))}</span>"


def _shown(cell: Any) -> str:
    if is_missing(cell):
        return ""
    text = " ".join(str(cell).split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _text(value: Any) -> str:
    return html.escape(visible(str(value))).encode("ascii", "xmlcharrefreplace").decode("ascii")


@cache
def _report_style() -> str:
    folder = resources.files("palmette.reporting") / "assets"
    return (folder / "report.css").read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return "sha256-" + base64.b64encode(digest).decode("ascii")
