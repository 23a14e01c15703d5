"""What a user may get wrong is answered with one line that names it and says what to do, before anything is sampled."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.errors import BayesBiasError
from bayes_bias.reports import check_folder
from bayes_bias.resources import shipped
from tests.helpers import random_table

FIT = "is no fit; give what `bayes_bias.fit` or `load_fit` returned"
TABLE = "is no table of associations; give what `bayes_bias.cosines`"


ONE_WORD = """
groups = {x = ["math"], y = ["poetry", "art"]}
classes = {he = ["male", "man", "boy"], she = ["female", "woman", "girl"]}
stereotypes = {x = "he", y = "she"}
"""


@pytest.fixture
def table() -> bb.Associations:
    return bb.cosines("googlenews-demo", "weat6", controls=())


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that are not what their names say, in the current folder."""
    monkeypatch.chdir(tmp_path)
    np.savez("keys.npz", **{f"w{i}": np.ones(3) for i in range(300)})
    np.savez("whole.npz", words=np.array(["he", "she"]), vectors=np.eye(2))
    whole = Path("whole.npz").read_bytes()
    Path("half.npz").write_bytes(whole[: len(whole) // 2])
    Path("topics.toml").write_text(text("weat6") + "[topics.carer]\npay = ['salary']\n", encoding="utf-8")
    Path("pairs.toml").write_text("pairs = [['John', 'Paul']]\n" + text("weat6"), encoding="utf-8")
    Path("buried.toml").write_text(text("weat6") + "pairs = [['John', 'Amy']]\n", encoding="utf-8")
    for name in ("binary.toml", "binary.csv", "binary.nc", "binary.txt"):
        Path(name).write_bytes(bytes(range(129, 256)))
    Path("folder").mkdir()
    Path("one.toml").write_text(ONE_WORD, encoding="utf-8")


def text(name: str) -> str:
    """A shipped list, as it stands in its file."""
    return shipped("wordlists").joinpath(f"{name}.toml").read_text(encoding="utf-8")


TINY = random_table()

CALLS: dict[str, tuple[Callable[[], object], str]] = {
    "a fit of a name": (lambda: bb.fit("weat7"), f"a str {TABLE}"),
    "a fit of nothing": (lambda: bb.fit(None), f"None {TABLE}"),
    "summarize nothing": (lambda: bb.summarize(None), f"None {FIT}"),
    "summarize a path": (lambda: bb.summarize("fit.nc"), f"a str {FIT}"),
    "verdict on nothing": (lambda: bb.verdict(None), f"None {FIT}"),
    "plan of nothing": (lambda: bb.plan(None), f"None {FIT}"),
    "a plot of nothing": (lambda: bb.plots.plot_forest(None), f"None {FIT}"),
    "nothing saved": (lambda: bb.save_fit(None, "fit.nc"), f"None {FIT}"),
    "no vectors saved": (lambda: bb.save_vectors({}, "none.npz"), "there are none to write"),
    "pages of nothing": (lambda: bb.write(None, "report"), "there are no pages of None"),
    "no draws": (lambda: bb.Sampling(draws=0), "draws: 0 is no number of draws"),
    "draws in words": (lambda: bb.Sampling(draws="many"), "'many' is no number of draws"),
    "no chains": (lambda: bb.Sampling(chains=0), "chains: 0 is no number of chains"),
    "acceptance above 1": (lambda: bb.Sampling(target_accept=2), "2 is no acceptance rate"),
    "warm-up in words": (lambda: bb.Sampling(tune="long"), "tune: 'long' is no number of warm-up draws"),
    "acceptance in words": (lambda: bb.Sampling(target_accept="high"), "'high' is no acceptance rate"),
    "a number for sampling": (lambda: bb.fit(TINY, sampling=500), "500 says not how to sample"),
    "half a process": (lambda: bb.calibrate("weat6", "googlenews-demo", jobs=1.5), "jobs: 1.5 processes"),
    "a null's draws": (lambda: bb.calibrate("weat6", "googlenews-demo", draws=0), "draws: 0 is no number"),
    "a null's scope": (
        lambda: bb.calibrate("weat6", "googlenews-demo", scopes=["both", "target"]),
        "scope: 'target' is not a scope; did you mean 'targets'",
    ),
    "no scope of a null": (
        lambda: bb.calibrate("weat6", "googlenews-demo", scopes=[]),
        "scopes: is empty; name one or more",
    ),
    "a null's replicates": (
        lambda: bb.calibrate("weat6", "googlenews-demo", scopes="replicates"),
        "scope: 'replicates' generalises to new replicates, and this table has none",
    ),
    "a null's words": (lambda: bb.calibrate("weat6", "googlenews-demo", size=0), "size: 0 is no number"),
    "words that nobody draws": (
        lambda: bb.calibrate("weat6", "googlenews-demo", random="target"),
        "random: 'target' says not which words are drawn; did you mean 'targets'?",
    ),
    "too much planted": (
        lambda: bb.calibrate("weat6", "googlenews-demo", planted=2),
        "planted: 2 is no bias",
    ),
    "records in a file": (
        lambda: bb.calibrate("weat6", "googlenews-demo", folder="binary.csv"),
        "folder: 'binary.csv' is a file",
    ),
    "a measure's seed": (lambda: bb.measures.measure_all(TINY, seed=-1), "seed: -1 is no seed"),
    "WEAT's seed": (lambda: bb.measures.weat(TINY, seed="one"), "seed: 'one' is no seed"),
    "WEAT's partitions": (
        lambda: bb.measures.weat(TINY, permutations="all"),
        "'all' is not a number of draws",
    ),
    "SD-WEAT's seed": (lambda: bb.measures.sd_weat(TINY, seed=-1), "seed: -1 is no seed"),
    "a comparison of names": (lambda: bb.compare("a", "b"), f"before: a str {TABLE[:44]}"),
    "a comparison's seed": (lambda: bb.compare(TINY, TINY, seed=-1), "seed: -1 is no seed"),
    "a comparison's interval": (lambda: bb.compare(TINY, TINY, ci_prob=95), "95 is no probability"),
    "a name that is too long": (
        lambda: bb.save_vectors({"a": [1.0]}, "a" * 300 + ".npz"),
        "is no name of a file",
    ),
    "a folder's name with a zero": (lambda: check_folder("a\0"), "is no name of a file"),
    "no processes": (lambda: bb.calibrate("weat6", "googlenews-demo", jobs=0), "jobs: 0 processes"),
    "a null's seed": (lambda: bb.calibrate("weat6", "googlenews-demo", seed=-1), "seed: -1 is no seed"),
    "controls of nothing": (
        lambda: bb.cosines("googlenews-demo", "weat6", controls=None),
        "controls: None is no list; give one or more, such as ['neutral', 'human'], or () for none",
    ),
    "a report of nothing": (lambda: bb.report(None), "wordlists: None is no list; give one or more"),
    "a sweep of nothing": (lambda: bb.sweep(None, "weat6"), "embeddings: None is no list"),
    "recipes that are none": (
        lambda: bb.sweep("googlenews-demo", "weat6", debiasing=["she:he"]),
        "debiasing: a str is no recipe",
    ),
    "a pool of nothing": (lambda: bb.pool(None), "fits: None is no list; give one or more"),
    "pairs of nothing": (lambda: bb.pairwise(None), "tables: None is no list"),
    "replicates in a list": (
        lambda: bb.replicated([TINY]),
        "tables: a list is no mapping of names to tables",
    ),
    "sentences for no list": (lambda: bb.encode(len, []), "wordlists: there are none"),
    "a model that answers nothing": (
        lambda: bb.log_probabilities(None, "weat6"),
        "model: None answers no clozes",
    ),
    "rows that are none": (lambda: bb.from_sentences(None, []), "sentences: None is no frame"),
    "a file without a name": (
        lambda: bb.load_fit(None),
        "path: None is no path; give the name of a file or folder",
    ),
    "a table in a list": (lambda: bb.tpr_gaps(data=[1]), "data: a list is neither a DataFrame nor a path"),
    "records in a number": (
        lambda: bb.calibrate("weat6", "googlenews-demo", folder=3),
        "folder: an int is no path",
    ),
    "trust in a word": (
        lambda: bb.cosines("googlenews-demo", "weat6", trust="no"),
        "trust: 'no' is neither True nor False",
    ),
    "loss in a word": (
        lambda: bb.cosines("googlenews-demo", "weat6", allow_loss="no"),
        "allow_loss: 'no' is neither True nor False",
    ),
    "overwriting in a word": (
        lambda: bb.save_vectors({"a": np.ones(2)}, "whole.npz", overwrite="no"),
        "overwrite: 'no' is neither True nor False",
    ),
    "a measure of a name": (lambda: bb.measures.weat("weat6"), f"a str {TABLE}"),
    "measures of nothing": (lambda: bb.measures.measure_all(None), f"None {TABLE}"),
    "a measure that is none": (
        lambda: bb.measures.measure_all(TINY, only="weat"),
        "only: 'weat' is not known; did you mean 'WEAT'?",
    ),
    "intervals of measures": (lambda: bb.measures.measure_all(TINY, ci_prob=95), "95 is no probability"),
    "WEFAT's spread": (lambda: bb.measures.wefat(TINY, ddof=3), "ddof: 3 is not an option"),
    "gWEAT's permutations": (
        lambda: bb.measures.gweat(TINY, permutations="all"),
        "permutations: 'all' is no number of draws",
    ),
    "a direction without vectors": (
        lambda: bb.measures.pair_direction(None, "she", "he"),
        "vectors: None holds no vectors",
    ),
    "a figure of nothing": (
        lambda: bb.plots.plot_stability(None),
        "found: None is not what `bayes_bias.stability` returned",
    ),
    "an embedding of a number": (lambda: bb.cosines(3, "weat6"), "embedding: cannot read an int"),
    "a list of a number": (
        lambda: bb.cosines("googlenews-demo", 7),
        "word list: an int is neither a name nor a path",
    ),
    "a list in a frame": (
        lambda: bb.load_wordlist(pd.DataFrame({"a=b": ["x"]})),
        "word list: a DataFrame is neither a name nor a path; give one, or what WordList.from_frame",
    ),
    "a frame for a seed": (lambda: bb.fit(TINY, seed=pd.DataFrame({"a": [1, 2]})), "is no seed"),
    "an array a word": (lambda: bb.open_embedding("keys.npz"), "found w0, w1, w2, w3, w4 and 295 more"),
    "half an archive": (lambda: bb.open_embedding("half.npz").all(), "half.npz: damaged .npz archive"),
    "a folder of vectors": (lambda: bb.open_embedding("folder"), "'folder' is a folder"),
    "vectors in no format": (lambda: bb.open_embedding("binary.txt").all(), "binary.txt"),
    "topics of no class": (lambda: bb.load_wordlist("topics.toml"), "did you mean 'career'"),
    "a pair in one group": (
        lambda: bb.load_wordlist("pairs.toml"),
        "'John' and 'Paul', both in 'male names'",
    ),
    "pairs in a table": (lambda: bb.load_wordlist("buried.toml"), "move it above the first [table]"),
    "a binary list": (lambda: bb.load_wordlist("binary.toml"), "not UTF-8 text"),
    "a binary model": (lambda: bb.load_spec("binary.toml"), "not UTF-8 text"),
    "a binary fit": (lambda: bb.load_fit("binary.nc"), "is not a netCDF file"),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_with_something_else_says_what_it_wants(name, files):
    call, message = CALLS[name]
    before = sorted(path.name for path in Path().rglob("*"))
    with pytest.raises(BayesBiasError) as refused:
        call()
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)
    assert sorted(path.name for path in Path().rglob("*")) == before


@pytest.mark.parametrize("seed", [-1, 1.5, "one", None])
def test_a_seed_is_a_whole_number(table, seed):
    with pytest.raises(BayesBiasError, match="is no seed; give a whole number, 0 or more"):
        bb.fit(table, seed=seed)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("weat binary.csv", "needs GROUP=CLASS"),
        ("weat folder", "folder"),
        ("weat weat6 -e binary.txt", "binary.txt: begins with"),
        ("weat weat6 -e nowhere.bin", "nowhere.bin"),
        ("weat weat6 -e folder", "is a folder"),
        ("report binary.csv --stereotype a=b", "no CSV table"),
        ("report weat6 --out binary.csv", "is a file; name a folder"),
        ("report weat6 --scope target", "did you mean 'targets'"),
        ("report weat6 --model binary.toml", "not UTF-8 text"),
        ("report weat6 --ci 95", "--ci"),
        ("report weat6 --rope 0", "rope: 0.0 does not say up to where"),
        ("report weat6 --figures png,jpg", "figures: 'jpg' is no format of figures; did you mean"),
        ("report", "Missing argument"),
        ("fit weat6 --seed -1", "seed: -1 is no seed"),
        ("fit weat6 --draws 5", "--draws"),
        ("fit weat6 --scope target", "did you mean 'targets'"),
        ("fit one.toml --controls none", "a group or class of one word (x)"),
        ("plan one.toml --controls none", "a group or class of one word (x)"),
        ("plan weat6 --scope none", "generalises to no other words"),
        ("plan weat6 --model hierarchical", "neither scopes nor a noise floor"),
        ("weat weat6 --seed -1", "seed: -1 is no seed"),
        ("measures weat6 --seed -1", "seed: -1 is no seed"),
        ("calibrate weat6 --jobs -7", "jobs: -7 processes"),
        ("calibrate weat6 --folder binary.csv", "folder: 'binary.csv' is a file"),
        (f"fit weat6 --out {'a' * 300}", "is no name of a file"),
        (f"report weat6 --out {'a' * 300}", "is no name of a file"),
        ("fit weat6 --chains 0", "--chains"),
        ("fit weat6 --model crosed", "did you mean 'crossed'"),
        ("fit weat6 --controls neutrl", "did you mean 'neutral'"),
        ("fit weat6 --out folder", "is a folder; name a file"),
        ("fit weat6 --out nowhere/fit.nc", "does not exist; make it first"),
        ("summarize nowhere.nc", "no file 'nowhere.nc'"),
        ("summarize binary.nc", "is not a netCDF file"),
        ("debias --sets she --out after.npz", "she"),
        ("debias --sets binary.toml --out after.npz", "binary.toml"),
        ("debias --sets she:he --out after.vec", "vectors are written as .npz"),
        ("compare weat6 --before googlenews-demo --after nowhere.npz", "nowhere.npz"),
        ("compare --before googlenews-demo --after googlenews-demo", "LIST: is missing"),
        ("calibrate weat6 --jobs 0", "jobs: 0 processes"),
        ("calibrate weat6 --draws 0", "--draws"),
        ("plan weat6 --out plan.xls", "is no figure"),
        ("models crosed", "did you mean 'crossed'"),
        ("wordlists weat66", "did you mean 'weat6'"),
        ("wordlists topics.toml", "did you mean 'career'"),
        ("wordlists binary.toml", "not UTF-8 text"),
    ],
)
def test_a_command_answers_in_one_line_and_leaves_nothing_behind(run, files, arguments, message):
    before = sorted(path.name for path in Path().rglob("*"))
    code, _, err = run(*arguments.split())
    errors = [line for line in err.splitlines() if line.startswith("error: ")]
    assert code == 2
    assert len(errors) == 1
    assert message in errors[0]
    assert "unexpected" not in errors[0]
    assert sorted(path.name for path in Path().rglob("*")) == before
