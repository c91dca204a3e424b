"""Labels of nodes in several languages, notations and schemes, as SKOS thesauri have them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

from palmette.exceptions import HierarchyError
from palmette.hierarchy._names import shown

if TYPE_CHECKING:
    from palmette.hierarchy._hierarchy import Hierarchy

Languages = str | Sequence[str]
_PARTS = (
    *("preferred", "alternative", "notations", "schemes", "top_concepts", "counts"),
    *("language", "replaced"),
)
_TAG = re.compile(r"[a-z]+(?:-[a-z0-9]+)*|")
_Texts = Mapping[str, Mapping[str, str]]
_TextLists = Mapping[str, Mapping[str, tuple[str, ...]]]
_Lists = Mapping[str, tuple[str, ...]]


_REPAIRS = (
    ("deprecated", "deprecated concepts are left out"),
    ("replaced", "deprecated concepts are replaced: where rows have them, the others count"),
    ("blank_nodes", "concepts without a URI are left out"),
    ("other_schemes", "concepts of other schemes are left out"),
    (
        "links_left_out",
        "links to concepts that are deprecated, undefined or in other schemes are left out",
    ),
    (
        "links_in_cycles",
        "links that would put a concept above itself are left out (`palmette hierarchy check` "
        "lists the cycles)",
    ),
    (
        "links_of_subproperties",
        "links are stated by sub-properties of skos:broader or skos:narrower only",
    ),
    ("second_labels", "second preferred labels of a language serve as alternative ones"),
)


class Vocabulary:
    """What a thesaurus says of its concepts besides their hierarchy; immutable.

    Concepts are given by the names of their nodes. Language tags are in lower case; labels without
    a language have the tag ``""``. Two hierarchies with equal nodes and edges are equal whatever
    their vocabularies are: labels are for people, and change no class.

    Parameters
    ----------
    preferred : mapping of language to mapping of name to str, optional
        One preferred label per language.
    alternative : mapping of language to mapping of name to sequence of str, optional
    notations : mapping of name to sequence of str, optional
        Codes, such as those of a classification.
    schemes : mapping of scheme to sequence of names, optional
        Concepts of each scheme.
    top_concepts : mapping of scheme to sequence of names, optional
    counts : mapping of str to int, optional
        What the file had, as in ``deprecated``, the number of concepts that were left out.
    language : str or sequence of str, optional
        Languages of labels where none is asked for, in the order of preference. The one with the
        most preferred labels by default.
    replaced : mapping of name to sequence of names, optional
        Concepts that are no nodes, since they are deprecated, and those that stand for them.

    Examples
    --------
    >>> cats = Vocabulary({"en": {"u:1": "cat"}, "fi": {"u:1": "kissa", "u:2": "koira"}})
    >>> cats.languages, cats.label("u:1"), cats.label("u:1", "en"), cats.label("u:2", "en")
    (('fi', 'en'), 'kissa', 'cat', 'koira')
    """

    _frozen = False

    def __init__(
        self,
        preferred: Mapping[str, Mapping[str, str]] | None = None,
        alternative: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
        notations: Mapping[str, Sequence[str]] | None = None,
        schemes: Mapping[str, Sequence[str]] | None = None,
        top_concepts: Mapping[str, Sequence[str]] | None = None,
        counts: Mapping[str, int] | None = None,
        language: Languages | None = None,
        replaced: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        labels = _mapping(preferred, "preferred")
        self.preferred: _Texts = MappingProxyType(
            {_tag(key): _texts(labels[key], f"preferred[{key!r}]") for key in sorted(labels)}
        )
        more = _mapping(alternative, "alternative")
        self.alternative: _TextLists = MappingProxyType(
            {_tag(key): _lists(more[key], f"alternative[{key!r}]") for key in sorted(more)}
        )
        self.notations: _Lists = _lists(notations, "notations")
        self.schemes: _Lists = _lists(schemes, "schemes")
        self.top_concepts: _Lists = _lists(top_concepts, "top_concepts")
        self.counts: Mapping[str, int] = MappingProxyType(dict(_mapping(counts, "counts")))
        for name, count in self.counts.items():
            if type(count) is not int or count < 0:
                raise HierarchyError(f"counts[{name!r}] is {shown(count)}: expected a number.")
        self.language: tuple[str, ...] = tuple(_asked(language))
        self.replaced: _Lists = _lists(replaced, "replaced")
        self._frozen = True

    # ------------------------------------------------------------------ labels

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """Languages of the preferred labels, those with the most labels first."""
        return tuple(sorted(self.preferred, key=lambda tag: (-len(self.preferred[tag]), tag)))

    def fallbacks(self, language: Languages | None = None) -> tuple[str, ...]:
        """Return the languages in the order in which a label is looked for.

        Parameters
        ----------
        language : str or sequence of str, optional
            Tags such as "fi" or "pt-BR", or several in the order of preference, also separated by
            commas. The chosen or most frequent language by default.

        Returns
        -------
        tuple of str
            For each language that is asked for: the language itself, what it is a variant of, and
            its variants. Then labels without a language, and the other languages by their number
            of labels.

        Raises
        ------
        HierarchyError
            If no label has any of the languages that are asked for.

        Examples
        --------
        >>> labels = {tag: {"u:1": tag} for tag in ("de", "en", "en-gb", "", "fi")}
        >>> Vocabulary(labels).fallbacks("en-US")
        ('en', 'en-gb', '', 'de', 'fi')
        """
        asked = list(self.language) if language is None else _asked(language)
        found = [tag for each in asked for tag in self._variants(each)]
        if language is not None and not found:
            raise HierarchyError(
                f"language={shown(language)}: no label has it. The languages are "
                f"{', '.join(map(repr, self.languages)) or 'none'}."
            )
        plain = [""] if asked and "" in self.preferred else []
        return tuple(dict.fromkeys([*found, *plain, *self.languages]))

    def _variants(self, tag: str) -> list[str]:
        wider = [tag]
        while "-" in wider[-1]:
            wider.append(wider[-1].rpartition("-")[0])
        other = [each for each in self.languages if each.startswith(f"{wider[-1]}-")]
        return [each for each in dict.fromkeys([*wider, *other]) if each in self.preferred]

    def label(self, name: str, language: Languages | None = None) -> str | None:
        """Return the preferred label in the first language of `fallbacks` that has one, or None."""
        for tag in self.fallbacks(language):
            if name in self.preferred[tag]:
                return self.preferred[tag][name]
        return None

    def texts(self, name: str, language: str | None = None) -> tuple[str, ...]:
        """Return the preferred and the alternative labels of a concept in one language.

        Parameters
        ----------
        name : str
        language : str, optional
            All languages by default.
        """
        tags = (
            sorted({*self.preferred, *self.alternative}) if language is None else [_tag(language)]
        )
        found = []
        for tag in tags:
            found += [self.preferred[tag][name]] if name in self.preferred.get(tag, ()) else []
            found += self.alternative.get(tag, {}).get(name, ())
        return tuple(dict.fromkeys(found))

    def find(self, text: str, language: str | None = None) -> tuple[str, ...]:
        """Return the names of the concepts with a label or a notation, whatever its case.

        Examples
        --------
        >>> Vocabulary({"en": {"u:1": "cat"}}, {"en": {"u:1": ["kitty"]}}).find("Kitty")
        ('u:1',)
        """
        wanted = text.casefold()
        names = [*self._named[None].get(wanted, ())] if language is None else []
        for tag in sorted({*self.preferred, *self.alternative}):
            if language is None or tag == _tag(language):
                names += self._named[tag].get(wanted, ())
        return tuple(sorted(set(names)))

    @cached_property
    def _named(self) -> dict[str | None, dict[str, list[str]]]:
        """Names by text in lower case, by language; None has the notations."""
        table: dict[str | None, dict[str, list[str]]] = {}
        for tag in (None, *{*self.preferred, *self.alternative}):
            own = self.notations if tag is None else self.alternative.get(tag, {})
            pairs = [(name, text) for name, texts in own.items() for text in texts]
            pairs += [] if tag is None else self.preferred.get(tag, {}).items()
            table[tag] = {}
            for name, text in pairs:
                table[tag].setdefault(text.casefold(), []).append(name)
        return table

    def n_missing(self, language: Languages | None = None) -> int:
        """Return how many concepts with a label have none in the languages asked for."""
        asked = _asked(language) or self.language or self.languages[:1]
        tags = {tag for each in asked for tag in self._variants(each)}
        have = {name for tag in tags for name in self.preferred[tag]}
        return len({name for labels in self.preferred.values() for name in labels} - have)

    def repairs(self) -> list[str]:
        """Return sentences that say what a file had and the hierarchy has not.

        Examples
        --------
        >>> Vocabulary(counts={"concepts": 9, "deprecated": 2}).repairs()
        ['2 deprecated concepts are left out']
        """
        return [f"{self.counts[key]:,} {what}" for key, what in _REPAIRS if self.counts.get(key)]

    # ------------------------------------------------------------------ files

    def to_dict(self) -> dict[str, Any]:
        """Return everything as dictionaries, lists, strings and numbers, for JSON."""
        found: dict[str, Any] = {
            "preferred": {tag: dict(labels) for tag, labels in self.preferred.items()},
            "alternative": {tag: _plain(labels) for tag, labels in self.alternative.items()},
            "notations": _plain(self.notations),
            "schemes": _plain(self.schemes),
            "top_concepts": _plain(self.top_concepts),
            "counts": dict(self.counts),
            "language": list(self.language),
            "replaced": _plain(self.replaced),
        }
        return {key: value for key, value in found.items() if value}

    @classmethod
    def from_dict(cls, content: Any) -> Vocabulary:
        """Read what `to_dict` returns; anything else is a `HierarchyError`."""
        if not isinstance(content, dict) or not set(content) <= set(_PARTS):
            raise HierarchyError(
                f"the vocabulary is {shown(content)}: expected an object with some of the keys "
                + ", ".join(_PARTS)
            )
        return cls(**content)

    def __reduce__(self) -> tuple[Any, ...]:
        return Vocabulary.from_dict, (self.to_dict(),)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocabulary):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __setattr__(self, name: str, value: Any) -> None:
        if self._frozen:
            self._refuse_change(name)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> NoReturn:
        self._refuse_change(name)

    def _refuse_change(self, name: str) -> NoReturn:
        raise AttributeError(f"Vocabulary is immutable: {name!r} cannot be changed.")

    def __repr__(self) -> str:
        named = {name for labels in self.preferred.values() for name in labels}
        tags = ", ".join(tag or "no language" for tag in self.languages[:8])
        more = ", ..." if len(self.languages) > 8 else ""
        return f"<Vocabulary: {len(named):,} labelled nodes; labels in {tags or 'none'}{more}>"


def names_in_language(hierarchy: Hierarchy, language: Languages | None = None) -> list[Any]:
    """Return a distinct name to show for every node: its label in a language.

    Nodes without a label keep their name. Equal labels are followed by the notation or the last
    part of the name, in parentheses.

    Parameters
    ----------
    hierarchy : Hierarchy
    language : str or sequence of str, optional
        As in `Vocabulary.fallbacks`.

    Returns
    -------
    list of length n_nodes
    """
    names: list[Any] = hierarchy.names.tolist()
    words = hierarchy.vocabulary
    if words is None:
        if language is not None:
            raise HierarchyError(
                f"language={shown(language)}, but the nodes of this hierarchy have names only: "
                "expected one with labels, such as that of a SKOS file."
            )
        return names
    tables = [words.preferred[tag] for tag in words.fallbacks(language)]
    labels = [next((table[n] for table in tables if table.get(n)), n) for n in names]
    counts = Counter(map(str, labels))
    for ending in (_code_of, lambda name, words: str(name)):
        for node, name in enumerate(names):
            if counts[str(labels[node])] > 1 and labels[node] != name:
                labels[node] = f"{labels[node]} ({ending(name, words)})"
        counts = Counter(map(str, labels))
    # siblings of a tree differ now; a label of a DAG may still look like that of another node
    return labels if hierarchy.is_tree or max(counts.values()) == 1 else names


def choose_language(hierarchy: Hierarchy, language: Languages) -> Vocabulary:
    """Return the vocabulary of a hierarchy with another language of labels.

    Parameters
    ----------
    hierarchy : Hierarchy
        With labels; an error otherwise.
    language : str or sequence of str
        In the order of preference; some label must have one of them.
    """
    if hierarchy.vocabulary is None:
        names_in_language(hierarchy, language)  # the error
    words: Any = hierarchy.vocabulary
    words.fallbacks(language)  # an error if no label has any
    return Vocabulary.from_dict({**words.to_dict(), "language": language})


def _code_of(name: Any, words: Vocabulary) -> str:
    codes = words.notations.get(name, ())
    return codes[0] if codes else re.split(r"[/#:]", str(name).rstrip("/#"))[-1]


def _tag(language: Any) -> str:
    tag = language.lower().replace("_", "-") if isinstance(language, str) else None
    if tag is None or not _TAG.fullmatch(tag):
        raise HierarchyError(
            f"language={shown(language)}: expected a language tag such as 'fi' or 'pt-BR'."
        )
    return tag


def _asked(language: Languages | None) -> list[str]:
    if language is None:
        return []
    if isinstance(language, str):
        language = [part.strip() for part in language.split(",")]
    if not isinstance(language, Iterable):
        _tag(language)
    return [_tag(each) for each in language]


def _mapping(given: Any, what: str) -> Mapping[Any, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(type(key) is str for key in given):
        raise HierarchyError(f"{what} is {shown(given)}: expected a mapping from strings.")
    return given


def _texts(given: Any, what: str) -> Mapping[str, str]:
    table = _mapping(given, what)
    for name in table:
        if type(table[name]) is not str:
            raise HierarchyError(f"{what}[{name!r}] is {shown(table[name])}: expected a string.")
    return MappingProxyType({name: table[name] for name in sorted(table)})


def _lists(given: Any, what: str) -> Mapping[str, tuple[str, ...]]:
    table = _mapping(given, what)
    for name in table:
        items = table[name]
        if not isinstance(items, list | tuple) or not all(type(each) is str for each in items):
            raise HierarchyError(f"{what}[{name!r}] is {shown(items)}: expected a list of strings.")
    return MappingProxyType({name: tuple(table[name]) for name in sorted(table)})


def _plain(lists: Mapping[str, tuple[str, ...]]) -> dict[str, list[str]]:
    return {name: list(items) for name, items in lists.items()}
