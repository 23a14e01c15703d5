"""The methods text of a report of lists: its lists, its model and its checks."""

from collections.abc import Mapping
from typing import Any

from bayes_bias.analyses.report.checks import CHECKERS
from bayes_bias.analyses.report.record import Report, Section
from bayes_bias.documents.methods import Methods, Sentence, methods_of_fits, model_facts, source_facts


def methods_of(report: Report) -> Methods:
    """The methods text, written from the spec and the fits themselves."""
    fits = {section.name: section.fitted for section in report.sections}
    facts = model_facts(fits, report.spec, report.scope, report.ci_prob) | {
        "report": report,
        "modelled": report.metric.name,
        "finding": "bias",
        "lists": [_list_facts(section) for section in report.sections],
        "embeddings": embeddings(report),
        "encoders": _encoders(report),
        "weats": [section.weat for section in report.sections if section.weat],
        "seconded": any(section.quasi_f for section in report.sections),
    }
    sources = tuple(reference for section in report.sections for reference in section.table.references)
    return methods_of_fits("methods.txt", fits, report.spec, facts, sources=sources, checks=_checks(report))


def _checks(report: Report) -> tuple[Sentence, ...]:
    """The sentences of the checks that were made for some list."""
    sentences = []
    for checker in CHECKERS:
        results = {section.name: section.checks[checker.name].result for section in report.sections}
        made = {name: result for name, result in results.items() if result is not None}
        if made and checker.methods:
            sentences.append(checker.methods(made))
    return tuple(sentences)


def embeddings(report: Report) -> tuple[str, ...]:
    """Names of the embeddings that the cosines were measured in."""
    names = (section.table.provenance.get("embedding") for section in report.sections)
    return tuple(dict.fromkeys(name for name in names if name))


def _encoders(report: Report) -> tuple[str, ...]:
    tables = [section.table.provenance for section in report.sections]
    return tuple(dict.fromkeys(_encoder(provenance) for provenance in tables if "encoder" in provenance))


def _encoder(provenance: Mapping[str, str]) -> str:
    encoder, pooling = provenance["encoder"], provenance.get("pooling", "")
    named = f" (pooling: {pooling})" if pooling not in encoder else ""
    templates = provenance.get("templates")
    stands = f"was put into the sentences of {templates}" if templates else "was a separate sentence"
    return f"{encoder}{named}, where each word {stands}"


def _list_facts(section: Section) -> dict[str, Any]:
    coverage = section.coverage.set_index("name")

    def counted(role: str) -> str:
        return ", ".join(f"{row.found} {name}" for name, row in coverage[coverage.role == role].iterrows())

    return {
        "name": section.name,
        **source_facts(section.table),
        "targets": counted("target"),
        "attributes": counted("attribute"),
        "controls": counted("control"),
        "replicates": section.table.replicates.text if section.table.replicates else "",
        "lost": int(coverage.asked.sub(coverage.found).dropna().sum()),
        "asked": int(coverage.asked.sum()),
    }
