"""`score`: scores of sentence pairs by a language model."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import pandas as pd

from bayes_bias.analyses.sentence_pairs.scores import CROWS_PAIRS, LABELS, with_our_names
from bayes_bias.arguments import check_kind, kind_of
from bayes_bias.errors import LanguageModelError
from bayes_bias.progress import advance, step

type How = Literal["pll", "aul", "aula", "likelihood"]

# For each kind of score, the name of the method that computes the score, and the kind of model that has this method.
HOW: Mapping[str, tuple[str, str]] = {
    "pll": ("pseudo_log_likelihood", "a masked language model (load_masked)"),
    "aul": ("all_unmasked", "a masked language model (load_masked)"),
    "aula": ("all_unmasked", "a masked language model (load_masked)"),
    "likelihood": ("log_likelihood", "a causal language model (load_causal)"),
}

SENTENCES = ("sentence_more", "sentence_less")
_AT_A_TIME = 64


def score(model: Any, frame: pd.DataFrame, how: How = "pll") -> pd.DataFrame:
    r"""Compute the scores of both sentences of each pair with a language model.

    Let :math:`w` be the tokens of a sentence, :math:`U` the tokens that occur in both sentences, and :math:`w_{<i}` the
    tokens before token i. The scores are

    .. math:: \mathrm{pll} = \sum_{i \in U} \log p(w_i \mid w_{\setminus i}), \quad
              \mathrm{aul} = \frac{1}{|w|} \sum_i \log p(w_i \mid w), \quad
              \mathrm{likelihood} = \sum_i \log p(w_i \mid w_{<i})

    Parameters
    ----------
    model : MaskedModel or CausalModel
        Model, or any object with a `name` and the method that `how` requires.
    frame : pandas.DataFrame
        A row for each pair. The more and the less stereotypical sentence are in `sentence_more` and `sentence_less` (or
        `sent_more` and `sent_less`, as in CrowS-Pairs). Optional columns are `item`, `bias_type`, `writer` (or
        `anon_writer`), `direction` (or `stereo_antistereo`), `template`, and `term`.
    how : {"pll", "aul", "aula", "likelihood"}
        Pseudo-log-likelihood of the common tokens (CrowS-Pairs [1]_), all-unmasked likelihood without or with attention
        weights [2]_, or log-likelihood of a causal model.

    Returns
    -------
    pandas.DataFrame
        A row for each pair, in the given order: `item`, `score_more`, `score_less` (nats), the labels in the frame,
        `model` and `how`.

    Raises
    ------
    LanguageModelError
        If the model cannot compute the score, if columns are missing, if sentences are missing or empty, if items are
        repeated, or if scores are not finite.

    References
    ----------
    .. [1] Nangia, N., Vania, C., Bhalerao, R., & Bowman, S. R. (2020). CrowS-Pairs: A challenge dataset for measuring
       social biases in masked language models. https://doi.org/10.18653/v1/2020.emnlp-main.154
    .. [2] Kaneko, M., & Bollegala, D. (2022). Unmasking the mask: Evaluating social biases in masked language models.
       Proceedings of AAAI 36(11), 11954-11962. https://doi.org/10.1609/aaai.v36i11.21453

    Examples
    --------
    >>> frame = pd.read_csv("crows_pairs_anonymized.csv")                         # doctest: +SKIP
    >>> score(load_masked("bert-base-uncased"), frame)                            # doctest: +SKIP
    """
    if how not in HOW:
        raise LanguageModelError(f"`how` is {how!r}, which is not a score of sentences.", how, HOW)
    name, kind = HOW[how]
    method = getattr(model, name, None)
    if method is None or not hasattr(model, "name"):
        raise LanguageModelError(f"`model` must be {kind} for the score '{how}', but is {kind_of(model)}.")
    not_a_frame = "not a DataFrame. Read the file with pandas.read_csv."
    check_kind("pairs", frame, pd.DataFrame, not_a_frame, LanguageModelError)
    frame = with_our_names(frame)
    pairs = _pairs(frame)
    items = frame["item"].tolist() if "item" in frame else list(range(len(frame)))
    if len(set(items)) < len(items):
        twice = next(item for item in items if items.count(item) > 1)
        raise LanguageModelError(f"`pairs` has several rows of the item '{twice}'. Give each pair its own name.")
    step(f"{model.name}: {len(pairs)} pairs")
    scores = np.empty((len(pairs), 2))
    for first in range(0, len(pairs), _AT_A_TIME):
        part = pairs[first : first + _AT_A_TIME]
        if how == "pll":
            scores[first : first + _AT_A_TIME] = method(part)
        else:
            weighted = {} if how == "likelihood" else {"weighted": how == "aula"}
            for side in (0, 1):
                scores[first : first + _AT_A_TIME, side] = method([pair[side] for pair in part], **weighted)
        advance(first + len(part), len(pairs))
    rows, sides = np.nonzero(~np.isfinite(scores))
    if len(rows):
        raise LanguageModelError(
            f"The score of '{pairs[rows[0]][sides[0]]}' in `pairs` by '{model.name}' is {scores[rows[0], sides[0]]},"
            " which is not a finite number. Its weights may be damaged, so load the model again."
        )
    return pd.DataFrame(
        {
            "item": items,
            "score_more": scores[:, 0],
            "score_less": scores[:, 1],
            **{label: frame[label].to_numpy() for label in LABELS if label in frame},
            "model": model.name,
            "how": how,
        }
    )


def _pairs(frame: pd.DataFrame) -> list[tuple[str, str]]:
    """Check both sentences of each pair, and return them."""
    for column in SENTENCES:
        if column not in frame:
            raise LanguageModelError(
                f"`pairs` has no column '{column}' (CrowS-Pairs: '{CROWS_PAIRS[column]}'). Its columns are"
                f" {', '.join(map(str, frame.columns))}."
            )
    if frame.empty:
        raise LanguageModelError("`pairs` has no rows. Pass a row for each pair of sentences.")
    for column in SENTENCES:
        for row, sentence in enumerate(frame[column], 1):
            if not isinstance(sentence, str) or not sentence.strip():
                raise LanguageModelError(
                    f"`pairs`: {column} in row {row} of {len(frame)} must be a sentence, but is {sentence!r}. Write"
                    " one, or remove the row."
                )
    return list(frame[list(SENTENCES)].itertuples(index=False, name=None))
