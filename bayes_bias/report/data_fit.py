"""How well a model fits its own cosines, with the published model of the same cosines beside it."""

from dataclasses import dataclass
from typing import Any

import pandas as pd
import xarray as xr

from bayes_bias.checks import compare_models, predictive_coverage
from bayes_bias.cosines import Cosines
from bayes_bias.diagnostics import Diagnostics
from bayes_bias.errors import CosinesError
from bayes_bias.fit import fit

PUBLISHED = "hierarchical"
PROBS = (0.5, 0.89)

# Leaving each cosine out takes half a second for a thousand of them, and eight megabytes for each array of draws.
MOST_PAIRS = 20_000


@dataclass(frozen=True, eq=False)
class DataFit:
    """Fit to the raw cosines.

    Attributes
    ----------
    coverage : pandas.DataFrame
        Share of raw cosines inside posterior predictive intervals: a row for the model at hand and, where it can be
        had, one for the published model ("hierarchical"); a column for each probability, .5 and .89. See
        `predictive_coverage`.
    pairs : int
        How many cosines there are.
    elpd_difference, elpd_se : float
        By how much the expected log predictive density of a left-out cosine, summed over cosines, exceeds that of
        the published model, with its standard error; missing without comparison. See `compare_models`.
    bad_k : float
        For how many cosines the Pareto k of either model is too high to trust the difference there; missing likewise.
    no_comparison : str
        Why there is no comparison; "" where there is.
    """

    coverage: pd.DataFrame
    pairs: int
    elpd_difference: float = float("nan")
    elpd_se: float = float("nan")
    bad_k: float = float("nan")
    no_comparison: str = ""


def data_fit(posterior: xr.DataTree, cosines: Cosines, **settings: Any) -> DataFit:
    """Predictive coverage of a fit, and PSIS-LOO against the published model, fitted here.

    Parameters
    ----------
    posterior : xarray.DataTree
        A converged fit of these cosines.
    cosines : Cosines
    **settings
        Passed on to `fit` for the published model.

    Raises
    ------
    CosinesError
        There are too many cosines to visit one by one.
    """
    pairs = cosines.similarity.size
    if pairs > MOST_PAIRS:
        raise CosinesError(
            f"{pairs:,} cosines are too many for a report to leave out one by one (the most are {MOST_PAIRS:,});"
            " `bayes-bias check` takes the time"
        )
    name = posterior.attrs["model"]
    published, reason = _published_or_why_not(cosines, settings)
    if published is None:
        return DataFit(_coverage({name: posterior}), pairs, no_comparison=reason)
    fits = {name: posterior, PUBLISHED: published}
    compared = compare_models(fits)
    return DataFit(
        coverage=_coverage(fits),
        pairs=pairs,
        elpd_difference=float(compared.elpd[name] - compared.elpd[PUBLISHED]),
        elpd_se=float(compared.dse.max()),
        bad_k=float(compared.bad_k.max()),
    )


def _coverage(fits: dict[str, xr.DataTree]) -> pd.DataFrame:
    return pd.DataFrame({name: predictive_coverage(each, PROBS) for name, each in fits.items()}).T


def _published_or_why_not(cosines: Cosines, settings: dict[str, Any]) -> tuple[xr.DataTree | None, str]:
    try:
        published = fit(cosines, PUBLISHED, **settings)
    except CosinesError as error:
        return None, str(error)
    return (published, "") if Diagnostics.of(published).converged else (None, "its fit has not converged")
