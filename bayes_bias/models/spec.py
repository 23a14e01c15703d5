"""A statistical model as data: a file `models/*.toml` is read into a frozen, validated `ModelSpec`."""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from bayes_bias.arguments import is_number
from bayes_bias.errors import SpecError, did_you_mean, optional
from bayes_bias.files import check_keys, read_toml, refuse_pipe_or_address, shipped, shipped_names
from bayes_bias.formatting import joined
from bayes_bias.models.components import COMPONENTS, DIFFERING, REPLICATES
from bayes_bias.models.components import OPTIONAL as OPTIONAL_COMPONENTS
from bayes_bias.models.families import POSITIVE, REAL, Family, FloatOrArray, Kind, Terms
from bayes_bias.models.residuals import residual_of, shape_parameters
from bayes_bias.shared_types import Reference

# Prior of preferences: vectors determine their expected variance (see `bayes_bias.models.preferences`). Tables without
# vectors use an exponential prior with the rate `lam`.
FROM_VECTORS, FALLBACK = "FromVectors", "Exponential"
_FROM_VECTORS = Family({"nu": Kind.SHAPE, "nu_factor": Kind.SHAPE, "lam": Kind.RATE})
_OF_PREFERENCES = MappingProxyType({**POSITIVE, FROM_VECTORS: _FROM_VECTORS})
_FAMILIES = MappingProxyType({**REAL, **_OF_PREFERENCES})
_PREFERENCES = ("sd_target_preference", "sd_attribute_preference")
# Effects that sentence pairs may share: on the log odds of the share, and on the difference.
PAIR_EFFECTS = ("type", "writer", "template", "term")
_OF_PAIRS = tuple(f"{sd}_{effect}" for sd in ("logit_sd", "sd") for effect in PAIR_EFFECTS)

# Shape parameters of residuals.
_SHAPES = {name: REAL if shape.support == "real" else POSITIVE for name, shape in shape_parameters().items()}

# The parameters of each structure, and the support of their priors.
STRUCTURES: Mapping[str, Mapping[str, Mapping[str, Family]]] = MappingProxyType(
    {
        "crossed": {
            **{c.name: POSITIVE for c in COMPONENTS if "replicates" not in c.needs},
            **_SHAPES,
            **dict.fromkeys((*REPLICATES, *DIFFERING), POSITIVE),
            **dict.fromkeys(_PREFERENCES, _OF_PREFERENCES),
        },
        "hierarchical": {"connection_mean": REAL, "connection_sd": POSITIVE, "residual_sd": POSITIVE},
        "pairs": {
            "logit": REAL,
            "mean": REAL,
            "scale_residual": POSITIVE,
            **_SHAPES,
            **dict.fromkeys(_OF_PAIRS, POSITIVE),
        },
    }
)
# Optional terms, which a model includes if its file contains priors for them.
OPTIONAL = frozenset({*_SHAPES, *OPTIONAL_COMPONENTS, *_OF_PAIRS})

# The scales that differ: scales of targets by group and scales of attributes by class, only the latter, or none.
BY_GROUP, BY_CLASS, COMMON = "by group and class", "by class", "common"
# The unit of the priors: the standard deviation of values around their block mean, for each group and class or pooled,
# or the unit of the table.
OWN_WITHIN_BLOCK, WITHIN_BLOCK, AS_MEASURED = "own within-block sd", "within-block sd", "as measured"

# Options of each structure. The first value is the default.
OPTIONS: Mapping[str, Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "crossed": {
            "likelihood": ("collapsed", "long"),
            "scales": (BY_GROUP, BY_CLASS, COMMON),
            "unit": (OWN_WITHIN_BLOCK, WITHIN_BLOCK, AS_MEASURED),
        },
        "hierarchical": {},
        "pairs": {},
    }
)
_TEXT_KEYS = ("title", "description", "structure")


@dataclass(frozen=True)
class Prior:
    """A prior distribution by its PyMC name and parameters, e.g. ``Prior("HalfNormal", {"sigma": 0.05})``.

    In the units of a table, a parameter may have a separate value for each group or class.
    """

    distribution: str
    parameters: Mapping[str, FloatOrArray]
    times: FloatOrArray = 1.0  # the unit by which a variable with this prior is multiplied

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a prior from text such as ``HalfNormal(sigma=0.05)``, for example in the attributes of a fit."""
        distribution, _, inside = text.removesuffix(")").partition("(")
        pairs = (pair.split("=") for pair in inside.split(", "))
        return cls(distribution, MappingProxyType({name: float(value) for name, value in pairs}))

    @property
    def size(self) -> FloatOrArray:
        """Order of magnitude of a scale with this prior.

        For a distribution that is not built in, it is guessed from PyMC's usual names of scales and rates.
        """
        if self.distribution in _FAMILIES:
            return _FAMILIES[self.distribution].size_of(self.parameters)
        for name in ("sigma", "beta"):
            if name in self.parameters:
                return self.parameters[name]
        return 1 / self.parameters.get("lam", 1.0)

    @property
    def terms(self) -> Terms | None:
        """Terms of the log density, or None if the family is not in `bayes_bias.models.families.POSITIVE`."""
        family = POSITIVE.get(self.distribution)
        return None if family is None or family.terms is None else family.terms(**self.parameters)

    def with_unit(self, unit: FloatOrArray) -> Self:
        """Return the prior of ``unit * x`` for a parameter x with this prior. Several units give one prior for each.

        The parameters of a built-in distribution are converted, and otherwise the unit is stored as a factor.
        """
        if self.distribution not in _FAMILIES:
            return replace(self, times=self.times * unit)
        return replace(self, parameters=_FAMILIES[self.distribution].in_unit(self.parameters, unit))

    @property
    def exact(self) -> str:
        """The prior as text, with all digits of its numbers."""
        return self._written(_exact)

    def __str__(self) -> str:
        return self._written(lambda value: f"{value:g}")

    def _written(self, write: Callable[[Any], str]) -> str:
        """Return the prior as text, with each number formatted by `write`."""
        inside = ", ".join(f"{name}={write(value)}" for name, value in self.parameters.items())
        return f"{'' if self.times == 1 else f'{write(self.times)} * '}{self.distribution}({inside})"


@dataclass(frozen=True)
class ModelSpec:
    """Structure, options, and priors of a model. It is read from TOML, and methods return changed copies.

    Attributes
    ----------
    name, title, description : str
    structure : {"crossed", "hierarchical", "pairs"}
    options : mapping
        The structure ``crossed`` has three options. ``likelihood`` is "collapsed" or "long". ``scales`` is "by group
        and class" (targets of each group and attributes of each class have their own scales), "by class" (only
        attributes of each class have their own scales), or "common". ``unit`` is the unit of the priors: "within-block
        sd" (the pooled standard deviation of values around their block mean), "own within-block sd" (the default), or
        "as measured" (the unit of the table). With "own within-block sd", each group or class has its own unit: the
        value that the pooled standard deviation would have if all words varied as much as the words of this group or
        class.
    priors : mapping of str to Prior
        One prior for each parameter of the structure: standard deviations in the unit above (``crossed``), or cosine
        distances (``hierarchical``). Priors of shape parameters, such as ``nu``, choose the residual. See
        `bayes_bias.models.residuals`. If the prior of a preference is ``FromVectors``, vectors determine the
        expected variance of preferences, and the degrees of freedom ``nu`` and ``nu_factor`` by how much it may differ.
        For tables without vectors, the prior is exponential with rate ``lam`` (see `bayes_bias.models.preferences`).
    reference : Reference or None

    Examples
    --------
    >>> spec = load_spec("crossed")
    >>> wide = spec.with_prior("sd_target_preference", "HalfNormal", sigma=1.0)
    >>> str(wide.priors["sd_target_preference"]), str(spec.priors["sd_target_preference"])
    ('HalfNormal(sigma=1)', 'FromVectors(nu=8, nu_factor=1, lam=2.5)')

    You can use any univariate, continuous distribution of PyMC:

    >>> import pymc as pm
    >>> str(spec.with_prior("sd_residual", pm.Weibull.dist(alpha=2, beta=1)).priors["sd_residual"])
    'Weibull(alpha=2, beta=1)'
    """

    name: str
    title: str
    description: str
    structure: str
    options: Mapping[str, str]
    priors: Mapping[str, Prior]
    reference: Reference | None = None

    def __post_init__(self) -> None:
        """Raise an error if the likelihood integrates word effects out, but the residual does not allow this."""
        residual = residual_of(self.priors)
        if not residual.collapses and self.options.get("likelihood") == "collapsed":
            shapes = ", ".join(residual.shapes)
            raise SpecError(
                f"{self.name}: a {residual.name} residual, [priors.{shapes}], needs likelihood = 'long',"
                f" because 'collapsed' assumes normal residuals. Set it, or omit {shapes}."
            )

    def with_prior(self, parameter: str, distribution: Any, **parameters: float) -> Self:
        """Return a copy with another prior for one parameter.

        Parameters
        ----------
        parameter : str
        distribution : str, distribution of PyMC, or object with ``to_pymc``
            Any univariate, continuous distribution of PyMC: either its name with `parameters`, or an object such as
            ``pm.Gamma.dist(alpha=2, beta=1)`` or a distribution of PreliZ.

        Raises
        ------
        SpecError
            If the model has no such parameter, if PyMC has no such distribution, or if the distribution allows negative
            values and the parameter cannot be negative.
        """
        if not isinstance(distribution, str):
            with optional():
                from bayes_bias.models.pymc_distributions import named  # reading a spec needs no PyMC

            distribution, parameters = named(f"{self.name}, [priors.{parameter}]", distribution)
        prior = _prior(self.name, self.structure, parameter, {"distribution": distribution, **parameters})
        return replace(self, priors=MappingProxyType({**self.priors, parameter: prior}))

    def without_prior(self, parameter: str) -> Self:
        """Return a copy without the prior of an optional parameter, and therefore without this term of the model."""
        if parameter not in OPTIONAL & set(self.priors):
            hint = did_you_mean(parameter, OPTIONAL & set(self.priors))
            raise SpecError(f"{self.name}: '{parameter}' is not an optional term. {hint}")
        priors = {name: prior for name, prior in self.priors.items() if name != parameter}
        return replace(self, priors=MappingProxyType(priors))

    def with_option(self, option: str, value: str) -> Self:
        """Return a copy with another option, e.g. ``with_option("likelihood", "long")``."""
        return replace(self, options=_options(self.name, self.structure, {**self.options, option: value}))

    @property
    def sha256(self) -> str:
        """Hash of the structure, options, and priors, which determine the posterior."""
        priors = sorted((name, prior.exact) for name, prior in self.priors.items())
        content = repr((self.structure, sorted(self.options.items()), priors))
        return hashlib.sha256(content.encode()).hexdigest()


def spec_names() -> list[str]:
    """Return the names of the built-in models."""
    return shipped_names("models")


def load_spec(name_or_path: str | Path | ModelSpec, argument: str = "model") -> ModelSpec:
    """Read a model by its built-in name or from the path of a TOML file. A `ModelSpec` is returned unchanged.

    A file with ``base = "crossed"`` contains only its differences from the built-in model "crossed". Messages about a
    missing file name the `argument` with the model.

    Raises
    ------
    SpecError
        If there is no such model, if the TOML is malformed, if a key, distribution, or parameter is unknown, if a prior
        is missing, or if the base is not a built-in model.
    """
    if isinstance(name_or_path, ModelSpec):
        return name_or_path
    path = Path(str(name_or_path))
    if str(name_or_path) in spec_names():
        content = _shipped(str(name_or_path))
    elif path.is_file():
        content = read_toml(path, f"model: {name_or_path} is", SpecError)
    else:
        refuse_pipe_or_address(str(name_or_path), argument, SpecError)
        hint = did_you_mean(name_or_path, spec_names())
        raise SpecError(f"`{argument}` '{name_or_path}' is neither a built-in model nor a TOML file. {hint}")
    return spec_from_mapping(content, name=path.stem)


def _shipped(name: str) -> Mapping[str, Any]:
    """Return the content of the file of a built-in model."""
    return read_toml(shipped("models") / f"{name}.toml", f"model: {name} is", SpecError)


def spec_from_mapping(content: Mapping[str, Any], *, name: str) -> ModelSpec:
    """Return a validated spec from the content of a TOML file, combined with the built-in model that it extends.

    A file has a structure, or a `base` with one, and may have texts, options of the structure, priors of its
    parameters, and a reference. Raise an error for any other key.
    """
    if "base" in content:
        content = _beyond_base(content, name)
    if "structure" not in content:
        raise SpecError(f"{name} has no 'structure'. Add one of {joined(sorted(STRUCTURES))}.")
    structure = str(content["structure"])
    if structure not in STRUCTURES:
        raise SpecError(
            f"{name}: structure is '{structure}', which does not exist. {did_you_mean(structure, STRUCTURES)}"
        )
    options = OPTIONS[structure]
    check_keys(content, {*_TEXT_KEYS, "reference", "priors", *options}, name, SpecError)
    return ModelSpec(
        name=name,
        title=str(content.get("title", name)),
        description=str(content.get("description", "")).strip(),
        structure=structure,
        options=_options(name, structure, {key: content[key] for key in options if key in content}),
        priors=_priors(name, structure, content.get("priors", {})),
        reference=_reference(name, content.get("reference")),
    )


def _beyond_base(content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return the content of a file, combined with the built-in model on which it is based.

    Keys of the file replace those of the built-in model, and its priors replace single priors of the built-in model.
    """
    differences = dict(content)
    base = differences.pop("base")
    if base not in spec_names():
        raise SpecError(f"{name}: base is '{base}', which is not a built-in model. {did_you_mean(base, spec_names())}")
    inherited = _shipped(base)
    priors = differences.get("priors", {})
    if not isinstance(priors, Mapping):
        raise SpecError(f"{name}: 'priors' must be a table, but is {priors!r}. Write [priors.sd_residual] and so on.")
    return {**inherited, **differences, "priors": {**inherited["priors"], **priors}}


def _options(name: str, structure: str, options: Mapping[str, str]) -> Mapping[str, str]:
    """Return all options of a structure, including defaults. Raise an error for an unknown option.

    `OPTIONS` has the choices of each option, of which the first is the default.
    """
    valid = OPTIONS[structure]
    check_keys(options, set(valid), name, SpecError)
    for key, value in options.items():
        if value not in valid[key]:
            raise SpecError(f"{name}: {key} is '{value}', which is not an option. {did_you_mean(value, valid[key])}")
    return MappingProxyType({key: options.get(key, choices[0]) for key, choices in valid.items()})


def _priors(name: str, structure: str, content: Mapping[str, Any]) -> Mapping[str, Prior]:
    """Return the prior of each parameter of a structure, in its order.

    Raise an error for an unknown parameter, and if a parameter that is not optional has no prior.
    """
    parameters = STRUCTURES[structure]
    check_keys(content, set(parameters), f"{name}, [priors]", SpecError)
    for parameter in parameters:
        if parameter not in content and parameter not in OPTIONAL:
            raise SpecError(f"{name}: there is no prior for '{parameter}'. Add a table [priors.{parameter}].")
    return MappingProxyType({p: _prior(name, structure, p, content[p]) for p in parameters if p in content})


def _prior(name: str, structure: str, parameter: str, content: Any) -> Prior:
    """Return the prior of a parameter from the `content` of its table in a file: a distribution and its numbers.

    `STRUCTURES` has the parameters of each structure, and their built-in distributions, whose numbers are checked here.
    Any other distribution may be one of PyMC.
    """
    where = f"{name}, [priors.{parameter}]"
    if parameter not in STRUCTURES[structure]:
        raise SpecError(
            f"{where} is not a parameter of the model. {did_you_mean(parameter, STRUCTURES[structure])} A"
            " prior of the bias or of means requires a model of your own (docs/how-to/own-model.md)."
        )
    valid = STRUCTURES[structure][parameter]
    if not isinstance(content, Mapping) or "distribution" not in content:
        raise SpecError(f"{where} names no distribution. The choices are {', '.join(valid)}.")
    values = dict(content)
    distribution = str(values.pop("distribution"))
    if distribution not in valid:
        return _open_prior(where, distribution, values, valid)
    kinds = valid[distribution].parameters
    check_keys(values, set(kinds), f"{where}, {distribution}", SpecError)
    numbers = {}
    for key, kind in kinds.items():
        value = values.get(key)
        if not is_number(value):
            found = "it is missing" if value is None else f"it is {value!r}"
            raise SpecError(f"{where}: {distribution} needs a finite number '{key}', but {found}. Write a number.")
        numbers[key] = float(values[key])
        if kind.is_positive and numbers[key] <= 0:
            raise SpecError(f"{where}: '{key}' of {distribution} must be above zero, but is {value:g}.")
    return Prior(distribution, MappingProxyType(numbers))


def _open_prior(where: str, distribution: str, values: Mapping[str, Any], valid: Iterable[str]) -> Prior:
    """Return a prior with any distribution of PyMC that is not built in.

    PyMC, which takes seconds to import, checks it. `valid` are the built-in distributions of the parameter, which are
    positive for scales.
    """
    with optional(f" for the prior {distribution}"):
        from bayes_bias.models.pymc_distributions import check_distribution

    for parameter, value in values.items():
        if not is_number(value):
            raise SpecError(
                f"{where}: '{parameter}' of {distribution} must be a finite number, but is {value!r}. Write a number."
            )
    check_distribution(where, distribution, values, usual=valid, positive="HalfNormal" in valid)
    return Prior(distribution, MappingProxyType({name: float(value) for name, value in values.items()}))


def _exact(value: Any) -> str:
    """Format a number with six digits, or with all its digits if there are more."""
    short = f"{value:g}"
    return short if float(short) == value else repr(float(value))


def _reference(name: str, content: Any) -> Reference | None:
    """Return the publication that describes a model."""
    if content is None:
        return None
    where = f"{name}, [reference]"
    check_keys(content, {"citation", "doi", "bibtex"}, where, SpecError)
    if "citation" not in content:
        raise SpecError(f"{where} has no 'citation'. Name the work, or omit the table.")
    return Reference(
        citation=str(content["citation"]).strip(),
        doi=str(content.get("doi", "")),
        bibtex=str(content.get("bibtex", "")).strip(),
    )
