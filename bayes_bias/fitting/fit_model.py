"""Create a fit from a model: sample, diagnose, describe, and warn.

Models of word tables, of sentence pairs, of the gaps of a classifier, of their correlation with word bias, and of the
results of a sweep are all fitted here, so that all fits have the same groups and attributes.
"""

import json
import logging
from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.metadata import version
from typing import Any, Protocol

import xarray as xr

from bayes_bias.fitting.diagnostics import Diagnostics, diagnose
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.fitting.sampling import Sampling, ToSample, sample_model
from bayes_bias.models.scales import levels_that_cancel
from bayes_bias.models.spec import ModelSpec
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.metric import Metric

logger = logging.getLogger("bayes_bias")

_VERSIONED = ("bayes-bias", "pymc", "pytensor", "nutpie", "arviz", "numpy", "xarray")

type Groups = Mapping[str, xr.Dataset]


class Source(Protocol):
    """The data of a fit, as described in the attributes of the fit."""

    @property
    def name(self) -> str:
        """The name of the data."""

    @property
    def metric(self) -> Metric:
        """The kind and unit of the values."""

    @property
    def sha256(self) -> str:
        """The hash of all values and labels."""

    @property
    def notices(self) -> tuple[str, ...]:
        """The notices about omitted words and other changes."""

    @property
    def provenance(self) -> Mapping[str, str]:
        """The origin of the values."""


@dataclass(frozen=True)
class NamedData:
    """A `Source` for data whose own type has no name or metric."""

    name: str
    metric: Metric
    sha256: str
    notices: tuple[str, ...] = ()
    provenance: Mapping[str, str] = field(default_factory=dict)


def fit_model(
    source: Source,
    spec: ModelSpec,
    model: ToSample,
    data: xr.Dataset,
    *,
    seed: int,
    sampling: Sampling,
    complete: Callable[[xr.Dataset], xr.Dataset] = lambda posterior: posterior,
    derive: Callable[[xr.Dataset], xr.Dataset] = lambda posterior: posterior,
    observed: Groups | None = None,
    densities: Callable[[xr.Dataset], tuple[Groups, float | None]] = lambda posterior: ({}, None),
    made_of: Collection[str] = (),
    adjustable: bool = True,
) -> Fitted:
    """Sample a model and assemble its fit.

    Parameters
    ----------
    source : Source
        Name, metric, hash, notices, and provenance of the data.
    spec : ModelSpec
        Description of the model: name, options, and priors.
    model : ToSample
        The model to sample.
    data : xarray.Dataset
        The group ``constant_data``.
    seed, sampling
        See `fit`.
    complete : callable
        Function that returns the posterior given the sampled draws. It converts units and draws quantities that were
        integrated out. The added quantities are not diagnosed: they are drawn independently for each sampled draw, so
        their convergence cannot be worse than the convergence of the sampled draws.
    derive : callable
        Function that adds derived quantities to the posterior. These are not diagnosed.
    observed : mapping, optional
        The group ``observed_data``.
    densities : callable
        Function that returns groups of log densities, and the sensitivity of the bias to the prior, given the
        posterior.
    made_of : collection of str
        Variables that are transformed one-to-one into other variables of the model. Only the transformed variables are
        diagnosed.
    adjustable : bool
        Whether the user can set `sampling`. If not, warnings do not recommend other settings.

    Returns
    -------
    Fitted
        Fit with the groups ``posterior``, ``sample_stats``, and ``constant_data``, and the groups of `observed` and
        `densities`. Its attributes are the result of `fit_attributes`, with sampler settings and diagnostics.
    """
    draws, stats = sample_model(model, seed, sampling)
    posterior = complete(draws)
    diagnosed = [name for name in posterior if name in draws and name not in made_of]
    fitted = assembled(
        source,
        spec,
        posterior,
        stats.assign_attrs(tuning_steps=sampling.tune),
        data,
        seed=seed,
        diagnosed=diagnosed,
        derive=derive,
        observed=observed,
        densities=densities,
        adjustable=adjustable,
    )
    fitted.tree.attrs |= asdict(sampling)
    return fitted


def assembled(
    source: Source,
    spec: ModelSpec,
    posterior: xr.Dataset,
    stats: xr.Dataset,
    data: xr.Dataset,
    *,
    seed: int,
    diagnosed: list[Hashable],
    derive: Callable[[xr.Dataset], xr.Dataset] = lambda posterior: posterior,
    observed: Groups | None = None,
    densities: Callable[[xr.Dataset], tuple[Groups, float | None]] = lambda posterior: ({}, None),
    adjustable: bool = True,
) -> Fitted:
    """Assemble a fit from a posterior, and log a warning if it has not converged.

    `posterior` contains all variables in the units of the table, `stats` the statistics of the sampler, and `diagnosed`
    the names of the sampled variables. See `fit_model` for the other parameters.
    """
    log_densities, sensitivity = densities(posterior)
    diagnostics = diagnose(posterior[diagnosed], stats, sensitivity, levels_that_cancel(spec, data))
    warn_of(source.name, diagnostics, adjustable)
    empty_dims = [dim for dim, length in data.sizes.items() if not length]
    tree = xr.DataTree.from_dict(
        {
            "posterior": derive(posterior).assign_attrs(stats.attrs, seed=seed),
            "sample_stats": stats,
            **(observed or {}),
            "constant_data": data.drop_dims(empty_dims),
            **log_densities,
        }
    )
    tree.attrs = fit_attributes(source, spec, seed) | {"diagnostics": diagnostics.to_json()}
    return Fitted(tree, spec)


def fit_attributes(source: Source, spec: ModelSpec, seed: int) -> dict[str, Any]:
    """Return a description of the data and the model as netCDF attributes, which `Fitted` reads.

    netCDF supports only texts and numbers, so mappings and lists are stored as JSON. The `provenance` of the data is a
    mapping of their hashes, names, and settings. Only a table has a `unit`, the noun for its targets and attributes.
    """
    return {
        "name": source.name,
        "metric": source.metric.to_json(),
        "model": spec.name,
        "structure": spec.structure,
        "options": json.dumps(dict(spec.options)),
        "priors": json.dumps({name: str(prior) for name, prior in spec.priors.items()}),
        "spec_sha256": spec.sha256,
        "table_sha256": source.sha256,
        "notices": json.dumps(source.notices),
        "versions": versions(),
        **{key: str(value) for key, value in source.provenance.items()},
        **({"unit": source.unit} if isinstance(source, AssociationTable) else {}),
        "seed": seed,
    }


@cache
def versions() -> str:
    """Return the software versions as JSON. The result is cached, because hundreds of random lists are described."""
    return json.dumps({package: version(package) for package in _VERSIONED})


def software() -> str:
    """Return the names and versions of the packages that made a result, as a sentence lists them."""
    return ", ".join(f"{name} {number}" for name, number in json.loads(versions()).items())


def warn_of(name: str, diagnostics: Diagnostics, adjustable: bool = True) -> None:
    """Log a warning for each convergence problem of a fit or, if it has converged, for a prior that moves the bias.

    Problems that do not concern the bias are logged as one warning. The warnings recommend other settings of the
    sampler only if the user can set them (`adjustable`).
    """
    if diagnostics.converged:
        if diagnostics.concern:
            logger.warning(f"{name}: {diagnostics.concern}")
    elif diagnostics.for_bias.converged:
        logger.warning(f"{name}: the bias has converged, but {diagnostics.levels}")
    else:
        for problem in diagnostics.problems if adjustable else diagnostics.shortfalls:
            logger.warning(f"{name}: the fit has not converged: {problem}")
