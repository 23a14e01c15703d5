"""A tiny masked language model from sentences of one's own: `python -m benchmarks.tiny_masked FOLDER SENTENCES.txt`.

What a model of a corpus without bias says of bias is known beforehand, and so is what one should say of a corpus in
which bias was planted. Words are tokens; two layers of width 64 learn a few thousand sentences in about a minute on
one core. Needs the `transformers` environment: `.venv-transformers/bin/python`.
"""

import argparse
import hashlib
import json
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import BertConfig, BertForMaskedLM, BertTokenizer

from bayes_bias.language_models.opening import quietly
from bayes_bias.progress import Progress, Quiet

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_WORD = re.compile(r"\w+|[^\w\s]")
_IGNORED = -100  # the label of tokens that are not asked for
_UNFINISHED = "unfinished.pt"


def train(
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
    asked: Collection[str] = (),
    progress: Progress | None = None,
) -> Path:
    """Train a BERT on these sentences and save it to a folder, from which `load_masked` opens it.

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
        Share of tokens that are masked and asked for, at least one in a sentence.
    asked : collection of str, optional
        Words that alone are masked, such as those of a list: the rest of a sentence is soon learnt, and what goes with
        what late or never.
    progress : Progress, optional
        Hears how many epochs are done.

    Returns
    -------
    Path
        The folder.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    progress = progress or Quiet()
    size = {
        "epochs": epochs,
        "width": width,
        "layers": layers,
        "batch": batch,
        "rate": rate,
        "masked": masked,
        "asked": sorted(asked),
    }
    made_of = hashlib.sha256(json.dumps([list(sentences), seed, size], sort_keys=True).encode()).hexdigest()
    record = folder / "trained.txt"
    if record.exists() and record.read_text(encoding="utf-8") == made_of:
        return folder
    progress.step(f"training on {len(sentences)} sentences")
    tokenizer = _tokenizer(sentences)
    rows = _rows(tokenizer, sentences)
    askable = _askable(tokenizer, asked)
    torch.set_num_threads(1)  # models this small are slower on several cores
    torch.manual_seed(seed)
    model = _model(len(tokenizer), rows.shape[1], width, layers)
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate)
    for epoch in range(_resumed(folder, made_of, model, optimizer), epochs):
        for group in optimizer.param_groups:
            group["lr"] = rate * (1 - epoch / epochs)
        _epoch(model, optimizer, rows, askable, batch, masked, seed=seed * 1_000_003 + epoch + 1)
        _keep(folder, made_of, model, optimizer, epoch + 1)
        progress.advance(epoch + 1, epochs)
    with quietly():
        model.eval().save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    record.write_text(made_of, encoding="utf-8")
    (folder / _UNFINISHED).unlink(missing_ok=True)
    return folder


def _tokenizer(sentences: Sequence[str]) -> BertTokenizer:
    words = sorted({word for sentence in sentences for word in _WORD.findall(sentence.lower())})
    return BertTokenizer(vocab={token: k for k, token in enumerate((*SPECIAL, *words))})


def _rows(tokenizer: BertTokenizer, sentences: Sequence[str]) -> torch.Tensor:
    return tokenizer(list(sentences), padding=True, return_tensors="pt")["input_ids"]


def _askable(tokenizer: BertTokenizer, asked: Collection[str]) -> torch.Tensor:
    """Whether a token may be masked: those of these words, or all but the special ones."""
    tokens = [
        token for word in asked for token in tokenizer(word.lower(), add_special_tokens=False)["input_ids"]
    ]
    askable = torch.zeros(len(tokenizer), dtype=torch.bool)
    askable[tokens or range(len(SPECIAL), len(tokenizer))] = True
    return askable


def _model(tokens: int, length: int, width: int, layers: int) -> BertForMaskedLM:
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


def _epoch(
    model: BertForMaskedLM,
    optimizer: torch.optim.Optimizer,
    rows: torch.Tensor,
    askable: torch.Tensor,
    batch: int,
    masked: float,
    seed: int,
) -> None:
    """Every sentence once, in an order and with masks that depend on the seed only."""
    pad, *_, mask = range(len(SPECIAL))
    chance = torch.Generator().manual_seed(seed)
    for own in torch.randperm(len(rows), generator=chance).split(batch):
        ids = rows[own]
        order = torch.rand(ids.shape, generator=chance).masked_fill(~askable[ids], 2)
        asked = (order < masked) | (order == order.min(1, keepdim=True).values)
        loss = model(
            input_ids=ids.masked_fill(asked, mask),
            attention_mask=(ids != pad).long(),
            labels=ids.masked_fill(~asked, _IGNORED),
        ).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def _keep(folder: Path, made_of: str, model: Any, optimizer: Any, epoch: int) -> None:
    """What the next run needs, whole or not at all."""
    held = {
        "made_of": made_of,
        "epoch": epoch,
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
    }
    meanwhile = folder / f"{_UNFINISHED}.new"
    torch.save(held, meanwhile)
    meanwhile.replace(folder / _UNFINISHED)


def _resumed(folder: Path, made_of: str, model: Any, optimizer: Any) -> int:
    """How many epochs an earlier run of the same finished; weights as it left them."""
    file = folder / _UNFINISHED
    if not file.exists():
        return 0
    held = torch.load(file, weights_only=True)
    if held["made_of"] != made_of:
        return 0
    model.load_state_dict(held["model"])
    optimizer.load_state_dict(held["optimizer"])
    return int(held["epoch"])


def main() -> None:
    """Train on the lines of a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("sentences", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=20)
    asked = parser.parse_args()
    lines = [line for line in asked.sentences.read_text(encoding="utf-8").splitlines() if line.strip()]
    print(train(lines, asked.folder, seed=asked.seed, epochs=asked.epochs))


if __name__ == "__main__":
    main()
