"""Words of debiasing sets without a vector: named all at once, and left out when that is asked for."""

from dataclasses import replace

import numpy as np
import pytest

from bayes_bias import cosines, open_embedding
from bayes_bias.debiasing.debias_hard import HardDebias
from bayes_bias.debiasing.debiased_embedding import Debiasing, taught_words
from bayes_bias.errors import EmbeddingError, MeasureError, WordListError
from bayes_bias.words.defining_sets import read_debias_sets
from tests.helpers import random_vectors, refused, says, stacked

WORDS = ["she", "he", "woman", "man", "mother", "father", "nurse", "queen", "church", "mosque"]
VECTORS = random_vectors(4, WORDS)
KNOWN = {"defining_sets": [["she", "he"], ["woman", "man"]], "equalize_sets": [["mother", "father"]]}
LACKING = {
    "defining_sets": [["she", "he"], ["gal", "guy"], ["woman", "man"], ["Mary", "man"]],
    "equalize_sets": [["monk", "nun"], ["mother", "father"]],
    "specific": ["queen", "king"],
}


def debiased(sets, **options):
    return Debiasing(HardDebias(equalize=True), sets, **options).applied(open_embedding(VECTORS)).all()


def test_debiasing_raises_with_all_missing_words():
    with refused(MeasureError, "5 words of 3 of 6 sets: gal, guy, Mary, monk, nun skip_missing=True --skip-missing"):
        debiased(LACKING)


def test_skip_missing_matches_debiasing_with_complete_sets(caplog):
    left, known = debiased(LACKING, skip_missing=True), debiased(KNOWN | {"specific": ["queen"]})
    np.testing.assert_array_equal(stacked(left, VECTORS), stacked(known, VECTORS))
    assert says(caplog.text, "gal, guy, Mary, monk, nun omitted")


def test_debias_sets_without_keeps_remaining_two_words():
    sets = read_debias_sets([["church", "mosque", "synagogue"], ["she", "gal"]])
    assert sets.without(["synagogue", "gal"]).defining_sets == (("church", "mosque"),)
    with refused(WordListError, "no defining set"):
        sets.without(["synagogue", "gal", "mosque"])


@pytest.mark.parametrize("form", ["toml", "json"])
def test_debias_command_suggests_and_applies_skip_missing(run, tmp_path, form):
    np.savez(tmp_path / "v.npz", words=list(VECTORS), vectors=np.stack(list(VECTORS.values())))
    pairs = '[["she", "he"], ["gal", "guy"], ["woman", "man"]]'
    (tmp_path / f"sets.{form}").write_text(f"defining_sets = {pairs}" if form == "toml" else pairs)
    command = ["debias", "--sets", str(tmp_path / f"sets.{form}"), "-e", str(tmp_path / "v.npz")]
    command += ["--out", str(tmp_path / "out.npz")]
    code, _, err = run(*command)
    assert (code, says(err, "gal, guy --skip-missing")) == (2, True)
    assert not (tmp_path / "out.npz").exists()
    assert run(*command, "--skip-missing")[0] == 0
    assert len(open_embedding(tmp_path / "out.npz").vocabulary()) == len(VECTORS)


SPELT = {
    "defining_sets": [["She", "HE"], ["woman", "man"]],
    "equalize_sets": [["Mothér", "father"]],
    "specific": ["Queen"],
    "groups": [["She", "woman"], ["HE", "man"]],
}


def test_debiasing_matches_spellings_of_sets(caplog):
    with refused(MeasureError, "3 words She (but: she) HE (but: he) match='case' (--match case)"):
        debiased(SPELT)
    method = HardDebias(equalize=True)
    spelt = Debiasing(method, SPELT).applied(open_embedding(VECTORS, match="accents"))
    known = Debiasing(method, KNOWN | {"specific": ["queen"]}).applied(open_embedding(VECTORS, match="exact")).all()
    np.testing.assert_array_equal(stacked(spelt.all(), known), stacked(known, known))
    assert says(caplog.text, "sets 'she' for 'She' 'he' for 'HE' 'mother' for 'Mothér' match")
    words = {"a": ["she", "Woman"], "b": ["HE", "man"], "c": ["nurse", "Queen"], "d": ["church", "mosque"]}
    stated = {"a=c": words["a"], "b=d": words["b"], "c": words["c"], "d": words["d"]}
    assert taught_words(cosines(stated, spelt, controls=())) == ["she", "Woman", "HE", "man", "Queen"]


def test_debiasing_raises_for_subword_vectors():
    with refused(EmbeddingError, "match 'subwords' 'case'"):
        Debiasing(HardDebias(), KNOWN).applied(replace(open_embedding(VECTORS), match="subwords"))


def test_debias_command_suggests_and_applies_match(run, tmp_path):
    np.savez(tmp_path / "v.npz", words=list(VECTORS), vectors=np.stack(list(VECTORS.values())))
    command = ["debias", "--sets", "She:he,woman:man", "-e", str(tmp_path / "v.npz"), "--out", str(tmp_path / "o.npz")]
    code, _, err = run(*command)
    assert (code, says(err, "--match case")) == (2, True)
    code, out, err = run(*command, "--match", "case")
    assert code == 0
    assert says(err, "'she' for 'She'")
    assert says(out, "compare --match case")
