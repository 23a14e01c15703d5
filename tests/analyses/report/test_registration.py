"""An analysis that is fixed before its results are known."""

import json

import pytest

import bayes_bias as bb
from bayes_bias.errors import BayesBiasError, OutputError
from tests.helpers import refused


@pytest.fixture(scope="module")
def plan() -> bb.Registration:
    return bb.register("weat7", "googlenews-demo", rope=0.01)


def test_register_records_words_hashes_and_rule_without_results(plan):
    weat7 = plan.lists["weat7"]
    assert weat7["groups"]["math"][:2] == ["math", "algebra"]
    assert weat7["controls"] == ["neutral", "human"]
    assert {"wordlist_sha256", "vectors_sha256", "table_sha256"} <= set(weat7)
    assert "below 5%" in plan.settings["decision_rule"]
    assert plan.settings["priors"]["sd_target"] == "HalfNormal(sigma=1.65)"


def test_registration_is_equal_after_saving_and_loading(plan, tmp_path):
    path = tmp_path / "plan.json"
    plan.save(path)
    loaded = bb.Registration.load(path)
    assert loaded.differences(plan).empty
    assert loaded.sha256 == plan.sha256
    with pytest.raises(OutputError, match="already exists"):
        plan.save(path)


def test_differences_name_changed_settings_words_and_lists(plan):
    other = bb.register(["weat7", "weat8"], "googlenews-demo", rope=0.02)
    found = plan.differences(other)
    assert found.values.tolist() == [["", "rope", "0.01", "0.02"], ["weat8", "list", "", "used"]]
    fewer = bb.load_wordlist("weat7")
    shorter = bb.register(bb.cosines(fewer, "googlenews-demo", ()), rope=0.01)
    assert {"controls", "classes", "table_sha256"} <= set(plan.differences(shorter).setting)


def test_load_rejects_other_files(tmp_path):
    path = tmp_path / "other.json"
    path.write_text(json.dumps({"settings": {}}))
    with refused(BayesBiasError, "other.json not registration bayes-bias register"):
        bb.Registration.load(path)
    with refused(BayesBiasError, "missing.json"):
        bb.report("weat7", registered=tmp_path / "missing.json")


@pytest.mark.slow
def test_report_lists_differences_from_its_registration(plan):
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
