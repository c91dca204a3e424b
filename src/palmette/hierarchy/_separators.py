"""Paths in strings: find the separator that labels use, split strings at it, and join names.

A separator is used exactly as it is written: ``" - "`` does not split ``"T-shirts"``. White space
around the names that it separates is not part of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

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
# marks that no list has: runs of characters that are in no name, with the blanks around them; in
# names are letters and their marks, which are no letters for \w (vowel signs, tones), and emoji
_NAMES = (
    r"\w()\[\]{}<\"'\u2018-\u201f$€£%?!\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u0670"
    r"\u06d6-\u06ed\u0900-\u0963\u0966-\u109f\u1780-\u17d3\u200b-\u200f\u2600-\u275f\ufe0e\ufe0f"
    r"\U0001f000-\U0001faff"
)
_BLANKS = r"[^\S\n\t]"
_MARKS = re.compile(
    rf"{_BLANKS}*(?:&(?:gt|r?s?aquo|rarr);|<br */?>|_+|[^\s{_NAMES}]+\ufe0f?){_BLANKS}*"
    rf"|[\t\n\u2001-\u2003]+|[ \xa0]{{2,}}"
    rf"|{_BLANKS}+(?:<+|[\u2600-\u275f\U0001f000-\U0001faff]\ufe0f?){_BLANKS}+"
)
_ANY_SHARE = 0.9  # minimum share of the distinct labels with such a mark, and of those it groups
# arrows, brackets that point to the right, and doubled marks, which are rarely part of a name
_ARROWS = re.compile(
    r"\s*(?:&(?:gt|r?s?aquo|rarr);|<br */?>|➡\ufe0f?|[-=~]*>+|:{2,}|\|+|/{2,}|\\{2,}"
    r"|[»›→⇒▸▶►❯➜➔➤⟶⟹⟩〉》＞]+|[\t\n\u2001-\u2003]+)\s*"
)
# marks inside of words, and those of lists of words, with which flat names are written, too
_WITHIN = re.compile(r"[-_.+&'~*@=·・]|\s*[+&,/、，]\s*|\s*\.\s*")
_WITHIN_GROUPED = 0.8  # minimum share of paths with such a mark that share their top
_CODE = 2.9  # minimum mean number of parts of codes of digits
_BRACKETS = (re.compile(r"([^(]+?)\s*\((.+)\)"), re.compile(r"\[([^\]]+)\]\s*(.+)"))
_DEEP = 2.5  # mean number of names of paths, from which on a mark inside of words is no chance
_GROUP = 2.2  # minimum mean number of labels of a top, of pairs of names with such a mark
_TIME = re.compile(r"\d:\d\d(?!\d)")
_DATES = re.compile(r"\d{4}([-./])\d{1,2}\1\d{1,2}(?:[ T].*)?|\d{1,2}([-./])\d{1,2}\2\d{2,4}")
_PATH_MARKS = (
    *("\n", " || ", "||", " && ", "; ", ";", " | ", "|", ", ", ","),
    *("、", "，", "；", "،", "؛", "\t", " + ", " & ", " and ", " / ", "+", " "),
)
_SET_NAMES = 0.5  # maximum number of names of sets, to that of distinct cells
_SET_FIRST = 0.3  # minimum share of the later names that come first elsewhere
_MANY_CELLS = 10  # before blanks separate names of a set
_SET_SHARE = 0.8  # minimum share of the names of sets that other cells have, too
_FEW_PATHS = 4  # labels that could be paths by chance
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
    if any_mark and (first := _mark_of_all(distinct, is_last=False)):
        rest = [_MARKS.sub("", label, count=1) for label in distinct]
        found = detect_separator(rest, any_mark=True)
        return found if found and found.strip() == first else None
    if any_mark and (last := _mark_of_all(distinct, is_last=True)):
        rest = [label.removesuffix(last).strip() for label in distinct]
        found = detect_separator(rest, any_mark=True)
        return found if found and found.strip() == last else None
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
        if best == (None, None) and (mark != " " or len(distinct) >= _MANY_CELLS):
            best = None, mark if are_sets([parts_of(cell, mark) for cell in distinct]) else None
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


def are_sets(cells: list[list[str]]) -> bool:
    """Return whether cells are sets of few names, which other cells have too, first or later.

    Parameters
    ----------
    cells : list of lists of str
        Distinct ones.
    """
    several = [parts for parts in cells if len(parts) > 1]
    counts = Counter(name for parts in cells for name in set(parts))
    later = [name for parts in several for name in parts[1:]]
    if len(several) < _FEW_PATHS or len(counts) > _SET_NAMES * len(cells) or not later:
        return False
    of_several = Counter(name for parts in several for name in set(parts))
    name, most = of_several.most_common(1)[0]
    joins = most >= _ANY_SHARE * len(several) and most == counts[name]  # "and" is no name
    if joins or not all(any(map(str.isalnum, name)) or not name.isascii() for name in counts):
        return False
    firsts = {parts[0] for parts in cells if parts}
    n_shared = sum(counts[name] > 1 for parts in several for name in parts)
    is_shared = n_shared >= _SET_SHARE * sum(map(len, several))
    return is_shared and sum(name in firsts for name in later) >= _SET_FIRST * len(later)


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

    A listed one that is only a part of it, as ">" of "=>", is worse. An arrow is better than
    another mark, and that better than one inside of words.
    """
    found = [(int(_ARROWS.fullmatch(best) is None), -most, 0, -len(best), best)] if best else []
    for mark, n_paths, paths in _marks_of(labels):
        is_part = best is not None and best.strip() in mark and mark.strip() != best.strip()
        if mark in SEPARATORS and best is not None:
            continue
        is_arrow, is_within = (form.fullmatch(mark) is not None for form in (_ARROWS, _WITHIN))
        if n_paths < (_SHARE if is_arrow else _ANY_SHARE) * len(labels):
            continue
        if not (is_part or best is None or n_paths > most):
            continue
        if is_part:
            found = [each for each in found if each[-1] != best]
        is_tree = _form_a_tree(paths, "::") if is_arrow else _form_a_wide_tree(paths, is_within)
        if is_tree:
            rank = 0 if is_arrow else 2 if is_within else 1
            n_nodes = len({path[:end] for path in paths for end in range(len(path))})
            found.append((rank, -n_paths, n_nodes, -len(mark), mark))
    return min(found)[-1] if found else None


def _mark_of_all(labels: list[str], *, is_last: bool) -> str:
    """Return the mark with which nearly all labels begin, as "/Food/Fruit", or end; else ""."""
    found: Counter[str] = Counter()
    for label in _sample(labels):
        marks = list(_MARKS.finditer(label))
        edge = marks[-1 if is_last else 0] if marks else None
        if edge is not None and (edge.end() == len(label) if is_last else edge.start() == 0):
            found[edge.group().strip()] += 1
    mark = found.most_common(1)[0][0] if found else ""
    has_mark = str.endswith if is_last else str.startswith
    count = sum(has_mark(label, mark) for label in labels) if mark else 0
    return mark if count >= max(_ANY_SHARE * len(labels), 2) else ""


def _sample(labels: list[str]) -> list[str]:
    """Return some of the labels, the same ones whatever their order."""
    return sorted(labels)[:: -(-len(labels) // _TRIED) or 1]


def _marks_of(labels: list[str]) -> Iterator[tuple[str, int, list[tuple[str, ...]]]]:
    """Yield the marks of labels, the number of labels that fit them, and the paths they separate.

    A label that is the top of a path fits it.
    """
    some = _sample(labels)
    counts: Counter[str] = Counter()
    for label in some:
        marks = {mark for mark in _MARKS.findall(label) if label.strip(mark) == label.strip()}
        counts.update(marks | {mark.strip() or mark for mark in marks})
    for mark, count in counts.items():
        n_times = sum(_TIME.search(label) is not None for label in some) if mark == ":" else 0
        if 2 * count < len(some) or 2 * n_times > len(some):
            continue
        paths = [split_path(label, mark) for label in labels if mark in label]
        if len(paths) > 1:
            tops = {path[0] for path in paths if path}
            yield mark, len(paths) + sum(label in tops for label in labels), paths


def bracketed(labels: Iterable[str]) -> str | None:
    """Return a label with a name in brackets, if these could be levels of most labels.

    Parameters
    ----------
    labels : iterable of str

    Examples
    --------
    >>> bracketed(["Food (Fruit)", "Food (Fish)", "Tools (Saws)", "Tools (Axes)"])
    'Food (Fish)'
    """
    distinct = list(dict.fromkeys(label.strip() for label in labels))
    for form in _BRACKETS:
        paths = [found.groups() for label in distinct if (found := form.fullmatch(label))]
        if len(paths) < max(_ANY_SHARE * len(distinct), _FEW_PATHS):
            continue
        if _form_a_wide_tree(paths, False):
            return min(label for label in distinct if form.fullmatch(label))
    return None


def joins_words(mark: str) -> bool:
    """Return whether a mark also stands inside of names, such as "-" and ", "; "/" rarely does."""
    return mark.strip() != "/" and _WITHIN.fullmatch(mark) is not None


def doubtful_mark(labels: Iterable[str]) -> tuple[str, str, bool] | None:
    """Return a mark with which plain names might be paths, though it joins words of names, too.

    Parameters
    ----------
    labels : iterable of str
        Names for which `detect_separator` finds no mark.

    Returns
    -------
    (str, str, bool) or None
        The mark, a label, and whether paths would begin at the bottom.

    Examples
    --------
    >>> doubtful_mark(["en-US", "en-GB", "de-DE", "de-AT"])
    ('-', 'de-AT', False)
    >>> doubtful_mark(["Lyon, France", "Paris, France", "Rome, Italy", "Bari, Italy"])
    (', ', 'Bari, Italy', True)
    """
    distinct = list(dict.fromkeys(label.strip() for label in labels))
    found = []
    for mark, n_paths, paths in _marks_of(distinct):
        if n_paths < _ANY_SHARE * len(distinct) or len(paths) < _FEW_PATHS:
            continue
        for is_reversed in (False, True):
            tried = [path[::-1] if is_reversed else path for path in paths]
            if _form_a_wide_tree(tried, False):
                found.append((is_reversed, -n_paths, -len(mark), mark))
    if not found:
        return None
    is_reversed, _, _, mark = min(found)
    return mark, min(label for label in distinct if mark in label), is_reversed


def lists_are_paths(lists: Iterable[Sequence[str]]) -> bool:
    """Return whether lists of names are paths from the top, and not sets of labels.

    Parameters
    ----------
    lists : iterable of sequences of str

    Examples
    --------
    >>> lists_are_paths((top, f"{top}{i}") for top in ("Food", "Tools") for i in range(3))
    True
    >>> lists_are_paths([("mail", "web"), ("news", "mail"), ("web", "news"), ("web",)])
    False
    """
    paths = list(dict.fromkeys(map(tuple, lists)))
    deep = [path for path in paths if len(path) > 1]
    firsts = {path[0] for path in paths if path}
    n_alone = sum(len(path) == 1 and path[0] not in {p[0] for p in deep} for path in paths)
    return (
        len(deep) >= _FEW_PATHS
        and len(firsts) < len(deep)
        and n_alone <= (1 - _ANY_SHARE) * len(paths)
        and not are_sets(list(map(list, paths)))
        and _form_a_wide_tree(deep, is_within=True)
    )


def _form_a_wide_tree(paths: list[tuple[str, ...]], is_within: bool) -> bool:
    """Whether most paths are below a few of several tops, with names of letters.

    A top that all paths share does not count. A mark inside of words joins names of flat classes,
    too: nearly all paths must then be grouped, pairs of names in larger groups, and few names be
    below several tops.
    """
    n_dates = sum(_DATES.fullmatch("-".join(path)) is not None for path in paths)
    if n_dates > _GROUPED * len(paths) or not _form_a_tree(paths, ""):
        return False
    depth = sum(map(len, paths)) / len(paths)
    while len({path[0] for path in paths}) == 1:
        paths = [path[1:] for path in paths if len(path) > 1]
        below = [path for path in paths if len(path) > 1]
        if 2 * len(below) <= len(paths) or not _form_a_tree(below, ""):
            return False
    sizes = Counter(path[0] for path in paths)
    n_grouped = sum(n for n in sizes.values() if n > 1)
    least = _WITHIN_GROUPED if is_within else _GROUPED
    if n_grouped < least * len(paths) or not _have_words(paths, depth):
        return False
    if not is_within:
        return True
    tops_of: dict[str, set[str]] = {}
    for path in paths:
        for name in path[1:]:
            if not name.isdecimal():  # numbers count the parts of every name
                tops_of.setdefault(name, set()).add(path[0])
    n_crossed = sum(len(tops) > 1 for tops in tops_of.values())
    is_deep = depth > _DEEP or len(paths) >= _GROUP * len(sizes)
    return is_deep and n_crossed <= _CROSSED * len(tops_of)


def _have_words(paths: list[tuple[str, ...]], depth: float) -> bool:
    """Whether paths have letters, or are codes such as 1.1.1 and 01.5, and no numbers as 1.5."""
    n_words = sum(any(map(str.isalpha, "".join(path))) for path in paths)
    n_zeros = sum(path[0].startswith("0") and len(path[0]) > 1 for path in paths)
    is_code = len({len(path[0]) for path in paths}) == 1 and n_zeros > 0
    return n_words >= _ANY_SHARE * len(paths) or depth >= _CODE or is_code


def _form_a_tree(paths: list[tuple[str, ...]], separator: str) -> bool:
    """Whether paths have names at every level, and other names at the top than below it."""
    is_rare = separator in UNAMBIGUOUS  # an empty name in the middle is then a gap
    deep = [path for path in paths if len(path) > 1 and (path[0] if is_rare else all(path))]
    if len(deep) < (1 - _EMPTY) * len(paths):
        return False
    tops = {path[0] for path in deep}
    words = {name for name in tops if not name.isdecimal()}  # numbers recur at every level
    below = {name for path in deep for name in path[1:]}
    n_recurring = sum(not words.isdisjoint(path[1:]) for path in deep)
    # "Other" may be at the top and below all others
    if n_recurring > _RECURRING * len(deep) and 2 * len(words & below) > len(words):
        return False
    if is_rare:
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
