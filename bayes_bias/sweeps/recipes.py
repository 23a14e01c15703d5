"""A debiasing as a recipe: applied to each embedding, it makes another column of the atlas."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from bayes_bias.debiasing.hard import hard_debias
from bayes_bias.embeddings import Embedding
from bayes_bias.embeddings.base import Excerpt, Vector
from bayes_bias.embeddings.replicated import joined, split
from bayes_bias.words.defining_sets import DebiasSets


@dataclass(frozen=True)
class Recipe:
    """Hard debiasing with these sets; see `bayes_bias.hard_debias`.

    Parameters
    ----------
    name : str
        What the column is called beside the embedding's name: "googlenews, debiased".
    sets : DebiasSets
        From `read_debias_sets`.
    equalize : bool
        Equalise the defining sets, too.
    components : int
        Dimensions of the bias subspace.
    of : tuple of str
        Names of the embeddings that it is applied to; all of them where it is empty.

    Examples
    --------
    >>> from bayes_bias.words.defining_sets import read_debias_sets
    >>> Recipe("debiased", read_debias_sets("she:he,woman:man")).applies_to("googlenews")
    True
    """

    name: str
    sets: DebiasSets
    equalize: bool = False
    components: int = 1
    of: tuple[str, ...] = ()

    def applies_to(self, embedding: str) -> bool:
        """Whether an embedding of this name is debiased."""
        return not self.of or embedding in self.of

    def named(self, embedding: str) -> str:
        """What the column is called."""
        return f"{embedding}, {self.name}"

    def applied(self, embedding: Embedding) -> Embedding:
        """The same words without the bias direction; replicates each without their own.

        Each word is debiased by itself, given the direction, so that a few words of a large file suffice.

        Raises
        ------
        MeasureError
            A word of the sets has no vector.
        """
        vectors, count = _usable(embedding), len(embedding.replicates)
        if count:
            of_replicates = [self._debiased(own) for own in split(vectors, count)]
            debiased: Mapping[str, Vector] = {
                word: joined([own[word] for own in of_replicates]) for word in vectors
            }
        else:
            debiased = self._debiased(vectors)
        return replace(
            embedding,
            name=self.named(embedding.name),
            source=f"{embedding.source}, {self.name}",
            reader=Excerpt(MappingProxyType(debiased), (), embedding.reader.dimensions),
        )

    def _debiased(self, vectors: Mapping[str, Vector]) -> dict[str, Vector]:
        sets = self.sets
        return hard_debias(
            vectors,
            sets.defining_sets,
            specific=sets.specific,
            equalize_sets=(*sets.equalize_sets, *(sets.defining_sets if self.equalize else ())),
            components=self.components,
        )


def _usable(embedding: Embedding) -> Mapping[str, Vector]:
    """Words whose vectors have a direction; coverage tells of the others."""
    return {w: vector for w, vector in embedding.all().items() if np.isfinite(vector).all() and vector.any()}
