"""`over_time`: changes in the bias of a list across slices of a corpus."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import numpy as np

from bayes_bias.analyses.over_time.moments import NEW, Settings, SliceScope
from bayes_bias.analyses.over_time.results import OverTime, series_of
from bayes_bias.arguments import check_ci_prob, check_kind, check_seed, check_switch
from bayes_bias.associations.made_alike import made_alike
from bayes_bias.errors import ScopeError, TableError
from bayes_bias.fitting.sampling import Sampling, check_sampling
from bayes_bias.formatting import counted
from bayes_bias.models.spec import ModelSpec
from bayes_bias.models.structures import generalising_spec
from bayes_bias.progress import step
from bayes_bias.table.association_table import AssociationTable, check_table
from bayes_bias.table.scopes import DEFAULT_SCOPE, ScopeName, sampling_scope
from bayes_bias.table.words_by_slice import check_shared_words

type Tables = Mapping[Any, AssociationTable]


def over_time(
    tables: Tables,
    model: str | Path | ModelSpec = "crossed",
    *,
    scope: SliceScope = NEW,
    words: ScopeName = DEFAULT_SCOPE,
    reference: Any = None,
    allow_loss: bool = False,
    allow_unlike: bool = False,
    ci_prob: float = 0.95,
    seed: int = 1,
    sampling: Sampling = Sampling(),
    name: str = "",
) -> OverTime:
    r"""Estimate the trend and the changes of a bias over time.

    All slices are compared word by word, so that effects of words that are equal in all slices cancel. Every contrast
    over time is a weighted sum of tables (`bayes_bias.combine`), to which the crossed model is fitted. The trend is the
    change along the least-squares line from the first slice to the last.

    Results are reported for two scopes. *These slices* refers to changes in exactly these corpora, with new words. *New
    slices* refers to other corpora from the same times. In this scope, slices deviate from a line with a standard
    deviation tau,

    .. math:: \beta_t = \alpha + \gamma x_t + \eta_t,\quad \eta_t \sim N(0, \tau^2),\quad
              \tau \sim \mathrm{HalfNormal}(0.5\,s)

    where s is the standard deviation of values within blocks. This scope requires five slices or more.

    Parameters
    ----------
    tables : mapping of times to AssociationTable
        Tables of one list in two slices or more. The keys are times, that is, numbers such as 1900. Tables may have
        different numbers of replicates (seeds). Words that a slice lacks are omitted from all slices, with a notice.
        Control classes are ignored.
    model : str, Path or ModelSpec
        A crossed model.
    scope : {"new slices", "these slices"}
        The slices to which the verdict refers.
    words : {"all", "both", "targets", "attributes", ...}
        The words and replicates that all results generalise to (see `fit`).
    reference : number, optional
        The slice with which all others are compared to check that they were similarly trained. By default, it is the
        slice with the median distance between words.
    allow_loss : bool
        Continue if the words that all slices contain are half of a group or class, or fewer.
    allow_unlike : bool
        Return a verdict even if the slices are not comparable. The warning remains in all texts and on the page, and
        the provenance records the argument.
    ci_prob : float
        Probability of the intervals.
    seed, sampling
        See `fit`.
    name : str
        The name of the series in texts and figures. By default, it is the name of the list.

    Returns
    -------
    OverTime
        Result with the check ``alike`` (read it first), ``table`` (each slice), ``trend``, ``changes`` (between
        neighbours), and ``moved`` (words). The methods ``contrast`` and ``minus`` estimate further contrasts. When
        printed, it shows sentences, and `bayes_bias.write` creates a page.

    Raises
    ------
    TableError
        If there are fewer than two slices; if a time is not a number, or occurs twice; if slices differ in their
        stereotypes or associations; or if the slices together have lost half of the words of a group or class.
    ScopeError
        If the data do not support the scope of words, or if this scope has no sampling error.

    Notes
    -----
    *Similarly trained.* In vectors from less text or fewer epochs, all words are closer together, and most biases are
    smaller. If the distances between random words in one slice differ from the distances in other slices
    (`bayes_bias.associations.made_alike`), there is no verdict, unless you pass `allow_unlike`. There is no known
    correction that works, so train the vectors again with equal numbers of tokens.

    *Time of a change.* A change is dated only if one step is the largest with a probability above .8.

    References
    ----------
    Garg, N., Schiebinger, L., Jurafsky, D., & Zou, J. (2018). Word embeddings quantify 100 years of gender and ethnic
    stereotypes. PNAS, 115(16), E3635-E3644. https://doi.org/10.1073/pnas.1720347115

    Gelman, A. (2006). Prior distributions for variance parameters in hierarchical models. Bayesian Analysis, 1(3),
    515-534. https://doi.org/10.1214/06-BA117A

    Examples
    --------
    >>> tables = {year: cosines("weat7", f"{year}.txt", ()) for year in range(1900, 2000, 10)}      # doctest: +SKIP
    >>> print(over_time(tables).text)                                                               # doctest: +SKIP
    """
    settings = Settings(generalising_spec(model, "a series"), scope, words, ci_prob, seed, sampling)
    if scope not in get_args(SliceScope):
        raise ScopeError(f"`scope` is {scope!r}, which is not a scope of slices.", scope, get_args(SliceScope))
    sampling_scope(words)
    check_ci_prob(ci_prob)
    seed = check_seed(seed)
    check_sampling(sampling)
    slices = _sort_slices(tables)
    check_switch("allow_loss", allow_loss)
    check_switch("allow_unlike", allow_unlike)
    if not allow_loss:
        check_shared_words(slices)
    step("were the slices made alike?")
    alike = made_alike(slices, reference=reference, seed=seed, allowed=allow_unlike)
    return series_of(slices, alike, settings, name)


def _sort_slices(tables: Any) -> dict[Any, AssociationTable]:
    """Return the slices in the order of their times, without control classes, or raise an error.

    Times without decimals are converted to integers. There must be two slices or more.
    """
    problem = "not a mapping of times to tables. Pass {1900: table, 1910: another}."
    check_kind("tables", tables, Mapping, problem, TableError)
    slices: dict[Any, AssociationTable] = {}
    for label, table in tables.items():
        time = _time(label)
        check_table(table, f"tables: {label}")
        if time in slices:
            raise TableError(f"`tables` contains the time {time} twice. Use a different time for each slice.")
        slices[time] = table.without_controls()
    if len(slices) < 2:
        raise TableError(
            f"`tables` contains {counted(len(slices), 'slice')}, which cannot show a change"
            " over time. Pass at least two slices, or five to estimate a trend."
        )
    return {time: slices[time] for time in sorted(slices)}


def _time(label: Any) -> int | float:
    """Return the time of a slice as a number, which is an integer if it has no decimals.

    Labels may be numbers or texts such as "1900". Other labels raise an error.
    """
    try:
        time = float(label)
    except (TypeError, ValueError):
        time = np.nan
    if not np.isfinite(time):
        raise TableError(
            f"`tables` contains the time {label!r}, which is not a number. Use numbers such as 1900 or 1900.5."
        )
    return tidy_time(time)


def tidy_time(time: float) -> int | float:
    """Convert a time without decimals to an integer, such as 1900.0 to 1900."""
    return int(time) if time.is_integer() else time
