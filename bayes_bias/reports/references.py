"""Works that are cited: their keys, their entries, and those that many texts share."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from urllib.parse import quote

from bayes_bias.citation import Reference
from bayes_bias.files import slug

_KEY = re.compile(r"@\w+\s*\{\s*([^,\s]+)\s*,")
_DOI = re.compile(r"10\.\d{4,9}/\S+")


@dataclass(frozen=True)
class Cited:
    """A reference with its key and number."""

    number: int
    key: str
    reference: Reference

    @property
    def url(self) -> str:
        """Where the DOI leads; "" without a DOI."""
        doi = self.reference.doi
        return f"https://doi.org/{quote(doi, safe='/:;().')}" if _DOI.fullmatch(doi) else ""

    @property
    def bibtex(self) -> str:
        """The entry as its source gives it, or one that holds the citation as a note."""
        if self.reference.bibtex:
            return self.reference.bibtex.strip()
        fields = f"  note = {{{self.reference.citation}}},\n  doi  = {{{self.reference.doi}}},\n"
        return f"@misc{{{self.key},\n{fields}}}"


def reference_of(work: str | Reference) -> Reference:
    """A work that is cited by its key, or as it is."""
    return work if isinstance(work, Reference) else shared_references()[work]


def key_of(reference: Reference) -> str:
    """The BibTeX key, from the entry if there is one."""
    found = _KEY.search(reference.bibtex)
    return found[1] if found else slug(reference.doi or reference.citation)


@cache
def shared_references() -> dict[str, Reference]:
    """The works of `references.toml` by their keys."""
    content = tomllib.loads((files("bayes_bias.reports") / "references.toml").read_text(encoding="utf-8"))
    return {key: Reference(**entry) for key, entry in content.items()}
