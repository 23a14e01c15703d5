"""`answers.label_probabilities`: from the first tokens that a model may answer with to probabilities of both labels."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayes_bias.analyses.answers.batches import is_batch, top_tokens_of_batch
from bayes_bias.analyses.answers.reading import read_frame
from bayes_bias.errors import AnswersError
from bayes_bias.formatting import count
from bayes_bias.table.association_table import announce

_PROMPT = ("id", "word", "label_a", "label_b")
_KEPT = (*_PROMPT[1:], "wording", "stereotype", "model")


def label_probabilities(prompts: pd.DataFrame | str | Path, replies: pd.DataFrame | str | Path) -> pd.DataFrame:
    """Read the log probabilities of both labels from replies that a service returned with `top_logprobs`.

    Each prompt asks which of two labels fits one word, and wants the label alone as the answer. The probability of a
    label is that of all listed first tokens that begin this label and not the other one, in either case and with or
    without a space.

    Parameters
    ----------
    prompts : pandas.DataFrame, str or Path
        Columns ``id``, ``word``, ``label_a``, ``label_b``; optional ``wording`` and ``stereotype``.
    replies : pandas.DataFrame, str or Path
        The output of a batch in the form of OpenAI or vLLM with ``logprobs.content[0].top_logprobs``, or a log of
        inspect_ai in JSON, with the id of each prompt.

    Returns
    -------
    pandas.DataFrame
        A row for each reply, with ``logprob_a`` and ``logprob_b``, for ``estimate_values(..., "probabilities")``. If
        one label is not listed, its probability is at most the smallest that is, which is taken, with a notice. If
        neither is, both are missing.

    Raises
    ------
    AnswersError
        A missing column, a reply without a prompt or without `top_logprobs`.

    Examples
    --------
    >>> asked = pd.DataFrame({"id": ["1"], "word": ["salary"], "label_a": ["Ben"], "label_b": ["Julia"]})
    >>> top = [{"token": "Ben", "logprob": -0.1}, {"token": " Jul", "logprob": -2.5}]
    >>> body = {"choices": [{"logprobs": {"content": [{"top_logprobs": top}]}}]}
    >>> batch = pd.DataFrame({"custom_id": ["1"], "response": [{"body": body}]})
    >>> label_probabilities(asked, batch)[["word", "logprob_a", "logprob_b"]].values.tolist()
    [['salary', -0.1, -2.5]]
    """
    asked = read_frame(prompts, "prompts")
    missing = [name for name in _PROMPT if name not in asked]
    if missing or asked["id"].astype(str).duplicated().any():
        problem = f"there is no column '{missing[0]}'" if missing else "an id occurs twice"
        raise AnswersError(f"prompts: {problem}. Give one row for each prompt with {', '.join(_PROMPT)}.")
    found = read_frame(replies, "replies", _top_tokens)
    asked = asked.assign(id=asked["id"].astype(str).str.strip()).set_index("id")
    if (unknown := found["id"][~found["id"].isin(asked.index)]).size:
        raise AnswersError(
            f"replies: no prompt has the id '{unknown.iloc[0]}' ({len(unknown):,} of {len(found):,} replies). Give the"
            " prompts that they are replies to."
        )
    rows = asked.loc[found["id"]].reset_index(drop=True)
    rows = rows.assign(**{name: found[name] for name in ("model",) if name in found})
    pairs = zip(found["top"], rows.label_a.astype(str), rows.label_b.astype(str), strict=True)
    logs = np.array([_of_labels(top, a, b) for top, a, b in pairs])
    _announce_unlisted(logs, [min(logprob for _, logprob in top) for top in found["top"]])
    rows = rows[[name for name in _KEPT if name in rows]]
    return rows.assign(answer=found["id"].to_numpy(), logprob_a=logs[:, 0], logprob_b=logs[:, 1])


def _top_tokens(frame: pd.DataFrame) -> pd.DataFrame:
    if not is_batch(frame):
        raise AnswersError(
            "replies: these are not the output of a batch with top_logprobs. Write the log probabilities into a table"
            " with the columns word, label_a, label_b, logprob_a and logprob_b, which estimate_values reads."
        )
    return top_tokens_of_batch(frame)


def _of_labels(top: Sequence[tuple[str, float]], label_a: str, label_b: str) -> tuple[float, float]:
    """Log probabilities of both labels; one that is not listed has the smallest that is."""
    listed = _listed(top, label_a, label_b), _listed(top, label_b, label_a)
    if not any(map(np.isfinite, listed)):
        return float("nan"), float("nan")
    smallest = min(logprob for _, logprob in top)
    a, b = (log if np.isfinite(log) else smallest for log in listed)
    return a, b


def _listed(top: Sequence[tuple[str, float]], label: str, other: str) -> float:
    tokens = [(token.strip().casefold(), logprob) for token, logprob in top]
    begins = [
        logprob
        for token, logprob in tokens
        if token and label.casefold().startswith(token) and not other.casefold().startswith(token)
    ]
    return float(np.logaddexp.reduce(begins)) if begins else -np.inf


def _announce_unlisted(logs: Any, smallest: list[float]) -> None:
    neither = int(np.isnan(logs).any(axis=1).sum())
    at_bound = int((np.equal(logs, np.array(smallest)[:, None]).any(axis=1)).sum())
    notices = []
    if at_bound:
        notices.append(
            f"replies: in {count(at_bound)} of {count(len(logs))} a label has the smallest probability that is listed,"
            " or a smaller one; request more top_logprobs for exact numbers"
        )
    if neither:
        notices.append(f"replies: {count(neither)} of {count(len(logs))} list neither label, and have no probabilities")
    announce(tuple(notices))
