"""A scenario as data: how truths are drawn, how many corpora each gives, and which models read them."""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np

from bayes_bias.arguments import check_different, check_seed
from bayes_bias.errors import did_you_mean
from bayes_bias.formatting import Telling
from studies.known_bias.toml_values import (
    SCENARIOS,
    ScenarioError,
    count,
    counts,
    flag,
    names_in,
    numbers,
    read_source,
    read_values,
    share_below_one,
    table,
    tables,
    text,
    texts,
)
from studies.known_bias.vocabulary import TRAINING, Attribute, Vocabulary, load_vocabulary

MAJORITY, SKEW, EQUAL = "majority", "skew", "equal"

# In any scheme: how many times as frequent targets are that are said most with the first group.
FREQUENCY = "frequency"

_KEYS: Mapping[str, tuple[str, ...]] = {MAJORITY: ("min_p", "max_p"), SKEW: ("mu", "sigma"), EQUAL: ()}

HALVES = ("first", "second")

_READERS = {
    **dict.fromkeys(("title", "description", "vocabulary"), text),
    **dict.fromkeys(("exact", "halves", "posterior", "retest", "downstream"), flag),
    **dict.fromkeys(("balanced", "neutral"), count(0)),
    **dict.fromkeys(("repeats", "corpora", "seeds"), count(1)),
    **dict.fromkeys(("targets", "group_size"), count(2)),
    "attributes": texts,
    "neutral_share": share_below_one,
    "words_per_sentence": counts,
    "seed": lambda value, _: check_seed(value),
    "truth": table,
    "models": tables,
}


@dataclass(frozen=True)
class Scheme:
    """A way to draw p(group | target), and the cells that it is drawn in.

    ``majority`` [1]_: groups stand in random order for each target; each but the last has, with n groups and `left` of
    them still to come,

        p ~ Uniform(min_p / n, min(max_p / n, unspent - left min_p / n))

    and the last what is unspent, so that every target has a majority group. ``skew`` [2]_, of two groups: the first has
    p ~ Normal(mu, sigma), cut to [0, 1]; mu shifts all targets to one group, sigma spreads them over both. ``equal``:
    p = 1 / n, so that nothing is biased but by chance.

    Cells may have a ``frequency``, too. Targets that are said most with the first group have that many times as many
    sentences, in the geometric mean, as those that are said least with it.

    Parameters
    ----------
    kind : str
        "majority", "skew" or "equal".
    cells : tuple of mapping of str to float
        The parameters of each truth.

    References
    ----------
    .. [1] Schröder, S., Schulz, A., Kenneweg, P., & Hammer, B. (2023). So can we use intrinsic bias measures or not?
       ICPRAM 2023, 403-410. https://doi.org/10.5220/0011693700003411
    .. [2] Schröder, S., Schulz, A., Kenneweg, P., Feldhans, R., Hinder, F., & Hammer, B. (2021). Evaluating metrics for
       bias in word embeddings. arXiv:2111.07864. https://doi.org/10.48550/arXiv.2111.07864

    Examples
    --------
    >>> shares = Scheme("equal", ({},)).draw({}, 3, 4, np.random.default_rng(1))
    >>> shares[0].tolist()
    [0.25, 0.25, 0.25, 0.25]
    """

    kind: str
    cells: tuple[Mapping[str, float], ...]

    def draw(self, cell: Mapping[str, float], targets: int, groups: int, rng: np.random.Generator) -> np.ndarray:
        """Shares ``(targets, groups)``, each row summing to one."""
        if self.kind == MAJORITY:
            return np.stack([_with_majority(cell["min_p"], cell["max_p"], groups, rng) for _ in range(targets)])
        if self.kind == SKEW:
            first = np.clip(rng.normal(cell["mu"], cell["sigma"], targets), 0, 1)
            return np.stack([first, 1 - first], axis=1)
        return np.full((targets, groups), 1 / groups)


@dataclass(frozen=True)
class ModelRecipe:
    """How a model is trained on a corpus: "skip-gram", "cbow", "fasttext", "bert" (a tiny one) or "fine-tune".

    Settings are `dimensions`, `window`, `epochs`; of a BERT `layers`, `width`, `epochs`, `folder`.
    """

    name: str
    kind: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def contextual(self) -> bool:
        """Whether it gives probabilities of words in sentences, and no fixed vectors."""
        return self.kind in ("bert", "fine-tune")


KINDS: Mapping[str, Mapping[str, Any]] = {
    "skip-gram": {"dimensions": 50, "window": 10, "epochs": 20},
    "cbow": {"dimensions": 50, "window": 10, "epochs": 20},
    "fasttext": {"dimensions": 50, "window": 10, "epochs": 10},
    "bert": {"layers": 2, "width": 64, "epochs": 10},
    "fine-tune": {"folder": "", "epochs": 3},
}


@dataclass(frozen=True)
class Reading:
    """One corpus as one model reads it: all that its numbers depend on, beside the scenario.

    Truths and corpora are counted from 0; `words` are those of a group in each sentence that mentions one; `half` is
    the "first" or "second" half of the templates, or "" for all; `seed` is that of the training.
    """

    truth: int
    words: int
    corpus: int
    half: str
    model: ModelRecipe
    seed: int


@dataclass(frozen=True, repr=False)
class Scenario(Telling):
    """Truths, corpora and models of one study.

    Parameters
    ----------
    name, title, description : str
    vocabulary : Vocabulary
        Targets, groups, sentences.
    attributes : tuple of str
        Those of the vocabulary that the corpora mention.
    targets : int
        How many of the vocabulary's targets are used, from the first on.
    scheme : Scheme
        How p(group | target) is drawn; it has a truth for each of its cells.
    models : tuple of ModelRecipe
    balanced : int
        Targets whose groups have equal shares, whatever the scheme.
    neutral : int
        Targets that occur with neutral words alone.
    neutral_share : float
        Share of the other targets' sentences that have neutral words.
    words_per_sentence : tuple of int
        Words of the group in each sentence; each number has corpora of its own. With one, what goes with a group in the
        text comes to lie *away* from its words in the vectors.
    repeats : int
        Sentences for each template and target.
    exact : bool
        Whether groups are dealt so that the shares that come out are those that were drawn, as nearly as whole
        sentences allow; by default each sentence's group is drawn by itself, as in a text.
    halves : bool
        Whether the halves of the templates give corpora of their own.
    corpora, seeds : int
        Corpora of each truth, trainings on each corpus.
    seed : int
        Of everything.
    posterior : bool
        Whether posteriors are sampled beside the measures.
    retest : bool
        Whether random parts of the targets are asked, too.
    downstream : bool
        Whether classifiers are trained on the vectors.
    group_size : int
        Targets in each of the two groups that measures of two groups compare; at most half of the targets.

    Examples
    --------
    >>> scenario = load_scenario("majority")
    >>> len(scenario.scheme.cells), scenario.corpora
    (16, 5)
    """

    name: str
    title: str
    description: str
    vocabulary: Vocabulary
    attributes: tuple[str, ...]
    targets: int
    scheme: Scheme
    models: tuple[ModelRecipe, ...]
    balanced: int = 0
    neutral: int = 0
    neutral_share: float = 0.0
    words_per_sentence: tuple[int, ...] = (1,)
    repeats: int = 1
    exact: bool = False
    halves: bool = False
    corpora: int = 5
    seeds: int = 1
    seed: int = 1
    posterior: bool = True
    retest: bool = False
    downstream: bool = False
    group_size: int = 25

    @property
    def text(self) -> str:
        """Name, truths, corpora, models."""
        return (
            f"{self.name}, {len(self.scheme.cells)} truth(s) of {', '.join(self.attributes)} for {self.targets}"
            f" targets, {self.corpora} corpora each, read by {', '.join(model.name for model in self.models)}:"
            f" {len(list(self.readings()))} trainings"
        )

    @property
    def words(self) -> tuple[str, ...]:
        """The targets."""
        return self.vocabulary.targets[: self.targets]

    @property
    def described(self) -> dict[str, Attribute]:
        """The attributes by name."""
        return {name: self.vocabulary.attributes[name] for name in self.attributes}

    @property
    def attribute_words(self) -> tuple[str, ...]:
        """Words of the groups, and neutral words."""
        attributes = self.described.values()
        return tuple(chain(*(chain(*each.classes.values(), each.neutral_words) for each in attributes)))

    @property
    def sha256(self) -> str:
        """Hash of all that shapes truths and corpora: models, titles and numbers of corpora do not."""
        used = [
            self.vocabulary.sha256,
            self.attributes,
            self.targets,
            asdict(self.scheme),
            [self.balanced, self.neutral, self.neutral_share, self.repeats, self.seed],
            *(["exact"] if self.exact else []),
        ]
        return hashlib.sha256(json.dumps(used, sort_keys=True).encode()).hexdigest()

    def readings(self) -> Iterator[Reading]:
        """Every training. The truths take turns, so that a run that is stopped has results for each."""
        halves = HALVES if self.halves else ("",)
        yield from (
            Reading(truth, words, corpus, half, model, seed)
            for corpus, truth, words, half, seed, model in product(
                range(self.corpora),
                range(len(self.scheme.cells)),
                self.words_per_sentence,
                halves,
                range(self.seeds),
                self.models,
            )
        )


def scenario_names() -> list[str]:
    """Names of the shipped scenarios."""
    return names_in(SCENARIOS)


def load_scenario(name_or_path: str | Path | Scenario) -> Scenario:
    """Read a scenario by its shipped name or from the path of a TOML file; a `Scenario` is returned as it is.

    Raises
    ------
    ScenarioError
        No such scenario; an unknown key, vocabulary, attribute, scheme or kind of model; shares that no group can have;
        neutral words that are asked for and missing; more targets than there are.

    Examples
    --------
    >>> print(load_scenario("null"))                                                 # doctest: +ELLIPSIS
    null, 40 truth(s) of gender for 100 targets, ...
    """
    if isinstance(name_or_path, Scenario):
        return name_or_path
    content = read_source("scenario", str(name_or_path), SCENARIOS)
    home = None if str(name_or_path) in scenario_names() else Path(name_or_path).parent
    return scenario_from(content, Path(name_or_path).stem, home)


def scenario_from(content: Mapping[str, Any], name: str, home: Path | None = None) -> Scenario:
    """A scenario from a mapping of the shape of its TOML file; paths in it are looked for in `home`."""
    values = read_values(content, _READERS, name)
    vocabulary = load_vocabulary(_located(values.pop("vocabulary", "people"), home))
    attributes = values.setdefault("attributes", tuple(vocabulary.attributes))
    check_different(f"{name}: 'attributes'", attributes, "give each once", ScenarioError)
    for attribute in attributes:
        if attribute not in (valid := vocabulary.attributes):
            raise ScenarioError(f"{name}: unknown attribute '{attribute}'. {did_you_mean(attribute, valid)}")
    groups = {attribute: len(vocabulary.attributes[attribute].groups) for attribute in attributes}
    targets = values.setdefault("targets", len(vocabulary.targets))
    values.setdefault("group_size", min(25, targets // 2))
    values["scheme"] = _scheme_from(values.pop("truth", None), groups, name)
    values["models"] = recipes_from(values, name, home)
    scenario = Scenario(**{"name": name, "title": name, "description": "", "vocabulary": vocabulary, **values})
    _check_numbers(scenario)
    return scenario


def _scheme_from(content: Any, groups: Mapping[str, int], name: str) -> Scheme:
    """A scheme from the table [truth] of a scenario, for attributes with these numbers of groups."""
    if not isinstance(content, Mapping) or "scheme" not in content:
        raise ScenarioError(f"{name}: has no [truth] with a scheme; add scheme = 'majority', 'skew' or 'equal'")
    kind = content["scheme"]
    if not isinstance(kind, str) or kind not in _KEYS:
        raise ScenarioError(f"{name}: unknown scheme '{kind}'. {did_you_mean(kind, _KEYS)}")
    given = {key: value for key, value in content.items() if key != "scheme"}
    where = f"{name}: scheme '{kind}'"
    readers = {**dict.fromkeys((*_KEYS[kind], FREQUENCY), numbers), "truths": count(1)}
    grid = read_values({**dict.fromkeys(_KEYS[kind]), "truths": 1, **given}, readers, where)
    truths = grid.pop("truths")
    cells = tuple(dict(zip(grid, map(float, values), strict=True)) for values in product(*grid.values()))
    for cell in cells:
        _check_cell(kind, cell, where)
    for attribute, number in groups.items():
        if kind == SKEW and number != 2:
            raise ScenarioError(
                f"{where} is for two groups, and '{attribute}' has {number}; take 'majority', or other attributes"
            )
    return Scheme(kind, tuple(cell for cell in cells for _ in range(truths)))


def _check_cell(kind: str, cell: Mapping[str, float], where: str) -> None:
    possible, needed = cell.get(FREQUENCY, 1) > 0, "a frequency above 0"
    if possible and kind == MAJORITY:
        possible, needed = 0 <= cell["min_p"] <= cell["max_p"] <= 1, "0 <= min_p <= max_p <= 1"
    if possible and kind == SKEW:
        possible, needed = 0 <= cell["mu"] <= 1 and cell["sigma"] >= 0, "mu from 0 to 1, sigma 0 or more"
    if not possible:
        values = " and ".join(f"'{key}' {value:g}" for key, value in cell.items())
        raise ScenarioError(f"{where} has {values}; give {needed}")


def _check_numbers(scenario: Scenario) -> None:
    """Refuse numbers that do not go together."""
    name, vocabulary, targets = scenario.name, scenario.vocabulary, scenario.targets
    if targets > len(vocabulary.targets):
        raise ScenarioError(
            f"{name}: 'targets' is {targets}, and '{vocabulary.name}' has {len(vocabulary.targets)}; ask for fewer, or"
            " give a vocabulary of your own"
        )
    if (set_apart := scenario.balanced + scenario.neutral) > targets:
        raise ScenarioError(f"{name}: 'balanced' and 'neutral' are {set_apart} targets of {targets}; ask for fewer")
    if scenario.neutral == targets:
        raise ScenarioError(
            f"{name}: all {targets} targets are 'neutral', and none is left to be biased; ask for fewer"
        )
    if scenario.group_size > targets // 2:
        raise ScenarioError(
            f"{name}: 'group_size' is {scenario.group_size}; {targets} targets give two groups of {targets // 2}"
        )
    if scenario.exact and FREQUENCY in scenario.scheme.cells[0]:
        raise ScenarioError(
            f"{name}: 'exact' deals groups over all sentences, and 'frequency' leaves some out; remove one of them"
        )
    more = max(scenario.words_per_sentence) - 1
    for label, attribute in scenario.described.items():
        if more > (clauses := len(attribute.more[TRAINING])):
            raise ScenarioError(
                f"{name}: {more + 1} words of a group in a sentence need {more} more clauses, and '{label}' has"
                f" {clauses}; ask for fewer words"
            )
        if (scenario.neutral or scenario.neutral_share) and not attribute.neutral:
            raise ScenarioError(
                f"{name}: sentences with neutral words need some, and '{label}' has none; add"
                f" [attributes.{label}.neutral] to the vocabulary, or set 'neutral' and 'neutral_share' to 0"
            )


def recipes_from(values: Mapping[str, Any], name: str, home: Path | None = None) -> tuple[ModelRecipe, ...]:
    """The recipes of the tables [models.NAME] of a scenario."""
    if "models" not in values:
        raise ScenarioError(f"{name}: has no [models]; add one, such as [models.skip-gram]")
    return tuple(_recipe(label, table, f"{name}: model '{label}'", home) for label, table in values["models"].items())


def _recipe(name: str, content: Mapping[str, Any], where: str, home: Path | None) -> ModelRecipe:
    kind = content.get("kind", name)
    if not isinstance(kind, str) or kind not in KINDS:
        raise ScenarioError(f"{where} is of unknown kind '{kind}'. {did_you_mean(kind, KINDS)}")
    readers = dict.fromkeys(KINDS[kind], count(1)) | ({"folder": text} if kind == "fine-tune" else {})
    given = read_values({key: value for key, value in content.items() if key != "kind"}, readers, where)
    settings = {**KINDS[kind], **given}
    if kind == "fine-tune":
        settings["folder"] = _located(settings["folder"], home)
        if not os.path.isdir(settings["folder"]):
            raise ScenarioError(f"{where}: 'folder' is '{settings['folder']}', which is not a folder; give a BERT's")
    return ModelRecipe(name, kind, settings)


def _located(path: str, home: Path | None) -> str:
    """A path in a file is meant from the file's own folder."""
    there = home / path if home is not None else None
    return str(there) if there is not None and os.path.exists(there) and path else path


def _with_majority(least: float, most: float, groups: int, rng: np.random.Generator) -> np.ndarray:
    shares = np.empty(groups)
    unspent = 1.0
    order = rng.permutation(groups)
    for left, group in zip(range(groups - 1, 0, -1), order[:-1], strict=True):
        shares[group] = rng.uniform(least / groups, min(most / groups, unspent - left * least / groups))
        unspent -= shares[group]
    shares[order[-1]] = unspent
    return shares
