"""The entry point of `bayes-bias` and of `python -m bayes_bias`."""

import gc
import os
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import NoReturn

from bayes_bias.cli import main
from bayes_bias.cli.console import complain

# Imports and PyTensor create many permanent objects. With Python's default threshold of 700, garbage collection adds a
# tenth to the time of a fit without benefit.
_OBJECTS_BEFORE_COLLECTING = 50_000
# If a signal arrives after joblib releases a lock but before it informs its cleanup process, this process warns of a
# leak that does not exist.
_NO_LEAK = "ignore:resource_tracker:UserWarning"


@contextmanager
def process_settings() -> Generator[None]:
    """Change settings of the whole process, and restore them afterwards.

    A program that calls `bayes_bias.cli.main` directly keeps its own settings.
    """
    thresholds = gc.get_threshold()
    environment = dict(os.environ)
    gc.set_threshold(_OBJECTS_BEFORE_COLLECTING)
    filters = environment.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = f"{filters},{_NO_LEAK}" if filters else _NO_LEAK
    # After a product of matrices, threads of OpenBLAS stay busy for 2**26 cycles in case another product follows. Here
    # the next one is rarely so soon, and waiting took a fifth of the processor time of a report.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "10")  # 2**10 cycles
    handler = signal.signal(signal.SIGTERM, _stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, handler)
        gc.set_threshold(*thresholds)
        os.environ.clear()
        os.environ.update(environment)


def _stop(*_: object) -> NoReturn:
    """Exit on SIGTERM as after an error, so that worker processes end and no unfinished files remain."""
    complain("error: stopped")
    sys.exit(128 + signal.SIGTERM)


def run() -> NoReturn:
    """Run one command of the command line."""
    with process_settings():
        main()


if __name__ == "__main__":
    run()
