"""The methods text for a paper, and the references that it cites."""

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from importlib.resources import files
from itertools import chain
from typing import Any
from urllib.parse import quote

from bayes_bias.documents.templating import Latex, render_latex, render_text
from bayes_bias.documents.templating import latex as escaped
from bayes_bias.embeddings.opening import packaged_in
from bayes_bias.files import slug
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.formatting import WORD, plural, with_unit
from bayes_bias.models.components import effects_in_formula
from bayes_bias.models.preferences import PREFERENCE, related_sides, variance_name
from bayes_bias.models.residuals import residual_of
from bayes_bias.models.scales import unit_of
from bayes_bias.models.spec import AS_MEASURED, OWN_WITHIN_BLOCK, ModelSpec, Prior
from bayes_bias.models.structures import is_built_in_pymc, without_vectors
from bayes_bias.posterior.covariate_estimates import covariates_of
from bayes_bias.posterior.quadrature import can_integrate
from bayes_bias.shared_types import Reference
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.labels import SIDES
from bayes_bias.table.scopes import ScopeName, scope_of

_KEY = re.compile(r"@\w+\s*\{\s*([\w:./+-]+)\s*,")
_DOI = re.compile(r"10\.\d{4,9}/\S+")
# Any command except those for letters, emphasis, and formulas. Other commands, such as \\input, are executed when a
# document is built.
_OTHER_COMMAND = re.compile(
    r"\\(?!([bcdHijkloLOrtuv]|aa|AA|ae|AE|oe|OE|ss|(La)?TeX|text(endash|emdash|quoteright|it|bf|sc|tt)|emph|url|doi"
    r"|(wide)?hat|tilde|bar|times|alpha|beta|chi|math(rm|bf|cal)|ldots)(?![a-zA-Z]))[a-zA-Z]"
)
_BARE = re.compile(r"(?<!\\)[&%#]")
_VERBATIM = re.compile(r"\s*(url|doi|eprint)\s*=")


@dataclass(frozen=True)
class Cited:
    """A reference with its key and number."""

    number: int
    key: str
    reference: Reference

    @property
    def url(self) -> str:
        """The address of the DOI, or "" without a DOI."""
        doi = self.reference.doi
        return f"https://doi.org/{quote(doi, safe='/:;().')}" if _DOI.fullmatch(doi) else ""

    @property
    def bibtex(self) -> str:
        """The BibTeX entry of the source.

        An entry is kept if it is complete and TeX can read it safely. Characters with a meaning in TeX (`_BARE`) are
        escaped, except in addresses (`_VERBATIM`), which TeX prints unchanged. Otherwise, a new entry contains the
        citation as a note.
        """
        entry = self.reference.bibtex.strip()
        if _is_entry(entry):
            lines = []
            for line in entry.splitlines():
                lines.append(line if _VERBATIM.match(line) else _BARE.sub(r"\\\g<0>", line))
            return "\n".join(lines)
        # BibTeX also counts escaped braces, so they are written as commands.
        note = escaped(self.reference.citation).replace(r"\{", r"\textbraceleft{}").replace(r"\}", r"\textbraceright{}")
        doi = quote(self.reference.doi, safe="/:;().<>[]_+*'") if _DOI.fullmatch(self.reference.doi) else ""
        return f"@misc{{{self.key},\n  note = {{{note}}},\n  doi  = {{{doi}}},\n}}"


def reference_of(work: str | Reference) -> Reference:
    """Return the reference for a key, or the reference itself."""
    return work if isinstance(work, Reference) else shared_references()[work]


def key_of(reference: Reference) -> str:
    """Return the BibTeX key: the key of the entry, if there is one, or else the DOI, or else the citation.

    A citation is followed by a hash, because its letters may be those of another citation: only the year may be written
    in Latin letters, and two works of the same authors begin alike.
    """
    if key := _KEY.match(reference.bibtex.strip()):
        return key[1]
    if reference.doi:
        return slug(reference.doi)
    return f"{slug(reference.citation)}-{sha256(reference.citation.encode()).hexdigest()[:6]}"


def _is_entry(text: str) -> bool:
    """Return True if the text is one complete BibTeX entry with only harmless commands.

    In one complete entry, all braces are closed for the first time at the end of the text.
    """
    depth = 0  # the number of open braces
    ends = []  # the positions at which all braces are closed
    for position, character in enumerate(text):
        depth += {"{": 1, "}": -1}.get(character, 0)  # other characters do not change it
        if depth == 0 and character == "}":
            ends.append(position)
    is_whole = depth == 0 and ends == [len(text) - 1]
    return is_whole and _KEY.match(text) is not None and not _OTHER_COMMAND.search(text)


@cache
def shared_references() -> dict[str, Reference]:
    """Return the references in `references.toml` by key."""
    content = tomllib.loads((files("bayes_bias.documents") / "references.toml").read_text(encoding="utf-8"))
    return {key: Reference(**entry) for key, entry in content.items()}


_CITED = re.compile(r"\\cite\{([^}]+)\}")
_EFFECTS = effects_in_formula()
_KINDS = {"topic": "a sub-topic", "pair": "a pair"}


@dataclass(frozen=True)
class Cite:
    """The references that a sentence cites: keys in ``references.toml``, or references."""

    works: tuple[str | Reference, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """The BibTeX keys."""
        return tuple(key_of(reference_of(work)) for work in self.works)


type Sentence = tuple[str | Cite, ...]


@dataclass(frozen=True, eq=False)
class Methods:
    """A template, its values, and the references that it may cite."""

    template: str
    facts: Mapping[str, Any]
    sources: tuple[Reference, ...] = ()  # references that are not in ``references.toml``
    checks: tuple[Sentence, ...] = ()  # one paragraph for each check
    unit: str = WORD  # noun for the units of the lists

    @cached_property
    def references(self) -> tuple[Cited, ...]:
        r"""The references that the text cites, numbered in the order in which the text cites them first.

        The keys that the text cites are found in its LaTeX, as in ``\cite{caliskan2017,garg2018}``. `works` has the
        references by their keys: those that this package shares (``references.toml``), the `sources` of the analysis,
        and the works that sentences of the checks cite (`Cite`).
        """
        works = shared_references() | {key_of(source): source for source in self.sources}
        for part in chain(*self.checks):
            if isinstance(part, Cite):
                works |= dict(zip(part.keys, map(reference_of, part.works), strict=True))
        cited: dict[str, Cited] = {}
        for keys in _CITED.findall(self.latex):
            for key in keys.split(","):
                if key not in cited:
                    cited[key] = Cited(len(cited) + 1, key, works[key])
        return tuple(cited.values())

    @property
    def paragraphs(self) -> list[str]:
        """The paragraphs of the plain text, in which references are cited by their numbers: "[1, 2]".

        The template calls `cite` with the keys of references. Other text needs no escapes.
        """
        number_of = {cited.key: str(cited.number) for cited in self.references}

        def cite(*keys: str) -> str:
            return "[" + ", ".join(number_of[key] for key in keys) + "]"

        return self._filled(render_text, cite, form=str, formula=formula(**self._terms))

    @property
    def plain(self) -> str:
        """The plain text, followed by numbered references."""
        entries = [f"[{r.number}] {r.reference.citation} {r.url}".rstrip() for r in self.references]
        return "\n\n".join([*self.paragraphs, "\n".join(["References", *entries])]) + "\n"

    @property
    def latex(self) -> str:
        r"""The text in LaTeX, with ``\cite`` commands for ``references.bib``."""

        def cite(*keys: str) -> Latex:
            return Latex(r"\cite{" + ",".join(keys) + "}")

        return "\n\n".join(self._filled(render_latex, cite, escaped, Latex(equation(**self._terms)))) + "\n"

    @property
    def bibliography(self) -> str:
        """The BibTeX entries of all cited references."""
        return "\n\n".join(cited.bibtex for cited in self.references) + "\n"

    @property
    def files(self) -> dict[str, str]:
        """Return the content of all files by name."""
        return {"methods.txt": self.plain, "methods.tex": self.latex, "references.bib": self.bibliography}

    @property
    def _terms(self) -> dict[str, bool]:
        """The optional terms of the model's formula, as arguments of `formula` and `equation`.

        The facts of the analysis state which terms the model has. Targets have a level of their own in the associated
        classes (`shared`), attributes prefer some groups (`grouped`), or there are replicates, whose `kind` is a noun
        such as "template", or "" without replicates.
        """
        return {
            "shared": self.facts.get("shared", False),
            "grouped": self.facts.get("grouped", False),
            "replicated": bool(self.facts.get("kind")),
        }

    def _filled(
        self, render: Callable[..., str], cite: Callable[..., str], form: Callable[[str], str], formula: str
    ) -> list[str]:
        """Return the paragraphs of the template, filled in by `render` for plain text or for LaTeX.

        `cite` writes a citation of one or several keys, `form` escapes other text, and `formula` is the formula of the
        model. Paragraphs are separated by empty lines in the template, and their line breaks are replaced by blanks.
        """

        def written(sentence: Sentence) -> str:
            """Return a sentence, which consists of texts and citations, in plain text or in LaTeX."""
            text = ""
            for part in sentence:
                text += cite(*part.keys) if isinstance(part, Cite) else form(part)
            return form(Latex(text))

        text = render(self.template, **self.facts, cite=cite, formula=formula, checks=list(map(written, self.checks)))
        return [with_unit(" ".join(part.split()), self.unit) for part in text.split("\n\n") if part.strip()]


def methods_of_fits(
    template: str,
    fits: Mapping[str, Fitted],
    spec: ModelSpec,
    facts: Mapping[str, Any],
    *,
    sources: tuple[Reference, ...] = (),
    checks: tuple[Sentence, ...] = (),
) -> Methods:
    """Return the methods text for several fits of one model, by the names of their lists.

    Values that all templates need are added to the `facts` of the analysis: the model with the key of its reference,
    the settings of the sampler, versions of packages, embeddings that are packages, and the convergence.
    """
    first = next(iter(fits.values()))
    shared_facts = {
        "settings": first.tree.attrs,
        "versions": first.versions,
        "packaged": packaged_in(fitted.provenance for fitted in fits.values()),
        "convergence": _convergence(fits),
        **cited_spec(spec),
    }
    return Methods(template, {**shared_facts, **facts}, (*sources, *sources_of(spec)), checks)


def _convergence(fits: Mapping[str, Fitted]) -> dict[str, Any]:
    """Return the least favourable diagnostics of all fits, and the names of fits that have not converged.

    In the fits in `partly`, the bias has converged, but other parameters have not. The biases of the fits in
    `integrated` are computed without draws.
    """
    diagnostics = {name: Diagnostics.of(fitted) for name, fitted in fits.items()}
    failed, partly = [], []
    for name, diagnostics_of_fit in diagnostics.items():
        if not diagnostics_of_fit.for_bias.converged:
            failed.append(name)
        elif not diagnostics_of_fit.converged:
            partly.append(name)
    all_fits = diagnostics.values()
    return {
        "r_hat": max(fit.r_hat for fit in all_fits),
        "ess_bulk": min(fit.ess_bulk for fit in all_fits),
        "ess_tail": min(fit.ess_tail for fit in all_fits),
        "divergences": sum(fit.divergences for fit in all_fits),
        "integrated": [name for name, fitted in fits.items() if can_integrate(fitted.spec, fitted.data)],
        "failed": failed,
        "partly": partly,
    }


def cited_spec(spec: ModelSpec) -> dict[str, Any]:
    """Return a model, the key of its reference, if it has one, and whether it is sampled as a PyMC model."""
    model_key = key_of(spec.reference) if spec.reference else None
    return {"spec": spec, "model_key": model_key, "in_pymc": is_built_in_pymc(spec)}


def sources_of(spec: ModelSpec) -> tuple[Reference, ...]:
    """Return the reference of a model, if it has one."""
    return (spec.reference,) if spec.reference else ()


def model_facts(fits: Mapping[str, Fitted], spec: ModelSpec, scope: ScopeName, ci_prob: float) -> dict[str, Any]:
    """Return values for the templates that describe the crossed model, which was fitted to one or several lists.

    The fits are given by the names of the lists. The text has to describe all of them, so many values state whether a
    part of the model occurs in some fit: several groups, related words, covariates, replicates, or controls. `sampled`
    are the parameters that occur in some posterior.
    """
    first = next(iter(fits.values()))
    kinds = set[str]()  # of replicates
    sampled = set[str]()
    n_groups = set[int]()
    with_related_words, adjusted, units = [], [], []
    for name, fitted in fits.items():
        if fitted.replicate_kind:
            kinds.add(fitted.replicate_kind)
        sampled.update(map(str, fitted.posterior.data_vars))
        n_groups.add(fitted.data.sizes["group"])
        if related_sides(fitted.data):
            with_related_words.append(name)
        if covariates := covariates_of(fitted):
            adjusted.append((name, covariates))
        if spec.options["unit"] != AS_MEASURED:
            units.append((name, f"{unit_of(spec, fitted.data):.4g}"))
    kind = "replicate" if len(kinds) > 1 else "".join(kinds)  # "" without replicates
    has_texts = any(fitted.has_texts for fitted in fits.values())
    return {
        "residual": residual_of(spec.priors),
        "metric": first.metric,
        # Whether targets have a level in all classes in addition to their level in the associated classes.
        "shared": "sd_target" in sampled,
        # Whether some lists have several groups, between which an attribute can have a preference, and other lists only
        # one group.
        "grouped": max(n_groups) > 1,
        "alone": min(n_groups) == 1,
        "by_class": _scaled_by(first, "attribute_class", "control"),
        "by_group": _scaled_by(first, "group"),
        "priors": _priors(fits, spec, sampled),
        "units": units,  # none if priors are in the units of the tables
        "own_units": spec.options["unit"] == OWN_WITHIN_BLOCK,
        "clustered": _clustered(fits),
        "related": with_related_words,
        "from_vectors": _priors_from_vectors(fits, spec),
        "adjusted": adjusted,
        "kind": kind,
        "kinds": plural(kind),
        "scope": scope_of(scope).with_replicates_called(kind).with_texts(has_texts),
        "ci_prob": ci_prob,
    }


def _priors(fits: Mapping[str, Fitted], spec: ModelSpec, sampled: set[str]) -> str:
    """Describe the priors of the sampled parameters in words, separated by semicolons.

    An example is "HalfNormal(0.1) for the standard deviation of u". `fits` are the fits by the names of their lists.
    `sampled` are the parameters that occur in some of them, and `_EFFECTS` has the symbols of the effects whose
    standard deviations are parameters.

    The preferences of words for a class have a parameter for each side, targets and attributes (`PREFERENCE`). If a fit
    uses vectors, they determine its prior, and the posterior contains the variance of the preferences
    (`variance_name`). Such a prior is described in another sentence, so it is removed here if all fits have it. If only
    some fits have it, the prior of the other fits is described.
    """
    prior_of: dict[str, Prior] = dict(spec.priors)
    for side, parameter in PREFERENCE.items():
        if parameter in prior_of and all(variance_name(side) in fitted.posterior for fitted in fits.values()):
            del prior_of[parameter]
        elif parameter in prior_of:
            prior_of[parameter] = without_vectors(spec, parameter).priors[parameter]
    priors = []
    for name, prior in prior_of.items():
        if name in sampled:  # tables without controls do not use all parameters
            parameter = f"the standard deviation of {_EFFECTS[name]}" if name in _EFFECTS else name
            priors.append(f"{prior} for {parameter}")
    return "; ".join(priors)


def _priors_from_vectors(fits: Mapping[str, Fitted], spec: ModelSpec) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the sides whose preferences have a prior from vectors in some fits, with the parameters of the prior.

    A side is "targets" or "attributes". If both sides have the same prior, they are named together. A posterior
    contains the variance of a side's preferences (`variance_name`) only if its prior is from vectors.
    """
    sides = [side for side in SIDES if any(variance_name(side) in fitted.posterior for fitted in fits.values())]
    parameters = {f"{side}s": spec.priors[PREFERENCE[side]].parameters for side in sides}
    if len(sides) > 1 and parameters["targets"] == parameters["attributes"]:
        return [("targets and for attributes", parameters["targets"])]
    return list(parameters.items())


def source_facts(table: AssociationTable) -> dict[str, Any]:
    """Return the keys by which the text cites a word list and its control classes.

    The key of the list is None if it has no citation, as for a user's own list.
    """
    control_references = [reference for reference in table.references if reference != table.source]
    return {
        "key": key_of(table.source) if table.source.citation else None,
        "control_keys": tuple(dict.fromkeys(map(key_of, control_references))),
    }


def text_samples(tables: Iterable[AssociationTable]) -> list[dict[str, str]]:
    """Return the samples of texts behind tables, each once, as `bayes_bias.from_texts` records them.

    A table without variation over texts has none. If it combines tables of several corpora as replicates, it has the
    provenance of the first.
    """
    samples: list[dict[str, str]] = []
    for table in tables:
        facts = {key[6:]: value for key, value in table.provenance.items() if key.startswith("texts_")}
        if facts and table.texts is not None and facts not in samples:
            samples.append(facts)
    return samples


def _clustered(fits: Mapping[str, Fitted]) -> list[str]:
    """Name the words that share effects in some fit, such as "targets of a pair" or "attributes of a sub-topic".

    A posterior contains a standard deviation between clusters, such as sd_target_cluster, if the targets of a pair or
    of a sub-topic share an effect. The data of the fit contain the kinds of these clusters.
    """
    clustered: list[str] = []
    for fitted in fits.values():
        for side in SIDES:
            if f"sd_{side}_cluster" in fitted.posterior:
                kinds = fitted.data[f"{side}_clustering"].to_numpy()
                clustered += [f"{side}s of {_KINDS[kind]}" for kind in kinds]
    return list(dict.fromkeys(clustered))


def _scaled_by(fitted: Fitted, *dims: str) -> list[str]:
    """Name the effects whose standard deviation differs between categories, such as classes.

    `dims` are the dimensions of the categories, for example "group". An effect is named if its standard deviation in
    the posterior has one of these dimensions. `_EFFECTS` has the names of effects by parameter.
    """
    posterior = fitted.posterior
    return [effect for name, effect in _EFFECTS.items() if name in posterior and {*dims} & set(posterior[name].dims)]


# The crossed model of a value as a formula, in text and LaTeX.

_ASSOCIATED = r" \, \mathbf{1}[c \textrm{ associated}]"


def formula(*, shared: bool, grouped: bool, replicated: bool) -> str:
    """Return the formula of the crossed model as text, for target i of group g, attribute j of class c, replicate r.

    `shared` adds a level of targets in the associated classes. `grouped` means several groups, between which attributes
    differ in their preferences. `replicated` means replicates, in which all effects occur again (with index r).
    """
    level = "a[i{r}] + u[i{r}] (where c is associated with a group)" if shared else "u[i{r}]"
    attribute = "b[j{r}] + w[j, g{r}]" if grouped else "b[j{r}]"
    effects = f"{level} + x[i, c{{r}}] + {attribute} + e[i, j{{r}}]"
    word_terms = f"mean[g, c] + {effects.format(r='')}"
    if not replicated:
        return word_terms
    replicate_terms = "h[r] + h[r, g] + h[r, c] + h[r, g, c]" if grouped else "h[r] + h[r, c]"
    return f"{word_terms} + {replicate_terms} + {effects.format(r=', r')}"


def equation(*, shared: bool, grouped: bool, replicated: bool) -> str:
    """Return the formula of the crossed model in LaTeX, in rows that fit into the columns of a paper.

    The value of target i of group g and attribute j of class c is a mean plus effects of words: a level of the target
    (`level`), and effects of the target in the class, of the attribute, and of the pair (`others`). With replicates,
    the same effects occur again within each replicate r. Both are written once, with "%s" in their indices. It is
    removed in the first rows, and becomes the index r in the rows of replicates. `shared` and `grouped` add terms, as
    in `formula`.
    """
    level = r"a_{i%s} + u_{i%s}" + _ASSOCIATED if shared else "u_{i%s}"
    others = f"x_{{ic%s}} + b_{{j%s}} + {'w_{jg%s} + ' if grouped else ''}e_{{ij%s}}"
    value = "y_{ijr}" if replicated else "y_{ij}"
    rows = [value + r" = \mathit{mean}_{gc} + " + level.replace("%s", ""), others.replace("%s", "")]
    if replicated:
        rows.append("h_r + h_{rg} + h_{rc} + h_{rgc}" if grouped else "h_r + h_{rc}")
        rows += [level.replace("%s", "r"), others.replace("%s", "r")]
    return r"\[ \begin{array}{l} " + r" \\ \quad {} + ".join(rows) + r" \end{array} \]"
