"""What a user may get wrong is answered with one line that names it and says what to do, before anything is sampled."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.documents.folder import check_folder
from bayes_bias.errors import (
    IN_TERMINAL,
    BayesBiasError,
    EmbeddingError,
    MeasureError,
    OutputError,
    ScopeError,
    SpecError,
    TableError,
    TprGapsError,
    WordListError,
)
from bayes_bias.files import shipped
from tests.helpers import numbered, random_table, refused, says

FIT = "fit `bayes_bias.fit` `load_fit`"
TABLE = "table `bayes_bias.cosines`"


ONE_WORD = """
groups = {x = ["math"], y = ["poetry", "art"]}
classes = {he = ["male", "man", "boy"], she = ["female", "woman", "girl"]}
stereotypes = {x = "he", y = "she"}
"""


@pytest.fixture
def table() -> bb.AssociationTable:
    return bb.cosines("weat6", "googlenews-demo", controls=())


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that are not what their names say, in the current folder."""
    monkeypatch.chdir(tmp_path)
    np.savez("keys.npz", **dict.fromkeys(numbered("w", 300), np.ones(3)))
    np.savez("whole.npz", words=np.array(["he", "she"]), vectors=np.eye(2))
    whole = Path("whole.npz").read_bytes()
    Path("half.npz").write_bytes(whole[: len(whole) // 2])
    Path("topics.toml").write_text(text("weat6") + "[topics.carer]\npay = ['salary']\n", encoding="utf-8")
    Path("pairs.toml").write_text("pairs = [['John', 'Paul']]\n" + text("weat6"), encoding="utf-8")
    Path("buried.toml").write_text(text("weat6") + "pairs = [['John', 'Amy']]\n", encoding="utf-8")
    for name in ("binary.toml", "binary.csv", "binary.nc", "binary.txt"):
        Path(name).write_bytes(bytes(range(129, 256)))
    Path("folder").mkdir()
    TINY.to_frame().to_csv("cosines.csv", index=False)
    Path("one.toml").write_text(ONE_WORD, encoding="utf-8")


def text(name: str) -> str:
    """A shipped list, as it stands in its file."""
    return shipped("wordlists").joinpath(f"{name}.toml").read_text(encoding="utf-8")


TINY = random_table()

CALLS: dict[str, tuple[Callable[[], object], type[BayesBiasError], str]] = {
    "a fit of a name": (lambda: bb.fit("weat7"), TableError, f"str {TABLE}"),
    "a fit of nothing": (lambda: bb.fit(None), TableError, f"None {TABLE}"),
    "summarize nothing": (lambda: bb.summarize(None), BayesBiasError, f"None {FIT}"),
    "summarize a path": (lambda: bb.summarize("fit.nc"), BayesBiasError, f"str {FIT}"),
    "verdict on nothing": (lambda: bb.verdict(None), BayesBiasError, f"None {FIT}"),
    "plan of nothing": (lambda: bb.plan(None, 0.02), BayesBiasError, f"None {FIT}"),
    "a plot of nothing": (lambda: bb.plots.plot_forest(None), BayesBiasError, f"None {FIT}"),
    "nothing saved": (lambda: bb.save_fit(None, "fit.nc"), BayesBiasError, f"None {FIT}"),
    "no vectors saved": (lambda: bb.save_vectors({}, "none.npz"), OutputError, "vectors"),
    "pages of nothing": (lambda: bb.write(None, "report"), OutputError, "None `report`"),
    "no draws": (lambda: bb.Sampling(draws=0), SpecError, "draws 0"),
    "draws in words": (lambda: bb.Sampling(draws="many"), SpecError, "draws 'many'"),
    "no chains": (lambda: bb.Sampling(chains=0), SpecError, "chains 0"),
    "acceptance above 1": (lambda: bb.Sampling(target_accept=2), SpecError, "accept 2"),
    "warm-up in words": (lambda: bb.Sampling(tune="long"), SpecError, "tune 'long'"),
    "acceptance in words": (lambda: bb.Sampling(target_accept="high"), SpecError, "accept 'high'"),
    "a number for sampling": (lambda: bb.fit(TINY, sampling=500), SpecError, "sampling 500"),
    "half a process": (lambda: bb.calibrate("weat6", "googlenews-demo", jobs=1.5), BayesBiasError, "jobs 1.5"),
    "a null's draws": (lambda: bb.calibrate("weat6", "googlenews-demo", draws=0), SpecError, "draws 0"),
    "a null's scope": (
        lambda: bb.calibrate("weat6", "googlenews-demo", scopes=["both", "target"]),
        ScopeError,
        "scope 'target' 'targets'",
    ),
    "no scope of a null": (lambda: bb.calibrate("weat6", "googlenews-demo", scopes=[]), BayesBiasError, "scopes empty"),
    "a null's replicates": (
        lambda: bb.calibrate("weat6", "googlenews-demo", scopes="replicates"),
        ScopeError,
        "scope 'replicates' table",
    ),
    "a null's words": (lambda: bb.calibrate("weat6", "googlenews-demo", size=0), SpecError, "size 0"),
    "words that nobody draws": (
        lambda: bb.calibrate("weat6", "googlenews-demo", random="target"),
        BayesBiasError,
        "random 'target' 'targets'",
    ),
    "too much planted": (lambda: bb.calibrate("weat6", "googlenews-demo", planted=2), BayesBiasError, "planted 2"),
    "records in a file": (
        lambda: bb.calibrate("weat6", "googlenews-demo", folder="binary.csv"),
        OutputError,
        "folder 'binary.csv' file",
    ),
    "a measure's seed": (lambda: bb.measures.measure_all(TINY, seed=-1), SpecError, "seed -1"),
    "WEAT's seed": (lambda: bb.measures.weat(TINY, seed="one"), SpecError, "seed 'one'"),
    "WEAT's partitions": (lambda: bb.measures.weat(TINY, permutations="all"), MeasureError, "permutations 'all'"),
    "SD-WEAT's seed": (lambda: bb.measures.sd_weat(TINY, seed=-1), SpecError, "seed -1"),
    "a comparison of names": (lambda: bb.compare("a", "b"), TableError, f"before str {TABLE}"),
    "a comparison's seed": (lambda: bb.compare(TINY, TINY, seed=-1), SpecError, "seed -1"),
    "a comparison's interval": (lambda: bb.compare(TINY, TINY, ci_prob=95), BayesBiasError, "ci_prob 95"),
    "a name that is too long": (lambda: bb.save_vectors({"a": [1.0]}, "a" * 300 + ".npz"), OutputError, "name file"),
    "a folder's name with a zero": (lambda: check_folder("a\0"), OutputError, "name file"),
    "a home folder that no shell replaced": (lambda: check_folder("~/report"), OutputError, "'~/report' '~' instead"),
    "no processes": (lambda: bb.calibrate("weat6", "googlenews-demo", jobs=0), BayesBiasError, "jobs 0"),
    "a null's seed": (lambda: bb.calibrate("weat6", "googlenews-demo", seed=-1), SpecError, "seed -1"),
    "controls of nothing": (
        lambda: bb.cosines("weat6", "googlenews-demo", controls=None),
        WordListError,
        "controls None ['neutral' 'human'] ()",
    ),
    "a report of nothing": (lambda: bb.report(None), BayesBiasError, "wordlists None list"),
    "a sweep of nothing": (lambda: bb.sweep("weat6", None), EmbeddingError, "embeddings None list"),
    "a debiasing that is none": (lambda: bb.sweep("weat6", versions=["she:he"]), EmbeddingError, "versions str"),
    "a pool of nothing": (lambda: bb.pool(None), BayesBiasError, "fits None list"),
    "pairs of nothing": (lambda: bb.compare_all(None), TableError, "tables None list"),
    "replicates in a list": (lambda: bb.combine_replicates([TINY]), TableError, "tables list names"),
    "sentences for no list": (lambda: bb.language_models.encode([], len), WordListError, "wordlists empty"),
    "a model that answers nothing": (lambda: bb.log_probabilities("weat6", None), TableError, "model None clozes"),
    "rows that are none": (
        lambda: bb.language_models.embedding_from_sentences(None, []),
        EmbeddingError,
        "sentences None DataFrame",
    ),
    "a file without a name": (lambda: bb.load_fit(None), OutputError, "path None file folder"),
    "a table in a list": (lambda: bb.tpr_gaps.estimate(data=[1]), TprGapsError, "data list DataFrame path"),
    "records in a number": (lambda: bb.calibrate("weat6", "googlenews-demo", folder=3), OutputError, "folder int path"),
    "trust in a word": (
        lambda: bb.cosines("weat6", "googlenews-demo", trust="no"),
        BayesBiasError,
        "trust 'no' True False",
    ),
    "loss in a word": (
        lambda: bb.cosines("weat6", "googlenews-demo", allow_loss="no"),
        BayesBiasError,
        "allow_loss 'no' True False",
    ),
    "overwriting in a word": (
        lambda: bb.save_vectors({"a": np.ones(2)}, "whole.npz", overwrite="no"),
        BayesBiasError,
        "overwrite 'no' True False",
    ),
    "a measure of a name": (lambda: bb.measures.weat("weat6"), TableError, f"str {TABLE}"),
    "measures of nothing": (lambda: bb.measures.measure_all(None), TableError, f"None {TABLE}"),
    "a measure that is none": (lambda: bb.measures.measure_all(TINY, only="weat"), MeasureError, "only 'weat' 'WEAT'"),
    "intervals of measures": (lambda: bb.measures.measure_all(TINY, ci_prob=95), BayesBiasError, "ci_prob 95"),
    "WEFAT's spread": (lambda: bb.measures.wefat(TINY, ddof=3), MeasureError, "ddof 3"),
    "gWEAT's permutations": (lambda: bb.measures.gweat(TINY, permutations="all"), MeasureError, "permutations 'all'"),
    "a direction without vectors": (
        lambda: bb.measures.pair_direction(None, "she", "he"),
        MeasureError,
        "vectors None",
    ),
    "a figure of nothing": (lambda: bb.plots.plot_stability(None), BayesBiasError, "None `bayes_bias.stability`"),
    "an embedding of a number": (lambda: bb.cosines("weat6", 3), EmbeddingError, "embedding int"),
    "a list of a number": (lambda: bb.cosines(7, "googlenews-demo"), WordListError, "int name path"),
    "a frame without the class of its group": (
        lambda: bb.load_wordlist(pd.DataFrame({"a=b": ["x"]})),
        WordListError,
        "'stereotypes.a' class 'b'",
    ),
    "a frame for a seed": (lambda: bb.fit(TINY, seed=pd.DataFrame({"a": [1, 2]})), SpecError, "seed"),
    "an array a word": (lambda: bb.open_embedding("keys.npz"), EmbeddingError, "w0 w1 w2 w3 w4 295"),
    "half an archive": (lambda: bb.open_embedding("half.npz").all(), EmbeddingError, "half.npz damaged .npz archive"),
    "a folder of vectors": (lambda: bb.open_embedding("folder"), EmbeddingError, "'folder' folder"),
    "vectors in no format": (lambda: bb.open_embedding("binary.txt").all(), EmbeddingError, "binary.txt"),
    "topics of no class": (lambda: bb.load_wordlist("topics.toml"), WordListError, "'career'"),
    "a pair in one group": (lambda: bb.load_wordlist("pairs.toml"), WordListError, "'John' 'Paul' 'male names'"),
    "pairs in a table": (lambda: bb.load_wordlist("buried.toml"), WordListError, "pairs [table]"),
    "a binary list": (lambda: bb.load_wordlist("binary.toml"), WordListError, "binary.toml UTF-8"),
    "a binary model": (lambda: bb.load_spec("binary.toml"), SpecError, "binary.toml UTF-8"),
    "a binary fit": (lambda: bb.load_fit("binary.nc"), OutputError, "binary.nc netCDF"),
}


@pytest.mark.parametrize("name", CALLS)
def test_public_call_raises_without_writing_for_invalid_argument(name, files):
    call, kind, words = CALLS[name]
    before = sorted(Path().rglob("*"))
    with refused(kind, words):
        call()
    assert sorted(Path().rglob("*")) == before


@pytest.mark.parametrize("seed", [-1, 1.5, "one", None])
def test_fit_raises_for_invalid_seed(table, seed):
    with refused(SpecError, f"seed {seed!r} 0"):
        bb.fit(table, seed=seed)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("weat binary.csv", "binary.csv UTF-8"),
        ("weat folder", "folder"),
        ("weat weat6 -e binary.txt", "binary.txt"),
        ("weat weat6 -e nowhere.bin", "nowhere.bin"),
        ("weat weat6 -e folder", "folder"),
        ("report binary.csv", "CSV"),
        ("report weat6 --out binary.csv", "binary.csv folder"),
        ("report weat6 --scope target", "'targets'"),
        ("report weat6 --model binary.toml", "binary.toml UTF-8"),
        ("report weat6 --ci 95", "--ci"),
        ("report weat6 --rope 0", "rope 0.0"),
        ("report weat6 --figures png,jpg", "figures 'jpg'"),
        ("report", "Missing argument"),
        ("fit weat6 --seed -1", "seed -1"),
        ("fit weat6 --draws 5", "--draws"),
        ("fit weat6 --scope target", "'targets'"),
        ("fit one.toml --controls none", "word (x)"),
        ("weat weat6 --sub-topics from-vector", "--sub-topics 'from vector' 'from vectors'"),
        ("report cosines.csv --sub-topics from-vectors", "--sub-topics 'from-vectors' 'cosines.csv'"),
        ("plan one.toml --bias 0.02 --controls none", "word (x)"),
        ("plan weat6 --bias 0.02 --scope none", "'none' words"),
        ("plan weat6 --bias 0.02 --model hierarchical", "'hierarchical' scopes"),
        ("weat weat6 --seed -1", "seed -1"),
        ("measures weat6 --seed -1", "seed -1"),
        ("calibrate weat6 --jobs -7", "jobs -7"),
        ("calibrate weat6 --folder binary.csv", "folder 'binary.csv'"),
        (f"fit weat6 --out {'a' * 300}", "name file"),
        (f"report weat6 --out {'a' * 300}", "name file"),
        ("fit weat6 --chains 0", "--chains"),
        ("fit weat6 --model crosed", "'crossed'"),
        ("fit weat6 --controls neutrl", "'neutral'"),
        ("fit weat6 --out folder", "folder file"),
        ("fit weat6 --out nowhere/fit.nc", "nowhere/fit.nc"),
        ("summarize nowhere.nc", "'nowhere.nc'"),
        ("summarize binary.nc", "binary.nc netCDF"),
        ("debias --sets she --out after.npz", "she"),
        ("debias --sets binary.toml --out after.npz", "binary.toml"),
        ("debias --sets she:he --out after.vec", ".vec .npz"),
        ("compare weat6 --before googlenews-demo --after nowhere.npz", "nowhere.npz"),
        ("compare --before googlenews-demo --after googlenews-demo", "LIST missing"),
        ("calibrate weat6 --jobs 0", "jobs 0"),
        ("calibrate weat6 --draws 0", "--draws"),
        ("plan weat6 --bias 0.02 --out plan.xls", "plan.xls"),
        ("models crosed", "'crossed'"),
        ("wordlists weat66", "'weat6'"),
        ("wordlists topics.toml", "'career'"),
        ("weat weat6 vectors.txt", "vectors.txt --embedding --help"),
        ("wordlists binary.toml", "binary.toml UTF-8"),
    ],
)
def test_command_prints_one_error_line_for_invalid_arguments(run, files, arguments, message):
    before = sorted(Path().rglob("*"))
    code, _, err = run(*arguments.split())
    errors = [line for line in err.splitlines() if line.startswith("error: ")]
    assert code == 2
    assert len(errors) == 1
    assert says(errors[0], message)
    assert "error: unexpected" not in errors[0]
    assert sorted(Path().rglob("*")) == before


def test_error_names_argument_in_python_and_option_in_terminal():
    error = EmbeddingError("embedding: opening it runs code; pass trust=True (--trust) if you trust it")
    assert "trust=True if" in str(error)
    assert "--trust" not in str(error)
    token = IN_TERMINAL.set(True)
    try:
        assert "pass --trust if" in str(error)
    finally:
        IN_TERMINAL.reset(token)


def test_error_message_keeps_very_long_word():
    """A search for remedies that tries every end from every beginning would take hours."""
    word = "a" * 1_000_000
    assert str(EmbeddingError(word)) == word
