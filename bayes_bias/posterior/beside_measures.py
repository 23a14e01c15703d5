"""Published measures and the posterior in one table."""

from collections.abc import Mapping

import pandas as pd

from bayes_bias.posterior.summary import row_of
from bayes_bias.table.bias_weights import OVERALL
from bayes_bias.table.column_names import interval_columns, interval_of
from bayes_bias.table.metric import Metric
from bayes_bias.table.scopes import ScopeName

_ESTIMANDS = ("bias", "effect_size")
_EFFECT_SIZES = (-2.0, 2.0)


def with_posterior(measured: pd.DataFrame, summaries: Mapping[ScopeName, pd.DataFrame], metric: Metric) -> pd.DataFrame:
    """A table of measures with the posterior of ``bias`` and ``effect_size`` in its last rows.

    `measured` is ``measure_all(...).table``, and `summaries` holds `summarize` under each scope to be shown. Posterior
    rows have the mean as value and the credible interval in ``ci95_lb`` and ``ci95_ub``.
    """
    columns = interval_columns(measured)
    rows = {
        f"posterior {estimand.replace('_', ' ')} ({scope})": {
            **_row(summary, estimand, metric),
            **dict(zip(columns, interval_of(row_of(summary, estimand)), strict=True)),
        }
        for scope, summary in summaries.items()
        for estimand in _ESTIMANDS
        if (estimand, OVERALL) in summary.index
    }
    posterior = pd.DataFrame.from_dict(rows, orient="index").reindex(columns=measured.columns).astype(float)
    return pd.concat([measured, posterior]).rename_axis("measure")


def _row(summary: pd.DataFrame, estimand: str, metric: Metric) -> dict[str, float]:
    # Differences of what the table holds, and a standardised difference.
    low, high = metric.difference.range if estimand == "bias" else _EFFECT_SIZES
    return {"value": row_of(summary, estimand)["mean"], "b0": 0.0, "low": low, "high": high}
