"""What judges a list of words or a table: the posterior, and classical tests beside it."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.stats import norm, t

import bayes_bias as bb
from bayes_bias.checks.null_jobs import judge, judge_by_weat
from bayes_bias.measures.crossed_tests import CrossedTest
from bayes_bias.posterior.quadrature import Integrand, chance, half_width
from benchmarks.competitors import judge_by_quasi_f
from benchmarks.designs import Drawn
from benchmarks.harness import Judged, Method, Numbers

OURS, INDEPENDENT = "this model", "words independent"
# Bootstrap samples: cbn has 300.
_SAMPLES = 300


def posterior(drawn: Drawn) -> Judged:
    """Judge by the default model, integrated numerically as in `bayes_bias.verdict(table)`."""
    return _integrated(drawn.integrand)


def independent(drawn: Drawn) -> Judged:
    """Judge by the default model as if all words were independent draws."""
    return _integrated(drawn.integrand.with_independent_words())


def _integrated(integrand: Integrand) -> Judged:
    variances, observed = integrand.variances(), integrand.observed
    return _symmetric(observed.item(), half_width(variances).item(), chance(variances, observed).item())


def _symmetric(estimate: float, half: float, p: float) -> Judged:
    return Judged(estimate, estimate - half, estimate + half, float(p))


def _student(estimate: float, se: float, df: float) -> Judged:
    return _symmetric(estimate, float(t.isf(0.025, df) * se), float(2 * t.sf(abs(estimate) / se, df)))


def quasi_f(drawn: Drawn, *, moderated: bool = False) -> Judged:
    """Judge by the quasi-F, see `bayes_bias.measures.quasi_f`.

    The moderated one draws the mean square of each group or class towards what vectors tell of it, with as many degrees
    of freedom as that has (Smyth 2004), and multiplies it by the inflation of related words.
    """
    integrand = drawn.integrand
    residual, side_squares, by_df = _mean_squares(integrand, moderated)
    both = sum(side_squares) - residual
    options = [(both, both**2 / (sum(by_df) + residual**2 / integrand.residual_df))]
    for variance_of_side, squared_by_df in zip(side_squares, by_df, strict=True):
        options.append((variance_of_side, variance_of_side**2 / squared_by_df))
    variance, df = max(options)
    return _student(integrand.observed.item(), float(np.sqrt(variance)), float(df))


def of_min_f(drawn: Drawn) -> Judged:
    """Judge by min F' (Clark 1973): mean squares of both sides together."""
    _, side_squares, df = _mean_squares(drawn.integrand, False)
    return _student(drawn.integrand.observed.item(), sum(side_squares) ** 0.5, sum(side_squares) ** 2 / sum(df))


def _mean_squares(integrand: Integrand, moderated: bool) -> tuple[float, list[float], list[float]]:
    """Variance of the bias by residuals and by each side's words, and the square of the latter over its df."""
    residual = integrand.residual_weight * integrand.residual_squares.item() / integrand.residual_df
    side_squares, dfs = [], []
    for side in integrand.sides:
        variance_of_side, by_df = 0.0, 0.0
        for component in side.variances():
            if not component.weights:
                continue
            ((cell, weight),) = component.weights.items()
            df = float(component.df.sum())
            variance = weight * float(component.squares.sum()) / (component.loading * df)
            if moderated:
                directions = 2 * float(side.inflation_df[cell])
                expected = weight * component.expected.item()
                variance = (df * variance + directions * expected) / (df + directions)
                df += directions
                variance *= float(side.inflation[0, cell])
            variance_of_side += variance
            by_df += variance**2 / df
        side_squares.append(variance_of_side)
        dfs.append(by_df)
    return residual, side_squares, dfs


def of_reml(drawn: Drawn) -> Judged:
    """Judge by a mixed model with common variances: REML and Satterthwaite's degrees of freedom."""
    return _tested(bb.measures.reml(drawn.table))


def weat(drawn: Drawn, *, one_sided: bool = False) -> Judged:
    """Judge by WEAT's permutation test; the published one is one-sided. It has no interval."""
    found = judge_by_weat(drawn.table, seed=drawn.seed, alternative="greater" if one_sided else "two-sided")
    return Judged(found["mean"], np.nan, np.nan, found["p_value"])


def cbn(drawn: Drawn) -> Judged:
    """Judge by the bootstrap of the R package cbn."""
    return of_cbn(drawn.vectors, drawn.seed)


def of_cbn(vectors: Sequence[Numbers], seed: int) -> Judged:
    """Judge vectors of two groups and two classes by `weat_boot` of cbn 0.3.2 (Lowe 2019, https://conjugateprior.org/cbn).

    Words of all four lists are drawn again with replacement, and the interval is the statistic plus and minus twice its
    standard deviation over 300 samples. The statistic takes cosines with the mean vector of a class; the interval is
    brought back to means of cosines by the length of that vector.
    """
    rng = np.random.default_rng([seed, 1])
    equal, redrawn = [], []
    for words in vectors:
        n = len(words)
        equal.append(np.full((1, n), 1 / n))
        redrawn.append(rng.multinomial(n, np.full(n, 1 / n), size=_SAMPLES) / n)
    value = float(_statistic_of_cbn(vectors, equal)[0] / 2)
    sd = float((_statistic_of_cbn(vectors, redrawn) / 2).std(ddof=1))
    length = float(np.mean([np.linalg.norm(rows.mean(axis=0)) for rows in vectors[2:]]))
    return _symmetric(value * length, 2 * sd * length, float(2 * norm.sf(abs(value) / sd)))


def _statistic_of_cbn(vectors: Sequence[Numbers], shares: list[Numbers]) -> Numbers:
    """One value for each sample, from the share of each word in each sample."""
    (x, y, a, b), (share_x, share_y, share_a, share_b) = vectors, shares
    towards = _unit(share_a @ a) - _unit(share_b @ b)  # samples, dimensions
    return np.asarray((share_x * (towards @ x.T)).sum(axis=1) - (share_y * (towards @ y.T)).sum(axis=1))


def _unit(vectors: Numbers) -> Numbers:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def cluster_bootstrap(drawn: Drawn) -> Judged:
    """Judge by percentiles of a bootstrap that draws clusters of words again, of both sides.

    The words of each group or class are in as many Ward clusters as the root of their number.
    """
    rng = np.random.default_rng([drawn.seed, 2])
    means = []
    for words in drawn.vectors:
        cluster = fcluster(linkage(words, "ward"), round(len(words) ** 0.5), "maxclust") - 1
        count = int(cluster.max()) + 1
        weights = rng.multinomial(count, np.full(count, 1 / count), size=_SAMPLES)[:, cluster].astype(float)
        means.append(weights / weights.sum(axis=1, keepdims=True) @ words)
    samples = ((means[0] - means[1]) * (means[2] - means[3])).sum(axis=1) / 2
    lower, upper = np.quantile(samples, [0.025, 0.975])
    p = 2 * (1 + min((samples <= 0).sum(), (samples >= 0).sum())) / (1 + _SAMPLES)
    return Judged(drawn.integrand.observed.item(), float(lower), float(upper), min(1.0, float(p)))


def _tested(test: CrossedTest) -> Judged:
    return Judged(test.value, *test.interval, test.p_value)


# In the order of the tables.
OF_WORDS: Mapping[str, Method] = {
    INDEPENDENT: independent,
    OURS: posterior,
    "moderated F": partial(quasi_f, moderated=True),
    "quasi-F": quasi_f,
    "min F'": of_min_f,
    "REML": of_reml,
    "bootstrap of cbn": cbn,
    "cluster bootstrap": cluster_bootstrap,
}
WEAT: Mapping[str, Method] = {"WEAT": weat, "WEAT, one-sided": partial(weat, one_sided=True)}


# Tables without vectors.


def of_table(table: bb.AssociationTable, scope: str = "both", seed: int = 1) -> Judged:
    """Judge a table by the default model."""
    (found,) = judge(table, bb.load_spec("crossed"), scopes=[scope], seed=seed)  # type: ignore[list-item]
    return Judged(found["mean"], found["ci95_lb"], found["ci95_ub"], found["p_value"])


def quasi_f_of_table(table: bb.AssociationTable) -> Judged:
    """Judge a table by the quasi-F."""
    found = next(row for row in judge_by_quasi_f(table) if row["scope"] == "both")
    return Judged(found["mean"], found["ci95_lb"], found["ci95_ub"], found["p_value"])


OF_TABLES: Mapping[str, Method] = {
    OURS: of_table,
    "quasi-F": quasi_f_of_table,
    "REML": lambda table: _tested(bb.measures.reml(table)),
    "min F'": lambda table: _tested(bb.measures.min_f(table)),
    "pigeonhole bootstrap": lambda table: _tested(bb.measures.pigeonhole(table)),
}
