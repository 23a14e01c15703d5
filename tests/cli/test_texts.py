"""The command `from-texts`."""

import pickle
from pathlib import Path

import numpy as np

from bayes_bias import save_vectors
from tests.corpora.test_from_texts import HOME, MEN, VECTORS, WOMEN, WORK, corpus


def _write(folder: Path) -> None:
    (folder / "speeches.txt").write_text("\n".join(" ".join(text) for text in corpus(3, planted=1.0)))
    lines = ["word,category"]
    for category, words in {"men=work": MEN, "women=home": WOMEN, "work": WORK, "home": HOME}.items():
        lines += [f"{word},{category}" for word in words]
    (folder / "list.csv").write_text("\n".join(lines))
    save_vectors({word: np.asarray(vector) for word, vector in VECTORS.items()}, folder / "vectors.npz")


def test_from_texts_prints_both_answers_and_writes_vectors(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _write(tmp_path)
    arguments = ("from-texts", "speeches.txt", "list.csv", "--embedding", "vectors.npz", "--controls", "none")
    code, out, err = run(*arguments, "--vectors", "own.npz")
    assert code == 0, err
    plain = " ".join(out.split())
    assert "in 40 texts" in plain
    assert "New words and new texts: " in plain
    assert "These words, new texts: The raw contrast is +" in plain
    assert (tmp_path / "own.npz").is_file()
    assert run(*arguments, "--vectors", "own.npz")[0] == 2


def test_from_texts_opens_pickled_vectors_with_trust(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _write(tmp_path)
    (tmp_path / "vectors.pkl").write_bytes(pickle.dumps({word: list(vector) for word, vector in VECTORS.items()}))
    arguments = ("from-texts", "speeches.txt", "list.csv", "--embedding", "vectors.pkl", "--controls", "none")
    code, _, err = run(*arguments)
    assert code == 2
    assert "--trust" in err
    assert run(*arguments, "--trust")[0] == 0


def test_from_texts_rejects_a_missing_folder(run):
    code, _, err = run("from-texts", "nowhere", "weat7", "--embedding", "googlenews-demo")
    assert code == 2
    assert "'nowhere', which does not exist" in err


def test_from_texts_rejects_columns_of_texts_without_columns(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _write(tmp_path)
    code, _, err = run("from-texts", "speeches.txt", "list.csv", "--measure", "pmi", "--cluster-column", "author")
    assert code == 2
    assert "--cluster-column is 'author', but 'speeches.txt' has no columns. Pass a .csv" in " ".join(err.split())


def test_from_texts_prints_pmi_and_rejects_an_embedding_or_vectors(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _write(tmp_path)
    arguments = ("from-texts", "speeches.txt", "list.csv", "--measure", "pmi", "--controls", "none", "--window", "20")
    code, out, err = run(*arguments)
    assert code == 0, err
    assert "These words, new texts: The raw contrast is " in " ".join(out.split())
    code, _, err = run(*arguments, "--embedding", "vectors.npz")
    assert code == 2
    assert "uses no vectors. Omit --embedding" in " ".join(err.split())
    code, _, err = run(*arguments, "--vectors", "own.npz")
    assert code == 2
    assert "--vectors cannot be combined with --measure pmi" in " ".join(err.split())
    code, _, err = run("from-texts", "speeches.txt", "list.csv")
    assert code == 2
    assert "Pass an --embedding" in " ".join(err.split())
