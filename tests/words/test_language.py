"""Control classes are those in the language of a list, as it states it, or for English as its words show."""

from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.errors import WordListError
from bayes_bias.words.list_files import field_names, wordlist_names
from bayes_bias.words.spelling import count_english
from tests.helpers import Vectors, containing, random_vectors, refused, saying, says

# WEAT 7 in other languages, by the authors of these tests.
TRANSLATIONS = {
    "de": {
        "Mathematik=männlich": ["Mathematik", "Algebra", "Geometrie", "Gleichungen", "Zahlen", "Addition"],
        "Kunst=weiblich": ["Poesie", "Kunst", "Tanz", "Literatur", "Roman", "Drama"],
        "männlich": ["Mann", "Junge", "Bruder", "er", "sein", "Sohn"],
        "weiblich": ["Frau", "Mädchen", "Schwester", "sie", "ihr", "Tochter"],
    },
    "fr": {
        "maths=masculin": ["mathématiques", "algèbre", "géométrie", "calcul", "nombres", "addition"],
        "arts=féminin": ["poésie", "art", "danse", "littérature", "roman", "sculpture"],
        "masculin": ["homme", "garçon", "frère", "il", "fils", "masculin"],
        "féminin": ["femme", "fille", "sœur", "elle", "sienne", "féminin"],
    },
    "nl": {
        "wiskunde=mannelijk": ["wiskunde", "algebra", "meetkunde", "vergelijkingen", "getallen", "optellen"],
        "kunst=vrouwelijk": ["poëzie", "kunst", "dans", "literatuur", "roman", "drama"],
        "mannelijk": ["man", "jongen", "broer", "hij", "hem", "zoon"],
        "vrouwelijk": ["vrouw", "meisje", "zus", "zij", "haar", "dochter"],
    },
    "tr": {
        "matematik=erkek": ["matematik", "cebir", "geometri", "denklem", "sayılar", "toplama"],
        "sanat=kadın": ["şiir", "sanat", "dans", "edebiyat", "roman", "drama"],
        "erkek": ["erkek", "adam", "oğlan", "kardeş", "oğul", "baba"],
        "kadın": ["kadın", "hanım", "kız", "abla", "teyze", "anne"],
    },
    "ru": {
        "алгебра=мужской": ["алгебра", "числа"],
        "искусство=женский": ["поэзия", "танец"],
        "мужской": ["мужчина", "мальчик"],
        "женский": ["женщина", "девочка"],
    },
}
ENGLISH = {
    "colours=warm": ["red", "orange", "yellow", "purple"],
    "animals=cold": ["wolf", "shark", "tiger", "snake"],
    "warm": ["friendly", "gentle", "cheerful", "kind"],
    "cold": ["hostile", "cruel", "gloomy", "harsh"],
}
OWN = {"things": ["thing1", "thing2"]}
CONTROLS = bb.load_wordlist("weat7").with_controls(["neutral", "human"]).controls


def vectors(words: dict[str, list[str]]) -> Vectors:
    """Of a list and of every English control word, as files of other languages have them too."""
    every = chain.from_iterable([*words.values(), *OWN.values(), *CONTROLS.values()])
    return random_vectors(1, every, 30)


@pytest.mark.parametrize("code", TRANSLATIONS)
def test_cosines_omits_english_controls_for_lists_in_other_languages(code: str) -> None:
    words = TRANSLATIONS[code]
    table = bb.cosines(words, vectors(words))
    assert table.controls == ()
    (notice,) = containing(table.notices, "omitted")
    total = sum(map(len, words.values()))
    assert says(notice, f"'neutral' 'human' English {total} words of the list language='en'")
    stated = bb.cosines(bb.load_wordlist(words, language=code), vectors(words))
    assert stated.controls == ()
    assert saying(stated.notices, f"'neutral' 'human' 'en' '{code}'")
    assert stated.values.equals(bb.cosines(words, vectors(words), ()).values)
    # The remedies of both messages:
    assert bb.cosines(bb.load_wordlist(words, language="en"), vectors(words)).controls == ("neutral", "human")
    assert bb.cosines(bb.load_wordlist(words, language=code), vectors(words), OWN).controls == ("things",)


def test_cosines_keeps_controls_of_english_list_with_notice(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "bayes_bias")
    table = bb.cosines(ENGLISH, vectors(ENGLISH))
    assert table.controls == ("neutral", "human")
    (remark,) = containing(table.notices, "English")
    assert says(remark, "16 of the 16 words language='de'")
    assert ("bayes_bias", 20, remark) in caplog.record_tuples  # INFO, since nothing is wrong
    assert bb.cosines(bb.load_wordlist(ENGLISH, language="en-GB"), vectors(ENGLISH)).controls == ("neutral", "human")
    # The remedy of the remark:
    assert bb.cosines(bb.load_wordlist(ENGLISH, language="de"), vectors(ENGLISH)).controls == ()


def test_cosines_keeps_own_controls_unless_languages_differ(tmp_path: Path) -> None:
    words = TRANSLATIONS["de"]
    assert bb.cosines(words, vectors(words), ("neutral", OWN)).controls == ("things",)
    for code, kept in {"de": ("things",), "en": ()}.items():
        path = tmp_path / f"{code}.toml"
        path.write_text(f'language = "{code}"\n[classes]\nthings = ["thing1", "thing2"]\n')
        assert bb.cosines(bb.load_wordlist(words, language="de"), vectors(words), path).controls == kept


def test_builtin_wordlist_is_marked_as_english() -> None:
    for name in (*wordlist_names(), *field_names()):
        words = bb.load_wordlist(name)
        assert words.language == "en"
        compared = [*words.targets, *chain.from_iterable(words.classes.values())]
        assert count_english(compared) / len(compared) > 0.58  # so that own lists of such words count as English


@pytest.mark.parametrize("form", ["toml", "json", "memory", "argument"])
def test_load_wordlist_reads_language_from_file_or_argument(tmp_path: Path, form: str) -> None:
    parts: dict[str, Any] = {
        "language": "de-AT",
        "groups": {"a": ["Mathematik"], "b": ["Kunst"]},
        "classes": {"c": ["Mann"], "d": ["Frau"]},
        "stereotypes": {"a": "c", "b": "d"},
    }
    path = tmp_path / f"list.{form}"
    path.write_text(
        'language = "de-AT"\ngroups = {a = ["Mathematik"], b = ["Kunst"]}\nclasses = {c = ["Mann"], d = ["Frau"]}\n'
        'stereotypes = {a = "c", b = "d"}\n'
        if form == "toml"
        else str(parts).replace("'", '"')
    )
    sources: dict[str, Any] = {"toml": path, "json": path, "memory": parts}
    plain = {key: value for key, value in parts.items() if key != "language"}
    words = bb.load_wordlist(plain, language="de_AT") if form == "argument" else bb.load_wordlist(sources[form])
    assert words.language == "de-at"
    assert words.sha256 == bb.load_wordlist(plain).sha256
    assert bb.load_wordlist(words, language="en").language == "de-at"  # what a list states stays


@pytest.mark.parametrize("language", ["German", "e", "d3", "english words"])
def test_load_wordlist_raises_for_invalid_language(language: str) -> None:
    with refused(WordListError, f"language '{language}' two or three letters 'en'"):
        bb.load_wordlist(ENGLISH, language=language)


def test_table_command_selects_controls_by_language_option(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = TRANSLATIONS["de"]
    pd.DataFrame(words).to_csv("liste.csv", index=False)
    bb.save_vectors(vectors(words), tmp_path / "de.txt")
    command = ("table", "liste.csv", "--embedding", "de.txt", "--out")
    _, _, err = run(*command, "none.csv")
    assert says(err, "liste 'neutral' and 'human' omitted 5 of the 24 words --language en")
    assert "load_wordlist" not in err
    run(*command, "english.csv", "--language", "en")
    _, _, stated = run(*command, "german.csv", "--language", "de")
    assert says(stated, "'neutral' and 'human' omitted 'en' 'de'")
    assert "neutral" in Path("english.csv").read_text(encoding="utf-8")
    assert "neutral" not in Path("none.csv").read_text(encoding="utf-8")
    assert "neutral" not in Path("german.csv").read_text(encoding="utf-8")
    code, _, err = run(*command, "wrong.csv", "--language", "German")
    assert (code, says(err, "language 'German'")) == (2, True)


def test_grid_omits_controls_in_another_language_with_one_notice(caplog: pytest.LogCaptureFixture) -> None:
    named = [replace(bb.load_wordlist(TRANSLATIONS["de"]), name="de"), replace(bb.load_wordlist(ENGLISH), name="en")]
    both = vectors(TRANSLATIONS["de"]) | vectors(ENGLISH)
    (german, english), _, _ = bb.Grid(named, [bb.open_embedding(both)]).opened()
    assert (tuple(german.controls), tuple(english.controls)) == ((), ("neutral", "human"))
    assert len(containing(caplog.messages, "omitted")) == 1
    (german, english), _, _ = bb.Grid(named, [bb.open_embedding(both)], language="de").opened()
    assert (tuple(german.controls), tuple(english.controls)) == ((), ())


def test_cosines_warns_about_translation_marked_as_english(tmp_path: Path) -> None:
    """As a copy of a list of this package does whose words were translated."""
    words = TRANSLATIONS["nl"]
    table = bb.cosines(bb.load_wordlist(words, language="en"), vectors(words))
    (remark,) = containing(table.notices, "translation")
    assert says(remark, "English 4 of the 24 words language")
    english = bb.load_wordlist(ENGLISH, language="en")
    assert not containing(bb.cosines(english, vectors(ENGLISH)).notices, "translation")
    assert not containing(bb.cosines("weat7", "googlenews-demo").notices, "translation")
