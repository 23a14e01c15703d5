"""ArviZ's statistics without the search for JAX and NumPyro, which nobody here asks for.

Where they are missing, ArviZ notes from where it was imported, frame by frame, which takes longer than ArviZ itself.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any


class _WhenAsked(ModuleType):
    """A module that is imported when something of it is asked for."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what Python asks every module, whether it is there or not
            raise AttributeError(name)
        return getattr(import_module(self.__name__), name)


@contextmanager
def when_asked(*names: str) -> Iterator[None]:
    """Whoever imports these modules meanwhile gets them when something of them is asked for."""
    known = {name: sys.modules.setdefault(name, _WhenAsked(name)) for name in names}
    try:
        yield
    finally:
        for name, module in known.items():
            if isinstance(module, _WhenAsked):
                del sys.modules[name]


with when_asked("jax", "numpyro"):
    import arviz_stats

__all__ = ["arviz_stats", "when_asked"]
