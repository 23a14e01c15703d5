"""`pairs`: from scores of sentence pairs to shares and differences with their uncertainty."""

from pathlib import Path
from typing import overload

import pandas as pd

from bayes_bias.inference.sampling import Sampling
from bayes_bias.models.spec import ModelSpec
from bayes_bias.progress import Progress
from bayes_bias.sentence_pairs.answering import Settings, answer, answer_change
from bayes_bias.sentence_pairs.estimands import PairScope
from bayes_bias.sentence_pairs.found import Pairs, PairsChange
from bayes_bias.sentence_pairs.scores import DECIMALS, PairScores, read_scores

type Scores = PairScores | pd.DataFrame | str | Path

# As long as CrowS-Pairs' 1,508 pairs need; a draw costs more here than in the crossed model.
SAMPLING = Sampling(draws=1000, tune=700, target_accept=0.95)


@overload
def pairs(
    scores: Scores,
    after: None = None,
    *,
    model: str | Path | ModelSpec = ...,
    of: str | None = ...,
    name: str | None = ...,
    decimals: int | None = ...,
    scope: PairScope = ...,
    ci_prob: float = ...,
    seed: int = ...,
    sampling: Sampling = ...,
    progress: Progress | None = ...,
) -> Pairs: ...


@overload
def pairs(
    scores: Scores,
    after: Scores,
    *,
    model: str | Path | ModelSpec = ...,
    of: str | None = ...,
    name: str | None = ...,
    decimals: int | None = ...,
    scope: PairScope = ...,
    ci_prob: float = ...,
    seed: int = ...,
    sampling: Sampling = ...,
    progress: Progress | None = ...,
) -> PairsChange: ...


def pairs(
    scores: Scores,
    after: Scores | None = None,
    *,
    model: str | Path | ModelSpec = "pairs",
    of: str | None = None,
    name: str | None = None,
    decimals: int | None = DECIMALS,
    scope: PairScope = "all",
    ci_prob: float = 0.95,
    seed: int = 1,
    sampling: Sampling = SAMPLING,
    progress: Progress | None = None,
) -> Pairs | PairsChange:
    r"""How often, and by how much, does a model prefer the stereotypical sentence of a pair?

    Benchmarks of sentence pairs (CrowS-Pairs, StereoSet, AUL, differences of log-likelihoods) report a share as if
    pairs were independent. They are not: 77 people wrote the 1,508 pairs of CrowS-Pairs, the first of them 130. Two
    hierarchical models count what writers, templates and terms share,

    .. math:: \mathrm{ahead}_i \sim \mathrm{Bernoulli}(\mathrm{logit}^{-1}(\lambda + \mathrm{type}_{t(i)} +
              \mathrm{writer}_{w(i)} + \dots)), \qquad
              d_i \sim t_\nu(\mu + \mathrm{type}_{t(i)} + \mathrm{writer}_{w(i)} + \dots, \sigma)

    with those terms whose columns are there. The share is averaged over writers, not that of a median one, and over the
    types in the proportions in which they are there.

    Parameters
    ----------
    scores : PairScores, pandas.DataFrame, str or Path
        One row for each pair; see `bayes_bias.sentence_pairs.scores.read_scores`.
    after : the same, optional
        Scores of the same items by another model, or by the same after debiasing: each pair is compared with itself.
    model : str, Path or ModelSpec
        The shipped model "pairs", or a copy of it with other priors.
    of : str, optional
        Whose rows, where the scores have a column ``model`` with several.
    name : str, optional
        What tables and figures call the scores.
    decimals : int or None
        To how many decimals scores are rounded before it is said which is ahead; None: not at all.
    scope : {"all", "pairs", "none"}
        Whether numbers generalise to new pairs of new writers (templates, terms), to new pairs of the same ones, or
        speak of exactly these pairs.
    ci_prob : float
        Probability of the equal-tailed intervals.
    seed : int
    sampling : Sampling
    progress : Progress, optional

    Returns
    -------
    Pairs, or with `after` PairsChange
        Printed, its sentences; ``table``, ``published``, ``verdict``. Shares are between 0 and 1; differences in nats,
        if the scores are natural logarithms.

    Raises
    ------
    PairsError
        The scores cannot be read, or do not vary; those after are of other pairs.
    SpecError, ScopeError
        A model of something else; a scope, seed or probability that is none.

    Notes
    -----
    Types, such as gender or religion, are those at hand; nothing is said of other ones. Effects of writers are the same
    in all types: where a writer's own taste depends on the type, intervals of single types are somewhat too short.

    The change of a share is ``P(changed) (2 P(gained | changed) - 1)``, each with effects of its own.

    References
    ----------
    Nangia, N., Vania, C., Bhalerao, R., & Bowman, S. R. (2020). CrowS-Pairs: A challenge dataset for measuring social
    biases in masked language models. Proceedings of EMNLP 2020, 1953-1967.
    https://doi.org/10.18653/v1/2020.emnlp-main.154

    Miller, E. (2024). Adding error bars to evals: A statistical approach to language model evaluations.
    https://doi.org/10.48550/arXiv.2411.00640

    Examples
    --------
    >>> print(pairs("crows.csv"))                                                 # doctest: +SKIP
    >>> print(pairs("before.csv", "after.csv").verdict)                           # doctest: +SKIP
    """
    settings = Settings.checked(model, scope, ci_prob, seed, sampling, progress)
    before = read_scores(scores, name=name, model=of, decimals=decimals)
    if after is None:
        return answer(before, settings)
    return answer_change(before, read_scores(after, name=name, model=of, decimals=decimals), settings)
