"""Errors on the command line: one line that says what to do, and an exit code."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum

from palmette.exceptions import PalmetteError

__all__ = ["ExitCode", "exit_on_error"]


class ExitCode(IntEnum):
    """What a command's exit tells a script."""

    OK = 0
    FAILED = 1
    BAD_INPUT = 2
    INTERRUPTED = 130


@contextmanager
def exit_on_error() -> Iterator[None]:
    """Turn errors that the user can mend into one message; others stay tracebacks, being ours."""
    try:
        yield
    except PalmetteError as error:
        _stop(f"error: {error}", ExitCode.BAD_INPUT)
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        _stop(f"error: {error}", ExitCode.BAD_INPUT)
    except ModuleNotFoundError as error:
        _stop(
            f"error: this needs the package {error.name!r}. Install it, or palmette with the extra "
            "that has it: pip install 'palmette[table,plot,stats]'.",
            ExitCode.FAILED,
        )
    except BrokenPipeError:  # the reader of our output has gone, as `| head` does
        sys.stderr.close()
        sys.exit(ExitCode.OK)
    except KeyboardInterrupt:
        _stop("interrupted", ExitCode.INTERRUPTED)


def _stop(message: str, code: ExitCode) -> None:
    print(message, file=sys.stderr)
    sys.exit(code)
