"""The settings of a sweep, and the reader for TOML files that define a sweep."""

import fnmatch
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from glob import glob, has_magic
from itertools import chain, product
from pathlib import Path
from typing import Any, Literal, Self

from bayes_bias.analyses.sweep.cells import Fitting
from bayes_bias.analyses.sweep.columns import LanguageModelColumn, OpenColumn
from bayes_bias.analyses.sweep.grid import Grid
from bayes_bias.arguments import all_are, as_tuple, check_ci_prob, check_different, check_seed, is_between, is_number
from bayes_bias.debiasing.debiased_embedding import Debiasing, GivenVersion, Version
from bayes_bias.debiasing.debiaser import make_debiaser
from bayes_bias.embeddings.opening import open_embedding
from bayes_bias.errors import BayesBiasError, EmbeddingError, WordListError
from bayes_bias.files import check_keys, given_table, read_toml
from bayes_bias.fitting.sampling import Sampling, check_sampling
from bayes_bias.jobs import Outcome
from bayes_bias.language_models.encoding import encode
from bayes_bias.measures.measure_table import check_measures
from bayes_bias.models.spec import ModelSpec
from bayes_bias.models.structures import generalising_spec
from bayes_bias.table.scopes import ScopeName, sampling_scope
from bayes_bias.words.list_files import field_names, is_list_file, wordlist_names

type Posteriors = Literal["all", "none"] | float | frozenset[tuple[str, str]]


@dataclass(frozen=True)
class SweepSettings:
    """Settings for all cells of a sweep.

    `measures` contains the names of further measures, and None means all measures. If `posteriors` is a number, models
    are fitted to cells whose quasi-F has a smaller p-value.
    """

    specs: tuple[ModelSpec, ...]
    measures: tuple[str, ...] | None
    posteriors: Posteriors
    scope: ScopeName
    ci_prob: float
    seed: int
    sampling: Sampling

    @classmethod
    def checked(
        cls,
        models: Iterable[str | Path | ModelSpec],
        measures: Iterable[str] | Literal["all"],
        posteriors: Any,
        scope: ScopeName,
        ci_prob: float,
        seed: int,
        sampling: Sampling,
    ) -> Self:
        """Check the arguments of `sweep`, and return the settings.

        `measures` and `models` are names, or models themselves. The models must be able to generalise to new words.
        """
        sampling_scope(scope)  # raises an error for other scopes
        check_ci_prob(ci_prob)
        check_sampling(sampling)
        names = None if measures == "all" else check_measures("measures", measures)
        sources = as_tuple("models", models, str | Path | ModelSpec, "['crossed']")
        if not sources:
            raise BayesBiasError("`models` is empty. Name one or more, such as ['crossed'].")
        specs = tuple(generalising_spec(model, "an atlas") for model in sources)
        check_different("models", [spec.name for spec in specs], "Use a different name for each.")
        return cls(specs, names, _checked_posteriors(posteriors), scope, ci_prob, check_seed(seed), sampling)

    def fits(self, embedding: str, words: str, screened: Outcome) -> bool:
        """Return True if models are fitted to a cell, which depends on `posteriors` (see `SweepSettings`).

        `screened` is the outcome of the quasi-F in the cell. If `posteriors` is a threshold for its p-value, models are
        also fitted to cells whose quasi-F failed.
        """
        if isinstance(self.posteriors, str):
            return self.posteriors == "all"
        if isinstance(self.posteriors, frozenset):
            return (embedding, words) in self.posteriors
        return bool(screened.failed) or screened.result["chance"] < self.posteriors

    @property
    def fittings(self) -> tuple[Fitting, ...]:
        """The settings for fitting each model."""
        return tuple(Fitting(spec, self.scope, self.ci_prob, self.seed, self.sampling) for spec in self.specs)


def check_chosen(posteriors: Posteriors, embeddings: Sequence[str], lists: Sequence[str]) -> None:
    """Raise an error if `posteriors` selects cells by name, and an embedding or list of them does not exist."""
    if not isinstance(posteriors, frozenset):
        return
    for embedding, words in sorted(posteriors):
        for name, names in ((embedding, embeddings), (words, lists)):
            if name not in names:
                raise BayesBiasError(
                    f"`posteriors` contains {(embedding, words)}, but there is no '{name}'.", name, names
                )


def _checked_posteriors(choice: Any) -> Posteriors:
    """Return the selection of cells to which models are fitted, or raise an error if it is not valid.

    The selection is "all", "none", a p-value of the quasi-F, or pairs of an embedding and a list. In TOML, pairs are
    lists of two texts.
    """
    if is_between(choice, 0, 1):
        return float(choice)
    if isinstance(choice, str) and choice in ("all", "none"):
        return "all" if choice == "all" else "none"
    if isinstance(choice, Iterable) and not isinstance(choice, str):
        pairs = [tuple(pair) if isinstance(pair, Iterable) else () for pair in choice]
        has_only_pairs = set(map(len, pairs)) == {2}
        if has_only_pairs and all_are(str, chain(*pairs)):
            return frozenset(pairs)
    raise BayesBiasError(
        f"`posteriors` is {choice!r}, which does not define the cells to fit. Use 'all', 'none', the p-value"
        " of the quasi-F below which cells are fitted, such as 0.1, or pairs of an embedding and a list."
    )


# Keys whose values are passed to `Grid` and to `sweep` unchanged.
_MEASURED = ("controls", "similarity", "allow_loss", "match", "language")
_PLAIN = ("models", "measures", "posteriors", "scope", "ci_prob", "seed", *_MEASURED)
_KEYS = ("title", "lists", "embeddings", "versions", "sampling", *_PLAIN)
# Settings of an encoder. If the value of a setting is a list, there is a column for each element.
_CHOICES = ("pooling", "layer", "prompt")
# An ``[[embeddings]]`` table has one of these kinds, perhaps a name, and the settings of its kind.
_KINDS = {
    "files": ("replicates",),
    "encoder": ("templates", *_CHOICES),
    "masked": ("templates", "predict"),
    "causal": ("templates", "predict"),
}
# Each of these keys opens a masked or a causal model, whichever is in the folder.
_LANGUAGE_MODELS = ("masked", "causal")
# Settings that a version of a model shares with the model.
_ALIKE = ("templates", "predict", *_CHOICES)
_EMBEDDING = ("name", "files", "replicates", "encoder", "templates", *_CHOICES, *_LANGUAGE_MODELS, "predict")
_EMBEDDINGS = (*_EMBEDDING, "at", "versions")
# The keys that a table of a version may have in addition to the settings of its method.
_DEBIASING = ("name", "method", "sets", "of")


@dataclass(frozen=True)
class Source:
    """Sources that an ``[[embeddings]]`` table names: files of vectors, a sentence encoder, or a language model.

    Paths are files (after resolving patterns), built-in names, or the folder of a model. Optional settings are
    ``name``; ``replicates``, the kind of replicates that the files are; ``templates`` and ``predict`` of a model; and
    ``pooling``, ``layer`` and ``prompt`` of an encoder. Versions are defined by ``[[embeddings.versions]]``.
    """

    kind: str
    paths: tuple[str, ...]
    settings: Mapping[str, Any]
    versions: tuple["Debiasing | Source", ...] = ()
    at: float | None = None  # the time when the text was written

    @property
    def is_language_model(self) -> bool:
        """Return True if the source is a masked or causal language model."""
        return self.kind in _LANGUAGE_MODELS

    def opened(
        self, lists: Sequence[str], controls: Sequence[str], trust: bool, also: Sequence[str] = ()
    ) -> list[OpenColumn]:
        """Open the embeddings or the language model. An encoder encodes the words of lists and debiasing methods.

        `also` are further words to encode. Files are one embedding each or, with the setting ``replicates``, replicates
        of a single embedding.
        """
        words = [*also]
        for version in self.versions:
            if isinstance(version, Debiasing):
                words += version.learned_words
        name, replicates = self.settings.get("name"), self.settings.get("replicates")
        if self.is_language_model:
            column = LanguageModelColumn(self.paths[0], trust=trust, **self.settings)
            # The model is opened before its versions, because versions refer to its name. A model without the key
            # `name` has no name until it is opened.
            return [column.opened() if self.versions and name is None else column]
        if self.kind == "encoder":
            templates = self.settings.get("templates")
            choices = _selected(self.settings, _CHOICES)
            encoded = encode(lists, self.paths[0], templates, controls, also=words, trust=trust, **choices)
            return [open_embedding(encoded, name=name)]
        if replicates is not None:
            return [open_embedding(list(self.paths), trust=trust, kind=replicates, name=name)]
        return [open_embedding(path, trust=trust, name=name) for path in self.paths]

    def versions_of(
        self, columns: Sequence[OpenColumn], lists: Sequence[str], controls: Sequence[str], trust: bool
    ) -> Iterator[Version]:
        """Yield the versions of the opened columns, which are the embeddings or models of this source.

        A debiasing method applies to all columns. Your own vectors or model are a version of one column, so there must
        be only one column, and only one embedding in the version.
        """
        names = tuple(column.name for column in columns)
        for version in self.versions:
            if isinstance(version, Debiasing):
                yield replace(version, of=names)
                continue
            if version.is_language_model:
                yield GivenVersion(version.paths[0], version.settings["name"], of=names[0])
                continue
            sources = version.opened(lists, controls, trust)
            if len(names) != 1 or len(sources) != 1:
                raise EmbeddingError(
                    f"[[embeddings.versions]] '{version.settings['name']}' has {len(sources)} files for"
                    f" {len(names)} embeddings. Write a table for each embedding and one file for each"
                    " version, or set `replicates` to the kind of replicates that its files are."
                )
            yield GivenVersion(sources[0], version.settings["name"], of=names[0])


@dataclass(frozen=True)
class SweepSpec:
    """The content of a sweep file. `settings` contains unchecked arguments of `sweep` that are set in the file."""

    title: str
    sources: tuple[Source, ...]
    lists: tuple[str, ...]
    versions: tuple[Debiasing, ...]
    sampling: Sampling
    settings: Mapping[str, Any]

    def arguments(self, trust: bool = False) -> dict[str, Any]:
        """Return the arguments of `bayes_bias.sweep`. Embeddings are opened but not read.

        An encoder must encode all words that a debiasing method learns from, so these words are collected for each
        source. The settings of the file that concern measurement (_MEASURED) belong to `Grid`, and the others to
        `sweep`.
        """
        controls = self.settings.get("controls", ("neutral", "human"))
        opened = []
        for source in self.sources:
            name = source.settings.get("name", "")
            learned_words: list[str] = []
            for version in self.versions:
                if version.applies_to(name):
                    learned_words += version.learned_words
            opened.append(source.opened(self.lists, controls, trust, learned_words))
        columns: list[OpenColumn] = []
        versions: list[Version] = [*self.versions]
        times: dict[str, float] = {}
        for source, columns_of_source in zip(self.sources, opened, strict=True):
            columns += columns_of_source
            versions += source.versions_of(columns_of_source, self.lists, controls, trust)
            if source.at is not None:
                for column in columns_of_source:
                    times[column.name] = source.at
        settings = dict(self.settings)
        measured = {name: settings.pop(name) for name in _MEASURED if name in settings}
        return {
            "wordlists": Grid(self.lists, columns, times=times, **measured),
            "versions": versions,
            "sampling": self.sampling,
            **settings,
        }


def read_sweep(path: str | Path) -> SweepSpec:
    """Read a sweep from a TOML file. Paths in the file are relative to its folder.

    The file must have a list of tables [[embeddings]] and a key `lists`. It may have tables [[versions]], a table
    [sampling], and the settings in _PLAIN. Unknown keys raise an error.
    """
    remedy = "Write one with lists = [...] and [[embeddings]], as --help shows."
    file = given_table(path, "SPEC", BayesBiasError, remedy)
    content = read_toml(file, f"{file}:", BayesBiasError)
    where, folder = file.name, file.parent
    check_keys(content, _KEYS, where, BayesBiasError)
    if not (tables := _tables(where, content, "embeddings")):
        raise EmbeddingError(f'{where} names no embeddings. Add a table [[embeddings]] with files = "*.txt".')
    sources: list[Source] = []
    for table in tables:
        sources += [_source(where, combination, folder) for combination in _combinations(where, table)]
    lists = _lists(where, content.get("lists", []), folder)
    versions = [_debiasing(where, "[[versions]]", table, folder) for table in _tables(where, content, "versions")]
    sampling = content.get("sampling", {})
    if not isinstance(sampling, Mapping):
        raise BayesBiasError(f"In {where}, sampling must be a table. Begin it with [sampling].")
    check_keys(sampling, [field.name for field in fields(Sampling)], f"{where}, [sampling]", BayesBiasError)
    return SweepSpec(
        title=str(content.get("title", file.stem)),
        sources=tuple(sources),
        lists=lists,
        versions=tuple(versions),
        sampling=Sampling(**sampling),
        settings=_selected(content, _PLAIN),
    )


# In the following functions, `where` and `place` are the file and the table that error messages name. Relative paths
# refer to `folder`.


def _selected(content: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    """Return the values of a table under some `keys`. Keys that the table does not have are omitted."""
    return {key: content[key] for key in keys if key in content}


def _tables(where: str, content: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """Return the list of tables under a key, such as [[embeddings]], or an empty list if the key is missing."""
    tables = content.get(key, [])
    if not isinstance(tables, list) or not all_are(Mapping, tables):
        raise BayesBiasError(f"In {where}, {key} must be a list of tables. Begin each with [[{key}]].")
    return tables


def _combinations(where: str, content: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return a table for each combination of encoder settings. Its name contains the settings that vary.

    A setting in _CHOICES varies if its value is a list. For example, ``layer = [6, 12]`` results in two tables with the
    settings ``layer = 6`` and ``layer = 12``. If no setting varies, the only table is a copy of `content`.
    """
    choices = {key: content[key] for key in _CHOICES if isinstance(content.get(key), list)}
    for key, values in choices.items():
        if not values:
            raise EmbeddingError(f"In {where}, [[embeddings]], {key} is an empty list. Name one or more, or omit it.")
    tables: list[Mapping[str, Any]] = []
    for values in product(*choices.values()):
        chosen = dict(zip(choices, values, strict=True))
        if choices and "name" in content:
            settings = ", ".join(f"{key} {value}" for key, value in chosen.items())
            chosen["name"] = f"{content['name']} ({settings})"
        tables.append({**content, **chosen})
    return tables


def _source(where: str, content: Mapping[str, Any], folder: Path) -> Source:
    """Return the content of an [[embeddings]] table with its versions.

    `where` is the name of the sweep file, for messages, and `folder` its folder. The key `at` is the time of the texts.
    It refers to one embedding, which may have replicates.
    """
    place = f"{where}, [[embeddings]]"
    check_keys(content, _EMBEDDINGS, place, BayesBiasError)
    source = _vectors(where, place, content, folder)
    versions = [_version(where, table, folder, source) for table in _tables(place, content, "versions")]
    source = replace(source, versions=tuple(versions))
    if "at" not in content:
        return source
    if not is_number(content["at"]):
        raise EmbeddingError(f"In {place}, at = {content['at']!r} must be a number, such as at = 1900.")
    if source.kind != "files" or (len(source.paths) > 1 and "replicates" not in source.settings):
        raise EmbeddingError(
            f"In {place}, at = {content['at']:g} is the time of a single embedding. Write a table for each"
            ' embedding, or set the kind of replicates that its files are, such as replicates = "seed".'
        )
    return replace(source, at=float(content["at"]))


def _version(where: str, content: Mapping[str, Any], folder: Path, original: Source) -> Debiasing | Source:
    """Return a version: a debiasing method, or vectors or a model used with the same sentences as the original.

    `content` is a table [[embeddings.versions]], and `original` the source of its [[embeddings]] table. Vectors can
    only be a version of vectors, and a language model of a language model. A version shares the settings in _ALIKE,
    such as templates, with its original.
    """
    label = "[[embeddings.versions]]"
    if "method" in content or "sets" in content:
        return _debiasing(where, label, content, folder)
    place = f"{where}, {label}"
    check_keys(content, _EMBEDDING, place, BayesBiasError)
    if not isinstance(content.get("name"), str):
        raise BayesBiasError(f"{place} needs a text `name`, and either a method with sets, or files.")
    version = _vectors(where, place, content, folder)
    if version.is_language_model != original.is_language_model:
        raise EmbeddingError(
            f"In {place}, '{content['name']}' is a {version.kind}, but it is a version of a {original.kind}, and"
            f" cosines cannot be compared with log probabilities. Use {original.kind} = ... instead."
        )
    if version.kind != original.kind and not version.is_language_model:
        return version
    shared_settings = _selected(original.settings, _ALIKE)
    for key in _ALIKE:
        if key in version.settings and version.settings[key] != shared_settings.get(key):
            raise EmbeddingError(
                f"In {place}, {key} of '{content['name']}' differs from the setting of its embedding. Omit it."
            )
    return replace(version, settings={**version.settings, **shared_settings})


def _vectors(where: str, place: str, content: Mapping[str, Any], folder: Path) -> Source:
    """Return the source of the numbers in a table: files, an encoder, or a language model.

    The key in `content` that is one of _KINDS defines the kind. Names of files and models in `folder` become paths.
    Other names are of built-in files or templates, or of models on Hugging Face.
    """
    kinds = [key for key in _KINDS if key in content]
    if len(kinds) != 1:
        raise EmbeddingError(
            f"{place} names {' and '.join(kinds) or 'no source of numbers'}. Use exactly one of files,"
            " encoder, masked, and causal."
        )
    (kind,) = kinds
    settings = {key: str(value) for key, value in content.items() if key not in (kind, "at", "versions")}
    for key in settings:
        if key not in ("name", *_KINDS[kind]):
            raise EmbeddingError(f"In {place}, {key} cannot be used with {kind}. Omit it.")
    if kind != "files":
        model, templates = str(content[kind]), settings.get("templates")
        if templates is not None and os.path.isfile(folder / templates):
            settings["templates"] = str(folder / templates)
        path = str(folder / model) if os.path.isdir(folder / model) else model
        return Source(kind, (path,), settings)
    paths = _paths_of_files(where, content, folder)
    if "name" in settings and "replicates" not in settings and len(paths) > 1:
        raise EmbeddingError(
            f"In {place}, '{settings['name']}' is the name of {len(paths)} files. Omit it, so that each file"
            " uses its own name, or set the kind of replicates that they are, such as replicates ="
            ' "seed".'
        )
    return Source(kind, tuple(paths), settings)


def _paths_of_files(where: str, content: Mapping[str, Any], folder: Path) -> list[str]:
    """Return the paths that match the names and patterns of `files`, in the folder of the sweep file.

    `content` is an [[embeddings]] table of the sweep file `where`. A pattern has wildcards, such as ``*.txt``, and must
    match a file. A name that is not a file is the built-in name of an embedding, and remains unchanged.
    """
    paths: list[str] = []
    for name in _texts(where, content, "files"):
        if not has_magic(name):
            # Unlike `Path.is_file`, this function accepts names of any length.
            paths.append(str(folder / name) if os.path.isfile(folder / name) else name)
            continue
        matched = [str(path) for path in _glob(folder, name) if path.is_file()]
        if not matched:
            raise EmbeddingError(
                f"In {where}, files = '{name}' matches no file in {folder.absolute()}. Correct the pattern."
            )
        paths += matched
    return paths


def _glob(folder: Path, pattern: str) -> list[Path]:
    """Return the sorted paths that match a pattern."""
    return sorted(folder / path for path in glob(os.path.expanduser(pattern), root_dir=folder, recursive=True))


def _lists(where: str, value: Any, folder: Path) -> tuple[str, ...]:
    """Return built-in names and paths of the lists that a file names.

    `value` is the key `lists` of the sweep file `where`, and `folder` the folder of this file. A name may have
    wildcards, and a name with "/" is a path. A name or pattern that matches both a built-in list and a file is an
    error. A name that matches neither remains unchanged, so that opening it raises an error.
    """
    lists: list[str] = []
    for name in _texts(where, {"lists": value}, "lists"):
        is_pattern = has_magic(name)
        built_in = [] if "/" in name else fnmatch.filter([*wordlist_names(), *field_names()], name)
        if is_pattern:
            files = [str(path) for path in _glob(folder, name) if is_list_file(path)]
        else:
            files = [str(folder / name)] if os.path.isfile(folder / name) else []
        if built_in and files:
            raise WordListError(
                f"In {where}, lists = '{name}' matches the built-in list '{built_in[0]}' and the file"
                f" '{files[0]}'. Write './{name}' for the file, or rename it to use the built-in list."
            )
        if is_pattern and not built_in and not files:
            raise WordListError(
                f"In {where}, lists = '{name}' matches no word list in {folder.absolute()}. Correct the name."
            )
        lists += built_in or files or [name]
    if not lists:
        raise WordListError(f'{where} names no lists. Add a line such as lists = ["weat6", "weat7"].')
    return tuple(lists)


def _debiasing(where: str, label: str, content: Mapping[str, Any], folder: Path) -> Debiasing:
    """Return the debiasing method that a table of a version defines.

    The table must have a name, a method, and the word sets from which the method learns: a built-in name or a TOML
    file. ``of`` limits the method to some embeddings, and other keys are settings of the method.
    """
    place = f"{where}, {label}"
    for key in ("name", "method", "sets"):
        if not isinstance(content.get(key), str):
            raise BayesBiasError(f"{place} needs a text `{key}`.")
    settings = {key: value for key, value in content.items() if key not in _DEBIASING}
    method = make_debiaser(content["method"], settings, place)
    sets = folder / content["sets"] if content["sets"].endswith(".toml") else content["sets"]
    return Debiasing(method, sets, content["name"], of=_texts(place, content, "of"))


def _texts(where: str, content: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Return the value of a key, which is a text or a list of texts, as a tuple. A missing key is an empty tuple.

    The message of an error names the file or table (`where`).
    """
    value = content.get(key, [])
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all_are(str, texts) or not all(texts):
        raise BayesBiasError(f"In {where}, {key} must be a text or a list of texts, but is {value!r}.")
    return tuple(texts)
