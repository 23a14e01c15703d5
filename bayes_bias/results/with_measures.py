"""The literature's measures and the posterior in one table."""

from collections.abc import Mapping

import pandas as pd

from bayes_bias.associations.association import Association
from bayes_bias.estimands.contrasts import OVERALL
from bayes_bias.estimands.facets import ScopeName
from bayes_bias.results.summary import interval_of, row_of

_ESTIMANDS = ("bias", "effect_size")
_EFFECT_SIZES = (-2.0, 2.0)


def with_posterior(
    measured: pd.DataFrame, summaries: Mapping[ScopeName, pd.DataFrame], association: Association
) -> pd.DataFrame:
    """A table of measures with the posterior of ``bias`` and ``effect_size`` in its last rows.

    Parameters
    ----------
    measured : pandas.DataFrame
        ``measure_all(...).table``.
    summaries : mapping of scope to pandas.DataFrame
        `bayes_bias.summarize` under each scope that is to be shown.
    association : Association
        What the numbers of the table are: it bounds the bias.

    Returns
    -------
    pandas.DataFrame
        Columns ``value``, ``b0`` (no bias), ``low`` and ``high`` (range), ``p_value``; for posterior rows the mean
        as value, and its credible interval in ``lower`` and ``upper``, where most measures have none.
    """
    rows = {
        f"posterior {estimand.replace('_', ' ')} ({scope})": _row(summary, estimand, association)
        for scope, summary in summaries.items()
        for estimand in _ESTIMANDS
        if (estimand, OVERALL) in summary.index
    }
    posterior = pd.DataFrame.from_dict(rows, orient="index").reindex(columns=measured.columns).astype(float)
    return pd.concat([measured, posterior]).rename_axis("measure")


def _row(summary: pd.DataFrame, estimand: str, association: Association) -> dict[str, float]:
    row = row_of(summary, estimand)
    lower, upper = interval_of(row)
    # Differences of what the table holds, and a standardised difference.
    low, high = association.difference.range if estimand == "bias" else _EFFECT_SIZES
    return {"value": row["mean"], "b0": 0.0, "low": low, "high": high, "lower": lower, "upper": upper}
