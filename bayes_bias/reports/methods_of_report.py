"""What the methods text of a report says of its lists, its model and its checks."""

from collections.abc import Mapping
from typing import Any

from bayes_bias.reports.check import Sentence
from bayes_bias.reports.checks import CHECKERS
from bayes_bias.reports.methods import Methods, model_facts, source_facts
from bayes_bias.reports.record import Report, Section


def methods_of(report: Report) -> Methods:
    """The methods text, written from the spec and the fits themselves."""
    fits = {section.name: section.fitted for section in report.sections}
    facts = model_facts(fits, report.spec, report.scope, report.ci_prob) | {
        "report": report,
        "modelled": report.association.name,
        "finding": "bias",
        "lists": [_list_facts(section) for section in report.sections],
        "embeddings": embeddings(report),
        "encoders": _encoders(report),
        "weats": [section.weat for section in report.sections if section.weat],
        "seconded": any(section.quasi_f for section in report.sections),
        "planned": any(section.verdict.planned for section in report.sections),
    }
    sources = [reference for section in report.sections for reference in section.table.references]
    model = [report.spec.reference] if report.spec.reference else []
    return Methods("methods.txt", facts, _sentences(report), (*sources, *model))


def embeddings(report: Report) -> tuple[str, ...]:
    """Names of the embeddings that the cosines were measured in."""
    names = (section.table.provenance.get("embedding") for section in report.sections)
    return tuple(dict.fromkeys(name for name in names if name))


def _encoders(report: Report) -> tuple[str, ...]:
    """Encoders of sentences, which vector was taken, and the sentences."""
    told = [section.table.provenance for section in report.sections if "encoder" in section.table.provenance]
    return tuple(dict.fromkeys(_encoder(each) for each in told))


def _encoder(told: Mapping[str, str]) -> str:
    pooling = told.get("pooling", "")
    named = f" (pooling: {pooling})" if pooling not in told["encoder"] else ""
    stands = (
        f"stood in the sentences of {told['templates']}"
        if "templates" in told
        else "was a sentence of its own"
    )
    return f"{told['encoder']}{named}, where each word {stands}"


def _sentences(report: Report) -> dict[str, Sentence]:
    """What each check says, as far as it has anything to say."""
    said = {
        checker.name: checker.methods({s.name: s.checks[checker.name] for s in report.sections})
        for checker in CHECKERS
    }
    return {name: sentence for name, sentence in said.items() if sentence}


def _list_facts(section: Section) -> dict[str, Any]:
    found = section.coverage.set_index("name").found
    roles = section.coverage.set_index("name").role
    lost = section.coverage.asked.sub(section.coverage.found).dropna().sum()
    return {
        "name": section.name,
        **source_facts(section.table),
        "targets": ", ".join(f"{found[n]} {n}" for n in found.index[roles == "target"]),
        "attributes": ", ".join(f"{found[n]} {n}" for n in found.index[roles == "attribute"]),
        "controls": ", ".join(f"{found[n]} {n}" for n in found.index[roles == "control"]),
        "replicates": section.table.replicates.text if section.table.replicates else "",
        "lost": int(lost),
        "asked": int(section.coverage.asked.sum()),
    }
