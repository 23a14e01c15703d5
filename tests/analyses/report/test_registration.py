"""An analysis that is fixed before its results are known."""

import json

import numpy as np
import pytest

import bayes_bias as bb
from bayes_bias.errors import BayesBiasError, OutputError
from tests.helpers import refused


@pytest.fixture(scope="module")
def plan() -> bb.Registration:
    return bb.register("weat7", "googlenews-demo", rope=0.01)


def test_register_records_words_hashes_and_rule_without_results(plan, tmp_path):
    weat7 = plan.lists["weat7"]
    assert weat7["groups"]["math"][:2] == ["math", "algebra"]
    assert weat7["controls"] == ["neutral", "human"]
    assert {"wordlist_sha256", "vectors_sha256", "table_sha256"} <= set(weat7)
    assert "below 5%" in plan.settings["decision_rule"]
    assert plan.settings["priors"]["sd_target"] == "HalfNormal(sigma=1.65)"
    # The only numbers in the file are those of its format and of settings.
    plan.save(tmp_path / "plan.json")
    numbers: list[str] = []
    json.loads((tmp_path / "plan.json").read_text(), parse_float=numbers.append, parse_int=numbers.append)
    named = ("ci_prob", "rope", "seed", "draws", "tune", "chains", "target_accept")
    assert sorted(map(float, numbers)) == sorted([1, *(plan.settings[name] for name in named)])
    assert plan.settings["rope"] == 0.01


def test_registration_is_equal_after_saving_and_loading(plan, tmp_path):
    path = tmp_path / "plan.json"
    plan.save(path)
    loaded = bb.Registration.load(path)
    assert loaded.differences(plan).empty
    assert loaded.sha256 == plan.sha256
    with pytest.raises(OutputError, match="already exists"):
        plan.save(path)


def test_differences_contain_changed_settings_words_and_lists(plan):
    changed = bb.register(["weat7", "weat8"], "googlenews-demo", rope=0.02)
    found = plan.differences(changed)
    assert found.values.tolist() == [["", "rope", "0.01", "0.02"], ["weat8", "list", "", "used"]]
    fewer = bb.load_wordlist("weat7")
    shorter = bb.register(bb.cosines(fewer, "googlenews-demo", ()), rope=0.01)
    assert {"controls", "classes", "table_sha256"} <= set(plan.differences(shorter).setting)


def test_register_stores_one_contrast_as_list():
    formula = "math - arts: male terms"
    single, several = (bb.register("weat7", contrasts=given) for given in (formula, [formula]))
    assert single.settings["contrasts"] == [formula]
    assert single.differences(several).empty


def test_register_matches_for_numpy_and_python_numbers(tmp_path):
    settings = {"ci_prob": np.float64(0.9), "rope": np.float32(1), "seed": np.int64(2)}
    with_numpy = bb.register("weat7", **settings, sampling=bb.Sampling(draws=np.int64(300)))
    with_python = bb.register("weat7", ci_prob=0.9, rope=1, seed=2, sampling=bb.Sampling(draws=300))
    assert with_numpy.sha256 == with_python.sha256
    assert with_numpy.differences(with_python).empty
    with_numpy.save(tmp_path / "plan.json")


def test_register_keeps_all_digits_of_priors():
    spec = bb.load_spec("crossed")
    first, second = (
        bb.register("weat7", model=spec.with_prior("sd_target", "HalfNormal", sigma=s)) for s in (1, 1.0000001)
    )
    assert set(first.differences(second).setting) == {"priors", "model_sha256"}


@pytest.mark.parametrize("registered", [5, {"settings": {}}])
def test_report_raises_for_invalid_registration(registered):
    with refused(BayesBiasError, f"`registered` {type(registered).__name__} bayes_bias.register file"):
        bb.report("weat7", registered=registered)


@pytest.mark.parametrize("content", [{}, {"settings": [], "lists": {}}, {"settings": {}, "lists": {"weat7": 1}}])
def test_report_raises_for_incomplete_registration_file(tmp_path, content):
    path = tmp_path / "plan.json"
    path.write_text(json.dumps({"bayes_bias_registration": 1, **content}))
    with refused(BayesBiasError, "plan.json incomplete 'settings' 'lists' bayes_bias.register"):
        bb.report("weat7", registered=path)


def test_registration_raises_for_other_or_missing_file(tmp_path):
    path = tmp_path / "other.json"
    path.write_text(json.dumps({"settings": {}}))
    with refused(BayesBiasError, "other.json not registration bayes-bias register"):
        bb.Registration.load(path)
    with refused(BayesBiasError, "missing.json"):
        bb.report("weat7", registered=tmp_path / "missing.json")


@pytest.mark.slow
def test_report_lists_differences_from_registration(plan):
    few = bb.Sampling(draws=150, tune=150, chains=2)
    kept = bb.register("weat7", "googlenews-demo", sampling=few)
    made = bb.report("weat7", sampling=few, calibration_draws=0, registered=kept)
    assert made.deviations.empty
    document = made.document()
    assert "All registered settings were kept." in document.methods.plain
    assert document.provenance["registration_sha256"] == kept.sha256
    differs = bb.report("weat7", sampling=few, calibration_draws=0, registered=plan)
    assert set(differs.deviations.setting) == {"rope", "draws", "tune", "chains"}
    assert "differs from the registration in rope" in differs.document().methods.plain
