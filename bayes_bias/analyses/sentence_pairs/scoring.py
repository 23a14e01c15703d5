"""Scoring sentence pairs with a language model: from CrowS-Pairs' columns to a frame that `estimate` reads."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_bias.analyses.sentence_pairs.scores import CROWS_PAIRS, LABELS, with_our_names
from bayes_bias.arguments import check_kind, described
from bayes_bias.errors import LanguageModelError, did_you_mean
from bayes_bias.progress import advance, step

type How = Literal["pll", "aul", "aula", "likelihood"]

# The method of a model that computes each score, and the kind of model that has it.
HOW: Mapping[str, tuple[str, str]] = {
    "pll": ("pseudo_log_likelihood", "a masked language model (load_masked)"),
    "aul": ("all_unmasked", "a masked language model (load_masked)"),
    "aula": ("all_unmasked", "a masked language model (load_masked)"),
    "likelihood": ("log_likelihood", "a causal language model (load_causal)"),
}

SENTENCES = ("sentence_more", "sentence_less")
_AT_A_TIME = 64


def score(model: Any, frame: pd.DataFrame, how: How = "pll") -> pd.DataFrame:
    r"""Score both sentences of each pair.

    With the sentence's tokens :math:`w`, those common to both sentences :math:`U` and a causal model's :math:`w_{<i}`,

    .. math:: \mathrm{pll} = \sum_{i \in U} \log p(w_i \mid w_{\setminus i}), \quad
              \mathrm{aul} = \frac{1}{|w|} \sum_i \log p(w_i \mid w), \quad
              \mathrm{likelihood} = \sum_i \log p(w_i \mid w_{<i})

    Parameters
    ----------
    model : MaskedModel or CausalModel
        Or any object with the method that `how` needs, and a `name`.
    frame : pandas.DataFrame
        A row for each pair: the more and the less stereotypical sentence in `sentence_more` and `sentence_less`, or
        CrowS-Pairs' `sent_more` and `sent_less`; optionally `item`, `bias_type`, `writer` (or `anon_writer`),
        `direction` (or `stereo_antistereo`), `template`, `term`.
    how : {"pll", "aul", "aula", "likelihood"}
        Pseudo-log-likelihood of the common tokens (CrowS-Pairs [1]_), all-unmasked likelihood without and with
        attention weights [2]_, log-likelihood of a causal model.

    Returns
    -------
    pandas.DataFrame
        A row for each pair, in the given order: `item`, `score_more`, `score_less` (nats), the labels that the frame
        has, `model` and `how`.

    Raises
    ------
    LanguageModelError
        A model without such a score; missing columns; missing or empty sentences; repeated items; scores that are not
        finite.

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
    method = _method(model, how)
    not_a_frame = "not a DataFrame; read the file with pandas.read_csv"
    check_kind("pairs", frame, pd.DataFrame, not_a_frame, LanguageModelError)
    frame = with_our_names(frame)
    pairs = _pairs(frame)
    step(f"{model.name}: {len(pairs)} pairs")
    scores = np.empty((len(pairs), 2))
    for first in range(0, len(pairs), _AT_A_TIME):
        part = pairs[first : first + _AT_A_TIME]
        scores[first : first + _AT_A_TIME] = _scores(method, part, how)
        advance(first + len(part), len(pairs))
    _check_scores(scores, pairs, model.name)
    return pd.DataFrame(
        {
            "item": _items(frame),
            "score_more": scores[:, 0],
            "score_less": scores[:, 1],
            **{label: frame[label].to_numpy() for label in LABELS if label in frame},
            "model": model.name,
            "how": how,
        }
    )


def _method(model: Any, how: str) -> Any:
    if how not in HOW:
        raise LanguageModelError(f"how: {how!r} is not a score of sentences; {did_you_mean(how, HOW)}")
    name, kind = HOW[how]
    method = getattr(model, name, None)
    if method is None or not hasattr(model, "name"):
        raise LanguageModelError(f"model: '{how}' needs {kind}, got {described(model)}")
    return method


def _scores(method: Any, pairs: list[tuple[str, str]], how: str) -> NDArray[np.float64]:
    if how == "pll":
        return np.asarray(method(pairs))
    weighted = {"weighted": how == "aula"} if how != "likelihood" else {}
    return np.column_stack([method([pair[side] for pair in pairs], **weighted) for side in (0, 1)])


def _pairs(frame: pd.DataFrame) -> list[tuple[str, str]]:
    for column in SENTENCES:
        if column not in frame:
            raise LanguageModelError(
                f"pairs: there is no column '{column}' (CrowS-Pairs: '{CROWS_PAIRS[column]}'); the frame has"
                f" {', '.join(map(str, frame.columns))}"
            )
    if frame.empty:
        raise LanguageModelError("pairs: the frame has no rows; give a row for each pair of sentences")
    for column in SENTENCES:
        for row, sentence in enumerate(frame[column], 1):
            if not isinstance(sentence, str) or not sentence.strip():
                raise LanguageModelError(
                    f"pairs: {column} in row {row} of {len(frame)} must be a sentence, got {sentence!r}; give one, or"
                    " remove the row"
                )
    return list(zip(*(frame[column] for column in SENTENCES), strict=True))


def _items(frame: pd.DataFrame) -> list[Any]:
    items = frame["item"].tolist() if "item" in frame else list(range(len(frame)))
    if len(set(items)) < len(items):
        twice = next(item for item in items if items.count(item) > 1)
        raise LanguageModelError(f"pairs: item '{twice}' has several rows; give each pair its own name")
    return items


def _check_scores(scores: NDArray[np.float64], pairs: list[tuple[str, str]], name: str) -> None:
    rows, sides = np.nonzero(~np.isfinite(scores))
    if len(rows):
        raise LanguageModelError(
            f"pairs: '{name}' gives '{pairs[rows[0]][sides[0]]}' the score {scores[rows[0], sides[0]]}, which is not a"
            " finite number; its weights may be damaged, so load the model again"
        )
