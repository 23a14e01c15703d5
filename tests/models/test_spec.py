"""Models are data: read from TOML, checked, changed by copy."""

import pytest

from bayes_bias.errors import SpecError
from bayes_bias.files import shipped
from bayes_bias.models.model_spec import load_spec, spec_names
from tests.helpers import refused

CROSSED = (shipped("models") / "crossed.toml").read_text(encoding="utf-8")


def test_every_shipped_model_loads_and_cites_its_source():
    assert {"crossed", "crossed-long", "robust", "hierarchical"} <= set(spec_names())
    for name in spec_names():
        assert load_spec(name).reference.doi.startswith("10.")


def test_the_long_form_has_the_priors_of_the_collapsed_one():
    collapsed, long = load_spec("crossed"), load_spec("crossed-long")
    shared = {name: prior for name, prior in collapsed.priors.items() if "replicate" not in name}
    assert shared == long.priors  # the long form has no replicates
    assert (collapsed.options["likelihood"], long.options["likelihood"]) == ("collapsed", "long")


def test_the_robust_model_is_the_long_form_but_for_its_residual():
    """A term that a model lacks leaves no trace in its hash: records made before there was such a term stay valid."""
    robust, long = load_spec("robust"), load_spec("crossed-long")
    assert str(robust.priors["nu"]) == "Gamma(alpha=2, beta=0.1)"
    assert robust.without_prior("nu").sha256 == long.sha256 != robust.sha256


def test_the_collapsed_likelihood_knows_only_normal_residuals():
    message = "[priors.nu] likelihood = 'long' nu"
    with refused(SpecError, message):
        load_spec("robust").with_option("likelihood", "collapsed")
    with refused(SpecError, message):
        load_spec("crossed").with_prior("nu", "Gamma", alpha=2, beta=0.1)


def test_a_copy_changes_and_the_original_stays():
    spec = load_spec("crossed")
    changed = spec.with_prior("sd_residual", "Exponential", lam=10)
    assert str(changed.priors["sd_residual"]) == "Exponential(lam=10)"
    assert str(spec.priors["sd_residual"]) == "HalfNormal(sigma=1.65)"
    assert spec.sha256 != changed.sha256


def test_a_copied_file_with_another_prior_works(tmp_path):
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
        ("lam = 2.5", "", "'lam' None"),
        ("lam = 2.5", "lam = -2.5", "'lam' Exponential -2.5"),
        ("lam = 2.5", 'lam = "wide"', "'wide'"),
        ('unit = "within-block sd"', 'unit = "cosine"', "unit 'cosine' as measured within-block sd"),
        ("[priors.sd_target]", "[priors.mean]", "'mean' nu sd_attribute"),
        ("[priors.sd_target]", "[priors.sd_targets]", "'sd_targets' 'sd_target"),
        ('structure = "crossed"', 'structure = "crosed"', "structure 'crosed' 'crossed'"),
        ('scales = "by class"', 'scales = "by clas"', "scales 'by clas' 'by class'"),
        ("title =", "titel =", "'titel' 'title'"),
        ("title =", "title", "TOML"),
    ],
)
def test_a_slip_in_the_file_is_named_with_its_remedy(tmp_path, old, new, message):
    path = tmp_path / "slip.toml"
    path.write_text(CROSSED.replace(old, new, 1))
    with refused(SpecError, message):
        load_spec(path)


def test_a_missing_prior_is_named(tmp_path):
    path = tmp_path / "short.toml"
    path.write_text(CROSSED[: CROSSED.index("[priors.sd_residual]")])
    with refused(SpecError, "'sd_residual' [priors.sd_residual]"):
        load_spec(path)


def test_an_unknown_model_brings_the_nearest():
    with refused(SpecError, "'crossed'"):
        load_spec("crosed")
