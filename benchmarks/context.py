"""The example of conText 3.0.1: cosines of "immigration" in the speeches of two parties, against published ones.

Set $CONTEXT to a folder with `cr_sample_corpus.rda`, `cr_glove_subset.rda`, and `cr_transform.rda` of the package's
repository (GPL-3; speeches of the Congressional Record), and install `rdata` 1.1.0. The published values and their
standard errors, from a bootstrap of contexts, are those of its quick start guide. The package averages all context
words; conText averages the words of each context first.
"""

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from bayes_bias import open_embedding
from bayes_bias.corpora.contexts import Census, Contexts, vectors_of
from bayes_bias.corpora.reading import open_corpus
from bayes_bias.embeddings.word_vectors import unit_rows
from benchmarks.harness import Numbers, Result, Row

_STEM, _WINDOW, _GROUPS, _LEAST, _LETTERS = "immigr", 6, 50, 5, 3
# By party and word: the mean of the bootstrap, and the standard error.
_PUBLISHED: Mapping[tuple[str, str], tuple[float, float]] = MappingProxyType(
    {
        ("D", "reform"): (0.591, 0.0186),
        ("D", "enforce"): (0.484, 0.0126),
        ("R", "reform"): (0.424, 0.0169),
        ("R", "enforce"): (0.586, 0.0155),
        ("R", "immigration"): (0.838, 0.0100),
        ("R", "illegal"): (0.762, 0.0101),
        ("R", "immigrants"): (0.728, 0.0149),
        ("R", "illegally"): (0.660, 0.00957),
        ("R", "amnesty"): (0.654, 0.0120),
        ("R", "laws"): (0.595, 0.0151),
        ("R", "enforcement"): (0.592, 0.0139),
        ("R", "border"): (0.568, 0.0156),
        ("R", "legal"): (0.565, 0.0134),
    }
)


def immigration(_: int) -> Iterator[Row]:
    """A row for each published cosine."""
    glove, transformation = _read("cr_glove_subset"), np.asarray(_read("cr_transform")).T
    vectors = dict(zip(map(str, glove.coords[glove.dims[0]].to_numpy()), np.asarray(glove), strict=True))
    texts = _texts()
    for party in ("D", "R"):
        sums = _sums([text for text, of in zip(texts, _parties(), strict=True) if of == party and text], vectors)
        every = sums.sum(axis=0)
        own = unit_rows(vectors_of(np.vstack([every, every - sums]), transformation))
        for (of, word), (published, error) in _PUBLISHED.items():
            if of == party:
                cosines = own @ unit_rows(vectors[word])
                difference = cosines[0] - published
                jackknife = float(np.sqrt((_GROUPS - 1) * cosines[1:].var()))
                yield {
                    "party": party,
                    "word": word,
                    "published": published,
                    "published error": error,
                    "from_texts": float(cosines[0]),
                    "error over texts": jackknife,
                    "difference in published errors": float(difference / error),
                }


def _sums(texts: list[list[str]], vectors: Mapping[str, Numbers]) -> Numbers:
    """Sums of contexts of all words with the stem, by group of texts."""
    corpus = open_corpus(texts)
    census = Census.of(corpus, _GROUPS, seed=1)
    words = [word for word in census.counts if word.startswith(_STEM)]
    contexts = Contexts.of(corpus, census, words, open_embedding(vectors), _WINDOW)
    return np.asarray(sum(contexts.listed[word] for word in words))


def _texts() -> list[list[str]]:
    """The speeches as in the guide: short words are removed, and rare ones are replaced by an empty word."""
    texts = [[w for w in str(text).lower().split() if len(w) >= _LETTERS] for text in _read("cr_sample_corpus")]
    counts = Counter(word for text in texts for word in text)
    return [[word if counts[word] >= _LEAST else "" for word in text] for text in texts]


def _read(name: str) -> Any:
    import rdata  # type: ignore[import-not-found,unused-ignore]

    return rdata.conversion.convert(_parsed(name))[name]


def _parsed(name: str) -> Any:
    import rdata  # type: ignore[import-not-found,unused-ignore]

    return rdata.parser.parse_file(Path(os.environ["CONTEXT"]) / f"{name}.rda")


def _parties() -> list[str]:
    """The party of each speaker, an attribute of the corpus that `rdata` does not convert."""
    import rdata  # type: ignore[import-not-found,unused-ignore]

    attribute = _parsed("cr_sample_corpus").object.value[0].attributes
    while (attribute.tag.value or attribute.tag.referenced_object.value).value != b"docvars":
        attribute = attribute.value[1]
    return [str(party) for party in rdata.conversion.convert(attribute.value[0]).party]


_USES = ("bayes_bias.corpora.contexts",)
RESULTS = (Result("context", immigration, 1, model=None, needs="CONTEXT", uses=_USES),)
