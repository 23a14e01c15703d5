"""Words of debiasing sets without a vector: named all at once, and left out when that is asked for."""

import numpy as np
import pytest

from bayes_bias import open_embedding
from bayes_bias.debiasing.debias_hard import HardDebias
from bayes_bias.debiasing.debiased_embedding import Debiasing
from bayes_bias.errors import MeasureError, WordListError
from bayes_bias.words.defining_sets import read_debias_sets
from tests.helpers import refused, says

RNG = np.random.default_rng(4)
WORDS = ["she", "he", "woman", "man", "mother", "father", "nurse", "queen", "church", "mosque"]
VECTORS = {word: RNG.normal(size=6) for word in WORDS}
KNOWN = {"defining_sets": [["she", "he"], ["woman", "man"]], "equalize_sets": [["mother", "father"]]}
LACKING = {
    "defining_sets": [["she", "he"], ["gal", "guy"], ["woman", "man"], ["Mary", "man"]],
    "equalize_sets": [["monk", "nun"], ["mother", "father"]],
    "specific": ["queen", "king"],
}


def debiased(sets, **options):
    return Debiasing(HardDebias(equalize=True), sets, **options).applied(open_embedding(VECTORS)).all()


def test_all_sets_that_lack_words_are_named_at_once():
    with refused(MeasureError, "5 words of 3 of 6 sets: gal, guy, Mary, monk, nun skip_missing=True --skip-missing"):
        debiased(LACKING)


def test_without_them_the_numbers_are_those_of_the_other_sets(caplog):
    left, known = debiased(LACKING, skip_missing=True), debiased(KNOWN | {"specific": ["queen"]})
    assert all(np.array_equal(left[word], known[word]) for word in VECTORS)
    assert says(caplog.text, "gal, guy, Mary, monk, nun left out")


def test_a_set_of_three_keeps_two_and_nothing_left_is_refused():
    sets = read_debias_sets([["church", "mosque", "synagogue"], ["she", "gal"]])
    assert sets.without(["synagogue", "gal"]).defining_sets == (("church", "mosque"),)
    with refused(WordListError, "sets no defining set"):
        sets.without(["synagogue", "gal", "mosque"])


@pytest.mark.parametrize("form", ["toml", "json"])
def test_the_command_follows_its_own_remedy(run, tmp_path, form):
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
