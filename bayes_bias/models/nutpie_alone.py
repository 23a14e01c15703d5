"""nutpie without all of ArviZ, whose plots and Matplotlib take longer to import than nutpie itself.

nutpie asks ArviZ to put traces together; `sampling` takes them as they are.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class _WhenAsked(ModuleType):
    """A module that is imported when something of it is asked for."""

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)


_waits = sys.modules.setdefault("arviz", _WhenAsked("arviz"))
try:
    import nutpie
    from nutpie.compile_pymc import CompiledPyMCModel
finally:
    if isinstance(_waits, _WhenAsked):
        del sys.modules["arviz"]

__all__ = ["CompiledPyMCModel", "nutpie"]
