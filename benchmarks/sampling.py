"""Effective draws per second of the collapsed likelihood beside the long form's: `python -m benchmarks.sampling`."""

import logging
import os
from time import perf_counter

import arviz as az
import pandas as pd

import bayes_bias as bb
from bayes_bias.associations.cosines import CONTROLS
from bayes_bias.fitting.sampling import ToSample, model_of_table, sample_model
from bayes_bias.models.structures import structure_of
from benchmarks.markdown import circumstances, markdown_table
from benchmarks.provenance import provenance, read, write

# Lists with their control classes: 256, 2,450 and 3,952 cosines. The long form is too slow for more.
DESIGNS = (("weat7", ()), ("weat1", ()), ("weat7", CONTROLS))
MODELS = {"collapsed": "crossed", "long": "crossed-long"}
SAMPLING = bb.Sampling()
REPEATS = 3
# How medians of runs are shown, and with how many digits.
_SHOWN = {"seconds": ("seconds", 2), "ess": ("least bulk ESS", None), "rate": ("ESS per second", None)}


def main() -> None:
    """Sample each design under both likelihoods, and keep a row for each."""
    logging.getLogger("bayes_bias").setLevel(logging.ERROR)
    busy = {"load average at the start": round(os.getloadavg()[0], 1)}
    rows = []
    for name, controls in DESIGNS:
        rows.append(_row(bb.cosines(name, "googlenews-demo", controls)))
        print(pd.Series(rows[-1]).to_string(), flush=True)
    write("sampling", provenance() | {"sampling": vars(SAMPLING)} | busy, rows)


def _row(table: bb.AssociationTable) -> dict[str, object]:
    """Both likelihoods in turn, so that what else the machine does befalls both."""
    compiled = {}
    for form, name in MODELS.items():
        spec = bb.load_spec(name)
        compiled[form] = model_of_table(spec, structure_of(spec).data(table))
    records = []
    for seed in range(REPEATS + 1):
        for form, model in compiled.items():
            ess, seconds = _sampled(model, seed)
            if seed:  # the first compiles
                records.append({"form": form, "seconds": seconds, "ess": ess, "rate": ess / seconds})
    medians = pd.DataFrame(records).groupby("form").median()
    row: dict[str, object] = {"list": table.name, "controls": bool(table.controls), "cosines": table.values.size}
    for column, (name, digits) in _SHOWN.items():
        for form in MODELS:
            row[f"{form}, {name}"] = round(float(medians[column][form]), digits)
    return row | {"times": round(float(medians.rate["collapsed"] / medians.rate["long"]), 1)}


def _sampled(model: ToSample, seed: int) -> tuple[float, float]:
    """Least bulk ESS over scales, which both forms have, and seconds with warm-up."""
    start = perf_counter()
    posterior, _ = sample_model(model, seed, SAMPLING)
    seconds = perf_counter() - start
    scales = posterior[[name for name in posterior if str(name).startswith("sd_")]]
    return float(az.ess(scales, method="bulk").min().to_array().min()), seconds


def section() -> str:
    """Render effective draws per second."""
    result = read("sampling")
    return f"""## Sampling

The collapsed likelihood is compared with the long form of the same model for the same list. The table shows seconds
with warm-up and without compiling, the least bulk ESS over scales, and ESS per second (the aim is a factor of 20).

{markdown_table(pd.DataFrame(result["rows"]))}

The collapsed likelihood does not grow with the length of a list, so its advantage is smallest in short lists.

{circumstances(result["about"])}
"""


if __name__ == "__main__":
    main()
