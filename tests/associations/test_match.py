"""Words under another spelling stand for those of a list when that is asked for, are named, and never stand for two."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayes_bias import cosines, load_wordlist, open_embedding
from bayes_bias.associations.coverage import lookup
from bayes_bias.errors import CoverageError, EmbeddingError
from tests.helpers import containing, random_vectors, refused, says

WORDS = {"men=work": ["John", "José"], "women=home": ["Amy", "Zoé"], "work": ["boss", "Job"], "home": ["baby", "Kid"]}
LOWER = random_vectors(3, ["john", "jose", "amy", "zoe", "boss", "job", "baby", "kid"])
ASKED = dict(zip(["John", "José", "Amy", "Zoé", "boss", "Job", "baby", "Kid"], LOWER.values(), strict=True))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the list in l.csv, and vectors in v.npz and v.txt."""
    pd.DataFrame(WORDS).to_csv(tmp_path / "l.csv", index=False)
    np.savez(tmp_path / "v.npz", words=list(LOWER), vectors=np.stack(list(LOWER.values())))
    pd.DataFrame(LOWER).T.to_csv(tmp_path / "v.txt", sep=" ", header=False)
    return tmp_path


def found(match: str, vectors=LOWER, words=WORDS) -> dict[str, np.ndarray]:
    return lookup(open_embedding(vectors, match=match), load_wordlist(words))[0]


@pytest.mark.parametrize(
    ("match", "also"), [("exact", ""), ("case", "John Amy Job Kid"), ("accents", "John José Amy Zoé Job Kid")]
)
def test_match_finds_only_allowed_spellings(match, also):
    assert set(found(match)) == {"boss", "baby", *also.split()}


def test_cosines_with_match_equals_cosines_of_matched_spelling(folder):
    true = cosines(WORDS, ASKED, controls=())
    for source in (LOWER, folder / "v.txt", folder / "v.npz"):
        table = cosines(WORDS, open_embedding(source, match="accents"), controls=())
        assert np.allclose(table.values, true.values, atol=1e-6)
        assert says(" ".join(table.notices), "'john' for 'John' 'jose' for 'José' match")
        row = table.coverage.set_index("name").loc["men"]
        assert (row.respelt, row.missing, row.found) == ("John: john; José: jose", "", 2)
        assert not containing(table.notices, "for 'boss'")


@pytest.mark.parametrize("match", ["exact", "case", "accents"])
def test_notice_offers_no_spelling_that_another_word_uses(match):
    words = {**WORDS, "work": ["boss", "Boss", "desk"]}
    _, coverage = lookup(open_embedding({**LOWER, "desk": np.ones(6)}, match=match), load_wordlist(words))
    (notice,) = containing(coverage.notices(), "'work'", "not in")
    assert notice == "class 'work': 1 of 3 words not in embedding: Boss (but: boss)"


def test_match_uses_each_vector_for_one_word():
    words = {**WORDS, "work": ["May", "may", "MAY"]}
    vectors = {**LOWER, "may": np.ones(6), "mAY": 2 * np.ones(6)}
    read = found("case", vectors, words)
    assert {"may", "May"} <= set(read)
    assert "MAY" not in read
    _, coverage = lookup(open_embedding(vectors, match="case"), load_wordlist(words))
    part = next(part for part in coverage.parts if part.name == "work")
    assert part.respelt == {"May": "mAY"}
    assert part.missing == ("MAY",)


def test_coverage_error_suggests_working_match():
    for words, match in ((WORDS, "case"), ({**WORDS, "men=work": ["José", "Renée"]}, "accents")):
        vectors = {**LOWER, "renee": np.ones(6)}
        with refused(CoverageError, f"match='{match}' (--match {match})"):
            cosines(words, vectors, controls=())
        names = [name for name in words["men=work"] if name in found(match, vectors, words)]
        assert len(names) == (1 if match == "case" else 2)
    table = cosines(WORDS, {**LOWER, "John": np.ones(6), "Amy": np.ones(6)}, controls=(), allow_loss=True)
    assert containing(table.notices, "match='case'")


def test_weat_command_applies_match_and_prints_spellings(run, folder):
    given = ["weat", str(folder / "l.csv"), "-e", str(folder / "v.npz")]
    code, _, err = run(*given)
    assert code == 2
    assert says(err, "--match case")
    code, _, err = run(*given, "--match", "accents")
    assert code == 0
    assert says(err, "'jose' for 'José'")
    for wrong, words in (
        (["--match", "cases"], "'cases' Did you mean 'case'"),
        (["--match", "case", "--encoder", "x"], "--match vectors"),
    ):
        code, _, err = run(*given[:2], *wrong)
        assert code == 2
        assert says(err, words)


def test_sweep_command_reads_match_from_file_or_option(run, folder):
    spec = 'lists = "l.csv"\nposteriors = "none"\ncontrols = []\n[[embeddings]]\nfiles = "v.npz"\n'
    (folder / "exact.toml").write_text(spec)
    (folder / "accents.toml").write_text(f'match = "accents"\n{spec}')
    figures = ("--figures", "none", "--jobs", "1")
    for file, more, found in (
        ("exact", (), "--match case"),
        ("accents", (), "José"),
        ("exact", ("--match", "accents"), "José"),
    ):
        out = folder / f"{file}{len(more)}"
        code, said, err = run("sweep", folder / f"{file}.toml", "--out", out, *figures, *more)
        assert code == 0
        assert found in " ".join((said + err).split())
        assert ("failed" in said) == (found == "--match case")
        assert ("John: john" in (out / "coverage.csv").read_text()) == (found != "--match case")


@pytest.mark.slow
def test_compare_command_matches_spellings_of_sides_and_sets(run, folder):
    sides = ("--before", folder / "v.npz", "--after", "hard", "--sets", "Amy:John")
    quick = ("--controls", "none", "--draws", "100", "--chains", "2", "--match", "accents")
    code, _, err = run("compare", folder / "l.csv", *sides, *quick)
    assert code == 0
    assert says(err, "v has 'john' for 'John' sets v has 'amy' for 'Amy' v, hard has 'john'")


def test_cosines_matches_further_words_with_notice():
    table = cosines(
        {**WORDS, "men=work": ["John"], "women=home": ["Amy"]},
        open_embedding(LOWER, match="case"),
        controls=(),
        also=["Kid", "JOSE"],
    )
    assert np.allclose(table.vectors["JOSE"], LOWER["jose"] / np.linalg.norm(LOWER["jose"]))
    assert says(" ".join(table.notices), "'jose' for 'JOSE' match")


def test_excerpt_of_replicates_keeps_match():
    first = open_embedding(LOWER, name="1")
    second = open_embedding({word: 2 * vector for word, vector in LOWER.items()}, name="2")
    both = open_embedding([first, second], kind="seed", match="accents")
    read = lookup(both.excerpt(["José", "boss"]), load_wordlist(WORDS))[0]
    assert set(read) == {"José", "boss"}
    assert read["José"].shape == (2, 6)


@pytest.mark.gensim
def test_cosines_uses_fasttext_subwords_when_requested(tmp_path):
    from gensim.models import FastText
    from gensim.models.fasttext import save_facebook_model

    sentences = [["john", "boss", "job"], ["amy", "baby", "kid"]] * 30
    model = FastText(sentences, vector_size=8, min_count=1, epochs=2, bucket=500, seed=1, workers=1)
    save_facebook_model(model, str(tmp_path / "m.bin"))
    with refused(EmbeddingError, "m.bin trust=True --trust .vec"):
        open_embedding(tmp_path / "m.bin")
    words = {
        "men=work": ["john", "johnny"],
        "women=home": ["amy", "amys"],
        "work": ["boss", "job"],
        "home": ["baby", "kid"],
    }
    for source in (model, model.wv, tmp_path / "m.bin"):
        assert "johnny" not in lookup(open_embedding(source, trust=True), load_wordlist(words))[0]
        table = cosines(words, open_embedding(source, trust=True, match="subwords"), controls=())
        cosine = model.wv.similarity("johnny", "boss")
        assert float(table.values.sel(target="johnny", attribute="boss")) == pytest.approx(cosine, abs=1e-5)
        assert says(" ".join(table.notices), "1 of 2 no vector subwords johnny")
        assert table.coverage.set_index("name").loc["men"].from_subwords == "johnny"


def test_open_embedding_raises_for_subwords_of_other_vectors():
    with refused(EmbeddingError, "match 'subwords' embedding none fastText .bin"):
        open_embedding(LOWER, match="subwords")


@pytest.mark.gensim
def test_open_embedding_raises_for_damaged_fasttext_file(tmp_path):
    (tmp_path / "m.bin").write_bytes((793712314).to_bytes(4, "little") + b"\x0c\x00")
    with refused(EmbeddingError, "m.bin damaged fastText"):
        open_embedding(tmp_path / "m.bin", trust=True)
