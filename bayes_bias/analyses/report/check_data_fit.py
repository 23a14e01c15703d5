"""Check of the fit to the raw values and, optionally, comparison with the published model."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.stats import norm

from bayes_bias.analyses.report.check import Check, Checker, Study
from bayes_bias.checks.predictive import NOT_ASKED, PROBS, PUBLISHED, DataFit, data_fit
from bayes_bias.documents.methods import Cite, Sentence
from bayes_bias.errors import TableError
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.formatting import as_count, level, share, signed
from bayes_bias.models.spec import load_spec
from bayes_bias.progress import step

# In 33 tables of real cosines, the 50% and 89% intervals contained 53 to 67% and 91 to 97% of the values.
_USUAL = "somewhat more than stated is usual, since the effects of these words are fitted to them"
_CLOSE = "with many values close to their predictions, as is usual if the effects of few words are fitted to them"
_TOLERATED = 0.03
_MANY_INSIDE = 0.7
_COMPARED = ("elpd_difference", "elpd_se", "bad_k")
_COLUMNS = (
    *(f"{prefix}coverage_{100 * prob:.0f}" for prefix in ("", "published_") for prob in PROBS),
    *_COMPARED,
    "no_data_fit",
    "no_comparison",
)


def _run(study: Study) -> Check:
    """Check whether the model fits the raw values, or state why this was not checked.

    The judgement is based on the share of values in predictive intervals. If it is poor, the check raises an alarm.
    """
    fit, reason = _fit_or_reason(study)
    if fit is None:
        return Check(f"{reason}.", "fit to the data not checked", {"no_data_fit": reason})
    sentences = _sentences(fit, study.table.metric.plural)
    adequate, judgement = _judge(fit)
    text = f"{judgement}: {'. '.join(sentences)}."
    brief = f"fit: {judgement.partition(',')[0].lower()}"
    return Check(text, brief, _row_of_evidence(fit), alarm=not adequate, result=(fit, sentences))


def _judge(fit: DataFit) -> tuple[bool, str]:
    """Return a judgement, and False if the coverage of an interval is clearly below its level, otherwise True.

    The levels of the predictive intervals are PROBS. Coverage is clearly below if it misses its level by more than
    _TOLERATED plus two standard errors. If the shorter interval contains more than _MANY_INSIDE of the values, the
    distribution has long tails, or the effects of few words are fitted to the values. In the second case, the longer
    interval contains as many values as a normal distribution would have there (`_normal_share`).
    """
    shares = fit.coverage.iloc[0].to_numpy()
    levels = np.array(PROBS)
    standard_errors = np.sqrt(levels * (1 - levels) / fit.pairs)
    if (shares < levels - _TOLERATED - 2 * standard_errors).any():
        return False, (
            "Poor, because intervals contain fewer values than stated, so the model underestimates how much they vary"
        )
    inside, inside_longer = shares
    if inside <= _MANY_INSIDE:
        return True, f"Adequate, {_USUAL}"
    expected = _normal_share(inside)
    # In simulations with normal residuals and three (four, more) words in each group and class, this is false for 3%
    # (2%, 0%) of tables.
    is_normal = inside_longer >= expected - 2 * np.sqrt(expected * (1 - expected) / fit.pairs)
    if is_normal or round(fit.pairs * (1 - inside_longer)) < 2:  # a single value is no tail
        return True, f"Adequate, {_CLOSE}"
    return True, (
        "Long tails, because most values lie near their mean and a few far away. Compare the result with model='robust'"
    )


def _normal_share(inside: float) -> float:
    """Return the share of values in the longer interval if they were normal, given their share `inside` the shorter.

    Both intervals are those of a normal distribution with another standard deviation, so the ratio of their widths is
    known.
    """
    shorter, longer = norm.ppf((1 + np.array(PROBS)) / 2)
    return float(2 * norm.cdf(norm.ppf((1 + inside) / 2) * longer / shorter) - 1)


def _fit_or_reason(study: Study) -> tuple[DataFit | None, str]:
    """Return the fit to the data, or None and the reason why it was not checked.

    A fit is not checked if it has not converged, or if the table has too many values.
    """
    if not Diagnostics.of(study.fitted).converged:
        return None, "Not checked, because the fit has not converged"
    step("checking the fit to the data")
    try:
        fit = data_fit(
            study.fitted,
            study.table,
            against_published=study.against_published,
            seed=study.seed,
            sampling=study.sampling,
        )
    except TableError as error:
        return None, f"Not checked: {error}"
    return fit, ""


def _sentences(fit: DataFit, values: str) -> list[str]:
    """Return a sentence on coverage and, if the comparison was requested, a sentence on predictive accuracy.

    The first row of ``fit.coverage`` belongs to the fitted model, and the second row to the published model. Predictive
    accuracy (elpd) differs if the difference is more than two standard errors from zero.
    """
    shares_of_model, *shares_of_published = fit.coverage.to_numpy().tolist()
    coverage = (
        f"{_joined_shares(shares_of_model)} of the {fit.pairs:,} raw {values} lie inside their"
        f" {' and '.join(map(level, PROBS))} predictive intervals"
    )
    if shares_of_published:
        coverage += f" ({_joined_shares(shares_of_published[0])} under the published model)"
    if fit.no_comparison == NOT_ASKED:
        return [coverage]
    if fit.no_comparison:
        return [coverage, f"There is no comparison with the published model: {fit.no_comparison}"]
    difference, error = fit.elpd_difference, fit.elpd_se
    how_well = "better than by" if difference > 0 else "worse than by"
    if abs(difference) < 2 * error:
        how_well = "about as well as by"
    comparison = (
        f"In leave-one-out prediction (PSIS-LOO), they are predicted {how_well} the"
        f" published model (elpd {signed(difference, 0)}, standard error {error:,.0f}). Pareto k is too high"
        f" for {as_count(fit.bad_k)} {values}"
    )
    return [coverage, comparison]


def _joined_shares(shares: list[float]) -> str:
    """Return the shares of values inside the intervals as text."""
    return " and ".join(map(share, shares))


def _row_of_evidence(fit: DataFit) -> dict[str, Any]:
    """Return the row of ``evidence.csv``. If there is no comparison, numbers of the published model are missing.

    The first row of ``fit.coverage`` belongs to the fitted model, and the second row to the published model.
    """
    row: dict[str, Any] = {"no_data_fit": "", "no_comparison": fit.no_comparison}
    prefixes = ("", "published_")
    for prefix, shares in zip(prefixes[: len(fit.coverage)], fit.coverage.to_dict("records"), strict=True):
        for prob in PROBS:
            row[f"{prefix}coverage_{100 * prob:.0f}"] = shares[prob]
    return row | {"elpd_difference": fit.elpd_difference, "elpd_se": fit.elpd_se, "bad_k": fit.bad_k}


def _methods(results: Mapping[str, Any]) -> Sentence:
    """Return the sentences of the methods text, with the results for each list.

    `results` has the fit and its sentences for each list. The second sentence is on the comparison with the published
    model, or on the reason why there is none. In the second case, it is omitted.
    """
    lists = []
    for name, (fit, sentences) in results.items():
        lists.append(f"{name}: {'. '.join(sentences[:1] if fit.no_comparison else sentences)}.")
    is_compared = not all(fit.no_comparison for fit, _ in results.values())
    published = load_spec(PUBLISHED).reference
    if not is_compared or published is None:
        return (f"Fit to the raw values. {' '.join(lists)}",)
    return (
        "Fit to the raw values was compared with that of the published model ",
        Cite((published,)),
        " on the same table, with Pareto-smoothed importance sampling for leaving one value out at a time ",
        Cite(("vehtari2017practical",)),
        f". {' '.join(lists)}",
    )


CHECKER = Checker("data_fit", "Fit to the data", _COLUMNS, _run, _methods)
