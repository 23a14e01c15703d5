"""Sentences of one word are not words: each is traced to the word that it was made from, or the list is refused."""

import json
from itertools import chain, product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayes_bias import cosines, fit, load_wordlist, open_embedding, verdict, wordlist
from bayes_bias.errors import WordListError
from bayes_bias.words.wordlist import WordList
from tests.helpers import SHORT, containing, refused

TEMPLATES = ("This is {}.", "There is {}.", "The talk was about {}.", "{} came up.", "We spoke of {}.")
GROUPS = {"birds": ["owl", "wren", "crow", "prime minister"], "fish": ["cod", "eel", "ray", "carp"]}
CLASSES = {"calm": ["rest", "hush", "ease"], "loud": ["din", "roar", "bang"]}
STEREOTYPES = {"birds": "calm", "fish": "loud"}


def _made(words: list[str], templates: tuple[str, ...] = TEMPLATES) -> list[str]:
    sentences = []
    for word, template in product(words, templates):
        article = "an" if word[0] in "aeiou" else "a"
        sentence = template.format(f"{article} {word}")
        sentences.append(sentence[0].upper() + sentence[1:])
    return sentences


def _list(**changes: Any) -> WordList:
    groups = {name: _made(words) for name, words in GROUPS.items()}
    classes = {name: _made(words) for name, words in CLASSES.items()}
    return wordlist(**{"groups": groups, "classes": classes, "stereotypes": STEREOTYPES} | changes)


def _vectors(words: WordList, seed: int = 1) -> dict[str, np.ndarray]:
    """A direction for each word, another for each template, and a little that is neither."""
    rng = np.random.default_rng(seed)
    directions: dict[str, np.ndarray] = {}
    vectors = {}
    for word, sentences in words.sentences.items():
        for sentence, template in sentences.items():
            direction = directions.setdefault(word, rng.normal(size=60))
            frame = directions.setdefault(template, rng.normal(size=60))
            vectors[sentence] = direction + 0.4 * frame + 0.15 * rng.normal(size=60)
    return vectors


def test_cosines_returns_replicate_for_each_shared_template() -> None:
    words = _list()
    assert {**words.groups, **words.classes} == {k: tuple(v) for k, v in {**GROUPS, **CLASSES}.items()}
    vectors = _vectors(words)
    table = cosines(words, open_embedding(vectors), controls=())
    assert table.values.shape == (8, 6)
    assert table.replicates is not None
    assert table.replicates.labels == TEMPLATES
    owl, rest = vectors["There is an owl."], vectors["There is a rest."]
    expected = owl @ rest / np.linalg.norm(owl) / np.linalg.norm(rest)
    single = table.replicates.tables["There is {}."].sel(target="owl", attribute="rest")
    assert single.item() == pytest.approx(expected, abs=1e-6)


def test_cosines_averages_sentence_vectors_when_templates_differ() -> None:
    owl = _made(["owl"])[:3]
    words = _list(groups={"birds": [*owl, *_made(GROUPS["birds"][1:])], "fish": _made(GROUPS["fish"])})
    vectors = _vectors(words)
    table = cosines(words, open_embedding(vectors), controls=())
    assert table.replicates is None
    assert table.values.shape == (8, 6)
    mean = np.mean([vectors[sentence] for sentence in owl], axis=0)
    np.testing.assert_allclose(table.vectors["owl"], mean / np.linalg.norm(mean), atol=1e-6)
    assert containing(table.notices, "different templates")


def test_wordlist_matches_plural_sentences_to_singular_words() -> None:
    fish, more = _made(GROUPS["fish"]), ["These are cods.", "These are eels.", "These are rays.", "These are carps."]
    birds = [*_made(["fly", "wolf"]), "These are flies.", "These are wolves."]
    words = _list(groups={"birds": birds, "fish": [*fish, *more]})
    assert words.groups == {"birds": ("fly", "wolf"), "fish": tuple(GROUPS["fish"])}


def test_cosines_of_encoder_match_stored_sentence_vectors() -> None:
    words = _list()
    vectors = _vectors(words)
    encoded = cosines(words, lambda sentences: [vectors[s] for s in sentences], controls=())
    stored = cosines(words, open_embedding(vectors), controls=())
    np.testing.assert_allclose(encoded.values, stored.values, atol=1e-6)
    by_word = {word: vectors[next(iter(own))] for word, own in words.sentences.items()}
    assert cosines(words, open_embedding(by_word), controls=()).replicates is None


def test_wordlist_reads_sentences_by_word_or_as_units() -> None:
    words = chain.from_iterable([*GROUPS.values(), *CLASSES.values()])
    own = {word: _made([word], TEMPLATES[:2]) for word in words}
    named = _list(groups=GROUPS, classes=CLASSES, sentences=own)
    assert named.sentences["owl"] == {"This is an owl.": "This is {}.", "There is an owl.": "There is {}."}
    units = _list(sentences="as units")
    assert (len(units.targets), units.sentences) == (40, {})
    assert len({named.sha256, units.sha256, _list().sha256}) == 3
    with refused(WordListError, "'sentences' 'no' as units"):
        _list(sentences="no")


NO_FRAME = ["The owl slept in a barn.", "Somewhere a wren began singing.", "Nobody likes crows much."]


@pytest.mark.parametrize(
    ("birds", "message"),
    [
        (NO_FRAME, "'birds' `templates` as units"),
        (_made(["owl"]), "'owl' 'birds' as units"),
        (["The owl sang.", "The owl ate.", "The wren sang.", "The wren ate."], "'birds' owl as units"),
    ],
)  # fmt: skip
def test_wordlist_raises_for_sentences_without_single_word(birds: list[str], message: str) -> None:
    with refused(WordListError, message):
        _list(groups={"birds": birds, "fish": _made(GROUPS["fish"])})


def test_wordlist_keeps_phrases_as_words() -> None:
    phrases = ["prime minister", "mother in law", "New York City"]
    assert _list(groups={"birds": phrases, "fish": ["cod", "eel"]}).groups["birds"] == tuple(phrases)


@pytest.mark.slow
def test_interval_is_wider_for_words_than_sentences() -> None:
    words = _list()
    found = {}
    for name, given in {"words": words, "units": _list(sentences="as units")}.items():
        table = cosines(given, open_embedding(_vectors(words)), controls=())
        bias = verdict(fit(table, sampling=SHORT))
        found[name] = bias.upper - bias.lower
    assert found["words"] > 2 * found["units"]


@pytest.mark.parametrize(("noise", "announced"), [(0.1, True), (0.5, False)])
def test_cosines_warns_about_nearly_equal_vectors(noise: float, announced: bool) -> None:
    rng = np.random.default_rng(1)
    words = load_wordlist("weat7")
    vectors = {word: rng.normal(size=60) for word in words.words}
    math = rng.normal(size=60)
    vectors |= {word: math + noise * rng.normal(size=60) for word in words.groups["math"]}
    notices = cosines(words, open_embedding(vectors), controls=()).notices
    assert bool(containing(notices, "math: the effective number of its 8 words is 1")) is announced


# A phrase among words.

PHRASES = [
    "stay at home mom",
    "united states of america",
    "person with a disability",
    "Washington D.C.",
    "# source: my thesis",
    "Is this right?",
]


def _of_words(*more: str) -> dict[str, list[str]]:
    flowers = ["rose", "tulip", "daisy", "lily"]
    return {
        "flowers=pleasant": [*flowers, *more],
        "insects=unpleasant": ["ant", "spider", "bee", "beetle"],
        "pleasant": ["love", "peace", "joy", "happy"],
        "unpleasant": ["agony", "awful", "evil", "grief"],
    }


_VECTORS: dict[str, np.ndarray] = {}
for _seed, _word in enumerate(chain.from_iterable(_of_words().values())):
    _VECTORS[_word] = np.random.default_rng(_seed).normal(size=6)


@pytest.mark.parametrize("more", [*([phrase] for phrase in PHRASES), PHRASES[:2], PHRASES[:3]])
def test_cosines_omits_phrases_without_vectors_with_notice(more):
    table = cosines(_of_words(*more), _VECTORS, controls=())
    plain = cosines(_of_words(), _VECTORS, controls=())
    assert table.values.equals(plain.values)
    missing = containing(table.notices, "not in embedding")
    assert containing(missing[:1], *more)


def test_cosines_warns_about_missing_phrase_in_class():
    words = _of_words()
    words["pleasant"] = [*words["pleasant"], "peace of mind for all"]
    table = cosines(words, _VECTORS, controls=())
    assert containing(table.notices, "peace of mind for all")


def test_cosines_warns_about_missing_note_in_spreadsheet(tmp_path):
    (tmp_path / "list.csv").write_text(pd.DataFrame(_of_words()).to_csv(index=False) + "# source: my thesis,,,")
    table = cosines(tmp_path / "list.csv", _VECTORS, controls=())
    assert containing(table.notices, "# source: my thesis")
    assert table.values.equals(cosines(_of_words(), _VECTORS, controls=()).values)


def test_cosines_keeps_phrase_with_vector():
    phrase = "stay at home mom"
    table = cosines(_of_words(phrase), {**_VECTORS, phrase: np.ones(6)}, controls=())
    assert phrase in table.values.target


def test_load_wordlist_warns_about_several_phrases():
    words = load_wordlist(_of_words(*PHRASES[:3]))
    assert containing(words.notices, "3 entries are read as phrases", PHRASES[1])
    assert not containing(load_wordlist(_of_words(PHRASES[0])).notices, "phrases")


def test_load_wordlist_reads_words_from_sentences_of_targets():
    words = {
        "flowers=pleasant": ["This is a rose.", "That is a rose.", "This is a lily.", "That is a lily."],
        "insects=unpleasant": ["This is an ant.", "That is an ant.", "This is a fly.", "That is a fly."],
        "pleasant": ["love", "peace", "joy", "happy"],
        "unpleasant": ["agony", "awful", "evil", "grief"],
    }
    assert set(load_wordlist(words).targets) == {"rose", "lily", "ant", "fly"}


CAPTIONS = {
    "a=x": ["A photo of a red rose.", "Tulips stand in the sun."],
    "b=y": ["Some ants on a leaf.", "One bee is flying away."],
    "x": ["The sea in the evening.", "People laugh together."],
    "y": ["A storm is coming now.", "He shouts at his friend."],
}


@pytest.mark.parametrize("kind", ["memory", "list.json", "list.yaml"])
def test_flat_mapping_of_captions_accepts_setting_as_units(tmp_path, kind):
    source: Any = {**CAPTIONS, "sentences": "as units", "title": "Captions"}
    if kind != "memory":
        with refused(WordListError, '"sentences": "as units"'):
            load_wordlist(CAPTIONS)
        (tmp_path / kind).write_text(json.dumps(source))
        source = tmp_path / kind
    words = load_wordlist(source)
    assert words.groups["a"] == tuple(CAPTIONS["a=x"])
    assert words.title == "Captions"
    assert containing(words.notices, "each sentence is a unit")
    assert not containing(words.notices, "omitted")
