"""What changes the answers of estimators and should not, as a table.

``python -m tests.same_content_table`` fits every public estimator to rows whose content is the
same: labels with other names in the same or the reverse order, one more column that is constant,
columns in the reverse order. Then to rows that say nothing: all equal, all zero.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

from sklearn.base import BaseEstimator
from tests.instances import PARAMETERS, public_estimators
from tests.laws.poor_rows import poor_rows_are_learnt_from
from tests.laws.same_content import FORMS, NAMED, changes_of

_POOR = {"rows equal": slice(0, 1), "zeros": slice(1, 2)}


def row_of(estimator: BaseEstimator) -> dict[str, str]:
    """Return what came of each change: equal, a number of ties, what changed, or an error."""
    named = NAMED.get(type(estimator).__name__, {})
    told: dict[str, str] = {}
    for form, (n_ties, wrong) in zip(FORMS, changes_of(estimator, FORMS), strict=True):
        told[form] = wrong or (f"{n_ties} ties" if n_ties else "equal")
        if wrong:
            told[form] = ("named: " if form in named else "WRONG: ") + wrong
    for title, case in _POOR.items():
        try:
            poor_rows_are_learnt_from(estimator, case)
            told[title] = "as expected"
        except (AssertionError, ValueError) as error:
            told[title] = f"WRONG: {error}"[:40]
    return told


def lines() -> Iterator[str]:
    """Yield the table, and the reasons of what is named."""
    titles = [*FORMS, *_POOR]
    yield f"{'':33}" + "".join(f"{title:34}" for title in titles[:4]) + "  ".join(titles[4:])
    for estimator in public_estimators():
        told = row_of(estimator(**PARAMETERS.get(estimator.__name__, ({},))[0]))
        cells = [f"{told[title]:34}" for title in titles[:4]] + [told[t] + "  " for t in titles[4:]]
        yield f"{estimator.__name__:33}" + "".join(cells)
    yield ""
    for name, reasons in NAMED.items():
        yield from (f"{name}, {form}: {why}" for form, why in reasons.items())


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for line in lines():
        print(line.rstrip(), flush=True)
