"""What was read from a table: in one compact table, and what about its target is doubtful."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from palmette.exceptions import AmbiguousTableError
from palmette.hierarchy._names import shown
from palmette.hierarchy._separators import (
    UNAMBIGUOUS,
    bracketed,
    detect_separator,
    doubtful_mark,
    joins_words,
)
from palmette.table._dates import ISO
from palmette.table._kinds import is_missing_word, plain
from palmette.table._numbers import POINT, plain_numbers
from palmette.table._target_cells import Label

if TYPE_CHECKING:
    from palmette.table._problem import TableProblem
    from palmette.table._target import TargetForm

_LEAST_ROWS = 20  # fewer rows cannot tell whether values repeat
_SINGLE = 0.9  # minimum number of classes, to that of rows, of a target that says nothing
_NUMBERS = 20  # classes of a target of fractions, of which more are no classes
_FRACTIONS = 0.5  # minimum share of the classes that are fractions
_MOST_LEADING = 0.5  # share of the labels from which on a separator at the beginning is their form
_LEAST_PATHS = 8  # fewer share their tops by chance
_MIXED = 0.2  # minimum share of labels with a separator that others lack
_ALONE = 0.5  # minimum share of the paths whose top no other one has
_WIDEST = 60  # characters of a cell that is shown
_EXAMPLES = 2


# ---------------------------------------------------------------------- doubts


def require_classes(form: TargetForm, paths: Sequence[Any]) -> str:
    """Return a sentence about plain labels that are hardly classes, or an empty string.

    Parameters
    ----------
    form : TargetForm
    paths : sequence of n_samples paths
        Of one column of plain names.
    """
    labels = {path[0] for path in paths}
    if len(paths) < _LEAST_ROWS:
        return ""
    numbers = plain_numbers(np.array([str(label).replace(",", ".") for label in labels], object))
    example = shown(str(min(labels)))
    column = form.columns[0]
    is_fraction = np.isfinite(numbers) & (numbers != np.round(numbers))
    if len(labels) > _NUMBERS and is_fraction.mean() >= _FRACTIONS:
        return (
            f"the target {column!r} has {len(labels):,} different numbers, such as {example}, and "
            "each of them would be a class"
        )
    if len(labels) >= _SINGLE * len(paths):
        return (
            f"the target {column!r} has {len(labels):,} different values in {len(paths):,} rows, "
            f"such as {example}, and each of them would be a class"
        )
    return ""


def no_classes(sentence: str) -> AmbiguousTableError:
    """Return the error for a target whose values are hardly classes.

    Parameters
    ----------
    sentence : str
        As from `require_classes`.
    """
    return AmbiguousTableError(
        f"{sentence[0].upper()}{sentence[1:]}. Pass another column as the target, or group the "
        "values in the table; or pass --yes (yes=True) to learn every value as a class.",
        [("every value is a class", {"yes": True})],
    )


def sentences_on_target(
    form: TargetForm,
    labels: Sequence[str],
    gaps: Sequence[Label],
    nodes: Mapping[Any, int],
) -> list[str]:
    """Say what is doubtful about the target, and what to do.

    Parameters
    ----------
    form : TargetForm
    labels : sequence of str
        The distinct labels of one column, if its separator was not given.
    gaps : sequence of str or paths
        Labels of rows with an empty name.
    nodes : dict of path to int
        Rows of every node.

    Examples
    --------
    >>> from palmette.table._target import TargetForm
    >>> labels = ["en-US", "en-GB", "de-DE", "de-AT"]
    >>> for sentence in sentences_on_target(TargetForm(["y"]), labels, [], {}):
    ...     print(sentence)  # doctest: +NORMALIZE_WHITESPACE
    The labels of the target are read as plain names, but '-' could separate the names of paths, as
    in 'de-AT'. If it does, pass --separator '-'; if not, --separator ''
    """
    lines = []
    names = [gap if isinstance(gap, tuple) else form.names_in(gap) for gap in gaps]
    n_labels = sum(n_rows for path, n_rows in nodes.items() if len(path) == 1)
    all_names: Counter[str] = Counter()
    for path, n_rows in nodes.items():
        all_names[path[-1]] += n_rows
    if len(gaps) > _MOST_LEADING * n_labels:
        names = [path for path in names if "" in path[1:]]  # the others begin with a separator
    if names:
        path = names[0]
        rows = "row has" if len(names) == 1 else "rows have"
        read = form.separator or " > "
        lines.append(
            f"{len(names):,} {rows} an empty name in the path, such as {shown(read.join(path))}: "
            f"it is left out, and the path is {shown(read.join(filter(None, path)))}"
        )
    return [*lines, *_on_missing(form, all_names), *_on_marks(form, labels)]


def _on_missing(form: TargetForm, all_names: Counter[str]) -> list[str]:
    """Say which names of classes are words for a missing value."""
    words = [name for name in all_names if is_missing_word(name)]
    if not words:
        return []
    n_rows = sum(all_names[name] for name in words)
    rows = "row has" if n_rows == 1 else "rows have"
    return [
        f"{n_rows:,} {rows} the class {shown(min(words))}. If it stands for no value, leave its "
        "cells empty"
    ]


def _on_marks(form: TargetForm, labels: Sequence[str]) -> list[str]:
    """Say which marks could be read otherwise."""
    if form.separator is None:
        found = doubtful_mark(labels)
        if found is None:
            return _on_plain_names(labels)
        mark, example, is_reversed = found
        words = f"The labels of the target are read as plain names, but {mark!r} could separate"
        if is_reversed:
            return [
                f"{words} the names of paths from the bottom, as in {shown(example)}. If so, write "
                "the paths from the top in the table; if not, pass --separator ''"
            ]
        return [
            f"{words} the names of paths, as in {shown(example)}. If it does, pass --separator "
            f"{mark!r}; if not, --separator ''"
        ]
    lines = []
    paths = [form.names_in(label) for label in labels]
    deep = [path for path in paths if len(path) > 1]
    tops = Counter(path[0] for path in deep)
    other = detect_separator(tops, any_mark=True)
    if other is not None:
        example = shown(min(top for top in tops if other in top))
        lines.append(
            f"The names at the top have {other!r}, as in {example}: only {form.separator!r} "
            "separates the names of paths. Write one separator in the table if both do"
        )
    n_alone = sum(count == 1 for count in tops.values())
    if len(deep) >= _LEAST_PATHS and n_alone > _ALONE * len(deep):
        lines.append(
            f"{n_alone:,} of {len(deep):,} paths share no name with another one, as in "
            f"{shown(form.separator.join(deep[0]))}. If they are plain names, pass --separator ''"
        )
    elif deep and joins_words(form.separator):
        longest = form.separator.join(max(deep, key=lambda path: len(tuple(path))))
        lines.append(
            f"{form.separator!r} is read as the separator of paths, as in {shown(longest)}. If it "
            "belongs to the names, pass --separator ''"
        )
    return lines


def _on_plain_names(labels: Sequence[str]) -> list[str]:
    """Say that some labels could be paths, though most are not, or could be levels in brackets."""
    example = bracketed(labels)
    if example is not None:
        return [
            f"The labels of the target are read as plain names, but the names in brackets, as in "
            f"{shown(example)}, could be levels. If they are, write them with a separator, such as "
            "' > '"
        ]
    for mark in UNAMBIGUOUS:
        some = [label for label in labels if mark in label]
        if len(some) >= _MIXED * len(labels) and len(some) >= _LEAST_PATHS / 2:
            return [
                f"{len(some):,} of {len(labels):,} labels have {mark!r}, as in {shown(min(some))}: "
                f"they are read as plain names. If it separates the names of paths, pass "
                f"--separator {mark!r}, and write all paths with it"
            ]
    places = [label.partition("://")[2].partition("/")[2] for label in labels]
    if len(labels) >= _LEAST_PATHS and all(places) and detect_separator(places) == "/":
        return [
            f"The labels of the target are addresses, such as {shown(min(labels))}: they are read "
            "as plain names. If their parts are levels, write only what follows the host, as "
            f"{shown(min(places))}"
        ]
    return []


# ---------------------------------------------------------------------- the table


def reading_lines(problem: TableProblem, text: str, verbose: bool) -> Iterator[str]:
    """Yield lines about how a table was read, a table of all columns among them if wanted.

    Parameters
    ----------
    problem : TableProblem
    text : str
        Features of texts.
    verbose : bool
        Whether every column has a line, and two labels are shown with their names.
    """
    gone = f"; {problem.n_dropped:,} rows without a target are left out"
    yield f"{problem.n_all:,} rows{gone if problem.n_dropped else ''}"
    h = problem.hierarchy
    learned = "" if problem.learner is None else f"; another one is learned by {problem.learner!r}"
    tree = f"{h.n_nodes - 1:,} nodes, {h.n_leaves:,} leaves, depth {h.max_depth}{learned}"
    kinds = dict(_kinds(problem, text))
    if verbose:
        rows = [("column", "read as", "such as")]
        rows += [(name, kind, _example(problem, name)) for name, kind in kinds.items()]
        examples = _examples(problem)
        last = problem.target.columns[-1]
        rows.append((last, f"target: {problem.target.describe_form(examples=False)}", examples[0]))
        rows += [("", "", example) for example in examples[1:]]
        rows.append(("", f"hierarchy: {tree}", ""))
        yield from _aligned(rows)
    else:
        used = [f"{name} ({kinds[name]})" for name in problem.schema.kinds]
        more = f" and {len(used) - 12} more" if len(used) > 12 else ""
        yield f"columns: {', '.join(used[:12])}{more}"
        yield f"target: {problem.target.describe()}"
        yield f"hierarchy: {tree}"
    if h.vocabulary is not None and h.vocabulary.repairs():
        yield f"thesaurus: {'; '.join(h.vocabulary.repairs())}"


def _kinds(problem: TableProblem, text: str) -> Iterator[tuple[str, str]]:
    """Yield all columns but the last of the target, with what they are."""
    schema, levels = problem.schema, problem.target.columns[:-1]
    names = schema.table_columns or [*schema.kinds]
    for name in [*names, *(level for level in levels if level not in names)]:
        if name in levels:
            is_label = problem.target.columns_are_labels
            place = "a label" if is_label else f"level {levels.index(name) + 1}"
            yield name, f"{place} of the target"
        elif name in schema.kinds:
            yield name, _kind(problem, name, text)
        elif name in schema.left_out:
            yield name, f"left out: {schema.left_out[name]}"
        elif name != problem.target.columns[-1]:
            yield name, "left out: --drop"


def _kind(problem: TableProblem, name: str, text: str) -> str:
    schema, kind = problem.schema, problem.schema.kinds[name]
    if kind == "text":
        return f"text, by {text}"
    words = []
    if schema.decimals.get(name, POINT) != POINT:
        words.append("decimal comma")
    if schema.units.get(name):
        words.append(f"in {schema.units[name]}")
    if schema.date_formats.get(name, ISO) != ISO:
        words.append(f"as {schema.date_formats[name]}")
    return ", ".join([kind, *words])


def _example(problem: TableProblem, name: str) -> str:
    if name not in problem.frame.columns:
        return ""
    cells = problem.frame[name].dropna()
    return shown(_cut(plain(cells.iloc[0]))) if len(cells) else ""


def _examples(problem: TableProblem) -> list[str]:
    """Return two labels, the deepest if there are several depths, with the names of their paths."""
    form = problem.target
    rows = problem.truth[:1000]
    labels = [label for row in rows for label in (sorted(row) if isinstance(row, set) else [row])]
    paths = [label if isinstance(label, tuple) else (label,) for label in dict.fromkeys(labels)]
    deepest = sorted(paths, key=lambda path: -len(path))[:_EXAMPLES]
    found = []
    for path in deepest:
        steps = f": {', then '.join(map(str, path))}" if len(path) > 1 else ""
        found.append(f"{shown(_cut(form.write(path)))}{_cut(steps)}")
    return found


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"


def _aligned(rows: list[tuple[str, str, str]]) -> Iterator[str]:
    """Yield the lines of a table; wide characters take two columns."""
    widths = [max(_width(row[k]) for row in rows) for k in range(2)]
    for row in rows:
        cells = [each + " " * (widths[k] - _width(each)) for k, each in enumerate(row[:2])]
        yield "  ".join([*cells, row[2]]).rstrip()


def _width(text: str) -> int:
    """Count the columns of a text in a terminal."""
    marks = sum(unicodedata.combining(character) > 0 for character in text)
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - marks
