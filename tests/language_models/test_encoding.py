"""An encoder's table is that of its sentences' cosines; no sentence is encoded twice; what comes back is checked."""

import json
import sqlite3
from contextlib import closing
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.errors import BayesBiasError, EmbeddingError, LanguageModelError, TemplateError
from bayes_bias.language_models import encoding, opening
from bayes_bias.language_models.encoders import as_encoder, is_encoder
from bayes_bias.language_models.vectors_from_elsewhere import save_sentence_vectors
from bayes_bias.words.list_files import field_names
from bayes_bias.words.templates import word_class
from tests.helpers import refused, says, stacked
from tests.language_models.fakes import Counting, bag_of_words

OWN = bb.WordList.from_mapping({
    "groups": {"flowers": ["rose", "lily", "iris"], "insects": ["ant", "flea", "bee"]},
    "classes": {"pleasant": ["love", "gentle", "gift"], "unpleasant": ["kill", "ugly", "crash"]},
    "stereotypes": {"flowers": "pleasant", "insects": "unpleasant"},
}, name="own")  # fmt: skip


def _sentence(template: str, word: str) -> str:
    """What a reader would write; independent of the package's own filling."""
    phrases = {"ant": "an ant", "iris": "an iris", "gift": "a gift", "crash": "a crash", "love": "love",
               "gentle": "something gentle", "ugly": "something ugly", "kill": "how to kill"}  # fmt: skip
    phrase = phrases.get(word, f"a {word}")
    whole = template.replace("{word}", phrase)
    return whole[0].upper() + whole[1:]


def test_replicate_of_encoder_matches_cosines_of_one_template() -> None:
    table = bb.cosines(OWN, bag_of_words, controls=(), templates="plain-10")
    assert table.replicates is not None
    for label, values in table.replicates.tables.items():
        if label in ("This is {word}.", "That is {word}."):
            continue  # which have forms of their own for adjectives
        for target in ("rose", "ant"):
            for attribute in ("love", "gentle", "kill", "gift"):
                u, v = bag_of_words([_sentence(label, target), _sentence(label, attribute)])
                cosine = u @ v / np.linalg.norm(u) / np.linalg.norm(v)
                assert float(values.sel(target=target, attribute=attribute)) == pytest.approx(cosine, abs=1e-6)
    np.testing.assert_allclose(table.values, table.replicates.stacked().mean("replicate"), atol=1e-12)
    assert table.replicates.kind == "template"


def test_provenance_contains_templates_encoder_and_pooling() -> None:
    encoder = Counting(pooling="mean")
    table = bb.cosines(OWN, bb.language_models.encode(OWN, encoder, "plain-10", cache=False), controls=())
    wanted = {"templates": "plain-10", "encoder": "counting", "pooling": "mean", "encoder_identity": encoder.identity}
    assert wanted.items() <= table.provenance.items()
    assert table.provenance["templates_sha256"] == bb.load_templates("plain-10").sha256


def test_cosines_equal_for_function_object_and_model_encoders(monkeypatch) -> None:
    loaded: dict[str, object] = {}

    def load_encoder(folder: str, **settings: str) -> Counting:
        loaded.update(settings, folder=folder)
        return Counting()

    monkeypatch.setattr("bayes_bias.language_models.hugging_face.load_encoder", load_encoder)
    object_with_encode = SimpleNamespace(encode=bag_of_words)
    model = bb.language_models.encode(OWN, "a/model", cache=False, pooling="cls")
    tables = [
        bb.cosines(OWN, source, controls=(), templates=templates)
        for source, templates in ((bag_of_words, "plain-10"), (object_with_encode, "plain-10"), (model, None))
    ]
    for table in tables[1:]:
        pd.testing.assert_frame_equal(table.values.to_pandas(), tables[0].values.to_pandas())
    assert loaded == {"folder": "a/model", "pooling": "cls", "layer": "last", "prompt": None, "trust": False}


@pytest.mark.parametrize("settings", [{"pooling": "cls"}, {"layer": 1}, {"prompt": "query"}], ids=str)
@pytest.mark.parametrize(
    "encoder", [bag_of_words, Counting(), as_encoder(bag_of_words)], ids=["function", "object", "opened"]
)
def test_encode_raises_for_settings_of_opened_encoder(encoder, settings) -> None:
    """Before, they were ignored, so the vectors were others than those that the user asked for."""
    ((name, value),) = settings.items()
    with refused(EmbeddingError, f"`{name}={value!r}` folder already open"):
        bb.language_models.encode(OWN, encoder, None, cache=False, **settings)


@pytest.mark.parametrize("templates", [None, "plain-10"])
def test_cosines_with_encoder_has_vectors_of_further_words(templates) -> None:
    table = bb.cosines(OWN, bag_of_words, (), templates=templates, also=["she", "he"])
    assert {"she", "he"} <= set(table.vectors)
    assert not any("omitted" in notice for notice in table.notices)


def test_encoder_receives_span_of_word_for_pooling_word() -> None:
    encoder = Counting(pooling="word", identity="")
    bb.cosines(OWN, encoder, controls=(), templates="plain-10", sub_topics="exhaustive")
    found = {text[start:end].lower() for text, (start, end) in zip(encoder.asked, encoder.spans, strict=True)}
    assert found == {*OWN.targets, *OWN.attributes}


def test_cache_reuses_sentences_of_stopped_run(tmp_path) -> None:
    whole, stopped, after, again = Counting(), Counting(fails_after=1_200), Counting(), Counting()
    tables = []
    for encoder, folder in ((whole, "one"), (stopped, "two"), (after, "two"), (again, "two")):
        try:
            opened = bb.language_models.encode("weat1", encoder, "plain-10", ["neutral"], cache=tmp_path / folder)
            tables.append(bb.cosines("weat1", opened, ["neutral"]))
        except KeyboardInterrupt:
            assert encoder is stopped
    assert 0 < len(stopped.asked) <= 1_200
    assert len(stopped.asked) + len(after.asked) == len(whole.asked) == len(set(whole.asked))
    assert not again.asked
    for table in tables[1:]:
        pd.testing.assert_frame_equal(table.values.to_pandas(), tables[0].values.to_pandas())


def test_encode_calls_encoder_once_per_sentence_without_cache() -> None:
    encoder = Counting()
    opened = bb.language_models.encode(["weat6", "weat7"], encoder, "plain-10", ["neutral"], cache=False)
    for name in ("weat6", "weat7"):
        bb.cosines(name, opened, ["neutral"])
    assert len(encoder.asked) == len(set(encoder.asked))


def test_encoding_logs_expected_time_with_remedy(monkeypatch, caplog) -> None:
    caplog.set_level("INFO", logger="bayes_bias")
    monkeypatch.setattr(encoding.time, "monotonic", iter([0.0, 30.0]).__next__)
    opened = bb.language_models.encode("weat6", bag_of_words, "plain-10", ["neutral"])
    table = bb.cosines("weat6", opened, ["neutral"], sub_topics="independent")
    controls = 10 * int((table.values.attribute_class == "neutral").sum())
    sentences = 10 * (table.values.sizes["target"] + table.values.sizes["attribute"])
    said = [record.getMessage() for record in caplog.records if says(record.getMessage(), "bag_of_words min")]
    assert len(said) == 1
    assert says(said[0], f"{sentences:,} {controls:,} --controls none")


def test_cache_distinguishes_identity_and_pooling(tmp_path) -> None:
    bb.language_models.encode(OWN, Counting(), cache=tmp_path)
    for changed in (Counting(identity="another"), Counting(pooling="cls"), Counting(pooling="word")):
        bb.language_models.encode(OWN, changed, cache=tmp_path)
        assert changed.asked


def test_encode_requires_identity_for_cache(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("BAYES_BIAS_CACHE", str(tmp_path / "here"))
    bb.language_models.encode(OWN, bag_of_words)
    assert not (tmp_path / "here").exists()
    with refused(EmbeddingError, "bag_of_words `identity`"):
        bb.language_models.encode(OWN, bag_of_words, cache=tmp_path)
    bb.language_models.encode(OWN, bag_of_words, identity="mine, version 1")
    assert (tmp_path / "here").is_dir()


def test_encode_raises_for_damaged_or_invalid_cache(tmp_path) -> None:
    (tmp_path / "sentences.sqlite3").write_bytes(b"this is no database, whatever its name says" * 100)
    with refused(EmbeddingError, "cache sentences.sqlite3"):
        bb.language_models.encode(OWN, Counting(), cache=tmp_path)
    with refused(EmbeddingError, "folder"):
        bb.language_models.encode(OWN, Counting(), cache=tmp_path / "sentences.sqlite3")


def test_cache_reencodes_damaged_vector(tmp_path) -> None:
    encoded, again = Counting(), Counting()
    first = bb.language_models.encode(OWN, encoded, cache=tmp_path)
    with closing(sqlite3.connect(tmp_path / "sentences.sqlite3")) as database, database:
        (key, kept), *_ = database.execute("SELECT key, vector FROM vectors")
        database.execute("UPDATE vectors SET vector = ? WHERE key = ?", (kept[:-1] + bytes([kept[-1] ^ 1]), key))
    second = bb.language_models.encode(OWN, again, cache=tmp_path)
    assert len(again.asked) == 1
    words = [*OWN.targets, *OWN.attributes]
    np.testing.assert_array_equal(stacked(first.find(words), words), stacked(second.find(words), words))


def test_encoder_reads_words_alone_without_templates() -> None:
    table = bb.cosines(OWN, bag_of_words, controls=())
    assert table.replicates is None
    assert any(says(notice, "on its own") for notice in table.notices)


def test_cosines_omits_builtin_controls_unfit_for_templates() -> None:
    table = bb.cosines("weat6", bag_of_words, templates="noun-10")
    assert set(table.controls) == {"neutral", "human"}
    assert any(says(notice, "311 bag_of_words (noun-10)") for notice in table.notices)
    with refused(TemplateError, "'he' 'subject'"):
        bb.cosines("weat7", bag_of_words, templates="noun-10")


def test_encoder_pool_has_word_classes_of_attributes() -> None:
    embedding = bb.language_models.encode("weat6", bag_of_words, "noun-10")
    classes = {word_class(word) for word in embedding.pool()}
    assert classes == {word_class(word) for word in bb.load_wordlist("weat6").attributes} == {"noun", "mass", "plural"}
    assert len(embedding.pool()) > 300


def test_encoder_reads_listed_sentences_unchanged() -> None:
    sentences = bb.WordList.from_mapping({
        "groups": {"X": ["This is a rose.", "This is a lily."], "Y": ["This is an ant.", "This is a bee."]},
        "classes": {"A": ["That is love.", "That is joy."], "B": ["That is hate.", "That is war."]},
        "stereotypes": {"X": "A", "Y": "B"},
    })  # fmt: skip
    encoder = Counting(identity="")
    table = bb.cosines(sentences, encoder)
    assert set(encoder.asked) == {*sentences.texts}
    assert not table.controls
    assert table.values.shape == (4, 4)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda s: np.zeros((len(s) + 1, 3)), '(2, 3) 1 sentence (1, d)'),
        (lambda s: np.zeros(len(s)), "shape (1,)"),
        (lambda s: [[np.nan, 1.0]] * len(s), "finite 'This is a rose.'"),
        (lambda s: ["vector"] * len(s), 'list array'),
    ],
)  # fmt: skip
def test_cosines_raises_for_invalid_vectors_of_encoder(answer, message) -> None:
    with refused(EmbeddingError, message):
        bb.cosines(OWN, answer, templates="plain-10")


def test_cosines_raises_for_encoder_vectors_of_different_lengths() -> None:
    with refused(EmbeddingError, "2 4 values"):
        bb.cosines(OWN, lambda s: np.ones((len(s), 2 + 2 * (s[0] != "This is a rose."))), templates="plain-10")


def test_cosines_raises_for_templates_with_word_vectors(tmp_path) -> None:
    for source in ("googlenews-demo", bb.open_embedding("minilm-demo"), {"rose": [1.0]}):
        with refused(EmbeddingError, "sentences templates"):
            bb.cosines(OWN, source, templates="plain-10")
    with refused(EmbeddingError, "function bayes_bias.language_models.encode"):
        bb.report(OWN, bag_of_words)


def test_cosines_raises_for_model_folder_without_torch(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(opening, "find_spec", lambda library: None)
    with refused(LanguageModelError, "torch pip install 'bayes-bias[transformers]'"):
        bb.cosines(OWN, str(tmp_path), templates="plain-10")


def test_is_encoder_recognises_model_folder_without_opening(tmp_path) -> None:
    assert not is_encoder(str(tmp_path))
    (tmp_path / "config.json").write_text("{}")
    assert is_encoder(tmp_path)
    assert not is_encoder("googlenews-demo")
    assert not is_encoder(pd.DataFrame())
    assert as_encoder(SimpleNamespace(encode=bag_of_words)).name == "SimpleNamespace"


def test_embedding_from_sentences_matches_encoder(tmp_path) -> None:
    rows = bb.language_models.sentences_to_encode(OWN, "plain-10").sample(frac=1, random_state=1)
    assert (rows.apply(lambda row: row.sentence[row.start : row.end].lower(), axis=1) == rows.word).all()
    found = bb.cosines(
        OWN, bb.language_models.embedding_from_sentences(rows, bag_of_words(list(rows.sentence))), controls=()
    )
    direct = bb.cosines(OWN, bag_of_words, controls=(), templates="plain-10")
    assert found.replicates is not None
    assert set(found.replicates.labels) == set(direct.replicates.labels)
    order = {"target": found.values.target, "attribute": found.values.attribute}
    np.testing.assert_allclose(found.values, direct.values.sel(order), atol=1e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows, vectors: (rows.drop(columns="template"), vectors), 'column template'),
        (lambda rows, vectors: (rows, vectors[1:]), '120 (120, d)'),
        (lambda rows, vectors: (rows.iloc[1:], vectors[1:]), "119 12 10 'rose'"),
        (lambda rows, vectors: (rows, np.where(np.arange(120)[:, None] == 1, np.nan, vectors)), 'row 2 That'),
        (lambda rows, vectors: (rows, vectors.astype(np.int8)), "int8 quantised precision='float32'"),
    ],
)  # fmt: skip
def test_embedding_from_sentences_raises_for_invalid_rows_or_vectors(change, message) -> None:
    rows = bb.language_models.sentences_to_encode(OWN, "plain-10")
    with refused(BayesBiasError, message):
        bb.language_models.embedding_from_sentences(*change(rows, bag_of_words(list(rows.sentence))))


def test_save_sentence_vectors_matches_answers_by_id_or_sentence(tmp_path):
    rows = bb.language_models.sentences_to_encode(OWN, "plain-10")
    vectors = np.random.default_rng(1).normal(size=(len(rows), 4))
    known = bb.language_models.embedding_from_sentences(rows, vectors).all()
    answers = [
        {"custom_id": name, "response": {"body": {"data": [{"index": 0, "embedding": vector.tolist()}]}}}
        for name, vector in zip(rows.id, vectors, strict=True)
    ]
    (tmp_path / "ids.jsonl").write_text("\n".join(map(json.dumps, answers[::-1])))
    shuffled = pd.DataFrame({"text": rows.sentence, "embedding": list(vectors), "id": range(len(rows))})
    shuffled = shuffled.sample(frac=1, random_state=2)
    shuffled.to_parquet(tmp_path / "texts.parquet")
    shuffled.assign(embedding=shuffled.embedding.map(list)).to_csv(tmp_path / "texts.csv", index=False)
    in_columns = pd.DataFrame(vectors, columns=["d0", "d1", "d2", "d3"]).assign(d4=0, id=rows.id, label="x")
    in_columns.drop(columns="d4").sample(frac=1, random_state=3).to_csv(tmp_path / "numbers.csv", index=False)
    for name in ("ids.jsonl", "texts.parquet", "texts.csv", "numbers.csv"):
        save_sentence_vectors(rows, tmp_path / name, tmp_path / "v.npz", overwrite=True)
        read = bb.open_embedding(tmp_path / "v.npz").all()
        assert read.keys() == known.keys()
        assert np.allclose(stacked(read, known), stacked(known, known), atol=1e-6)
    in_columns.to_csv(tmp_path / "numbers.csv", index=False)
    save_sentence_vectors(rows, tmp_path / "numbers.csv", tmp_path / "v.npz", overwrite=True)
    assert bb.open_embedding(tmp_path / "v.npz").dimensions == 5
    in_columns.astype(object).replace({"d1": {in_columns.d1[1]: "?"}}).to_csv(tmp_path / "numbers.csv", index=False)
    with refused(EmbeddingError, "numbers.csv column 'd1' row 2 '?' is not a number"):
        save_sentence_vectors(rows, tmp_path / "numbers.csv", tmp_path / "v.npz", overwrite=True)
    (tmp_path / "ids.jsonl").write_text("\n".join(map(json.dumps, answers[1:])))
    with refused(EmbeddingError, f"1 of {len(rows)} sentences id 's00001'"):
        save_sentence_vectors(rows, tmp_path / "ids.jsonl", tmp_path / "v.npz", overwrite=True)
    (tmp_path / "ids.jsonl").write_text("\n".join(map(json.dumps, [*answers, answers[0]])))
    with refused(EmbeddingError, "id 's00001' more than once"):
        save_sentence_vectors(rows, tmp_path / "ids.jsonl", tmp_path / "v.npz", overwrite=True)


@pytest.mark.parametrize("name", field_names())
def test_field_list_words_have_classes_for_plain_templates(name):
    words = bb.load_wordlist(name)
    table = bb.cosines(words, bag_of_words, controls=(), templates="plain-10", sub_topics="independent")
    assert (table.coverage.missing == "").all()
    targets, attributes = set(map(str.casefold, words.targets)), set(map(str.casefold, words.attributes))
    assert table.values.shape == (len(targets), len(attributes))  # the encoder reads words in lower case
    assert len(table.replicates.tables) == 10
