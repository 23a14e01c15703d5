"""ArviZ's statistics, quickly imported where JAX or NumPyro is missing.

ArviZ then notes from where it was imported, frame by frame, which takes longer than all of its own imports.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any


class _WhenAsked(ModuleType):
    """A module that is imported when something of it is asked for."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what Python asks every module, whether it is there or not
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


@contextmanager
def when_asked(*names: str) -> Iterator[None]:
    """Whoever imports these modules meanwhile gets them when something of them is asked for."""
    known = {name: sys.modules.setdefault(name, _WhenAsked(name)) for name in names}
    try:
        yield
    finally:
        for name, module in known.items():
            if isinstance(module, _WhenAsked) and sys.modules.get(name) is module:
                del sys.modules[name]


with when_asked(*(name for name in ("jax", "numpyro") if not find_spec(name))):
    import arviz_stats

__all__ = ["arviz_stats", "when_asked"]
