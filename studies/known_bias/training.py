"""Models of a corpus: static vectors by gensim, a tiny BERT from nothing, or a folder's BERT that goes on learning.

What a model of a corpus without bias says of bias is known beforehand, and so is what one should say of a corpus in
which bias was planted. One thread, and seeds for all that is drawn, so that the same sentences give the same weights;
gensim and torch are imported here, when something is trained.
"""

import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bayes_bias.embeddings.format_gensim import check_gensim
from bayes_bias.errors import LanguageModelError
from bayes_bias.language_models.likelihoods import load_masked
from bayes_bias.language_models.opening import Transformer, check_installed, quietly
from bayes_bias.language_models.tokens import Tokens, padded, read
from bayes_bias.progress import advance, step
from studies.known_bias.scenario import ModelRecipe

# Subwords of a few hundred words; gensim's own two million rows would be made anew for each corpus.
_BUCKETS = 20_000

# Of a scenario's BERT: with three times this rate a small model mostly stays where it knows the role of a word, and not
# whom it is about.
_SCENARIO_RATE = 1e-3

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_WORD = re.compile(r"\w+|[^\w\s]")
_RECORD, _UNFINISHED = "trained.txt", "unfinished.pt"


@dataclass(frozen=True)
class _Course:
    """How a model learns: `rate` falls to zero linearly; of the tokens that may be masked a share is."""

    seed: int
    epochs: int
    batch: int
    rate: float
    masked: float


def check_trainable(recipes: Iterable[ModelRecipe]) -> None:
    """Refuse what cannot be trained before anything is: kept answers need neither gensim nor torch, nor a folder."""
    for recipe in {recipe.name: recipe for recipe in recipes}.values():
        if not recipe.contextual:
            check_gensim(f"models: training {recipe.kind} vectors", "or train contextual models alone")
            continue
        check_installed()
        if recipe.kind == "fine-tune":
            load_masked(recipe.settings["folder"])


def train_static(
    tokens: Sequence[Sequence[str]], recipe: ModelRecipe, words: Iterable[str], seed: int
) -> dict[str, np.ndarray]:
    """Vectors of these words from a model trained on tokenized sentences; words that the corpus does not have are left
    out.

    One thread: with more, gensim's updates depend on which comes first, and a seed gives no numbers twice. fastText is
    trained by skip-gram.
    """
    check_trainable([recipe])
    from gensim.models import FastText, Word2Vec

    of_recipe = {"vector_size" if key == "dimensions" else key: value for key, value in recipe.settings.items()}
    common = {"min_count": 1, "workers": 1, "seed": seed + 1, **of_recipe}
    if recipe.kind == "fasttext":
        model = FastText(tokens, sg=1, bucket=_BUCKETS, **common)
    else:
        model = Word2Vec(tokens, sg=int(recipe.kind == "skip-gram"), **common)
    return {word: model.wv[word] for word in words if word in model.wv.key_to_index}


def train_contextual(
    sentences: Sequence[str], recipe: ModelRecipe, words: Sequence[str], folder: Path, seed: int
) -> Path:
    """A BERT that is trained on these sentences, or a folder's that goes on learning from them.

    These words alone are masked. A training that was killed goes on from its folder.
    """
    settings = dict(recipe.settings)
    if recipe.kind == "fine-tune":
        return fine_tune(settings.pop("folder"), sentences, folder, maskable=words, seed=seed, **settings)
    return train_masked(sentences, folder, maskable=words, seed=seed, rate=_SCENARIO_RATE, **settings)


def train_masked(
    sentences: Sequence[str],
    folder: str | Path,
    *,
    seed: int = 0,
    epochs: int = 20,
    width: int = 64,
    layers: int = 2,
    batch: int = 32,
    rate: float = 3e-3,
    masked: float = 0.2,
    maskable: Collection[str] = (),
) -> Path:
    """Train a BERT on these sentences alone and save it to a folder, from which `load_masked` opens it.

    A run that was killed goes on after the last epoch that it finished, and ends with the same weights; a folder
    that holds the model of the same sentences and settings is left as it is.

    Parameters
    ----------
    sentences : sequence of str
        The corpus. Its lower-cased words and signs are the vocabulary.
    folder : str or Path
        Where the model goes; it is made.
    seed : int, optional
        Of the first weights, the order of sentences and the masks.
    epochs, width, layers, batch, rate : optional
        How long and how large; `rate` falls to zero linearly.
    masked : float, optional
        Share of tokens that are masked, at least one in a sentence.
    maskable : collection of str, optional
        Words that alone are masked, such as those of a list: the rest of a sentence is soon learnt, and what goes with
        what late or never. Sentences without any are left out. By default every word.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    LanguageModelError
        torch is not installed; no sentence has a maskable word.

    Examples
    --------
    >>> train_masked(["He is a pilot.", "She is a nurse."], "tiny", epochs=3)          # doctest: +SKIP
    """
    check_installed()

    def new() -> Transformer:
        tokenizer = _tokenizer(sentences)
        length = max(len(_WORD.findall(sentence)) for sentence in sentences) + 2
        model = _model(len(tokenizer), length, width, layers)
        return Transformer(Path(folder).name, model, tokenizer, window=None, files="")

    course = _Course(seed, epochs, batch, rate, masked)
    return _learn(new, [width, layers], sentences, Path(folder), maskable, course)


def fine_tune(
    source: str | Path,
    sentences: Sequence[str],
    folder: str | Path,
    *,
    seed: int = 0,
    epochs: int = 3,
    batch: int = 32,
    rate: float = 5e-5,
    masked: float = 0.2,
    maskable: Collection[str] = (),
) -> Path:
    """Let a masked language model go on learning from these sentences, and save what becomes of it to another folder.

    As in `train_masked` a run that was killed goes on, and what is done is left as it is.

    Parameters
    ----------
    source : str or Path
        The model's folder, or its name on the hub; it is not changed.
    sentences, folder, seed, epochs, batch, rate, masked, asked
        As in `train_masked`.

    Raises
    ------
    LanguageModelError
        torch is not installed; no masked language model there; a sentence longer than its window; no sentence has a
        maskable word.

    Examples
    --------
    >>> fine_tune("bert-base-uncased", ["He is a pilot.", "She is a nurse."], "tuned")      # doctest: +SKIP
    """
    check_installed()
    transformer = load_masked(source).transformer
    course = _Course(seed, epochs, batch, rate, masked)
    return _learn(lambda: transformer, [transformer.files], sentences, Path(folder), maskable, course)


def _learn(
    start: Callable[[], Transformer],
    origin: list[Any],
    sentences: Sequence[str],
    folder: Path,
    maskable: Collection[str],
    course: _Course,
) -> Path:
    """Train what `start` gives, unless the folder has it; `origin` is what decides that beside sentences and course."""
    import torch

    words = sorted(maskable)
    content = [list(sentences), *origin, asdict(course) | {"asked": words}]
    made_of = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    record = folder / _RECORD
    if record.exists() and record.read_text(encoding="utf-8") == made_of:
        return folder
    with one_thread():
        torch.manual_seed(course.seed)
        transformer = start()
        step(f"training on {len(sentences)} sentences")
        rows, may_be_masked = _rows(transformer, sentences, words)
        folder.mkdir(parents=True, exist_ok=True)
        optimizer = torch.optim.AdamW(transformer.model.parameters(), lr=course.rate, fused=True)
        transformer.model.train()
        for epoch in range(_resumed(folder, made_of, transformer.model, optimizer), course.epochs):
            for group in optimizer.param_groups:
                group["lr"] = course.rate * (1 - epoch / course.epochs)
            _epoch(transformer, optimizer, rows, may_be_masked, course, seed=course.seed * 1_000_003 + epoch + 1)
            _keep(folder, made_of, transformer.model, optimizer, epoch + 1)
            advance(epoch + 1, course.epochs)
        record.unlink(missing_ok=True)  # what follows takes the place of other training's, file by file
        with quietly():
            transformer.model.eval().save_pretrained(folder)
            transformer.tokenizer.save_pretrained(folder)
    record.write_text(made_of, encoding="utf-8")
    (folder / _UNFINISHED).unlink(missing_ok=True)
    return folder


@contextmanager
def one_thread() -> Iterator[None]:
    """Models this small are slower on several cores, and several add up in another order each time. What others draw
    from torch is left as it was."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(devices=[]):
            yield
    finally:
        torch.set_num_threads(threads)


def _tokenizer(sentences: Sequence[str]) -> Any:
    from transformers import BertTokenizer

    words = sorted({word for sentence in sentences for word in _WORD.findall(sentence.lower())})
    return BertTokenizer(vocab={token: k for k, token in enumerate((*SPECIAL, *words))})


def _model(tokens: int, length: int, width: int, layers: int) -> Any:
    from transformers import BertConfig, BertForMaskedLM

    size = {"hidden_size": width, "num_hidden_layers": layers, "num_attention_heads": 4}
    no_dropout = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    return BertForMaskedLM(
        BertConfig(
            vocab_size=tokens,
            intermediate_size=2 * width,
            initializer_range=width**-0.5,
            max_position_embeddings=max(64, length),
            **size,
            **no_dropout,
        )
    )


def _rows(transformer: Transformer, sentences: Sequence[str], maskable: Sequence[str]) -> tuple[dict[str, Any], Any]:
    """What the model is given for all sentences with a maskable token, and which tokens those are."""
    import torch

    pattern = re.compile("|".join(rf"\b{re.escape(word)}\b" for word in maskable) or r"\S+", re.IGNORECASE)
    marked = [(tokens, marks) for tokens in read(transformer, sentences) if any(marks := _marks(tokens, pattern))]
    if not marked:
        raise LanguageModelError(
            f"maskable: none of {len(sentences)} sentences has any of {', '.join(maskable[:3])}; give words of the"
            " sentences"
        )
    rows = padded(transformer, [tokens.ids for tokens, _ in marked])
    may_be_masked = torch.zeros_like(rows["input_ids"], dtype=torch.bool)
    for k, (_, marks) in enumerate(marked):
        may_be_masked[k, : len(marks)] = torch.tensor(marks)
    return rows, may_be_masked


def _marks(tokens: Tokens, pattern: re.Pattern[str]) -> list[bool]:
    spans = [match.span() for match in pattern.finditer(tokens.text)]
    return [
        not special and any(start < last and first < end for start, end in spans)
        for (first, last), special in zip(tokens.spans, tokens.special, strict=True)
    ]


def _epoch(
    transformer: Transformer, optimizer: Any, rows: dict[str, Any], maskable: Any, course: _Course, seed: int
) -> None:
    """Every sentence once, in an order and with masks that depend on the seed only."""
    import torch

    torch.manual_seed(seed)  # of dropout, where a model has it
    generator = torch.Generator().manual_seed(seed)
    for batch in torch.randperm(len(maskable), generator=generator).split(course.batch):
        ids = rows["input_ids"][batch]
        order = torch.rand(ids.shape, generator=generator).masked_fill(~maskable[batch], 2)
        masked = (order < course.masked) | (order == order.min(1, keepdim=True).values)
        seen = ids.masked_fill(masked, transformer.tokenizer.mask_token_id)
        given = {"input_ids": seen, "attention_mask": rows["attention_mask"][batch]}
        loss = torch.nn.functional.cross_entropy(_logits(transformer.model, given, masked), ids[masked])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def _logits(model: Any, given: dict[str, Any], masked: Any) -> Any:
    """Of the masked tokens alone: those of all tokens take as long as all layers of a small model."""
    head = getattr(model, "cls", getattr(model, "lm_head", None))
    if head is None:
        return model(**given).logits[masked]
    return head(model.base_model(**given).last_hidden_state[masked])


def _keep(folder: Path, made_of: str, model: Any, optimizer: Any, epoch: int) -> None:
    """What the next run needs, whole or not at all."""
    import torch

    held = {"made_of": made_of, "epoch": epoch, "model": model.state_dict(), "optimizer": optimizer.state_dict()}
    meanwhile = folder / f"{_UNFINISHED}.new"
    torch.save(held, meanwhile)
    meanwhile.replace(folder / _UNFINISHED)


def _resumed(folder: Path, made_of: str, model: Any, optimizer: Any) -> int:
    """How many epochs an earlier run of the same finished; weights as it left them."""
    import torch

    file = folder / _UNFINISHED
    if not file.exists():
        return 0
    held = torch.load(file, weights_only=True)
    if held["made_of"] != made_of:
        return 0
    model.load_state_dict(held["model"])
    optimizer.load_state_dict(held["optimizer"])
    return int(held["epoch"])
