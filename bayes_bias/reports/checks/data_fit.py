"""Does the model fit the raw values and, where it is asked for, better than the published one?"""

from collections.abc import Mapping
from typing import Any

from bayes_bias.checks.data_fit import NOT_ASKED, PROBS, PUBLISHED, DataFit, data_fit
from bayes_bias.errors import AssociationsError
from bayes_bias.formatting import count, level, share, signed
from bayes_bias.inference.diagnostics import Diagnostics
from bayes_bias.models.spec import load_spec
from bayes_bias.reports.check import Check, Checker, Cite, Sentence, Study

_COMPARED = ("elpd_difference", "elpd_se", "bad_k")
_COLUMNS = (
    *(f"{prefix}coverage_{100 * prob:.0f}" for prefix in ("", "published_") for prob in PROBS),
    *_COMPARED,
    "no_data_fit",
    "no_comparison",
)


def _run(study: Study) -> Check:
    found, reason = _found_or_why_not(study)
    if found is None:
        return Check(f"{reason}.", {"no_data_fit": reason})
    said = _said(found, study.table.association.plural)
    return Check(f"{'. '.join(said)}.", _numbers(found), found=(found, said))


def _found_or_why_not(study: Study) -> tuple[DataFit | None, str]:
    if not Diagnostics.of(study.fitted).converged:
        return None, "Not checked, because the fit has not converged"
    study.progress.step("checking the fit to the data")
    try:
        found = data_fit(
            study.fitted,
            study.table,
            against_published=study.against_published,
            seed=study.seed,
            sampling=study.sampling,
        )
    except AssociationsError as error:
        return None, f"Not checked: {error}"
    return found, ""


def _said(found: DataFit, values: str) -> tuple[str, ...]:
    """Nothing of a comparison that nobody asked for."""
    own = inside(found, values)
    return (own,) if found.no_comparison == NOT_ASKED else (own, compared(found, values))


def inside(found: DataFit, values: str) -> str:
    """Shares of values inside their predictive intervals."""
    own, *published = found.coverage.to_numpy().tolist()
    said = (
        f"{_both(own)} of the {found.pairs:,} raw {values} lie inside their {' and '.join(map(level, PROBS))}"
        " predictive intervals"
    )
    return f"{said} ({_both(published[0])} under the published model)" if published else said


def compared(found: DataFit, values: str) -> str:
    """The model against the published one, a value left out at a time."""
    if found.no_comparison:
        return f"The published model cannot stand beside it: {found.no_comparison}"
    difference, error = found.elpd_difference, found.elpd_se
    return (
        f"Left out one at a time (PSIS-LOO), they are predicted {_manner(difference, error)} the published"
        f" model: elpd {signed(difference, 0)}, standard error {error:,.0f}; Pareto k is too high for"
        f" {count(found.bad_k)} {values}"
    )


def _manner(difference: float, error: float) -> str:
    if abs(difference) < 2 * error:
        return "about as well as by"
    return "better than by" if difference > 0 else "worse than by"


def _both(shares: list[float]) -> str:
    return " and ".join(map(share, shares))


def _numbers(found: DataFit) -> dict[str, Any]:
    prefixes = ("", "published_")
    shares = {
        f"{prefix}coverage_{100 * prob:.0f}": value
        for prefix, (_, row) in zip(prefixes, found.coverage.iterrows(), strict=False)
        for prob, value in row.items()
    }
    rest = {name: getattr(found, name) for name in (*_COMPARED, "no_comparison")}
    return shares | rest | {"no_data_fit": ""}


def _methods(checks: Mapping[str, Check]) -> Sentence:
    made = {name: check.found for name, check in checks.items() if check.found is not None}
    if not made:
        return ()
    against = {name: found for name, (found, _) in made.items() if not found.no_comparison}
    each = " ".join(
        f"{name}: {'. '.join(said[:1] if found.no_comparison else said)}."
        for name, (found, said) in made.items()
    )
    published = load_spec(PUBLISHED).reference
    if not against or published is None:
        return (f"Fit to the raw values. {each}",)
    return (
        "Fit to the raw values was compared with that of the published model ",
        Cite((published,)),
        " on the same table, with Pareto-smoothed importance sampling for leaving one value out at a time ",
        Cite(("vehtari2017practical",)),
        f". {each}",
    )


CHECKER = Checker("data_fit", "Fit to the data", _COLUMNS, _run, _methods)
