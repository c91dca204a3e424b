"""Models of Palmette in MLflow: saved, logged, loaded and served, as a flavour and as pyfunc.

Needs MLflow: ``pip install 'palmette[mlflow]'``. The stored file is a model file of Palmette, so
that loading it runs no code from it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from palmette.exceptions import PalmetteError
from palmette.persistence import load, save

__all__ = ["load_model", "log_model", "save_model"]

_FILE = "model.palmette"


class _Predictor:
    """What ``mlflow.pyfunc.load_model`` wraps."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def predict(self, model_input: Any, params: dict[str, Any] | None = None) -> Any:
        """Call a method of the model: ``predict``, or the one that ``params["method"]`` names."""
        method = (params or {}).get("method", "predict")
        if method not in ("predict", "predict_proba", "predict_node_proba"):
            raise ValueError(
                f"method={method!r}: expected predict, predict_proba or predict_node_proba."
            )
        return getattr(self.model, method)(model_input)


def save_model(
    model: Any,
    path: Any,
    mlflow_model: Any = None,
    signature: Any = None,
    input_example: Any = None,
    pip_requirements: list[str] | None = None,
) -> None:
    """Write a fitted model to a new folder in the layout of MLflow.

    Parameters
    ----------
    model : estimator or TableModel
        Whatever `palmette.save` writes.
    path : path-like
        A folder that does not exist, or is empty.
    mlflow_model : mlflow.models.Model, optional
        Description to be completed.
    signature : mlflow.models.ModelSignature, optional
        Columns and types of rows and predictions, as of ``mlflow.models.infer_signature``.
    input_example : array-like or DataFrame, optional
        Some rows.
    pip_requirements : list of str, optional
        By default this version of Palmette.
    """
    from importlib.metadata import version

    from mlflow import pyfunc
    from mlflow.models import Model

    if not hasattr(model, "predict"):
        raise PalmetteError(
            f"model is a {type(model).__name__}: expected an estimator or a TableModel, which has "
            "predict."
        )
    folder = Path(path)
    if folder.is_file() or (folder.is_dir() and any(folder.iterdir())):
        raise PalmetteError(
            f"{folder} exists and is not an empty folder: expected a new one. Delete it, or pass "
            "another path."
        )
    folder.mkdir(parents=True, exist_ok=True)
    save(model, folder / _FILE)
    description = Model() if mlflow_model is None else mlflow_model
    if signature is not None:
        description.signature = signature
    if input_example is not None:
        from mlflow.models.utils import _save_example

        _save_example(description, input_example, str(folder))
    number = version("palmette")
    pyfunc.add_to_model(
        description, loader_module=__name__, data=_FILE, python_env="python_env.yaml"
    )
    description.add_flavor("palmette", data=_FILE, palmette_version=number)
    description.save(str(folder / "MLmodel"))
    needs = pip_requirements or [f"palmette[table]=={number}"]
    _write(folder / "requirements.txt", needs)
    python = ".".join(map(str, sys.version_info[:3]))
    lines = [f'python: "{python}"', "dependencies:", "- -r requirements.txt"]
    _write(folder / "python_env.yaml", lines)


def _write(path: Path, lines: list[str]) -> None:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def log_model(model: Any, name: str, **options: Any) -> Any:
    """Log a fitted model to the active run of MLflow.

    Parameters
    ----------
    model : estimator or TableModel
    name : str
        Name of the model in the run.
    **options
        Parameters of `save_model`, and of ``mlflow.models.Model.log``, such as
        ``registered_model_name``.

    Returns
    -------
    mlflow.models.model.ModelInfo
    """
    from mlflow.models import Model

    return Model.log(
        artifact_path=None, name=name, flavor=sys.modules[__name__], model=model, **options
    )


def load_model(model_uri: str, trusted: tuple[str, ...] = ()) -> Any:
    """Load a model that was saved or logged, as it was: an estimator or a `TableModel`.

    Parameters
    ----------
    model_uri : str
        A folder, or an address such as ``runs:/RUN/NAME`` or ``models:/NAME/1``.
    trusted : tuple of str
        Types of other libraries that the file may contain, as of `palmette.load`.

    Returns
    -------
    estimator or TableModel
    """
    from mlflow.artifacts import download_artifacts

    return load(Path(download_artifacts(artifact_uri=str(model_uri))) / _FILE, trusted=trusted)


def _load_pyfunc(path: str) -> _Predictor:
    """Load the file for ``mlflow.pyfunc.load_model``."""
    return _Predictor(load(path))
