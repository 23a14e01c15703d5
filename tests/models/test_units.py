"""Priors of the scales of one group, or class, are in units of how much its own words vary."""

import numpy as np
import pymc as pm
import pytest

from bayes_bias import load_spec, pymc_model
from bayes_bias.models.scales import unit_of, units_of_priors
from bayes_bias.models.structures import build_model, structure_of
from bayes_bias.table.association_table import assemble
from tests.helpers import numbered, random_table, untransformed_density
from tests.models.test_replicates import replicated_table

LEVELS = ("target_z", "target_associated_z", "attribute_z")
TABLES = {"controls": random_table, "replicates": lambda: replicated_table(1, [3, 4], [4, 5], 6, 3)}


def leaning(men: float):
    """Eight women and eight men who lean to one class or the other, the men more strongly by this factor. The women's
    means with a class have a variance of one, and nothing else varies."""
    lean = np.array([1, -1] * 4) * np.sqrt(7 / 8)
    towards = np.repeat([1, -1], 8)
    values = np.concatenate([np.outer(lean, towards), np.outer(men * lean, towards)])
    targets = dict.fromkeys(numbered("women ", 8), "women") | dict.fromkeys(numbered("men ", 8), "men")
    attributes = dict.fromkeys(numbered("work ", 8), "work") | dict.fromkeys(numbered("home ", 8), "home")
    return assemble(values, targets, attributes, {"women": "home", "men": "work"})


@pytest.mark.parametrize("likelihood", ["collapsed", "long"])
@pytest.mark.parametrize("name", TABLES)
def test_build_model_density_matches_pymc_model_up_to_constant(name, likelihood):
    table, spec = TABLES[name](), load_spec("crossed").with_option("likelihood", likelihood)
    data = structure_of(spec).data(table)
    built, pymc_form = build_model(spec, data), pymc_model(table, spec, marginal=likelihood == "collapsed")
    assert {bool(np.ptp(unit)) for unit in units_of_priors(spec, data).values()} == {True, False}
    density = untransformed_density(built, without=["block_mean"])
    density_in_units = untransformed_density(pymc_form, without=["block_mean"])
    draws = pm.draw(built.free_RVs, 3, random_seed=1, mode="FAST_COMPILE")
    differences = []
    for k in range(3):
        drawn, in_units = {}, {}
        for variable, values in zip(built.free_RVs, draws, strict=True):
            name, value = variable.name, values[k]
            drawn[name] = value
            # Scales are in units of the priors in both, and levels of words are not.
            unit = unit_of(spec, data) if name in (*LEVELS, "block_mean") else 1.0
            in_units[name + "_z" * (name.startswith("sd_") and name[-2:] != "_z")] = unit * value
        if "block_mean" in drawn:
            in_units["block_mean"] += data.block_mean.to_numpy()
        differences.append(density(drawn) - density_in_units(in_units))
    # Inputs are rounded to ten digits.
    assert np.ptp(differences) < 1e-4 < abs(density(drawn))


@pytest.mark.parametrize("men", [1.0, 0.1, 3.0])
def test_group_within_sd_shrinks_towards_pooled_sd(men):
    """It has seven degrees of freedom, and the pooled one counts as one more."""
    data = structure_of(load_spec("crossed")).data(leaning(men))
    own = (data.group_within_sd / data.within_sd).to_numpy() ** 2
    pooled = (1 + men**2) / 2
    assert own == pytest.approx((7 * np.array([1, men**2]) / pooled + 1) / 8)


def test_group_within_sd_equals_table_sd_for_single_word():
    data = structure_of(load_spec("crossed")).data(random_table(targets={"men": 1, "women": 6}))
    assert data.group_within_sd.to_numpy() == pytest.approx(data.within_sd.item())
