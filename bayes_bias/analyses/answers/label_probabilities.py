"""`answers.label_probabilities`: probabilities of both labels, from the first tokens of an answer."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from bayes_bias.analyses.answers.logs import top_tokens_of_log
from bayes_bias.analyses.answers.reading import read_frame, require_columns
from bayes_bias.analyses.answers.replies import check_ids
from bayes_bias.errors import AnswersError
from bayes_bias.formatting import as_count
from bayes_bias.table.association_table import announce

_PROMPT = ("id", "word", "label_a", "label_b")
_KEPT = (*_PROMPT[1:], "wording", "stereotype", "model")


def label_probabilities(prompts: pd.DataFrame | str | Path, replies: pd.DataFrame | str | Path) -> pd.DataFrame:
    """Read the log probabilities of both labels from replies that a service returned with `top_logprobs`.

    Each prompt asks which of two labels fits one word, and requests only the label as the answer. The probability of a
    label is the total probability of those listed first tokens that begin this label but not the other label. Case and
    leading spaces are ignored.

    Parameters
    ----------
    prompts : pandas.DataFrame, str or Path
        Columns ``id``, ``word``, ``label_a``, ``label_b``, optional ``wording`` and ``stereotype``.
    replies : pandas.DataFrame, str or Path
        The output of a batch in the form of OpenAI or vLLM with ``logprobs.content[0].top_logprobs``, or a log of
        inspect_ai in JSON, with the id of each prompt.

    Returns
    -------
    pandas.DataFrame
        A row for each reply, with ``logprob_a`` and ``logprob_b``, for ``estimate_values(..., "probabilities")``. If a
        label is not listed, the smallest listed probability is used as an upper bound, and a notice is logged. If
        neither label is listed, both log probabilities are missing.

    Raises
    ------
    AnswersError
        If a column is missing, or if a reply has no prompt or no `top_logprobs`.

    Examples
    --------
    >>> asked = pd.DataFrame({"id": ["1"], "word": ["salary"], "label_a": ["Ben"], "label_b": ["Julia"]})
    >>> top = [{"token": "Ben", "logprob": -0.1}, {"token": " Jul", "logprob": -2.5}]
    >>> body = {"choices": [{"logprobs": {"content": [{"top_logprobs": top}]}}]}
    >>> batch = pd.DataFrame({"custom_id": ["1"], "response": [{"body": body}]})
    >>> label_probabilities(asked, batch)[["word", "logprob_a", "logprob_b"]].values.tolist()
    [['salary', -0.1, -2.5]]
    """
    asked, _ = read_frame(prompts, "prompts")
    require_columns(asked, _PROMPT, "prompts")
    asked = asked.assign(id=asked["id"].astype(str).str.strip())
    if asked["id"].duplicated().any():
        raise AnswersError("`prompts` has an id twice. Pass one row for each prompt.")
    found, _ = read_frame(replies, "replies", top_tokens_of_log)
    check_ids(asked["id"], found)
    asked = asked.set_index("id").loc[found["id"]].reset_index(drop=True)
    if "model" in found:
        asked = asked.assign(model=found["model"])
    logprobs, n_at_bound = np.full((len(found), 2), np.nan), 0
    for number, reply in enumerate(asked.assign(top=found["top"].to_numpy()).itertuples()):
        label_a, label_b = str(reply.label_a), str(reply.label_b)
        listed = np.array([_listed(reply.top, label_a, label_b), _listed(reply.top, label_b, label_a)])
        smallest = min(logprob for _, logprob in reply.top)
        if np.isfinite(listed).any():
            logprobs[number] = np.where(np.isfinite(listed), listed, smallest)
            n_at_bound += smallest in logprobs[number]
    logprob_a, logprob_b = logprobs.T
    notices, replies_in_all = [], as_count(len(found))
    if n_at_bound:
        notices.append(
            f"replies: in {n_at_bound:,} of {replies_in_all} a label has the smallest probability that is listed, or"
            " a smaller one. Request more top_logprobs for exact numbers"
        )
    if neither := int(np.isnan(logprob_a).sum()):
        notices.append(f"replies: {neither:,} of {replies_in_all} list neither label, and have no probabilities")
    announce(tuple(notices))
    rows = asked[[name for name in _KEPT if name in asked]]
    return rows.assign(answer=found["id"].to_numpy(), logprob_a=logprob_a, logprob_b=logprob_b)


def _listed(top: Sequence[tuple[str, float]], label: str, alternative: str) -> float:
    """Return the log of the total probability of the listed tokens that begin a label and not the other label."""
    label, alternative = label.casefold(), alternative.casefold()
    logs = []
    for text, logprob in top:
        token = text.strip().casefold()
        if token and label.startswith(token) and not alternative.startswith(token):
            logs.append(logprob)
    return float(np.logaddexp.reduce(logs)) if logs else -np.inf
