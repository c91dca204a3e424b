"""Classes whose names are nearly equal: in case, in spaces, or as singular and plural."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from palmette.hierarchy._names import shown

Path = tuple[Any, ...]

_LISTED = 3  # examples of a message
_MARK = "\x1f"  # between the names of a path, as a key
_ENDINGS = (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh"), ("s", ""))
_SHORTEST = 4  # letters of a plural


def count_nodes(paths: Iterable[Any]) -> Counter[Path]:
    """Count the rows of every node: of its label and of those below it.

    Parameters
    ----------
    paths : iterable of paths, or of lists of paths
    """
    labels: Counter[Path] = Counter()
    for row in paths:
        labels.update(row if isinstance(row, list) else [row])
    nodes: Counter[Path] = Counter()
    for path, n_rows in labels.items():
        for end in range(1, len(path) + 1):
            nodes[path[:end]] += n_rows
    return nodes


def find_spellings(nodes: Mapping[Path, int]) -> dict[str, str]:
    """Return the most frequent spelling of every path.

    Parameters
    ----------
    nodes : dict of path to int
        Rows of every node.

    Returns
    -------
    dict of str to str
        The last name by a key of the path that is the same in all cases and spaces.

    Examples
    --------
    >>> sorted(find_spellings({("Food",): 5, ("food",): 1, ("Food", "Fruit"): 2}).values())
    ['Food', 'Fruit']
    """
    groups: dict[str, list[tuple[int, Path]]] = defaultdict(list)
    for path, n_rows in nodes.items():
        groups[_key(path)].append((n_rows, path))
    spellings = {}
    for key, group in groups.items():
        names: Counter[Any] = Counter()
        for n_rows, path in group:
            names[path[-1]] += n_rows
        spellings[key] = str(names.most_common(1)[0][0])
    return spellings


def respell(path: Path, spellings: Mapping[str, str]) -> Path:
    """Return a path in the spelling of its most frequent form.

    Examples
    --------
    >>> respell(("food", "Fruit "), find_spellings({("Food",): 5, ("food",): 1}))
    ('Food', 'Fruit ')
    """
    return tuple(spellings.get(_key(path[: end + 1]), name) for end, name in enumerate(path))


def sentences_on_names(nodes: Mapping[Path, int], merges: bool) -> list[str]:
    """Name the classes that are nearly equal, and say what to do.

    Parameters
    ----------
    nodes : dict of path to int
        Rows of every node.
    merges : bool
        Whether spellings that differ in case or spaces are read as one.

    Examples
    --------
    >>> for sentence in sentences_on_names({("Food",): 5, ("food",): 1}, False):
    ...     print(sentence)  # doctest: +NORMALIZE_WHITESPACE
    1 class is written in several ways, which are different classes here: 'Food' (5 rows), 'food'
    (1). To read them as one, pass --merge-case
    """
    cased = _groups(nodes, _folded)
    lines = []
    if cased:
        what = f"{len(cased):,} {'class is' if len(cased) == 1 else 'classes are'} written"
        if merges:
            what += " in several ways, of which the most frequent one is used"
            advice = ""
        else:
            what += " in several ways, which are different classes here"
            advice = ". To read them as one, pass --merge-case"
        lines.append(f"{what}: {_examples(cased, nodes)}{advice}")
    plurals = [group for group in _groups(nodes, _singular) if len({*map(_key, group)}) > 1]
    if plurals:
        lines.append(
            f"Perhaps the same, but different classes here: {_examples(plurals, nodes)}. If they "
            "are, give them one name in the table"
        )
    if astray := _astray(nodes):
        lines.append(
            f"{_examples(astray, nodes)}: a label at the top has the name of one below another. If "
            "it is the same, write its whole path in the table"
        )
    return lines


def _folded(name: Any) -> Any:
    return " ".join(name.casefold().split()) if isinstance(name, str) else name


def _singular(name: Any) -> Any:
    folded = _folded(name)
    if isinstance(folded, str) and len(folded) >= _SHORTEST and folded.replace(" ", "").isalpha():
        for ending, other in _ENDINGS:
            if folded.endswith(ending) and not folded.endswith(("ss", "us", "is")):
                return folded.removesuffix(ending) + other
    return folded


def _key(path: Path) -> str:
    return _MARK.join(str(_folded(name)) for name in path)


def _groups(nodes: Mapping[Path, int], form: Any) -> list[list[Path]]:
    """Return nodes with equal forms of names below one parent, of more than one spelling."""
    groups: dict[Any, list[Path]] = defaultdict(list)
    for path in nodes:
        groups[_key(path[:-1]), form(path[-1])].append(path)
    return [group for group in groups.values() if len({path[-1] for path in group}) > 1]


def _astray(nodes: Mapping[Path, int]) -> list[list[Path]]:
    """Return labels at the top, without any below, with the nodes of other branches they name."""
    inner = {path[:-1] for path in nodes}
    if inner == {()}:
        return []
    alone = {_singular(path[0]): path for path in nodes if len(path) == 1 and path not in inner}
    groups: dict[Path, list[Path]] = {}
    for path in nodes:
        same = alone.get(_singular(path[-1])) if len(path) > 1 else None
        if same is not None and _folded(path[0]) != _folded(same[0]):
            groups.setdefault(same, [same]).append(path)
    return list(groups.values())


def _examples(groups: list[list[Path]], nodes: Mapping[Path, int]) -> str:
    words: list[str] = []
    for group in sorted(groups, key=lambda group: -sum(nodes[path] for path in group))[:_LISTED]:
        common = sorted(group, key=lambda path: -nodes[path])[:_LISTED]
        words.append(
            ", ".join(
                f"{shown(' > '.join(map(str, path)))} ({nodes[path]:,}"
                f"{'' if words or k else ' row' if nodes[path] == 1 else ' rows'})"
                for k, path in enumerate(common)
            )
        )
    return "; ".join(words) + ("; ..." if len(groups) > _LISTED else "")
