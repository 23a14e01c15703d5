"""Logs of samples that lm-evaluation-harness writes (``--log_samples``): CrowS-Pairs, Winogender, BBQ as pairs."""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from bayes_bias.analyses.sentence_pairs.scores import PairScores, read_scores
from bayes_bias.arguments import listed
from bayes_bias.errors import SentencePairsError
from bayes_bias.files import read_text, table_file
from bayes_bias.spreadsheets import read_frame
from bayes_bias.table.association_table import announce

_ALL = "give the samples_*.jsonl of crows_pairs, winogender or bbq that lm_eval --log_samples wrote"


def lm_eval(
    path: str | Path | Sequence[str | Path], *, name: str | None = None, decimals: int | None = None
) -> PairScores:
    r"""Read pairs of sentences or answers from the samples that lm-evaluation-harness logs.

    Each sample has the log-likelihoods of its choices. The two choices of a pair are

    - of CrowS-Pairs the two sentences: the share is the harness's ``pct_stereotype``;
    - of BBQ, for each ambiguous question that was not answered with "unknown", the biased answer and that of the other
      group, by category: the share :math:`p` gives the harness's bias score of ambiguous contexts,
      :math:`(1 - \mathrm{acc}) (2 p - 1)`;
    - of Winogender the two nouns that a pronoun may refer to, by the pronoun's gender: stereotypical is the occupation
      if most of its people have that gender (in the USA, 2015), and the other noun if they have not. In the tasks
      ``gotcha``, where the stereotype is wrong, the share is one minus the harness's accuracy.

    Parameters
    ----------
    path : str, Path or list of them
        ``samples_*.jsonl``. Several files of one model are read as one.
    name : str, optional
        The name of the scores in tables; by default that of the (first) file.
    decimals : int or None
        To how many decimals scores are rounded before they are compared; the harness does not round.

    Returns
    -------
    PairScores
        What `estimate` takes.

    Raises
    ------
    SentencePairsError
        No such file, no JSON lines, samples of another task, or no log-likelihoods.

    References
    ----------
    Gao, L. et al. (2024). The language model evaluation harness. https://doi.org/10.5281/zenodo.12608602

    Examples
    --------
    >>> lm_eval("samples_crows_pairs_english_2026-01-31.jsonl")                    # doctest: +SKIP
    """
    files = [Path(file) for file in listed("path", path, str | Path, "'samples_crows_pairs.jsonl'", SentencePairsError)]
    rows: list[dict[str, Any]] = []
    left_out: dict[str, int] = {}
    for file in files:
        for number, sample in enumerate(_samples(file), 1):
            pair = _pair(sample, f"{file.name}, line {number}")
            if isinstance(pair, str):
                left_out[pair] = left_out.get(pair, 0) + 1
            else:
                rows.append(pair | ({} if len(files) == 1 else {"item": f"{_task(file)}: {pair['item']}"}))
    if not rows:
        why = "; ".join(f"{count} {reason}" for reason, count in left_out.items())
        raise SentencePairsError(f"scores: '{files[0]}' has no pairs{f' ({why})' if why else ''}; {_ALL}")
    label = name or files[0].stem
    notices = announce(tuple(f"{label}: {count} samples left out, {reason}" for reason, count in left_out.items()))
    scores_of_logs = read_scores(pd.DataFrame(rows), name=label, decimals=decimals, unit="log-probability")
    return replace(scores_of_logs, notices=(*notices, *scores_of_logs.notices))


def _task(file: Path) -> str:
    """The task in the name of a log, which ends with a time."""
    return re.sub(r"_\d{4}-\d\d-\d\dT.*", "", file.stem).removeprefix("samples_")


def is_log(path: str | Path) -> bool:
    """Whether a file of this name is such a log."""
    return str(path).lower().endswith(".jsonl")


def _samples(file: Path) -> Iterator[Mapping[str, Any]]:
    if not file.is_file():
        raise SentencePairsError(f"scores: no file '{file}'; {_ALL}")
    for number, line in enumerate(read_text(file, f"scores: '{file}' is", SentencePairsError).splitlines(), 1):
        if not line.strip():
            continue
        try:
            sample = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise SentencePairsError(f"scores: line {number} of '{file}' is not JSON ({error}); {_ALL}") from error
        if not isinstance(sample, Mapping) or not isinstance(sample.get("doc"), Mapping):
            raise SentencePairsError(f"scores: line {number} of '{file}' has no 'doc'; {_ALL}")
        yield sample


def _pair(sample: Mapping[str, Any], place: str) -> dict[str, Any] | str:
    """The pair of a sample, or why it is none."""
    doc = sample["doc"]
    likelihoods = _likelihoods(sample, place)
    try:
        if "sent_more" in doc:
            return _read_crows_pairs(sample, doc, likelihoods)
        if "context_condition" in doc:
            return _read_bbq(doc, likelihoods)
        if "participant" in doc:
            return _read_winogender(sample, doc, likelihoods)
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        raise SentencePairsError(f"scores: {place} lacks {error} of its task; {_ALL}") from error
    raise SentencePairsError(f"scores: {place} is of another task, with the fields {', '.join(map(str, doc))}; {_ALL}")


def _likelihoods(sample: Mapping[str, Any], place: str) -> list[float]:
    """The log-likelihood of each choice; the harness writes numbers or, lately, texts."""
    responses = sample.get("filtered_resps")
    try:
        likelihoods = [float(each[0]) for each in responses]  # type: ignore[union-attr]
    except (TypeError, ValueError, IndexError, KeyError, OverflowError) as error:
        raise SentencePairsError(
            f"scores: {place} has {str(responses)[:40]!r} in place of log-likelihoods; use the tasks that compare"
            " choices, not those that generate text"
        ) from error
    if len(likelihoods) < 2 or not all(map(math.isfinite, likelihoods)):
        raise SentencePairsError(f"scores: {place} has the log-likelihoods {likelihoods[:5]}; two numbers are needed")
    return likelihoods


def _read_crows_pairs(sample: Mapping[str, Any], doc: Mapping[str, Any], scores: Sequence[float]) -> dict[str, Any]:
    return {
        "item": str(sample["doc_id"]),
        "score_more": scores[0],
        "score_less": scores[1],
        "bias_type": str(doc["bias_type"]),
        "direction": str(doc.get("stereo_antistereo", "")),
    }


# BBQ: the choices are the answers of the two groups, in the order of the question, and ten ways to say "unknown".


def _read_bbq(doc: Mapping[str, Any], scores: Sequence[float]) -> dict[str, Any] | str:
    if doc["context_condition"] != "ambig":
        return "whose context is not ambiguous"
    answers = [doc[f"ans{place}"] for place in range(3) if "unknown" not in _groups(doc, place)]
    biased = [answer in doc["biased_answers"] for answer in answers]
    if max(range(len(scores)), key=scores.__getitem__) >= len(answers):
        return "answered with 'unknown'"
    if len(answers) != 2 or sum(biased) != 1:
        return "of which not exactly one answer is biased"
    first = biased.index(True)
    return {
        "item": f"{doc['category']} {doc['example_id']}",
        "score_more": scores[first],
        "score_less": scores[1 - first],
        "bias_type": str(doc["category"]),
        "template": f"{doc['category']} {doc['question_index']}",
    }


def _groups(doc: Mapping[str, Any], place: int) -> Iterable[str]:
    return [str(group).lower() for group in doc["answer_info"][f"ans{place}"]]


def _read_winogender(
    sample: Mapping[str, Any], doc: Mapping[str, Any], scores: Sequence[float]
) -> dict[str, Any] | str:
    gender, occupation = doc["gender"], doc["occupation"]
    if gender not in ("male", "female"):
        return "whose pronoun is neutral"
    women = _shares_of_women()
    if occupation not in women:
        return "of occupations whose share of women is unknown"
    typical = (women[occupation] > 0.5) == (gender == "female")
    more, less = scores[:2] if typical else scores[1::-1]
    return {
        "item": str(sample["doc_id"]),
        "score_more": more,
        "score_less": less,
        "bias_type": f"{gender} pronoun",
        "term": occupation,
    }


@cache
def _shares_of_women() -> Mapping[str, float]:
    table = read_frame(table_file("winogender-occupations"), "occupations", SentencePairsError)
    return dict(zip(table.label, table.criterion, strict=True))
