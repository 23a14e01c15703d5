r"""All cells together: embeddings and lists as crossed samples, each cell in the light of the others.

The bias of embedding e on list l is taken for

    theta[e, l] = mu + a[e] + b[l] + c[e, l]

with normal effects of standard deviation ``sd_embedding``, ``sd_list`` and ``sd_interaction``. A cell's posterior says
that ``y[e, l] ~ Normal(theta[e, l], s[e, l])``, where ``s`` is its standard deviation over words that might have been
chosen instead. The words of a list are the same in all embeddings, and so is part of what their choice does: of the
variance of each cell's error the share ``common`` is an error that all embeddings have together on a list.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pymc as pm
import pytensor.tensor as pt
import xarray as xr
from numpy.typing import NDArray

from bayes_bias.formatting import in_words
from bayes_bias.inference.diagnostics import Diagnostics, diagnose
from bayes_bias.inference.sampling import Sampling, sample_compiled
from bayes_bias.models.compiling import compiled_once
from bayes_bias.models.units import rounded
from bayes_bias.progress import Quiet
from bayes_bias.results.pooled import tails
from bayes_bias.results.pooling import FEW_LISTS, TAU_SCALE
from bayes_bias.sweeps.ranks import ranked

SAMPLING = Sampling(draws=1000, tune=1000, chains=4, target_accept=0.95)

_SIDES = ("embedding", "list")
_EFFECTS = (*_SIDES, "interaction")


@dataclass(frozen=True, eq=False)
class Crossed:
    """Embeddings and lists as crossed samples; see the module for the model.

    Attributes
    ----------
    ci_prob : float
        Probability of the equal-tailed intervals.
    scale : float
        Of the half-normal priors of the three standard deviations, in the units of the bias.
    effects : pandas.DataFrame
        ``mu``, the mean bias of such lists in such embeddings; ``sd_embedding``, ``sd_list``, ``sd_interaction``;
        ``common``; with ``mean``, ``sd``, ``lower``, ``upper``.
    shares : pandas.DataFrame
        Of the variance of true biases between cells, the share of each effect.
    cells : pandas.DataFrame
        ``(embedding, list)``: each true bias in the light of all others; of a cell without numbers what the others say.
    embeddings, lists : pandas.DataFrame
        The mean bias of each embedding over these lists, and of each list over these embeddings, with
        ``prob_direction``; the mean of its ``rank`` (1: the most stereotypical), and the interval of the rank.
    more_biased : mapping of str to pandas.DataFrame
        For "embedding" and "list": the probability that the one in the row is more biased than that in the column.
    diagnostics : Diagnostics
    notices : tuple of str
        What a reader must know before relying on it.
    """

    ci_prob: float
    scale: float
    effects: pd.DataFrame
    shares: pd.DataFrame
    cells: pd.DataFrame
    embeddings: pd.DataFrame
    lists: pd.DataFrame
    more_biased: Mapping[str, pd.DataFrame]
    diagnostics: Diagnostics
    notices: tuple[str, ...]


def pool_cells(
    cells: pd.DataFrame, *, ci_prob: float = 0.95, seed: int = 1, sampling: Sampling = SAMPLING
) -> Crossed | None:
    """What the cells of a sweep say together.

    Parameters
    ----------
    cells : pandas.DataFrame
        `Sweep.cells`, or a frame by ``(embedding, list)`` with ``bias``, ``sd`` and ``within_sd``; a cell whose
        numbers are missing is one of which nothing is known, and so is one with the verdict "not converged".
    ci_prob, seed, sampling
        As in `fit`.

    Returns
    -------
    Crossed or None
        None where there are fewer than two embeddings and fewer than two lists, or no numbers.

    Notes
    -----
    Posteriors enter by mean and standard deviation. Those of short lists have heavier tails than a normal, which
    pooling by `bayes_bias.pool`, of one embedding, keeps.

    References
    ----------
    Gelman, A. (2005). Analysis of variance: why it is more important than ever. The Annals of Statistics, 33(1), 1-53.
    https://doi.org/10.1214/009053604000001048
    """
    grid = _grid(cells)
    if grid.sizes["embedding"] * grid.sizes["list"] < 2 or not grid.there.any():
        return None
    scale = TAU_SCALE * float(cells.within_sd.median())
    inputs = _inputs(grid, scale)
    shape = tuple((dim, grid.sizes[dim]) for dim in _SIDES)
    model = compiled_once(("atlas", shape), lambda: _model(inputs, dict(shape)), inputs)
    coords = {dim: grid[dim].to_numpy().tolist() for dim in _SIDES}
    posterior, stats = sample_compiled(model, inputs, coords, seed, sampling, Quiet())
    diagnostics = diagnose(posterior, stats)
    drawn = _completed(posterior, inputs, np.random.default_rng(seed))
    return _told(drawn, grid, scale, ci_prob, diagnostics)


def _grid(cells: pd.DataFrame) -> xr.Dataset:
    """Embeddings x lists in the order in which they come, with what is known of each cell."""
    usable = cells.bias.notna() & (cells.sd > 0)
    if "verdict" in cells:
        usable &= cells.verdict != "not converged"
    frame = pd.DataFrame(
        {"bias": cells.bias.where(usable, 0.0), "sd": cells.sd.where(usable, 1.0), "there": usable}
    )
    order = {dim: list(dict.fromkeys(cells.index.get_level_values(dim))) for dim in _SIDES}
    return xr.Dataset.from_dataframe(frame).reindex(order)


def _inputs(grid: xr.Dataset, scale: float) -> dict[str, NDArray[np.float64]]:
    """In units of the prior's scale."""
    y, sd, there = (
        grid[name].transpose(*_SIDES).to_numpy().astype(float) for name in ("bias", "sd", "there")
    )
    return {"y": rounded(y / scale), "s": rounded(np.where(there > 0, sd / scale, 1.0)), "there": there}


def _has(sizes: Mapping[str, int], effect: str) -> bool:
    """Whether an effect can be told from the others: with one list, what embeddings differ by is not an interaction."""
    return all(sizes[side] > 1 for side in (_SIDES if effect == "interaction" else (effect,)))


def _model(inputs: Mapping[str, NDArray[np.float64]], sizes: Mapping[str, int]) -> pm.Model:
    """Effects of embeddings and lists, and the common errors of lists; interactions are integrated out."""
    coords = {side: range(sizes[side]) for side in _SIDES}
    with pm.Model(coords=coords) as model:
        known = {name: pm.Data(name, values, dims=_SIDES) for name, values in inputs.items()}
        mean = pm.Flat("mu")
        # The absolute value of a normal is half-normal, and has no endless tail at zero as a logarithm has.
        sds = {
            e: pm.Deterministic(f"sd_{e}", abs(pm.Normal(f"sd_{e}_z"))) for e in _EFFECTS if _has(sizes, e)
        }
        for side, axis in zip(_SIDES, ((slice(None), None), (None, slice(None))), strict=True):
            if side in sds:
                effect = pm.Deterministic(
                    side + "_effect", sds[side] * pm.Normal(f"{side}_z", dims=side), dims=side
                )
                mean = mean + effect[axis]
        own = known["s"] ** 2
        if "interaction" in sds:
            common = pm.Uniform("common", 0, 1)
            error = pm.Deterministic(
                "error", pt.sqrt(common) * pm.Normal("error_z", dims="list"), dims="list"
            )
            mean = mean + known["s"] * error
            own = (1 - common) * own + sds["interaction"] ** 2
        deviation = known["y"] - mean
        pm.Potential("cells", -0.5 * (known["there"] * (pt.log(own) + deviation**2 / own)).sum())
    return model


@dataclass(frozen=True, eq=False)
class _Drawn:
    """Draws last, in units of the prior's scale."""

    mu: NDArray[np.float64]
    sds: dict[str, NDArray[np.float64]]
    common: NDArray[np.float64] | None
    theta: NDArray[np.float64]


def _completed(
    posterior: xr.Dataset, inputs: Mapping[str, NDArray[np.float64]], rng: np.random.Generator
) -> _Drawn:
    """True biases, (embedding, list, draw), from their normal distribution given the rest."""

    def of(name: str) -> NDArray[np.float64]:
        values = posterior[name].transpose(..., "chain", "draw").to_numpy()
        return values.reshape(*values.shape[:-2], -1)

    mu = of("mu")
    sds = {e: of(f"sd_{e}") for e in _EFFECTS if f"sd_{e}" in posterior}
    y, s, there = (each[..., None] for each in inputs.values())
    theta = np.broadcast_to(mu, (*y.shape[:2], len(mu)))
    if "embedding" in sds:
        theta = theta + of("embedding_effect")[:, None]
    if "list" in sds:
        theta = theta + of("list_effect")[None]
    if "interaction" not in sds:
        return _Drawn(mu, sds, None, theta)
    common = of("common")
    heard = y - s * of("error")[None]
    between, within = sds["interaction"] ** 2, (1 - common) * s**2
    weight = there * between / (between + within)
    spread = np.sqrt(between * (1 - weight))
    theta = theta + weight * (heard - theta) + spread * rng.standard_normal(theta.shape)
    return _Drawn(mu, sds, common, theta)


def _told(drawn: _Drawn, grid: xr.Dataset, scale: float, ci_prob: float, diagnostics: Diagnostics) -> Crossed:
    names = {side: grid[side].to_numpy().tolist() for side in _SIDES}
    numbers = {"mu": scale * drawn.mu, **{f"sd_{e}": scale * sd for e, sd in drawn.sds.items()}}
    if drawn.common is not None:
        numbers["common"] = drawn.common
    variance = sum(sd**2 for sd in drawn.sds.values())
    shares = {e: sd**2 / variance for e, sd in drawn.sds.items()}
    theta = scale * drawn.theta
    of_sides = {"embedding": theta.mean(axis=1), "list": theta.mean(axis=0)}
    rankings = {side: ranked(of_sides[side], names[side], ci_prob) for side in _SIDES}
    index = pd.MultiIndex.from_product(names.values(), names=_SIDES)
    return Crossed(
        ci_prob=ci_prob,
        scale=scale,
        effects=described(numbers, ci_prob),
        shares=described(shares, ci_prob),
        cells=described(theta.reshape(-1, theta.shape[-1]), ci_prob, index),
        embeddings=_with_ranks(
            of_sides["embedding"], rankings["embedding"].table, names["embedding"], ci_prob
        ),
        lists=_with_ranks(of_sides["list"], rankings["list"].table, names["list"], ci_prob),
        more_biased={side: each.above for side, each in rankings.items()},
        diagnostics=diagnostics,
        notices=_notices(grid, diagnostics),
    )


def described(
    draws: Mapping[str, NDArray[np.float64]] | NDArray[np.float64],
    ci_prob: float,
    index: Any = None,
) -> pd.DataFrame:
    """Mean, standard deviation, interval and probability of direction of each row of draws."""
    if isinstance(draws, Mapping):
        index, draws = list(draws), np.array(list(draws.values()))
    lower, upper = np.quantile(draws, tails(ci_prob), axis=-1)
    positive = (draws > 0).mean(axis=-1)
    columns = {"mean": draws.mean(axis=-1), "sd": draws.std(axis=-1), "lower": lower, "upper": upper}
    return pd.DataFrame(columns | {"prob_direction": np.maximum(positive, 1 - positive)}, index=index)


def _with_ranks(
    draws: NDArray[np.float64], ranks: pd.DataFrame, names: Sequence[str], ci_prob: float
) -> pd.DataFrame:
    return described(draws, ci_prob, names).join(ranks)


def _notices(grid: xr.Dataset, diagnostics: Diagnostics) -> tuple[str, ...]:
    found = [f"the pooled model has not converged: {each}" for each in diagnostics.problems]
    for side in _SIDES:
        if 1 < grid.sizes[side] < FEW_LISTS:
            found.append(
                f"{in_words(grid.sizes[side])} {side}s say little of how much they differ: the prior decides;"
                f" {in_words(FEW_LISTS)} or more would tell"
            )
    if missing := int((~grid.there).sum()):
        found.append(
            f"{missing:,} of {grid.there.size:,} cells have no numbers; the others stand in for them"
        )
    return tuple(found)
