"""Scores of sentence pairs by a model: from a file in the columns of CrowS-Pairs to the frame that judges pairs."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_bias.arguments import check_kind, described
from bayes_bias.errors import LanguageModelError, did_you_mean
from bayes_bias.progress import Progress, Quiet

type How = Literal["pll", "aul", "aula", "likelihood"]

# Which method of a model answers, and what kind of model has it.
HOW: Mapping[str, tuple[str, str]] = {
    "pll": ("pseudo_log_likelihood", "a masked language model (load_masked)"),
    "aul": ("all_unmasked", "a masked language model (load_masked)"),
    "aula": ("all_unmasked", "a masked language model (load_masked)"),
    "likelihood": ("log_likelihood", "a causal language model (load_causal)"),
}

# Our names for what a frame may tell of its items, and CrowS-Pairs' for the same.
SENTENCES = {"sentence_more": "sent_more", "sentence_less": "sent_less"}
ABOUT = {
    "bias_type": "bias_type",
    "writer": "anon_writer",
    "direction": "stereo_antistereo",
    "template": "template",
    "term": "term",
}
_ITEM = ("item", "Unnamed: 0")  # the first column of the published file has no name
_AT_A_TIME = 64


def score_pairs(
    model: Any, frame: pd.DataFrame, how: How = "pll", *, progress: Progress | None = None
) -> pd.DataFrame:
    """Score both sentences of each pair.

    Parameters
    ----------
    model : MaskedModel or CausalModel
        Or anything with the method that `how` asks for, and a `name`.
    frame : pandas.DataFrame
        A row for each pair: the more and the less stereotypical sentence in `sentence_more` and `sentence_less`, or
        as in CrowS-Pairs in `sent_more` and `sent_less`; perhaps `item`, `bias_type`, `writer` (or `anon_writer`),
        `direction` (or `stereo_antistereo`), `template`, `term`.
    how : {"pll", "aul", "aula", "likelihood"}
        Pseudo-log-likelihood of the common tokens (CrowS-Pairs), all-unmasked likelihood without and with attention
        weights, log-likelihood of a causal model.
    progress : Progress, optional
        Hears how many pairs are done.

    Returns
    -------
    pandas.DataFrame
        A row for each pair, in the order given: `item`, `score_more`, `score_less` (nats), what the frame tells of the
        item, and `model` and `how`.

    Raises
    ------
    LanguageModelError
        A model that has no such score; missing columns; sentences that are missing or empty; items that repeat;
        scores that are not finite.

    Examples
    --------
    >>> frame = pd.read_csv("crows_pairs_anonymized.csv")  # doctest: +SKIP
    >>> score_pairs(load_masked("bert-base-uncased"), frame)  # doctest: +SKIP
    """
    method = _method(model, how)
    pairs = _pairs(frame)
    progress = progress or Quiet()
    progress.step(f"{model.name}: {len(pairs)} pairs")
    scores = np.empty((len(pairs), 2))
    for first in range(0, len(pairs), _AT_A_TIME):
        part = pairs[first : first + _AT_A_TIME]
        scores[first : first + _AT_A_TIME] = _scores(method, part, how)
        progress.advance(first + len(part), len(pairs))
    _check_scores(scores, pairs, model.name)
    return pd.DataFrame(
        {
            "item": _items(frame),
            "score_more": scores[:, 0],
            "score_less": scores[:, 1],
            **_about(frame),
            "model": model.name,
            "how": how,
        }
    )


def _method(model: Any, how: str) -> Any:
    if how not in HOW:
        raise LanguageModelError(f"how: {how!r} is no score of a sentence; {did_you_mean(how, HOW)}")
    name, kind = HOW[how]
    method = getattr(model, name, None)
    if method is None or not hasattr(model, "name"):
        raise LanguageModelError(f"model: '{how}' is a score of {kind}; {described(model)} was given")
    return method


def _scores(method: Any, pairs: list[tuple[str, str]], how: str) -> NDArray[np.float64]:
    if how == "pll":
        return np.asarray(method(pairs))
    weighted = {"weighted": how == "aula"} if how != "likelihood" else {}
    return np.column_stack([method([pair[side] for pair in pairs], **weighted) for side in (0, 1)])


def _pairs(frame: pd.DataFrame) -> list[tuple[str, str]]:
    needed = "no frame; read the file with pandas.read_csv"
    check_kind("pairs", frame, pd.DataFrame, needed, LanguageModelError)
    columns = [_column(frame, ours, theirs) for ours, theirs in SENTENCES.items()]
    if frame.empty:
        raise LanguageModelError("pairs: the frame has no rows; give a row for each pair of sentences")
    for column in columns:
        for row, sentence in enumerate(frame[column], 1):
            if not isinstance(sentence, str) or not sentence.strip():
                raise LanguageModelError(
                    f"pairs: {column} in row {row} of {len(frame)} is {sentence!r}; give a sentence, or remove the row"
                )
    return list(zip(*(frame[column] for column in columns), strict=True))


def _column(frame: pd.DataFrame, ours: str, theirs: str) -> str:
    for column in (ours, theirs):
        if column in frame:
            return column
    raise LanguageModelError(
        f"pairs: there is no column '{ours}' (nor '{theirs}', as CrowS-Pairs calls it); "
        f"the frame has: {', '.join(map(str, frame.columns))}"
    )


def _items(frame: pd.DataFrame) -> list[Any]:
    named = [column for column in _ITEM if column in frame]
    items = frame[named[0]].tolist() if named else list(range(len(frame)))
    if len(set(items)) < len(items):
        twice = next(item for item in items if items.count(item) > 1)
        raise LanguageModelError(
            f"pairs: item '{twice}' stands in several rows; give each pair a name of its own"
        )
    return items


def _about(frame: pd.DataFrame) -> dict[str, Any]:
    found = {ours: [c for c in (ours, theirs) if c in frame] for ours, theirs in ABOUT.items()}
    return {ours: frame[columns[0]].to_numpy() for ours, columns in found.items() if columns}


def _check_scores(scores: NDArray[np.float64], pairs: list[tuple[str, str]], name: str) -> None:
    rows, sides = np.nonzero(~np.isfinite(scores))
    if len(rows):
        raise LanguageModelError(
            f"pairs: '{name}' gives '{pairs[rows[0]][sides[0]]}' the score {scores[rows[0], sides[0]]}; "
            "a score is a finite number, so its weights may be damaged"
        )
