"""Create an embedding from an encoder, word lists, and templates, in which templates are replicates.

Sentences are encoded when their vectors are read. Random lists are drawn from the words of the built-in lists, whose
word classes are known.
"""

import logging
import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pandas as pd

from bayes_bias.embeddings.embedding import Embedding, Reader, Vector
from bayes_bias.embeddings.opening import open_embedding
from bayes_bias.errors import WordListError
from bayes_bias.language_models.encoders import LAYER, Encoder, EncoderLike, as_encoder
from bayes_bias.language_models.sentence_cache import BATCH, Cache, Memory, encoded, open_cache
from bayes_bias.progress import step
from bayes_bias.words.templates import (
    Sentence,
    Templates,
    check_word_classes,
    lexicon,
    load_templates,
    word_class,
    word_classes,
)
from bayes_bias.words.wordlist import (
    ControlsLike,
    ListLike,
    WordList,
    listed_wordlists,
    load_control_lists,
    load_wordlist,
    shipped_controls,
)

KIND = "template"

# If encoding takes longer than this number of seconds, a notice announces the duration.
_LONG = 20
# A source of general words, and the number of words that an encoder reads.
GENERAL, _EVERYDAY = "googlenews-demo", 600
NOUN = "noun"
ALONE = (
    "{} encodes each word on its own, so the effect of sentences is unknown. To use ten sentences, set"
    " templates='plain-10' (--templates plain-10)"
)

logger = logging.getLogger("bayes_bias")


@dataclass(frozen=True)
class EncodedReader(Reader):
    """Words in their sentences. They are encoded when they are read."""

    sentences: Mapping[str, tuple[Sentence, ...]]
    drawable: tuple[str, ...]
    encoder: Encoder
    cache: Cache | Memory
    dimensions: int
    frequent_first = False  # an encoder, unlike an embedding, has no vocabulary of words with vectors
    control_words: frozenset[str] = frozenset()
    everyday: Mapping[str, Sentence] = MappingProxyType({})

    def general(self) -> Mapping[str, Vector]:
        """Encode each general word in only one sentence.

        Encoding these words in all templates would take longer than encoding most lists.
        """
        step(f"{self.encoder.name}: vectors of {len(self.everyday):,} general words")
        vectors = encoded(self.encoder, self.everyday.values(), self.cache, total=len(self.everyday))
        return dict(zip(self.everyday, vectors, strict=True))

    def words(self) -> Iterator[str]:
        return iter(self.sentences)

    def entries(self, wanted: frozenset[str], first: float = 0) -> Iterator[tuple[str, Vector]]:
        """Encode the sentences of the `first` words and of wanted words, and yield each word with its vectors.

        The sentences of all words are encoded in one sequence, from which the vectors of each word are taken in turn. A
        word with several sentences has an array (sentence, dimension).
        """
        sentences_of = {}
        for number, (word, sentences) in enumerate(self.sentences.items()):
            if number < first or word.casefold() in wanted:
                sentences_of[word] = sentences
        total = sum(map(len, sentences_of.values()))
        step(f"{self.encoder.name}: vectors of {total:,} sentences")
        in_order = chain.from_iterable(sentences_of.values())
        vectors = self._announce_duration(encoded(self.encoder, in_order, self.cache, total=total), sentences_of, total)
        for word, sentences in sentences_of.items():
            rows = list(islice(vectors, len(sentences)))
            yield word, np.stack(rows) if len(rows) > 1 else rows[0]

    def marked(self) -> Iterator[str]:
        return iter(self.drawable)

    def _announce_duration(
        self, vectors: Iterator[Vector], sentences_of: Mapping[str, tuple[Sentence, ...]], total: int
    ) -> Iterator[Vector]:
        """Yield the vectors, and announce the duration after the first batch if it is long (`_LONG` seconds).

        `sentences_of` has the sentences of each word, and `total` is their number. The notice states how many sentences
        could be omitted because they are those of control classes. Vectors are computed in batches, so the first vector
        takes as long as all `BATCH` sentences of its batch.
        """
        start = time.monotonic()
        first = list(islice(vectors, 1))  # this encodes the whole first batch
        seconds = (time.monotonic() - start) * total / BATCH
        if total > BATCH and seconds > _LONG:
            minutes = math.ceil(seconds / 60)
            controls = sum(len(sentences_of[word]) for word in self.control_words & sentences_of.keys())
            logger.info(
                f"{self.encoder.name}: {total:,} sentences take about {minutes} min. To omit {controls:,} of them from"
                " control classes, set controls=() (--controls none)"
            )
        yield from first
        yield from vectors


def encode(
    wordlists: ListLike | Sequence[ListLike],
    encoder: EncoderLike | Encoder,
    templates: Templates | str | Path | None = "plain-10",
    controls: ControlsLike | Iterable[ControlsLike] = (),
    *,
    also: Iterable[str] = (),
    name: str | None = None,
    identity: str | None = None,
    pooling: str | None = None,
    layer: str | int = LAYER,
    prompt: str | None = None,
    cache: str | Path | bool = True,
    trust: bool = False,
) -> Embedding:
    """Embed the words of lists by a sentence encoder, with one vector for each word and template.

    Parameters
    ----------
    wordlists : WordList, str or Path, or a sequence of them
        Lists whose words get vectors.
    encoder : callable, object with `encode`, or str or Path of a model
        A function from a list of sentences to an array (sentences, dimensions), an object with such a method `encode`,
        or the folder (or name) of a Hugging Face model, which requires ``bayes-bias[transformers]``.
    templates : Templates, str, Path or None
        The sentences, as a built-in set or a TOML file. Each is a replicate. If it is None, every word is encoded as a
        separate sentence, which is required for lists of whole sentences.
    controls : iterable of str, Path or WordList
        Control classes, as in `cosines`. Words of the built-in control classes that do not fit the templates are
        omitted.
    also : iterable of str
        Further words, such as the sets of a debiasing method.
    name, identity : str, optional
        The name of the encoder in tables, and a text that identifies it, such as model and version.
    pooling : str, optional
    layer : str or int
    prompt : str, optional
        For the folder or name of a model. The default is its own pooling and prompt. See `load_encoder`.
    cache : str, Path or bool
        A folder that caches vectors, so that each sentence is encoded once and a stopped run can continue. True is the
        platform's folder for caches (or the folder in the variable BAYES_BIAS_CACHE), for encoders with an identity,
        such as models. The identity of a `SentenceTransformer` is a hash of its weights and settings.
    trust : bool
        Open a model whose weights are pickled, which can run code. Use this only for models that you trust.

    Returns
    -------
    Embedding
        An embedding with the templates as `replicates`. Its random words are words of the built-in lists, of the same
        word classes as the attributes.

    Raises
    ------
    EmbeddingError
        If the object is not an encoder, or if it does not return a vector of finite numbers for each sentence.
    TemplateError
        If the templates do not exist, or if a word has an unknown word class or does not fit the templates.

    References
    ----------
    May, C., Wang, A., Bordia, S., Bowman, S. R., & Rudinger, R. (2019). On measuring social biases in sentence
    encoders. NAACL. https://doi.org/10.18653/v1/N19-1063

    Examples
    --------
    >>> def lengths(sentences):
    ...     return [[len(text), text.count("e"), 1.0] for text in sentences]
    >>> encode("weat6", lengths, "noun-10").replicates[:2]
    ('Someone mentioned {word} again.', 'It has to do with {word}.')
    """
    checked_encoder = as_encoder(
        encoder, name=name, identity=identity, pooling=pooling, layer=layer, prompt=prompt, trust=trust
    )
    lists = list(map(load_wordlist, listed_wordlists("wordlists", wordlists)))
    if not lists:
        raise WordListError("`wordlists` is empty. Pass at least one list, such as ['weat6'].")
    extra_controls = load_control_lists(controls)
    control_words = frozenset(_words_of(extra_controls)) - frozenset(_words_of(lists))
    encoder_name = checked_encoder.name
    identity_of_encoder = {"encoder_identity": checked_encoder.identity, "pooling": checked_encoder.pooling}
    provenance = {"encoder": encoder_name, **identity_of_encoder}
    embedding_name = encoder_name
    sentence_templates = None
    labels: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    # The sentences of each word, and the words from which random lists are drawn.
    if templates is None:
        sentences, drawable = _words_as_sentences(lists, extra_controls, also)
        notices = () if all(map(_of_sentences, lists)) else (ALONE.format(encoder_name),)
    else:
        sentence_templates = load_templates(templates)
        sentences, drawable = _words_in_templates(lists, extra_controls, also, sentence_templates)
        embedding_name = f"{encoder_name} ({sentence_templates.name})"
        labels = sentence_templates.labels
        provenance |= {"templates": sentence_templates.name, "templates_sha256": sentence_templates.sha256}
    store = open_cache(cache, checked_encoder) or Memory()
    # One sentence is encoded now, because the number of dimensions is unknown. All others are encoded when needed.
    first_sentence = next(iter(sentences.values()))[:1]
    dimensions = len(next(encoded(checked_encoder, first_sentence, store)))
    everyday = _general_words(lists, sentence_templates)
    return Embedding(
        name=embedding_name,
        source=f"sentences encoded by {encoder_name}",
        reader=EncodedReader(sentences, drawable, checked_encoder, store, dimensions, control_words, everyday),
        replicates=labels if len(labels) > 1 else (),
        kind=KIND,
        provenance=MappingProxyType({key: value for key, value in provenance.items() if value}),
        notices=notices,
    )


def sentences_to_encode(
    wordlist: ListLike, templates: Templates | str | Path, controls: ControlsLike | Iterable[ControlsLike] = ()
) -> pd.DataFrame:
    """Return the sentences of a list for encoding on another machine, with a row for each word in each template.

    Columns: ``id``, ``word``, ``template``, ``sentence``, and ``start`` and ``end`` of the word in its sentence.

    Examples
    --------
    >>> rows = sentences_to_encode("weat6", "noun-10")
    >>> rows.sentence[0], rows.sentence[0][rows.start[0] : rows.end[0]]
    ('Someone mentioned John again.', 'John')
    """
    words = load_wordlist(wordlist).with_controls(controls)
    sentence_templates = load_templates(templates)
    class_of = word_classes(words)
    rows: list[tuple[str, str, str, str, int, int]] = []
    for word in _words_that_fit([words], [], class_of, sentence_templates):
        sentences = sentence_templates.sentences(word, class_of[word])
        for label, sentence in zip(sentence_templates.labels, sentences, strict=True):
            sentence_id = f"s{len(rows) + 1:05d}"
            rows.append((sentence_id, word, label, sentence.text, sentence.start, sentence.end))
    return pd.DataFrame(rows, columns=["id", "word", "template", "sentence", "start", "end"])


def _words_as_sentences(
    lists: Sequence[WordList], more: Sequence[WordList], also: Iterable[str]
) -> tuple[dict[str, tuple[Sentence, ...]], tuple[str, ...]]:
    """Return every word as a sentence of its own, and the words from which random lists are drawn.

    The words are those of the lists, of `more` lists (of control classes), and further words (`also`). Lists of
    sentences get neither built-in control classes nor random words, which would be compared with whole sentences.
    """
    words = list(chain.from_iterable(wordlist.texts for wordlist in (*lists, *more)))
    drawable = tuple(lexicon())
    if all(map(_of_sentences, lists)):
        omitted = _built_in_control_words() - _compared_words(lists)
        words = [word for word in words if word not in omitted]
        drawable = ()
    return {word: (Sentence(word, 0, len(word)),) for word in (*words, *also, *drawable)}, drawable


def _general_words(lists: Sequence[WordList], templates: Templates | None) -> Mapping[str, Sentence]:
    """Return about 600 (`_EVERYDAY`) general English words, each in the first template.

    They are taken at equal distances from the pool of a built-in embedding (`GENERAL`). All are treated as nouns if the
    templates are for nouns. Without templates, each word is a sentence. Lists of whole sentences get no general words.
    """
    if all(map(_of_sentences, lists)):
        return {}
    pool = open_embedding(GENERAL).pool()
    words = pool[:: max(1, len(pool) // _EVERYDAY)]
    if templates is None:
        return {word: Sentence(word, 0, len(word)) for word in words}
    word_class_used = NOUN if NOUN in templates.classes else next(iter(templates.classes))
    return {word: templates.sentences(word, word_class_used)[0] for word in words}


def _words_in_templates(
    lists: Sequence[WordList], more: Sequence[WordList], also: Iterable[str], templates: Templates
) -> tuple[dict[str, tuple[Sentence, ...]], tuple[str, ...]]:
    """Return the sentences of each word, and the words from which random lists are drawn.

    The words are those of the lists and of `more` lists (of control classes) that fit the templates, and further words
    (`also`). Random words come from the lexicon of built-in lists, and have a word class of the attributes.
    """
    class_of = word_classes(*lists, *more)
    usable = _words_that_fit(lists, more, class_of, templates)
    attributes = chain.from_iterable(words for wordlist in lists for words in wordlist.classes.values())
    drawn_classes = {class_of[word] for word in attributes} & set(templates.classes)
    drawable = tuple(word for word, name in lexicon().items() if name in drawn_classes)
    words = dict.fromkeys((*usable, *also, *drawable))
    return {word: templates.sentences(word, word_class(word, class_of)) for word in words}, drawable


def _words_that_fit(
    lists: Sequence[WordList], more: Sequence[WordList], class_of: Mapping[str, str], templates: Templates
) -> dict[str, None]:
    """Return the words of all lists that fit the templates, as the keys of a dict, which keeps their order.

    Words of built-in control classes that do not fit are omitted, because the user did not choose them. Any other word
    that does not fit raises an error. `class_of` has the word class (noun, name, ...) of each word.
    """
    optional = _built_in_control_words() - _compared_words(lists)
    usable: dict[str, None] = {}
    check_word_classes(_words_of((*lists, *more)), class_of)
    for word in _words_of((*lists, *more)):
        if word_class(word, class_of) in templates.classes:
            usable[word] = None
        elif word not in optional:
            # this call raises the error that explains why the words do not fit
            templates.sentences(word, class_of[word])
    return usable


def _words_of(lists: Sequence[WordList]) -> dict[str, None]:
    """Return targets and attributes in their order."""
    return dict.fromkeys(chain.from_iterable(wordlist.words for wordlist in lists))


def _compared_words(lists: Sequence[WordList]) -> set[str]:
    """Return targets, and attributes of compared classes."""
    chosen: set[str] = set()
    for wordlist in lists:
        chosen.update(*wordlist.groups.values(), *wordlist.classes.values())
    return chosen


def _built_in_control_words() -> set[str]:
    """Return words of the built-in control classes, which the user did not choose."""
    return set(chain(*shipped_controls().values()))


def _of_sentences(words: WordList) -> bool:
    """Return True for a list of whole sentences."""
    return bool(words.sentences) or all(" " in word for word in _compared_words([words]))
