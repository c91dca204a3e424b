"""Errors on the command line: one message that says what to do, and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import NoReturn

import typer

from palmette.exceptions import PalmetteError

__all__ = ["ExitCode", "exit_on_error", "show_tracebacks"]

_tracebacks = False


class ExitCode(IntEnum):
    """What a command's exit tells a script."""

    OK = 0
    FAILED = 1
    BAD_INPUT = 2
    INTERRUPTED = 130


def show_tracebacks(wanted: bool) -> None:
    """Say whether errors come with their traceback, as with ``--debug``."""
    global _tracebacks
    _tracebacks = wanted


@contextmanager
def exit_on_error() -> Iterator[None]:
    """Turn errors into one message and an exit code; with `show_tracebacks` they pass."""

    try:
        yield
    except (typer.Exit, typer.Abort, typer.BadParameter):
        raise  # the command line's own: wrong options, an end that was asked for
    except Exception:
        if _tracebacks:
            raise
        with _said_in_one_message():
            raise
    except KeyboardInterrupt:
        _stop("interrupted", ExitCode.INTERRUPTED)


@contextmanager
def _said_in_one_message() -> Iterator[None]:
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
            f"error: {error}. Install what is missing: pip install 'palmette[table,plot]'",
            ExitCode.FAILED,
        )
    except MemoryError:
        _stop("error: out of memory. Use fewer rows or a smaller model.", ExitCode.FAILED)
    except Exception as error:
        words = " ".join(str(error).split()) or "no message"
        _stop(
            f"error: {type(error).__name__}: {words}. This was not foreseen: the same command with "
            "--debug shows where it happened.",
            ExitCode.FAILED,
        )


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
