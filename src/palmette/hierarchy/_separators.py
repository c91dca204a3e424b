"""Paths in strings: find the separator that labels use, split strings at it, and join names.

A separator is used exactly as it is written: ``" - "`` does not split ``"T-shirts"``. White space
around the names that it separates is not part of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

# among separators that split as many labels the first is taken: " -> " contains "->" and ">"
SEPARATORS = (
    *(" -> ", "->", " > ", ">", " » ", "»", " :: ", "::"),
    *(" | ", "|", " / ", "/", " \\ ", "\\"),
)
UNAMBIGUOUS = SEPARATORS[:8]  # rarely part of a name
_SHARE = 0.6  # minimum share of the distinct labels with a separator
_EMPTY = 0.1  # maximum share of labels with an empty name: few are mistakes, many are not paths
_RECURRING = 0.3  # maximum share of labels with a top name further down, as in "en/fr", "fr/de"
_GROUPED = 0.5  # minimum share of labels that share their top name: "km/h", "km/s" are a chance
# addresses and names of files, which are rarely classes of a taxonomy
_FILES = re.compile(
    r"\w+:[/\\].*|www\..*|(?:\.{1,2}|~)[/\\].*|.*[/\\][^/\\]*[^/\\\s]\.[A-Za-z]\w{0,4}", re.DOTALL
)
_DAY, _MONTH, _YEAR = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:0?[1-9]|1[0-2])", r"(?:\d{2}|\d{4})"
_WHOLE = r"(?:0|[1-9]\d*)"  # codes of a hierarchy often begin with zeros, numbers do not
# fractions, then dates: labels of numbers are paths unless nearly all of them have one such form
_NUMBER_FORMS = tuple(
    re.compile(r"\s*" + r"\s*[/|\\]\s*".join(parts) + r"\s*")
    for parts in (
        (_WHOLE, _WHOLE),
        (_MONTH, _YEAR),
        (r"\d{4}", _MONTH),
        (r"\d{4}", _MONTH, _DAY),
        (_DAY, _MONTH, _YEAR),
        (_MONTH, _DAY, _YEAR),
    )
)
_NUMBERS = re.compile(r"[\d\s/|\\]+")
# marks that no list has: runs of characters that are in no name, with the blanks around them
_MARKS = re.compile(r"\s*(?:&gt;|_+|[^\w\s()\[\]{}<\"'\u2018-\u201f$€£%?!]+)\s*|\t+")
_ANY_SHARE = 0.9  # minimum share of the distinct labels with such a mark, and of those it groups
_PATH_MARKS = ("\n", " || ", "||", " && ", "; ", ";", " | ", "|", ", ", ",", "\t", " ")
_TRIED = 1000  # parts of cells that are looked at first
_FEWER = 0.75  # maximum size of the tree of several paths per cell, to that of one per cell
_CROSSED = (
    0.5  # maximum share of names that are below several others, as in "low-risk", "high-risk"
)


def split_path(label: str, separator: str | None) -> tuple[str, ...]:
    """Split a label into the names of a path, without white space around them.

    A separator at the end is ignored.

    Examples
    --------
    >>> split_path("T-shirts - Long-sleeve", " - ")
    ('T-shirts', 'Long-sleeve')
    >>> split_path("Food > Fruit > ", ">"), split_path("Food > > Fruit", " > ")
    (('Food', 'Fruit'), ('Food', '', 'Fruit'))
    """
    if not separator:
        return (label.strip(),)
    if separator.strip() and separator == f" {separator.strip()} ":
        twice = separator + separator[1:]  # with one blank between the marks
        while twice in label:
            label = label.replace(twice, separator + separator)
    names = [name.strip() for name in label.split(separator)]
    while names and not names[-1]:
        names.pop()
    return tuple(names)


def join_path(names: Sequence[object], separator: str) -> str | None:
    """Join names to a string that `split_path` splits into the same names; None if it would not.

    Examples
    --------
    >>> join_path(("Food", "Fruit"), "/"), join_path(("Food", "Fruit/Veg"), "/")
    ('Food/Fruit', None)
    """
    plain = tuple(map(str, names))
    text = separator.join(plain)
    return text if split_path(text, separator) == plain else None


def detect_separator(labels: Iterable[str], *, any_mark: bool = False) -> str | None:
    """Return the separator with which most labels are paths, None if they are plain names.

    It must split most of the distinct labels. One that may be part of a name, such as ``/``, must
    also group them: most labels must share the name before it with another one, and most must not
    be addresses, files, dates or fractions. Only the set of labels counts, not their order, or how
    often they occur.

    Parameters
    ----------
    labels : iterable of str
    any_mark : bool
        Whether the separator may be any mark, which then must split nearly all labels, and group
        nearly all of them below several tops.

    Examples
    --------
    >>> detect_separator(["Food > Fruit", "Food > Fish", "Tools"])
    ' > '
    >>> detect_separator(["cat", "dog", "either/or"]) is None
    True
    >>> detect_separator(["Food: Fruit", "Food: Fish", "Tools: Saw", "Tools: Axe"], any_mark=True)
    ': '
    """
    distinct = list(dict.fromkeys(label.strip() for label in labels))
    best, most = None, 0
    refused: dict[str, int] = {}
    for separator in SEPARATORS:
        having = [label for label in distinct if separator in label]
        if len(having) <= most or len(having) < _SHARE * len(distinct):
            continue
        if any(separator in other and count == len(having) for other, count in refused.items()):
            continue  # ">" is only a part of "->"
        paths = [split_path(label, separator) for label in having]
        if _form_a_tree(paths, separator) and not _are_no_paths(having, separator):
            best, most = separator, len(having)
        else:
            refused[separator] = len(having)
    return _any_mark(distinct, best, most) if any_mark else best


def detect_separators(cells: Iterable[str]) -> tuple[str | None, str | None]:
    """Return the separator of the names of a path, and that of several paths in a cell.

    A mark separates paths if nearly all parts of the cells that have it are paths again, mostly
    from tops that come first elsewhere, and give a smaller tree than one path per cell.

    Parameters
    ----------
    cells : iterable of str

    Returns
    -------
    (str or None, str or None)
        None for plain names, and for one path per cell.

    Examples
    --------
    >>> detect_separators(["role::program, use::mail", "use::mail, use::web", "role::program"])
    ('::', ', ')
    >>> detect_separators(["Food > Fruit, nuts > Apple", "Food > Fruit, nuts > Pear"])
    (' > ', None)
    """
    distinct = list(dict.fromkeys(cell.strip() for cell in cells))
    best: tuple[str | None, str | None] = detect_separator(distinct, any_mark=True), None
    fewest = _FEWER
    for mark in _PATH_MARKS:
        having = [parts_of(cell, mark) for cell in distinct if mark in cell]
        if len(having) < 2:
            continue
        several = [part for parts in having for part in parts]
        some = several[:_TRIED]  # of plain names few have any mark inside
        if sum(_MARKS.search(part) is not None for part in some) < _ANY_SHARE * len(some):
            continue
        others = [cell for cell in distinct if mark not in cell]
        separator = detect_separator([*several, *others], any_mark=True)
        if separator is None or separator.strip() in mark or (mark.strip() or mark) in separator:
            continue
        n_paths = sum(separator in part for part in several)
        least = 1.0 if mark == " " else _ANY_SHARE
        if n_paths < least * len(several) or not _have_tops_of_others(having, others, separator):
            continue
        alone = [mark.join(parts) for parts in having]
        known = _nodes(others, separator)
        n_alone = len(_nodes(alone, best[0] or separator) - known)
        share = len(_nodes(several, separator) - known) / max(n_alone, 1)
        if share < fewest:
            fewest, best = share, (separator, mark)
    return best


def parts_of(cell: str, mark: str) -> list[str]:
    """Return the parts of a cell between the marks, without those that are empty."""
    return [part.strip() for part in cell.split(mark) if part.strip()]


def _have_tops_of_others(cells: list[list[str]], others: list[str], separator: str) -> bool:
    """Whether most later parts of cells have a top that also comes first."""
    tops = {
        split_path(label, separator)[0] for label in [*others, *(cell[0] for cell in cells if cell)]
    }
    later = [split_path(part, separator)[0] in tops for cell in cells for part in cell[1:]]
    return 2 * sum(later) > len(later)


def _nodes(labels: Iterable[str], separator: str) -> set[tuple[str, ...]]:
    paths = {split_path(label, separator) for label in labels}
    return {path[:end] for path in paths for end in range(1, len(path) + 1)}


def _any_mark(labels: list[str], best: str | None, most: int) -> str | None:
    """Return a mark that forms a tree of nearly all labels, if it is better than the best listed.

    A listed one that is only a part of it, as ">" of "=>", is worse.
    """
    counts: Counter[str] = Counter()
    some = sorted(labels)[:: -(-len(labels) // _TRIED) or 1]
    for label in some:
        marks = {mark for mark in _MARKS.findall(label) if label.strip(mark) == label.strip()}
        counts.update(marks | {mark.strip() or mark for mark in marks})
    for mark, count in sorted(counts.items(), key=lambda each: (-each[1], -len(each[0]), each[0])):
        if 2 * count < len(some):
            break
        is_part = best is not None and best.strip() in mark and mark.strip() != best.strip()
        having = [label for label in labels if mark in label]
        if len(having) < max(_ANY_SHARE * len(labels), 2):
            continue
        is_better = (len(having) > most or is_part) and mark not in SEPARATORS
        if is_better and _form_a_wide_tree([split_path(label, mark) for label in having]):
            return mark
    return best


def _form_a_wide_tree(paths: list[tuple[str, ...]]) -> bool:
    """Whether nearly all paths are below a few of several tops, with names of letters."""
    if not _form_a_tree(paths, ""):
        return False
    sizes = Counter(path[0] for path in paths)
    n_grouped = sum(n for n in sizes.values() if n > 1)
    tops_of: dict[str, set[str]] = {}
    for path in paths:
        for name in path[1:]:
            tops_of.setdefault(name, set()).add(path[0])
    n_crossed = sum(len(tops) > 1 for tops in tops_of.values())
    n_words = sum(any(map(str.isalpha, "".join(path))) for path in paths)
    return (
        len(sizes) > 1
        and n_grouped >= _ANY_SHARE * len(paths)
        and n_words >= _ANY_SHARE * len(paths)
        and n_crossed <= _CROSSED * len(tops_of)
    )


def _form_a_tree(paths: list[tuple[str, ...]], separator: str) -> bool:
    """Whether paths have names at every level, and other names at the top than below it."""
    deep = [path for path in paths if len(path) > 1 and all(path)]
    if len(deep) < (1 - _EMPTY) * len(paths):
        return False
    tops = {path[0] for path in deep}
    words = {name for name in tops if not name.isdecimal()}  # numbers recur at every level
    if sum(not words.isdisjoint(path[1:]) for path in deep) > _RECURRING * len(deep):
        return False
    if separator in UNAMBIGUOUS:
        return True
    sizes = Counter(path[0] for path in deep)
    return sum(n for n in sizes.values() if n > 1) >= max(_GROUPED * len(deep), 1)


def _are_no_paths(labels: list[str], separator: str) -> bool:
    if separator in UNAMBIGUOUS:
        return False
    n_files = sum(_FILES.fullmatch(label) is not None for label in labels)
    return 2 * n_files > len(labels) or _are_numbers(labels)


def _are_numbers(labels: list[str]) -> bool:
    """Whether most labels are fractions, or most are dates written alike."""
    numbers = [label for label in labels if _NUMBERS.fullmatch(label)]
    if 2 * len(numbers) <= len(labels):
        return False
    most = max(sum(form.fullmatch(n) is not None for n in numbers) for form in _NUMBER_FORMS)
    return most >= (1 - _EMPTY) * len(numbers)
