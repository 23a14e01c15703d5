"""The process of `bayes-bias`, which is also `python -m bayes_bias`."""

import gc
import os
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import NoReturn

from bayes_bias.cli import main
from bayes_bias.cli.console import complain

# Imports and PyTensor make many objects that stay: at Python's own 700, a fit takes a tenth more, all in vain.
_OBJECTS_BEFORE_COLLECTING = 50_000
# A signal may come between joblib's release of a lock and its message to the process that cleans up, which then warns
# of a leak that is none.
_NO_LEAK = "ignore:resource_tracker:UserWarning"


@contextmanager
def process_settings() -> Generator[None]:
    """Set what concerns the whole process, and restore it afterwards.

    A program that calls `bayes_bias.cli.main` itself keeps its own settings.
    """
    thresholds, filters = gc.get_threshold(), os.environ.get("PYTHONWARNINGS")
    gc.set_threshold(_OBJECTS_BEFORE_COLLECTING)
    os.environ["PYTHONWARNINGS"] = f"{filters},{_NO_LEAK}" if filters else _NO_LEAK
    handler = signal.signal(signal.SIGTERM, _stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, handler)
        gc.set_threshold(*thresholds)
        if filters is None:
            del os.environ["PYTHONWARNINGS"]
        else:
            os.environ["PYTHONWARNINGS"] = filters


def _stop(*_: object) -> NoReturn:
    """Stop at SIGTERM as at an error: worker processes end, and no unfinished file stays behind."""
    complain("error: stopped")
    sys.exit(128 + signal.SIGTERM)


def run() -> NoReturn:
    """Run one command of the command line."""
    with process_settings():
        main()


if __name__ == "__main__":
    run()
