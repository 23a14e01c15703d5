"""The page: one file that needs nothing else."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass

from bayes_bias.estimands.facets import SCOPES, Scope, ScopeName
from bayes_bias.files import file_names
from bayes_bias.formatting import bounds, equals, plain, plural, probability
from bayes_bias.plots.variance_shares import part_named
from bayes_bias.reports import measures, provenance, replicates
from bayes_bias.reports.check import Check
from bayes_bias.reports.checks import CHECKERS
from bayes_bias.reports.figures import OVERVIEW, check_figure, kinds_of
from bayes_bias.reports.methods_of_report import embeddings, methods_of
from bayes_bias.reports.record import Report, Section
from bayes_bias.reports.side_by_side import QuantityRow, side_by_side
from bayes_bias.reports.templating import own_file, render_html
from bayes_bias.results.summary import CHANCE
from bayes_bias.results.verdict import RANDOM_WORDS, Label

# A mark beside each verdict, so that it does not rest on colour.
MARKS: Mapping[Label, str] = {
    "distinguishable": "●",
    "borderline": "◐",
    "not distinguishable": "○",
    "these words differ": "●",
    "these words may differ": "◐",
    "these words do not clearly differ": "○",
    "not converged": "✕",
}


@dataclass(frozen=True, eq=False)
class _View:
    """A section with what the template shows of it besides its data."""

    data: Section
    anchor: str
    rows: tuple[QuantityRow, ...]
    measures: tuple[measures.MeasureRow, ...]
    left_out: tuple[str, ...]
    checks: tuple[tuple[str, Check, tuple[str, ...]], ...]
    figures: Mapping[str, str]

    @property
    def scopes(self) -> Mapping[ScopeName, Scope]:
        """Every scope, in words that fit the list's table."""
        return _scopes(self.data.replicate_kind)

    @property
    def replicates(self) -> str:
        """What its replicates say."""
        return replicates.said(self.data)

    @property
    def weat(self) -> str:
        """WEAT's part of the verdict."""
        found = self.data.weat
        if found is None:
            return f"WEAT: not defined here ({self.data.no_weat})."
        return f"WEAT: d = {plain(found.effect_size, 2)}, p {equals(probability(found.p_value))}."


def page(report: Report, svgs: Mapping[str, bytes]) -> str:
    """The whole report as HTML, with its figures inside."""
    names = file_names([section.name for section in report.sections])
    figures = {file: data_uri(svg) for file, svg in svgs.items()}
    views = [
        _View(
            section,
            names[section.name],
            side_by_side(section),
            measures.rows(section.measures, section.summaries, section.table.association),
            tuple(section.measures.left_out.values()),
            _checks(section, names[section.name], figures),
            {kind: figures[f"{names[section.name]}-{kind}"] for kind in kinds_of(section)},
        )
        for section in report.sections
    ]
    return render_html(
        "page.html",
        report=report,
        views=views,
        overview=figures[OVERVIEW],
        css=own_file("style.css"),
        marks=MARKS,
        scopes=_scopes(report.replicate_kind),
        plural=plural,
        part_named=part_named,
        unit=report.association.unit,
        decimals=report.association.decimals,
        bounds=bounds,
        chance_name=CHANCE,
        random_words=RANDOM_WORDS,
        methods=methods_of(report),
        provenance=provenance.of(report),
        question=_question(embeddings(report)),
    )


def _scopes(kind: str) -> Mapping[ScopeName, Scope]:
    return {name: scope.told_of(kind) for name, scope in SCOPES.items()}


def _question(names: tuple[str, ...]) -> str:
    *others, last = names or ("this embedding",)
    return f"Are {', '.join(others)} and {last} biased?" if others else f"Is {last} biased?"


def _checks(
    section: Section, name: str, figures: Mapping[str, str]
) -> tuple[tuple[str, Check, tuple[str, ...]], ...]:
    """Title, check and figures of each."""
    return tuple(
        (
            checker.title,
            (check := section.checks[checker.name]),
            tuple(figures[check_figure(name, checker.name, kind)] for kind in check.figures),
        )
        for checker in CHECKERS
    )


def data_uri(svg: bytes) -> str:
    """A figure inside the page."""
    # As an image, an SVG can neither run nor load anything.
    return f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"
