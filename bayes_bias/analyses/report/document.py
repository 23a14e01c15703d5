"""A report of lists as a document: the answers of all lists, then a section for each."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from bayes_bias.analyses.report.answer import answer, answer_of_list, heading
from bayes_bias.analyses.report.appendix import appendix, words_of_lists
from bayes_bias.analyses.report.checks import CHECKERS
from bayes_bias.analyses.report.record import Report, Section, about_replicates
from bayes_bias.analyses.report.tables import quantities_layout
from bayes_bias.documents.document import Document, PageSection, methods_section, model_provenance
from bayes_bias.documents.methods import Methods, Sentence, methods_of_fits, model_facts, source_facts
from bayes_bias.documents.templating import Latex
from bayes_bias.files import file_names
from bayes_bias.formatting import Layout, level, percent
from bayes_bias.plots import (
    plot_forest,
    plot_overview,
    plot_posterior,
    plot_replicates,
    plot_variance_shares,
    plot_word_bias,
)
from bayes_bias.table.scopes import SCOPES

_CONTRASTS = {
    "bias": "Bias",
    "contrast": "Contrasts",
    "class_bias": "Class bias",
    "group_bias": "Group bias",
    "excess": "Excess over control",
    "repulsion": "Repulsion from others' stereotypes",
}
_WEAT = ("effect_size", "statistic", "difference", "p_value", "exact", "partitions", "alternative", "ddof")


def report_document(report: Report) -> Document:
    """The document of a report."""
    names = file_names([section.name for section in report.sections])
    scopes = {name: scope.with_replicates_called(report.replicate_kind) for name, scope in SCOPES.items()}
    methods = methods_of(report)
    software = {**model_provenance(report, report.sections[0].fitted)}
    lists = {section.name: section.provenance for section in report.sections}
    return Document(
        title=f"Bias report: {', '.join(section.name for section in report.sections)}",
        kicker="Bias report",
        heading=heading(report.sections, embeddings(report)),
        opening={
            "answer": answer(report),
            "lede": "These results describe associations. They do not show why the words are associated, or whether"
            f" people share the association. Intervals are {level(report.ci_prob)} credible intervals that generalise"
            f" to {scopes[report.scope].reach}.",
        },
        sections=(
            PageSection("answers", "Answers", "report-answers.html"),
            PageSection("registration", "Registered plan", "report-registration.html") if report.registration else None,
            *(_section(section, names[section.name]) for section in report.sections),
            methods_section(methods),
            PageSection("provenance", "Provenance", "report-provenance.html"),
        ),
        facts={
            "report": report,
            "answers": _answers(report, names),
            # A label has a file name's letters as they are: an escaped underscore would be no letter.
            "labels": {name: Latex(file) for name, file in names.items()},
            "contrasts": {section.name: _contrasts(section) for section in report.sections},
            "scope": scopes[report.scope],
            "level": level(report.ci_prob),
            "unit": report.metric.unit,
            "decimals": report.metric.decimals,
            "versions": software["versions"],
            "topics_found": _topics_found(report),
            "lists": lists,
        },
        figures=figures_of(report),
        latex="report.tex",
        tables={
            "summary": report.summary(),
            "weat": _weat(report),
            "measures": report.measures(),
            "evidence": report.evidence(),
            **_tables_of_checks(report),
            "coverage": _stack_lists({section.name: section.coverage for section in report.sections}),
            "words": words_of_lists(report.sections),
            **({} if report.deviations is None else {"deviations": report.deviations.set_index("list")}),
        },
        texts={"appendix.tex": appendix(report.sections)},
        methods=methods,
        fits={names[section.name]: section.fit for section in report.sections},
        provenance={**software, "lists": lists}
        | ({} if report.registration is None else {"registration_sha256": report.registration.sha256}),
    )


def _topics_found(report: Report) -> str:
    """How often arbitrary topics of this embedding are distinguishable, as a clause, or "" if this was not computed."""
    for section in report.sections:
        numbers = section.checks["nulls"].numbers
        if "topics_share" in numbers:
            found = percent(numbers["topics_share"])
            return (
                f"{found} of {numbers['topics']} lists of arbitrary topics in this embedding are also distinguishable"
            )
    return ""


def _answers(report: Report, names: Mapping[str, str]) -> Layout:
    """The answers, which lead to the section of each list."""
    titles = {section.name: section.title for section in report.sections}
    labels = [name if titles[name] == name else f"{name}\n{titles[name]}" for name in report.layout.labels]
    return replace(
        report.layout,
        labels=labels,
        links={label: f"#{names[name]}" for label, name in zip(labels, titles, strict=True)},
    )


def _section(section: Section, name: str) -> PageSection:
    scopes = {scope: SCOPES[scope].with_replicates_called(section.replicate_kind) for scope in SCOPES}
    facts = {
        "section": section,
        "name": name,
        "scopes": scopes,
        "answer": answer_of_list(section),
        "quantities": quantities_layout(section, [scopes[scope].reach for scope in section.summaries]),
        "measures": section.measures.laid_out(section.measures_table),
        "about_replicates": about_replicates(section),
        "checks": [(checker, section.checks[checker.name]) for checker in CHECKERS],
    }
    return PageSection(name, section.title, "report-list.html", facts, look="list")


def _contrasts(section: Section) -> list[tuple[str, list[tuple[str, "pd.Series[Any]"]]]]:
    """Rows of the summary under their titles, for LaTeX."""
    there = section.summary.index.get_level_values("estimand")
    return [
        (title, [(str(label), row) for label, row in section.summary.loc[name].iterrows()])
        for name, title in _CONTRASTS.items()
        if name in there
    ]


def _weat(report: Report) -> pd.DataFrame:
    rows = {
        section.name: {column: getattr(section.weat, column, None) for column in _WEAT} for section in report.sections
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("list")


def _tables_of_checks(report: Report) -> dict[str, pd.DataFrame]:
    tables: dict[str, dict[str, pd.DataFrame]] = {}
    for section in report.sections:
        for check in section.checks.values():
            for name, table in check.tables.items():
                tables.setdefault(name, {})[section.name] = table
    return {name: _stack_lists(by_list) for name, by_list in tables.items()}


def _stack_lists(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    return pd.concat(tables, names=["list"]).reset_index("list").set_index("list")


# The figures of a report of lists: an overview, and each list's figures.

type Drawing = Callable[[], Axes]


def figures_of(report: Report) -> dict[str, Drawing]:
    """How every figure is drawn, by its file name."""
    names = file_names([section.name for section in report.sections])
    fits = [section.fitted for section in report.sections]
    summaries = {section.name: section.summary for section in report.sections}
    figures: dict[str, Drawing] = {
        "overview": partial(plot_overview, fits, report.scope, ci_prob=report.ci_prob, summaries=summaries)
    }
    for section in report.sections:
        drawings = _drawings_section(section, report) | _drawings_of_checks(section)
        figures |= {f"{names[section.name]}-{kind}": drawing for kind, drawing in drawings.items()}
    return figures


def _drawings_section(section: Section, report: Report) -> dict[str, Drawing]:
    fit = section.fitted
    reading = {"scope": report.scope, "ci_prob": report.ci_prob}
    summarised = {**reading, "summary": section.summary}
    drawings: dict[str, tuple[Callable[..., Axes], dict[str, Any]]] = {
        "forest": (plot_forest, summarised),
        "posterior": (plot_posterior, reading),
        "targets": (plot_word_bias, {"side": "target", **summarised}),
        "variance-shares": (plot_variance_shares, {"shares": section.variance_shares}),
    }
    if len(section.table.groups) > 1:
        drawings["attributes"] = (plot_word_bias, {"side": "attribute", **summarised})
    if section.replicate_kind:
        drawings["replicates"] = (plot_replicates, summarised)
    return {kind: partial(plot, fit, **options, **_added(section, kind)) for kind, (plot, options) in drawings.items()}


def _added(section: Section, kind: str) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for check in section.checks.values():
        options |= check.figure_options.get(kind, {})
    return options


def _drawings_of_checks(section: Section) -> dict[str, Drawing]:
    return {
        f"{name}-{kind}": partial(_as_drawn, ax)
        for name, check in section.checks.items()
        for kind, ax in check.figures.items()
    }


def _as_drawn(ax: Axes) -> Axes:
    return ax


# The methods text of a report: its lists, its model and its checks.


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
        every = {section.name: section.checks[checker.name].result for section in report.sections}
        results = {name: result for name, result in every.items() if result is not None}
        if results and checker.methods:
            sentences.append(checker.methods(results))
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
    suffix = f" (pooling: {pooling})" if pooling not in encoder else ""
    templates = provenance.get("templates")
    stands = f"was put into the sentences of {templates}" if templates else "was a separate sentence"
    return f"{encoder}{suffix}, where each word {stands}"


def _list_facts(section: Section) -> dict[str, Any]:
    coverage = section.coverage.set_index("name")

    def count_words(role: str) -> str:
        return ", ".join(f"{row.found} {name}" for name, row in coverage[coverage.role == role].iterrows())

    return {
        "name": section.name,
        **source_facts(section.table),
        "targets": count_words("target"),
        "attributes": count_words("attribute"),
        "controls": count_words("control"),
        "replicates": section.table.replicates.text if section.table.replicates else "",
        "lost": int(coverage.asked.sub(coverage.found).dropna().sum()),
        "asked": int(coverage.asked.sum()),
    }
