"""Typed access to a fit and its attributes."""

import json
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, Self

import numpy as np
import xarray as xr

from bayes_bias.arguments import described
from bayes_bias.errors import BayesBiasError, ScopeError
from bayes_bias.models.components import scales_needed
from bayes_bias.models.patterns import Variances
from bayes_bias.models.spec import ModelSpec, Prior
from bayes_bias.models.structures import Structure, structure_of
from bayes_bias.table.metric import Metric
from bayes_bias.table.statistics import OPTIONAL_DIMS, as_pairs

type Fit = xr.DataTree | Fitted


@dataclass(frozen=True, eq=False)
class Fitted:
    """The attributes of a fit.

    Every function that takes a fit takes one of these, too. Passing the same one on spares working out again what
    is kept of it, such as word effects.
    """

    tree: xr.DataTree
    _spec: ModelSpec | None = None  # known if the fit was made in this process
    _kept: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, fit: "xr.DataTree | Fitted") -> "Fitted":
        """A fit, as it comes from `bayes_bias.fit` or as it is already.

        Raises
        ------
        BayesBiasError
            If it is something else.
        """
        if isinstance(fit, Fitted):
            return fit
        if not isinstance(fit, xr.DataTree) or "metric" not in fit.attrs:
            raise BayesBiasError(
                f"`fit` is {described(fit)}, not a fit. Pass the result of `bayes_bias.fit` or `load_fit`."
            )
        return cls(fit)

    @cached_property
    def posterior(self) -> xr.Dataset:
        """Draws of the parameters."""
        return self.tree["posterior"].to_dataset()

    @cached_property
    def data(self) -> xr.Dataset:
        """Design and statistics of the table, with an empty dim for whatever it has none of."""
        data = self.tree["constant_data"].to_dataset()
        if "group_of" not in data:
            return data
        return data.assign_coords({dim: np.array([], dtype=object) for dim in OPTIONAL_DIMS if dim not in data.dims})

    @cached_property
    def variances(self) -> Variances:
        """Draws of the variance components of a crossed model.

        Raises
        ------
        ScopeError
            If a model of the user's own does not have all scales.
        """
        if missing := self.without_scales:
            raise ScopeError(f"fit: {missing}")
        return Variances.from_posterior(self.posterior, self.data)

    @property
    def without_scales(self) -> str:
        """Why the noise floor and all plans are missing, in a model of the user's own, or "" if they are not."""
        return self.lacking(scales_needed(self.data), "the variance of a contrast")

    def lacking(self, names: Iterable[str], what: str) -> str:
        """That something rests on variables that a model of the user's own does not have, or "" if it has them."""
        missing = ", ".join(f"'{name}'" for name in names if name not in self.posterior)
        return missing and (
            f"{what} needs {missing}, which the model '{self.spec.name}' does not contain. Add it under that"
            " name, as a variable or a pm.Deterministic."
        )

    def once[T](self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what `make` returns, made when it is first asked for by this key."""
        if key not in self._kept:
            self._kept[key] = make()
        result: T = self._kept[key]
        return result

    @property
    def observed(self) -> xr.DataArray | None:
        """The values of pairs of words that were fitted, or None if they were too many to be formed."""
        if "observed_data" not in self.tree.children:
            return None
        return as_pairs(self.tree["observed_data"].association)  # earlier versions kept a matrix

    @property
    def name(self) -> str:
        """Name of the table."""
        return str(self.tree.attrs["name"])

    @property
    def replicate_kind(self) -> str:
        """Kind of the replicates, such as "template", or "" if there are none."""
        return "".join(self.data.replication.to_numpy().tolist())

    @property
    def seed(self) -> int:
        """Seed of the sampler, and of whatever is drawn from the fit."""
        return int(self.tree.attrs["seed"])

    @cached_property
    def spec(self) -> ModelSpec:
        """The model, or, for a fit that was read from a file, the part that determines the posterior."""
        if self._spec is not None:
            return self._spec
        structure = str(self.tree.attrs["structure"])
        # Those of a model of the user's own are text to be read, and no part of a spec.
        written = {} if structure == "custom" else self.stored("priors")
        priors = {name: Prior.parse(text) for name, text in written.items()}
        return ModelSpec(
            name=str(self.tree.attrs["model"]),
            title="",
            description="",
            structure=structure,
            options=MappingProxyType(self.stored("options")),
            priors=MappingProxyType(priors),
        )

    @property
    def structure(self) -> Structure:
        """The structure of the model: which estimands it has."""
        return structure_of(self.spec)

    @cached_property
    def metric(self) -> Metric:
        """Kind and unit of the numbers."""
        return Metric.from_json(str(self.tree.attrs["metric"]))

    @property
    def versions(self) -> Mapping[str, str]:
        """Versions of the software that made it."""
        return dict(self.stored("versions"))

    @property
    def provenance(self) -> dict[str, str]:
        """Hashes, names and settings."""
        inside = ("metric", "diagnostics", "notices", "versions", "priors", "options", "name", "formula")
        return {str(key): str(value) for key, value in self.tree.attrs.items() if key not in inside}

    def stored(self, attribute: str) -> Any:
        """An attribute that netCDF keeps as JSON."""
        return json.loads(self.tree.attrs[attribute])

    def generalising(self, what: str) -> Self:
        """The same, refused if the model has no variance components of targets and attributes.

        Raises
        ------
        ScopeError
        """
        if not self.structure.GENERALISES:
            raise ScopeError(
                f"{what} needs a fit of the crossed model, not of '{self.spec.name}', which treats"
                " attributes as fixed. Fit again with model='crossed'."
            )
        return self
