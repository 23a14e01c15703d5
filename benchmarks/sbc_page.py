"""What `benchmarks.sbc` found, as sections of their page of evidence."""

import pandas as pd

from benchmarks.markdown import circumstances, markdown_table
from benchmarks.provenance import read

_KEPT = ("sbc", "sbc-groups", "sbc-replicates", "sbc-replicates-groups")


def answer() -> str:
    """Count the quantities whose ranks are not uniform."""
    ranks = [pd.DataFrame(read(name)["rows"]) for name in _KEPT]
    below = sum(len(_not_uniform(rows)) for rows in ranks)
    return f"""The true value of a parameter should rank among its draws uniformly. Of {sum(map(len, ranks))} quantities
in {len(ranks)} designs {below or "none"} deviates at the 5% level, with Bonferroni's adjustment. PyMC's own sampling
of the written-out model agrees with the fit, except with sub-topics of unequal size."""


def plain() -> str:
    """Render simulation-based calibration of the default model."""
    return _section(
        "sbc",
        """## Simulation-based calibration

Parameters from the priors, cosines from the model, {fits} fits: the truth's rank among the posterior draws must be
uniform. Kolmogorov-Smirnov p-values; {uniform}.""",
    )


def by_group() -> str:
    """Render that of the model with scales for each group."""
    return _section(
        "sbc-groups",
        """## Simulation-based calibration, scales by group

As above, with scales for each group, without pairs, {fits} fits; {uniform}.""",
    )


def replicated() -> str:
    """Render that of replicated tables."""
    return _section(
        "sbc-replicates",
        """## Simulation-based calibration of replicated tables

As above, with {replicates} replicates, controls, pairs and sub-topics, {fits} fits; {uniform}. Scales without a suffix
are those of words in all replicates.""",
    )


def replicated_by_group() -> str:
    """Render that of replicated tables with scales for each group."""
    return _section(
        "sbc-replicates-groups",
        """## Simulation-based calibration of replicated tables, scales by group

As above, with scales for each group, without pairs, {fits} fits; {uniform}.""",
    )


def _section(name: str, text: str) -> str:
    """Its text, the ranks of each quantity, and their figure."""
    result = read(name)
    rows = pd.DataFrame(result["rows"])
    told = text.format(
        fits=f"{rows.fits.iloc[0]:.0f}", uniform=_uniform(rows), replicates=result["about"].get("replicates")
    )
    renamed = {"p_uniform": "p", "coverage_50": "50%", "coverage_95": "95%"}
    return f"""{told}

{markdown_table(rows.rename(columns=renamed).drop(columns="fits"))}

![ECDF of ranks less the uniform's, with simultaneous bands](../../benchmarks/results/{name}.png)

{circumstances(result["about"])}
"""


def _uniform(rows: pd.DataFrame) -> str:
    """Which ranks are not uniform, allowing for the number of quantities."""
    below = _not_uniform(rows)
    verdict = f"{', '.join(f'`{name}`' for name in below)} is below" if len(below) else "none is below"
    return f"of {len(rows)} quantities {verdict} .05 / {len(rows)}"


def _not_uniform(rows: pd.DataFrame) -> pd.Series:
    return rows.quantity[rows.p_uniform < 0.05 / len(rows)]
