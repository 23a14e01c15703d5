"""A fit of a PyMC model that its user wrote or changed, by the same way as those of the package."""

import numpy as np
import pymc as pm
import xarray as xr
from pymc.model.transform.optimization import freeze_dims_and_data

from bayes_bias.errors import SpecError
from bayes_bias.models import crossed_long
from bayes_bias.models.bias_draws import with_bias
from bayes_bias.models.compiling import ModelOfData
from bayes_bias.models.custom_model import CustomModel, built, custom_spec, dims_of_protocol, name_of
from bayes_bias.models.fitted import Fitted
from bayes_bias.models.fitting import fit_model
from bayes_bias.models.model_spec import ModelSpec
from bayes_bias.models.sampling import Sampling, ordered_for_arviz
from bayes_bias.models.structures import mean_of_replicates
from bayes_bias.progress import Progress
from bayes_bias.table.association_table import AssociationTable


def fit_custom(
    table: AssociationTable, model: CustomModel, *, seed: int, sampling: Sampling, progress: Progress | None
) -> Fitted:
    """See `bayes_bias.fit`. A model without the dim ``replicate`` is one of the mean of replicates, with a notice."""
    name = name_of(model)
    if table.has_related_words:
        raise SpecError(
            f"model: '{name}' takes words for independent, and the table says which belong together; give a table"
            " without sub_topics='from vectors'"
        )
    made = built(model, table)
    if table.replicates is not None and "replicate" not in made.dim_lengths:
        table = mean_of_replicates(table, f"the model '{name}' is fitted to the mean of the replicates")
    spec, data = custom_spec(name, made), crossed_long.data(table)
    try:
        fitted = fit_model(
            table,
            spec,
            _to_sample(spec, made, data),
            data,
            seed=seed,
            sampling=sampling,
            progress=progress,
            complete=ordered_for_arviz,
            derive=lambda posterior: with_bias(posterior, data),
            observed={"observed_data": xr.Dataset({"association": table.values})},
            densities=lambda posterior: (_log_likelihood(made, posterior), None),
        )
    except RuntimeError:
        _refuse_start(spec, made)
        raise
    fitted.tree.attrs["formula"] = spec.description
    return fitted


def _to_sample(spec: ModelSpec, model: pm.Model, data: xr.Dataset) -> ModelOfData:
    """The model with its data as constants. Dims without labels get those of the table, or numbers."""
    lengths = {dim: int(length.eval(mode="FAST_COMPILE")) for dim, length in model.dim_lengths.items()}
    coords = {dim: list(model.coords.get(dim) or range(length)) for dim, length in lengths.items()}
    coords |= {dim: data[dim].to_numpy().tolist() for dim in dims_of_protocol(model) if dim in coords}
    return ModelOfData((spec.sha256,), lambda: freeze_dims_and_data(model), {}, coords, whole=True)


def _log_likelihood(model: pm.Model, posterior: xr.Dataset) -> dict[str, xr.Dataset]:
    """The group ``log_likelihood``: of each observed value at each draw."""
    tree = xr.DataTree.from_dict({"posterior": posterior})
    return {
        "log_likelihood": pm.compute_log_likelihood(tree, model=model, extend_inferencedata=False, progressbar=False)
    }


def _refuse_start(spec: ModelSpec, model: pm.Model) -> None:
    """Refuse a model whose density is zero, or no number, where sampling begins; looked for when sampling failed, since
    it takes seconds."""
    densities = model.point_logps()
    wrong = [name for name, density in densities.items() if not np.isfinite(density)]
    if wrong:
        raise SpecError(
            f"model: the density of '{spec.name}' is zero or no number where sampling begins, because of"
            f" {', '.join(wrong)}; set `initval`, or check that the prior allows what is observed"
        )
