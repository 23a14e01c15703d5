"""Typed access to a fit and its attributes, and the table of its priors."""

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from types import MappingProxyType
from typing import Any, Self

import numpy as np
import pandas as pd
import xarray as xr

from bayes_bias.arguments import kind_of
from bayes_bias.errors import BayesBiasError, ScopeError
from bayes_bias.formatting import WORD, in_quotes
from bayes_bias.models.components import scales_needed
from bayes_bias.models.patterns import Variances
from bayes_bias.models.preferences import (
    PREFERENCE,
    factor_name,
    inflation_name,
    is_compared,
    related_sides,
    sides_from_vectors,
    variance_name,
)
from bayes_bias.models.residuals import shape_parameters
from bayes_bias.models.scales import dims_of_scales, units_of_priors
from bayes_bias.models.spec import ModelSpec, Prior
from bayes_bias.models.structures import Structure, resolved, structure_of
from bayes_bias.table.labels import CATEGORY_COORD
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
        """The design and statistics of the table.

        A fit file cannot store empty dims, such as the control classes of a table without any. They are added here,
        unless the fit is not one of targets and attributes.
        """
        data = self.tree["constant_data"].to_dataset()
        if "group_of" not in data:  # sentence pairs
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
        """Return a message that a user-defined model lacks required variables, or "" if it has all of them.

        `names` are the required variables, and `what` is the quantity that needs them.
        """
        missing = [name for name in names if name not in self.posterior]
        sentence = (
            f"{what} needs {in_quotes(missing)}, which the model '{self.spec.name}' does not contain. Add it under that"
            " name, as a variable or a pm.Deterministic."
        )
        return sentence if missing else ""

    def once[T](self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the result of `make`, which is called only once for this key. The result is kept with the fit."""
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
        """The model. For a fit that was read from a file, only the part that determines the posterior.

        This part is the structure, the options, and the priors. A file does not have the title and the description.
        """
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


type Row = tuple[str, str, str]


def priors(fit: Fit) -> pd.DataFrame:
    """Return the prior of each parameter of a fit, by group and class, in the units of the table.

    Parameters
    ----------
    fit : xarray.DataTree
        A fit, from `fit`, `as_fit`, or `load_fit`.

    Returns
    -------
    pandas.DataFrame
        Table with the index ``parameter`` and ``label`` (the group or class, or "" if one prior applies to all), and
        the column ``prior``. Distributions have PyMC's names and parameters. A variance from vectors is written as
        ``factor * sd**2 * nu / ChiSquared(nu)``, where sd is the expected standard deviation of preferences and factor
        is ``target_preference_factor`` or ``attribute_preference_factor``. An inflation by related words is written as
        ``1 + (I - 1) * d / ChiSquared(d)``, where I is the estimated inflation and d its degrees of freedom (see
        `bayes_bias.models.preferences`).

    Examples
    --------
    >>> from bayes_bias import cosines, fit, priors
    >>> priors(fit(cosines("weat6", "googlenews-demo")))                          # doctest: +SKIP
    """
    fitted = Fitted.of(fit)
    if fitted.spec.structure == "crossed":
        # The prior of block means is wide in a model with explicit effects (see `bayes_bias.models.crossed_long`).
        wide = f"Normal(mu=the mean of values, sigma={10 * fitted.data.within_sd.item():.4g})"
        means = ("mean", "", "Flat()") if fitted.structure.COLLAPSED else ("block_mean", "", wide)
        rows = [means, *_of_scales(resolved(fitted.spec, fitted.data), fitted.data)]
    else:
        rows = [(name, "", text) for name, text in fitted.stored("priors").items()]
    return pd.DataFrame(rows, columns=["parameter", "label", "prior"]).set_index(["parameter", "label"])


def _of_scales(spec: ModelSpec, data: xr.Dataset) -> Iterator[Row]:
    """Yield rows of the table of priors: the parameter, the group or class ("" for all), and the prior as text.

    The order is: scales, the factors and variances of preferences with a prior from vectors, inflations by related
    words, and shape parameters of the residual. Priors are in the units of the table.

    Scales have the prior of the spec, in a unit that may differ between groups and classes. The variance of preferences
    from vectors is ``factor * sd**2 * nu / ChiSquared(nu)`` with the expected standard deviation, without a factor for
    control classes. The factor is ``nu / ChiSquared(nu)`` with other degrees of freedom. The inflation of the variance
    of a mean is ``1 + (expected - 1) * df / ChiSquared(df)``, or 1 for independent words.
    """
    units = units_of_priors(spec, data)
    sides = sides_from_vectors(spec, data)
    from_vectors = {PREFERENCE[side] for side in sides}
    for name, along in dims_of_scales(spec, data).items():
        if name not in from_vectors:
            # One row for all groups and classes, or a row for each combination if they have units of their own.
            dims = along if np.ndim(units[name]) else ()
            labels = product(*(data[dim].to_numpy().tolist() for dim in dims))
            for label, unit in zip(labels, np.ravel(units[name]), strict=True):
                yield name, ", ".join(label), str(spec.priors[name].with_unit(float(unit)))
    for side in sides:
        parameters = spec.priors[PREFERENCE[side]].parameters
        nu, nu_factor = parameters["nu"], parameters["nu_factor"]
        yield factor_name(side), "", f"{nu_factor:g} / ChiSquared({nu_factor:g})"
        for k, label in enumerate(data[CATEGORY_COORD[side]].to_numpy()):
            factor = f"{factor_name(side)} * " if is_compared(data, side)[k] else ""
            sd = data[f"{side}_preference_sd"].to_numpy()[k]
            yield variance_name(side), label, f"{factor}{sd:.4g}**2 * {nu:g} / ChiSquared({nu:g})"
    for side in related_sides(data):
        for k, label in enumerate(data[CATEGORY_COORD[side]].to_numpy()):
            inflation = data[f"{side}_inflation"].to_numpy()[k]
            df = data[f"{side}_directions"].to_numpy()[k] / 2
            factor = "" if np.isnan(df) else f" * {df:.4g} / ChiSquared({df:.4g})"
            yield inflation_name(side), label, f"1 + {inflation - 1:.4g}{factor}" if inflation > 1 else "1"
    for name in shape_parameters():
        if name in spec.priors:
            yield name, "", str(spec.priors[name])
