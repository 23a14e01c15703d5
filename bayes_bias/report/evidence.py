"""What speaks for and against the numbers of a list, in sentences: the prior, random nulls, fit to the data."""

from dataclasses import dataclass

import pandas as pd

from bayes_bias.calibration import Calibration
from bayes_bias.diagnostics import MAX_PRIOR_SENSITIVITY, Diagnostics
from bayes_bias.report.data_fit import PROBS, DataFit
from bayes_bias.report.numbers import count, level, plain, share, signed
from bayes_bias.report.record import Section
from bayes_bias.scopes import Scope


@dataclass(frozen=True)
class Evidence:
    """The sentences of one section."""

    prior: str
    nulls: str
    data_fit: str


def evidence(section: Section, scope: Scope) -> Evidence:
    """What a section has to say of its own model."""
    made, fitted = section.calibration, section.data_fit
    return Evidence(
        prior=_prior(section.diagnostics),
        nulls=_nulls(made, section.fit.attrs["model"], scope) if made else f"{section.no_calibration}.",
        data_fit=f"{inside(fitted)}. {compared(fitted)}." if fitted else f"{section.no_data_fit}.",
    )


def false_findings(calibration: Calibration, model: str, scope: Scope) -> str:
    """How often the model, and WEAT where it is defined, found a bias where none is."""
    found = calibration.table[["share", "share_lb", "share_ub"]]
    rows = {"the model": found.loc[(model, scope)]}
    if ("WEAT", "targets") in found.index:
        rows["WEAT"] = found.loc[("WEAT", "targets")]
    return ", by ".join(f"{name} in {_with_interval(row)}" for name, row in rows.items())


def inside(fitted: DataFit) -> str:
    """Shares of cosines inside their predictive intervals."""
    own, *published = fitted.coverage.to_numpy().tolist()
    said = (
        f"{_both(own)} of the {fitted.pairs:,} raw cosines lie inside their {' and '.join(map(level, PROBS))}"
        " predictive intervals"
    )
    return f"{said} ({_both(published[0])} under the published model)" if published else said


def compared(fitted: DataFit) -> str:
    """The model against the published one, a cosine left out at a time."""
    if fitted.no_comparison:
        return f"The published model cannot stand beside it: {fitted.no_comparison}"
    difference, error = fitted.elpd_difference, fitted.elpd_se
    return (
        f"Left out one at a time (PSIS-LOO), they are predicted {_manner(difference, error)} by the published"
        f" model: elpd {signed(difference)}, standard error {error:,.0f}; Pareto k is too high for"
        f" {count(fitted.bad_k)} cosines"
    )


def _manner(difference: float, error: float) -> str:
    if abs(difference) < 2 * error:
        return "about as well as"
    return "better than" if difference > 0 else "worse than"


def _prior(diagnostics: Diagnostics) -> str:
    found, concern = diagnostics.prior_sensitivity, diagnostics.concern
    if found is None:
        return "Power-scaling is not defined for this model or a design with a group or class of one word."
    if concern:
        return f"{concern[0].upper()}{concern[1:]}."
    return (
        f"The bias does not hang on it: power-scaling sensitivity {plain(found)}, and it would above"
        f" {MAX_PRIOR_SENSITIVITY}."
    )


def _nulls(made: Calibration, model: str, scope: Scope) -> str:
    right = "5% would be right"
    if scope == "targets":
        right = "more is no error where only these attributes matter, since random ones differ, too"
    return (
        f"Of {made.records.draw.nunique()} random nulls of this design (the same targets, as many attribute words"
        f" drawn at random) a bias was found at the 5% level by {false_findings(made, model, scope)} (95% Monte"
        f" Carlo intervals); {right}."
    )


def _with_interval(row: "pd.Series[float]") -> str:
    return f"{share(row['share'])} [{share(row.share_lb)}, {share(row.share_ub)}]"


def _both(shares: list[float]) -> str:
    return " and ".join(map(share, shares))
