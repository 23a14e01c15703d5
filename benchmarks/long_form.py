"""Replicates with every effect written out and sampled, beside the collapsed form: `python -m benchmarks.long_form`.

One table of 11 x 19 words in five replicates with shifts of their own. Exactness itself is tested
(`tests/models/test_replicates.py` holds the likelihood against the dense normal); this shows that what is sampled is
the same posterior. Some minutes, most of them compiling.
"""

from dataclasses import replace

import numpy as np
import nutpie
import pymc as pm
import pytensor.tensor as pt

from bayes_bias import AssociationTable, Sampling, fit, load_spec
from bayes_bias.models.components import BY_REPLICATE
from bayes_bias.models.fitted import Fitted
from bayes_bias.table.bias_weights import bias_weights
from bayes_bias.table.combining_replicates import combine_replicates
from benchmarks.provenance import provenance, write
from tests.helpers import random_table

REPLICATES = 5


def main() -> None:
    """Fit both forms and write their means and standard deviations side by side."""
    table = simulated()
    short = Fitted.of(fit(table, sampling=Sampling(draws=2000)))
    unit = float(short.data.within_sd)
    long = nutpie.sample(
        nutpie.compile_pymc_model(model(table, unit)),
        draws=1500,
        tune=1000,
        chains=4,
        seed=1,
        progress_bar=False,
        target_accept=0.95,
    )["posterior"].to_dataset()
    weights = bias_weights(short.data).isel(contrast=0, drop=True).to_numpy()
    one = {"bias": (short.posterior["mean"].to_numpy() * weights).sum(axis=(-1, -2))}
    other = {"bias": unit * (long["mean"].to_numpy() * weights).sum(axis=(-1, -2))}
    for name in load_spec("crossed").priors:
        if name in short.posterior and not short.posterior[name].dims[2:]:
            one[name], other[name] = short.posterior[name].to_numpy(), unit * long[name].to_numpy()
    rows = [
        {
            "parameter": name,
            **{f"{form}_mean": float(draws[name].mean()) for form, draws in forms(one, other)},
            **{f"{form}_sd": float(draws[name].std()) for form, draws in forms(one, other)},
        }
        for name in one
    ]
    for row in rows:
        print(*(f"{value:.4f}" if isinstance(value, float) else value for value in row.values()))
    write("long-form", provenance() | {"replicates": REPLICATES}, rows)


def forms(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> list[tuple[str, dict[str, np.ndarray]]]:
    """Both by name."""
    return [("collapsed", one), ("long", other)]


def simulated() -> AssociationTable:
    """Tables that share their words' effects and have shifts of their own."""
    rng, shared, tables = np.random.default_rng(4), random_table(1), {}
    for r in range(REPLICATES):
        shift = 0.02 * rng.standard_normal((2, 3))
        own = 0.02 * rng.standard_normal(shared.values.shape)
        moved = shared.values + shift[np.ix_(shared.group_index, shared.class_index)] + own
        tables[f"template {r}"] = replace(shared, values=moved)
    return combine_replicates(tables, "template")


def model(table: AssociationTable, unit: float) -> pm.Model:
    """Every effect of the default model, with its priors."""
    spec, y = load_spec("crossed"), (table.replicates.stacked() / unit).to_numpy()
    g, c, n_groups = table.group_index, table.class_index, len(table.groups)
    k, n_classes, n = len(table.associated_classes), len(table.classes), len(y)
    n_targets, n_attributes = table.values.shape
    contrast = {size: np.linalg.svd(np.ones((1, size)))[2][1:] for size in (n_groups, k)}
    contrast = {size: basis * np.sqrt(size / (size - 1)) for size, basis in contrast.items()}

    def effects(name: str, *shape: int) -> pt.TensorVariable:
        return pm.Normal(f"{name}_z", shape=shape)

    def sd(name: str, *shape: int) -> pt.TensorVariable:
        prior = spec.priors[name]
        return getattr(pm, prior.distribution)(name, **prior.parameters, shape=shape)

    def of_words(suffix: str, *r: int) -> pt.TensorVariable:
        """Effects of targets and attributes, (..., targets, attributes)."""
        level = effects("u" + suffix, *r, n_targets, 1) * sd("sd_target_associated" + suffix)
        own = effects("x" + suffix, *r, n_targets, k - 1) @ contrast[k]
        own = own * sd("sd_target_preference" + suffix)
        control = effects("d" + suffix, *r, n_targets, n_classes - k)
        control = control * sd("sd_target_control" + suffix, n_classes - k)
        everywhere = effects("a" + suffix, *r, n_targets, 1) * sd("sd_target" + suffix)
        of_target = everywhere + pt.concatenate([level + own, control], axis=-1)
        b = effects("b" + suffix, *r, n_attributes) * sd("sd_attribute" + suffix, n_classes)[c]
        w = effects("w" + suffix, *r, n_attributes, n_groups - 1) @ contrast[n_groups]
        w = w * sd("sd_attribute_preference" + suffix, n_classes)[c][:, None]
        return of_target[..., c] + pt.swapaxes(b[..., None] + w, -1, -2)[..., g, :]

    def of_replicates() -> pt.TensorVariable:
        """Effects of replicates on blocks, (replicates, groups, classes)."""
        level = effects("r", n, 1, 1) * sd("sd_replicate")
        of_group = effects("rg", n, 1, n_groups - 1) @ contrast[n_groups] * sd("sd_replicate_group")
        of_class = effects("rc", n, 1, k - 1) @ contrast[k] * sd("sd_replicate_class")
        both = contrast[n_groups].T @ effects("rp", n, n_groups - 1, k - 1) @ contrast[k]
        control = effects("rz", n, 1, n_classes - k) * sd("sd_replicate_control")
        of_both = contrast[n_groups].T @ effects("rzg", n, n_groups - 1, n_classes - k)
        parts = [of_class + both * sd("sd_replicate_preference"), control + of_both * sd("sd_replicate_control_group")]
        return level + pt.swapaxes(of_group, -1, -2) + pt.concatenate(parts, axis=-1)

    with pm.Model() as found:
        mean = pm.Flat("mean", shape=(n_groups, n_classes))
        pairs = effects("e", n_targets, n_attributes) * sd("sd_residual")
        expected = mean[g][:, c] + of_words("") + pairs + of_words(BY_REPLICATE, n)
        expected = expected + of_replicates()[:, g][:, :, c]
        pm.Normal("y", expected, sd("sd_residual" + BY_REPLICATE), observed=y)
    return found


if __name__ == "__main__":
    main()
