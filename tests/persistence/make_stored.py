"""Write a small model file for every public estimator that has none yet.

    python -m tests.persistence.make_stored           # from the root of the repository

A file that is there is left alone: it was written by an earlier release, and later ones must go on
reading it. Only where an estimator's predictions are meant to change, delete its file first.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from tests.persistence.models import answers, fitted, stored_instances

from palmette.persistence import save

STORED = Path(__file__).parent / "stored"


def as_json(answer: object) -> object:
    """Return an answer as JSON; numbers are kept to the last bit."""
    listed = answer.tolist() if isinstance(answer, np.ndarray) else list(answer)  # type: ignore[call-overload]
    return json.loads(json.dumps(listed, default=sorted))


def main() -> None:
    """Write what is missing."""
    STORED.mkdir(exist_ok=True)
    for name, estimator in stored_instances().items():
        file = STORED / f"{name}.palmette"
        if file.exists():
            continue
        model, X = fitted(estimator)
        save(model, file)
        told = {method: as_json(answer) for method, answer in answers(model, X[::8]).items()}
        text = json.dumps({"X": X[::8].tolist(), "answers": told})
        file.with_suffix(".json").write_text(text + "\n", encoding="utf-8")
        print(f"{file.stat().st_size:8,} bytes  {file.name}")


if __name__ == "__main__":
    main()
