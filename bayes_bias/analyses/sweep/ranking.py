r"""The ranking of versions by the share of the bias that they remove, for new words.

A cell is a list in an embedding. Let :math:`b` be the bias of the embedding in a cell, :math:`s` its sign, and
:math:`c_m` the change by version m. A version removes the share

.. math:: -\sum s\, c_m \Big/ \sum s\, b.

Both sums include only cells with a clear bias. Cells without a clear bias mainly contain noise. If debiased vectors
have less noise, the sums over these cells would count the reduction of noise as removal of bias. If the share exceeds
100%, the bias has changed its sign. The best version has the share that is closest to 100%.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from bayes_bias.analyses.sweep.pooling import describe_draws
from bayes_bias.formatting import (
    WORD,
    Column,
    Layout,
    Tabled,
    bounds,
    in_words,
    mean_of_interval,
    percent,
    plural,
    probability,
    share_bounds,
)
from bayes_bias.posterior.pooling import Influence
from bayes_bias.posterior.ranks import ranked
from bayes_bias.shared_types import Numbers
from bayes_bias.table.columns import interval_columns, interval_of, rank_column
from bayes_bias.table.scopes import ScopeName, sampling_scope

DRAWS = 4000
# Differences between shares within this distance of zero are negligible.
_NEGLIGIBLE = 0.01


@dataclass(frozen=True, eq=False, repr=False)
class VersionRanking(Tabled):
    """The share of the bias that each version removes, and the ranking of versions.

    Attributes
    ----------
    table : pandas.DataFrame
        The share of the bias that each ``version`` removes: ``mean``, ``sd``, equal-tailed interval, the mean ``rank``
        (1 for the smallest remaining bias), and the interval of the rank.
    better : pandas.DataFrame
        The probability that the remaining bias is smaller for the version in the row than in the column.
    paired : pandas.DataFrame
        For each version except the best: its remaining bias minus the remaining bias of the best version, from the same
        draws. Columns: ``mean``, ``sd``, and equal-tailed interval.
    cells : pandas.MultiIndex
        The cells ``(embedding, list)`` that are used, that is, those in which all versions have results and the bias
        before debiasing is clearly different from zero.
    of : int
        Number of cells before this selection.
    unit : str
        The noun for the units of the lists, such as "word" or "image".
    """

    table: pd.DataFrame
    better: pd.DataFrame
    paired: pd.DataFrame
    cells: pd.MultiIndex
    of: int
    unit: str = WORD

    @property
    def text(self) -> str:
        """Sentences on the shares that versions remove, and on the certainty of the ranking.

        If both ends of an interval are 100%, the version removes all of the bias, and no interval is written.
        """
        shares = []
        for name, row in self.table.sort_values("rank").iterrows():
            lower, upper = interval_of(row)
            if percent(lower) == percent(upper) == "100%":
                shares.append(f"'{name}' all of it")
            else:
                shares.append(f"'{name}' {percent(row['mean'])} {share_bounds(lower, upper)}")
        used_cells = f"{in_words(len(self.cells))} of {in_words(self.of)} cells, where the bias before is clear"
        sentence = f"Share of the bias removed, for new {plural(self.unit)}: {', '.join(shares)} (from {used_cells})."
        return sentence if len(self.table) == 1 else f"{sentence} {self._comparison()}"

    def _comparison(self) -> str:
        """Return a sentence that compares the best version with its closest rival.

        The rival is the version over which the lead of the best version has the lowest probability (`better`). Their
        difference, the remaining bias of the rival minus the one of the best version, is `paired`, because both are
        computed from the same draws.
        """
        best = self.table["rank"].idxmin()
        prob_better = self.better.loc[best].drop(best)  # than each other version
        rival = prob_better.idxmin()
        row = self.paired.loc[rival]
        lower, upper = interval_of(row)
        number = mean_of_interval(100 * row["mean"], 100 * lower, 100 * upper, 1, sign="")
        points = f"{number} points {bounds(100 * lower, 100 * upper, 1)}"
        if lower > -_NEGLIGIBLE and upper < _NEGLIGIBLE:
            return f"'{best}' and '{rival}' leave practically the same bias (paired difference {points})."
        conclusion = f"It is open whether '{best}' or '{rival}' leaves less bias"
        if lower > 0:
            conclusion = f"'{best}' leaves least"
        more = f"'{rival}' leaves {points} more (probability {probability(prob_better.min())})"
        return f"{conclusion}: paired over the same {plural(self.unit)}, {more}."

    @property
    def layout(self) -> Layout:
        """The share that each version removes with its interval and rank. The best version is first."""
        rows = self.table.sort_values("rank")
        intervals = list(rows[[*interval_columns(rows)]].itertuples(index=False, name=None))
        return Layout(
            list(map(str, rows.index)),
            [
                Column("removed", rows["mean"], percent),
                Column("interval", intervals, lambda interval: share_bounds(*interval)),
                *rank_column(rows),
            ],
            heading="version",
            caption=f"Share of the bias removed, for new {plural(self.unit)}",
            sortable=True,
        )


def rank_versions(
    cells: pd.DataFrame,
    changes: pd.DataFrame,
    influence: Mapping[tuple[str, str], Influence],
    influence_on_changes: Mapping[tuple[str, str], Influence],
    *,
    scope: ScopeName = "both",
    ci_prob: float = 0.95,
    seed: int = 1,
    unit: str = WORD,
) -> VersionRanking | None:
    """Rank versions by the share of the bias that they remove in the same cells, for new words.

    Parameters
    ----------
    cells, changes : pandas.DataFrame
        `Sweep.cells` and `Sweep.changes`.
    influence, influence_on_changes : mapping
        The contributions of words to each bias by (embedding, list), and to each change by (column of the version,
        list).
    scope, ci_prob, seed
        As in `fit` and `verdict`.
    unit : str
        The noun for the units of the lists, such as "word" or "image".

    Returns
    -------
    VersionRanking or None
        Ranking, or None if there is no cell with a clear bias and results of all versions.

    Notes
    -----
    Biases and changes are drawn from normals with the means and standard deviations of their posteriors. Because all
    embeddings and versions have the same words, draws are correlated, and correlations are computed from the
    contributions of words. The ranking refers to these lists and embeddings.

    In simulations with known shares from .2 to 1 and 3 or 10 lists, 95% intervals contained the share in 92 to 96% of
    cases. For an alternative definition, which uses absolute biases over all cells, 95% intervals contained a true
    share of 100% in only 6 to 77% of cases.
    """
    versions = changes.index.unique("version").to_list()
    usable = changes[changes.change.notna() & (changes.sd > 0) & (changes.verdict != "not converged")]
    n_versions = usable.groupby(level=["embedding", "list"], sort=False).size()
    with_all_versions = cells.loc[n_versions.index[n_versions == len(versions)]]
    lower, upper = interval_of(with_all_versions)
    in_ranking = with_all_versions[(lower * upper > 0) & (with_all_versions.verdict != "not converged")]
    if in_ranking.empty:
        return None
    sides = [facet.name for facet in sampling_scope(scope).facets]
    rng = np.random.default_rng(seed)
    sum_of_biases = np.zeros(DRAWS)
    sums_of_changes = np.zeros((len(versions), DRAWS))
    for name, biases in in_ranking.groupby(level="list", sort=False):
        embeddings = biases.index.get_level_values("embedding")
        changes_of_list = usable.loc[[(embedding, version, name) for version in versions for embedding in embeddings]]
        # The biases in all embeddings, followed by the changes by the first version, the second version, and so on.
        means = np.array([*biases.bias, *changes_of_list.change])
        sds = np.array([*biases.sd, *changes_of_list.sd])
        contributions = [influence.get((embedding, name), {}) for embedding in embeddings]
        contributions += [influence_on_changes.get((column, name), {}) for column in changes_of_list.column]
        draws = _draw_normal(means, sds, contributions, sides, rng).reshape(-1, len(embeddings), DRAWS)
        signed = np.sign(biases.bias.to_numpy())[:, None] * draws  # (1 + versions, embeddings, draws)
        sum_of_biases += signed[0].sum(axis=0)
        sums_of_changes += signed[1:].sum(axis=1)
    share_removed = -sums_of_changes / sum_of_biases
    remainder = np.abs(1 - share_removed)
    ranking = ranked(-remainder, versions, ci_prob)
    best = int(ranking.table["rank"].argmin())
    table = describe_draws(share_removed, ci_prob, versions).join(ranking.table)
    paired = describe_draws(remainder - remainder[best], ci_prob, versions).drop(index=versions[best])
    return VersionRanking(
        table.drop(columns="prob_direction").rename_axis("version"),
        ranking.above,
        paired.drop(columns="prob_direction").rename_axis("version"),
        in_ranking.index,
        len(n_versions),
        unit,
    )


def _draw_normal(
    means: Numbers, sds: Numbers, contributions: Sequence[Influence], sides: Sequence[str], rng: np.random.Generator
) -> Numbers:
    """Return draws (estimate, draw) of estimates that are correlated, because they depend on the same words.

    The loadings of an estimate are the contributions of the words on the sampled `sides`, scaled to length 1. A draw is
    ``mean + sd (loadings @ u)`` with a standard normal u for each word. An estimate without contributions is
    independent of all others. `means` and `sds` have a number for each estimate, and `contributions` maps sides and
    words to contributions.
    """
    sampled: set[tuple[str, str]] = set()
    for influence in contributions:
        for side in sides:
            sampled.update((side, word) for word in influence.get(side, {}))
    words = sorted(sampled)
    loadings = np.zeros((len(contributions), len(words)))
    for row, influence in enumerate(contributions):
        loadings[row] = [influence.get(side, {}).get(word, 0.0) for side, word in words]
        if (length := np.linalg.norm(loadings[row])) > 0:
            loadings[row] /= length
    # The sums `loadings @ u` are computed by einsum, whose result does not depend on the processor's BLAS.
    from_words = np.einsum("nw,wd->nd", loadings, rng.standard_normal((len(words), DRAWS)))
    independent = rng.standard_normal((len(means), DRAWS)) * ~loadings.any(axis=1, keepdims=True)
    return means[:, None] + sds[:, None] * (from_words + independent)
