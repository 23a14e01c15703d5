"""A sweep as a file: globs relative to it, and a slip is one line."""

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayes_bias import Sampling, save_vectors
from bayes_bias.analyses.sweep.columns import LanguageModelColumn
from bayes_bias.analyses.sweep.spec_file import read_sweep
from bayes_bias.debiasing import GivenVersion, HardDebias
from bayes_bias.errors import BayesBiasError, EmbeddingError, WordListError
from bayes_bias.files import shipped
from tests.helpers import refused

HEAD = 'lists = ["weat6"]\n'
DEMO = '[[embeddings]]\nfiles = "googlenews-demo"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("seed-2", "seed-1", "other"):
        save_vectors({"he": np.array([1.0, 0.0]), "she": np.array([0.0, 1.0])}, tmp_path / f"{name}.txt")
    return tmp_path


def spec(folder: Path, text: str) -> Path:
    path = folder / "audit.toml"
    path.write_text(text)
    return path


def test_read_sweep_resolves_files_relative_to_spec(folder: Path) -> None:
    read = read_sweep(spec(folder, HEAD + '[[embeddings]]\nfiles = "seed-*.txt"\n'))
    assert [embedding.name for embedding in read.arguments()["wordlists"].embeddings] == ["seed-1", "seed-2"]


def test_read_sweep_reads_replicates_as_single_embedding(folder: Path) -> None:
    text = '[[embeddings]]\nname = "trained"\nfiles = "seed-*.txt"\nreplicates = "seed"\n'
    (opened,) = read_sweep(spec(folder, HEAD + text)).arguments()["wordlists"].embeddings
    assert (opened.name, opened.replicates, opened.kind) == ("trained", ("seed-1", "seed-2"), "seed")


def test_read_sweep_reads_times_of_embeddings(folder: Path) -> None:
    text = '[[embeddings]]\nfiles = "seed-*.txt"\nreplicates = "seed"\nname = "a decade"\nat = 1900\n'
    read = read_sweep(spec(folder, HEAD + text + '[[embeddings]]\nfiles = "other.txt"\nat = 1910.5\n'))
    assert dict(read.arguments()["wordlists"].times) == {"a decade": 1900.0, "other": 1910.5}
    for at, message in (("at = 'early'", "at 'early' number"), ("at = 1900", "1900 single embedding replicates")):
        with refused(BayesBiasError, message):
            read_sweep(spec(folder, HEAD + f'[[embeddings]]\nfiles = "seed-*.txt"\n{at}\n'))


def test_read_sweep_expands_globs_of_built_in_lists(folder: Path) -> None:
    read = read_sweep(spec(folder, f'lists = ["weat[67]", "gender"]\n{DEMO}'))
    assert read.lists == ("weat6", "weat7", "gender")


@pytest.mark.parametrize("name", ["a" * 300, "."])
def test_read_sweep_keeps_impossible_file_names(folder: Path, name: str) -> None:
    read = read_sweep(spec(folder, f'lists = ["{name}"]\n[[embeddings]]\nfiles = "{name}"\n'))
    assert read.lists == read.sources[0].paths == (name,)


def test_read_sweep_omits_folders_and_results_from_list_globs(folder: Path) -> None:
    (folder / "weat6-report").mkdir()
    (folder / "weat6.nc").touch()
    read = read_sweep(spec(folder, f'lists = ["weat[67]*"]\n{DEMO}'))
    assert read.lists == ("weat6", "weat7")


@pytest.mark.parametrize(("name", "file"), [("weat*", "weat6.csv"), ("weat6", "weat6")])
def test_read_sweep_raises_for_ambiguous_list_name(folder: Path, name: str, file: str) -> None:
    shutil.copy(str(shipped("wordlists") / "weat6.toml"), folder / "own.toml")
    (folder / "own.toml").rename(folder / file)
    with pytest.raises(WordListError) as raised:
        read_sweep(spec(folder, f'lists = ["{name}"]\n{DEMO}'))
    assert f"'{folder / file}'" in str(raised.value)
    assert "'weat" in str(raised.value).partition(" and ")[0]
    read = read_sweep(spec(folder, f'lists = ["./{name}"]\n{DEMO}'))
    assert read.lists == (str(folder / file),)


def test_read_sweep_uses_python_defaults_for_omitted_settings(folder: Path) -> None:
    read = read_sweep(spec(folder, f"{HEAD}seed = 3\n{DEMO}[sampling]\ndraws = 2000\n"))
    assert (read.sampling.draws, read.sampling.tune) == (2000, Sampling().tune)
    assert read.arguments()["seed"] == 3
    assert "models" not in read.arguments()


@pytest.mark.parametrize("key", ["masked", "causal"])
def test_read_sweep_resolves_language_model_folder_relative_to_spec(folder: Path, key: str) -> None:
    (folder / "bert").mkdir()
    text = f'[[embeddings]]\nname = "BERT"\n{key} = "bert"\npredict = "attributes"\n'
    (source,) = read_sweep(spec(folder, HEAD + text)).sources
    (column,) = source.opened(["weat6"], (), trust=False)
    assert column == LanguageModelColumn(str(folder / "bert"), predict="attributes", name="BERT")


def test_read_sweep_keeps_model_name_without_folder(folder: Path) -> None:
    (source,) = read_sweep(spec(folder, HEAD + '[[embeddings]]\ncausal = "gpt2"\n')).sources
    assert source.opened(["weat6"], (), trust=True) == [LanguageModelColumn("gpt2", trust=True)]


SETS = 'sets = "she:he"\n'


def test_read_sweep_reads_debiasing_method_of_versions(folder: Path) -> None:
    text = f'[[versions]]\nname = "debiased"\nmethod = "hard"\n{SETS}equalize = true\n'
    (debiasing,) = read_sweep(spec(folder, HEAD + DEMO + text)).arguments()["versions"]
    assert debiasing.method == HardDebias(equalize=True)
    assert debiasing.learns_from.defining_sets == (("she", "he"),)
    assert debiasing.named("w2v") == "w2v, debiased"


def test_read_sweep_limits_nested_versions_to_their_embedding(folder: Path) -> None:
    hard = f'[[embeddings.versions]]\nname = "hard"\nmethod = "hard"\n{SETS}'
    theirs = '[[embeddings.versions]]\nname = "theirs"\nfiles = "other.txt"\n'
    text = f'{HEAD}[[embeddings]]\nfiles = "seed-1.txt"\n{hard}{theirs}[[embeddings]]\nfiles = "seed-2.txt"\n'
    method, given = read_sweep(spec(folder, text)).arguments()["versions"]
    assert (method.embeddings, given.embeddings) == (("seed-1",), ("seed-1",))
    assert "other.txt" in given.source.source


def test_read_sweep_reads_nested_model_as_version(folder: Path) -> None:
    model = '[[embeddings]]\nname = "BERT"\nmasked = "bert"\npredict = "attributes"\n'
    version = '[[embeddings.versions]]\nname = "CDA"\nmasked = "bert-cda"\n'
    (folder / "bert-cda").mkdir()
    source = read_sweep(spec(folder, HEAD + model + version)).sources[0]
    column = LanguageModelColumn("bert", name="BERT")
    assert [*source.versions_of([column], [], (), trust=False)] == [
        GivenVersion(str(folder / "bert-cda"), "CDA", of="BERT")
    ]
    for text, message in (
        (model + version + 'predict = "targets"\n', "audit.toml [[embeddings.versions]] predict 'CDA'"),
        (DEMO + version, "audit.toml [[embeddings.versions]] 'CDA' masked files"),
        (DEMO + version.replace("masked", "causal"), "audit.toml [[embeddings.versions]] 'CDA' causal files"),
    ):
        with refused(BayesBiasError, message):
            read_sweep(spec(folder, HEAD + text))


def test_read_sweep_encodes_words_of_versions(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def encode(_: str, lists: object, templates: object, controls: object, also: list[str], trust: bool) -> object:
        return {word: np.array([1.0, 2.0]) for word in also}

    monkeypatch.setattr("bayes_bias.analyses.sweep.spec_file.encode", encode)
    encoder = '[[embeddings]]\nname = "tiny"\nencoder = "tiny"\n[[embeddings.versions]]\nname = "SentDebias"\n'
    versions = f'method = "linear-projection"\n{SETS}[[versions]]\nname = "hard"\nmethod = "hard"\nsets = "her:his"\n'
    (opened,) = read_sweep(spec(folder, HEAD + encoder + versions)).arguments()["wordlists"].embeddings
    assert opened.vocabulary() == ["her", "his", "she", "he"]


def test_read_sweep_expands_lists_of_choices_to_all_combinations(folder: Path) -> None:
    encoder = '[[embeddings]]\nname = "tiny"\nencoder = "tiny"\npooling = ["mean", "cls"]\nlayer = [1, "last"]\n'
    settings = pd.DataFrame([source.settings for source in read_sweep(spec(folder, HEAD + encoder)).sources])
    assert settings[["name", "pooling", "layer"]].to_numpy().tolist() == [
        ["tiny (pooling mean, layer 1)", "mean", "1"],
        ["tiny (pooling mean, layer last)", "mean", "last"],
        ["tiny (pooling cls, layer 1)", "cls", "1"],
        ["tiny (pooling cls, layer last)", "cls", "last"],
    ]
    with refused(EmbeddingError, "audit.toml [[embeddings]] prompt empty list"):
        read_sweep(spec(folder, HEAD + '[[embeddings]]\nencoder = "tiny"\nprompt = []\n'))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + '[[embeddings]]\nfiles = "glove*.txt"\n', "audit.toml files 'glove*.txt'"),
        (f'lists = ["own/*.toml"]\n{DEMO}', "audit.toml lists 'own/*.toml'"),
        (DEMO, "audit.toml lists"),
        (HEAD, "audit.toml embeddings"),
        (HEAD + "embedings = 1\n" + DEMO, "audit.toml 'embedings' 'embeddings'"),
        (HEAD + '[[embeddings]]\nname = "a"\nfiles = "seed-*.txt"\n', "audit.toml [[embeddings]] 'a' 2"),
        (HEAD + '[[embeddings]]\nname = "a"\n', "audit.toml [[embeddings]] files encoder masked"),
        (HEAD + '[[embeddings]]\nmasked = "bert"\nencoder = "bert"\n', "audit.toml [[embeddings]] encoder masked"),
        (
            HEAD + '[[embeddings]]\nmasked = "bert"\nreplicates = "seed"\n',
            "audit.toml [[embeddings]] replicates masked",
        ),
        (HEAD + '[[embeddings]]\nmasked = "bert"\ncausal = "gpt2"\n', "audit.toml [[embeddings]] masked causal"),
        (HEAD + '[[embeddings]]\ncausal = "gpt2"\npooling = "cls"\n', "audit.toml [[embeddings]] pooling causal"),
        (HEAD + DEMO + '[[versions]]\nname = "x"\nmethod = "hard"\n', "audit.toml [[versions]] sets:"),
        (HEAD + DEMO + '[[embeddings.versions]]\nfiles = "x"\n', "audit.toml [[embeddings.versions]] name: method"),
        (HEAD + "[embeddings]\n", "audit.toml [[embeddings]]"),
        (HEAD + DEMO + "[sampling]\ndraw = 3\n", "audit.toml [sampling] 'draw' 'draws'"),
        ("lists = [", "audit.toml"),
    ],
)
def test_read_sweep_raises_one_line_for_wrong_spec(folder: Path, text: str, message: str) -> None:
    with refused(BayesBiasError, message):
        read_sweep(spec(folder, text))


def test_read_sweep_raises_for_version_file_of_two_embeddings(folder: Path) -> None:
    text = '[[embeddings]]\nfiles = "seed-*.txt"\n[[embeddings.versions]]\nname = "theirs"\nfiles = "other.txt"\n'
    with refused(BayesBiasError, "[[embeddings.versions]] 'theirs' 1 2"):
        read_sweep(spec(folder, HEAD + text)).arguments()
