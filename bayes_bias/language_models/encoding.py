"""From an encoder, word lists and templates to an embedding: a word's replicates are its sentences.

Nothing is encoded before it is asked for. The words beside those of the lists are those of the shipped lists, whose
classes are known: random nulls draw from them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import pandas as pd

from bayes_bias.arguments import listed
from bayes_bias.embeddings import Embedding
from bayes_bias.embeddings.base import Reader, Vector
from bayes_bias.embeddings.replicated import joined
from bayes_bias.errors import WordListError
from bayes_bias.language_models.cache import Cache, encoded, open_cache
from bayes_bias.language_models.encoders import LAYER, POOLING, Encoder, EncoderLike, as_encoder
from bayes_bias.progress import Progress, Quiet
from bayes_bias.sentences import Sentence, Templates, load_templates, word_class, word_classes
from bayes_bias.sentences.word_classes import lexicon
from bayes_bias.words.wordlist import WordList, control_lists, load_controls, load_wordlist, shipped_controls

type ListLike = WordList | str | Path

KIND = "template"


@dataclass(frozen=True)
class EncodedReader(Reader):
    """Words in their sentences, encoded when they are wanted."""

    sentences: Mapping[str, tuple[Sentence, ...]]
    drawable: tuple[str, ...]
    encoder: Encoder
    cache: Cache | None
    dimensions: int
    progress: Progress = field(default_factory=Quiet)

    def words(self) -> Iterator[str]:
        return iter(self.sentences)

    def entries(self, wanted: frozenset[str], first: float = 0) -> Iterator[tuple[str, Vector]]:
        chosen = {
            word: own
            for number, (word, own) in enumerate(self.sentences.items())
            if number < first or word.casefold() in wanted
        }
        total = sum(map(len, chosen.values()))
        self.progress.step(f"{self.encoder.name}: vectors of {total:,} sentences")
        every = (sentence for own in chosen.values() for sentence in own)
        vectors = encoded(self.encoder, every, self.cache, total=total, progress=self.progress)
        for word, own in chosen.items():
            rows = [next(vectors) for _ in own]
            yield word, joined(rows) if len(rows) > 1 else rows[0]

    def marked(self) -> Iterator[str]:
        return iter(self.drawable)


def encode(
    encoder: EncoderLike | Encoder,
    wordlists: ListLike | Sequence[ListLike],
    templates: Templates | str | Path | None = "plain-10",
    controls: Iterable[str | Path | WordList] = (),
    *,
    name: str | None = None,
    identity: str | None = None,
    pooling: str = POOLING,
    layer: str | int = LAYER,
    cache: str | Path | bool = True,
    trust: bool = False,
    progress: Progress | None = None,
) -> Embedding:
    """An embedding of the words of lists, by an encoder of sentences: one vector for each word and template.

    Parameters
    ----------
    encoder : callable, object with `encode`, or str or Path of a model
        A callable from a list of sentences to an array (sentences, dimensions); an object with such a method `encode`;
        or the folder (or name) of a Hugging Face model, which needs the extra ``bayes-bias[transformers]``.
    wordlists : WordList, str or Path, or a sequence of them
        Lists whose words are to have vectors.
    templates : Templates, str, Path or None
        The sentences, a shipped set or a TOML file; each is a replicate. None encodes every word as a sentence of
        its own, which is what lists of whole sentences need.
    controls : iterable of str, Path or WordList
        Control classes, as in `cosines`. Words of the shipped ones that cannot stand in the templates are left out.
    name, identity : str, optional
        What tables call an encoder, and what tells it from any other.
    pooling : str
    layer : str or int
        Of a model's folder or name: which vector is a sentence's.
    cache : str, Path or bool
        A folder where vectors are kept, so that a sentence is encoded once and a run that was stopped goes on. True:
        the platform's folder for caches (or what the variable BAYES_BIAS_CACHE names), if the encoder has an identity,
        as models have; False: none.
    trust : bool
        Open a model whose weights are pickled, which can run code.
    progress : Progress, optional
        Told of sentences as they are encoded.

    Returns
    -------
    Embedding
        With the templates as `replicates`; `cosines`, `report`, `calibrate`, `compare` take it as any other. Random
        words are those of the shipped lists which are of the same classes as the lists' attributes.

    Raises
    ------
    EmbeddingError
        No encoder; or what it gives is no vector of finite numbers for each sentence.
    TemplateError
        No such templates; a word whose class nobody says, or which cannot stand in them.

    References
    ----------
    May, C., Wang, A., Bordia, S., Bowman, S. R., & Rudinger, R. (2019). On measuring social biases in sentence
    encoders. NAACL. https://doi.org/10.18653/v1/N19-1063

    Examples
    --------
    >>> def lengths(sentences):
    ...     return [[len(text), text.count("e"), 1.0] for text in sentences]
    >>> encode(lengths, "weat6", "noun-10").replicates[:2]
    ('Someone mentioned {word} again.', 'It has to do with {word}.')
    """
    ready = as_encoder(encoder, name=name, identity=identity, pooling=pooling, layer=layer, trust=trust)
    lists = [
        load_wordlist(each)
        for each in listed("wordlists", wordlists, str | Path | WordList, "['weat6']", WordListError)
    ]
    if not lists:
        raise WordListError("wordlists: there are none; name one or more, such as ['weat6']")
    more = [load_controls(each) for each in control_lists(controls)]
    used = None if templates is None else load_templates(templates)
    sentences, drawable = _alone(lists, more) if used is None else _in_templates(lists, more, used)
    kept = open_cache(cache, ready)
    dimensions = len(next(encoded(ready, next(iter(sentences.values()))[:1], kept)))
    count = 1 if used is None else len(used.labels)
    return Embedding(
        name=ready.name if used is None else f"{ready.name} ({used.name})",
        source=f"sentences encoded by {ready.name}",
        reader=EncodedReader(sentences, drawable, ready, kept, dimensions * count, progress or Quiet()),
        replicates=used.labels if used and count > 1 else (),
        kind=KIND,
        provenance=MappingProxyType(_provenance(ready, used)),
        notices=_said(lists, ready) if used is None else (),
    )


def sentences_to_encode(
    wordlist: ListLike, templates: Templates | str | Path, controls: Iterable[str | Path | WordList] = ()
) -> pd.DataFrame:
    """The sentences of a list, for a machine that has the encoder and not this package: word, template, sentence, and
    where the word starts and ends in it.

    Examples
    --------
    >>> rows = sentences_to_encode("weat6", "noun-10")
    >>> rows.sentence[0], rows.sentence[0][rows.start[0] : rows.end[0]]
    ('Someone mentioned John again.', 'John')
    """
    words, used = load_wordlist(wordlist).with_controls(controls), load_templates(templates)
    known = word_classes(words)
    wanted = (*words.targets, *words.attributes)
    usable = _usable([words], [], known, used)
    rows = (
        (word, label, each.text, each.start, each.end)
        for word in dict.fromkeys(wanted)
        if word in usable
        for label, each in zip(used.labels, used.sentences(word, known[word]), strict=True)
    )
    return pd.DataFrame(rows, columns=["word", "template", "sentence", "start", "end"])


def _alone(
    lists: Sequence[WordList], more: Sequence[WordList]
) -> tuple[dict[str, tuple[Sentence, ...]], tuple[str, ...]]:
    """Every word as its own sentence. Words are no sentences: beside whole ones stand neither the shipped control
    classes nor random words."""
    own = dict.fromkeys(word for each in (*lists, *more) for word in (*each.targets, *each.attributes))
    drawable = tuple(lexicon())
    if all(map(_of_sentences, lists)):
        left_out = _nobodys() - _chosen(lists)
        own, drawable = {word: None for word in own if word not in left_out}, ()
    return {word: (Sentence(word, 0, len(word)),) for word in (*own, *drawable)}, drawable


def _in_templates(
    lists: Sequence[WordList], more: Sequence[WordList], templates: Templates
) -> tuple[dict[str, tuple[Sentence, ...]], tuple[str, ...]]:
    known = word_classes(*lists, *more)
    own = _usable(lists, more, known, templates)
    attributes = {known[word] for each in lists for words in each.classes.values() for word in words}
    drawable = tuple(word for word, name in lexicon().items() if name in attributes & set(templates.classes))
    every = dict.fromkeys((*own, *drawable))
    return {word: templates.sentences(word, known[word]) for word in every}, drawable


def _usable(
    lists: Sequence[WordList], more: Sequence[WordList], known: Mapping[str, str], templates: Templates
) -> dict[str, None]:
    """The words that can stand in the templates: all but some of the shipped control classes, of which nobody chose the
    words."""
    chosen, nobodys = _chosen(lists), _nobodys()
    usable: dict[str, None] = {}
    for each in (*lists, *more):
        for word in (*each.targets, *each.attributes):
            if word_class(word, known) in templates.classes:
                usable[word] = None
            elif word in chosen or word not in nobodys:
                templates.sentences(word, known[word])  # which says why not
    return usable


def _chosen(lists: Sequence[WordList]) -> set[str]:
    """Targets, and attributes that some group is associated with."""
    tables = (table for each in lists for table in (each.groups, each.classes))
    return {word for table in tables for words in table.values() for word in words}


def _nobodys() -> set[str]:
    """Words of the shipped control classes, which nobody chose one by one."""
    return {word for words in shipped_controls().values() for word in words}


def _of_sentences(words: WordList) -> bool:
    return all(" " in word for word in _chosen([words]))


def _said(lists: Sequence[WordList], encoder: Encoder) -> tuple[str, ...]:
    if all(map(_of_sentences, lists)):
        return ()
    return (
        f"{encoder.name} encodes each word alone, as a sentence of its own, and how much the sentence matters cannot be"
        " said; templates='plain-10' (--templates plain-10) puts words into ten",
    )


def _provenance(encoder: Encoder, templates: Templates | None) -> dict[str, str]:
    told = {"encoder": encoder.name, "encoder_identity": encoder.identity, "pooling": encoder.pooling}
    if templates is not None:
        told |= {"templates": templates.name, "templates_sha256": templates.sha256}
    return {key: value for key, value in told.items() if value}
