"""The document of a report: the results of all lists, and a section for each list."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from bayes_bias.analyses.report.answer import answer, answer_of_list, heading
from bayes_bias.analyses.report.checks import CHECKERS
from bayes_bias.analyses.report.record import Report, Section, about_replicates, short_titles
from bayes_bias.analyses.report.tables import appendix, quantities_layout, words_of_lists
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
from bayes_bias.shared_types import Reference
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
    """Return the document of a report."""
    names = file_names([section.name for section in report.sections])
    scope = SCOPES[report.scope].with_replicates_called(report.replicate_kind)
    methods = methods_of(report)
    software = {**model_provenance(report, report.sections[0].fitted)}
    sections, lists, contrasts, fits = [], {}, {}, {}
    for section in report.sections:
        sections.append(_section(section, names[section.name]))
        lists[section.name] = section.provenance
        contrasts[section.name] = _contrasts(section)
        fits[names[section.name]] = section.fit
    tables = {
        "summary": report.summary(),
        "weat": _weat(report),
        "measures": report.measures(),
        "evidence": report.evidence(),
        **_tables_of_sections(report),
        "words": words_of_lists(report.sections),
    }
    provenance: dict[str, Any] = {**software, "lists": lists}
    if report.deviations is not None:
        tables["deviations"] = report.deviations.set_index("list")
    if report.registration is not None:
        provenance["registration_sha256"] = report.registration.sha256
    return Document(
        title=f"Bias report: {', '.join(names)}",
        kicker="Bias report",
        heading=heading(report.sections, embeddings(report)),
        opening={
            "answer": answer(report),
            "lede": "These results describe associations. They do not show why the words are associated, or whether"
            f" people share the association. Intervals are {level(report.ci_prob)} credible intervals that generalise"
            f" to {scope.reach}.",
        },
        sections=(
            PageSection("answers", "Answers", "report-answers.html"),
            PageSection("registration", "Registered plan", "report-registration.html") if report.registration else None,
            *sections,
            methods_section(methods),
            PageSection("provenance", "Provenance", "report-provenance.html"),
        ),
        facts={
            "report": report,
            "answers": _answers(report, names),
            # File names in labels are not escaped, because LaTeX labels cannot contain an escaped underscore.
            "labels": {name: Latex(file) for name, file in names.items()},
            "contrasts": contrasts,
            "scope": scope,
            "level": level(report.ci_prob),
            "unit": report.metric.unit,
            "decimals": report.metric.decimals,
            "versions": software["versions"],
            "topics_found": _topics_found(report),
            "lists": lists,
        },
        figures=figures_of(report),
        latex="report.tex",
        tables=tables,
        texts={"appendix.tex": appendix(report.sections)},
        methods=methods,
        fits=fits,
        provenance=provenance,
    )


def _topics_found(report: Report) -> str:
    """Return a clause with the share of lists of arbitrary topics that are distinguishable, or "" if not computed."""
    for section in report.sections:
        numbers = section.checks["nulls"].numbers
        if "topics_share" in numbers:
            found = percent(numbers["topics_share"])
            return (
                f"{found} of {numbers['topics']} lists of arbitrary topics in this embedding are also distinguishable"
            )
    return ""


def _answers(report: Report, names: Mapping[str, str]) -> Layout:
    """Return the layout of the report, with a link to the section of each list."""
    labels, links = [], {}
    for section in report.sections:
        label = section.name if section.title == section.name else f"{section.name}\n{section.title}"
        labels.append(label)
        links[label] = f"#{names[section.name]}"
    return replace(report.layout, labels=labels, links=links)


def _section(section: Section, name: str) -> PageSection:
    """Return the section of a list."""
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
    """Return the rows of the summary by title, for LaTeX."""
    estimands = section.summary.index.get_level_values("estimand")
    contrasts = []
    for name, title in _CONTRASTS.items():
        if name in estimands:
            rows = [(str(label), row) for label, row in section.summary.loc[name].iterrows()]
            contrasts.append((title, rows))
    return contrasts


def _weat(report: Report) -> pd.DataFrame:
    """Return the results of WEAT with a row for each list."""
    rows = {}
    for section in report.sections:
        rows[section.name] = [getattr(section.weat, column, None) for column in _WEAT]
    return pd.DataFrame.from_dict(rows, orient="index", columns=_WEAT).rename_axis("list")


def _tables_of_sections(report: Report) -> dict[str, pd.DataFrame]:
    """Return the tables of all checks and the coverage. Each table contains the rows of all lists."""
    by_name: dict[str, dict[str, pd.DataFrame]] = {}
    coverage = {}
    for section in report.sections:
        coverage[section.name] = section.coverage
        for check in section.checks.values():
            for name, table in check.tables.items():
                by_name.setdefault(name, {})[section.name] = table
    by_name["coverage"] = coverage
    tables = {}
    for name, by_list in by_name.items():
        tables[name] = pd.concat(by_list, names=["list"]).reset_index("list").set_index("list")
    return tables


# The figures of a report: an overview, and the figures of each list.

type Drawing = Callable[[], Axes]


def figures_of(report: Report) -> dict[str, Drawing]:
    """Return a function that draws each figure, by file name."""
    names = file_names([section.name for section in report.sections])
    fits = [section.fitted for section in report.sections]
    summaries = {section.name: section.summary for section in report.sections}
    titles = short_titles({section.name: section.title for section in report.sections})
    figures: dict[str, Drawing] = {
        "overview": partial(
            plot_overview, fits, report.scope, ci_prob=report.ci_prob, summaries=summaries, names=titles
        )
    }
    for section in report.sections:
        for kind, drawing in _drawings(section, report, titles[section.name]).items():
            figures[f"{names[section.name]}-{kind}"] = drawing
    return figures


def _drawings(section: Section, report: Report, title: str) -> dict[str, Drawing]:
    """Return a function that draws each figure of a list and of its checks, by kind of figure."""
    reading = {"scope": report.scope, "ci_prob": report.ci_prob}
    summarised = {**reading, "summary": section.summary}
    plots: dict[str, tuple[Callable[..., Axes], dict[str, Any]]] = {
        "forest": (plot_forest, summarised),
        "posterior": (plot_posterior, reading),
        "targets": (plot_word_bias, {"side": "target", **summarised}),
        "variance-shares": (plot_variance_shares, {"shares": section.variance_shares}),
    }
    if len(section.table.groups) > 1:
        plots["attributes"] = (plot_word_bias, {"side": "attribute", **summarised})
    if section.replicate_kind:
        plots["replicates"] = (plot_replicates, summarised)
    drawings: dict[str, Drawing] = {}
    for kind, (plot, options) in plots.items():
        for check in section.checks.values():
            options = {**options, **check.figure_options.get(kind, {})}
        drawings[kind] = partial(plot, section.fitted, **{"name": title, **options})
    for name, check in section.checks.items():
        for kind, ax in check.figures.items():
            drawings[f"{name}-{kind}"] = partial(_as_drawn, ax)
    return drawings


def _as_drawn(ax: Axes) -> Axes:
    """Return axes that a check has drawn."""
    return ax


# The methods text of a report describes its lists, its model, and its checks.


def methods_of(report: Report) -> Methods:
    """Return the methods text, which is based on the spec and the fits."""
    fits, lists, weats = {}, [], []
    sources: list[Reference] = []
    for section in report.sections:
        fits[section.name] = section.fitted
        lists.append(_list_facts(section))
        sources += section.table.references
        if section.weat:
            weats.append(section.weat)
    facts = model_facts(fits, report.spec, report.scope, report.ci_prob) | {
        "report": report,
        "modelled": report.metric.name,
        "finding": "bias",
        "lists": lists,
        "embeddings": embeddings(report),
        "encoders": _encoders(report),
        "weats": weats,
        "seconded": any(section.quasi_f for section in report.sections),
    }
    return methods_of_fits("methods.txt", fits, report.spec, facts, sources=tuple(sources), checks=_checks(report))


def _checks(report: Report) -> tuple[Sentence, ...]:
    """Return the sentences of all checks that were made for at least one list."""
    sentences = []
    for checker in CHECKERS:
        results = {}
        for section in report.sections:
            if (result := section.checks[checker.name].result) is not None:
                results[section.name] = result
        if results and checker.methods:
            sentences.append(checker.methods(results))
    return tuple(sentences)


def embeddings(report: Report) -> tuple[str, ...]:
    """Return the names of the embeddings in which the cosines were measured."""
    names = [section.table.provenance.get("embedding") for section in report.sections]
    return tuple(dict.fromkeys(filter(None, names)))


def _encoders(report: Report) -> tuple[str, ...]:
    """Return the encoders of the words, with pooling and templates."""
    encoders = []
    for section in report.sections:
        provenance = section.table.provenance
        if "encoder" not in provenance:
            continue
        encoder, pooling = provenance["encoder"], provenance.get("pooling", "")
        if pooling not in encoder:
            encoder += f" (pooling: {pooling})"
        templates = provenance.get("templates")
        stands = f"was put into the sentences of {templates}" if templates else "was a separate sentence"
        encoders.append(f"{encoder}, where each word {stands}")
    return tuple(dict.fromkeys(encoders))


def _list_facts(section: Section) -> dict[str, Any]:
    """Return the facts about a list for the methods text."""
    coverage = section.coverage
    words = {}
    for role in ("target", "attribute", "control"):
        rows = coverage[coverage.role == role]
        words[f"{role}s"] = ", ".join(rows.found.astype(str) + " " + rows["name"])
    return {
        "name": section.name,
        **source_facts(section.table),
        **words,
        "replicates": section.table.replicates.text if section.table.replicates else "",
        "lost": int(coverage.asked.sub(coverage.found).dropna().sum()),
        "asked": int(coverage.asked.sum()),
    }
