"""The fit of a PyMC model that its user wrote or changed."""

import numpy as np
import pymc as pm
import xarray as xr
from pytensor.gradient import DisconnectedInputError

from bayes_bias.errors import SpecError
from bayes_bias.fitting.compiling import PyMCModel, adaptation_for, as_on_any_machine
from bayes_bias.fitting.fit_model import fit_model
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.fitting.power_scaling import with_bias
from bayes_bias.fitting.sampling import Sampling, order_dims
from bayes_bias.models import crossed_long
from bayes_bias.models.custom import CustomModel, built, custom_spec, dims_of_protocol, name_of
from bayes_bias.models.preferences import variables_needed
from bayes_bias.models.spec import ModelSpec
from bayes_bias.models.structures import independent, mean_of_replicates
from bayes_bias.table.association_table import AssociationTable


def fit_custom(table: AssociationTable, model: CustomModel, *, seed: int, sampling: Sampling) -> Fitted:
    """See `bayes_bias.fit`. A model without the dim ``replicate`` is one of the mean of replicates, with a notice."""
    name = name_of(model)
    pymc_model = built(model, table)
    if missing := sorted(variables_needed(crossed_long.data(table)) - set(pymc_model.named_vars)):
        table = independent(table, f"the model '{name}' has no {' and no '.join(missing)}")
    if table.replicates is not None and "replicate" not in pymc_model.dim_lengths:
        table = mean_of_replicates(table, f"the model '{name}' is fitted to the mean of the replicates")
    spec, data = custom_spec(name, pymc_model), crossed_long.data(table)
    try:
        fitted = fit_model(
            table,
            spec,
            _to_sample(pymc_model, data),
            data,
            seed=seed,
            sampling=sampling,
            complete=order_dims,
            derive=lambda posterior: with_bias(posterior, data),
            observed={"observed_data": xr.Dataset({"association": table.values})},
            densities=lambda posterior: (_log_likelihood(pymc_model, posterior), None),
        )
    except SpecError:
        _refuse_start(spec, pymc_model)
        raise
    except DisconnectedInputError as error:
        raise SpecError(
            f"model: '{name}' has a free variable without a density, on which nothing depends either; leave it out, or"
            " give it a proper prior"
        ) from error
    fitted.tree.attrs["formula"] = spec.description
    return fitted


def _to_sample(model: pm.Model, data: xr.Dataset) -> PyMCModel:
    """The model. Dims without labels get those of the table, or numbers."""
    lengths = {dim: int(length.eval(mode="FAST_COMPILE")) for dim, length in model.dim_lengths.items()}
    coords = {dim: list(model.coords.get(dim) or range(length)) for dim, length in lengths.items()}
    coords |= {dim: data[dim].to_numpy().tolist() for dim in dims_of_protocol(model) if dim in coords}
    return PyMCModel(lambda: model, coords, whole=True, adaptation=adaptation_for(data))


def _log_likelihood(model: pm.Model, posterior: xr.Dataset) -> dict[str, xr.Dataset]:
    """The group ``log_likelihood``: of each observed value at each draw."""
    tree = xr.DataTree.from_dict({"posterior": posterior})
    with as_on_any_machine():
        dataset = pm.compute_log_likelihood(tree, model=model, extend_inferencedata=False, progressbar=False)
    return {"log_likelihood": dataset}


def _refuse_start(spec: ModelSpec, model: pm.Model) -> None:
    """Refuse a model whose density is zero, or no number, where sampling begins; looked for when sampling failed, since
    it takes seconds."""
    densities = model.point_logps()
    wrong = [name for name, density in densities.items() if not np.isfinite(density)]
    if wrong:
        raise SpecError(
            f"model: the density of '{spec.name}' is zero or not a number at the start of sampling, because of"
            f" {', '.join(wrong)}; set `initval`, or check that the prior allows what is observed"
        )
