"""A sweep as a TOML file: embeddings, lists and settings."""

import fnmatch
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from glob import glob, has_magic
from itertools import product
from pathlib import Path
from typing import Any

from bayes_bias.analyses.sweep.columns import LanguageModelColumn
from bayes_bias.analyses.sweep.grid import Grid
from bayes_bias.arguments import is_number
from bayes_bias.debiasing.debiased_embedding import Debiasing
from bayes_bias.debiasing.debiaser import make_debiaser
from bayes_bias.debiasing.version import GivenVersion, Version
from bayes_bias.embeddings.embedding import Embedding
from bayes_bias.embeddings.opening import open_embedding
from bayes_bias.errors import BayesBiasError, EmbeddingError, WordListError
from bayes_bias.files import check_keys, given_table, read_toml
from bayes_bias.fitting.sampling import Sampling
from bayes_bias.language_models.encoding import encode
from bayes_bias.words.list_files import field_names, is_list_file, wordlist_names

# Keys whose values go to `Grid` and to `sweep` unchanged.
_MEASURED = ("controls", "similarity", "allow_loss", "match", "language")
_PLAIN = ("models", "measures", "posteriors", "scope", "ci_prob", "seed", *_MEASURED)
_KEYS = ("title", "lists", "embeddings", "versions", "sampling", *_PLAIN)
# An ``[[embeddings]]`` table has one of these kinds, perhaps a name, and what goes with the kind.
# How an encoder makes the vector of a sentence; a list of choices makes a column for each.
_CHOICES = ("pooling", "layer", "prompt")
_KINDS = {"files": ("replicates",), "encoder": ("templates", *_CHOICES), "masked": ("templates", "predict")}
# What a version of a model is asked as the model itself.
_ALIKE = ("templates", "predict", *_CHOICES)
_EMBEDDING = ("name", *dict.fromkeys(key for kind, more in _KINDS.items() for key in (kind, *more)))
_EMBEDDINGS = (*_EMBEDDING, "at", "versions")
# What a table of a version may name beside the settings of its method.
_DEBIASING = ("name", "method", "sets", "of")


@dataclass(frozen=True)
class Source:
    """Sources that an ``[[embeddings]]`` table names: files of vectors, a sentence encoder, or a masked language model.

    Paths are files and built-in names, globs resolved, or the folder of the model. Settings are, if given, ``name``;
    ``replicates``, what the files are replicates of; ``templates`` of a model; ``predict``; ``pooling``, ``layer`` and
    ``prompt`` of an encoder. Versions are those of its ``[[embeddings.versions]]``.
    """

    kind: str
    paths: tuple[str, ...]
    settings: Mapping[str, Any]
    versions: tuple["Debiasing | Source", ...] = ()
    at: float | None = None  # when the text was written

    def opened(
        self, lists: Sequence[str], controls: Sequence[str], trust: bool, also: Sequence[str] = ()
    ) -> list[Embedding | LanguageModelColumn]:
        """Embeddings, or a language model; an encoder encodes the words of all lists, and those that teach a method."""
        taught = [word for version in self.versions if isinstance(version, Debiasing) for word in version.learned_words]
        name, replicates = self.settings.get("name"), self.settings.get("replicates")
        if self.kind == "masked":
            return [LanguageModelColumn(self.paths[0], trust=trust, **self.settings)]
        if self.kind == "encoder":
            how = {key: self.settings[key] for key in _CHOICES if key in self.settings}
            templates = self.settings.get("templates")
            encoded = encode(lists, self.paths[0], templates, controls, also=[*also, *taught], trust=trust, **how)
            return [open_embedding(encoded, name=name)]
        if replicates is not None:
            return [open_embedding(list(self.paths), trust=trust, kind=replicates, name=name)]
        return [open_embedding(path, trust=trust, name=name) for path in self.paths]

    def versions_of(
        self,
        columns: Sequence[Embedding | LanguageModelColumn],
        lists: Sequence[str],
        controls: Sequence[str],
        trust: bool,
    ) -> Iterator[Version]:
        """Versions of what was opened. Given vectors or a given model are a version of one embedding or model."""
        names = tuple(column.name for column in columns)
        for version in self.versions:
            if isinstance(version, Debiasing):
                yield replace(version, of=names)
                continue
            if version.kind == "masked":
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
    """A sweep as its file has it. `settings` are arguments of `sweep` that the file names, unchecked."""

    title: str
    sources: tuple[Source, ...]
    lists: tuple[str, ...]
    versions: tuple[Debiasing, ...]
    sampling: Sampling
    settings: Mapping[str, Any]

    def arguments(self, trust: bool = False) -> dict[str, Any]:
        """The arguments of `bayes_bias.sweep`. Embeddings are opened, and not yet read."""
        controls = self.settings.get("controls", ("neutral", "human"))
        columns_of_sources = [
            (source, source.opened(self.lists, controls, trust, self._taught(source))) for source in self.sources
        ]
        nested = (
            version
            for source, of in columns_of_sources
            for version in source.versions_of(of, self.lists, controls, trust)
        )
        columns = [column for _, columns in columns_of_sources for column in columns]
        measured = {name: value for name, value in self.settings.items() if name in _MEASURED}
        return {
            "wordlists": Grid(self.lists, columns, times=_times(columns_of_sources), **measured),
            "versions": [*self.versions, *nested],
            "sampling": self.sampling,
            **{name: value for name, value in self.settings.items() if name not in _MEASURED},
        }

    def _taught(self, source: Source) -> list[str]:
        """Words that versions of all embeddings learn from, or of this one by its name."""
        name = source.settings.get("name", "")
        return [word for version in self.versions if version.applies_to(name) for word in version.learned_words]


def _times(columns_of_sources: Sequence[tuple[Source, list[Embedding | LanguageModelColumn]]]) -> dict[str, float]:
    """The time of each embedding that has one."""
    return {
        column.name: source.at for source, columns in columns_of_sources for column in columns if source.at is not None
    }


def read_sweep(path: str | Path) -> SweepSpec:
    """A sweep from its TOML file. Paths in it are relative to its folder."""
    remedy = "Write one with lists = [...] and [[embeddings]], as --help shows."
    file = given_table(path, "SPEC", BayesBiasError, remedy)
    content = read_toml(file, f"{file}:", BayesBiasError)
    where, home = file.name, file.parent
    check_keys(content, _KEYS, where, BayesBiasError)
    sources = _tables(where, content, "embeddings")
    if not sources:
        raise EmbeddingError(f'{where} names no embeddings. Add a table [[embeddings]] with files = "*.txt".')
    return SweepSpec(
        title=str(content.get("title", file.stem)),
        sources=tuple(_source(where, table, home) for content in sources for table in _combinations(where, content)),
        lists=_lists(where, content.get("lists", []), home),
        versions=tuple(_debiasing(where, "[[versions]]", table, home) for table in _tables(where, content, "versions")),
        sampling=_sampling(where, content.get("sampling", {})),
        settings={name: content[name] for name in _PLAIN if name in content},
    )


def _tables(where: str, content: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    tables = content.get(key, [])
    if not isinstance(tables, list) or not all(isinstance(table, Mapping) for table in tables):
        raise BayesBiasError(f"In {where}, {key} must be a list of tables. Begin each with [[{key}]].")
    return tables


def _combinations(where: str, content: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """A table for each combination of the choices of an encoder, named after those that differ."""
    choices = {key: content[key] for key in _CHOICES if isinstance(content.get(key), list)}
    for key, values in choices.items():
        if not values:
            raise EmbeddingError(f"In {where}, [[embeddings]], {key} is an empty list. Name one or more, or omit it.")
    tables: list[Mapping[str, Any]] = []
    for values in product(*choices.values()):
        table = {**content, **dict(zip(choices, values, strict=True))}
        if choices and "name" in content:
            named = ", ".join(f"{key} {value}" for key, value in zip(choices, values, strict=True))
            table["name"] = f"{content['name']} ({named})"
        tables.append(table)
    return tables


def _source(where: str, content: Mapping[str, Any], home: Path) -> Source:
    place = f"{where}, [[embeddings]]"
    check_keys(content, _EMBEDDINGS, place, BayesBiasError)
    source = _vectors(where, place, content, home)
    versions = tuple(_version(where, table, home, source) for table in _tables(place, content, "versions"))
    return replace(source, versions=versions, at=_time_of(place, content, source))


def _time_of(place: str, content: Mapping[str, Any], source: Source) -> float | None:
    """The time of an embedding, of which there is one, perhaps with replicates."""
    if "at" not in content:
        return None
    if not is_number(content["at"]):
        raise EmbeddingError(f"In {place}, at = {content['at']!r} must be a number, such as at = 1900.")
    if source.kind != "files" or (len(source.paths) > 1 and "replicates" not in source.settings):
        raise EmbeddingError(
            f"In {place}, at = {content['at']:g} is the time of a single embedding. Write a table for each"
            ' embedding, or set the kind of replicates that its files are, such as replicates = "seed".'
        )
    return float(content["at"])


def _version(where: str, content: Mapping[str, Any], home: Path, of: Source) -> Debiasing | Source:
    """A method, or vectors or a model of your own, which sentences are asked of as of the source itself."""
    label = "[[embeddings.versions]]"
    if "method" in content or "sets" in content:
        return _debiasing(where, label, content, home)
    place = f"{where}, {label}"
    check_keys(content, _EMBEDDING, place, BayesBiasError)
    if not isinstance(content.get("name"), str):
        raise BayesBiasError(f"{place} needs a text `name`, and either a method with sets, or files.")
    version = _vectors(where, place, content, home)
    if (version.kind == "masked") != (of.kind == "masked"):
        raise EmbeddingError(
            f"In {place}, '{content['name']}' is a {version.kind}, but it is a version of a {of.kind}, and"
            f" cosines cannot be compared with log probabilities. Use {of.kind} = ... instead."
        )
    if version.kind != of.kind:
        return version
    settings = {key: value for key, value in of.settings.items() if key in _ALIKE}
    for key in _ALIKE:
        if version.settings.get(key, settings.get(key)) != settings.get(key):
            raise EmbeddingError(
                f"In {place}, {key} of '{content['name']}' differs from the setting of its embedding. Omit it."
            )
    return replace(version, settings={**version.settings, **settings})


def _vectors(where: str, place: str, content: Mapping[str, Any], home: Path) -> Source:
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
        folder, templates = str(content[kind]), settings.get("templates")
        if templates is not None and _is_file(home / templates):
            settings["templates"] = str(home / templates)
        return Source(kind, (str(home / folder) if os.path.isdir(home / folder) else folder,), settings)
    paths = [path for pattern in _texts(where, content, "files") for path in _matched(where, pattern, home)]
    if "name" in settings and "replicates" not in settings and len(paths) > 1:
        raise EmbeddingError(
            f"In {place}, '{settings['name']}' is the name of {len(paths)} files. Omit it, so that each file"
            " uses its own name, or set the kind of replicates that they are, such as replicates ="
            ' "seed".'
        )
    return Source(kind, tuple(paths), settings)


def _matched(where: str, pattern: str, home: Path) -> list[str]:
    """Files that a pattern matches, sorted. A built-in name stays what it is."""
    if not has_magic(pattern):
        return [str(home / pattern)] if _is_file(home / pattern) else [pattern]
    paths = [str(path) for path in _glob(home, pattern) if path.is_file()]
    if not paths:
        raise EmbeddingError(
            f"In {where}, files = '{pattern}' matches no file in {home.absolute()}. Correct the pattern."
        )
    return paths


def _glob(home: Path, pattern: str) -> list[Path]:
    return sorted(home / path for path in glob(os.path.expanduser(pattern), root_dir=home, recursive=True))


def _is_file(path: Path) -> bool:
    """Return True if there is such a file: of a name that is too long `Path.is_file` raises an error."""
    return os.path.isfile(path)


def _lists(where: str, value: Any, home: Path) -> tuple[str, ...]:
    """Built-in names and paths. A pattern means one or the other; with a folder in it, paths alone."""
    lists: list[str] = []
    for name in _texts(where, {"lists": value}, "lists"):
        pattern = has_magic(name)
        shipped = [] if "/" in name else fnmatch.filter([*wordlist_names(), *field_names()], name)
        candidates = _glob(home, name) if pattern else [home / name]
        files = [str(path) for path in candidates if (is_list_file(path) if pattern else _is_file(path))]
        if shipped and files:
            raise WordListError(
                f"In {where}, lists = '{name}' matches the built-in list '{shipped[0]}' and the file"
                f" '{files[0]}'. Write './{name}' for the file, or rename it to use the built-in list."
            )
        if pattern and not shipped and not files:
            raise WordListError(
                f"In {where}, lists = '{name}' matches no word list in {home.absolute()}. Correct the name."
            )
        lists += shipped or files or [name]
    if not lists:
        raise WordListError(f'{where} names no lists. Add a line such as lists = ["weat6", "weat7"].')
    return tuple(lists)


def _debiasing(where: str, label: str, content: Mapping[str, Any], home: Path) -> Debiasing:
    place = f"{where}, {label}"
    for key in ("name", "method", "sets"):
        if not isinstance(content.get(key), str):
            raise BayesBiasError(f"{place} needs a text `{key}`.")
    settings = {key: value for key, value in content.items() if key not in _DEBIASING}
    method = make_debiaser(content["method"], settings, place)
    sets = home / content["sets"] if content["sets"].endswith(".toml") else content["sets"]
    return Debiasing(method, sets, content["name"], of=_texts(place, content, "of"))


def _sampling(where: str, content: Any) -> Sampling:
    if not isinstance(content, Mapping):
        raise BayesBiasError(f"In {where}, sampling must be a table. Begin it with [sampling].")
    check_keys(content, [field.name for field in fields(Sampling)], f"{where}, [sampling]", BayesBiasError)
    return Sampling(**content)


def _texts(where: str, content: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = content.get(key, [])
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) and text for text in texts):
        raise BayesBiasError(f"In {where}, {key} must be a text or a list of texts, but is {value!r}.")
    return tuple(texts)
