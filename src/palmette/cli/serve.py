"""`palmette serve`: answer requests over HTTP with a model."""

from __future__ import annotations

import gc
import re
from typing import Annotated

import typer

from palmette.cli._options import ModelFile, Trusted, check_jobs, load_table_model, say
from palmette.exceptions import PalmetteError

__all__ = ["serve"]


def serve(
    model: ModelFile,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on; 0 chooses a free one.")
    ] = 8000,
    host: Annotated[
        str,
        typer.Option(
            help="Address to listen on; 0.0.0.0 listens on all addresses of this machine."
        ),
    ] = "127.0.0.1",
    name: Annotated[
        str | None,
        typer.Option(help="Name of the model in responses; by default the name of its file."),
    ] = None,
    language: Annotated[
        str | None, typer.Option(help="Language of labels if a request does not specify one.")
    ] = None,
    n_jobs: Annotated[
        int,
        typer.Option(
            "--jobs", "-j", help="Number of simultaneous calls of the model; -1 uses all cores."
        ),
    ] = 1,
    max_rows: Annotated[
        int, typer.Option(min=1, help="Maximum number of rows per request.")
    ] = 1000,
    max_body: Annotated[
        float, typer.Option(min=0.001, help="Maximum size of a request in MiB.")
    ] = 8.0,
    timeout: Annotated[
        float, typer.Option(min=0.1, help="Time limit in seconds for the answer of the model.")
    ] = 30.0,
    read_timeout: Annotated[
        float, typer.Option(min=0.1, help="Time limit in seconds for a client to send its request.")
    ] = 10.0,
    trusted: Trusted = None,
) -> None:
    """Answer requests over HTTP: /suggest and /predict take JSON, / is a page to try it.

    Requests that wait are answered by one call of the model. The server stops at Ctrl-C or
    SIGTERM, after the requests that have begun.

    Example: palmette serve model.palmette --port 8000
    """
    from joblib import effective_n_jobs

    check_jobs(n_jobs)
    try:
        from palmette.serving import Limits, make_app
        from palmette.serving import serve as run
    except ImportError as error:
        raise PalmetteError(
            f"{error}: palmette serve needs further packages. Install them: "
            "pip install 'palmette[serve]'."
        ) from error
    fitted = load_table_model(model, trusted)
    limits = Limits(
        body_bytes=int(max_body * 2**20), rows=max_rows, seconds=timeout, read_seconds=read_timeout
    )
    # a name that a path can have as it is
    named = re.sub(r"[^\w.-]+", "-", name or model.name.partition(".")[0]).strip("-") or "model"
    app = make_app(fitted, named, limits=limits, n_jobs=effective_n_jobs(n_jobs), language=language)
    gc.freeze()  # the model stays: the collector need not visit it again
    run(app, host, port, tell=lambda words: say(words, err=True))
