"""What is compiled has the density of the model that was written, and keeps its names and dims."""

import numpy as np
import pymc as pm
import pytest
from pymc.model.transform.optimization import freeze_dims_and_data

from bayes_bias.models.folded_scale import FoldedScale
from bayes_bias.models.joined_scales import with_joined_scales
from bayes_bias.models.model_spec import load_spec
from bayes_bias.models.structures import build_model
from bayes_bias.table.sufficient_statistics import sufficient_statistics

ALONE = {"sd_alone_folded__": 0.7, "sd_child_folded__": 0.4}
TOGETHER = {"sd_control": np.array([[0.2, 2.0]]), "sd_target": np.array([0.3, -1.1])}  # as PyMC orders them


@pytest.fixture(scope="module")
def model() -> pm.Model:
    """Two scales of one family, one of another, and one whose prior depends on a scale."""
    with pm.Model(coords={"group": ["a", "b"], "one": ["c"]}) as model:
        target = pm.Exponential("sd_target", 2.0, dims="group", default_transform=FoldedScale(1.0))
        control = pm.Exponential("sd_control", 4.0, dims=("one", "group"), default_transform=FoldedScale(0.05))
        alone = pm.HalfNormal("sd_alone", 1.65, default_transform=FoldedScale(1.0))
        pm.HalfNormal("sd_child", alone, default_transform=FoldedScale(1.0))
        pm.Normal("seen", 0, alone + target * control, observed=np.array([[0.4, -0.9]]))
    return freeze_dims_and_data(model)


def test_the_density_is_that_of_the_model(model):
    joined = with_joined_scales(model)
    apart = {f"{name}_folded__": values for name, values in TOGETHER.items()}
    together = {"sd_control_and_sd_target_z_folded__": np.concatenate([values.ravel() for values in TOGETHER.values()])}
    expected, found = (
        each.compile_logp(mode="FAST_COMPILE")(point | ALONE) for each, point in ((model, apart), (joined, together))
    )
    assert found == pytest.approx(expected, rel=1e-12)


def test_scales_keep_their_names_dims_and_values(model):
    joined = with_joined_scales(model)
    for name, dims in {"sd_target": ("group",), "sd_control": ("one", "group")}.items():
        assert tuple(joined.named_vars_to_dims[name]) == dims
        assert joined[name].type.shape == model[name].type.shape
    assert {each.name for each in joined.free_RVs} == {"sd_control_and_sd_target_z", "sd_alone", "sd_child"}


def test_a_scale_whose_prior_depends_on_another_stays_as_it_is(model):
    assert "sd_child" in {each.name for each in with_joined_scales(model).free_RVs}


def test_all_scales_of_the_default_model_are_two_vectors_but_for_the_residual(small_table):
    spec = load_spec("crossed")
    written = build_model(spec, sufficient_statistics(small_table))
    joined = with_joined_scales(freeze_dims_and_data(written, data=[]))
    assert sorted(each.name.count("_and_") for each in joined.free_RVs) == [0, 2, 2]
    assert {each.name for each in written.free_RVs} <= set(joined.named_vars)
