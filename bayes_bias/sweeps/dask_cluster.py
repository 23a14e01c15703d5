"""A client of a Dask cluster that is running."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bayes_bias.errors import BayesBiasError

# A running scheduler answers at once; without a limit, a wrong address would be waited for for ever.
SECONDS = 10.0


@contextmanager
def connected(address: str | None, seconds: float = SECONDS) -> Iterator[Any]:
    """A Dask client of the scheduler at this address, closed afterwards; None where no address is given."""
    if address is None:
        yield None
        return
    try:
        from distributed import Client
    except ImportError as error:
        raise BayesBiasError(
            "scheduler: Dask is not installed; pip install 'bayes-bias[cluster]', here and on the workers"
        ) from error
    try:
        client = Client(address, timeout=seconds, set_as_default=False)
    except (OSError, ValueError) as error:
        raise BayesBiasError(
            f"scheduler: '{address}' does not answer within {seconds:g} seconds; give the address that `dask scheduler`"
            " prints, such as tcp://10.0.0.1:8786, or leave it out to use the cores of this machine"
        ) from error
    try:
        yield client
    finally:
        client.close()
