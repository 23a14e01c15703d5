"""The undocumented parts of nutpie that this package uses, and ArviZ, which is imported fast.

nutpie imports all of ArviZ, with its plots and Matplotlib, to assemble traces, which takes as long as a fit. Therefore,
`bayes_bias.fitting.sampling` reads the raw traces instead. In addition, nutpie can call C functions only through the
class for compiled PyMC models. The C functions that it compiles itself cannot be cached, so
`bayes_bias.fitting.pymc_functions` compiles others. Without JAX and NumPyro, importing `arviz_base` takes a tenth of
the time of a fit, because it inspects the whole stack for an error message. `docs/contributing/upstream.md` requests
public interfaces.
"""

import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from importlib import import_module
from math import prod
from types import ModuleType
from typing import Any

from numpy.typing import NDArray


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


@contextmanager
def _imported_later(*names: str) -> Generator[None]:
    """Import libraries that are not loaded yet only when an imported module uses them."""
    placeholders = [sys.modules.setdefault(name, _Later(name)) for name in names]
    try:
        yield
    finally:
        for placeholder in placeholders:
            if isinstance(placeholder, _Later):
                placeholder.leave()


with _imported_later("jax", "numpyro"):
    from arviz_base import make_attrs
with _imported_later("arviz"):
    import nutpie
    import pyarrow  # after ArviZ, so that an import names the extra of both
    from nutpie.compile_pymc import CompiledPyMCModel, address_as_void_pointer
    from nutpie.compile_pymc import _make_functions as make_functions

__all__ = [
    "CompiledPyMCModel",
    "address_as_void_pointer",
    "make_attrs",
    "make_functions",
    "nutpie",
    "of_c_functions",
    "pyarrow",
]


def of_c_functions(
    density: Any,
    parameters: Any,
    start: Callable[[int | None], NDArray[Any]],
    size: int,
    shapes: Mapping[str, tuple[int, ...]],
    data: NDArray[Any],
    kept: Any = None,
) -> CompiledPyMCModel:
    """Return the model for `nutpie.sample` whose density and stored variables are computed by C functions.

    Parameters
    ----------
    density, parameters : numba.core.ccallback.CFunc
        The log density with its gradient, and all stored variables, at a point.
    start : callable
        Function that returns the start of a chain for a seed.
    size : int
        Number of free parameters.
    shapes : mapping of str to tuple of int
        Shapes of stored variables, in the order in which `parameters` writes them.
    data : array
        Array whose address both functions receive.
    kept : optional
        Objects that have to exist as long as the model, because `data` has their addresses.
    """
    return CompiledPyMCModel(
        dims={},
        compiled_logp_func=density,
        compiled_expand_func=parameters,
        initial_point_func=start,
        shared_data={"data": data, "kept": kept},
        shared_var_keys={},
        user_data=data,
        n_expanded=sum(map(prod, shapes.values())),
        shape_info=(list(shapes), None, list(shapes.values())),
        logp_func=None,
        expand_func=None,
        _n_dim=size,
        _shapes=dict(shapes),
        _coords={},
    )
