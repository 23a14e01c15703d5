"""A version of an embedding or a model: what debiasing made of it, or what took its place."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from bayes_bias.arguments import check_kind
from bayes_bias.embeddings.embedding import Embedding
from bayes_bias.embeddings.opening import open_embedding
from bayes_bias.errors import EmbeddingError


class Version(ABC):
    """A version that a sweep compares with its embedding: a `Debiasing`, or a `GivenVersion`.

    Attributes
    ----------
    name : str
        Name of the version, after the name of the embedding: "googlenews, debiased". Versions of the same name are one
        method, whatever their embeddings.
    of : str or tuple of str
        Name or names of the embeddings, or empty for all embeddings of a sweep.
    """

    name: str
    of: str | tuple[str, ...]

    @property
    def embeddings(self) -> tuple[str, ...]:
        """The names of the embeddings, or empty for all."""
        return (self.of,) if isinstance(self.of, str) else tuple(self.of)

    @property
    def learned_words(self) -> Sequence[str]:
        """Words that are required in addition to the words of the lists."""
        return ()

    @property
    def needs_vocabulary(self) -> bool:
        """True if all vectors of the embedding are required, and not only words of lists and learned words."""
        return False

    def applies_to(self, embedding: str) -> bool:
        """Return True if this is a version of the embedding of this name."""
        return not self.embeddings or embedding in self.embeddings

    def named(self, embedding: str) -> str:
        """Return the name of the version of an embedding of this name."""
        return f"{embedding}, {self.name}"

    def opened(self) -> "Version":
        """Open its source, so that a mistake is found before anything is computed."""
        return self

    @abstractmethod
    def applied(self, embedding: Embedding) -> Embedding:
        """Return the version of an embedding.

        Raises
        ------
        BayesBiasError
            The version cannot be made: a method is not defined on these vectors, or a file is damaged.
        """


@dataclass(frozen=True)
class GivenVersion(Version):
    """Vectors from elsewhere as a version of an embedding: debiased by another tool, trained anew, fine-tuned.

    In a sweep of language models it is a model that is a version of another, for instance fine-tuned on counterfactual
    data, or with an adapter. It is asked in the templates of the other model.

    Parameters
    ----------
    source : Embedding, str, Path, mapping, DataFrame or gensim KeyedVectors; or a model
        Anything that `open_embedding` opens. For a language model, what `LanguageModelColumn` takes as a model, such as
        its folder.
    name : str
        Name of the version, after the name of the embedding or model.
    of : str
        The name of the embedding or model.

    Raises
    ------
    EmbeddingError
        `of` is not the name of an embedding, or a sweep cannot open the source.

    Examples
    --------
    >>> GivenVersion("glove-theirs.txt", "theirs", of="glove").named("glove")
    'glove, theirs'
    >>> GivenVersion("models/bert-cda", "CDA", of="BERT").named("BERT")
    'BERT, CDA'
    """

    source: Any
    name: str
    of: str

    def __post_init__(self) -> None:
        check_kind(
            "of",
            self.of,
            str,
            "not the name of an embedding. Pass the name of the embedding that the vectors are a version of.",
            EmbeddingError,
        )

    def opened(self) -> "GivenVersion":
        return replace(self, source=open_embedding(self.source))

    def applied(self, embedding: Embedding) -> Embedding:
        """Return the words of the embedding that the source has, in memory."""
        version = open_embedding(self.source)
        looked_up = version if version.match != "exact" else replace(version, match=embedding.match)
        version = looked_up.excerpt(embedding.vocabulary())
        return replace(version, name=self.named(embedding.name))
