"""How well a model fits its own table, and, if asked for, compared with the published model of the same table."""

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from bayes_bias.checks.predictive import compare_models, predictive_coverage
from bayes_bias.errors import TableError
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.fitting.fit import fit_table
from bayes_bias.fitting.fitted import Fit, Fitted
from bayes_bias.fitting.sampling import Sampling
from bayes_bias.table.association_table import AssociationTable

PUBLISHED = "hierarchical"
PROBS = (0.5, 0.89)
NOT_ASKED = "not requested (against_published=True (--against-published))"

# Leaving each value out takes half a second for a thousand of them, and eight megabytes for each array of draws.
MOST_PAIRS = 20_000


@dataclass(frozen=True, eq=False)
class DataFit:
    """Fit to the raw values, of which there are `pairs`.

    `coverage` is the share of raw values inside posterior predictive intervals, see `predictive_coverage`: a row for
    the model at hand and, if possible, one for the published model ("hierarchical"), with a column for each
    probability. `elpd_difference`, with its standard error, is the difference to the published model in the expected
    log predictive density of a left-out value, summed over values. For `bad_k` values the Pareto k of either model is
    too high to trust the difference, see `compare_models`. Without comparison they are missing, and `no_comparison`
    says why.
    """

    coverage: pd.DataFrame
    pairs: int
    elpd_difference: float = float("nan")
    elpd_se: float = float("nan")
    bad_k: float = float("nan")
    no_comparison: str = ""


def data_fit(
    fit: Fit,
    table: AssociationTable,
    *,
    against_published: bool = False,
    seed: int = 1,
    sampling: Sampling = Sampling(),
) -> DataFit:
    """Predictive coverage of a converged fit of this table and, on request, PSIS-LOO against the published model.

    The published model is fitted here, which takes longer than everything else that a report does. A table with too
    many values to visit one by one raises TableError.
    """
    pairs = table.values.size
    if pairs > MOST_PAIRS:
        raise TableError(
            f"{pairs:,} values are too many for leave-one-out prediction in a report (the limit is"
            f" {MOST_PAIRS:,}). Use `bayes_bias.checks.predictive.predictive_coverage(fit)`"
        )
    fitted = Fitted.of(fit)
    name = fitted.spec.name
    published, reason = _published_or_why_not(table, seed, sampling) if against_published else (None, NOT_ASKED)
    if published is None:
        return DataFit(_coverage({name: fitted}), pairs, no_comparison=reason)
    fits = {name: fitted, PUBLISHED: published}
    compared = compare_models(fits)
    return DataFit(
        coverage=_coverage(fits),
        pairs=pairs,
        elpd_difference=float(compared.elpd[name] - compared.elpd[PUBLISHED]),
        elpd_se=float(compared.dse.max()),
        bad_k=float(compared.bad_k.max()),
    )


def _coverage(fits: Mapping[str, Fitted]) -> pd.DataFrame:
    """Return the predictive coverage of each model."""
    return pd.DataFrame({name: predictive_coverage(fit, PROBS) for name, fit in fits.items()}).T


def _published_or_why_not(table: AssociationTable, seed: int, sampling: Sampling) -> tuple[Fitted | None, str]:
    """Return a fit of the published model, or why there is none."""
    try:
        published = fit_table(table, PUBLISHED, seed=seed, sampling=sampling)
    except TableError as error:
        return None, str(error)
    return (published, "") if Diagnostics.of(published).converged else (None, "its fit has not converged")
