"""`sentence_pairs.estimate`: from scores of sentence pairs to shares and differences with their uncertainty."""

from pathlib import Path
from typing import Literal, TypedDict, Unpack, overload

import pandas as pd
import pymc as pm

from bayes_bias.errors import SentencePairsError
from bayes_bias.models.model_spec import ModelSpec
from bayes_bias.models.sampling import Sampling
from bayes_bias.progress import Progress, Quiet
from bayes_bias.sentence_pairs.fitting_both import PairSettings, estimate_change, estimate_one
from bayes_bias.sentence_pairs.pair_estimands import PairScope
from bayes_bias.sentence_pairs.pair_fits import labelled_model, pairs_spec
from bayes_bias.sentence_pairs.pair_results import SentencePairs, SentencePairsChange
from bayes_bias.sentence_pairs.pair_scores import DECIMALS, PairScores, read_scores
from bayes_bias.sentence_pairs.score_units import ScoreUnit

type Scores = PairScores | pd.DataFrame | str | Path

# Enough for the 1,508 pairs of CrowS-Pairs; a draw costs more here than in the crossed model.
SAMPLING = Sampling(draws=1000, tune=700, target_accept=0.95)


class _Options(TypedDict, total=False):
    model: str | Path | ModelSpec
    of: str | None
    name: str | None
    decimals: int | None
    unit: ScoreUnit | None
    scope: PairScope
    ci_prob: float
    seed: int
    sampling: Sampling
    progress: Progress | None


@overload
def estimate(scores: Scores, after: None = None, **options: Unpack[_Options]) -> SentencePairs: ...


@overload
def estimate(scores: Scores, after: Scores, **options: Unpack[_Options]) -> SentencePairsChange: ...


def estimate(
    scores: Scores,
    after: Scores | None = None,
    *,
    model: str | Path | ModelSpec = "pairs",
    of: str | None = None,
    name: str | None = None,
    decimals: int | None = DECIMALS,
    unit: ScoreUnit | None = None,
    scope: PairScope = "all",
    ci_prob: float = 0.95,
    seed: int = 1,
    sampling: Sampling = SAMPLING,
    progress: Progress | None = None,
) -> SentencePairs | SentencePairsChange:
    r"""How often, and by how much, a language model prefers the stereotypical sentence of a pair.

    Benchmarks of sentence pairs (CrowS-Pairs [1]_, StereoSet, AUL, differences of log-likelihoods) report a share as if
    pairs were independent. They are not: 77 people wrote the 1,508 pairs of CrowS-Pairs, and one of them wrote 130. Two
    hierarchical models allow for the clusters of writers, templates and terms [2]_,

    .. math:: \mathrm{ahead}_i \sim \mathrm{Bernoulli}(\mathrm{logit}^{-1}(\lambda + \mathrm{type}_{t(i)} +
              \mathrm{writer}_{w(i)} + \dots)), \qquad
              d_i \sim N(\mu + \mathrm{type}_{t(i)} + \mathrm{writer}_{w(i)} + \dots, \sigma^2)

    with a term for each column that the scores have. The share is averaged over writers, and over the types in their
    proportions in the table.

    Parameters
    ----------
    scores : PairScores, pandas.DataFrame, str or Path
        One row for each pair; see `bayes_bias.sentence_pairs.pair_scores.read_scores`.
    after : the same, optional
        Scores of the same items by another model, or by the same after debiasing: each pair is compared with itself.
    model : str, Path or ModelSpec
        The shipped model "pairs", or a copy of it with other priors.
    of : str, optional
        Which language model's rows, where the scores have a column ``model`` with several.
    name : str, optional
        What tables and figures call the scores.
    decimals : int or None
        To how many decimals scores are rounded before they are compared; None compares them unrounded.
    unit : {"log-probability", "probability", "loss", "perplexity"}, optional
        What the scores are. Without it they are read as log probabilities, and refused where they look like something
        else; probabilities, losses and perplexities become log probabilities first.
    scope : {"all", "pairs", "none"}
        Whether numbers generalise to new pairs of new writers (templates, terms), to new pairs of the same writers, or
        describe exactly these pairs.
    ci_prob : float
        Probability of the equal-tailed intervals.
    seed : int
    sampling : Sampling
    progress : Progress, optional

    Returns
    -------
    SentencePairs, or with `after` SentencePairsChange
        Printed, its sentences; ``table``, ``published``, ``verdict``. Shares are between 0 and 1; differences are in
        nats if the scores are natural logarithms.

    Raises
    ------
    SentencePairsError
        The scores cannot be read, do not vary, or look like scores of another unit; those after are of other pairs.
    SpecError, ScopeError
        A model of something else; an impossible unit, scope, seed or probability.

    Notes
    -----
    Types, such as gender or religion, are fixed: results do not generalise to other types. A writer has the same effect
    in all types. Where it depends on the type, intervals of single types are somewhat too short.

    Differences need not be normal: the posterior of a mean depends on means and variances alone once there are enough
    pairs, 25 times their squared skewness or more [3]_ (fewer bring a notice). A copy of the model with a prior of
    ``nu`` has Student-t residuals; it estimates their location, and says so.

    The change of a share is ``P(changed) (2 P(gained | changed) - 1)``, each with its own effects.

    References
    ----------
    .. [1] Nangia, N., Vania, C., Bhalerao, R., & Bowman, S. R. (2020). CrowS-Pairs: A challenge dataset for measuring
       social biases in masked language models. Proceedings of EMNLP 2020, 1953-1967.
       https://doi.org/10.18653/v1/2020.emnlp-main.154
    .. [2] Miller, E. (2024). Adding error bars to evals: A statistical approach to language model evaluations.
       https://doi.org/10.48550/arXiv.2411.00640
    .. [3] Cochran, W. G. (1977). Sampling Techniques, 3rd edition, section 2.15. Wiley.

    Examples
    --------
    >>> print(estimate("crows.csv"))                                              # doctest: +SKIP
    >>> print(estimate("before.csv", "after.csv").verdict)                        # doctest: +SKIP
    """
    settings = PairSettings(pairs_spec(model), scope, ci_prob, seed, sampling, progress or Quiet())
    before = read_scores(scores, name=name, model=of, decimals=decimals, unit=unit)
    if after is None:
        return estimate_one(before, settings)
    return estimate_change(before, read_scores(after, name=name, model=of, decimals=decimals, unit=unit), settings)


def pymc_model(
    scores: Scores,
    estimand: Literal["share", "difference"] = "share",
    *,
    model: str | Path | ModelSpec = "pairs",
    of: str | None = None,
    decimals: int | None = DECIMALS,
    unit: ScoreUnit | None = None,
) -> pm.Model:
    """The model that `estimate` samples for the share or for the difference, for PyMC and ArviZ.

    Parameters
    ----------
    scores, model, of, decimals, unit
        As in `estimate`.
    estimand : {"share", "difference"}
        How often the stereotypical sentence is ahead, or by how much.

    Returns
    -------
    pymc.Model
        Of a share ``logit``, of a difference ``mean`` and ``scale_residual``, the latter in units of the standard
        deviation of the differences; standard deviations and effects of types, writers, templates and terms, as far as
        the scores have them. What has the prior of the level and is sampled is ``average_logit`` or ``average_mean``,
        the level with the average effect of these writers. Observed are ``ahead``, the numbers of pairs with the same
        clusters, or ``difference``.

    Raises
    ------
    SentencePairsError
        As in `estimate`, or the estimand is not one of the two.
    SpecError
        A model of something else.

    Examples
    --------
    >>> model = pymc_model("crows.csv", "difference")                             # doctest: +SKIP
    """
    if estimand not in ("share", "difference"):
        raise SentencePairsError(f"estimand: must be 'share' or 'difference', got {estimand!r}")
    spec = pairs_spec(model)
    return labelled_model(read_scores(scores, model=of, decimals=decimals, unit=unit), spec, estimand)
