"""The posterior of a bias by numerical integration, beside the sampler and dense integration."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import integrate, stats

import bayes_bias as bb
from bayes_bias.associations.related import CategoryWords, general_words_of
from bayes_bias.checks.null_jobs import Cell, judge, judge_by_weat
from bayes_bias.checks.null_lists import NullDesign
from bayes_bias.embeddings.opening import open_embedding
from bayes_bias.errors import TableError
from bayes_bias.fitting.sampling import Sampling
from bayes_bias.models.spec import BY_CLASS, BY_GROUP, load_spec
from bayes_bias.posterior.quadrature import Integrand, _contrasts, chance, integrated, integrated_bias
from bayes_bias.posterior.summary import chance as chance_of
from bayes_bias.posterior.variance_grids import Grid
from bayes_bias.posterior.vectors import integrand_of_vectors
from bayes_bias.posterior.verdict import _label, verdict_of_table
from bayes_bias.table.bias_weights import bias_weights
from bayes_bias.table.scopes import scope_of
from bayes_bias.words.wordlist import load_wordlist
from tests.helpers import SHORT, sampled_bias

SPEC = load_spec("crossed")
LONG = Sampling(draws=1500, tune=500, chains=4)
# Differences of two groups of words, of three, and of lists of unequal length.
LISTS = ("weat7", "gender", "religion")


def integrand_of(table, scope="both"):
    spec, data = integrated(table, SPEC)
    return Integrand.of(spec, data, scope_of(scope))


@pytest.fixture(scope="module")
def embedding():
    return open_embedding("googlenews-demo")


@pytest.mark.slow
@pytest.mark.parametrize("name", LISTS)
def test_integrated_verdict_matches_sampled_verdict(name, embedding):
    table = bb.cosines(name, embedding)
    fit = bb.fit(table, sampling=LONG)
    for scope in ("both", "targets"):
        without, sampled = bb.verdict(table, scope), sampled_bias(fit, scope)
        width = sampled.eti95_ub - sampled.eti95_lb
        label = _label(chance_of(float(sampled.prob_direction)), 0.05, scope)
        assert without.label == label
        assert without.mean == pytest.approx(sampled["mean"], abs=1e-9)
        # The sampler's own error is about .002.
        assert without.prob_direction == pytest.approx(sampled.prob_direction, abs=0.002)
        assert without.lower == pytest.approx(sampled.eti95_lb, abs=0.012 * width)
        assert without.upper == pytest.approx(sampled.eti95_ub, abs=0.012 * width)


@pytest.mark.slow
def test_fit_and_table_have_the_same_bias_and_interval(embedding):
    """A fit with other draws, or another seed, has the same numbers."""
    table = bb.cosines("weat7", embedding)
    expected = bb.verdict(table)
    for seed in (1, 2):
        fit = bb.fit(table, seed=seed, sampling=SHORT)
        found, row = bb.verdict(fit), bb.summarize(fit, words=False).loc[("bias", "overall")]
        assert found.text == expected.text
        numbers = (row["mean"], row.eti95_lb, row.eti95_ub, row.prob_direction)
        assert numbers == pytest.approx((expected.mean, expected.lower, expected.upper, expected.prob_direction))
        assert sampled_bias(fit).eti95_lb != pytest.approx(expected.lower, rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(("groups", "classes"), [((4, 6), (6, 4)), ((8, 8), (4, 6))])
def test_integrated_verdict_matches_sampled_verdict_for_unequal_lengths(groups, classes, embedding):
    """The level of a word is informative about its preferences, because the residuals of its means have unequal
    variances."""
    words = load_wordlist("weat8")
    cut = replace(
        words,
        groups={name: own[:n] for (name, own), n in zip(words.groups.items(), groups, strict=True)},
        classes={name: own[:n] for (name, own), n in zip(words.classes.items(), classes, strict=True)},
    )
    table = bb.cosines(cut, embedding, ())
    without, sampled = bb.verdict(table), sampled_bias(bb.fit(table, sampling=LONG))
    width = sampled.eti95_ub - sampled.eti95_lb
    assert without.prob_direction == pytest.approx(sampled.prob_direction, abs=0.0025)
    assert without.lower == pytest.approx(sampled.eti95_lb, abs=0.012 * width)
    assert without.upper == pytest.approx(sampled.eti95_ub, abs=0.012 * width)


@pytest.mark.parametrize("opposite", [(4.0, 3.0, 4.0), (6.0, 4.0), (5.0, 5.0)])
def test_contrasts_given_level_are_independent_of_level(opposite):
    """The covariance of a word's means is written out: its level, its preferences, and residuals."""
    k, level_variance, preference_variance, residual = len(opposite), 0.7, 0.3, 0.9
    noise = residual * np.diag(1 / np.array(opposite))
    level = np.full(k, k**-0.5)
    zero_sum = np.eye(k) - np.outer(level, level)
    covariance = level_variance * np.outer(level, level) + preference_variance * zero_sum + noise
    contrasts, variances = _contrasts(np.array(opposite), residual / (level @ covariance @ level))
    np.testing.assert_allclose(contrasts @ covariance @ level, 0, atol=1e-12)
    expected = preference_variance * np.eye(k - 1) + residual * np.diag(variances)
    np.testing.assert_allclose(contrasts @ covariance @ contrasts.T, expected, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("scales", ["by class", "common"])
def test_integrated_verdict_matches_sampled_verdict_with_shared_scales(scales, embedding):
    table, spec = bb.cosines("weat7", embedding, ()), SPEC.with_option("scales", scales)
    without, sampled = verdict_of_table(table, model=spec), sampled_bias(bb.fit(table, spec, sampling=LONG))
    width = sampled.eti95_ub - sampled.eti95_lb
    assert without.prob_direction == pytest.approx(sampled.prob_direction, abs=0.002)
    assert without.lower == pytest.approx(sampled.eti95_lb, abs=0.012 * width)
    with pytest.raises(TableError, match="needs a sampler"):  # controls tell the scale of all classes
        verdict_of_table(bb.cosines("weat7", embedding), model=SPEC.with_option("scales", "common"))


def test_mean_variance_equals_dense_integration(small_table):
    """Given the residual, the variances are independent: two nested integrals give the mean of their sum."""
    integrand = integrand_of(small_table)
    residual = integrand.residual_squares / integrand.residual_df
    words = [each for side in integrand.sides for each in side.variances(residual)]
    # Preferences of both groups and both classes, and their levels.
    assert [each.prior.distribution for each in words] == 2 * (2 * ["Exponential"] + 2 * ["HalfNormal"])

    squares, unit = integrand.residual_squares.item(), integrand.residual_unit.item()
    typical = np.sqrt(squares / integrand.residual_df)
    residual_sd = np.linspace(0.4, 2.5, 301)[:, None] * typical
    e = residual_sd**2
    density = e ** (-integrand.residual_df / 2) * np.exp(-squares / (2 * e))
    scale = integrand.residual_prior.parameters["sigma"] * unit
    density = (density * stats.halfnorm(scale=scale).pdf(residual_sd)).ravel()
    mean_variance = integrand.residual_weight * e.ravel()
    for each in words:
        parameters, unit = each.prior.parameters, each.unit.item()
        if "lam" in parameters:
            prior = stats.expon(scale=unit / parameters["lam"])
        else:
            prior = stats.halfnorm(0, unit * parameters["sigma"])
        sd = np.linspace(0, prior.isf(1e-7), 6001)
        variance = each.loading * sd**2 + each.noise[0, 0] * e
        likelihood = variance ** (-each.df[0] / 2) * np.exp(-each.squares[0, 0] / (2 * variance))
        posterior = prior.pdf(sd) * likelihood
        marginal = integrate.simpson(posterior, x=sd, axis=1)
        mean_variance = (
            mean_variance + sum(each.weights.values()) * integrate.simpson(sd**2 * posterior, x=sd, axis=1) / marginal
        )
        density = density * marginal / marginal.max()
    grid = residual_sd.ravel()
    expected = integrate.simpson(density * mean_variance, x=grid) / integrate.simpson(density, x=grid)
    assert integrand.variances(Grid(points=4096)).mean() == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(("name", "scales"), [*((name, BY_GROUP) for name in LISTS), ("gender", BY_CLASS)])
def test_integrand_of_vectors_matches_variances_of_table(name, scales, embedding):
    table = bb.cosines(name, embedding, ())
    spec, data = integrated(table, SPEC.with_option("scales", scales))
    general = general_words_of(embedding).without(load_wordlist(name))

    def categories_of(names, dim, coordinate):
        belongs_to = table.values[coordinate].to_numpy()
        words = [table.values[dim].to_numpy()[belongs_to == category] for category in names]
        rows = [general.rows([table.vectors[word] for word in own]) for own in words]
        return [CategoryWords(category[None], general.profiles(category)[None]) for category in rows]

    groups = categories_of(table.groups, "target", "group")
    classes = categories_of(table.associated_classes, "attribute", "attribute_class")
    plain = integrand_of_vectors(groups, classes, bias_weights(data).to_numpy()[0], general, spec)
    # A table rounds what vectors tell to six digits, and cosines have 32 bits.
    from_table = Integrand.of(spec, data, scope_of("both"))
    np.testing.assert_allclose(plain.variances(), from_table.variances(), rtol=1e-4)


@pytest.mark.parametrize("sub_topics", ["from vectors", "independent", "exhaustive"])
@pytest.mark.parametrize("random", ["attributes", "targets", "both"])
def test_null_on_arrays_matches_null_as_table(random, sub_topics, embedding):
    words = load_wordlist("weat7").with_sub_topics(sub_topics)
    design = NullDesign.of(words, embedding, random=random).with_planted(0.01)
    cell = Cell(design, (SPEC,))
    assert cell.is_plain
    weat, *posterior = cell.judge(3, 4)
    table = design.draw(cell.seed, 3)
    assert weat["p_value"] == judge_by_weat(table, seed=3)["p_value"]
    for plain, from_table in zip(posterior, judge(table, SPEC, truth=0.01), strict=True):
        assert plain["scope"] == from_table["scope"]
        assert plain["mean"] == pytest.approx(from_table["mean"], abs=1e-7)
        for column in ("p_value", "rank"):
            assert plain[column] == pytest.approx(from_table[column], abs=0.003)
        assert plain["sd"] == pytest.approx(from_table["sd"], rel=0.01)


def test_verdict_of_table_raises_for_very_different_lengths(embedding):
    words = load_wordlist("weat7")
    cut = replace(words, groups={"math": words.groups["math"][:4], "arts": words.groups["arts"]})
    with pytest.raises(TableError, match=r"needs a sampler.*very different lengths"):
        bb.verdict(bb.cosines(cut, embedding, ()))
    assert not Cell(NullDesign.of(cut, embedding), (SPEC,)).is_plain
    assert Cell(NullDesign.of(words, embedding), (SPEC,)).is_plain


def test_null_cell_raises_for_single_words(embedding):
    words = load_wordlist("weat7")
    single = replace(words, classes={name: own[:1] for name, own in words.classes.items()})
    with pytest.raises(TableError, match="single word"):
        Cell(NullDesign.of(single, embedding), (SPEC,)).judge(1, 2)


def test_integrated_verdict_is_equal_for_same_table(small_table):
    first, second = bb.verdict(small_table), bb.verdict(small_table)
    assert (first.lower, first.upper, first.chance) == (second.lower, second.upper, second.chance)


def test_integrated_variances_scale_with_units(small_table):
    table = small_table.without_controls()
    larger = replace(table, values=100 * table.values)
    in_cosines, in_percent = integrand_of(table), integrand_of(larger)
    np.testing.assert_allclose(in_percent.variances(), 1e4 * in_cosines.variances(), rtol=1e-9)


def test_raw_contrast_has_no_uncertainty(small_table):
    found = bb.verdict(small_table, "none")
    assert (found.label, found.mean) == ("raw contrast", pytest.approx(integrand_of(small_table).observed.item()))
    assert np.isnan([found.lower, found.upper]).all()


def test_scope_targets_omits_variance_of_attributes(small_table):
    both, targets = (integrand_of(small_table, scope).variances().mean() for scope in ("both", "targets"))
    assert targets < both


def test_integrated_bias_matches_chance_of_variances(small_table):
    spec, data = integrated(small_table, SPEC)
    estimate, integrand = integrated_bias(spec, data, "both"), integrand_of(small_table)
    expected = chance(integrand.variances(), integrand.observed)
    assert 2 * (1 - estimate.prob_direction[0]) == pytest.approx(expected)
    # The draws are those of the same posterior.
    assert float((estimate.draws < 0).mean()) == pytest.approx(float(estimate.mixture.below(0.0)[0]), abs=0.02)


def test_verdict_of_table_raises_for_replicates():
    table = bb.cosines("weat7", "minilm-demo", ())
    with pytest.raises(TableError, match=r"needs a sampler.*replicates.*bayes_bias.fit\(table\)"):
        bb.verdict(table)
