"""Typed access to a fit and its attributes."""

import json
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, Self

import numpy as np
import xarray as xr

from bayes_bias.arguments import kind_of
from bayes_bias.errors import BayesBiasError, ScopeError
from bayes_bias.formatting import WORD, in_quotes
from bayes_bias.models.components import scales_needed
from bayes_bias.models.patterns import Variances
from bayes_bias.models.spec import ModelSpec, Prior
from bayes_bias.models.structures import Structure, structure_of
from bayes_bias.table.metric import Metric
from bayes_bias.table.statistics import OPTIONAL_DIMS, as_pairs
from bayes_bias.table.texts import has_texts

type Fit = xr.DataTree | Fitted


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fit with typed access to its attributes.

    Every function with a fit as argument also accepts a `Fitted`. Passing one object to several functions avoids
    repeating cached computations, such as word effects.
    """

    tree: xr.DataTree
    _spec: ModelSpec | None = None  # set if the fit was created in this process
    _kept: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, fit: "xr.DataTree | Fitted") -> "Fitted":
        """Return a result of `bayes_bias.fit` as a `Fitted`. A `Fitted` is returned unchanged.

        Raises
        ------
        BayesBiasError
            If the object is not a fit.
        """
        if isinstance(fit, Fitted):
            return fit
        if not isinstance(fit, xr.DataTree) or "metric" not in fit.attrs:
            raise BayesBiasError(
                f"`fit` is {kind_of(fit)}, not a fit. Pass the result of `bayes_bias.fit` or `load_fit`."
            )
        return cls(fit)

    @cached_property
    def posterior(self) -> xr.Dataset:
        """The draws of the parameters."""
        return self.tree["posterior"].to_dataset()

    @cached_property
    def data(self) -> xr.Dataset:
        """The design and statistics of the table. Dims that the table lacks are empty."""
        data = self.tree["constant_data"].to_dataset()
        if "group_of" not in data:
            return data
        return data.assign_coords({dim: np.array([], dtype=object) for dim in OPTIONAL_DIMS if dim not in data.dims})

    @cached_property
    def variances(self) -> Variances:
        """The draws of the variance components of a crossed model.

        Raises
        ------
        ScopeError
            If a user-defined model lacks some scales.
        """
        if missing := self.without_scales:
            raise ScopeError(f"fit: {missing}")
        return Variances.from_posterior(self.posterior, self.data)

    @property
    def without_scales(self) -> str:
        """The reason why a user-defined model has no noise floor and no plans, or "" if it has them."""
        return self.lacking(scales_needed(self.data), "the variance of a contrast")

    def lacking(self, names: Iterable[str], what: str) -> str:
        """Return a message that a user-defined model lacks required variables, or "" if it has all of them."""
        missing = [name for name in names if name not in self.posterior]
        sentence = (
            f"{what} needs {in_quotes(missing)}, which the model '{self.spec.name}' does not contain. Add it under that"
            " name, as a variable or a pm.Deterministic."
        )
        return sentence if missing else ""

    def once[T](self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the result of `make`, which is called only once for this key."""
        if key not in self._kept:
            self._kept[key] = make()
        result: T = self._kept[key]
        return result

    @property
    def observed(self) -> xr.DataArray | None:
        """The values of word pairs that were fitted, or None if there were too many to compute them all."""
        if "observed_data" not in self.tree.children:
            return None
        return as_pairs(self.tree["observed_data"].association)  # earlier versions stored a matrix

    @property
    def name(self) -> str:
        """The name of the table."""
        return str(self.tree.attrs["name"])

    @property
    def unit(self) -> str:
        """The noun for targets and attributes, such as "word" or "image"."""
        return str(self.tree.attrs.get("unit", WORD))

    @property
    def replicate_kind(self) -> str:
        """The kind of the replicates, such as "template", or "" if there are none."""
        return "".join(self.data.replication.to_numpy().tolist())

    @property
    def has_texts(self) -> bool:
        """True if the texts behind the vectors are a sample."""
        return has_texts(self.data)

    @property
    def seed(self) -> int:
        """The seed of the sampler and of all later draws from the fit."""
        return int(self.tree.attrs["seed"])

    @cached_property
    def spec(self) -> ModelSpec:
        """The model. For a fit that was read from a file, only the part that determines the posterior."""
        if self._spec is not None:
            return self._spec
        structure = str(self.tree.attrs["structure"])
        # The priors of a user-defined model are text for readers, and are not part of a spec.
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
        """The structure of the model, which determines the available estimands."""
        return structure_of(self.spec)

    @cached_property
    def metric(self) -> Metric:
        """The kind and unit of the values."""
        return Metric.from_json(str(self.tree.attrs["metric"]))

    @property
    def versions(self) -> Mapping[str, str]:
        """The versions of the software that created the fit."""
        return dict(self.stored("versions"))

    @property
    def provenance(self) -> dict[str, str]:
        """The hashes, names, and settings that the fit was created from."""
        others = ("metric", "diagnostics", "notices", "versions", "priors", "options", "name", "formula", "unit")
        return {str(key): str(value) for key, value in self.tree.attrs.items() if key not in others}

    def stored(self, attribute: str) -> Any:
        """Return an attribute that netCDF stores as JSON."""
        return json.loads(self.tree.attrs[attribute])

    def generalising(self, what: str) -> Self:
        """Return the fit. Raise an error if the model has no variance components of targets and attributes.

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
