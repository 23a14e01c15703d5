"""Posteriors and scores in a folder: a stopped run loses none, and none is used for other data."""

from dataclasses import dataclass, field
from types import SimpleNamespace

import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.analyses.sentence_pairs import models
from bayes_bias.analyses.sentence_pairs.scoring import kept_scores
from bayes_bias.errors import OutputError
from tests.analyses.sentence_pairs.tables import simulated
from tests.analyses.sentence_pairs.test_scoring import CROWS, Counts
from tests.helpers import refused

FEW = bb.Sampling(draws=200, tune=200, chains=2, target_accept=0.8)
TABLE = simulated()[["item", "score_more", "score_less"]]


def test_estimate_reuses_kept_fits_for_same_call(from_priors, tmp_path, monkeypatch):
    fitted = models.fit_model
    calls = []

    def stopped_at_the_second(*arguments, **options):
        calls.append(arguments)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return fitted(*arguments, **options)

    def estimated(seed=1):
        return bb.sentence_pairs.estimate(TABLE, sampling=FEW, seed=seed, folder=tmp_path / "kept")

    monkeypatch.setattr(models, "fit_model", stopped_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        estimated()
    first = estimated()
    assert len(calls) == 3
    again = estimated()
    assert len(calls) == 3
    pd.testing.assert_frame_equal(again.table, first.table)
    estimated(seed=2)
    assert len(calls) == 5


def test_kept_scores_depend_on_model_files_and_sentences(tmp_path):
    scored = []

    @dataclass(frozen=True)
    class Opened(Counts):
        files: str = "of one"
        transformer: SimpleNamespace = field(default_factory=SimpleNamespace)

        def __post_init__(self):
            self.transformer.identity = lambda **settings: str([self.files, settings])

        def pseudo_log_likelihood(self, pairs):
            scored.append(self.files)
            return super().pseudo_log_likelihood(pairs)

    first = kept_scores(tmp_path, Opened(), CROWS, "pll")
    pd.testing.assert_frame_equal(kept_scores(tmp_path, Opened(), CROWS, "pll"), first)
    assert scored == ["of one"]
    kept_scores(tmp_path, Opened(files="of another"), CROWS, "pll")
    kept_scores(tmp_path, Opened(), CROWS[:1], "pll")
    assert scored == ["of one", "of another", "of one"]


def test_estimate_raises_for_file_as_folder(tmp_path):
    file = tmp_path / "file"
    file.write_text("mine")
    with refused(OutputError, "folder file"):
        bb.sentence_pairs.estimate(TABLE, folder=file)
