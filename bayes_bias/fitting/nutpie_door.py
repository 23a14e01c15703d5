"""What we use of nutpie beyond its documentation, in one place.

nutpie imports all of ArviZ, with its plots and Matplotlib, to put traces together, which takes as long as a fit.
`bayes_bias.fitting.sampling` takes traces as they are. And of nutpie's compiled models only the class for PyMC's calls
C functions. `docs/contributing/upstream.md` asks for a public way to both.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class _Later(ModuleType):
    """A module that is imported when something of it is asked for."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what Python asks every module
            raise AttributeError(name)
        self.leave()  # or the import would find this module, and ask it for the name again
        return getattr(import_module(self.__name__), name)

    def leave(self) -> None:
        """Remove this module from those that are imported."""
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
