"""Where do the conclusions of the robust model differ? `python -m benchmarks.robust`

Without control classes: the robust model writes every cosine out, and with some 230 control words it samples for
minutes what takes seconds without.
"""

import logging
import os

import pandas as pd
import xarray as xr

import bayes_bias as bb
from bayes_bias.checks.predictive import compare_models
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.posterior.summary import summarize
from bayes_bias.table.columns import interval_columns
from benchmarks.cells import LISTS
from benchmarks.markdown import circumstances, markdown_table
from benchmarks.provenance import provenance, read, write


def main() -> None:
    """Fit both models to each list and keep a row for each."""
    logging.getLogger("bayes_bias").setLevel(logging.ERROR)
    busy = {"load average at the start": round(os.getloadavg()[0], 1)}
    rows = []
    for name in (*LISTS, "gender", "race", "religion"):
        rows.append(_row(bb.cosines(name, "googlenews-demo", controls=())))
        print(pd.Series(rows[-1]).to_string(), flush=True)
    write("robust", provenance() | busy, rows)


def _row(table: bb.AssociationTable) -> dict[str, object]:
    fits = {"crossed": bb.fit(table), "robust": _robust(table)}
    compared = compare_models(fits)
    nu = fits["robust"]["posterior"].nu
    low, high = nu.quantile([0.025, 0.975]).to_numpy()
    return {
        "list": table.name,
        "cosines": table.values.size,
        **{f"{model} bias": _bias(fit) for model, fit in fits.items()},
        **{f"{model} verdict": bb.verdict(fit).label for model, fit in fits.items()},
        "nu": f"{float(nu.median()):.1f} [{low:.1f}, {high:.1f}]",
        "elpd difference": round(float(compared.elpd["robust"] - compared.elpd["crossed"]), 1),
        "se": round(float(compared.dse.max()), 1),
        "bad k": int(compared.bad_k["robust"]),
        "draws": fits["robust"].attrs["draws"],
    }


def _robust(table: bb.AssociationTable) -> xr.DataTree:
    """With written-out word effects chains mix more slowly: more draws where the default number is too small."""
    fit = bb.fit(table, "robust")
    return fit if Diagnostics.of(fit).converged else bb.fit(table, "robust", sampling=bb.Sampling(draws=6000))


def _bias(fit: xr.DataTree) -> str:
    """Posterior mean and 95% interval."""
    row = summarize(fit, ci_prob=0.95, ci_kind="eti").loc[[("bias", "overall")]]
    lower, upper = interval_columns(row)
    return "{:+.3f} [{:+.3f}, {:+.3f}]".format(*row[["mean", lower, upper]].to_numpy()[0])


def section() -> str:
    """Render the fits with Student-t residuals."""
    result = read("robust")
    rows = pd.DataFrame(result["rows"])
    changed = rows[rows["crossed verdict"] != rows["robust verdict"]]
    verdicts = f"changes in {', '.join(changed['list'])}" if len(changed) else "changes nowhere"
    return f"""## Robust residuals

`models/robust.toml` gives single outlying cosines less weight (Student-t residuals, every cosine written out).
Posterior bias with its 95% interval beside that of `crossed`, without control classes (with them the long form takes
minutes); degrees of freedom `nu`; difference in expected log predictive density, robust less crossed.

The verdict {verdicts}. Residuals do have longer tails than the normal in some lists (few degrees of freedom), but a
bias is a mean over many cosines, and its uncertainty comes from the words.

{markdown_table(rows)}

{circumstances(result["about"])}
"""


if __name__ == "__main__":
    main()
