"""Works that are cited: their keys, their entries, and those that many texts share."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from urllib.parse import quote

from bayes_bias.documents.templating import latex
from bayes_bias.files import slug
from bayes_bias.shared_types import Reference

_KEY = re.compile(r"@\w+\s*\{\s*([\w:./+-]+)\s*,")
_DOI = re.compile(r"10\.\d{4,9}/\S+")
# Any command but those for letters, emphasis and formulas: others, such as \\input, run when a document is built.
_OTHER_COMMAND = re.compile(
    r"\\(?!([bcdHijkloLOrtuv]|aa|AA|ae|AE|oe|OE|ss|(La)?TeX|text(endash|emdash|quoteright|it|bf|sc|tt)|emph|url|doi"
    r"|(wide)?hat|tilde|bar|times|alpha|beta|chi|math(rm|bf|cal)|ldots)(?![a-zA-Z]))[a-zA-Z]"
)
_BARE = re.compile(r"(?<!\\)[&%#]")
_VERBATIM = re.compile(r"\s*(url|doi|eprint)\s*=")


@dataclass(frozen=True)
class Cited:
    """A reference with its key and number."""

    number: int
    key: str
    reference: Reference

    @property
    def url(self) -> str:
        """Where the DOI leads, or "" without a DOI."""
        doi = self.reference.doi
        return f"https://doi.org/{quote(doi, safe='/:;().')}" if _DOI.fullmatch(doi) else ""

    @property
    def bibtex(self) -> str:
        """The entry of the source, or one that holds the citation as a note, if TeX can read it only as text."""
        entry = self.reference.bibtex.strip()
        if _is_entry(entry):
            lines = entry.splitlines()
            return "\n".join(x if _VERBATIM.match(x) else _BARE.sub(r"\\\g<0>", x) for x in lines)
        # BibTeX counts braces, escaped ones included.
        note = latex(self.reference.citation).replace(r"\{", r"\textbraceleft{}").replace(r"\}", r"\textbraceright{}")
        doi = quote(self.reference.doi, safe="/:;().<>[]_+*'") if _DOI.fullmatch(self.reference.doi) else ""
        return f"@misc{{{self.key},\n  note = {{{note}}},\n  doi  = {{{doi}}},\n}}"


def reference_of(work: str | Reference) -> Reference:
    """A work that is cited by its key, or as it is."""
    return work if isinstance(work, Reference) else shared_references()[work]


def key_of(reference: Reference) -> str:
    """The BibTeX key, from the entry if there is one."""
    key = _KEY.match(reference.bibtex.strip())
    return key[1] if key else slug(reference.doi or reference.citation)


def _is_entry(text: str) -> bool:
    """Return True if this is one whole BibTeX entry without commands that could do more than write letters."""
    depth, ends = 0, []
    for at, character in enumerate(text):
        depth += {"{": 1, "}": -1}.get(character, 0)
        if depth == 0 and character == "}":
            ends.append(at)
    is_whole = depth == 0 and ends == [len(text) - 1]
    return is_whole and _KEY.match(text) is not None and not _OTHER_COMMAND.search(text)


@cache
def shared_references() -> dict[str, Reference]:
    """The works of `references.toml` by their keys."""
    content = tomllib.loads((files("bayes_bias.documents") / "references.toml").read_text(encoding="utf-8"))
    return {key: Reference(**entry) for key, entry in content.items()}
