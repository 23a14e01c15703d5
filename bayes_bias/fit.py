"""Sample the posterior, check convergence, write down where the numbers come from."""

import json
import logging
import os
from collections.abc import Hashable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import nutpie
import xarray as xr

from bayes_bias.compiling import compiled_model
from bayes_bias.cosines import Cosines
from bayes_bias.diagnostics import Diagnostics, diagnose
from bayes_bias.errors import CosinesError, OutputError
from bayes_bias.output import check_output, whole_file
from bayes_bias.progress import Progress, Quiet
from bayes_bias.pymc_models import hierarchical, model_data
from bayes_bias.sensitivity import is_collapsed, power_scaling_groups, sensitivity_of_bias
from bayes_bias.specs import ModelSpec, Prior, load_spec

logger = logging.getLogger("bayes_bias")

_VERSIONED = ("bayes-bias", "pymc", "pytensor", "nutpie", "arviz", "numpy", "xarray")

# Cosines come from float32 vectors: residual variation below this is rounding, not data.
_ROUNDING_VARIANCE = 1e-12


def fit(
    cosines: Cosines,
    model: str | Path | ModelSpec = "crossed",
    *,
    seed: int = 1,
    draws: int = 1500,
    tune: int = 1000,
    chains: int = 4,
    target_accept: float = 0.95,
    progress: Progress | None = None,
) -> xr.DataTree:
    """Sample the posterior of a model given raw cosines.

    Parameters
    ----------
    cosines : Cosines
        From `measure` or `Cosines.from_frame`.
    model : str, Path or ModelSpec
        A shipped model ("crossed", "crossed-long", "robust", "hierarchical"), the path of a TOML file, or a spec.
    seed : int
        The same seed gives the same numbers.
    draws, tune, chains : int
        Kept and warm-up draws in each chain, and the number of chains.
    target_accept : float
        Target acceptance rate of the sampler; nearer to 1 means smaller steps.
    progress : Progress, optional
        Told of steps and draws as they are done.

    Returns
    -------
    xarray.DataTree
        ArviZ-readable groups ``posterior``, ``sample_stats``, ``observed_data`` (the cosines, if formed) and
        ``constant_data`` (design and sufficient statistics); provenance and diagnostics in ``attrs``. Where the
        likelihood is collapsed also ``log_prior`` and ``log_likelihood``, for power-scaling (`arviz_stats.psense`);
        the likelihood there is that of all cosines together, for PSIS-LOO see `bayes_bias.checks`. The fit
        round-trips through `save_fit` and `load_fit`, and `summarize` needs nothing else.

    Raises
    ------
    SpecError
        The model is unknown or its file is wrong.
    CosinesError
        The data do not fit the model, or the cosines do not vary.

    Examples
    --------
    >>> from bayes_bias import fit, measure, summarize
    >>> posterior = fit(measure("googlenews-demo", "weat6"), seed=1)    # doctest: +SKIP
    >>> summarize(posterior).loc["bias"]                                # doctest: +SKIP
    """
    progress = progress or Quiet()
    spec = model if isinstance(model, ModelSpec) else load_spec(model)
    data = model_data(spec, cosines)
    _refuse_degenerate(data)
    progress.step("compiling the model")
    compiled, coords = compiled_model(spec, data)
    progress.step("sampling")
    trace = nutpie.sample(
        compiled,
        draws=draws,
        tune=tune,
        chains=chains,
        cores=min(chains, os.cpu_count() or 1),
        seed=seed,
        target_accept=target_accept,
        save_warmup=False,
        progress_bar=False,
        progress_callback=lambda states: _report_draws(progress, states),
    )
    posterior = _posterior(trace, coords, spec, data, seed)
    sample_stats = trace["sample_stats"].to_dataset()
    scaling = _power_scaling(posterior, data, spec)
    sensitivity = sensitivity_of_bias(posterior, data, scaling["log_prior"]) if scaling else None
    diagnostics = diagnose(posterior, sample_stats, sensitivity)
    _tell(cosines.name, diagnostics)
    tree = xr.DataTree.from_dict(
        {
            "posterior": posterior,
            "sample_stats": sample_stats,
            **_observed(cosines),
            "constant_data": data,
            **scaling,
        }
    )
    settings = {"seed": seed, "draws": draws, "tune": tune, "chains": chains, "target_accept": target_accept}
    tree.attrs = _provenance(cosines, spec, settings) | {"diagnostics": diagnostics.to_json()}
    return tree


def save_fit(fit: xr.DataTree, path: str | Path) -> Path:
    """Write a fit to a netCDF file, whole or not at all."""
    path = check_output(path)
    with whole_file(path) as unfinished:
        fit.to_netcdf(unfinished, engine="h5netcdf")
    return path


def load_fit(path: str | Path) -> xr.DataTree:
    """Read a fit that `save_fit` wrote."""
    if not Path(path).is_file():
        raise OutputError(f"path: no file '{path}'; `bayes-bias fit LIST --out FILE.nc` makes one")
    try:
        tree = xr.load_datatree(path, engine="h5netcdf")
    except OSError as error:
        raise OutputError(f"path: '{path}' is not a netCDF file: {error}") from error
    if "posterior" not in tree.children or "diagnostics" not in tree.attrs:
        raise OutputError(f"path: '{path}' is netCDF but no fit of bayes_bias; `bayes-bias fit` makes one")
    return tree


def _refuse_degenerate(data: xr.Dataset) -> None:
    """Without residual variation there is nothing to estimate the model's scales from."""
    if "interaction_ss" not in data:
        return
    if data.interaction_ss <= _ROUNDING_VARIANCE * data.interaction_df:
        raise CosinesError(
            "cosines: no variation is left within blocks after word effects, as if words had identical vectors"
            " (equalised by debiasing?); contrasts between them are zero by construction, not by estimate"
        )


def _power_scaling(posterior: xr.Dataset, data: xr.Dataset, spec: ModelSpec) -> dict[str, xr.Dataset]:
    if not is_collapsed(data):
        return {}
    return power_scaling_groups(posterior, data, _written(spec.priors))


def _tell(name: str, diagnostics: Diagnostics) -> None:
    for problem in diagnostics.problems:
        logger.warning(f"{name}: the fit has not converged: {problem}")
    if diagnostics.converged and diagnostics.concern:
        logger.warning(f"{name}: {diagnostics.concern}")


def _written(priors: Mapping[str, Prior]) -> dict[str, str]:
    return {name: str(prior) for name, prior in priors.items()}


def _observed(cosines: Cosines) -> dict[str, xr.Dataset]:
    """The cosines, unless there are too many of them to be formed."""
    return {"observed_data": xr.Dataset({"similarity": cosines.similarity})} if cosines.is_formed else {}


def _report_draws(progress: Progress, states: list[Any]) -> None:
    progress.advance(sum(s.finished_draws for s in states), sum(s.total_draws for s in states))


def _posterior(
    trace: xr.DataTree, coords: dict[str, Any], spec: ModelSpec, data: xr.Dataset, seed: int
) -> xr.Dataset:
    """The named parameters with their labels; auxiliary standard normals stay behind."""
    sampled = trace["posterior"].to_dataset()
    kept = {str(name): sampled[name].variable for name in sampled.data_vars if not str(name).endswith("_z")}
    labels = {dim: sampled[dim].to_numpy() for dim in ("chain", "draw")} | coords
    posterior = xr.Dataset(kept).assign_coords(labels)
    if spec.structure == "hierarchical":
        posterior["target_connection_mean"] = hierarchical.recover(
            posterior, data, np.random.default_rng(seed)
        )
    return posterior[sorted(posterior.data_vars, key=_summary_rank)]


def _summary_rank(name: Hashable) -> int:
    """ArviZ 1.3's summary puts labels to the wrong numbers where a variable's dims stand in another order than
    those of its dataset; with the tables in this order first, no two of our variables disagree."""
    tables = ("target_connection_mean", "attribute_effect", "target_effect", "mean")
    return tables.index(str(name)) if name in tables else len(tables)


def _provenance(cosines: Cosines, spec: ModelSpec, settings: dict[str, Any]) -> dict[str, Any]:
    """Everything needed to say what was fitted to what, as netCDF attributes."""
    return {
        "name": cosines.name,
        "model": spec.name,
        "structure": spec.structure,
        "options": json.dumps(dict(spec.options)),
        "priors": json.dumps(_written(spec.priors)),
        "spec_sha256": spec.sha256,
        "cosines_sha256": cosines.sha256,
        "notices": json.dumps(cosines.notices),
        "versions": json.dumps({package: version(package) for package in _VERSIONED}),
        **{key: str(value) for key, value in cosines.provenance.items()},
        **settings,
    }
