"""A scenario as data: which truths are drawn, how many corpora they give, and which models read them."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from bayes_bias.arguments import check_seed, is_between, is_number
from bayes_bias.errors import ScenarioError, did_you_mean
from bayes_bias.files import check_keys, read_toml, shipped, shipped_names
from bayes_bias.formatting import Telling
from bayes_bias.known_bias.bias_schemes import Scheme, count_in, scheme_from
from bayes_bias.known_bias.vocabulary import TRAINING, Attribute, Vocabulary, load_vocabulary

HALVES = ("first", "second")

_KEYS = (
    "title",
    "description",
    "vocabulary",
    "attributes",
    "targets",
    "balanced",
    "neutral",
    "neutral_share",
    "words_per_sentence",
    "repeats",
    "exact",
    "halves",
    "corpora",
    "seeds",
    "seed",
    "posterior",
    "retest",
    "downstream",
    "group_size",
    "truth",
    "models",
)
_COUNTS = {"balanced": 0, "neutral": 0, "repeats": 1, "corpora": 1, "seeds": 1, "group_size": 2}


@dataclass(frozen=True)
class ModelRecipe:
    """How a model is trained on a corpus.

    Parameters
    ----------
    name : str
        What tables call it.
    kind : str
        "skip-gram", "cbow", "fasttext", "bert" (a tiny one, from scratch) or "fine-tune" (a folder's BERT).
    settings : mapping
        Of this kind: `dimensions`, `window`, `epochs`; for a BERT `layers`, `width`, `epochs`, `folder`.
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

    Parameters
    ----------
    truth : int
        Which truth, from 0.
    words : int
        Words of a group in each sentence that mentions one.
    corpus : int
        Which of the truth's corpora.
    half : str
        "first" or "second" half of the templates, or "" for all.
    model : ModelRecipe
    seed : int
        Of the model's training.
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
    return [name for name in shipped_names("scenarios") if "/" not in name]


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
    label = str(name_or_path)
    names = scenario_names()
    file = shipped("scenarios") / f"{label}.toml" if label in names else Path(label)
    if not file.is_file():
        raise ScenarioError(
            f"scenario: '{label}' is neither a shipped name nor a TOML file; {did_you_mean(label, names)}"
        )
    home = None if label in names else Path(label).parent
    content = read_toml(file, f"{label}:", ScenarioError, hint="; see the shipped majority.toml for an example")
    return scenario_from(content, Path(label).stem, home)


def scenario_from(content: Mapping[str, Any], name: str, home: Path | None = None) -> Scenario:
    """A scenario from a mapping of the shape of its TOML file; paths in it are looked for in `home`."""
    check_keys(content, _KEYS, name, ScenarioError)
    vocabulary = load_vocabulary(_located(content.get("vocabulary", "people"), home))
    attributes = _attributes(content, vocabulary, name)
    numbers = {key: count_in(content, key, least, name) for key, least in _COUNTS.items() if key in content}
    targets = count_in(content, "targets", 2, name) if "targets" in content else len(vocabulary.targets)
    if targets > len(vocabulary.targets):
        raise ScenarioError(
            f"{name}: 'targets' is {targets}, and '{vocabulary.name}' has {len(vocabulary.targets)}; ask for fewer, or"
            " give a vocabulary of your own"
        )
    set_apart = numbers.get("balanced", 0) + numbers.get("neutral", 0)
    if set_apart > targets:
        raise ScenarioError(f"{name}: 'balanced' and 'neutral' are {set_apart} targets of {targets}; ask for fewer")
    if numbers.get("neutral") == targets:
        raise ScenarioError(
            f"{name}: all {targets} targets are 'neutral', and none is left to be biased; ask for fewer"
        )
    share = content.get("neutral_share", 0.0)
    if not is_between(share, 0, 1) or share == 1:
        raise ScenarioError(f"{name}: 'neutral_share' is {share!r}; give a share from 0 to below 1")
    if share or numbers.get("neutral"):
        _check_neutral(vocabulary, attributes, name)
    words = content.get("words_per_sentence", [1])
    if not isinstance(words, list) or not words or not all(isinstance(w, int) and w >= 1 for w in words):
        raise ScenarioError(f"{name}: 'words_per_sentence' is {words!r}; give whole numbers, such as [1, 2, 3]")
    for attribute in attributes:
        clauses = vocabulary.attributes[attribute].more[TRAINING]
        if max(words) - 1 > len(clauses):
            raise ScenarioError(
                f"{name}: {max(words)} words of a group in a sentence need {max(words) - 1} more clauses, and"
                f" '{attribute}' has {len(clauses)}; ask for fewer words"
            )
    groups = {attribute: len(vocabulary.attributes[attribute].groups) for attribute in attributes}
    group_size = numbers.pop("group_size", min(25, targets // 2))
    if group_size > targets // 2:
        raise ScenarioError(
            f"{name}: 'group_size' is {group_size}; {targets} targets give two groups of {targets // 2}"
        )
    return Scenario(
        name=name,
        title=str(content.get("title", name)),
        description=str(content.get("description", "")),
        vocabulary=vocabulary,
        attributes=attributes,
        targets=targets,
        scheme=scheme_from(content.get("truth"), groups, name),
        models=_models(content.get("models"), name, home),
        neutral_share=float(share),
        words_per_sentence=tuple(words),
        exact=_flag(content, "exact", False, name),
        halves=_flag(content, "halves", False, name),
        posterior=_flag(content, "posterior", True, name),
        retest=_flag(content, "retest", False, name),
        downstream=_flag(content, "downstream", False, name),
        seed=check_seed(content.get("seed", 1)),
        group_size=group_size,
        **numbers,
    )


def _attributes(content: Mapping[str, Any], vocabulary: Vocabulary, name: str) -> tuple[str, ...]:
    attributes = content.get("attributes", list(vocabulary.attributes))
    if not isinstance(attributes, list) or not attributes or len(set(attributes)) < len(attributes):
        raise ScenarioError(f"{name}: 'attributes' is {attributes!r}; give each once, such as ['gender']")
    for attribute in attributes:
        if attribute not in vocabulary.attributes:
            raise ScenarioError(
                f"{name}: unknown attribute '{attribute}'; {did_you_mean(attribute, vocabulary.attributes)}"
            )
    return tuple(attributes)


def _check_neutral(vocabulary: Vocabulary, attributes: Sequence[str], name: str) -> None:
    for attribute in attributes:
        if not vocabulary.attributes[attribute].neutral:
            raise ScenarioError(
                f"{name}: sentences with neutral words need some, and '{attribute}' has none; add"
                f" [attributes.{attribute}.neutral] to the vocabulary, or set 'neutral' and 'neutral_share' to 0"
            )


def _models(content: Any, name: str, home: Path | None) -> tuple[ModelRecipe, ...]:
    if not isinstance(content, Mapping) or not content:
        raise ScenarioError(f"{name}: has no [models]; add one, such as [models.skip-gram]")
    recipes = []
    for label, table in content.items():
        kind = table.get("kind", label)
        if kind not in KINDS:
            raise ScenarioError(f"{name}: model '{label}' is of unknown kind '{kind}'; {did_you_mean(kind, KINDS)}")
        given = {key: value for key, value in table.items() if key != "kind"}
        check_keys(given, KINDS[kind], f"{name}: model '{label}'", ScenarioError)
        for key, value in given.items():
            if key != "folder" and (not is_number(value) or value < 1 or value != int(value)):
                raise ScenarioError(f"{name}: model '{label}': '{key}' is {value!r}; give a whole number, 1 or more")
        settings = {**KINDS[kind], **given}
        if kind == "fine-tune":
            settings["folder"] = _located(settings["folder"], home)
            if not Path(settings["folder"]).is_dir():
                raise ScenarioError(
                    f"{name}: model '{label}': 'folder' is '{settings['folder']}', which is not a folder; give that of"
                    " a BERT"
                )
        recipes.append(ModelRecipe(label, kind, settings))
    return tuple(recipes)


def _located(path: str, home: Path | None) -> str:
    """A path in a file is meant from the file's own folder."""
    there = home / path if home is not None else None
    return str(there) if there is not None and there.exists() and path else path


def _flag(content: Mapping[str, Any], key: str, default: bool, name: str) -> bool:
    value = content.get(key, default)
    if type(value) is not bool:
        raise ScenarioError(f"{name}: '{key}' is {value!r}; give true or false")
    return value
