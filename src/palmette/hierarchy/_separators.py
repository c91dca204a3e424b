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


def split_path(label: str, separator: str | None) -> tuple[str, ...]:
    """Split a label into the names of a path, without white space around them.

    A separator at the end is ignored.

    Examples
    --------
    >>> split_path("T-shirts - Long-sleeve", " - ")
    ('T-shirts', 'Long-sleeve')
    >>> split_path("Food > Fruit > ", ">")
    ('Food', 'Fruit')
    """
    if not separator:
        return (label.strip(),)
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


def detect_separator(labels: Iterable[str]) -> str | None:
    """Return the separator with which most labels are paths, None if they are plain names.

    It must split most of the distinct labels. One that may be part of a name, such as ``/``, must
    also group them: most labels must share the name before it with another one, and most must not
    be addresses, files, dates or fractions. Only the set of labels counts, not their order, or how
    often they occur.

    Parameters
    ----------
    labels : iterable of str

    Examples
    --------
    >>> detect_separator(["Food > Fruit", "Food > Fish", "Tools"])
    ' > '
    >>> detect_separator(["cat", "dog", "either/or"]) is None
    True
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
    return best


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
