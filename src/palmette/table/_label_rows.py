"""Rows made of the labels of a thesaurus: what concepts are called, as further training rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy._vocabulary import Languages
from palmette.table._schema import Schema


def label_rows(
    hierarchy: Hierarchy, language: Languages | None = None, labels: Iterable[Any] | None = None
) -> tuple[list[str], list[Any]]:
    """Return the preferred and alternative labels of concepts as texts, with their concepts.

    Added to the rows of a text classifier, they tell it what concepts are called. Those of concepts
    that no row has make these concepts predictable, but they also compete with the others.

    Parameters
    ----------
    hierarchy : Hierarchy
        With a vocabulary, such as that of a SKOS file.
    language : str or sequence of str, optional
        Languages of the texts and their variants, such as "en"; by default that of most labels.
        Labels without a language count for all languages.
    labels : iterable of names, paths or node numbers, optional
        Concepts; by default all.

    Returns
    -------
    texts : list of str
        One per label of a concept, in the order of concepts.
    concepts : list
        The concept of every text, as given in `labels`, or its name.

    Examples
    --------
    >>> from palmette.hierarchy._vocabulary import Vocabulary
    >>> preferred = {"en": {"u:1": "cat"}, "fi": {"u:1": "kissa"}}
    >>> words = Vocabulary(preferred, {"en": {"u:1": ["kitty"]}})
    >>> label_rows(Hierarchy.star(["u:1", "u:2"]).with_vocabulary(words), "en")
    (['cat', 'kitty'], ['u:1', 'u:1'])
    """
    words = hierarchy.vocabulary
    if words is None:
        raise PalmetteError(
            "the hierarchy has names only: expected a thesaurus, such as a SKOS file, whose "
            "concepts have labels."
        )
    named = {*words.preferred, *words.alternative}
    wanted = words.fallbacks(language)
    if language is None:
        tags = [*(words.language or wanted[:1]), ""]
    else:
        asked = [language] if isinstance(language, str) else list(language)
        first = {part.split("-")[0].strip().lower() for each in asked for part in each.split(",")}
        tags = [*wanted, *sorted(named)]
        tags = [tag for tag in dict.fromkeys(tags) if tag.split("-")[0] in first]
        tags.append("")
    if labels is None:
        labels = hierarchy.names[1:].tolist()
    texts, concepts = [], []
    for label in labels:
        name = hierarchy.names[hierarchy.index(label)]
        found = [text for tag in tags if tag in named for text in words.texts(name, tag)]
        for text in dict.fromkeys(found):
            texts.append(text)
            concepts.append(label)
    return texts, concepts


class LabelRows(NamedTuple):
    """Texts of concepts that are added to training rows.

    Parameters
    ----------
    schema : Schema
    column : str
        Column of the texts; cells of the others are empty.
    texts : dict of label to list of str
        Labels as in `TableProblem.y`.
    several : bool
        Whether a row has a set of labels.
    everything : bool
        Whether concepts without rows are added, too.
    """

    schema: Schema
    column: str
    texts: dict[Any, list[str]]
    several: bool
    everything: bool

    @classmethod
    def of(
        cls, hierarchy: Hierarchy, language: Languages | None, frame: Any, schema: Schema,
        several: bool, everything: bool,
    ) -> LabelRows:  # fmt: skip
        """Return the texts of all concepts, for the text column with the longest texts."""
        columns = schema.names("text")
        if not columns:
            raise PalmetteError(
                "use_labels= adds texts, but the table has no text column: leave it out, or "
                "pass the kind of a column, such as --column title=text."
            )
        size = {name: sum(map(len, map(str, frame[name].tolist()))) for name in columns}
        column = max(columns, key=lambda name: size[name])
        found: dict[Any, list[str]] = {}
        texts, names = label_rows(hierarchy, language)
        for text, name in zip(texts, names, strict=True):
            node = int(hierarchy.index(name))
            label = hierarchy.path(node) if hierarchy.is_tree else hierarchy.names[node]
            found.setdefault(label, []).append(text)
        return cls(schema, column, found, several, everything)

    def add(self, frame: Any, y: list[Any]) -> tuple[Any, list[Any]]:
        """Return rows and labels with those of concepts after them.

        Parameters
        ----------
        frame : DataFrame of n_samples rows
        y : list of n_samples labels
        """
        import pandas as pd

        known = dict.fromkeys(label for row in y for label in (row if self.several else [row]))
        labels = [
            (text, label)
            for label, texts in self.texts.items()
            if self.everything or label in known
            for text in texts
        ]
        if not labels:
            return frame, y
        cells: dict[str, list[Any]] = {name: [None] * len(labels) for name in self.schema.kinds}
        cells[self.column] = [text for text, _ in labels]
        more = self.schema.cast(pd.DataFrame(cells, dtype=object))
        both = pd.concat([frame, more], ignore_index=True)
        return both, [*y, *({label} if self.several else label for _, label in labels)]
