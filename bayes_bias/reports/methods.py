"""The methods paragraph that a paper can take over, written from the spec and the fits themselves."""

from collections.abc import Callable
from typing import Any

from bayes_bias.estimands.facets import scope_of
from bayes_bias.models.spec import Prior
from bayes_bias.models.units import WITHIN_BLOCK, unit_of
from bayes_bias.reports.check import Cite as Works
from bayes_bias.reports.check import Sentence
from bayes_bias.reports.record import Report, Section
from bayes_bias.reports.references import key_of, reference_of, references, sentences
from bayes_bias.reports.templating import Latex, render_latex, render_text
from bayes_bias.reports.templating import latex as escaped
from bayes_bias.results.summary import CHANCE
from bayes_bias.results.verdict import RANDOM_WORDS

Cite = Callable[..., str]

# The effects whose standard deviations the crossed model's parameters are, as the paragraph's formula has them.
_EFFECTS = {
    "sd_target": "a",
    "sd_target_associated": "u",
    "sd_target_preference": "x (associated classes)",
    "sd_target_control": "x (control classes)",
    "sd_attribute": "b",
    "sd_attribute_preference": "w",
    "sd_residual": "e",
}

# The same formula, set by LaTeX, with a level of its own in the associated classes and without.
_EQUATION = {
    shared: r"\[ y_{ij} = \mathit{mean}_{gc} + " + level + r" + x_{ic} + b_j + w_{jg} + e_{ij} \]"
    for shared, level in {
        True: r"a_i + u_i \, \mathbf{1}[c \textrm{ is associated with a group}]",
        False: "u_i",
    }.items()
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

    said = {name: _filled(sentence, cite, str) for name, sentence in sentences(report).items()}
    return _paragraphs(render_text("methods.txt", **_facts(report, cite, _formula(report)), checks=said))


def latex(report: Report) -> str:
    r"""LaTeX with ``\cite`` commands for ``references.bib``."""

    def cite(*keys: str) -> Latex:
        return Latex(r"\cite{" + ",".join(keys) + "}")

    said = {name: Latex(_filled(sentence, cite, escaped)) for name, sentence in sentences(report).items()}
    facts = _facts(report, cite, Latex(_EQUATION[_is_shared(report)]))
    return "\n\n".join(_paragraphs(render_latex("methods.txt", **facts, checks=said))) + "\n"


def bibliography(report: Report) -> str:
    """BibTeX entries of all that is cited."""
    return "\n\n".join(cited.bibtex for cited in references(report)) + "\n"


def embeddings(report: Report) -> tuple[str, ...]:
    """Names of the embeddings that the cosines were measured in."""
    names = (section.table.provenance.get("embedding") for section in report.sections)
    return tuple(dict.fromkeys(name for name in names if name))


def _filled(sentence: Sentence, cite: Cite, written: Callable[[str], str]) -> str:
    """A check's sentence with its citations."""
    return "".join(
        cite(*(key_of(reference_of(work)) for work in part.works))
        if isinstance(part, Works)
        else written(part)
        for part in sentence
    )


def _paragraphs(text: str) -> list[str]:
    """Lines of a template filled into paragraphs."""
    return [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]


def _facts(report: Report, cite: Cite, formula: str) -> dict[str, Any]:
    first = report.sections[0].fitted
    return {
        "report": report,
        "cite": cite,
        "formula": formula,
        "lists": [_list_facts(section, cite) for section in report.sections],
        "embeddings": embeddings(report),
        "priors": "; ".join(f"{prior} for {_named(name)}" for name, prior in _used_priors(report).items()),
        "association": report.association,
        "by_class": _scaled_by_class(report.sections[0]),
        "units": _units(report),
        "shared": _is_shared(report),
        "model_key": key_of(report.spec.reference) if report.spec.reference else None,
        "scope": scope_of(report.scope),
        "chance_name": CHANCE,
        "random_words": RANDOM_WORDS,
        "settings": first.tree.attrs,
        "versions": first.versions,
        "weats": [section.weat for section in report.sections if section.weat],
        "seconded": any(section.quasi_f for section in report.sections),
        "planned": any(section.verdict.planned for section in report.sections),
    }


def _is_shared(report: Report) -> bool:
    """Whether a target's level is told apart from its level in the associated classes."""
    return any("sd_target" in section.fitted.posterior for section in report.sections)


def _formula(report: Report) -> str:
    level = "a[i] + u[i] (where c is associated with a group)" if _is_shared(report) else "u[i]"
    return f"mean[g, c] + {level} + x[i, c] + b[j] + w[j, g] + e[i, j]"


def _used_priors(report: Report) -> dict[str, Prior]:
    """The priors of parameters that some fit has: a table without controls has no use for one of them."""
    sampled = {str(name) for section in report.sections for name in section.fitted.posterior.data_vars}
    return {name: prior for name, prior in report.spec.priors.items() if name in sampled}


def _units(report: Report) -> list[tuple[str, str]]:
    """What one unit of the priors is for each list; empty where priors are in the units of the table."""
    if report.spec.options["unit"] != WITHIN_BLOCK:
        return []
    return [(s.name, f"{unit_of(report.spec, s.fitted.data):.4g}") for s in report.sections]


def _named(parameter: str) -> str:
    if parameter in _EFFECTS:
        return f"the standard deviation of {_EFFECTS[parameter]}"
    return parameter


def _scaled_by_class(section: Section) -> list[str]:
    """Effects that have a scale for each class, as the posterior itself says."""
    posterior = section.fitted.posterior
    return [
        effect
        for name, effect in _EFFECTS.items()
        if name in posterior and {"attribute_class", "control"} & set(posterior[name].dims)
    ]


def _list_facts(section: Section, cite: Cite) -> dict[str, Any]:
    others = [each for each in section.references if each != section.published]
    found = section.coverage.set_index("name").found
    roles = section.coverage.set_index("name").role
    lost = section.coverage.asked.sub(section.coverage.found).dropna().sum()
    return {
        "name": section.name,
        "cite": cite(key_of(section.published)) if section.published.citation else "",
        "control_cite": cite(*dict.fromkeys(map(key_of, others))) if others else "",
        "targets": ", ".join(f"{found[n]} {n}" for n in found.index[roles == "target"]),
        "attributes": ", ".join(f"{found[n]} {n}" for n in found.index[roles == "attribute"]),
        "controls": ", ".join(f"{found[n]} {n}" for n in found.index[roles == "control"]),
        "lost": int(lost),
        "asked": int(section.coverage.asked.sum()),
    }
