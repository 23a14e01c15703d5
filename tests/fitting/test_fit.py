"""All fits come from one pipeline: the same groups and attributes, and a warning where one has not converged."""

import logging
import subprocess
import sys
import tempfile

import pandas as pd
import pytest

from bayes_bias import Sampling, cosines, fit, load_fit, pymc_model, save_fit, sentence_pairs, tpr_gaps
from bayes_bias.errors import TableError
from bayes_bias.fitting import fit as fit_module
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.fitting.fitted import Fitted
from tests.analyses.sentence_pairs.tables import simulated
from tests.helpers import refused, says

TOO_SHORT = Sampling(draws=40, tune=40, chains=2)
ATTRIBUTES = {
    *("name", "metric", "model", "structure", "options", "priors", "spec_sha256", "table_sha256", "notices"),
    *("versions", "seed", "draws", "tune", "chains", "target_accept", "diagnostics"),
}


def of_pairs():
    return sentence_pairs.estimate(simulated()[["item", "score_more", "score_less"]], sampling=TOO_SHORT).fits["share"]


def of_gaps():
    return tpr_gaps.estimate(data="tpr-demo", sampling=TOO_SHORT).fit


def of_correlation():
    gaps = tpr_gaps.estimate(data="tpr-demo", sampling=TOO_SHORT)
    classes = gaps.counts.classes
    words = pd.DataFrame({"class": classes, "bias": [0.1 * k for k in range(len(classes))], "sd": 0.1})
    return tpr_gaps.correlation(gaps, words, sampling=TOO_SHORT).fit


@pytest.mark.parametrize(("model", "is_slow"), [("robust", True), ("hierarchical", True), ("crossed", False)])
def test_fit_logs_notice_before_slow_model(model, is_slow, caplog, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(fit_module, "fit_model", stop)
    with pytest.raises(KeyboardInterrupt):
        fit(cosines("weat6", "googlenews-demo", controls=()), model)
    assert any(says(message, f"weat6 '{model}' 'crossed'") for message in caplog.messages) == is_slow


def test_fit_warns_about_groups_of_one_word(caplog, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(fit_module, "fit_model", stop)
    words = {"a=c": ["rose"], "b=d": ["ant", "bee"], "c": ["love", "peace"], "d": ["abuse", "crash"]}
    with pytest.raises(KeyboardInterrupt):
        fit(cosines(words, "googlenews-demo", controls=()))
    assert any(says(message, "wordlist 'both' (a) 'attributes'") for message in caplog.messages)
    with refused(TableError, "single word add"):
        fit(cosines({category: some[:1] for category, some in words.items()}, "googlenews-demo", controls=()))


@pytest.mark.thorough
@pytest.mark.slow
def test_fit_leaves_no_temporary_files(small_table, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for model in ("crossed", pymc_model(small_table)):
        fit(small_table, model, sampling=TOO_SHORT)
    assert not list(tmp_path.iterdir())


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.parametrize("fitted", [of_pairs, of_gaps, of_correlation])
def test_fits_of_all_analyses_have_groups_and_attributes(fitted, caplog, tmp_path):
    with caplog.at_level(logging.WARNING, "bayes_bias"):
        tree = fitted()
    assert {"posterior", "sample_stats", "constant_data"} <= set(tree.children)
    assert set(tree.attrs) >= ATTRIBUTES
    fit = Fitted.of(tree)
    assert not Diagnostics.of(fit).converged
    assert any("not converged" in message and fit.name in message for message in caplog.messages)
    again = Fitted.of(load_fit(save_fit(tree, tmp_path / "fit.nc")))
    assert again.spec.sha256 == fit.spec.sha256
    assert again.metric == fit.metric


@pytest.mark.slow
def test_fit_of_table_has_attributes(small_fit):
    assert set(small_fit.attrs) >= ATTRIBUTES


def test_fit_imports_no_plots_and_report_no_pymc():
    code = (
        "import sys, bayes_bias; bayes_bias.fit\n"
        "assert not {'pymc', 'pytensor', 'matplotlib', 'arviz_plots', 'scipy.cluster'} & sys.modules.keys()\n"
        "bayes_bias.report\n"
        "assert not {'pymc', 'pytensor'} & sys.modules.keys()\n"
        "import arviz, nutpie\n"
        "assert arviz.plot_forest.__module__.startswith('arviz_plots')\n"
        "assert sys.modules['nutpie.sample'].arviz.from_dict is arviz.from_dict"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
