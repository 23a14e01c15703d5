"""One thread of BLAS: matrices are small and jobs run side by side. More threads would cost more than they save, and
last digits would depend on how many cores there are."""

import sys
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController


def one_blas_thread() -> AbstractContextManager[Any]:
    """While it is entered, BLAS has one thread."""
    limit: AbstractContextManager[Any] = _libraries(len(sys.modules)).limit(limits=1, user_api="blas")
    return limit


@lru_cache(maxsize=1)
def _libraries(modules: int) -> ThreadpoolController:
    """Those that are loaded. Looking for them takes some milliseconds, and only imports bring new ones."""
    return ThreadpoolController()
