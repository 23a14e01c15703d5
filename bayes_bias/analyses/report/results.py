"""The results of a report, as data, as tables, and as a page."""

import webbrowser
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from bayes_bias.analyses.report.answer import answer, answer_of_list, heading
from bayes_bias.analyses.report.checks import CHECKERS
from bayes_bias.analyses.report.registration import Registration
from bayes_bias.analyses.report.section import Section, about_replicates, quantities_layout, short_titles
from bayes_bias.documents.document import Document, PageSection, methods_section, model_provenance
from bayes_bias.documents.methods import Methods, Sentence, methods_of_fits, model_facts, source_facts, text_samples
from bayes_bias.documents.templating import Latex
from bayes_bias.documents.word_tables import appendix, words_of_tables
from bayes_bias.files import file_names
from bayes_bias.formatting import Column, Layout, Tabled, level, marked, percent, plain, probability, with_unit
from bayes_bias.models.spec import ModelSpec
from bayes_bias.plots import (
    plot_forest,
    plot_overview,
    plot_posterior,
    plot_replicates,
    plot_variance_shares,
    plot_word_bias,
)
from bayes_bias.posterior.holm import ManyLists, many_lists
from bayes_bias.posterior.pooling import compared_words_of
from bayes_bias.posterior.summary import row_of
from bayes_bias.posterior.verdict import Verdict
from bayes_bias.shared_types import Reference
from bayes_bias.table.association_table import unit_of
from bayes_bias.table.bias_weights import contrasted_classes
from bayes_bias.table.columns import estimate_columns, interval_names
from bayes_bias.table.labels import SIDES
from bayes_bias.table.metric import Metric
from bayes_bias.table.scopes import SCOPES, ScopeName

_CONTRASTS = {
    "bias": "Bias",
    "contrast": "Contrasts",
    "class_bias": "Class bias",
    "group_bias": "Group bias",
    "excess": "Excess over control",
    "repulsion": "Repulsion from others' stereotypes",
}
_WEAT = ("effect_size", "statistic", "difference", "p_value", "exact", "partitions", "alternative", "ddof")


@dataclass(frozen=True, eq=False, repr=False)
class Report(Tabled):
    """Sections for several lists, with one model and one scope. `bayes_bias.write` creates the pages.

    `registration` is the plan with which the analysis is compared, and `deviations` has a row for each setting that
    deviates from the plan (see `Registration.differences`). Both attributes are None if there is no plan.

    Examples
    --------
    >>> write(report(["weat6", "weat7"]), "report")                               # doctest: +SKIP
    """

    sections: tuple[Section, ...]
    spec: ModelSpec
    scope: ScopeName
    ci_prob: float
    rope: float | None = None
    registration: Registration | None = None
    deviations: pd.DataFrame | None = None

    def document(self) -> Document:
        """Return the page of the report and its files, which `bayes_bias.write` writes into a folder."""
        return report_document(self)

    def open(self) -> Path:
        """Show the page in the browser, using a temporary folder. Use `bayes_bias.write` to save the page."""
        from bayes_bias.documents.writer import write_document

        page = write_document(self.document(), Path(mkdtemp(prefix="bayes_bias-")), overwrite=True, formats=())
        webbrowser.open(page.as_uri())
        return page

    @property
    def text(self) -> str:
        """Describe the verdict on each list, the model, and the scope in one line."""
        verdicts = "; ".join(f"{section.name}: {section.verdict.label}" for section in self.sections)
        unit = unit_of(section.table for section in self.sections)
        return f"{with_unit(verdicts, unit)} (model '{self.spec.name}', scope '{self.scope}')"

    @property
    def layout(self) -> Layout:
        """Show a row for each list: the verdict, the bias with its interval and probabilities, and WEAT.

        With several lists, there is a column for Holm's adjustment. Columns with ``spare=True`` are omitted if the
        table is too wide.
        """
        rows = self.table()
        verdicts = [section.verdict for section in self.sections]
        columns = [
            Column("verdict", verdicts, _label_with_mark, words=True),
            *estimate_columns(rows, "bias", self.ci_prob, self.metric.decimals),
            Column("probability\nunder no bias", [verdict.chance for verdict in verdicts], probability, spare=True),
        ]
        if len(rows) > 1:
            columns.append(Column("after Holm", self.together.table.chance_holm, probability, spare=True))
        columns.append(Column("WEAT d", rows.weat_d, partial(plain, decimals=2)))
        columns.append(Column("p\none-sided", rows.weat_p_value, probability))
        return Layout(list(map(str, rows.index)), columns, heading="list", caption=f"Bias in {self.metric.unit}")

    @property
    def metric(self) -> Metric:
        """The metric of the numbers in all tables."""
        return self.sections[0].table.metric

    @property
    def replicate_kind(self) -> str:
        """The kind of the replicates: "replicate" if tables have different kinds, and "" if there are no replicates."""
        kinds = {section.replicate_kind for section in self.sections} - {""}
        return "replicate" if len(kinds) > 1 else "".join(kinds)

    @property
    def converged(self) -> bool:
        """Return True if every fit has converged."""
        return all(section.diagnostics.for_bias.converged for section in self.sections)

    @cached_property
    def together(self) -> ManyLists:
        """The verdicts on all lists before and after Holm's adjustment for the number of lists.

        The words of each list show which lists overlap, so that their biases are related.
        """
        verdicts, words = {}, {}
        for section in self.sections:
            verdicts[section.name] = section.verdict
            words[section.name] = [compared_words_of(section.fitted, side) for side in SIDES]
        return many_lists(verdicts, words)

    def table(self) -> pd.DataFrame:
        """Return one row for each list: verdict, bias with its interval and probabilities, and WEAT.

        Columns: ``verdict``; ``mean`` and interval of the bias (units of the table); ``prob_direction``;
        ``noise_sd`` (units of the table); ``weat_d`` (standard deviations) and ``weat_p_value``, which are missing if
        WEAT is not defined; and ``prob_negligible``, which is missing if `rope` was not set.
        """
        rows = {}
        for section in self.sections:
            verdict, weat = section.verdict, section.weat
            lower, upper = interval_names(verdict.ci_prob)
            rows[section.name] = {
                "verdict": verdict.short,
                "mean": verdict.mean,
                lower: verdict.lower,
                upper: verdict.upper,
                "prob_direction": verdict.prob_direction,
                "noise_sd": float(row_of(section.summary, "bias").noise_sd),
                "weat_d": float("nan") if weat is None else weat.effect_size,
                "weat_p_value": float("nan") if weat is None else weat.p_value,
                "prob_negligible": float("nan") if verdict.prob_negligible is None else verdict.prob_negligible,
            }
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("list")

    def summary(self) -> pd.DataFrame:
        """Return all numbers in a tidy frame, one row for each list, scope, estimand, and label.

        The scopes of a list are those under which it was summarised.
        """
        tables = {}
        for section in self.sections:
            for scope, table in section.summaries.items():
                tables[section.name, scope] = table
        return pd.concat(tables, names=["list", "scope"])

    def measures(self) -> pd.DataFrame:
        """Return every measure of every list, with the posterior in the last rows (see `with_posterior`)."""
        return pd.concat({section.name: section.measures_table for section in self.sections}, names=["list"])

    def evidence(self) -> pd.DataFrame:
        """Return one row for each list with the results of all checks.

        Columns: ``chance``, ``chance_holm``, and ``survives`` (see `ManyLists`); ``nulls``, the number of random lists;
        ``null_share``, the share of random lists in which the model finds a bias under the scope of the report, and the
        exact 95% interval of this share, with corresponding columns for WEAT and for the words of the list after they
        were exchanged between groups (``own_null_share``); ``priors``, the number of other priors that were compared,
        ``priors_changed``, the names of the priors with another finding, and ``priors_p_min`` and ``priors_p_max``;
        ``target_variance_ratio`` and ``attribute_variance_ratio``, the observed variance of preferences relative to
        general words; ``icc_targets``, the intraclass correlation of target words in the same cluster, and
        ``icc_limit_targets``, the value that this correlation exceeds in one of 20 cases after words are shuffled, with
        corresponding columns for attributes; ``bias_without_word_min`` and ``_max``, the range of the observed bias
        without one word, with corresponding columns for clusters; ``coverage_50`` and ``coverage_89``, the shares of
        raw values inside posterior predictive intervals, with corresponding columns for the published model;
        ``elpd_difference`` to the published model, ``elpd_se``, and ``bad_k`` (PSIS-LOO); ``no_data_fit``,
        ``no_comparison``, and ``no_calibration``, the reasons for missing numbers. If there are replicates, further
        columns contain their number, the standard deviation of the bias between replicates (``replicate_sd``), the
        probability that the bias in a new replicate has the raw bias's sign (``same_sign``), and the reliability of one
        replicate (``reliability_one``) and of all replicates together (``reliability_all``).
        """
        columns = [column for checker in CHECKERS for column in checker.columns]
        numbers: dict[str, dict[str, Any]] = {}
        replicates = {}
        for section in self.sections:
            numbers[section.name] = {}
            for check in section.checks.values():
                numbers[section.name] |= check.numbers
            replicates[section.name] = section.replicates
        evidence = pd.DataFrame.from_dict(numbers, orient="index").reindex(columns=columns).rename_axis("list")
        return (
            self.together.table.drop(columns="verdict")
            .join(evidence)
            .join(pd.DataFrame.from_dict(replicates, orient="index").rename_axis("list"))
        )


def _label_with_mark(verdict: Verdict) -> str:
    """Return the label with its mark and, on a second line, the short verdict if it differs from the label."""
    return marked(verdict.label) + (f"\n{verdict.short}" if verdict.short != verdict.label else "")


# The page of a report, and its files.


def report_document(report: Report) -> Document:
    """Return the document of a report."""
    names = file_names([section.name for section in report.sections])
    texts = any(section.fitted.has_texts for section in report.sections)
    scope = SCOPES[report.scope].with_replicates_called(report.replicate_kind).with_texts(texts)
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
        **_tables_of_checks_and_coverage(report),
        "words": words_of_tables({section.name: section.table for section in report.sections}),
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
            "answer": answer(report.sections, report.together.table.survives),
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
        texts={"appendix.tex": appendix([(section.title, section.table) for section in report.sections])},
        methods=methods,
        fits=fits,
        provenance=provenance,
        unit=unit_of(section.table for section in report.sections),
    )


def _topics_found(report: Report) -> str:
    """Return a clause with the share of lists of arbitrary topics that are distinguishable, or "" if not computed.

    The share comes from the check with random lists. It depends on the embedding and on the numbers of words of a
    list, so several lists have a range.
    """
    shares = []
    for section in report.sections:
        numbers = section.checks["nulls"].numbers
        if "topics_share" in numbers:
            shares.append(numbers["topics_share"])
    if not shares:
        return ""
    several = len(embeddings(report)) > 1
    source = "list and embedding" if several else "the list"
    where = "these embeddings" if several else "this embedding"
    lowest, highest = percent(min(shares)), percent(max(shares))
    range_of_shares = lowest if lowest == highest else f"depending on {source}, {lowest} to {highest}"
    return f"{range_of_shares} of lists of arbitrary topics in {where} (drawn for this report) are also distinguishable"


def _answers(report: Report, names: Mapping[str, str]) -> Layout:
    """Return the layout of the report, with a link to the section of each list.

    `names` has the name of each list on the page, which is the target of the link. A label also has the title of the
    list, if it differs from its name.
    """
    labels, links = [], {}
    for section in report.sections:
        label = section.name if section.title == section.name else f"{section.name}\n{section.title}"
        labels.append(label)
        links[label] = f"#{names[section.name]}"
    return replace(report.layout, labels=labels, links=links)


def _section(section: Section, name: str) -> PageSection:
    """Return the page section of a list, with the facts that its template ``report-list.html`` needs.

    `name` is the name of the list in links. `scopes` describes each scope with the nouns of the list, such as "seeds"
    for replicates.
    """
    scopes = {
        name: scope.with_replicates_called(section.replicate_kind).with_texts(section.fitted.has_texts)
        for name, scope in SCOPES.items()
    }
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
    """Return the rows of the summary for LaTeX: for each estimand in _CONTRASTS, its title, and a row for each label.

    Estimands that the list does not have are omitted.
    """
    estimands = section.summary.index.get_level_values("estimand")
    contrasts = []
    for name, title in _CONTRASTS.items():
        if name in estimands:
            rows = [(str(label), row) for label, row in section.summary.loc[name].iterrows()]
            contrasts.append((title, rows))
    return contrasts


def _weat(report: Report) -> pd.DataFrame:
    """Return the results of WEAT with a row for each list, which is empty if WEAT is not defined for the list.

    The columns are attributes of the result (_WEAT).
    """
    rows = {}
    for section in report.sections:
        rows[section.name] = [getattr(section.weat, column, None) for column in _WEAT]
    return pd.DataFrame.from_dict(rows, orient="index", columns=_WEAT).rename_axis("list")


def _tables_of_checks_and_coverage(report: Report) -> dict[str, pd.DataFrame]:
    """Return the tables of all checks and the coverage, by the name of their CSV file.

    A check has tables for each list. Those with the same name are combined to one table, with the rows of all lists.
    """
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
    """Return a function that draws each figure, by file name.

    The first is an overview of all lists. The file names of other figures begin with the name of their list. Short
    titles, such as "WEAT 6", name lists in figures.
    """
    names = file_names([section.name for section in report.sections])
    fits = [section.fitted for section in report.sections]
    summaries = {section.name: section.summary for section in report.sections}
    titles = short_titles({section.name: section.title for section in report.sections})
    overview = partial(plot_overview, fits, report.scope, ci_prob=report.ci_prob, summaries=summaries, names=titles)
    figures: dict[str, Drawing] = {"overview": overview}
    for section in report.sections:
        for kind, drawing in _drawings(section, report, titles[section.name]).items():
            figures[f"{names[section.name]}-{kind}"] = drawing
    return figures


def _drawings(section: Section, report: Report, title: str) -> dict[str, Drawing]:
    """Return a function that draws each figure of a list and of its checks, by kind of figure.

    `plots` has the plotting function of each kind with its arguments. A check may add arguments to the plot of a kind,
    such as the ranges without one word to the posterior, and may have figures of its own, which are already drawn.
    """
    settings = {"scope": report.scope, "ci_prob": report.ci_prob}
    with_summary = {**settings, "summary": section.summary}
    plots: dict[str, tuple[Callable[..., Axes], dict[str, Any]]] = {
        "forest": (plot_forest, with_summary),
        "posterior": (plot_posterior, settings),
        "targets": (plot_word_bias, {"side": "target", **with_summary}),
        "variance-shares": (plot_variance_shares, {"shares": section.variance_shares}),
    }
    if contrasted_classes(section.fitted.data).size:  # otherwise, no attribute has a bias
        plots["attributes"] = (plot_word_bias, {"side": "attribute", **with_summary})
    if section.replicate_kind:
        plots["replicates"] = (plot_replicates, with_summary)
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
    """Return the methods text, which describes the model, the lists, and the checks, from the spec and the fits."""
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
        "samples": text_samples(section.table for section in report.sections),
        "weats": weats,
        "seconded": any(section.quasi_f for section in report.sections),
    }
    return methods_of_fits("methods.txt", fits, report.spec, facts, sources=tuple(sources), checks=_checks(report))


def _checks(report: Report) -> tuple[Sentence, ...]:
    """Return the sentences of all checks that were made for at least one list.

    A checker writes its sentence from the results for all lists, by name. A check that was not made has no result.
    """
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
    """Return clauses on the encoders of the words, with pooling and templates, each of them once.

    Static word vectors have no encoder.
    """
    encoders = []
    for section in report.sections:
        provenance = section.table.provenance
        if "encoder" not in provenance:
            continue
        encoder, pooling = provenance["encoder"], provenance.get("pooling", "")
        if pooling not in encoder:
            encoder += f" (pooling: {pooling})"
        templates = provenance.get("templates")
        context = f"was put into the sentences of {templates}" if templates else "was a separate sentence"
        encoders.append(f"{encoder}, where each word {context}")
    return tuple(dict.fromkeys(encoders))


def _list_facts(section: Section) -> dict[str, Any]:
    """Return the facts about a list for the methods text: its words by role, and its missing words.

    The words of a role are written as "8 science, 8 arts". ``lost`` is the number of words without a vector.
    """
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
