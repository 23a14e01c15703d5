"""The methods paragraph that a paper can take over, written from the spec and the fits themselves."""

import json
from collections.abc import Callable
from typing import Any

from bayes_bias.report import numbers
from bayes_bias.report.data_fit import PUBLISHED
from bayes_bias.report.evidence import compared, false_findings, inside
from bayes_bias.report.record import Report, Section
from bayes_bias.report.references import key_of, references
from bayes_bias.report.side_by_side import REACH
from bayes_bias.report.templating import Latex, render_latex, render_text
from bayes_bias.specs import Prior, load_spec

Cite = Callable[..., str]

# The effects whose standard deviations the crossed model's parameters are, as the paragraph's formula has them.
_EFFECTS = {
    "sd_target": "a",
    "sd_target_associated": "u",
    "sd_target_class": "x",
    "sd_attribute": "b",
    "sd_attribute_group": "w",
    "sd_residual": "e",
}


def plain(report: Report) -> str:
    """Plain text with numbered references below."""
    listed = [f"[{r.number}] {r.reference.citation} {r.url}".rstrip() for r in references(report)]
    return "\n\n".join([*plain_paragraphs(report), "\n".join(["References", *listed])]) + "\n"


def plain_paragraphs(report: Report) -> list[str]:
    """The paragraphs of the plain text."""
    numbered = {cited.key: cited.number for cited in references(report)}

    def cite(*keys: str) -> str:
        return "[" + ", ".join(str(numbered[key]) for key in keys) + "]"

    return _paragraphs(render_text("methods.txt", **_facts(report, cite)))


def latex(report: Report) -> str:
    r"""LaTeX with ``\cite`` commands for ``references.bib``."""

    def cite(*keys: str) -> Latex:
        return Latex(r"\cite{" + ",".join(keys) + "}")

    return "\n\n".join(_paragraphs(render_latex("methods.txt", **_facts(report, cite)))) + "\n"


def bibliography(report: Report) -> str:
    """BibTeX entries of all that is cited."""
    return "\n\n".join(cited.bibtex for cited in references(report)) + "\n"


def embeddings(report: Report) -> tuple[str, ...]:
    """Names of the embeddings that the cosines were measured in."""
    names = (section.cosines.provenance.get("embedding") for section in report.sections)
    return tuple(dict.fromkeys(name for name in names if name))


def _paragraphs(text: str) -> list[str]:
    """Lines of a template filled into paragraphs."""
    return [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]


def _facts(report: Report, cite: Cite) -> dict[str, Any]:
    attrs = report.sections[0].fit.attrs
    diagnostics = [section.diagnostics for section in report.sections]
    return {
        "report": report,
        "cite": cite,
        "lists": [_list_facts(section, cite) for section in report.sections],
        "embeddings": embeddings(report),
        "priors": "; ".join(f"{prior} for {_named(name)}" for name, prior in _used_priors(report).items()),
        "by_class": _scaled_by_class(report.sections[0]),
        "shared": any("sd_target_associated" in section.fit["posterior"] for section in report.sections),
        "model_key": key_of(report.spec.reference) if report.spec.reference else None,
        "reach": REACH[report.scope],
        "settings": attrs,
        "versions": json.loads(attrs["versions"]),
        "r_hat": numbers.plain(max(d.r_hat for d in diagnostics)),
        "ess_bulk": numbers.count(min(d.ess_bulk for d in diagnostics)),
        "ess_tail": numbers.count(min(d.ess_tail for d in diagnostics)),
        "divergences": sum(d.divergences for d in diagnostics),
        "failed": [section.name for section in report.sections if not section.diagnostics.converged],
        "weats": [section.weat for section in report.sections if section.weat],
        **_evidence(report),
        "planned": any(section.verdict.words_needed for section in report.sections),
    }


def _evidence(report: Report) -> dict[str, Any]:
    """What speaks for and against the model, as far as it is known of each list."""
    sensitivity = [section.diagnostics.prior_sensitivity for section in report.sections]
    known = [each for each in sensitivity if each is not None]
    fitted = [(s.name, s.data_fit) for s in report.sections if s.data_fit]
    made = [(s.name, s.calibration) for s in report.sections if s.calibration]
    published = load_spec(PUBLISHED).reference
    return {
        "sensitivity": numbers.plain(max(known)) if known else "",
        "concerns": [section.name for section in report.sections if section.diagnostics.concern],
        "fitted": [(name, inside(f), "" if f.no_comparison else compared(f)) for name, f in fitted],
        "published_key": key_of(published)
        if published and any(not f.no_comparison for _, f in fitted)
        else "",
        "nulls": [
            (name, c.records.draw.nunique(), false_findings(c, report.spec.name, report.scope))
            for name, c in made
        ],
    }


def _used_priors(report: Report) -> dict[str, Prior]:
    """The priors of parameters that some fit has: a table without controls has no use for one of them."""
    sampled = {str(name) for section in report.sections for name in section.fit["posterior"].data_vars}
    return {name: prior for name, prior in report.spec.priors.items() if name in sampled}


def _named(parameter: str) -> str:
    if parameter in _EFFECTS:
        return f"the standard deviation of {_EFFECTS[parameter]}"
    return "mean[g, c]" if parameter == "mean" else parameter


def _scaled_by_class(section: Section) -> list[str]:
    """Effects that have a scale for each class, as the posterior itself says."""
    posterior = section.fit["posterior"].to_dataset()
    return [
        effect
        for name, effect in _EFFECTS.items()
        if name in posterior and "attribute_class" in posterior[name].dims
    ]


def _list_facts(section: Section, cite: Cite) -> dict[str, Any]:
    found = section.coverage.set_index("name").found
    roles = section.coverage.set_index("name").role
    lost = section.coverage.asked.sub(section.coverage.found).dropna().sum()
    return {
        "name": section.name,
        "cite": cite(*dict.fromkeys(map(key_of, section.references))) if section.references else "",
        "targets": ", ".join(f"{found[n]} {n}" for n in found.index[roles == "target"]),
        "attributes": ", ".join(f"{found[n]} {n}" for n in found.index[roles == "attribute"]),
        "controls": ", ".join(f"{found[n]} {n}" for n in found.index[roles == "control"]),
        "lost": int(lost),
        "asked": int(section.coverage.asked.sum()),
    }
