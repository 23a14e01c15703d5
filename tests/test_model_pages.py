"""The pages on the model, followed line by line as somebody would who knows PyMC and ArviZ."""

import re
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pytest

DOCS = Path(__file__).parents[1] / "docs"
PAGES = ("statistics.md", "how-to/own-model.md", "how-to/own-priors.md", "how-to/check-a-model.md")
# What they show together.
SHOWN = (
    "pm.model_to_mermaid(",
    "pm.sample_prior_predictive(",
    "pm.sample(",
    "pm.do(",
    "pm.observe(",
    "pm.set_data(",
    ".with_prior(",
    "observe=",
    ".with_covariates(",
    'dims="group")',
    "bb.as_fit(",
    "bb.verdict(",
    "bb.priors(",
    "az.summary(",
    "az.loo(",
    "az.compare(",
    "az.plot_ppc_dist(",
    "az.plot_loo_pit(",
    "az.plot_prior_posterior(",
    "az.plot_trace_dist(",
    "az.psense_summary(",
    'bb.calibrate(table, by="simulation"',
    "bb.multiverse(",
    "bb.plots.plot_multiverse(",
    "bb.save_fit(",
    "bb.load_fit(",
    ".to_zarr(",
)


def code_of(page: str) -> list[str]:
    """The blocks of Python of a page, without tags, and without the line that needs a program beside Python."""
    blocks = re.findall(r"```(?:python|\{code-cell\} python)\n([^`]*)```", (DOCS / page).read_text(encoding="utf-8"))
    left_out = re.compile(r"^:tags:|needs Graphviz")
    return ["\n".join(line for line in block.splitlines() if not left_out.search(line)) for block in blocks]


def test_model_pages_show_expected_pymc_and_arviz_calls():
    together = "\n".join(block for page in PAGES for block in code_of(page))
    assert not [call for call in SHOWN if call not in together]


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore:Estimated shape parameter")
@pytest.mark.parametrize("page", PAGES)
def test_page_runs_as_written(page):
    """In the folder of the test, to which the pages write."""
    written: dict[str, Any] = {}
    for number, block in enumerate(code_of(page)):
        exec(compile(block, f"{page}, block {number}", "exec"), written)
        plt.close("all")
