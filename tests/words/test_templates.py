"""Words become phrases, phrases become sentences, and where a word stands is known to the character."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayes_bias.errors import TemplateError, WordListError
from bayes_bias.words.list_files import control_names, field_names, wordlist_names
from bayes_bias.words.list_rules import WORD_CLASSES
from bayes_bias.words.templates import (
    article,
    lexicon,
    load_templates,
    phrases,
    template_names,
    word_class,
    word_classes,
)
from bayes_bias.words.wordlist import WordList, load_controls, load_wordlist
from tests.helpers import refused

SETS = [load_templates(name) for name in template_names()]
ONE = [templates for templates in SETS if templates.slots == ("word",)]
TWO = [templates for templates in SETS if templates.slots != ("word",)]


def test_lexicon_matches_words_of_builtin_lists() -> None:
    wanted = set()
    for words in (*map(load_wordlist, wordlist_names()), *map(load_controls, control_names())):
        wanted.update(words.words)
    assert set(lexicon()) == wanted
    assert tuple(phrases()) == WORD_CLASSES


@pytest.mark.parametrize("templates", SETS, ids=lambda templates: templates.name)
def test_template_set_has_ten_sentences_for_suitable_lists(templates) -> None:
    assert len(set(templates.labels)) == 10
    for name in templates.suits:
        words = load_wordlist(name)
        known = word_classes(words)
        for word in words.words:
            assert word_class(word, known) in templates.classes, (templates.name, name, word)


@pytest.mark.parametrize("name", ["plain-10", "association-10"])
def test_plain_and_association_templates_suit_every_list(name: str) -> None:
    assert {*load_templates(name).suits} == {*wordlist_names(), *field_names()}


@pytest.mark.parametrize("templates", ONE, ids=lambda templates: templates.name)
def test_sentences_have_word_at_span(templates) -> None:
    for word, known in word_classes(*map(load_wordlist, field_names())).items():
        if known not in templates.classes:
            continue
        for sentence in templates.sentences(word, known):
            assert sentence.text[sentence.start : sentence.end].casefold() == word.casefold()
            assert sentence.text[0].isupper()
            assert sentence.text[-1] in ".?"
            assert not re.search(r"\{|\}|  | \.|\ba a", sentence.text)
            if known == "noun":
                assert f"{article(word)} {word}" in sentence.text[0].lower() + sentence.text[1:]


@given(st.sampled_from(TWO), st.data())
def test_pairs_have_target_and_attribute_at_spans(templates, data) -> None:
    usable = sorted(word for word, known in lexicon().items() if known in templates.classes)
    target, attribute = data.draw(st.sampled_from(usable)), data.draw(st.sampled_from(usable))
    found = templates.pairs((target, lexicon()[target]), (attribute, lexicon()[attribute]))
    for pair in found:
        assert pair.text[slice(*pair.target)].casefold() == target.casefold()
        assert pair.text[slice(*pair.attribute)].casefold() == attribute.casefold()


def test_sentence_span_marks_word_rather_than_substring() -> None:
    """The published benchmark masked the "he" of "the"."""
    (sentence, *_) = (s for s in load_templates("name-10").sentences("he", "object") if "They" in s.text)
    assert sentence.text == "They were talking about he."
    assert sentence.start == sentence.text.rindex("he")


@pytest.mark.parametrize(
    ("word", "right"),
    [
        ("hour", "an"), ("heir", "an"), ("honor", "an"), ("house", "a"), ("European", "a"), ("unicorn", "a"),
        ("union", "a"), ("uncle", "an"), ("unimportant", "an"), ("university", "a"), ("umbrella", "an"),
        ("user", "a"), ("one-off", "a"), ("onion", "an"), ("ewe", "a"), ("FBI", "an"), ("UFO", "a"), ("8-ball", "a"),
        ("usher", "an"), ("uninteresting", "an"), ("eulogy", "a"), ("utensil", "a"), ("utter", "an"), ("oboe", "an"),
        ("cpu", "a"),
    ],
)  # fmt: skip
def test_article_matches_sound_of_word(word, right) -> None:
    assert article(word) == right


def test_word_class_matches_list_and_raises_for_unknown_words() -> None:
    content = {
        "groups": {"flowers": ["edelweiss"], "insects": ["Rose"]},
        "classes": {"pleasant": ["love"], "unpleasant": ["crash"]},
        "stereotypes": {"flowers": "pleasant", "insects": "unpleasant"},
    }
    plain = WordList.from_mapping(content)
    own = WordList.from_mapping(content | {"word_classes": {"mass": ["edelweiss"]}})
    assert word_class("edelweiss", word_classes(own)) == "mass"
    assert plain.sha256 != own.sha256
    with refused(TemplateError, "'edelweiss' [word_classes] noun = [\"edelweiss\"] plural"):
        word_class("edelweiss", word_classes(plain))
    with refused(TemplateError, "'Rose' 'rose' noun"):
        word_class("Rose")
    with refused(WordListError, "'nouns' 'noun'"):
        WordList.from_mapping(content | {"word_classes": {"nouns": ["edelweiss"]}})
    with refused(WordListError, "'Rose' 'noun' 'name'"):
        WordList.from_mapping(content | {"word_classes": {"noun": ["Rose"], "name": ["Rose"]}})


def test_word_classes_raises_for_conflicting_lists() -> None:
    as_read = WordList("a", "", "", {}, {}, {}, {}, word_classes={"wug": "noun"})
    as_written = WordList("b", "", "", {}, {}, {}, {}, word_classes={"wug": "mass"})
    with refused(TemplateError, "'wug' 'noun' 'mass' 'b'"):
        word_classes(as_read, as_written)


def test_with_controls_adds_word_classes() -> None:
    more = WordList(
        "more", "", "", groups={}, classes={}, stereotypes={}, controls={"more": ("wug",)}, word_classes={"wug": "noun"}
    )
    assert load_wordlist("weat6").with_controls([more]).word_classes == {"wug": "noun"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", '[[sentences]]'),
        ("[[sentences]]\ntext = 'This is it.'", "sentence 1 'This is it.' {word}"),
        ("[[sentences]]\ntext = '{word} is {word}.'", '{word} and {word}'),
        ("[[sentences]]\ntext = 'A {ward}.'", '{ward}'),
        ("[[sentences]]\ntext = 'A {word}.'", 'article slot'),
        ("[[sentences]]\ntext = 'It {word}.'\nplurals = 'x {word}'", "'plurals' 'plural'"),
        ("[[sentences]]\ntext = 'It {word}.'\nplural = 'x'", "'plural' 'x' slot"),
        ("[[sentences]]\ntext = 'It {word}.'\n[[sentences]]\ntext = 'It {word}.'", '2 times'),
        ("[[sentences]]\ntext = 'It {word}.'\n[[sentences]]\ntext = '{target} {attribute}.'", 'same slots'),
        ("classes = ['nouns']\n[[sentences]]\ntext = 'It {word}.'", "'nouns'"),
        ("[phrases]\nnoun = 'a'\n[[sentences]]\ntext = 'It {word}.'", "'phrases.noun' 'a' slot"),
        ("[[sentences]\n", 'TOML'),
    ],
)  # fmt: skip
def test_load_templates_raises_for_invalid_file(tmp_path: Path, content, message) -> None:
    file = tmp_path / "own.toml"
    file.write_text(content)
    with refused(TemplateError, message):
        load_templates(file)


def test_templates_raise_for_missing_and_unfit_sets() -> None:
    with refused(TemplateError, "'plain-10'"):
        load_templates("plan-10")
    with refused(TemplateError, "'kill' 'verb' 'noun-10' name-10 plain-10"):
        load_templates("noun-10").sentences("kill", "verb")
    with refused(TemplateError, "{target} {attribute} association"):
        load_templates("plain-10").pairs(("he", "subject"), ("nurse", "noun"))
    with refused(TemplateError, "'association-10' {word}"):
        load_templates("association-10").sentences("he", "subject")


def test_templates_hash_ignores_title_and_includes_forms_and_phrases(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    hashes = []
    for text in ("title='a'\n[[sentences]]\ntext='It {word}.'", "[[sentences]]\ntext='It {word}.'",
                 "[[sentences]]\ntext='It {word}.'\nplural='They {word}.'",
                 "[phrases]\nnoun='the {word}'\n[[sentences]]\ntext='It {word}.'"):  # fmt: skip
        file.write_text(text)
        hashes.append(load_templates(file).sha256)
    assert hashes[0] == hashes[1]
    assert len(set(hashes)) == 3


def _seat(**changes) -> str:
    content = {
        "targ1": {"category": "Flowers", "examples": ["This is a rose.", "That is a lily."]},
        "targ2": {"category": "Insects", "examples": ["This is an ant.", "That is a wasp."]},
        "attr1": {"category": "Pleasant", "examples": ["There is love.", "That is a gift."]},
        "attr2": {"category": "Unpleasant", "examples": ["There is hatred.", "That is a crash."]},
    }
    return json.dumps(content | changes)


def test_load_wordlist_reads_words_from_seat_file(tmp_path: Path) -> None:
    file = tmp_path / "sent-weat1.jsonl"
    file.write_text(_seat())
    found = load_wordlist(file)
    assert found.groups["Insects"] == ("ant", "wasp")
    assert found.sentences["ant"] == {"This is an ant.": "This is {}."}
    assert found.stereotypes == {"Flowers": "Pleasant", "Insects": "Unpleasant"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", 'JSON'),
        ("[]", 'list words names'),
        (_seat(attr2=None), "'attr2' 'category' 'examples'"),
        (_seat(targ2={"category": "Flowers", "examples": ["x"]}), "'targ1' 'targ2' 'Flowers'"),
    ],
)  # fmt: skip
def test_load_wordlist_raises_for_invalid_seat_file(tmp_path: Path, text, message) -> None:
    file = tmp_path / "sent.json"
    file.write_text(text)
    with refused(WordListError, message):
        load_wordlist(file)
