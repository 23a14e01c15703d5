"""Is it the bias, or how frequent words are? Findings, and what the verdict calls them, with and without adjustment."""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from bayes_bias.known_bias.asking_measures import EQUAL_FREQUENCY, POSTERIOR
from bayes_bias.known_bias.bias_schemes import FREQUENCY
from bayes_bias.known_bias.clustered_intervals import for_each, mean_over_truths
from bayes_bias.known_bias.known_bias_results import MODEL, KnownBias
from bayes_bias.known_bias.question_calibration import LEVEL


def findings(known: KnownBias) -> pd.DataFrame:
    """Share of lists of two groups with a finding at the 5% level, for each cell of the scheme.

    Beside it for the posteriors: ``bias``, its mean; ``width`` of the 95% interval; ``covered``, the share of intervals
    that hold the mean raw bias of the same shares among equally frequent words (frequency 1), where the scheme has
    them. Of those at equal frequency also ``called_frequency``, the share in which the verdict says that frequency
    accounts for the bias, and ``called_bias``, that in which it says that it does not.
    """
    rows = known.models[known.models.list.str.startswith("two groups") & known.models.p_value.notna()]
    cells = known.scenario.scheme.cells
    rows = rows.assign(cell=[_named(cells[truth]) for truth in rows.truth], finding=rows.p_value < LEVEL)
    same = [*MODEL, *(name for name in cells[0] if name != FREQUENCY)]
    even = rows[(rows.measure == POSTERIOR) & (rows[FREQUENCY] == 1)].groupby(same).value.mean()
    return for_each(rows.join(even.rename("implied"), on=same), [*MODEL, "cell", "measure"], _about)


def _about(rows: pd.DataFrame) -> Iterator[dict[str, float]]:
    row = dict(mean_over_truths(rows.finding.astype(float), rows.truth))
    if rows.measure.iloc[0] in (POSTERIOR, EQUAL_FREQUENCY):
        known = rows.implied.notna()
        covered = (rows.ci95_lb <= rows.implied) & (rows.implied <= rows.ci95_ub)
        row |= {
            "bias": rows.value.mean(),
            "width": (rows.ci95_ub - rows.ci95_lb).mean(),
            "covered": covered[known].mean() if known.any() else np.nan,
        }
    if rows.measure.iloc[0] == EQUAL_FREQUENCY:
        row |= {
            "called_frequency": (rows.answer == "covariates").mean(),
            "called_bias": (rows.answer == "not covariates").mean(),
        }
    yield row


def _named(cell: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in cell.items())
