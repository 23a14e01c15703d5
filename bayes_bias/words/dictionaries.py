"""Read dictionaries of content analysis: LIWC (.dic), Lexicoder (.lc3, .lcd), and WordStat (.cat)."""

import re
from collections.abc import Iterable
from html import unescape

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

    Patterns such as happ* stand for several words and are omitted with a notice.
    """
    for read in (_liwc, _lexicoder, _lexicoder_xml, _wordstat):
        categories = read(text)
        if any(categories.values()):
            break
    else:
        return None
    notices = []
    if uncategorised := categories.pop(_UNKNOWN, []):
        notices.append(
            f"{label}: {len(uncategorised)} words have codes that are not in the legend, which are not read:"
            f" {', '.join(uncategorised[:_NAMED])}"
        )
    patterns = dict.fromkeys(word for words in categories.values() for word in words if _PATTERN.search(word))
    words_of = {name: [word for word in words if word not in patterns] for name, words in categories.items()}
    if patterns:
        shown = ", ".join([*patterns][:_NAMED])
        notices.append(
            f"{label}: omitted {len(patterns)} patterns, which stand for several words each: {shown}. To use their"
            " words, write them out"
        )
    return Content({name: words for name, words in words_of.items() if words}, label, notices=tuple(notices))


def _liwc(text: str) -> Categories:
    """Read LIWC's lines ``number name`` between two lines %, and then ``word number number ...``."""
    head, _, rest = text.lstrip().removeprefix("%").partition("\n%")
    if not text.lstrip().startswith("%"):
        return {}
    names: dict[str, str] = {}
    for line in head.splitlines():
        number, _, name = line.strip().partition("\t" if "\t" in line else " ")
        if name:
            names[number.strip().lstrip("0")] = name.strip()
    categories: Categories = {name: [] for name in names.values()}
    for line in rest.splitlines()[1:]:
        fields = line.split("\t") if "\t" in line.strip() else _BLANKS.split(line)
        word, *numbers = [field.strip() for field in fields if field.strip()] or [""]
        for number in numbers:
            name = names.get(number.lstrip("0"), _UNKNOWN)
            if word not in categories.setdefault(name, []):
                categories[name].append(word)
    return categories


def _lexicoder(text: str) -> Categories:
    """Read Lexicoder's lines ``+name+`` with words below them."""
    lines = [(_LEXICODER_NAME.fullmatch(line), line) for line in map(str.strip, text.splitlines()) if line]
    return _below((name is not None, name[1].strip() if name else line) for name, line in lines)


def _lexicoder_xml(text: str) -> Categories:
    """Read Lexicoder's XML, in which a category is a ``cnode`` and a word a ``pnode``."""
    return _below((kind.lower() == "c", unescape(quoted[1:-1]).strip()) for kind, quoted in _NODE.findall(text))


def _wordstat(text: str) -> Categories:
    """Read WordStat's categories, below which words are indented and weighted: ``ROSE (1)``.

    WordStat ignores case and writes capital letters, so words are returned in lower case.
    """
    lines = [(_WORDSTAT_WORD.fullmatch(line.rstrip()), line.strip()) for line in text.splitlines() if line.strip()]
    categories = _below((word is None, word[1].replace("_", " ").lower() if word else name) for word, name in lines)
    return {name: words for name, words in categories.items() if words}


def _below(entries: Iterable[tuple[bool, str]]) -> Categories:
    """Return the words below each category, or nothing if a word is above all. An entry is a category if it is True."""
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
