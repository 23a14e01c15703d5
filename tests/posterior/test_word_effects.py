"""Effects of words, drawn from what the collapsed model leaves out: exactly theirs."""

import numpy as np
import pandas as pd
import xarray as xr

from bayes_bias import summarize, word_effects
from bayes_bias.errors import ScopeError
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.posterior.estimates import estimate_of
from bayes_bias.posterior.word_effects import compared_effects
from bayes_bias.table.labels import SIDES
from tests.helpers import SHORT, refused, says


def test_word_effects_and_means_add_to_block_means(small_fit):
    """Means, levels, effects and noise make up the observed block means: on average nothing is left over."""
    effects, data = word_effects(small_fit), small_fit["constant_data"]
    target_average = effects.target_effect.groupby(data.group_of).mean("target").rename(group_of="group")
    attribute_average = effects.attribute_effect.groupby(data.class_of).mean("attribute")
    attribute_average = attribute_average.rename(class_of="attribute_class")
    total = (
        small_fit["posterior"]["mean"].drop_vars(["group", "attribute_class"])
        + target_average.drop_vars(["group", "attribute_class"])
        + attribute_average.drop_vars(["group", "attribute_class"])
    )
    left = data.block_mean.drop_vars(["group", "attribute_class"]) - total
    residual = small_fit["posterior"].sd_residual.mean() / np.sqrt(5 * 5)
    assert abs(left.mean(("chain", "draw"))).max() < residual
    assert left.std(("chain", "draw")).max() < 2 * residual


def test_bias_of_fixed_words_adds_average_word_effects(small_fit):
    """Contrasts of blocks are computed without word effects, and yet agree with them to the last digit."""
    effects = word_effects(small_fit)
    to_men = effects.attribute_effect.sel(group="men").transpose("chain", "draw", ...)
    men_effects = effects.target_effect.transpose("chain", "draw", ...)[:, :, effects.target.str.startswith("men")]
    work, home = (to_men[:, :, effects.attribute.str.startswith(c)].mean("attribute") for c in ("work", "home"))
    target_difference = (men_effects.sel(attribute_class="work") - men_effects.sel(attribute_class="home")).mean(
        "target"
    )
    bias = {
        scope: estimate_of(small_fit, "group_bias", scope).draws.sel(contrast="men").transpose("chain", ...)
        for scope in ("both", "targets", "attributes")
    }
    np.testing.assert_allclose(bias["attributes"] - bias["both"], target_difference, atol=1e-12)
    np.testing.assert_allclose(bias["targets"] - bias["both"], work - home, atol=1e-12)


def test_summarize_omits_and_word_effects_rejects_too_many_words(small_fit, monkeypatch, caplog):
    whole = {scope: summarize(small_fit, scope) for scope in ("attributes", "none")}
    n_draws = SHORT.chains * SHORT.draws
    attributes = small_fit["constant_data"].attribute_mean.size * n_draws
    monkeypatch.setattr("bayes_bias.posterior.word_effects.MOST_NUMBERS", attributes - 1)
    left = summarize(small_fit, "attributes")
    assert says(caplog.text, f"attribute_bias omitted 19 attributes {n_draws:,}")
    pd.testing.assert_frame_equal(left, whole["attributes"].drop("attribute_bias"))
    pd.testing.assert_frame_equal(summarize(small_fit, "none"), whole["none"])
    with refused(ScopeError, "19 attributes scope='none'"):
        word_effects(small_fit)
    assert list(word_effects(small_fit, ["target"])) == ["target_effect"]


def test_compared_effects_equal_word_effects_without_controls(small_fit):
    effects, compared = word_effects(small_fit), compared_effects(Fitted.of(small_fit), SIDES)
    controls = ~effects.attribute.isin(compared.attribute)
    pairs = small_fit["observed_data"].association
    is_control = pairs.attribute.isin(effects.attribute[controls])
    assert set(pairs.attribute_class[is_control].to_numpy()) == {"neutral"}
    xr.testing.assert_identical(compared, effects.isel(attribute=~controls.to_numpy()))


def test_word_effects_are_equal_for_same_fit(small_fit):
    xr.testing.assert_identical(word_effects(small_fit), word_effects(small_fit))
