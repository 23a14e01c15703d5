"""Read dictionaries of content analysis: LIWC (.dic), Lexicoder (.lc3, .lcd), and WordStat (.cat)."""

import re
from collections.abc import Iterable
from html import unescape
from itertools import chain

from bayes_bias.words.content import Content

SUFFIXES = (".dic", ".lc3", ".lcd", ".cat")

type Categories = dict[str, list[str]]

_LEXICODER_NAME = re.compile(r"\+(.+)\+")
_NODE = re.compile(r"<(c|p)node\s[^>]*?name\s*=\s*(\"[^\"]*\"|'[^']*')", re.IGNORECASE)
_WORDSTAT_WORD = re.compile(r"\s+(.+?)\s+\(-?\d+(?:\.\d+)?\)")
# Blanks before each of the numbers at the end of a line.
_BLANKS = re.compile(r"\s+(?=\d+(?:\s+\d+)*\s*$)")
# A pattern that stands for several words, such as happ*.
_PATTERN = re.compile(r"[*?]")
_NAMED = 5
# The category of words with codes that the legend lacks.
_UNKNOWN = ""


def dictionary_of(text: str, label: str) -> Content | None:
    """Return the words of each category of a dictionary in one of these formats, or None for other text.

    Each format has a function that returns the words of each category, or no words if the text has another format.
    Patterns such as happ* stand for several words and are omitted with a notice. Another notice counts words whose
    category is unknown (`_UNKNOWN`). `label` is the name of the file in notices.
    """
    for words_by_category in (_liwc, _lexicoder, _lexicoder_xml, _wordstat):
        categories = words_by_category(text)
        if any(categories.values()):
            break
    else:  # no format has words
        return None
    notices = []
    if uncategorised := categories.pop(_UNKNOWN, []):
        notices.append(
            f"{label}: {len(uncategorised)} words have codes that are not in the legend, which are not read:"
            f" {', '.join(uncategorised[:_NAMED])}"
        )
    patterns = dict.fromkeys(filter(_PATTERN.search, chain.from_iterable(categories.values())))
    words_of = {name: [word for word in words if word not in patterns] for name, words in categories.items()}
    if patterns:
        notices.append(
            f"{label}: omitted {len(patterns)} patterns, which stand for several words each:"
            f" {', '.join([*patterns][:_NAMED])}. To use their words, write them out"
        )
    return Content({name: words for name, words in words_of.items() if words}, label, notices=tuple(notices))


def _liwc(text: str) -> Categories:
    """Read LIWC's lines ``number name`` between two lines %, and then ``word number number ...``.

    The first lines are the legend of the categories, and the numbers after a word are its categories. A number that the
    legend lacks stands for the category `_UNKNOWN`. Leading zeros of numbers are ignored. Fields are separated by tabs
    or, in a line without tabs, by blanks (in the second part, only by those before the numbers, as in "of course 1 2").
    """
    if not text.lstrip().startswith("%"):
        return {}
    legend, _, rest = text.lstrip().removeprefix("%").partition("\n%")
    names: dict[str, str] = {}
    for line in legend.splitlines():
        number, _, name = line.strip().partition("\t" if "\t" in line else " ")
        if name:
            names[number.strip().lstrip("0")] = name.strip()
    categories: Categories = {name: [] for name in names.values()}
    for line in rest.splitlines()[1:]:
        fields = line.split("\t") if "\t" in line.strip() else _BLANKS.split(line)
        filled_fields = [field.strip() for field in fields if field.strip()]
        for number in filled_fields[1:]:
            word = filled_fields[0]
            name = names.get(number.lstrip("0"), _UNKNOWN)
            if word not in categories.setdefault(name, []):
                categories[name].append(word)
    return categories


def _lexicoder(text: str) -> Categories:
    """Read Lexicoder's lines ``+name+`` with words below them.

    An entry is True and the name of a category, or False and a word. `_below` collects the words of each category.
    """
    entries = []
    for line in filter(None, map(str.strip, text.splitlines())):
        heading = _LEXICODER_NAME.fullmatch(line)
        name_or_word = heading[1].strip() if heading else line
        entries.append((heading is not None, name_or_word))
    return _below(entries)


def _lexicoder_xml(text: str) -> Categories:
    """Read Lexicoder's XML, in which a category is a ``cnode`` and a word a ``pnode``.

    Each match of `_NODE` is "c" or "p", and the name or word in quotation marks.
    """
    return _below((node.lower() == "c", unescape(quoted[1:-1]).strip()) for node, quoted in _NODE.findall(text))


def _wordstat(text: str) -> Categories:
    """Read WordStat's categories, below which words are indented and weighted: ``ROSE (1)``.

    WordStat ignores case and writes capital letters, and "_" for a blank in a phrase, so words are returned in lower
    case and with blanks. An entry is True and the name of a category, or False and a word. `_below` collects the words
    of each category. Categories without words are omitted.
    """
    entries = []
    for line in filter(str.strip, text.splitlines()):
        weighted_word = _WORDSTAT_WORD.fullmatch(line.rstrip())
        name_or_word = weighted_word[1].replace("_", " ").lower() if weighted_word else line.strip()
        entries.append((weighted_word is None, name_or_word))
    return {name: words for name, words in _below(entries).items() if words}


def _below(entries: Iterable[tuple[bool, str]]) -> Categories:
    """Return the words below each category, or nothing if a word is above all categories.

    Each of the entries, in the order of the file, is True and the name of a category, or False and a word. `words` are
    the words of the last category so far, or None before the first category.
    """
    categories: Categories = {}
    words: list[str] | None = None
    for is_category, name in entries:
        if is_category:
            words = categories.setdefault(name, [])
        elif words is None:
            return {}
        else:
            words.append(name)
    return categories
