"""A sweep as a TOML file: which embeddings, which lists, and what is asked of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from glob import has_magic
from pathlib import Path
from typing import Any

from bayes_bias.embeddings import Embedding, open_embedding
from bayes_bias.errors import BayesBiasError, EmbeddingError, WordListError
from bayes_bias.files import check_keys, read_toml
from bayes_bias.inference.sampling import Sampling
from bayes_bias.language_models.encoding import encode
from bayes_bias.sweeps.asked import SAMPLING
from bayes_bias.sweeps.recipes import Recipe
from bayes_bias.sweeps.scored import Scored
from bayes_bias.words.defining_sets import read_debias_sets
from bayes_bias.words.wordlist import wordlist_names

# What goes to `sweep` as it stands.
_PLAIN = ("models", "measures", "controls", "posteriors", "scope", "ci_prob", "seed", "allow_loss")
_KEYS = ("title", "lists", "embeddings", "debiasing", "sampling", *_PLAIN)
# Where numbers come from, one of these, and what may go with it beside a name.
_SOURCES = {"files": ("replicates",), "encoder": ("templates",), "masked": ("templates", "predict")}
_EMBEDDING = ("name", *dict.fromkeys(key for source, more in _SOURCES.items() for key in (source, *more)))
_DEBIASING = ("name", "sets", "equalize", "components", "of")


@dataclass(frozen=True)
class Source:
    """What one ``[[embeddings]]`` table asks for.

    Attributes
    ----------
    files : tuple of str or None
        Paths and shipped names; globs have been resolved. None for a model.
    name : str or None
        Of a single embedding, or of one whose files are replicates.
    replicates : str or None
        What the files are where they are replicates of one embedding: "seed", "corpus".
    encoder, templates : str or None
        The folder of an encoder of sentences, and the sentences that words stand in.
    masked, predict : str or None
        The folder of a masked language model, which is asked for probabilities of words in the templates, and of which
        words.
    """

    files: tuple[str, ...] | None
    name: str | None = None
    replicates: str | None = None
    encoder: str | None = None
    templates: str | None = None
    masked: str | None = None
    predict: str | None = None

    def opened(self, lists: Sequence[str], controls: Sequence[str], trust: bool) -> list[Embedding | Scored]:
        """The embeddings: of an encoder that of the words of all lists, which it reads now; or a language model."""
        if self.masked is not None:
            given: dict[str, Any] = {
                "templates": self.templates,
                "predict": self.predict,
                "name": self.name,
            }
            return [Scored(self.masked, **{key: each for key, each in given.items() if each is not None})]
        if self.encoder is not None:
            made = encode(self.encoder, lists, self.templates, controls, trust=trust)
            return [open_embedding(made, name=self.name)]
        files = list(self.files or ())
        if self.replicates is not None:
            return [open_embedding(files, trust=trust, kind=self.replicates, name=self.name)]
        return [open_embedding(file, trust=trust, name=self.name) for file in files]


@dataclass(frozen=True)
class SweepSpec:
    """A sweep as its file has it; `arguments` are those of `bayes_bias.sweep`.

    Attributes
    ----------
    title : str
    sources : tuple of Source
    lists : tuple of str
    debiasing : tuple of Recipe
    sampling : Sampling
    settings : mapping of str to object
        Arguments of `sweep` that the file names, as they stand there; `sweep` checks them.
    """

    title: str
    sources: tuple[Source, ...]
    lists: tuple[str, ...]
    debiasing: tuple[Recipe, ...]
    sampling: Sampling
    settings: Mapping[str, Any]

    def arguments(self, trust: bool = False) -> dict[str, Any]:
        """What `bayes_bias.sweep` is called with; embeddings are opened, and not yet read."""
        controls = self.settings.get("controls", ("neutral", "human"))
        opened = [one for source in self.sources for one in source.opened(self.lists, controls, trust)]
        asked = {"lists": self.lists, "debiasing": self.debiasing, "sampling": self.sampling, "trust": trust}
        return {"embeddings": opened, **asked, **self.settings}


def read_sweep(path: str | Path) -> SweepSpec:
    """A sweep from its TOML file; paths in it are relative to its folder.

    Raises
    ------
    BayesBiasError
        No such file; malformed TOML; an unknown key; a glob that matches nothing; no embeddings or lists.
    """
    file = Path(path)
    if not file.is_file():
        raise BayesBiasError(
            f"SPEC: no file '{file}'; write one with lists = [...] and [[embeddings]], see --help"
        )
    content = read_toml(file, f"{file}:", BayesBiasError)
    where, home = file.name, file.parent
    check_keys(content, _KEYS, where, BayesBiasError)
    sources = _tables(where, content, "embeddings")
    if not sources:
        raise EmbeddingError(f'{where}: names no embeddings; add a table [[embeddings]] with files = "*.txt"')
    return SweepSpec(
        title=str(content.get("title", file.stem)),
        sources=tuple(_source(where, each, home) for each in sources),
        lists=_lists(where, content.get("lists", []), home),
        debiasing=tuple(_recipe(where, each, home) for each in _tables(where, content, "debiasing")),
        sampling=_sampling(where, content.get("sampling", {})),
        settings={name: content[name] for name in _PLAIN if name in content},
    )


def _tables(where: str, content: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    given = content.get(key, [])
    if not isinstance(given, list) or not all(isinstance(each, Mapping) for each in given):
        raise BayesBiasError(f"{where}: {key} is no list of tables; begin each with [[{key}]]")
    return given


def _source(where: str, content: Mapping[str, Any], home: Path) -> Source:
    check_keys(content, _EMBEDDING, f"{where}, [[embeddings]]", BayesBiasError)
    told = f"{where}, [[embeddings]]"
    named = [key for key in _SOURCES if key in content]
    if len(named) != 1:
        raise EmbeddingError(
            f"{told}: names {' and '.join(named) or 'no source of numbers'}; give one of files, encoder and masked"
        )
    (source,) = named
    for key in content:
        if key not in ("name", source, *_SOURCES[source]):
            raise EmbeddingError(f"{told}: {key} does not go with {source}; leave it out")
    if source != "files":
        texts = {key: str(each) for key, each in content.items()}
        if (home / texts[source]).is_dir():
            texts[source] = str(home / texts[source])
        if "templates" in texts and (home / texts["templates"]).is_file():
            texts["templates"] = str(home / texts["templates"])
        return Source(None, **texts)
    files = tuple(
        file for pattern in _texts(where, content, "files") for file in _matched(where, pattern, home)
    )
    name, replicates = content.get("name"), content.get("replicates")
    if name is not None and replicates is None and len(files) > 1:
        raise EmbeddingError(
            f"{where}, [[embeddings]]: '{name}' is the name of {len(files)} files; leave it out, and each goes by its"
            ' own, or say what they are replicates of, such as replicates = "seed"'
        )
    return Source(files, name, replicates)


def _matched(where: str, pattern: str, home: Path) -> list[str]:
    """Files that a pattern matches, in the order of their names; a shipped name stays what it is."""
    if not has_magic(pattern):
        return [str(home / pattern)] if (home / pattern).is_file() else [pattern]
    found = sorted(str(each) for each in _glob(home, pattern) if each.is_file())
    if not found:
        raise EmbeddingError(f"{where}: files = '{pattern}' matches no file in {home.absolute()}; correct it")
    return found


def _glob(home: Path, pattern: str) -> list[Path]:
    whole = Path(pattern).expanduser()
    if whole.is_absolute():
        return list(Path(whole.anchor).glob(str(whole.relative_to(whole.anchor))))
    return list(home.glob(pattern))


def _lists(where: str, given: Any, home: Path) -> tuple[str, ...]:
    names = _texts(where, {"lists": given}, "lists")
    found: list[str] = []
    for name in names:
        if has_magic(name):
            matched = sorted(str(each) for each in _glob(home, name))
            shipped = [each for each in wordlist_names() if Path(each).match(name)]
            if not matched and not shipped:
                raise WordListError(
                    f"{where}: lists = '{name}' matches no word list in {home.absolute()}; correct it"
                )
            found += matched or shipped
        else:
            found.append(str(home / name) if (home / name).is_file() else name)
    if not found:
        raise WordListError(f'{where}: names no lists; add a line such as lists = ["weat6", "weat7"]')
    return tuple(found)


def _recipe(where: str, content: Mapping[str, Any], home: Path) -> Recipe:
    told = f"{where}, [[debiasing]]"
    check_keys(content, _DEBIASING, told, BayesBiasError)
    for key in ("name", "sets"):
        if not isinstance(content.get(key), str):
            raise BayesBiasError(f"{told}: needs a text '{key}'")
    sets = home / content["sets"] if content["sets"].endswith(".toml") else content["sets"]
    components = content.get("components", 1)
    if type(components) is not int or components < 1:
        raise BayesBiasError(f"{told}: components is {components!r}; give a whole number, 1 or more")
    return Recipe(
        content["name"],
        read_debias_sets(sets),
        equalize=bool(content.get("equalize", False)),
        components=components,
        of=_texts(told, content, "of"),
    )


def _sampling(where: str, content: Any) -> Sampling:
    known = {each.name: getattr(SAMPLING, each.name) for each in fields(Sampling)}
    if not isinstance(content, Mapping):
        raise BayesBiasError(f"{where}: sampling is no table; begin it with [sampling]")
    check_keys(content, tuple(known), f"{where}, [sampling]", BayesBiasError)
    return Sampling(**{**known, **content})


def _texts(where: str, content: Mapping[str, Any], key: str) -> tuple[str, ...]:
    given = content.get(key, [])
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not all(isinstance(each, str) and each for each in texts):
        raise BayesBiasError(f"{where}: {key} is {given!r}; give a text or a list of texts")
    return tuple(texts)
