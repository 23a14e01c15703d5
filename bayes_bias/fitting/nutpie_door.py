"""The undocumented parts of nutpie that this package uses.

nutpie imports all of ArviZ, with its plots and Matplotlib, to assemble traces, which takes as long as a fit. Therefore,
`bayes_bias.fitting.sampling` reads the raw traces instead. In addition, nutpie can call C functions only through the
class for compiled PyMC models. `docs/contributing/upstream.md` requests a public interface for both.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class _Later(ModuleType):
    """A module that is imported when one of its attributes is accessed."""

    def __getattr__(self, name: str) -> Any:
        """Import the module when its first attribute is needed, and return the attribute."""
        if name.startswith("__"):  # attributes that Python looks up in every module
            raise AttributeError(name)
        self.leave()  # otherwise, the import would find this placeholder and look up the name again
        return getattr(import_module(self.__name__), name)

    def leave(self) -> None:
        """Remove this placeholder from the imported modules."""
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]


_arviz = sys.modules.setdefault("arviz", _Later("arviz"))
try:
    import nutpie
    from nutpie.compile_pymc import CompiledPyMCModel
finally:
    if isinstance(_arviz, _Later):
        _arviz.leave()

__all__ = ["CompiledPyMCModel", "nutpie"]
