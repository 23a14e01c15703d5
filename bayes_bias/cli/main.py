"""Run a command; print an error in one line."""

import errno
import gc
import os
import signal
import sys
import threading
from typing import Any, NoReturn

import typer

from bayes_bias.cli.app import app
from bayes_bias.cli.console import complain, show_notices
from bayes_bias.errors import BayesBiasError

# Imports and PyTensor make many objects that stay: at Python's own 700, a fit takes a tenth more, all in vain.
_OBJECTS_BEFORE_COLLECTING = 50_000


def main(arguments: list[str] | None = None, commands: typer.Typer = app) -> NoReturn:
    """Run one of the commands; an error is one line and exit code 2, a traceback only with --debug."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given
    gc.set_threshold(_OBJECTS_BEFORE_COLLECTING)
    show_notices()
    _stop_when_terminated()
    try:
        status = commands([a for a in given if a != "--debug"] or ["--help"], standalone_mode=False)
    except (typer.Abort, KeyboardInterrupt):
        _fail("stopped", 130)
    except Exception as error:
        if debug:
            raise
        _fail(_one_line(error), 2)
    sys.exit(status if isinstance(status, int) else 0)


def _stop_when_terminated() -> None:
    """SIGTERM stops as an error does: worker processes end, and no unfinished file stays behind."""
    # A signal may come between joblib's release of a lock and its word of it to the process that cleans up, which then
    # warns of a leak that is none.
    silent, of_user = "ignore:resource_tracker:UserWarning", os.environ.get("PYTHONWARNINGS", "")
    if silent not in of_user:
        os.environ["PYTHONWARNINGS"] = f"{of_user},{silent}".removeprefix(",")

    def stop(*_: Any) -> None:
        _fail("stopped", 128 + signal.SIGTERM)

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, stop)


def _one_line(error: Exception) -> str:
    if isinstance(error, typer.TyperException):
        return " ".join(error.format_message().split())
    if isinstance(error, BayesBiasError):
        return str(error)
    if isinstance(error, OSError) and error.filename and error.errno == errno.ENAMETOOLONG:
        return f"'{str(error.filename)[:60]}...' is too long for the name of a file; give a shorter one"
    return f"unexpected {type(error).__name__}: {error}; run again with --debug to see where".replace("\n", " ")


def _fail(message: str, status: int) -> NoReturn:
    complain(f"error: {message}")
    sys.exit(status)
