"""What a report cites, in the order of the reference list."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from urllib.parse import quote

from bayes_bias.citation import Reference
from bayes_bias.estimands.facets import scope_of
from bayes_bias.files import slug
from bayes_bias.reports.check import Sentence, works_of
from bayes_bias.reports.checks import CHECKERS
from bayes_bias.reports.record import Report

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
    """Sources of lists and model, then the works that the methods text rests on; each once."""
    cited = [reference for section in report.sections for reference in section.references]
    if report.spec.reference is not None:
        cited.append(report.spec.reference)
    needs = {
        "clark1973language": scope_of(report.scope).samples_all,
        "holm1979simple": len(report.sections) > 1,
        "westfall2014statistical": any(s.verdict.planned for s in report.sections),
        "abrilpla2023pymc": True,
    }
    cited += [shared_references()[key] for key, needed in needs.items() if needed]
    cited += [reference_of(work) for said in sentences(report).values() for work in works_of(said)]
    if any(section.weat for section in report.sections):
        cited.append(shared_references()["caliskan2017semantics"])
    if any(section.quasi_f for section in report.sections):
        cited += [shared_references()[key] for key in ("clark1973language", "satterthwaite1946approximate")]
    unique = {key_of(reference): reference for reference in reversed(cited)}
    order = dict.fromkeys(key_of(reference) for reference in cited)
    return tuple(Cited(i, key, unique[key]) for i, key in enumerate(order, start=1))


def sentences(report: Report) -> dict[str, Sentence]:
    """What each check says in the methods text, as far as it has anything to say."""
    said = {
        checker.name: checker.methods({s.name: s.checks[checker.name] for s in report.sections})
        for checker in CHECKERS
    }
    return {name: sentence for name, sentence in said.items() if sentence}


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
