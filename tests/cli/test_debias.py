"""From embedding to debiased file to comparison, as a user does it."""

import sys
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest

import bayes_bias
from bayes_bias import cosines, open_embedding, save_vectors
from bayes_bias.debiasing import LEACE, Debiasing, GivenVersion, HardDebias, damage, make_debiaser
from bayes_bias.debiasing.debiased_embedding import taught_words
from bayes_bias.embeddings.embedding import Excerpt
from bayes_bias.embeddings.word_vectors import unit_rows
from bayes_bias.errors import BayesBiasError
from bayes_bias.formatting import signed
from bayes_bias.measures import weat
from bayes_bias.table.combine_tables import pair
from bayes_bias.table.files import table_rows
from tests.helpers import changed, equalised, random_table, says

PAIRS = "she:he,woman:man"
SEVERAL = ("compare", "weat6,weat7", "--before", "googlenews-demo")


def test_debias_command_removes_direction(run, tmp_path):
    path = tmp_path / "debiased.npz"
    code, out, _ = run("debias", "--sets", PAIRS, "--setting", "equalize=true", "--out", path)
    assert code == 0
    assert says(out, "vectors 2,663")
    assert damage(open_embedding("googlenews-demo").all(), open_embedding(path).all()).text in " ".join(out.split())
    vectors = open_embedding(path).find(["she", "he", "nurse"])
    assert vectors["nurse"] @ vectors["she"] == pytest.approx(vectors["nurse"] @ vectors["he"], abs=1e-6)


def test_debias_command_debiases_each_replicate(run, tmp_path):
    rng = np.random.default_rng(1)
    seeds = [{word: rng.normal(size=5) for word in ("she", "he", "woman", "man", "nurse")} for _ in range(2)]
    members = [open_embedding(vectors, name=f"seed {n}") for n, vectors in enumerate(seeds)]
    save_vectors(open_embedding(members, kind="seed"), tmp_path / "seeds.npz")
    code, _, _ = run(
        *("debias", "--embedding", tmp_path / "seeds.npz", "--sets", PAIRS, "--out", tmp_path / "after.npz")
    )
    assert code == 0
    after = open_embedding(tmp_path / "after.npz")
    assert (after.replicates, after.kind) == (("seed 0", "seed 1"), "seed")
    expected = [HardDebias().fit_transform(vectors, PAIRS)["nurse"] for vectors in seeds]
    np.testing.assert_allclose(unit_rows(after.all()["nurse"]), expected, atol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("debias", "--sets", "shee:hee", "--out", "x.npz"), "set shee hee"),
        (("debias", "--sets", PAIRS, "--out", "no/such/x.npz"), "no/such"),
        (("debias", "--sets", PAIRS, "--out", "x.npz", "--setting", "components=9"), "components 9"),
        (("debias", "--sets", PAIRS, "--out", "x.npz", "--setting", "components"), "components value"),
        (("debias", "--sets", PAIRS, "--out", "x.npz", "--setting", "equalise=true"), "equalise equalize"),
        (("debias", "--sets", PAIRS, "--out", "x.npz", "--method", "hrad"), "hrad hard"),
        (("compare", "--before", "a.npz", "--after", "b.npz"), "word list"),
        (("compare", "weat6", "--before", "googlenews-demo", "--after", "googlenews-demo"), "no change to estimate"),
        (("compare", "weat6", "--before", "googlenews-demo", "--after", "hard"), "--after 'hard' --sets"),
        (("compare", "weat6", "--before", "a", "--after", "b.npz", "--setting", "k=1"), "--setting 'k' 'b.npz' hard"),
        (
            ("compare", "weat6", "--before", "a", "--after", "hard", "--sets", PAIRS, "--setting", "k=1"),
            "--after 'hard' 'k' components",
        ),
        (("compare", "weat6", "--before", "googlenews-demo", "--after", "hrd", "--sets", PAIRS), "'hrd' method 'hard'"),
        ((*SEVERAL, "--after", "hard", "--after", "leac", "--sets", PAIRS), "'leac' method 'leace'"),
        (("compare", "--before", "a", "--after", "hard", "--after", "leace", "--sets", PAIRS), "LIST missing 2"),
        ((*SEVERAL, "--after", "hard", "--sets", PAIRS, "--rope", "0.1"), "--rope"),
        ((*SEVERAL, "--after", "hard", "--sets", PAIRS, "--allow-unlike"), "--allow-unlike"),
        ((*SEVERAL, "--after", "b", "--masked", "--damage"), "--damage vocabulary"),
        ((*SEVERAL, "--after", "googlenews-demo", "--sets", PAIRS), "--sets"),
        ((*SEVERAL, "--after", "hard", "--after", "leace", "--sets", PAIRS, "--setting", "k=1"), "--setting 'k' 2"),
        ((*SEVERAL, "--after", "hard", "--after", "hard", "--sets", PAIRS), "embeddings twice 'googlenews-demo, hard'"),
        (("debias", "--sets", PAIRS, "--out", "x.npz", "--method", "oscar"), "oscar independent"),
        (("debias", "--sets", PAIRS, "--out", "x.npz", "--method", "inlp"), "iterations 35 groups"),
        (("debias", "--sets", PAIRS, "--out", "x.npz", "--method", "leace", "--setting", "shrink=true"), "shrinkage"),
    ],
)
def test_commands_print_one_line_error_for_invalid_debiasing(run, monkeypatch, tmp_path, arguments, message):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    *_, last = err.splitlines()  # after progress and notes
    assert last.startswith("error: ")
    assert err.count("error: ") == 1
    assert says(last, message)
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_measures_command_reports_omitted_direct_bias_for_unknown_set(run):
    code, out, err = run("measures", "weat6", "--sets", "she:hee", "--word-draws", "0", "--no-posterior")
    assert code == 0
    assert "Traceback" not in err
    assert says(err + out, "omitted Direct Bias")


def test_compare_after_vocabulary_method_matches_debiased_file(run, tmp_path, monkeypatch):
    """`compare --after METHOD` reads a list's words alone, unless the method learns from all others too."""
    compared = []
    monkeypatch.setattr("bayes_bias.compare", lambda before, after, **_: compared.append(after) or sys.exit(0))
    method = ("--sets", PAIRS, "--setting", "components=2", "--setting", "most_biased=50")
    run("debias", "--method", "double-hard", *method, "--out", tmp_path / "after.npz")
    run("compare", "gender", "--before", "googlenews-demo", "--after", "double-hard", *method)
    np.testing.assert_allclose(compared[0].values, cosines("gender", tmp_path / "after.npz").values, atol=1e-6)
    assert {"he", "she"} <= {*taught_words(compared[0])}


@pytest.mark.slow
def test_compare_command_matches_debiased_weat_and_prints_ratings(run, tmp_path):
    (tmp_path / "rated.txt").write_text("".join(f"{word} doctor {k}\n" for k, word in enumerate(["he", "nurse"] * 5)))
    code, out, _ = run(
        *("compare", "gender", "--before", "googlenews-demo", "--after", "hard", "--sets", PAIRS),
        *("--draws", "250", "--chains", "2", "--ratings", tmp_path / "rated.txt"),
    )
    assert code == 0
    assert says(out, "learned he she neighbours kept rated.txt 10 pairs")
    debiased = HardDebias().fit_transform(open_embedding("googlenews-demo").all(), PAIRS)
    (after,) = (line for line in out.splitlines() if line.startswith("│ after"))
    assert signed(weat(cosines("gender", debiased)).difference / 2, 3) in after


def test_compare_command_ranks_lists_and_versions_like_sweep(run, tmp_path, monkeypatch):
    """By the quasi-F alone, which needs no sampling; as `sweep` of the same versions."""
    screened = partial(bayes_bias.sweep, posteriors="none", jobs=1)
    monkeypatch.setattr("bayes_bias.sweep", screened)
    run("debias", "--sets", PAIRS, "--out", tmp_path / "theirs.npz")
    after = ("--after", "leace", "--after", tmp_path / "theirs.npz")
    sides = ("--before", "googlenews-demo", *after, "--sets", PAIRS, "--controls", "none", "--damage")
    code, out, _ = run("compare", "weat6,weat7", "gender", *sides, "--out", tmp_path / "found")
    assert code == 0
    assert says(out, "list before leace theirs weat6 weat7 gender removed rank leace theirs")
    assert says(out, "removed leace: neighbours kept variance theirs: neighbours kept variance")
    versions = [
        Debiasing(LEACE(), PAIRS, "leace"),
        GivenVersion(tmp_path / "theirs.npz", "theirs", of="googlenews-demo"),
    ]
    found = screened(bayes_bias.Grid(["weat6", "weat7", "gender"], controls=()), versions=versions)
    written = pd.read_csv(tmp_path / "found" / "changes.csv", index_col=["embedding", "version", "list"])
    pd.testing.assert_series_equal(written.change, found.changes.change)
    pd.testing.assert_series_equal(written.chance_holm, found.changes.chance_holm)


def test_compare_command_writes_report_of_two_tables(run, sampled, sketched, tmp_path):
    before = random_table()
    for name, table in {"before": before, "after": equalised(changed(before, -0.05))}.items():
        table_rows(table).to_csv(tmp_path / f"{name}.csv", index=False)
    code, out, _ = run(
        *("compare", "--before", tmp_path / "before.csv", "--after", tmp_path / "after.csv"),
        *("--out", tmp_path / "found", "--figures", "svg", "--rope", "0.1"),
    )
    assert code == 0
    assert "by construction" in out
    assert "gWEAT" in out
    assert "negligible" in out
    assert says((tmp_path / "found" / "index.html").read_text(encoding="utf-8"), "construction")
    assert (tmp_path / "found" / "change.csv").read_text().startswith("estimand,label,mean")


def test_measures_command_prints_measures_and_posterior(run, sampled, tmp_path):
    table_rows(random_table()).to_csv(tmp_path / "small.csv", index=False)
    code, out, _ = run("measures", tmp_path / "small.csv", "--word-draws", "0")
    assert code == 0
    rows = [line.split("│")[1].strip() for line in out.splitlines() if line.startswith("│")]
    classical = ["WEAT", "quasi-F", "REML", "min F'", "pigeonhole bootstrap"]
    assert rows[:5] == classical
    assert rows[5].startswith("ML-EAT")
    assert rows[-1] == "posterior effect size (targets)"
    assert says(out, "SAME vectors")
    csv = run("measures", tmp_path / "small.csv", "--no-posterior", "--csv", "--word-draws", "0")[1]
    assert csv.splitlines()[0] == "measure,value,b0,low,high,p_value,ci95_lb,ci95_ub"


@pytest.mark.parametrize("method", ["hard", "linear-projection", "soft"])
def test_compare_command_omits_notice_on_general_words_after_debiasing(run, monkeypatch, method):
    """The file has 2,000 of them, and a comparison uses the sub-topics before."""
    compared = []

    def compare(before, after, **options):
        compared.extend([before, after])
        raise BayesBiasError("enough is known")

    monkeypatch.setattr(bayes_bias, "compare", compare)
    _, out, err = run("compare", "weat7", "--before", "googlenews-demo", "--after", method, "--sets", PAIRS)
    assert "enough is known" in err
    assert "general words" not in out + err
    assert (out + err).count("the effective number of its") == 4  # by the vectors before alone
    before, after = pair(*compared)
    assert (after.values.target_inflation == before.values.target_inflation).all()
    expected = cosines("weat7", Debiasing(make_debiaser(method, {}), PAIRS).applied(open_embedding("googlenews-demo")))
    np.testing.assert_allclose(after.values, expected.values, atol=1e-6)


@pytest.mark.parametrize(("name", "related"), [("googlenews-demo", "math"), ("minilm-demo", "arts")])
def test_debiased_embedding_keeps_general_words(caplog, name, related):
    debiased = Debiasing(HardDebias(), PAIRS).applied(open_embedding(name))
    table = cosines("weat7", debiased, ())
    assert debiased.pool() == open_embedding(name).pool()
    assert table.related_words.groups[related].inflation > 1  # 500 general words are needed to see it
    assert not any("general words" in notice for notice in (*table.notices, *caplog.messages))


@pytest.mark.parametrize("kind", ["template", "seed", ""])
@pytest.mark.parametrize("method", ["hard", "equalise", "ran"])
def test_stored_general_words_are_debiased_like_the_others(kind, method):
    encoder = open_embedding("minilm-demo")
    first = {word: rows[0] for word, rows in encoder.all().items()}
    general = {"other nurse": first["nurse"], "zero": np.zeros(encoder.dimensions)}
    reader = Excerpt(first, (), encoder.dimensions, general_words=general)
    embedding = replace(encoder, reader=reader, replicates=(), kind="")
    if kind:
        copies = {word: np.stack([vector, vector]) for word, vector in first.items()}
        reader = replace(reader, vectors=copies)
        embedding = replace(encoder, reader=reader, replicates=("This is {}.", "There is {}."), kind=kind)
    methods = {"hard": HardDebias(), "equalise": HardDebias(equalize=True), "ran": make_debiaser("ran", {})}
    debiased = Debiasing(methods[method], PAIRS).applied(embedding)
    (general_nurse,) = debiased.reader.general().values()
    nurse = np.atleast_2d(debiased.find(["nurse"])["nurse"])[0]
    np.testing.assert_allclose(general_nurse, nurse, atol=0.05 if method == "ran" else 1e-9)
    assert not np.allclose(general_nurse, first["nurse"])


@pytest.mark.parametrize("suffix", ["npz", "txt"])
def test_debiased_embedding_keeps_frequency_order_of_file(tmp_path, suffix):
    rng = np.random.default_rng(1)
    words = ["she", "he", *(f"w{k}" for k in range(600)), "woman", "man"]
    path = save_vectors({word: rng.normal(size=5) for word in words}, tmp_path / f"vectors.{suffix}")
    debiased = Debiasing(HardDebias(), PAIRS).applied(open_embedding(path))
    assert debiased.pool() == words
    assert debiased.reader.frequent_first
    given = Debiasing(HardDebias(), PAIRS).applied(open_embedding(open_embedding(path).all()))
    assert not given.reader.frequent_first  # a mapping has no order of frequency
