"""What a report cites, in the order of the reference list."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from urllib.parse import quote

from bayes_bias.report.data_fit import PUBLISHED
from bayes_bias.report.files import slug
from bayes_bias.report.record import Report
from bayes_bias.specs import Reference, load_spec

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


def references(report: Report) -> tuple[Cited, ...]:
    """Sources of lists and model, then the works that the methods paragraph rests on; each once."""
    cited = [reference for section in report.sections for reference in section.references]
    if report.spec.reference is not None:
        cited.append(report.spec.reference)
    fitted = [section.data_fit for section in report.sections if section.data_fit]
    if any(not each.no_comparison for each in fitted):
        cited += [reference for reference in [load_spec(PUBLISHED).reference] if reference]
    needs = {
        "clark1973language": report.scope == "both",
        "westfall2014statistical": any(s.verdict.words_needed for s in report.sections),
        "vehtari2021rank": True,
        "abrilpla2023pymc": True,
        "kallioinen2024detecting": any(
            section.diagnostics.prior_sensitivity is not None for section in report.sections
        ),
        "vehtari2017practical": any(not each.no_comparison for each in fitted),
        "caliskan2017semantics": any(section.weat for section in report.sections),
    }
    cited += [shared_references()[key] for key, needed in needs.items() if needed]
    unique = {key_of(reference): reference for reference in reversed(cited)}
    order = dict.fromkeys(key_of(reference) for reference in cited)
    return tuple(Cited(i, key, unique[key]) for i, key in enumerate(order, start=1))


def key_of(reference: Reference) -> str:
    """The BibTeX key, from the entry if there is one."""
    found = _KEY.search(reference.bibtex)
    return found[1] if found else slug(reference.doi or reference.citation)


@cache
def shared_references() -> dict[str, Reference]:
    """The works of `references.toml` by their keys."""
    content = tomllib.loads((files("bayes_bias.report") / "references.toml").read_text(encoding="utf-8"))
    return {key: Reference(**entry) for key, entry in content.items()}
