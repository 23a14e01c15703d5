"""Models are data: read from TOML, checked, changed by copy."""

from types import SimpleNamespace

import pymc as pm
import pytest

from bayes_bias.errors import SpecError
from bayes_bias.files import shipped
from bayes_bias.models.spec import Prior, load_spec, spec_names
from tests.helpers import refused

CROSSED = (shipped("models") / "crossed.toml").read_text(encoding="utf-8")


def test_built_in_models_load_and_cite_doi():
    assert {"crossed", "crossed-long", "robust", "hierarchical"} <= set(spec_names())
    for name in spec_names():
        assert load_spec(name).reference.doi.startswith("10.")


def test_crossed_long_has_priors_of_crossed():
    collapsed, long = load_spec("crossed"), load_spec("crossed-long")
    shared = {name: prior for name, prior in collapsed.priors.items() if "replicate" not in name}
    assert shared == long.priors  # the long form has no replicates
    assert (collapsed.options["likelihood"], long.options["likelihood"]) == ("collapsed", "long")


def test_robust_differs_from_crossed_long_in_residual_only():
    """A term that a model lacks leaves no trace in its hash: records made before there was such a term stay valid."""
    robust, long = load_spec("robust"), load_spec("crossed-long")
    assert str(robust.priors["nu"]) == "Gamma(alpha=2, beta=0.1)"
    assert robust.without_prior("nu").sha256 == long.sha256 != robust.sha256


def test_load_spec_reads_differences_from_base(tmp_path):
    crossed, mine = load_spec("crossed"), tmp_path / "mine.toml"
    mine.write_text('base = "crossed"\nscales = "by class"')
    assert load_spec(mine).sha256 == crossed.with_option("scales", "by class").sha256
    mine.write_text('base = "crossed"\n[priors.sd_residual]\ndistribution = "Exponential"\nlam = 2')
    assert load_spec(mine).sha256 == crossed.with_prior("sd_residual", "Exponential", lam=2).sha256
    for text, named in (('base = "crosed"', "base 'crosed' crossed"), ('base = "crossed"\npriors = 3', "priors 3")):
        mine.write_text(text)
        with refused(SpecError, named):
            load_spec(mine)


def test_spec_raises_for_collapsed_likelihood_with_nu():
    message = "[priors.nu] likelihood = 'long' nu"
    with refused(SpecError, message):
        load_spec("robust").with_option("likelihood", "collapsed")
    with refused(SpecError, message):
        load_spec("crossed").with_prior("nu", "Gamma", alpha=2, beta=0.1)


def test_with_prior_returns_copy_and_keeps_original():
    spec = load_spec("crossed")
    changed = spec.with_prior("sd_residual", "Exponential", lam=10)
    assert str(changed.priors["sd_residual"]) == "Exponential(lam=10)"
    assert str(spec.priors["sd_residual"]) == "HalfNormal(sigma=1.65)"
    assert spec.sha256 != changed.sha256


def test_load_spec_reads_changed_prior_from_file(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(CROSSED.replace("lam = 1.8", "lam = 1.5"))
    assert str(load_spec(path).priors["sd_target_control"]) == "Exponential(lam=1.5)"
    assert load_spec(path).name == "mine"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"HalfNormal"', '"HalfNormale"', "'HalfNormale' 'HalfNormal'"),
        ('distribution = "Exponential"', 'distribution = "Normal"', "'Normal'"),
        ("lam = 2.5", "rate = 2.5", "'rate' lam"),
        ("lam = 2.5", "", "'lam' missing"),
        ("lam = 2.5", "lam = -2.5", "'lam' FromVectors -2.5"),
        ("lam = 2.5", 'lam = "wide"', "'wide'"),
        ('unit = "own within-block sd"', 'unit = "cosine"', "unit 'cosine' as measured own within-block sd"),
        ("[priors.sd_target]", "[priors.mean]", "'mean' nu sd_residual"),
        ("[priors.sd_target]", "[priors.sd_targets]", "'sd_targets' 'sd_target"),
        ('structure = "crossed"', 'structure = "crosed"', "structure 'crosed' 'crossed'"),
        ('scales = "by group and class"', 'scales = "by clas"', "scales 'by clas' 'by class'"),
        ("title =", "titel =", "'titel' 'title'"),
        ("title =", "title", "TOML"),
    ],
)
def test_load_spec_raises_for_invalid_entries(tmp_path, old, new, message):
    path = tmp_path / "slip.toml"
    path.write_text(CROSSED.replace(old, new, 1))
    with refused(SpecError, message):
        load_spec(path)


def test_load_spec_raises_without_required_prior(tmp_path):
    path = tmp_path / "short.toml"
    path.write_text(CROSSED[: CROSSED.index("[priors.sd_residual]")])
    with refused(SpecError, "'sd_residual' [priors.sd_residual]"):
        load_spec(path)


def test_load_spec_suggests_nearest_name_for_unknown_model():
    with refused(SpecError, "'crossed'"):
        load_spec("crosed")


@pytest.mark.parametrize(
    ("distribution", "written"),
    [
        (pm.Gamma.dist(alpha=2, beta=4), "Gamma(alpha=2, beta=4)"),
        (pm.Gamma.dist(mu=2, sigma=1), "Gamma(alpha=4, beta=2)"),
        (pm.HalfStudentT.dist(3, 0.5), "HalfStudentT(nu=3, sigma=0.5)"),
        (pm.Exponential.dist(scale=0.5), "Exponential(lam=2)"),
        (pm.TruncatedNormal.dist(mu=0.4, sigma=0.3, lower=0), "TruncatedNormal(mu=0.4, sigma=0.3, lower=0)"),
        (SimpleNamespace(to_pymc=lambda: pm.Weibull.dist(2, 0.5)), "Weibull(alpha=2, beta=0.5)"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_with_prior_reads_pymc_distribution_with_equal_density(distribution, written):
    """As an object of PyMC, or one that becomes it as PreliZ's do; what is written gives the same density."""
    prior = load_spec("crossed").with_prior("sd_residual", distribution).priors["sd_residual"]
    assert str(prior) == written
    read = Prior.parse(written)
    given = distribution.to_pymc() if isinstance(distribution, SimpleNamespace) else distribution
    again = getattr(pm, read.distribution).dist(**read.parameters)
    assert pm.logp(again, 0.7).eval() == pytest.approx(pm.logp(given, 0.7).eval(), rel=1e-5)


@pytest.mark.parametrize(
    ("distribution", "parameters", "words"),
    [
        ("Gama", {}, "'Gama' 'Gamma'"),
        ("SkewNormal", {"mu": 0, "sigma": 1, "alpha": 1}, "SkewNormal zero"),
        ("MvNormal", {"mu": 0, "cov": 1}, "MvNormal"),
        ("Weibull", {"alpha": 1, "gamma": 1}, "Weibull gamma"),
        ("Triangular", {"lower": 0, "upper": 0.2, "c": 1}, "Triangular upper"),
        (pm.Poisson.dist(3), {}, "name numbers"),
        (pm.Gamma.dist([1, 2], 1), {}, "name numbers"),
        (3, {}, "int pm.Gamma.dist"),
    ],
    ids=str,
)
def test_with_prior_raises_for_unsuitable_distribution(distribution, parameters, words):
    with refused(SpecError, f"crossed [priors.sd_residual] {words}"):
        load_spec("crossed").with_prior("sd_residual", distribution, **parameters)
