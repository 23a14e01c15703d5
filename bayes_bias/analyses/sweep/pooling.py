"""All cells together: embeddings and lists as crossed samples, each cell with information from the others.

The bias of embedding e on list l is modelled as

    theta[e, l] = mu + a[e] + b[l] + c[e, l]

with normal effects of standard deviation ``sd_embedding``, ``sd_list`` and ``sd_interaction``. A cell's posterior says
that ``y[e, l] ~ Normal(theta[e, l], s[e, l])``, where ``s`` is its standard deviation over words that might have been
chosen instead. The words of a list are the same in all embeddings, and so is part of what their choice does: of the
variance of each cell's error the share ``common[l]`` is an error that all embeddings have together on a list. Cells
cannot tell it from a truth that they share, but their words can (`shared_words`).
"""

import hashlib
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Self

import numpy as np
import pandas as pd
import pymc as pm
import pytensor.tensor as pt
import scipy.linalg
import xarray as xr
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from bayes_bias.fitting.compiling import PyMCModel
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.fitting.fit_model import NamedData, fit_model
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.fitting.sampling import Sampling
from bayes_bias.formatting import in_words
from bayes_bias.jobs import one_blas_thread
from bayes_bias.models.priors import free
from bayes_bias.models.scales import rounded
from bayes_bias.models.spec import ModelSpec, Prior
from bayes_bias.posterior.estimate import tails
from bayes_bias.posterior.pooling import FEW_LISTS, TAU_SCALE
from bayes_bias.posterior.ranks import ranked
from bayes_bias.table.columns import interval_names
from bayes_bias.table.metric import Metric

SAMPLING = Sampling(draws=800, tune=700, chains=4, target_accept=0.97)

_SIDES = ("embedding", "list")
_EFFECTS = (*_SIDES, "interaction")
# Of the errors of cells: their standard deviation, whether there is a cell, and the share that a list's have in common.
_KNOWN = ("s", "there", "common")
# Scales are in units of their prior's scale.
SPEC = ModelSpec(
    name="atlas",
    title="Embeddings and lists as crossed samples",
    description="",
    structure="atlas",
    options={},
    priors={f"sd_{effect}": Prior("HalfNormal", {"sigma": 1}) for effect in _EFFECTS},
)
BIAS = Metric("bias", unit="units of the cells")
# What formulas ask of pytensor.tensor, too.
NUMPY = SimpleNamespace(**{**vars(np), "linalg": scipy.linalg})


@dataclass(frozen=True, eq=False)
class Crossed:
    """Embeddings and lists as crossed samples; see the module for the model.

    Attributes
    ----------
    ci_prob : float
        Probability of the equal-tailed intervals.
    scale : float
        Scale of the half-normal priors of the three standard deviations, in the units of the bias.
    effects : pandas.DataFrame
        ``mu``, the mean bias of such lists in such embeddings; ``sd_embedding``, ``sd_list``, ``sd_interaction``; with
        ``mean``, ``sd`` and interval.
    shares : pandas.DataFrame
        The share of each effect in the variance of true biases between cells.
    cells : pandas.DataFrame
        Each true bias by ``(embedding, list)``, with information from all other cells. For a cell without numbers it
        rests on the others alone. Embeddings and lists without any numbers are in none of these frames.
    embeddings, lists : pandas.DataFrame
        The mean bias of each embedding over these lists, and of each list over these embeddings, with
        ``prob_direction``; the mean of its ``rank`` (1: the most stereotypical), and the interval of the rank. For a
        list, ``shared_error`` is the share of error variance that its cells have in common.
    more_biased : mapping of str to pandas.DataFrame
        For "embedding" and "list": the probability that the one in the row is more biased than that in the column.
    fit : xarray.DataTree
        The posterior of the scales, in units of their prior's scale, readable by ArviZ.
    diagnostics : Diagnostics
    notices : tuple of str
        What readers should know before they rely on the result.
    """

    ci_prob: float
    scale: float
    effects: pd.DataFrame
    shares: pd.DataFrame
    cells: pd.DataFrame
    embeddings: pd.DataFrame
    lists: pd.DataFrame
    more_biased: Mapping[str, pd.DataFrame]
    fit: xr.DataTree
    diagnostics: Diagnostics
    notices: tuple[str, ...]


def pool_cells(
    cells: pd.DataFrame,
    shared: "pd.Series[float]",
    *,
    ci_prob: float = 0.95,
    seed: int = 1,
    sampling: Sampling = SAMPLING,
    noun: str = "embedding",
) -> Crossed | None:
    """Estimate the biases of embeddings and lists from all cells of a sweep.

    Parameters
    ----------
    cells : pandas.DataFrame
        `Sweep.cells`, or a frame by ``(embedding, list)`` with ``bias``, ``sd`` and ``within_sd``; a cell whose
        numbers are missing is unknown, and so is one with the verdict "not converged". A cell with a ``version_of`` is
        left out: versions of an embedding are not further draws from embeddings.
    shared : pandas.Series
        For each list, the share of error variance that its cells have in common; see `shared_errors`. If it is missing,
        the mean of the other lists is used; without any, errors count as independent.
    ci_prob, seed, sampling
        As in `fit`.
    noun : str
        The noun for an embedding in notices.

    Returns
    -------
    Crossed or None
        None if there are fewer than two embeddings and fewer than two lists, or no numbers.

    Notes
    -----
    Posteriors enter by mean and standard deviation. Those of short lists have heavier tails than a normal;
    `bayes_bias.pool`, for one embedding, keeps these tails. Errors of any two embeddings are assumed to share equally
    much. Lists that share words count as independent.

    References
    ----------
    Gelman, A. (2005). Analysis of variance: why it is more important than ever. The Annals of Statistics, 33(1), 1-53.
    https://doi.org/10.1214/009053604000001048
    """
    if "version_of" in cells:
        cells = cells[cells.version_of == ""]
    grid = _grid(cells, shared)
    if grid.sizes["embedding"] * grid.sizes["list"] < 2:
        return None
    scale = TAU_SCALE * float(cells.within_sd.median())
    inputs = _inputs(grid, scale)
    effects = tuple(effect for effect in _EFFECTS if _has(grid.sizes, effect))
    notices = _notices(cells, grid, noun)
    hashed = hashlib.sha256(grid.to_dataframe().to_csv(float_format="%.10g").encode()).hexdigest()
    fitted = fit_model(
        NamedData("atlas", BIAS, hashed, notices),
        SPEC,
        PyMCModel(lambda: _model(inputs, effects), {}),
        grid.assign_attrs(scale=scale),
        seed=seed,
        sampling=sampling,
        adjustable=False,
    )
    with one_blas_thread():
        draws = _completed(fitted.posterior, inputs, np.random.default_rng(seed))
    return _result(draws, grid, scale, ci_prob, fitted, notices)


def _grid(cells: pd.DataFrame, shared: "pd.Series[float]") -> xr.Dataset:
    """Embeddings x lists in the order in which they come, with what is known of each cell; none without any number."""
    usable = cells.bias.notna() & (cells.sd > 0)
    if "verdict" in cells:
        usable &= cells.verdict != "not converged"
    frame = pd.DataFrame({"bias": cells.bias.where(usable, 0.0), "sd": cells.sd.where(usable, 1.0), "there": usable})
    order = {dim: list(dict.fromkeys(cells.index.get_level_values(dim))) for dim in _SIDES}
    grid = xr.Dataset.from_dataframe(frame).reindex(order)
    of_lists = shared.reindex(order["list"]).fillna(shared.mean()).fillna(0.0)
    grid["common"] = "list", of_lists.to_numpy(dtype=float)
    heard = {dim: grid.there.any([other for other in _SIDES if other != dim]) for dim in _SIDES}
    return grid.isel({dim: np.flatnonzero(there) for dim, there in heard.items()})


def _inputs(grid: xr.Dataset, scale: float) -> dict[str, NDArray[np.float64]]:
    """In units of the prior's scale."""
    y, sd, there = (grid[name].transpose(*_SIDES).to_numpy().astype(float) for name in ("bias", "sd", "there"))
    s = rounded(np.where(there > 0, sd / scale, 1.0))
    return {"y": rounded(y / scale), "s": s, "there": there, "common": rounded(grid.common)}


def _has(sizes: Mapping[Hashable, int], effect: str) -> bool:
    """Whether an effect can be told from the others: with one list, what embeddings differ by is not an interaction."""
    return all(sizes[side] > 1 for side in (_SIDES if effect == "interaction" else (effect,)))


def _model(inputs: Mapping[str, NDArray[np.float64]], effects: Sequence[str]) -> pm.Model:
    """The scales, and the biases of cells given them: jointly normal about a mean with a flat prior, since all effects
    are normal and integrated out. Drawn anew they are about a mean of zero."""

    def given(y: Any, numbers: Sequence[Any], numerics: Any) -> _Given:
        values = dict(zip((*effects, *_KNOWN), numbers, strict=True))
        return _Given.of(values, values | {"y": y}, numerics)

    def random(*numbers: Any, rng: np.random.Generator, size: tuple[int, ...] | None = None) -> NDArray[np.float64]:
        return given(0.0, numbers, NUMPY).replicated(rng, size or ())

    with pm.Model() as model:
        observed = pm.Data("y", inputs["y"])
        pm.CustomDist(
            "bias",
            *(free(SPEC, f"sd_{effect}") for effect in effects),
            *(pm.Data(name, inputs[name]) for name in _KNOWN),
            logp=lambda y, *numbers: given(y, numbers, pt).log_likelihood(pt),
            random=random,
            signature=",".join([*["()"] * len(effects), "(e,l)", "(e,l)", "(l)"]) + "->(e,l)",
            observed=observed,
        )
    return model


@dataclass(frozen=True, eq=False)
class _Given:
    """All that follows from the scales, written once for numpy and for pytensor.tensor (`numerics`).

    What the cells of a list have in common are two standard normal numbers, for its effect and for its common error,
    which move cells by ``loading`` (embedding, list, each). Integrated out they leave the cells of a list a precision
    matrix ``p - p loading inverse(within) loading' p``, with ``p`` the precisions of cells by themselves. The means of
    embeddings, ``mu + a``, then have a normal likelihood, and so have `unknowns`.
    """

    y: Any
    there: Any
    variance: Any
    precision: Any
    loading: tuple[Any, Any]
    within: tuple[Any, Any, Any]
    sd_embedding: Any
    interaction: Any  # its variance

    @classmethod
    def of(cls, sds: Mapping[str, Any], values: Mapping[str, Any], numerics: Any) -> Self:
        s, there, common = values["s"], values["there"], values["common"]
        variance = (1 - common) * s**2 + sds.get("interaction", 0.0) ** 2
        precision = there / variance
        one, other = sds.get("list", 0.0) * numerics.ones_like(s), numerics.sqrt(common) * s
        within = (
            1 + (one**2 * precision).sum(axis=0),
            (one * other * precision).sum(axis=0),
            1 + (other**2 * precision).sum(axis=0),
        )
        return cls(
            values["y"],
            there,
            variance,
            precision,
            (one, other),
            within,
            sds.get("embedding", 0.0),
            sds.get("interaction", 0.0) ** 2,
        )

    @property
    def determinant(self) -> Any:
        a, b, d = self.within
        return a * d - b**2

    def solved(self, u: Any, v: Any) -> tuple[Any, Any]:
        """The two numbers of each list for which ``within`` times them is (u, v)."""
        a, b, d = self.within
        return (d * u - b * v) / self.determinant, (a * v - b * u) / self.determinant

    def heard(self, deviation: Any) -> tuple[Any, Any]:
        """What deviations (embedding, list) say of the two numbers of each list."""
        one, other = (load * self.precision for load in self.loading)
        return (one * deviation).sum(axis=0), (other * deviation).sum(axis=0)

    def embedding_scores(self, numerics: Any) -> tuple[Any, Any]:
        """Precision of the means of embeddings, and what cells tell of them: that times its peak."""
        one, other = (load * self.precision for load in self.loading)
        first, second = self.solved(one, other)
        precision = numerics.diag(self.precision.sum(axis=1)) - one @ first.T - other @ second.T
        first, second = self.solved(*self.heard(self.y))
        return precision, (self.precision * self.y).sum(axis=1) - one @ first - other @ second

    def unknowns(self, numerics: Any) -> "_Unknowns":
        """What the data say of the mean and of the effects of embeddings."""
        sd, (precision, score) = self.sd_embedding, self.embedding_scores(numerics)
        everyone = precision.sum(axis=1)
        root = numerics.linalg.cholesky(numerics.eye(self.y.shape[0]) + sd**2 * precision, lower=True)
        of_everyone, of_score = (
            numerics.linalg.solve_triangular(root, sd * each, lower=True) for each in (everyone, score)
        )
        return _Unknowns(
            root,
            of_everyone,
            of_score,
            everyone.sum() - (of_everyone**2).sum(),
            score.sum() - (of_everyone * of_score).sum(),
        )

    def log_likelihood(self, numerics: Any) -> Any:
        """Of all cells given the scales, but for a constant; the mean has a flat prior."""
        u, v = self.heard(self.y)
        first, second = self.solved(u, v)
        own = self.there * numerics.log(self.variance) + self.precision * self.y**2
        of_lists = numerics.log(self.determinant).sum() - (u * first + v * second).sum()
        return -0.5 * (own.sum() + of_lists + self.unknowns(numerics).deviance(numerics))

    def drawn(self, rng: np.random.Generator) -> tuple[float, NDArray[np.float64]]:
        """A draw of the mean, and of the true biases (embedding, list), given the scales."""
        mu, effects = self.unknowns(NUMPY).drawn(rng)
        theta = mu + self.sd_embedding * effects[:, None] + np.zeros_like(self.y)
        first, second = self._draw_lists(self.y - theta, rng)
        theta += self.loading[0] * first
        if self.interaction > 0:
            weight = self.interaction * self.precision
            spread = np.sqrt(self.interaction * (1 - weight))
            heard = self.y - self.loading[1] * second
            theta += weight * (heard - theta) + spread * rng.standard_normal(theta.shape)
        return mu, theta

    def replicated(self, rng: np.random.Generator, size: tuple[int, ...]) -> NDArray[np.float64]:
        """Cells drawn anew given the scales, (*size, embedding, list), about a mean of zero."""
        embeddings, lists = self.variance.shape
        embedding_scores = self.sd_embedding * rng.standard_normal((*size, embeddings, 1))
        of_lists = (loading * rng.standard_normal((*size, 1, lists)) for loading in self.loading)
        own = np.sqrt(self.variance) * rng.standard_normal((*size, embeddings, lists))
        return np.asarray(embedding_scores + sum(of_lists) + own)

    def _draw_lists(
        self, deviation: NDArray[np.float64], rng: np.random.Generator
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The two numbers of each list, given how its cells deviate from the means of embeddings."""
        _, b, d = self.within
        first, second = self.solved(*self.heard(deviation))
        noise = np.sqrt(d / self.determinant) * rng.standard_normal(d.shape)
        return first + noise, second - b / d * noise + rng.standard_normal(d.shape) / np.sqrt(d)


@dataclass(frozen=True, eq=False)
class _Unknowns:
    """The normal likelihood of the mean and of the standardised effects of embeddings, which are normal themselves.

    Attributes
    ----------
    root : array
        Cholesky root of the precision of the effects, given the mean.
    of_everyone, of_score : array
        The root's inverse times what effects have to do with the mean, and times what cells tell of them.
    precision, score
        Of the mean, effects integrated out, and that times its peak.
    """

    root: Any
    of_everyone: Any
    of_score: Any
    precision: Any
    score: Any

    def deviance(self, numerics: Any) -> Any:
        """What integrating them out leaves of the likelihood of the scales."""
        determinant = 2 * numerics.log(numerics.diag(self.root)).sum() + numerics.log(self.precision)
        return determinant - (self.of_score**2).sum() - self.score**2 / self.precision

    def drawn(self, rng: np.random.Generator) -> tuple[float, NDArray[np.float64]]:
        """A draw of the mean and of the effects."""
        mu = float(self.score / self.precision + rng.standard_normal() / np.sqrt(self.precision))
        noise = rng.standard_normal(len(self.of_score))
        peak = self.of_score - mu * self.of_everyone
        return mu, solve_triangular(self.root, peak + noise, lower=True, trans="T")


@dataclass(frozen=True, eq=False)
class _Draws:
    """Draws last, in units of the prior's scale."""

    mu: NDArray[np.float64]
    sds: dict[str, NDArray[np.float64]]
    theta: NDArray[np.float64]


def _completed(posterior: xr.Dataset, inputs: Mapping[str, NDArray[np.float64]], rng: np.random.Generator) -> _Draws:
    """True biases, (embedding, list, draw), from their normal distribution given the scales."""
    scales = {str(name): each.to_numpy().ravel() for name, each in posterior.items()}
    sds = {e: scales[f"sd_{e}"] for e in _EFFECTS if f"sd_{e}" in scales}
    mus, thetas = [], []
    for k in range(posterior.sizes["chain"] * posterior.sizes["draw"]):
        of_draw = {e: sd[k] for e, sd in sds.items()}
        mu, theta = _Given.of(of_draw, inputs, np).drawn(rng)
        mus.append(mu)
        thetas.append(theta)
    return _Draws(np.array(mus), sds, np.stack(thetas, axis=-1))


def _result(
    draws: _Draws, grid: xr.Dataset, scale: float, ci_prob: float, fitted: Fitted, notices: tuple[str, ...]
) -> Crossed:
    diagnostics = Diagnostics.of(fitted)
    unconverged = (f"the pooled model has not converged: {problem}" for problem in diagnostics.shortfalls)
    names = {side: grid[side].to_numpy().tolist() for side in _SIDES}
    numbers = {"mu": scale * draws.mu, **{f"sd_{e}": scale * sd for e, sd in draws.sds.items()}}
    variance = sum(sd**2 for sd in draws.sds.values())
    shares = {e: sd**2 / variance for e, sd in draws.sds.items()}
    theta = scale * draws.theta
    of_sides = {"embedding": theta.mean(axis=1), "list": theta.mean(axis=0)}
    rankings = {side: ranked(of_sides[side], names[side], ci_prob) for side in _SIDES}
    index = pd.MultiIndex.from_product(names.values(), names=_SIDES)
    return Crossed(
        ci_prob=ci_prob,
        scale=scale,
        effects=described(numbers, ci_prob),
        shares=described(shares, ci_prob),
        cells=described(theta.reshape(-1, theta.shape[-1]), ci_prob, index),
        embeddings=_with_ranks(of_sides["embedding"], rankings["embedding"].table, names["embedding"], ci_prob),
        lists=_with_ranks(of_sides["list"], rankings["list"].table, names["list"], ci_prob).assign(
            shared_error=grid.common.to_numpy()
        ),
        more_biased={side: each.above for side, each in rankings.items()},
        fit=fitted.tree,
        diagnostics=diagnostics,
        notices=(*unconverged, *notices),
    )


def described(
    draws: Mapping[str, NDArray[np.float64]] | NDArray[np.float64], ci_prob: float, index: Any = None
) -> pd.DataFrame:
    """Mean, standard deviation, interval and probability of direction of each row of draws."""
    if isinstance(draws, Mapping):
        index, draws = list(draws), np.array(list(draws.values()))
    interval = zip(interval_names(ci_prob), np.quantile(draws, tails(ci_prob), axis=-1), strict=True)
    positive = (draws > 0).mean(axis=-1)
    columns = {"mean": draws.mean(axis=-1), "sd": draws.std(axis=-1), **dict(interval)}
    columns |= {"prob_direction": np.maximum(positive, 1 - positive)}
    # BLAS takes part in the density, and with it the processor in later digits.
    return pd.DataFrame({name: rounded(each, 8) for name, each in columns.items()}, index=index)


def _with_ranks(draws: NDArray[np.float64], ranks: pd.DataFrame, names: Sequence[str], ci_prob: float) -> pd.DataFrame:
    return described(draws, ci_prob, names).join(ranks)


def _notices(cells: pd.DataFrame, grid: xr.Dataset, noun: str) -> tuple[str, ...]:
    notices = []
    for side, column_noun in zip(_SIDES, (noun, "list"), strict=True):
        if silent := [name for name in cells.index.unique(side) if name not in grid.indexes[side]]:
            notices.append(f"not among these {column_noun}s, since none of its numbers is there: {'; '.join(silent)}")
        if 1 < grid.sizes[side] < FEW_LISTS:
            notices.append(
                f"with only {in_words(grid.sizes[side])} {column_noun}s, their spread comes mainly from the prior; use"
                f" {in_words(FEW_LISTS)} or more"
            )
    if missing := int((~grid.there).sum()):
        notices.append(f"{missing:,} of {grid.there.size:,} cells have no numbers; the others stand in for them")
    return tuple(notices)


# Rankings with their uncertainty.
