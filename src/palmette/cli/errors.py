"""Errors on the command line: one line that says what to do, and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import NoReturn

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
    except BrokenPipeError:
        _leave_quietly()
    except OSError as error:
        _stop(f"error: {_words_of(error)}", ExitCode.BAD_INPUT)
    except ImportError as error:
        _stop(
            f"error: {error}. Install what is missing: pip install 'palmette[table,plot,stats]'",
            ExitCode.FAILED,
        )
    except KeyboardInterrupt:
        _stop("interrupted", ExitCode.INTERRUPTED)


def _words_of(error: OSError) -> str:
    if error.filename is None or error.strerror is None:
        return str(error)
    return f"{error.filename}: {error.strerror}"


def _leave_quietly() -> NoReturn:
    """End without a word: the reader of our output has gone, as `| head` does."""
    # what is still in the buffer would raise again when Python flushes it at its end
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(ExitCode.OK)


def _stop(message: str, code: ExitCode) -> NoReturn:
    print(message, file=sys.stderr)
    sys.exit(code)
