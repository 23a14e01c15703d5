"""Check of the bias that would result from the frequency of words alone."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from bayes_bias.analyses.report.check import Check, Checker, Study
from bayes_bias.checks.frequency import Frequency, frequency_of
from bayes_bias.documents.methods import Sentence
from bayes_bias.embeddings.embedding import Excerpt
from bayes_bias.formatting import capitalized, counted, joined, plain, shortened, signed
from bayes_bias.posterior.summary import row_of_bias
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.labels import SIDES

_COLUMNS = ("frequency_bias", "frequency_overlap_groups", "frequency_overlap_classes")
_NAMED = 5
# If the bias from frequency is half a posterior standard deviation, the false positive rate is 8% instead of 5%.
LARGE = 0.5
# See docs/evidence/false-positives.md.
_CONSEQUENCE = (
    "Frequent words are closer to frequent words, whatever they mean. Words as frequent as these have a"
    " bias of about {bias} in this embedding for that reason alone, which is {times} posterior standard"
    " deviations"
)
_REMEDY = "Ask for the bias at equal frequency (covariates='rank', --covariates rank)"
_NO_REMEDY = (
    "groups hardly overlap in frequency, and neither do classes, so no adjustment can separate a bias from"
    " frequency, which alone gives a bias of about {bias}. Choose words of similar frequency"
)


def _run(study: Study) -> Check:
    """Return the result of the check for one list."""
    return check_of_table(study.table, lambda: float(row_of_bias(study.fitted, study.scope)["sd"]))


def check_of_table(table: AssociationTable, sd: Callable[[], float]) -> Check:
    """Compare the bias from frequency alone with the posterior standard deviation, if frequencies are known.

    Frequencies are known if the embedding is sorted by frequency and random words can be drawn from it. `sd` is a
    function that computes the posterior standard deviation of the bias, so that it is computed only if it is needed.
    """
    embedding = None if table.origin is None else table.origin.embedding
    reader = None if embedding is None else embedding.reader
    is_sorted = isinstance(reader, Excerpt) and reader.drawable and reader.frequent_first
    if embedding is None:
        return Check("A table does not show how frequent its words are.", "frequency unknown")
    if not is_sorted:
        return Check("The order of the vectors does not show how frequent words are.", "frequency unknown")
    return check_of(
        frequency_of(table, embedding),
        sd(),
        pool=len(embedding.pool()),
        decimals=table.metric.decimals,
        is_adjusted=bool(table.covariates),
    )


def check_of(frequency: Frequency, sd: float, *, pool: int, decimals: int, is_adjusted: bool) -> Check:
    """Compare the bias from frequency alone with the posterior standard deviation `sd` of the bias.

    If it is larger than LARGE times `sd`, frequency may explain the bias. An adjustment (`is_adjusted`) solves this,
    unless groups or classes hardly overlap in frequency: then there is no verdict. If the words have no exact ranks in
    the `pool` of frequent words, the bias from frequency may be unknown.
    """
    bias = signed(frequency.bias, decimals)
    text = _sentences_on_ranks(frequency, pool)
    numbers = {
        "frequency_bias": frequency.bias,
        "frequency_overlap_groups": frequency.overlap["target"],
        "frequency_overlap_classes": frequency.overlap["attribute"],
    }
    if abs(frequency.bias) > LARGE * sd:
        consequence = _CONSEQUENCE.format(bias=bias, times=plain(abs(frequency.bias) / sd, 1))
        reason = _NO_REMEDY.format(bias=bias) if frequency.hardly_overlaps else ""
        return Check(
            f"{text} {consequence}. {capitalized(reason) or _REMEDY}.",
            "groups and classes differ in frequency",
            numbers,
            alarm=bool(reason) or not is_adjusted,
            no_verdict=reason,
            result=(frequency.bias, True),
        )
    if not frequency.largest <= LARGE * sd:  # also if it is NaN
        text += " Because of these words, the bias that frequency alone would give is unknown."
        return Check(text, "frequency unknown", numbers)
    text += f" Words as frequent as these have a bias of about {bias} in this embedding, whatever they mean."
    return Check(text, "no confound with frequency", numbers, result=(frequency.bias, False))


def _sentences_on_ranks(frequency: Frequency, pool: int) -> str:
    """Return sentences on the median ranks of groups and classes, and on words without an exact rank.

    Ranks are positions among the `pool` most frequent words. A word beyond them has at least the last rank.
    """
    ranks = frequency.ranks
    groups, classes = (_medians(ranks[ranks.side == side]) for side in SIDES)
    text = f"Median frequency rank of the words in each group: {groups}. In each class: {classes}."
    text += _sentence_on_words(ranks.index[ranks.most > ranks.known], f"not among the {pool:,} most frequent")
    return text + _sentence_on_words(ranks.index[ranks.known.isna()], "of unknown rank")


def _medians(ranks: pd.DataFrame) -> str:
    """Return the median of the known ranks of each group or class, or a lower bound if a rank is a lower bound.

    A word that is not among the most frequent words has the last of their ranks as ``known``, and a larger rank as
    ``most``.
    """
    texts = []
    for category, rows in ranks.groupby("category", sort=False):
        known = rows.dropna()
        if known.empty:
            texts.append(f"{category} unknown")
            continue
        median = known[["known", "most"]].median()
        texts.append(f"{category} {median.known:,.0f}" + (" or more" if median.most > median.known else ""))
    return joined(texts)


def _sentence_on_words(words: Sequence[str], what: str) -> str:
    """Return a sentence about words without an exact rank, after a blank, or "" if there are no such words."""
    if not len(words):
        return ""
    verb = "is" if len(words) == 1 else "are"
    return f" {capitalized(counted(len(words), 'word'))} {verb} {what}: {shortened(words, _NAMED)}."


def _methods(results: Mapping[str, Any]) -> Sentence:
    """Return the sentence of the methods text, with the bias from frequency for each list.

    `results` has this bias for each list, and True if it is large.
    """
    biases = "; ".join(f"{signed(bias)} for {name}" for name, (bias, _) in results.items())
    return (
        "The bias that frequency alone would give was predicted from the words' frequency ranks, by the regression of"
        f" general words' similarities on the products of their log ranks: {biases}.",
    )


CHECKER = Checker("frequency", "Frequency of words", _COLUMNS, _run, _methods)
