"""From embedding to debiased file to comparison, as a user does it."""

import re

import numpy as np
import pytest

from bayes_bias import open_embedding
from bayes_bias.embeddings import check_vectors_path, save_vectors
from bayes_bias.errors import OutputError, WordListError
from bayes_bias.words.defining_sets import DebiasSets, read_debias_sets
from tests.helpers import changed, equalised, random_table

PAIRS = "she:he,woman:man"


@pytest.mark.parametrize("suffix", [".npz", ".txt"])
def test_saved_vectors_are_read_back_and_by_gensim_too(tmp_path, suffix):
    vectors = {"he": np.array([0.6, 0.8]), "crème_brûlée": np.array([-1.0, 1e-8])}
    path = save_vectors(vectors, tmp_path / f"vectors{suffix}")
    found = open_embedding(path).find(vectors)
    assert list(found) == list(vectors)
    assert all(found[word] == pytest.approx(vectors[word], rel=1e-6) for word in vectors)
    assert list(tmp_path.iterdir()) == [path]
    if suffix == ".txt":
        from gensim.models import KeyedVectors

        assert KeyedVectors.load_word2vec_format(path).key_to_index.keys() == vectors.keys()


def test_no_vectors_are_written_where_they_cannot_be(tmp_path):
    with pytest.raises(OutputError, match=r"ends in '\.bin'; vectors are written as \.npz"):
        check_vectors_path(tmp_path / "vectors.bin")
    with pytest.raises(OutputError, match="make it first"):
        check_vectors_path(tmp_path / "no" / "vectors.npz")
    with pytest.raises(OutputError, match="cannot hold the word 'New York'"):
        save_vectors({"New York": np.ones(2)}, tmp_path / "vectors.txt")
    assert list(tmp_path.iterdir()) == []


def test_sets_are_read_from_text_and_from_a_file(tmp_path):
    assert read_debias_sets("she:he, woman : man").defining_sets == (("she", "he"), ("woman", "man"))
    file = tmp_path / "faith.toml"
    file.write_text(
        'defining_sets = [["church", "mosque", "synagogue"]]\n'
        'equalize_sets = [["priest", "imam", "rabbi"]]\n'
        'specific = ["bible"]\n'
    )
    told = read_debias_sets(file)
    assert told == DebiasSets(
        (("church", "mosque", "synagogue"),), (("priest", "imam", "rabbi"),), ("bible",)
    )
    assert told.words[-1] == "bible"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('definig_sets = [["a", "b"]]', "did you mean 'defining_sets'"),
        ("specific = ['a']", "has no defining sets"),
        ('defining_sets = "she:he"', "is no list of sets"),
        ('defining_sets = ["she", "he"]', "where a list of words is needed"),
        ('defining_sets = [["she"]]', "a set of 1 word"),
        ('defining_sets = [["she", "she"]]', "lists 'she' twice"),
        ("defining_sets = [", "not valid TOML"),
    ],
)
def test_a_wrong_file_of_sets_is_one_clear_line(tmp_path, text, message):
    file = tmp_path / "sets.toml"
    file.write_text(text)
    with pytest.raises(WordListError, match=re.escape(message)):
        read_debias_sets(file)


def test_a_missing_file_and_a_single_word_are_refused(tmp_path):
    with pytest.raises(WordListError, match="no file"):
        read_debias_sets(tmp_path / "none.toml")
    with pytest.raises(WordListError, match="write them as she:he,woman:man"):
        read_debias_sets("she,he")


def test_debiasing_from_the_command_line_takes_the_direction_out(run, tmp_path):
    path = tmp_path / "debiased.npz"
    code, out, _ = run("debias", "--sets", PAIRS, "--equalize", "--out", path)
    assert code == 0
    assert "2,663 vectors of unit length" in out
    vectors = open_embedding(path).find(["she", "he", "nurse"])
    assert vectors["nurse"] @ vectors["she"] == pytest.approx(vectors["nurse"] @ vectors["he"], abs=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("debias", "--sets", "shee:hee", "--out", "x.npz"), "have no vector: shee, hee"),
        (("debias", "--sets", PAIRS, "--out", "no/such/x.npz"), "make it first"),
        (("debias", "--sets", PAIRS, "--out", "x.npz", "--components", "9"), "components: 9 asked for"),
        (("compare", "--before", "a.npz", "--after", "b.npz"), "needs a word list"),
        (
            ("compare", "weat6", "--before", "googlenews-demo", "--after", "googlenews-demo"),
            "nothing changed",
        ),
        (("measures", "weat6", "--sets", "she:hee"), "left out: Direct Bias"),
    ],
)
def test_errors_are_one_line(run, monkeypatch, tmp_path, arguments, message):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(*arguments, *(("--no-posterior",) if arguments[0] == "measures" else ()))
    assert message in err + out
    assert code == (0 if arguments[0] == "measures" else 2)
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_two_tables_of_cosines_are_compared(run, small_fit, tmp_path):
    before = random_table()
    for name, table in {"before": before, "after": equalised(changed(before, -0.05))}.items():
        table.to_frame().to_csv(tmp_path / f"{name}.csv", index=False)
    code, out, _ = run(
        *("compare", "--before", tmp_path / "before.csv", "--after", tmp_path / "after.csv"),
        *("--stereotype", "men=work", "--stereotype", "women=home", "--out", tmp_path / "found"),
    )
    assert code == 0
    assert "by construction" in out
    assert "gWEAT" in out
    assert "zero by construction" in (tmp_path / "found" / "comparison.html").read_text(encoding="utf-8")
    assert (tmp_path / "found" / "change.csv").read_text().startswith("estimand,label,mean")


def test_all_measures_stand_beside_the_posterior(run, small_fit, tmp_path):
    random_table().to_frame().to_csv(tmp_path / "small.csv", index=False)
    stereotypes = ("--stereotype", "men=work", "--stereotype", "women=home")
    code, out, _ = run("measures", tmp_path / "small.csv", *stereotypes)
    assert code == 0
    rows = [line.split("│")[1].strip() for line in out.splitlines() if line.startswith("│")]
    assert rows[:3] == ["WEAT", "WEFAT", "gWEAT"]
    assert rows[-1] == "posterior effect size (targets)"
    assert "left out: SAME: vectors: none given" in out
    csv = run("measures", tmp_path / "small.csv", *stereotypes, "--no-posterior", "--csv")[1]
    assert csv.splitlines()[0] == "measure,value,b0,low,high,p_value,lower,upper"
