"""The methods text that a paper can take over: one template, as plain text with numbers and as LaTeX with keys."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from bayes_bias.associations.labels import SIDES
from bayes_bias.associations.table import Associations
from bayes_bias.citation import Reference
from bayes_bias.estimands.facets import ScopeName, scope_of
from bayes_bias.formatting import plural
from bayes_bias.models.fitted import Fitted
from bayes_bias.models.spec import ModelSpec
from bayes_bias.models.units import WITHIN_BLOCK, unit_of
from bayes_bias.reports.check import Cite as Works
from bayes_bias.reports.check import Sentence, works_of
from bayes_bias.reports.references import Cited, key_of, reference_of, shared_references
from bayes_bias.reports.templating import Latex, render_latex, render_text
from bayes_bias.reports.templating import latex as escaped
from bayes_bias.results.summary import CHANCE
from bayes_bias.results.verdict import RANDOM_WORDS

Cite = Callable[..., str]

_CITED = re.compile(r"\\cite\{([^}]+)\}")

# The effects whose standard deviations the crossed model's parameters are, as the paragraph's formula has them.
_EFFECTS = {
    "sd_target": "a",
    "sd_target_associated": "u",
    "sd_target_preference": "x (associated classes)",
    "sd_target_control": "x (control classes)",
    "sd_attribute": "b",
    "sd_attribute_preference": "w",
    "sd_residual": "e",
    "sd_target_cluster": "what targets that belong together share of their levels",
    "sd_target_cluster_preference": "what they share of their preferences",
    "sd_attribute_cluster": "what attributes that belong together share of their levels",
    "sd_attribute_cluster_preference": "what they share of their preferences",
    "sd_replicate": "h[r]",
    "sd_replicate_group": "h[r, g]",
    "sd_replicate_class": "h[r, c] (associated classes)",
    "sd_replicate_preference": "h[r, g, c] (associated classes)",
    "sd_replicate_control": "h[r, c] (control classes)",
    "sd_replicate_control_group": "h[r, g, c] (control classes)",
    "sd_target_by_replicate": "a[i, r]",
    "sd_target_associated_by_replicate": "u[i, r]",
    "sd_target_preference_by_replicate": "x[i, c, r] (associated classes)",
    "sd_target_control_by_replicate": "x[i, c, r] (control classes)",
    "sd_attribute_by_replicate": "b[j, r]",
    "sd_attribute_preference_by_replicate": "w[j, g, r]",
    "sd_residual_by_replicate": "e[i, j, r]",
}
_KINDS = {"topic": "a sub-topic", "pair": "a pair"}

_ASSOCIATED = r" \, \mathbf{1}[c \textrm{ associated}]"


def _formula(*, shared: bool, grouped: bool, replicated: bool) -> str:
    """The model of a value: with a level in the associated classes, several groups, replicates, or without."""
    level = "a[i{r}] + u[i{r}] (where c is associated with a group)" if shared else "u[i{r}]"
    attribute = "b[j{r}] + w[j, g{r}]" if grouped else "b[j{r}]"
    effects = f"{level} + x[i, c{{r}}] + {attribute} + e[i, j{{r}}]"
    of_words = f"mean[g, c] + {effects.format(r='')}"
    if not replicated:
        return of_words
    own = "h[r] + h[r, g] + h[r, c] + h[r, g, c]" if grouped else "h[r] + h[r, c]"
    return f"{of_words} + {own} + {effects.format(r=', r')}"


def _equation(*, shared: bool, grouped: bool, replicated: bool) -> str:
    """The same formula, set by LaTeX in rows that fit the columns of a paper."""
    level = r"a_{i%s} + u_{i%s}" + _ASSOCIATED if shared else "u_{i%s}"
    others = f"x_{{ic%s}} + b_{{j%s}} + {'w_{jg%s} + ' if grouped else ''}e_{{ij%s}}"
    once, by_replicate = ((_indexed(level, r), _indexed(others, r)) for r in ("", "r"))
    rows = [rf"y_{{ij{'r' if replicated else ''}}} = \mathit{{mean}}_{{gc}} + {once[0]}", once[1]]
    if replicated:
        rows += ["h_r + h_{rg} + h_{rc} + h_{rgc}" if grouped else "h_r + h_{rc}", *by_replicate]
    return r"\[ \begin{array}{l} " + r" \\ \quad {} + ".join(rows) + r" \end{array} \]"


def _indexed(effects: str, replicate: str) -> str:
    return effects.replace("%s", replicate)


@dataclass(frozen=True, eq=False)
class Methods:
    """A template, what it is told, and the works that it may cite.

    Attributes
    ----------
    template : str
    facts : mapping of str to object
        What the template is told, `model_facts` among it.
    said : mapping of str to Sentence
        What the checks say.
    sources : tuple of Reference
        Works that are not in ``references.toml``: where words and model come from.
    """

    template: str
    facts: Mapping[str, Any]
    said: Mapping[str, Sentence]
    sources: tuple[Reference, ...]

    @cached_property
    def references(self) -> tuple[Cited, ...]:
        """What the text cites, each work once, in the order of the text."""
        keys = dict.fromkeys(key for cited in _CITED.findall(self.latex) for key in cited.split(","))
        works = [*self.sources, *(reference_of(w) for said in self.said.values() for w in works_of(said))]
        known = shared_references() | {key_of(work): work for work in works}
        return tuple(Cited(i, key, known[key]) for i, key in enumerate(keys, start=1))

    @property
    def paragraphs(self) -> list[str]:
        """The paragraphs of the plain text."""
        numbered = {cited.key: cited.number for cited in self.references}

        def cite(*keys: str) -> str:
            return "[" + ", ".join(str(numbered[key]) for key in keys) + "]"

        return self._filled(render_text, cite, str, _formula(**self._terms))

    @property
    def plain(self) -> str:
        """Plain text with numbered references below."""
        listed = [f"[{r.number}] {r.reference.citation} {r.url}".rstrip() for r in self.references]
        return "\n\n".join([*self.paragraphs, "\n".join(["References", *listed])]) + "\n"

    @property
    def latex(self) -> str:
        r"""LaTeX with ``\cite`` commands for ``references.bib``."""

        def cite(*keys: str) -> Latex:
            return Latex(r"\cite{" + ",".join(keys) + "}")

        equation = Latex(_equation(**self._terms))
        return "\n\n".join(self._filled(render_latex, cite, escaped, equation)) + "\n"

    @property
    def _terms(self) -> dict[str, bool]:
        """What the model has beyond the effects of words."""
        return {
            "shared": self.facts.get("shared", False),
            "grouped": self.facts.get("grouped", False),
            "replicated": bool(self.facts.get("kind")),
        }

    @property
    def bibliography(self) -> str:
        """BibTeX entries of all that is cited."""
        return "\n\n".join(cited.bibtex for cited in self.references) + "\n"

    @property
    def files(self) -> dict[str, str]:
        """What a folder holds of it."""
        return {"methods.txt": self.plain, "methods.tex": self.latex, "references.bib": self.bibliography}

    def _filled(
        self, render: Callable[..., str], cite: Cite, written: Callable[[str], str], formula: str
    ) -> list[str]:
        """Lines of the template filled into paragraphs."""
        said = {name: _cited(sentence, cite, written) for name, sentence in self.said.items()}
        text = render(self.template, **self.facts, cite=cite, formula=formula, checks=said)
        return [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]


def _cited(sentence: Sentence, cite: Cite, written: Callable[[str], str]) -> str:
    """A check's sentence with its citations."""
    parts = (
        cite(*(key_of(reference_of(work)) for work in part.works))
        if isinstance(part, Works)
        else written(part)
        for part in sentence
    )
    return written(Latex("".join(parts)))


def model_facts(
    fits: Mapping[str, Fitted], spec: ModelSpec, scope: ScopeName, ci_prob: float
) -> dict[str, Any]:
    """What is to be said of one model that was fitted to one table or several, by their names."""
    first = next(iter(fits.values()))
    kinds = list(dict.fromkeys(fitted.replicate_kind for fitted in fits.values() if fitted.replicate_kind))
    kind = "replicate" if len(kinds) > 1 else "".join(kinds)
    sampled = {str(name) for fitted in fits.values() for name in fitted.posterior.data_vars}
    return {
        "spec": spec,
        "model_key": key_of(spec.reference) if spec.reference else None,
        "association": first.association,
        # Whether a target's level is told apart from its level in the associated classes.
        "shared": "sd_target" in sampled,
        # Whether there are groups that an attribute may prefer one to the other, and lists that have but one.
        "grouped": any(fitted.data.sizes["group"] > 1 for fitted in fits.values()),
        "alone": any(fitted.data.sizes["group"] == 1 for fitted in fits.values()),
        "by_class": _scaled_by_class(first),
        # A table without controls has no use for one of them.
        "priors": "; ".join(f"{p} for {_named(name)}" for name, p in spec.priors.items() if name in sampled),
        "units": _units(fits, spec),
        "clustered": _clustered(fits),
        "kind": kind,
        "kinds": plural(kind),
        "scope": scope_of(scope).told_of(kind),
        "ci_prob": ci_prob,
        "chance_name": CHANCE,
        "random_words": RANDOM_WORDS,
        "settings": first.tree.attrs,
        "versions": first.versions,
    }


def source_facts(table: Associations) -> dict[str, Any]:
    """The keys of a word list and of its control classes; none for a list of one's own."""
    others = [each for each in table.references if each != table.source]
    return {
        "key": key_of(table.source) if table.source.citation else None,
        "control_keys": tuple(dict.fromkeys(map(key_of, others))),
    }


def _units(fits: Mapping[str, Fitted], spec: ModelSpec) -> list[tuple[str, str]]:
    """What one unit of the priors is for each table; empty where priors are in the units of the table."""
    if spec.options["unit"] != WITHIN_BLOCK:
        return []
    return [(name, f"{unit_of(spec, fitted.data):.4g}") for name, fitted in fits.items()]


def _clustered(fits: Mapping[str, Fitted]) -> list[str]:
    """Words that share effects: "targets of a pair"."""
    named = [
        f"{side}s of {_KINDS[kind]}"
        for fitted in fits.values()
        for side in SIDES
        if f"sd_{side}_cluster" in fitted.posterior
        for kind in fitted.data[f"{side}_clustering"].to_numpy().tolist()
    ]
    return list(dict.fromkeys(named))


def _named(parameter: str) -> str:
    if parameter in _EFFECTS:
        return f"the standard deviation of {_EFFECTS[parameter]}"
    return parameter


def _scaled_by_class(fitted: Fitted) -> list[str]:
    """Effects that have a scale for each class, as the posterior itself says."""
    posterior = fitted.posterior
    return [
        effect
        for name, effect in _EFFECTS.items()
        if name in posterior and {"attribute_class", "control"} & set(posterior[name].dims)
    ]
