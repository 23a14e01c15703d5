"""A sweep as a file: globs relative to it, and a slip is one line."""

from pathlib import Path

import numpy as np
import pytest

from bayes_bias import save_vectors
from bayes_bias.errors import BayesBiasError
from bayes_bias.sweeps import Scored
from bayes_bias.sweeps.asked import SAMPLING
from bayes_bias.sweeps.spec import read_sweep

HEAD = 'lists = ["weat6"]\n'
DEMO = '[[embeddings]]\nfiles = "googlenews-demo"\n'


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name in ("seed-2", "seed-1", "other"):
        save_vectors({"he": np.array([1.0, 0.0]), "she": np.array([0.0, 1.0])}, tmp_path / f"{name}.txt")
    return tmp_path


def spec(home: Path, text: str) -> Path:
    path = home / "audit.toml"
    path.write_text(text)
    return path


def test_files_are_found_beside_the_spec_whatever_the_working_folder(home: Path) -> None:
    read = read_sweep(spec(home, HEAD + '[[embeddings]]\nfiles = "seed-*.txt"\n'))
    assert [each.name for each in read.arguments()["embeddings"]] == ["seed-1", "seed-2"]


def test_files_that_are_replicates_are_one_embedding(home: Path) -> None:
    text = '[[embeddings]]\nname = "trained"\nfiles = "seed-*.txt"\nreplicates = "seed"\n'
    (opened,) = read_sweep(spec(home, HEAD + text)).arguments()["embeddings"]
    assert (opened.name, opened.replicates, opened.kind) == ("trained", ("seed-1", "seed-2"), "seed")


def test_lists_may_be_globs_of_shipped_names(home: Path) -> None:
    read = read_sweep(spec(home, f'lists = ["weat[67]", "gender"]\n{DEMO}'))
    assert read.lists == ("weat6", "weat7", "gender")


def test_what_the_file_leaves_out_is_as_in_python(home: Path) -> None:
    read = read_sweep(spec(home, f"{HEAD}seed = 3\n{DEMO}[sampling]\ndraws = 2000\n"))
    assert (read.sampling.draws, read.sampling.tune) == (2000, SAMPLING.tune)
    assert read.arguments()["seed"] == 3
    assert "models" not in read.arguments()


def test_a_language_model_is_read_and_its_folder_is_relative_to_the_file(home: Path) -> None:
    (home / "bert").mkdir()
    text = '[[embeddings]]\nname = "BERT"\nmasked = "bert"\npredict = "attributes"\n'
    (source,) = read_sweep(spec(home, HEAD + text)).sources
    (column,) = source.opened(["weat6"], (), trust=False)
    assert column == Scored(str(home / "bert"), predict="attributes", name="BERT")


def test_a_recipe_is_read(home: Path) -> None:
    text = '[[debiasing]]\nname = "debiased"\nsets = "she:he"\nequalize = true\n'
    (recipe,) = read_sweep(spec(home, HEAD + DEMO + text)).debiasing
    assert (recipe.named("w2v"), recipe.sets.defining_sets, recipe.equalize) == (
        "w2v, debiased",
        (("she", "he"),),
        True,
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            HEAD + '[[embeddings]]\nfiles = "glove*.txt"\n',
            "audit.toml: files = 'glove*.txt' matches no file in",
        ),
        (f'lists = ["own/*.toml"]\n{DEMO}', "audit.toml: lists = 'own/*.toml' matches no word list in"),
        (DEMO, "audit.toml: names no lists"),
        (HEAD, "audit.toml: names no embeddings"),
        (HEAD + "embedings = 1\n" + DEMO, "audit.toml: unknown key 'embedings'; did you mean 'embeddings'"),
        (
            HEAD + '[[embeddings]]\nname = "a"\nfiles = "seed-*.txt"\n',
            "audit.toml, [[embeddings]]: 'a' is the name of 2",
        ),
        (
            HEAD + '[[embeddings]]\nname = "a"\n',
            "audit.toml, [[embeddings]]: names no source of numbers; give one of files, encoder and masked",
        ),
        (
            HEAD + '[[embeddings]]\nmasked = "bert"\nencoder = "bert"\n',
            "audit.toml, [[embeddings]]: names encoder and masked; give one of",
        ),
        (
            HEAD + '[[embeddings]]\nmasked = "bert"\nreplicates = "seed"\n',
            "audit.toml, [[embeddings]]: replicates does not go with masked; leave it out",
        ),
        (HEAD + DEMO + '[[debiasing]]\nname = "x"\n', "audit.toml, [[debiasing]]: needs a text 'sets'"),
        (
            HEAD + "[embeddings]\n",
            "audit.toml: embeddings is no list of tables; begin each with [[embeddings]]",
        ),
        (
            HEAD + DEMO + "[sampling]\ndraw = 3\n",
            "audit.toml, [sampling]: unknown key 'draw'; did you mean 'draws'",
        ),
        ("lists = [", "audit.toml"),
    ],
)
def test_a_slip_is_one_line(home: Path, text: str, message: str) -> None:
    with pytest.raises(BayesBiasError) as raised:
        read_sweep(spec(home, text))
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)
