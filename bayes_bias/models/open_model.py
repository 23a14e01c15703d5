"""`pymc_model`: the crossed model as a PyMC model to draw, change and sample with PyMC's own functions."""

from pathlib import Path
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import xarray as xr

from bayes_bias.models import crossed_long
from bayes_bias.models.components import OF_CLUSTERS, OF_WORDS, present
from bayes_bias.models.crossed import clusters_in
from bayes_bias.models.model_spec import ModelSpec
from bayes_bias.models.priors import variable
from bayes_bias.models.residuals import Shape, residual_of, shape_parameters
from bayes_bias.models.structures import generalising_spec, modelled
from bayes_bias.models.units import unit_of
from bayes_bias.models.zero_sum import zero_sum_sd
from bayes_bias.table.association_table import AssociationTable, check_table
from bayes_bias.table.word_labels import SIDES, Side

# The prior of block means, in units of the other priors: so wide that the data decide.
_WIDE = 10.0


def pymc_model(table: AssociationTable, model: str | Path | ModelSpec = "crossed") -> pm.Model:
    r"""The crossed model of a table in PyMC, every effect and every value written out.

    .. math:: y_{ij} = \mu_{g(i)c(j)} + \mathrm{target\_effect}_{ic(j)} + \mathrm{attribute\_effect}_{jg(i)} + e_{ij}

    It has the posterior of `fit`, which integrates the word effects out and so samples faster. This one is for PyMC and
    ArviZ: ``pm.model_to_graphviz``, ``pm.sample_prior_predictive``, ``pm.sample``,
    ``pm.compute_log_likelihood``, ``pm.sample_posterior_predictive``, ``az.loo`` and ``az.compare`` work on it.

    Parameters
    ----------
    table : AssociationTable
        Of a table with replicates the mean of all is modelled, with a notice.
    model : str, Path or ModelSpec
        A crossed model, "robust" included.

    Returns
    -------
    pymc.Model
        Dims ``target``, ``attribute``, ``group``, ``attribute_class``, and ``pair`` for the values. Variables ``mean``,
        a standard deviation for each component of variance (``sd_target_preference`` and so on), shape parameters of
        the residual, ``target_effect``, ``attribute_effect``, and the observed ``association``. Units: those of the
        table. Word effects are standard deviations times standard normal variables, whose names end in ``_z``.

    Raises
    ------
    SpecError
        The model is not a crossed one.
    TableError
        The table does not fit the model.

    Notes
    -----
    `fit` has a flat prior for the means. From that nothing can be drawn, so here it is normal about the mean of all
    values, with a standard deviation of ten units of the other priors.

    Examples
    --------
    >>> import pymc as pm
    >>> from bayes_bias import cosines, pymc_model
    >>> model = pymc_model(cosines("googlenews-demo", "weat6").without_controls())
    >>> [variable.name for variable in model.observed_RVs], "sd_target_preference" in model.named_vars
    (['association'], True)
    >>> pm.sample(model=model, target_accept=0.95)                                # doctest: +SKIP
    """
    check_table(table)
    spec = generalising_spec(model, "the model in PyMC")
    table = modelled(table, without_replicates(spec))
    data = crossed_long.data(table)
    return _Writer(spec, data).model()


def without_replicates(spec: ModelSpec) -> ModelSpec:
    """The spec without effects of replicates, which the long form does not have."""
    for name in list(spec.priors):
        if "replicate" in name:
            spec = spec.without_prior(name)
    return spec


class _Writer:
    """Writes the model of one spec for one table, in the table's units."""

    def __init__(self, spec: ModelSpec, data: xr.Dataset) -> None:
        self.spec, self.data, self.unit = spec, data, unit_of(spec, data)
        self.n_groups, self.n_controls = data.sizes["group"], data.sizes["control"]
        self.n_associated = data.sizes["attribute_class"] - self.n_controls

    def model(self) -> pm.Model:
        data, targets = self.data, self.data.target.to_numpy()
        at_target, at_attribute = data.pair_target.to_numpy(), data.pair_attribute.to_numpy()
        dims = ("group", "attribute_class", "control", "target", "attribute")
        pairs = zip(targets[at_target], data.attribute.to_numpy()[at_attribute], strict=True)
        coords = {dim: data[dim].to_numpy().tolist() for dim in dims}
        coords["pair"] = [f"{target}, {attribute}" for target, attribute in pairs]
        group, of_class = data.group_of.to_numpy()[at_target], data.class_of.to_numpy()[at_attribute]
        values = data.pair_value.to_numpy()
        with pm.Model(coords=coords) as model:
            mean = pm.Normal("mean", values.mean(), _WIDE * self.unit, dims=("group", "attribute_class"))
            sd = {c.name: self._prior(c.name, self._dims(c.dim)) for c in self._components()}
            target = pm.Deterministic("target_effect", self._of_targets(sd), dims=("target", "attribute_class"))
            attribute = pm.Deterministic("attribute_effect", self._of_attributes(sd), dims=("attribute", "group"))
            expected = mean[group, of_class] + target[at_target, of_class] + attribute[at_attribute, group]
            residual = residual_of(self.spec.priors)
            shapes = {name: self._shape(name, shape) for name, shape in residual.shapes.items()}
            residual.observe(
                "association", expected, residual.scale(sd["sd_residual"], shapes), shapes, values, dims="pair"
            )
        return model

    def _components(self) -> list[Any]:
        clusters = [
            component for side in SIDES if clusters_in(self.spec, self.data, side) for component in OF_CLUSTERS[side]
        ]
        return present([*OF_WORDS, *clusters], self.n_groups, controls=bool(self.n_controls))

    def _dims(self, dim: str | None) -> str | None:
        return None if self.spec.options["scales"] == "common" else dim

    def _prior(self, name: str, dims: str | None, **options: Any) -> pt.TensorVariable:
        unit = 1.0 if name in shape_parameters() else self.unit
        prior = self.spec.priors[name].in_units(unit)
        return variable(prior, name, dims=dims, **options)

    def _shape(self, name: str, shape: Shape) -> pt.TensorVariable:
        """A shape parameter, whose prior is cut off where the residual has no standard deviation."""
        prior = self.spec.priors[name]
        if shape.least_for_sd is None:
            return variable(prior, name, initval=shape.start)
        whole = getattr(pm, prior.distribution).dist(**prior.parameters)
        return pm.Truncated(name, whole, lower=float(shape.least_for_sd), initval=shape.start)

    def _of_targets(self, sd: dict[str, pt.TensorVariable]) -> pt.TensorVariable:
        """Levels and preferences (target, attribute_class), associated classes first."""
        level = pm.Normal("target_level_z", dims="target")[:, None] * sd["sd_target_associated"]
        preference = self._zero_sum("target_preference_z", "target", self.n_associated)
        associated = level + preference * sd["sd_target_preference"] + self._shared("target", sd)
        if not self.n_controls:
            return associated
        everywhere = pm.Normal("target_everywhere_z", dims="target")[:, None] * sd["sd_target"]
        control = pm.Normal("target_control_z", dims=("target", "control")) * sd["sd_target_control"]
        return pt.concatenate([everywhere + associated, everywhere + control], axis=1)

    def _of_attributes(self, sd: dict[str, pt.TensorVariable]) -> pt.TensorVariable:
        """Levels and preferences (attribute, group)."""
        class_of, n = self.data.class_of.to_numpy(), self.data.sizes["attribute_class"]

        def of_word(name: str) -> pt.TensorVariable:
            return (sd[name] * np.ones(n))[class_of][:, None]

        effect = pm.Normal("attribute_level_z", dims="attribute")[:, None] * of_word("sd_attribute")
        if self.n_groups > 1:
            preference = self._zero_sum("attribute_preference_z", "attribute", self.n_groups)
            effect = effect + preference * of_word("sd_attribute_preference")
        return effect + self._shared("attribute", sd) + np.zeros(self.n_groups)

    def _shared(self, side: Side, sd: dict[str, pt.TensorVariable]) -> pt.TensorVariable | float:
        """What the words of a sub-topic or pair share, at each word; zero without any."""
        if f"sd_{side}_cluster" not in sd:
            return 0.0
        cluster = self.data[f"{side}_cluster"].to_numpy()
        n, size = int(cluster.max()) + 1, self.n_associated if side == "target" else self.n_groups
        pm.modelcontext(None).add_coord(f"{side}_in_cluster", range(n))
        dim = f"{side}_in_cluster"
        shared = pm.Normal(f"{side}_cluster_level_z", dims=dim)[:, None] * sd[f"sd_{side}_cluster"]
        if size > 1:
            preference = self._zero_sum(f"{side}_cluster_preference_z", dim, size)
            shared = shared + preference * sd[f"sd_{side}_cluster_preference"]
        return pt.where((cluster >= 0)[:, None], shared[cluster], 0.0)

    def _zero_sum(self, name: str, dim: str, size: int) -> pt.TensorVariable:
        """Normal effects (words, size) of variance one that sum to zero over the second axis."""
        length = pm.modelcontext(None).dim_lengths[dim].eval().item()
        return pm.ZeroSumNormal(name, sigma=float(zero_sum_sd(size)), shape=(length, size))
