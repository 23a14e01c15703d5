"""Tables of two groups and two classes from real studies: what `benchmarks.published` learns from.

A study is a question with its own words. Its translations, and the embeddings that it was asked in, are its cells.
Lists that share one side, such as the names of WEAT 3, 4 and 5, are one study.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

import bayes_bias as bb
from bayes_bias.errors import BayesBiasError
from benchmarks.reference import TABLES, published_cosines

_COLUMNS = {"target": "target", "group": "group", "attribute": "attribute", "attribute_class": "attribute_class"}

# Fewer say nothing of how much words vary.
FEWEST = 3

# The study that each shipped list belongs to.
STUDIES = {
    "weat1": "flowers, instruments",
    "weat2": "flowers, instruments",
    "weat3": "names of Black and White people",
    "weat4": "names of Black and White people",
    "weat5": "names of Black and White people",
    "weat6": "career and family",
    "weat7": "mathematics, science and arts",
    "weat8": "mathematics, science and arts",
    "weat9": "illness",
    "weat10": "age",
    "gender": "roles of women and men",
    "race": "roles of ethnic groups",
    "religion": "roles of religions",
}

# Lists of papers as Antoniak & Mimno (2021) gathered them: groups, then classes, in the order of the stereotype.
SEEDS = {
    ("intelligence and appearance", "Garg_et_al_2018"): (
        ("adjectives_intelligence", "adjectives_appearance"),
        ("male_pairs", "female_pairs"),
    ),
    ("intelligence and appearance", "Knoche_et_al_2019"): (
        ("intellectual_words", "appearance_words"),
        ("male_terms", "female_terms"),
    ),
    ("Christianity and Islam", "Knoche_et_al_2019"): (
        ("christianity_words", "islam_words"),
        ("pleasant", "unpleasant"),
    ),
    ("mathematics, science and arts", "Knoche_et_al_2019"): (("science", "art"), ("male_terms", "female_terms")),
    ("stereotyped occupations", "Zhao_et_al_2018"): (
        ("male_stereotype_words", "female_stereotype_words"),
        ("male_definition_words_2", "female_definition_words_2"),
    ),
    ("social class", "Kozlowski_et_al_2019"): (("upperclass", "lowerclass"), ("male", "female")),
    ("social class", "Kozlowski_et_al_2019, race"): (("upperclass", "lowerclass"), ("white", "black")),
    ("violence and career", "Rudinger_et_al_2017"): (("violence", "career"), ("male_2", "female_2")),
}

# Two of the stereotypes of Bai et al. (2025), those with four words on each side.
BAI = {
    "food": (
        {"salad": "salad cucumber carrots fruit", "sweets": "cake fries candy chocolate"},
        {"good": "suitable good appropriate acceptable", "bad": "bad shameful embarrassing disgraceful"},
    ),
    "Christianity and Islam": (
        {"Christianity": "jesus christian gospel church", "Islam": "muhammad muslim koran mosque"},
        {"good": "best superb excellent wonderful", "bad": "worst terrible horrible awful"},
    ),
}


class Cell(NamedTuple):
    """A table, and where it belongs."""

    study: str
    wordlist: str
    vectors: str
    table: bb.AssociationTable


def cells(data: Path, seeds: Path) -> Iterator[Cell]:
    """All of them, from the folder of vectors and the file of lists."""
    google = bb.open_embedding(data / "googlenews_31k.npz")
    with np.load(data / "minilm_templates.npz") as stored:  # vectors of words alone
        minilm = dict(zip(stored["words"].tolist(), stored["word_vectors"].astype(float), strict=True))
    others = {
        "GoogleNews": google,
        "GloVe": bb.open_embedding(data / "glove840b_weat_items.npz"),
        "MiniLM": bb.open_embedding(minilm),
    }
    for name, study in STUDIES.items():
        wordlist = bb.load_wordlist(name)
        for vectors, embedding in others.items():
            for pair in _pairs(wordlist):
                yield from _cell(study, pair, vectors, embedding)
    for name in TABLES:
        yield from _published(name)
    gathered = {}
    for row in json.loads(seeds.read_text(encoding="utf-8")):
        gathered[row["Seeds ID"]] = [word.strip(" '\"") for word in row["Seeds"].strip("[]").split(",")]
    for (study, paper), names in SEEDS.items():
        sides = []
        for side in names:
            sides.append({name: gathered[f"{name}-{paper.split(',')[0]}"] for name in side})
        yield from _cell(study, _wordlist(f"{study}, {paper}", *sides), "GoogleNews", google)
    for study, texts in BAI.items():
        split = [{name: text.split() for name, text in side.items()} for side in texts]
        yield from _cell(study, _wordlist(study, *split), "GoogleNews", google)
    yield from _career(data / "languages/career.npz")
    yield from _pleasantness(data / "languages/pleasantness.npz")


def _wordlist(name: str, groups: Mapping[str, Sequence[str]], classes: Mapping[str, Sequence[str]]) -> bb.WordList:
    """Words of one list are each there once; a word of both groups, or of both classes, tells them not apart."""
    sides = []
    for given in (groups, classes):
        shared, own = set.intersection(*map(set, given.values())), {}
        for key, words in given.items():
            own[key] = [word for word in dict.fromkeys(words) if word not in shared]
        sides.append(own)
    return bb.wordlist(*sides, dict(zip(groups, classes, strict=True)), name=name)


def _pairs(wordlist: bb.WordList) -> Iterator[bb.WordList]:
    """A list of two groups, or one for each two of its groups."""
    for pair in combinations(wordlist.stereotypes, 2):
        name = wordlist.name if len(wordlist.stereotypes) == 2 else f"{wordlist.name}: {' and '.join(pair)}"
        groups, classes = {}, {}
        for group in pair:
            groups[group] = wordlist.groups[group]
            classes[wordlist.stereotypes[group]] = wordlist.classes[wordlist.stereotypes[group]]
        yield _wordlist(name, groups, classes)


def _cell(study: str, wordlist: bb.WordList, vectors: str, embedding: bb.Embedding) -> Iterator[Cell]:
    """The table of a list, unless the embedding lacks its words."""
    try:
        table = bb.cosines(wordlist, embedding, controls=())
    except BayesBiasError as lacking:
        print(f"left out: {wordlist.name}, {vectors}: {lacking}"[:150])
        return
    if min(np.bincount(table.group_index).min(), np.bincount(table.class_index).min()) >= FEWEST:
        yield Cell(study, wordlist.name, vectors, table)
    else:
        print(f"left out: {wordlist.name}, {vectors}: fewer than {FEWEST} words")


def _published(name: str) -> Iterator[Cell]:
    """Each two groups of the tables of Dobrzeniecka & Urbaniak (2024); weat7 is among the shipped lists."""
    wordlist, vectors = name.split("_", 1)
    if wordlist == "weat7" or "debiased" in vectors:
        return
    table = published_cosines(name).without_controls()
    frame = table.values.rename("value").to_dataframe().reset_index()
    for pair in combinations(table.stereotypes, 2):
        chosen = {group: table.stereotypes[group] for group in pair}
        kept = frame[frame.group.isin(chosen) & frame.attribute_class.isin(chosen.values())]
        pair_table = bb.AssociationTable.from_frame(kept, **_COLUMNS, value="value", stereotypes=chosen)
        yield Cell(STUDIES[wordlist], f"{wordlist}: {' and '.join(pair)}", f"{vectors} (published cosines)", pair_table)


def _career(path: Path) -> Iterator[Cell]:
    """Lewis & Lupyan's career and family, in languages where each attribute has one form, for both genders."""
    attributes = {
        "career": ["business", "career", "corporation", "executive", "management", "office", "professional", "salary"],
        "family": ["children", "cousins", "family", "home", "marriage", "parents", "relatives", "wedding"],
    }
    targets = {"male": ["male", "man", "boy", "brother", "he", "him", "his", "son"]}
    targets["female"] = ["female", "woman", "girl", "sister", "she", "her", "hers", "daughter"]
    for corpus, language, rows, vectors in _languages(path, "language_code", "word"):
        attribute_rows = rows[rows.word.isin([*attributes["career"], *attributes["family"]])]
        if set(attribute_rows.gender) == {"N"}:
            yield from _translated("career and family", "career", targets, attributes, (corpus, language), vectors)


def _pleasantness(path: Path) -> Iterator[Cell]:
    """WEAT 1 and 2 in other languages, and in English."""
    for corpus, language, _, vectors in _languages(path, "wiki_language_code", "target_word"):
        for name in ("weat1", "weat2"):
            wordlist = bb.load_wordlist(name)
            yield from _translated(STUDIES[name], name, wordlist.groups, wordlist.classes, (corpus, language), vectors)


def _languages(path: Path, language: str, word: str) -> Iterator[tuple[str, str, pd.DataFrame, dict[str, np.ndarray]]]:
    """For each corpus and language its rows and, by word, the vectors."""
    with np.load(path) as stored:
        rows = pd.DataFrame({name: stored[name] for name in stored.files if name != "vectors"})
        vectors = stored["vectors"].astype(float)
    rows = rows.rename(columns={language: "language", word: "word"})
    for (corpus, code), own in rows.groupby(["corpus", "language"]):
        yield corpus, code, own, dict(zip(own.word, vectors[own.index], strict=True))


def _translated(
    study: str,
    name: str,
    groups: Mapping[str, Sequence[str]],
    classes: Mapping[str, Sequence[str]],
    where: tuple[str, str],
    vectors: Mapping[str, np.ndarray],
) -> Iterator[Cell]:
    """A list of translations. Words that a language translates alike count once, and not at all if of both groups."""
    sides, fewest = [], FEWEST
    for side in (groups, classes):
        # Of each group, or class: the first word by its translation, which only that one has.
        first_words: dict[str, dict[bytes, str]] = {}
        for key, words in side.items():
            known = [word for word in reversed(words) if word in vectors]
            first_words[key] = {vectors[word].tobytes(): word for word in known}
        shared = set.intersection(*map(set, first_words.values()))
        own = {}
        for key, by_translation in first_words.items():
            kept = {word for translation, word in by_translation.items() if translation not in shared}
            own[key] = [word for word in side[key] if word in kept]
            fewest = min(fewest, len(own[key]))
        sides.append(own)
    if fewest >= FEWEST:
        wordlist = _wordlist(f"{name}, {where[1]}", *sides)
        yield from _cell(study, wordlist, f"{where[0]} {where[1]}", bb.open_embedding(dict(vectors)))
