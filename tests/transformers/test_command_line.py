"""Folders of models on the command line: sentence pairs from sentences to page, and a masked model before and after."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.analyses.sentence_pairs.scoring import score as score_pairs
from bayes_bias.cli.main import main
from bayes_bias.debiasing import Debiasing, LinearProjection
from bayes_bias.files import table_file
from bayes_bias.language_models import load_masked
from bayes_bias.language_models.likelihoods import MaskedModel
from bayes_bias.table.combine_tables import difference, pair
from studies.known_bias.training import train_masked
from tests.helpers import says
from tests.transformers.conftest import Made

PAIRS = pd.read_csv(table_file("pairs-demo")).head(60)
# Of the sweeps here.
SETTINGS = """
lists = ["weat6"]
controls = []
posteriors = "none"
"""


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Two tiny BERTs, trained on the sentences themselves: one on the stereotypical ones, one on both."""
    made = tmp_path_factory.mktemp("models")
    more, less = PAIRS.sentence_more.tolist(), PAIRS.sentence_less.tolist()
    corpora = {"biased": [*more * 3, *less], "even": [*more, *less]}
    return tuple(str(train_masked(lines, made / name, epochs=5, width=16)) for name, lines in corpora.items())


def test_sentence_pairs_command_writes_scores_and_page(
    folders: tuple[str, str], from_priors: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    sentences, kept = tmp_path / "sentences.csv", tmp_path / "scores.csv"
    PAIRS.drop(columns=["score_more", "score_less"]).to_csv(sentences, index=False)
    arguments = ["--model", folders[0], "--after", folders[1], "--scores", kept, "--out", tmp_path / "out"]
    code, out = run(capsys, "sentence-pairs", sentences, *arguments)
    assert code == 0
    assert says(out, "stereotypical sentence")
    scores = pd.read_csv(kept)
    expected = score_pairs(load_masked(folders[0]), PAIRS)
    assert scores.score_more.to_numpy() == pytest.approx(expected.score_more.to_numpy(), abs=1e-5)
    assert (tmp_path / "out" / "index.html").is_file()


def test_compare_command_prints_masked_models_before_and_after(
    folders: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    sides = ["--before", folders[0], "--after", folders[1], "--masked", "--controls", "none"]
    code, out = run(capsys, "compare", "weat6", *sides)
    assert code == 0
    assert says(out, "nats before: biased after: even measure before: biased after: even")


def test_compare_command_writes_changes_of_masked_models_by_list(
    folders: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(bb, "sweep", partial(bb.sweep, posteriors="none", jobs=1))
    run(capsys, "wordlists", "weat6", "--copy", tmp_path / "own.toml")
    sides = ["--before", folders[0], "--after", folders[1], "--masked", "--controls", "none"]
    _, out = run(capsys, "compare", "weat6", tmp_path / "own.toml", *sides, "--out", tmp_path / "found")
    assert says(out, "of biased before after list before even weat6 own Changes versions of biased even weat6 own")
    tables = [bb.log_probabilities("weat6", folder, ()) for folder in folders]
    change = bb.measures.quasi_f(difference(*pair(*tables))).value
    assert pd.read_csv(tmp_path / "found" / "changes.csv").change.to_numpy() == pytest.approx([change, change])


def test_sweep_command_measures_encoders_and_replicated_files(
    folders: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    words = bb.load_wordlist("weat6").targets
    words = [*words, *bb.load_wordlist("weat6").attributes]
    for seed in (1, 2):
        vectors = np.random.default_rng(seed).standard_normal((len(words), 20))
        bb.save_vectors(dict(zip(words, vectors, strict=True)), tmp_path / f"seed-{seed}.npz")
    (tmp_path / "audit.toml").write_text(f"""{SETTINGS}
[[embeddings]]
name = "tiny"
encoder = "{folders[0]}"
templates = "noun-10"

[[embeddings]]
name = "trained"
files = "seed-*.npz"
replicates = "seed"

[[versions]]
name = "debiased"
method = "hard"
sets = "John:Amy,Paul:Joan"
""")
    run(capsys, "sweep", tmp_path / "audit.toml", "--out", tmp_path / "out", "--jobs", "1")
    cells = pd.read_csv(tmp_path / "out" / "cells.csv").set_index("embedding")
    assert set(cells.index) == {"tiny", "tiny, debiased", "trained", "trained, debiased"}
    asked = bb.measures.quasi_f(bb.cosines("weat6", bb.language_models.encode("weat6", folders[0], "noun-10"), ()))
    assert (cells.bias["tiny"], cells.sd["tiny"]) == pytest.approx((asked.value, asked.se), rel=1e-4)
    assert cells.bias.nunique() == 4


def test_sweep_command_measures_each_masked_model_once(
    folders: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    tables = f"""
[[embeddings]]
name = "one"
masked = "{folders[0]}"

[[embeddings]]
name = "other"
masked = "{folders[1]}"
"""
    spec, out = tmp_path / "audit.toml", tmp_path / "out"
    spec.write_text(f'lists = ["weat6"]\ncontrols = []\nposteriors = "none"\n{tables}')
    run(capsys, "sweep", spec, "--out", out, "--jobs", "1")
    cells = pd.read_csv(out / "cells.csv").set_index("embedding")
    asked = bb.measures.quasi_f(bb.log_probabilities("weat6", folders[1], ()))
    assert (cells.bias["other"], cells.sd["other"]) == pytest.approx((asked.value, asked.se))
    assert says((out / "index.html").read_text(), "models biased")
    monkeypatch.setattr(MaskedModel, "__call__", lambda *_: pytest.fail("asked again"))
    run(capsys, "sweep", spec, "--out", out, "--jobs", "1")


def test_sweep_command_writes_change_of_tuned_model(
    folders: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "audit.toml").write_text(f"""{SETTINGS}
[[embeddings]]
name = "BERT"
masked = "{folders[0]}"

[[embeddings.versions]]
name = "CDA"
masked = "{folders[1]}"
""")
    _, out = run(capsys, "sweep", tmp_path / "audit.toml", "--out", tmp_path / "out", "--jobs", "1")
    assert says(out, "Changes versions of BERT CDA weat6")
    (row,) = pd.read_csv(tmp_path / "out" / "changes.csv").itertuples()
    tables = [bb.log_probabilities("weat6", folder, ()) for folder in folders]
    change = bb.measures.quasi_f(difference(*pair(*tables)))
    assert (row.change, row.sd) == pytest.approx((change.value, change.se))


def test_sentdebias_matches_in_python_sweep_and_compare(
    made: Callable[[str], Made], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    """From Python, from a file of a sweep, and from `compare`, which all encode the words that it learns from."""
    folder = made("roberta").folder
    encoder = bb.language_models.encode("weat6", folder, "plain-10", also=["she", "he"])
    debiased = Debiasing(LinearProjection(), "she:he", "SentDebias").applied(encoder)
    before, after = bb.cosines("weat6", encoder, ()), bb.cosines("weat6", debiased, ())
    change = bb.measures.quasi_f(difference(*pair(before, after)))
    (tmp_path / "audit.toml").write_text(f"""{SETTINGS}
[[embeddings]]
name = "tiny"
encoder = "{folder}"
templates = "plain-10"

[[embeddings.versions]]
name = "SentDebias"
method = "linear-projection"
sets = "she:he"
""")
    run(capsys, "sweep", tmp_path / "audit.toml", "--out", tmp_path / "out", "--jobs", "1")
    (row,) = pd.read_csv(tmp_path / "out" / "changes.csv").itertuples()
    assert (row.change, row.sd) == pytest.approx((change.value, change.se), rel=1e-4)
    compared = []
    monkeypatch.setattr(bb, "compare", lambda *tables, **_: compared.extend(tables) or sys.exit(0))
    sides = ("--before", folder, "--after", "linear-projection", "--sets", "she:he", "--encoder")
    run(capsys, "compare", "weat6", *sides, "--templates", "plain-10", "--controls", "none")
    np.testing.assert_allclose(compared[1].values, after.values, atol=1e-6)


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    """Exit code and standard output of a command."""
    with pytest.raises(SystemExit) as left:
        main(list(map(str, arguments)))
    printed = capsys.readouterr()
    assert not left.value.code, printed.err
    return int(left.value.code or 0), printed.out
