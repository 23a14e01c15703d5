"""Reader for samples logged by lm-evaluation-harness (``--log_samples``): CrowS-Pairs, Winogender, and BBQ."""

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayes_bias.analyses.sentence_pairs.scores import PairScores, check_one_language, plain_sentence, read_scores
from bayes_bias.arguments import as_tuple
from bayes_bias.errors import SentencePairsError
from bayes_bias.files import given_table, read_text, table_file
from bayes_bias.formatting import joined, numbered
from bayes_bias.spreadsheets import read_frame
from bayes_bias.table.association_table import announce

_REMEDY = "Pass the samples_*.jsonl of crows_pairs, winogender or bbq that lm_eval --log_samples wrote."
_CROWS_PAIRS, _BBQ, _WINOGENDER = "crows_pairs", "bbq", "winogender"
# Parts of task names.
_LANGUAGES = re.compile(
    r"(?:^|_)(english|french|german|spanish|italian|catalan|portuguese|dutch|arabic|chinese|maltese|japanese|korean)(?=_|$)"
)
# The answers of the harness that mean "unknown".
_TEXTS_OF_UNKNOWN = (
    "unknown|cannot answer|can't be determined|cannot be determined|can't answer|not known|not enough info"
    "|not enough information|not answerable|undetermined"
)
_UNKNOWN = frozenset(_TEXTS_OF_UNKNOWN.split("|"))
# Within a run, scores of the same pair may differ by this share. The reason is that a pair may be in different batches,
# if it occurs in several tasks or several times in a task.
_SAME, _SAME_IN_ONE_LOG = 1e-5, 0.01


def lm_eval(
    path: str | Path | Sequence[str | Path], *, name: str | None = None, decimals: int | None = None
) -> PairScores:
    r"""Read pairs of sentences or answers from the samples that lm-evaluation-harness logs.

    Each sample contains the log-likelihoods of its choices. The two choices that form a pair are

    - in CrowS-Pairs, the two sentences. The share equals ``pct_stereotype`` of the harness.
    - in BBQ, the biased answer and the answer about the other group, by category, for each ambiguous question that was
      not answered with "unknown". The share :math:`p` determines the harness's bias score for ambiguous contexts,
      :math:`(1 - \mathrm{acc}) (2 p - 1)`.
    - in Winogender, the two nouns that a pronoun may refer to, by the gender of the pronoun. The occupation is
      stereotypical if most people in this occupation have that gender (in the USA, 2015), and otherwise the other noun
      is stereotypical. In the tasks ``gotcha``, in which the stereotypical noun is the wrong answer, the share is one
      minus the accuracy in the harness.

    A pair is identified by its content, not its position in a log. If a pair occurs several times, for example in a
    task and in a subset of the task, it is used only once, and a notice is logged. The data of CrowS-Pairs contain one
    pair twice.

    Parameters
    ----------
    path : str, Path or list of them
        Files ``samples_*.jsonl``. Several files of one model, benchmark and language are combined.
    name : str, optional
        The name of the scores in tables. The default is the name of the (first) file.
    decimals : int or None
        Number of decimals to which scores are rounded before they are compared. The harness does not round.

    Returns
    -------
    PairScores
        Scores for `estimate`.

    Raises
    ------
    SentencePairsError
        If a file does not exist or has no JSON lines; if samples are from an unsupported task, two benchmarks or two
        languages; if there are no log-likelihoods; or if a pair has different log-likelihoods, as in the logs of two
        models.

    References
    ----------
    Gao, L. et al. (2024). The language model evaluation harness. https://doi.org/10.5281/zenodo.12608602

    Examples
    --------
    >>> lm_eval("samples_crows_pairs_english_2026-01-31.jsonl")                    # doctest: +SKIP
    """
    files = list(map(Path, as_tuple("path", path, str | Path, "'samples_crows_pairs.jsonl'", SentencePairsError)))
    pairs: list[_Pair] = []
    omitted = Counter[str]()
    for file in files:
        for sample in _read_samples(file):
            pair = _read_pair(sample)
            if isinstance(pair, str):
                omitted[pair] += 1
            else:
                pairs.append(pair)
    if not pairs:
        reasons = ", ".join(f"{count} {reason}" for reason, count in omitted.items())
        in_brackets = f" ({reasons})" if reasons else ""
        raise SentencePairsError(f"`scores` '{files[0]}' has no pairs{in_brackets}. {_REMEDY}")
    file_of_benchmark = {pair.benchmark: pair.file.name for pair in pairs}
    if len(file_of_benchmark) > 1:
        (first, file_name), (second, other_name), *_ = file_of_benchmark.items()
        raise SentencePairsError(
            f"The `scores` '{file_name}' are of {first} and '{other_name}' of {second}, whose pairs answer different"
            " questions. Read the logs of each benchmark separately."
        )
    _check_one_language(pairs)
    unique_pairs = _without_repetitions(pairs)
    label = name or files[0].stem
    notices = [f"{label}: omitted {numbered(count, 'sample')}, {reason}" for reason, count in omitted.items()]
    n_repeated = len(pairs) - len(unique_pairs)
    if n_repeated:
        notices.append(
            f"{label}: {n_repeated:,} of {len(pairs):,} samples repeat a pair, as in a task and its subsets. Each of"
            f" {len(unique_pairs):,} pairs counts once"
        )
    announced = announce(tuple(notices))
    rows = pd.DataFrame([pair.row for pair in unique_pairs])
    scores_of_logs = read_scores(rows, name=label, decimals=decimals, unit="log-probability")
    return replace(scores_of_logs, notices=(*announced, *scores_of_logs.notices))


@dataclass(frozen=True, eq=False)
class _Sample:
    """A sample in a log, which is the answer of a model to one question.

    `fields` is the whole record in the log, `doc` is the question in the form of its benchmark, `likelihoods` has a
    log-likelihood for each choice, and `place` is the line of the log, for messages.
    """

    fields: Mapping[str, Any]
    doc: Mapping[str, Any]
    likelihoods: list[float]
    file: Path
    place: str

    def sentence(self, name: str) -> str:
        """Return a field of the question as a normalised sentence."""
        return plain_sentence(self.doc[name])

    def check_own_verdict(self, name: str, expected: bool, is_tie: bool) -> None:
        """Raise an error if the harness logged another verdict than the log-likelihoods of the sample imply.

        `name` is the field of the verdict, 0 or 1, such as "acc", and `expected` is the verdict of the log-likelihoods.
        Samples without this field, and ties, are not checked.
        """
        own = self.fields.get(name)
        if own in (0, 1) and own != expected and not is_tie:
            raise SentencePairsError(
                f"`scores`: {self.place} has the {name} {own:g}, which contradicts its log-likelihoods"
                f" {self.likelihoods[:3]}. Log the samples again."
            )


@dataclass(frozen=True)
class _Pair:
    """The pair in a sample, with the log-likelihoods of the stereotypical (`more`) and of the other choice (`less`).

    The `item` is the same in every log, and `content` is the full content of the item. The `labels` are columns of
    scores, such as the bias type.
    """

    benchmark: str
    item: str
    content: tuple[str, ...]
    more: float
    less: float
    labels: Mapping[str, str]
    file: Path

    @property
    def row(self) -> dict[str, Any]:
        """Return the pair as a row of scores."""
        return {"item": self.item, "score_more": self.more, "score_less": self.less, **self.labels}


def _check_one_language(pairs: Sequence[_Pair]) -> None:
    """Raise an error if pairs are in two languages, by the task names of the logs or by the words of the sentences.

    The name of a log has the name of its task, such as "crows_pairs_french".
    """
    file_of_language = {}
    for file in dict.fromkeys(pair.file for pair in pairs):  # each file once
        if language_in_name := _LANGUAGES.search(_task(file)):
            file_of_language[language_in_name[1]] = file
    if len(file_of_language) > 1:
        names = [f"'{file.name}' ({language.capitalize()})" for language, file in file_of_language.items()]
        raise SentencePairsError(
            f"The `scores` {joined(names)} are in {len(file_of_language)} languages, but pairs of several languages are"
            " not pooled. Read the logs of each language separately."
        )
    check_one_language(" ".join(pair.content) for pair in pairs)


def _without_repetitions(pairs: Sequence[_Pair]) -> list[_Pair]:
    """Return each pair once, with the mean of its scores. Raise an error if repeated samples of a pair differ.

    Samples with the same `item` are of the same pair.
    """
    samples_of_item: dict[str, list[_Pair]] = {}
    for pair in pairs:
        samples_of_item.setdefault(pair.item, []).append(pair)
    unique_pairs = []
    for samples in samples_of_item.values():
        first, *repetitions = samples
        for repetition in repetitions:
            _check_same_scores(first, repetition)
        more = _exact_mean([sample.more for sample in samples])
        less = _exact_mean([sample.less for sample in samples])
        unique_pairs.append(replace(first, more=more, less=less))
    return unique_pairs


def _exact_mean(scores: list[float]) -> float:
    """Return the mean of scores. Unlike `numpy.mean`, it is exact if all scores are equal."""
    return scores[0] if len(set(scores)) == 1 else float(np.mean(scores))


def _check_same_scores(first: _Pair, second: _Pair) -> None:
    """Raise an error if two samples of one item differ in their content or scores.

    Within one log, scores may differ more than between logs, because the samples may be in different batches.
    """
    if first.content != second.content:
        raise SentencePairsError(
            f"The item '{first.item[:80]}' of `scores` has different questions in '{first.file.name}' and"
            f" '{second.file.name}', as in two languages or versions of a benchmark. Read these logs one by one."
        )
    tolerance = _SAME_IN_ONE_LOG if first.file == second.file else _SAME
    same_more = math.isclose(first.more, second.more, rel_tol=tolerance)
    same_less = math.isclose(first.less, second.less, rel_tol=tolerance)
    if not (same_more and same_less):
        raise SentencePairsError(
            f"The pair '{first.item[:80]}' of `scores` has {first.more:g} and {first.less:g} in '{first.file.name}',"
            f" but {second.more:g} and {second.less:g} in '{second.file.name}', as in logs of two models or runs. Read"
            " the logs of one run separately, or a task without its subsets. To compare two models, use after="
            " (--after), or --compare-models with a folder for each model."
        )


def _task(file: Path) -> str:
    """Return the task from the name of a log, without the prefix and the time.

    For example, "samples_bbq_2026-01-31T12-00.jsonl" is a log of the task "bbq".
    """
    return re.sub(r"_\d{4}-\d\d-\d\dT.*", "", file.stem).removeprefix("samples_").lower()


def is_log(path: str | Path) -> bool:
    """Return True if the file name is the name of a log."""
    return str(path).lower().endswith(".jsonl")


def _read_samples(file: Path) -> Iterator[_Sample]:
    """Yield the samples of a log, which has a JSON object in each line. Blank lines are skipped.

    The key ``doc`` of an object has the question. Raise an error if a line is not JSON, or has no question.
    """
    path = given_table(file, "scores", SentencePairsError, _REMEDY)
    # Sentences may contain other characters that Python treats as line ends.
    for number, line in enumerate(read_text(path, f"scores: '{file}' is", SentencePairsError).split("\n"), 1):
        if not line.strip():
            continue
        try:
            sample = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise SentencePairsError(
                f"Line {number} of the `scores` '{file}' is not JSON ({error}). {_REMEDY}"
            ) from error
        if not isinstance(sample, Mapping) or not isinstance(sample.get("doc"), Mapping):
            raise SentencePairsError(f"Line {number} of `scores` '{file}' has no 'doc'. {_REMEDY}")
        place = f"{file.name}, line {number}"
        yield _Sample(sample, sample["doc"], _likelihoods(sample, place), file, place)


def _read_pair(sample: _Sample) -> _Pair | str:
    """Return the pair of a sample, or the reason why the sample has no pair and is omitted.

    The benchmark is recognised by a field of the question that only this benchmark has.
    """
    try:
        if "sent_more" in sample.doc:
            return _read_crows_pairs(sample)
        if "context_condition" in sample.doc:
            return _read_bbq(sample)
        if "participant" in sample.doc:
            return _read_winogender(sample)
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, SentencePairsError):
            raise
        raise SentencePairsError(f"`scores`: {sample.place} lacks {error} of its task. {_REMEDY}") from error
    fields = ", ".join(map(str, sample.doc))
    raise SentencePairsError(f"`scores`: {sample.place} is of another task, with the fields {fields}. {_REMEDY}")


def _likelihoods(sample: Mapping[str, Any], place: str) -> list[float]:
    """Return the log-likelihood of each choice, the first element of each of the sample's ``filtered_resps``.

    Recent versions of the harness write numbers as texts.
    """
    responses = sample.get("filtered_resps")
    try:
        likelihoods = [float(response[0]) for response in responses]  # type: ignore[union-attr]
    except (TypeError, ValueError, IndexError, KeyError, OverflowError) as error:
        raise SentencePairsError(
            f"`scores`: {place} has {str(responses)[:40]!r} in place of log-likelihoods. Use tasks that compare choices"
            " instead of tasks that generate text."
        ) from error
    if len(likelihoods) < 2 or not all(map(math.isfinite, likelihoods)):
        raise SentencePairsError(f"`scores`: {place} must have two log-likelihoods or more, but has {likelihoods[:5]}.")
    return likelihoods


def _likelihood_by_choice(sample: _Sample, compared: Sequence[str], n_others: int = 0) -> dict[str, float]:
    """Return the log-likelihood of each choice, by the text of the choice.

    The choices of a question are sent to the model in requests, whose arguments have their texts. If a log has no
    arguments, the function assumes that the first choices are the texts that are `compared`, in this order, and that
    `n_others` other choices follow. Raise an error unless each compared text is exactly one of the choices.
    """
    likelihoods, place = sample.likelihoods, sample.place
    logged = _texts_of_requests(sample.fields.get("arguments"))
    expected = [*compared, *(f"another choice {number}" for number in range(n_others))]
    if len(logged) != len(likelihoods) and len(expected) != len(likelihoods):
        raise SentencePairsError(
            f"`scores`: {place} has {len(likelihoods)} log-likelihoods without the texts of the choices, but its task"
            f" has {len(expected)} choices. Log the samples again with a current version of the harness, which writes"
            " 'arguments'."
        )
    # The text of a choice that was not logged is the expected one at its position.
    texts = [logged[number] if number in logged else expected[number] for number in range(len(likelihoods))]
    missing = [text for text in compared if texts.count(text) != 1]
    if missing:
        raise SentencePairsError(
            f"`scores`: {place} has the choices {', '.join(repr(text[:40]) for text in texts[:3])}, but must have"
            f" '{missing[0][:40]}' once. Use tasks whose choices are the sentences or answers themselves."
        )
    return dict(zip(texts, likelihoods, strict=True))


def _texts_of_requests(arguments: Any) -> dict[int, str]:
    """Return the text of the choice in each request, by the number of the request.

    A request has a context and a choice. The arguments are a list of such pairs or, in recent versions of the harness,
    ``{"gen_args_0": {"arg_0": context, "arg_1": choice}, ...}``. Other requests are omitted.
    """
    if isinstance(arguments, Mapping):
        requests = {int(str(name).rpartition("_")[2]): request for name, request in arguments.items()}
    else:
        requests = dict(enumerate(arguments or ()))
    texts = {}
    for number, request in requests.items():
        parts = list(request.values()) if isinstance(request, Mapping) else list(request)
        if len(parts) > 1 and isinstance(parts[1], str):
            texts[number] = plain_sentence(parts[1])
    return texts


def _read_crows_pairs(sample: _Sample) -> _Pair:
    """Return the more and the less stereotypical sentence of a sample of CrowS-Pairs, with their log-likelihoods.

    The harness logged a verdict, 1 if the more stereotypical sentence is more likely, which is checked.
    """
    doc = sample.doc
    labels = {"bias_type": str(doc["bias_type"]), "direction": str(doc.get("stereo_antistereo", ""))}
    sentences = (sample.sentence("sent_more"), sample.sentence("sent_less"))
    likelihood_of = _likelihood_by_choice(sample, sentences)
    more, less = (likelihood_of[sentence] for sentence in sentences)
    sample.check_own_verdict("pct_stereotype", expected=more > less, is_tie=more == less)
    return _Pair(_CROWS_PAIRS, " / ".join(sentences), sentences, more, less, labels, sample.file)


def _read_bbq(sample: _Sample) -> _Pair | str:
    """Return the answers about the two groups of an ambiguous question, or the reason why they are omitted.

    A question has three answers, of which one means "unknown". Of the two answers about groups, one is biased, and is
    the stereotypical choice of the pair. The model answers with "unknown" if its most likely choice is not about a
    group, which the harness logged as correct ("acc"). Such questions are omitted. A pair is identified by its category
    and the number of its example, and all questions with the same number of a question share a template.
    """
    doc = sample.doc
    if doc["context_condition"] != "ambig":
        return "whose context is not ambiguous"
    answers = [sample.sentence(name) for name in ("ans0", "ans1", "ans2")]
    answers_about_groups = []
    for number, answer in enumerate(answers):
        groups = [str(group).lower() for group in doc["answer_info"][f"ans{number}"]]
        if "unknown" not in groups and answer.casefold() not in _UNKNOWN:
            answers_about_groups.append(answer)
    biased_answers = set(map(plain_sentence, doc["biased_answers"]))
    biased = [answer for answer in answers_about_groups if answer in biased_answers]
    # The harness adds its answers that mean "unknown" to the choices.
    score_of = _likelihood_by_choice(sample, list(dict.fromkeys(answers_about_groups)), n_others=len(_UNKNOWN))
    most_likely = max(score_of, key=score_of.__getitem__)
    is_unknown = most_likely not in answers_about_groups
    has_ties = len(set(score_of.values())) < len(score_of)
    sample.check_own_verdict("acc", is_unknown, has_ties)
    if is_unknown:
        return "answered with 'unknown'"
    if len(answers_about_groups) != 2 or len(biased) != 1:
        return "of which not exactly one answer is biased"
    (unbiased,) = set(answers_about_groups) - set(biased)
    category = str(doc["category"])
    item = f"{category} {doc['example_id']}"
    content = (plain_sentence(doc.get("context", "")), plain_sentence(doc.get("question", "")), *answers)
    labels = {"bias_type": category, "template": f"{category} {doc['question_index']}"}
    return _Pair(_BBQ, item, content, score_of[biased[0]], score_of[unbiased], labels, sample.file)


def _read_winogender(sample: _Sample) -> _Pair | str:
    """Return the two nouns that a pronoun may refer to, or the reason why they are omitted.

    In "The engineer told the client that she ...", these are the occupation and the participant. The stereotypical noun
    is the occupation if most of its workers have the gender of the pronoun, and otherwise the participant.
    """
    doc = sample.doc
    gender, occupation, participant = map(sample.sentence, ("gender", "occupation", "participant"))
    if gender not in ("male", "female"):
        return "whose pronoun is neutral"
    share_of_women = _shares_of_women()
    if occupation not in share_of_women:
        return "of occupations whose share of women is unknown"
    score_of = _likelihood_by_choice(sample, (occupation, participant))
    is_typical = (share_of_women[occupation] > 0.5) == (gender == "female")
    more, less = (occupation, participant) if is_typical else (participant, occupation)
    # A sample without a sentence is identified by the hash of its content or, without a hash, by its position.
    fields = sample.fields
    identity = doc.get("sentence") or fields.get("doc_hash") or f"{_task(sample.file)}: {fields['doc_id']}"
    sentence = plain_sentence(identity)
    item = f"{sentence} ({occupation} / {participant})"
    content = (sentence, occupation, participant)
    labels = {"bias_type": f"{gender} pronoun", "term": occupation}
    return _Pair(_WINOGENDER, item, content, score_of[more], score_of[less], labels, sample.file)


@cache
def _shares_of_women() -> Mapping[str, float]:
    """Return the share of women by occupation, in the USA in 2015."""
    table = read_frame(table_file("winogender-occupations"), "occupations", SentencePairsError)
    return table.set_index("label").criterion.to_dict()
