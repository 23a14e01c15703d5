"""The default model, with the exact collapsed likelihood of all raw values."""

from collections.abc import Mapping
from types import ModuleType
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import xarray as xr

from bayes_bias.associations.labels import SIDES, Side
from bayes_bias.associations.statistics import sufficient_statistics
from bayes_bias.errors import SpecError
from bayes_bias.models import block_density
from bayes_bias.models.components import BY_REPLICATE, Components, block_patterns, sizes_of
from bayes_bias.models.priors import free, scale
from bayes_bias.models.replication import Replication, Variances, replicate_patterns
from bayes_bias.models.spec import CLUSTERS, REPLICATES, ModelSpec
from bayes_bias.models.units import rounded, unit_of

DIMS = ("group", "attribute_class", "control", "target_clustering", "attribute_clustering", "replication")
GENERALISES = True
COLLAPSED = True

data = sufficient_statistics

_COUNTS = ("n_targets", "n_attributes", "interaction_df", "target_df", "attribute_df")
_SQUARES = ("target_scatter", "attribute_scatter", "interaction_ss")
_SHARED = ("target_shared", "attribute_shared")
_OF_REPLICATES = tuple(f"replicate_{name}" for name in (*_COUNTS[2:], *_SQUARES))


def inputs(spec: ModelSpec, data: xr.Dataset) -> dict[str, np.ndarray]:
    """Sample sizes, and scatter in units of the priors; block means of the whole table say nothing of the scales."""
    _refuse_pairs_of_two_scales(spec, data)
    unit = unit_of(spec, data)
    read = {
        name: rounded(values / unit**2) if name.endswith(("_scatter", "_ss")) else values
        for name, values in statistics(data, replicated=has_replicates(spec, data)).items()
    }
    return {**read, "typical": rounded(data.within_sd.item() / unit)}


def statistics(data: xr.Dataset, *, replicated: bool = True) -> dict[str, np.ndarray]:
    """What the likelihood reads of a table, in its own units; `replicated` where it is to read of replicates, too."""
    replicated = replicated and "replicate_block_mean" in data
    names = (*_COUNTS, *_SHARED, *_SQUARES, *(_OF_REPLICATES if replicated else ()))
    found = {name: data[name].to_numpy().astype(float, order="C") for name in names}
    found["part_class"] = data.attribute_part_cell.to_numpy().astype(np.int32)
    if replicated:
        blocks = (data.replicate_block_mean - data.block_mean).to_numpy().reshape(data.sizes["replicate"], -1)
        sizes = sizes_of(data)
        patterns = (
            block_patterns(1 / found["n_targets"], 1 / found["n_attributes"], sizes["n_associated"]),
            replicate_patterns(*sizes.values()),
        )
        found["n_replicates"] = np.array(float(len(blocks)))
        found["block_scatter"] = blocks.T @ blocks
        found["block_patterns"] = np.concatenate(patterns)
    return found


def has_replicates(spec: ModelSpec, labels: xr.Dataset | Mapping[str, list[str]]) -> bool:
    """Whether there are replicates, and the spec says how much they may differ."""
    return set(REPLICATES) <= set(spec.priors) and bool(len(labels["replication"]))


def _refuse_pairs_of_two_scales(spec: ModelSpec, data: xr.Dataset) -> None:
    paired = "pair" in data.attribute_clustering.to_numpy()
    if paired and spec.options["scales"] != "common" and clusters_in(spec, data, "attribute"):
        raise SpecError(
            f"{spec.name}: attributes of two classes are paired, and the collapsed likelihood needs one scale for all"
            " classes then; set scales = \"common\" in a copy of the model, use model='crossed-long', or leave out the"
            " pairs"
        )


def build(spec: ModelSpec, inputs: Mapping[str, np.ndarray], coords: Mapping[str, list[str]]) -> pm.Model:
    r"""Crossed random effects of targets and attributes, in units of the priors.

    For target ``i`` of group ``g`` and attribute ``j`` of class ``c``::

        y[i, j] = mean[g, c] + a[i] + u[i] (c associated) + x[i, c] + b[j] + w[j, g] + e[i, j]

    ``a`` (scale ``sd_target``) and ``u`` (``sd_target_associated``) are a target's levels, in all classes and in the
    associated ones; ``b`` (``sd_attribute[c]``) is an attribute's level. ``x`` is a target's preference for single
    classes: over the K associated classes preferences sum to zero, with standard deviation
    ``sd_target_preference`` each, and hence correlation -1 / (K - 1); each control class has a deviation of its own
    (``sd_target_control``). ``w`` is an attribute's preference for single groups, summing to zero over the G groups,
    with ``sd_attribute_preference[c]`` each. ``e`` is the residual (``sd_residual``). All are normal and
    independent but for the sums.

    Levels and preferences have scales of their own so that a target may be the closer to one class the further it is
    from another. Were preferences independent between classes, their covariance could not be negative, and the noise
    of a contrast would be understated by up to a factor of two where it is.

    ``u`` is what a target has in common with all associated classes and not with the controls: some words of
    mathematics are closer to people than others, whether male or female. Without controls it is the only level, and
    there is no ``a``.

    Where a list names sub-topics, or pairs, their words share effects of the same kind (``sd_target_cluster`` and
    ``sd_target_cluster_preference``, ``sd_attribute_cluster`` and ``sd_attribute_cluster_preference``), one for each
    sub-topic or pair.

    The word effects are integrated out, and so are the block means, which have a flat prior: what remains are the exact
    log likelihoods of the interaction, row and column parts of the table, with the covariances of `Components`.
    """
    with pm.Model(coords=coords) as model:
        known = {
            name: pm.Data(name, values, shape=_static(name, values, coords))
            for name, values in inputs.items()
        }
        scales = scales_of(spec, coords, known["typical"])
        sizes = {
            "n_groups": len(coords["group"]),
            "n_classes": len(coords["attribute_class"]),
            "n_associated": n_associated(coords),
        }
        words = Components.of(scales, **sizes, numerics=pt)
        replication = Replication.of(scales, **sizes, numerics=pt) if has_replicates(spec, coords) else None
        for name, part in log_likelihoods(words, replication, known, pt).items():
            pm.Potential(name, part)
    return model


def log_likelihoods(
    words: Components,
    replication: Replication | None,
    known: Mapping[str, Any],
    numerics: ModuleType = np,
) -> dict[str, Any]:
    r"""Log likelihoods of the independent parts of a table, block means integrated out, up to constants.

    ``interaction``, ``rows`` and ``columns`` of the table: what rows and columns of a block leave, how its rows differ,
    how its columns do. Orthonormal contrasts over R replicates turn the tables of replicates into independent ones: the
    mean table, times :math:`\sqrt R`, in which every variance is that of words plus 1/R of what differs between
    replicates; and R - 1 tables in which variances are the latter alone. Of these only sums over tables enter, so that
    any number of replicates costs the same; their ``blocks`` have expectation zero, and vary by the replicates' own
    effects and by the averages of those of words.
    """
    per_target, per_attribute = 1 / known["n_targets"], 1 / known["n_attributes"]
    table = words if replication is None else words.plus(replication.words, 1 / known["n_replicates"])
    rows = table.rows(per_attribute, known["target_shared"])
    columns = table.columns(per_target, known["attribute_shared"], known["part_class"])
    interaction = _of_interaction(table, known["interaction_ss"], known["interaction_df"], numerics)
    of_rows = known["target_scatter"], known["target_df"]
    of_columns = known["attribute_scatter"], known["attribute_df"]
    parts = {}
    if replication is not None:
        # One more direction among rows and a class's columns each, so that nothing is compiled twice.
        within, classes = replication.words, np.arange(words.n_classes)
        rows = rows.beside(within.rows(per_attribute, np.zeros(1)), numerics)
        columns = columns.beside(within.columns(per_target, np.zeros(len(classes)), classes), numerics)
        interaction += _of_interaction(
            within, known["replicate_interaction_ss"], known["replicate_interaction_df"], numerics
        )
        of_rows = (
            numerics.concatenate([of_rows[0], known["replicate_target_scatter"][None]]),
            numerics.concatenate([of_rows[1], known["replicate_target_df"][None]]),
        )
        of_columns = (
            numerics.concatenate([of_columns[0], known["replicate_attribute_scatter"]]),
            numerics.concatenate([of_columns[1], known["replicate_attribute_df"]]),
        )
        parts["blocks"] = block_density.log_likelihood(
            replication.flat(numerics),
            known["block_patterns"],
            known["block_scatter"],
            known["n_replicates"] - 1,
        )
    return {
        "interaction": interaction,
        "rows": rows.log_likelihood(*of_rows, numerics).sum(axis=-1),
        "columns": columns.log_likelihood(*of_columns, numerics).sum(axis=-1),
        **parts,
    }


def _of_interaction(of: Components, ss: Any, df: Any, numerics: ModuleType) -> Any:
    residual = of.residual[..., 0]
    return -0.5 * (df * numerics.log(residual) + ss / residual)


def complete(
    spec: ModelSpec, posterior: xr.Dataset, data: xr.Dataset, rng: np.random.Generator
) -> xr.Dataset:
    """In the units of the table, with what was integrated out, drawn from its normal distribution given the scales.

    ``target_average`` and ``attribute_average`` (group, attribute_class) are the averages over each block of the
    effects of the words at hand, ``mean`` is what they and the residual leave of the observed block mean. Of a table
    with replicates also ``replicate_average``, ``residual_average``, and ``target_average_by_replicate`` and so on.
    """
    unit = unit_of(spec, data)
    scaled = posterior.assign({name: posterior[name] * unit for name in posterior.data_vars})
    variances = Variances.of_posterior(scaled, data)
    averages = _averages(variances.words, data, rng)
    kept = {"target_average", "attribute_average"}
    if (replication := variances.replication) is not None:
        share = data.sizes["replicate"] ** -0.5
        by_replicate = _averages(replication.words, data, rng)
        averages |= {name + BY_REPLICATE: share * each for name, each in by_replicate.items()}
        of_blocks = draw_normal(replication.of_blocks(), (), rng)
        averages["replicate_average"] = share * of_blocks.reshape(averages["residual_average"].shape)
        kept = set(averages)
    mean = data.block_mean.to_numpy()
    for each in averages.values():
        mean = mean - each
    drawn = {"mean": mean, **{name: each for name, each in averages.items() if name in kept}}
    labels = {dim: data[dim] for dim in ("group", "attribute_class")}
    return scaled.assign(
        {name: (("chain", "draw", "group", "attribute_class"), values) for name, values in drawn.items()}
    ).assign_coords(labels)


def _averages(sd: Components, data: xr.Dataset, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Draws of the averages over each block of the effects of its words, and of the residual."""
    n_targets, n_attributes = data.n_targets.to_numpy(), data.n_attributes.to_numpy()
    of_targets = draw_normal(sd.target().matrix(), (len(n_targets),), rng) / np.sqrt(n_targets)[:, None]
    of_attributes = draw_normal(sd.attributes().matrix(), (), rng) / np.sqrt(n_attributes)[:, None]
    if sd.target_overlap is not None:
        of_targets += _shared(sd.of_target_cluster().matrix(), data.target_overlap.to_numpy(), rng)
    if sd.attribute_overlap is not None:
        of_cluster = sd.of_attribute_cluster().matrix()[..., 0, :, :]
        of_attributes += _shared(of_cluster, data.attribute_overlap.to_numpy(), rng)
    residual = np.sqrt(sd.residual[..., None] / np.outer(n_targets, n_attributes))
    return {
        "target_average": of_targets,
        "attribute_average": np.swapaxes(of_attributes, -1, -2),
        "residual_average": residual * rng.standard_normal(of_targets.shape),
    }


def _static(name: str, values: np.ndarray, coords: Mapping[str, list[str]]) -> tuple[int | None, ...]:
    """The shape that a compiled model is for: clusters make any number of parts."""
    for side in SIDES:
        if coords[f"{side}_clustering"] and name in (f"{side}_shared", f"{side}_df", f"{side}_scatter"):
            return (None, *values.shape[1:])
    return (None,) if name == "part_class" and coords["attribute_clustering"] else values.shape


def scales_of(
    spec: ModelSpec, coords: Mapping[str, list[str]], typical: pt.TensorVariable
) -> dict[str, pt.TensorVariable]:
    """The standard deviations of the effects as free variables, by name; of levels in controls, of clusters, and of
    replicates, only where there are any."""
    scales = _of_words(spec, coords, typical)
    for side in SIDES:
        if clusters_in(spec, coords, side):
            scales |= {name: free(spec, name, typical) for name in CLUSTERS[side]}
    if has_replicates(spec, coords):
        scales |= _of_words(spec, coords, typical, BY_REPLICATE)
        own = REPLICATES if coords["control"] else REPLICATES[:4]
        scales |= {name: free(spec, name, typical) for name in own}
    return scales


def _of_words(
    spec: ModelSpec, coords: Mapping[str, list[str]], typical: pt.TensorVariable, suffix: str = ""
) -> dict[str, pt.TensorVariable]:
    """Scales of the effects of words and of the residual, in all replicates or, with a suffix, between them."""
    dims = {
        "sd_target_associated": None,
        "sd_target_preference": None,
        "sd_attribute": "attribute_class",
        "sd_attribute_preference": "attribute_class",
        "sd_residual": None,
    }
    if coords["control"]:
        dims |= {"sd_target": None, "sd_target_control": "control"}
    return {
        name + suffix: free(spec, name + suffix, typical)
        if dim is None
        else scale(spec, name + suffix, typical, dim, len(coords[dim]))
        for name, dim in dims.items()
    }


def clusters_in(spec: ModelSpec, labels: xr.Dataset | Mapping[str, list[str]], side: Side) -> bool:
    """Whether the words of a side share something, and the spec says how much they may."""
    return bool(len(labels[f"{side}_clustering"])) and set(CLUSTERS[side]) <= set(spec.priors)


def n_associated(coords: Mapping[str, list[str]]) -> int:
    """How many classes are stereotypical for some group; they come first."""
    return len(coords["attribute_class"]) - len(coords["control"])


def _shared(covariance: np.ndarray, overlap: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draws of the averages over cells of what clusters share, (..., cells, k)."""
    normal = draw_normal(covariance, (len(overlap),), rng)
    return np.asarray(root_of(overlap) @ normal)


def root_of(covariance: np.ndarray) -> np.ndarray:
    """R with ``R R' = covariance``, (..., k, k), which may be of deficient rank."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0))[..., None, :])


def draw_normal(covariance: np.ndarray, repeat: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Draws with covariance matrices (..., k, k), perhaps of deficient rank: (..., *repeat, k)."""
    root = root_of(covariance)
    extra = (slice(None),) * (covariance.ndim - 2) + (None,) * len(repeat)
    normal = rng.standard_normal((*covariance.shape[:-2], *repeat, covariance.shape[-1]))
    return np.einsum("...ij,...j->...i", root[extra], normal)
