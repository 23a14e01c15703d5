"""`bayes-bias check`: does the model fit, and does the prior decide?."""

import pandas as pd

import bayes_bias as bb
from bayes_bias.checks.predictive import compare_models, predictive_coverage
from bayes_bias.checks.prior_sensitivity import prior_sensitivity
from bayes_bias.cli.app import app
from bayes_bias.cli.console import progress_bar
from bayes_bias.cli.frames import print_frame
from bayes_bias.cli.options import ModelOption, Sampler, SeedOption, with_options
from bayes_bias.cli.table_source import ListArgument, TableSource
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.formatting import plain, share


@app.command()
@with_options
def check(
    source: ListArgument, inputs: TableSource, model: ModelOption = "crossed", seed: SeedOption = 1, *, sampler: Sampler
) -> None:
    """Does the model fit the raw cosines, better than the published one, and does the prior decide?

    Example: bayes-bias check weat7
    """
    with progress_bar() as progress:
        table = inputs.table(source, progress)
        fits = {name: bb.fit(table, name, seed=seed, sampling=sampler.sampling) for name in (model, "hierarchical")}
    coverage = pd.DataFrame({name: predictive_coverage(posterior) for name, posterior in fits.items()})
    coverage.index = [f"{prob:.0%} intervals" for prob in coverage.index]
    print_frame(coverage.T.map(share).rename_axis("model"), title="Raw cosines inside predictive intervals")
    if table.replicates is None:  # the published model has their mean alone, which is another table
        compared = compare_models(fits)[["elpd", "elpd_diff", "dse", "p", "bad_k"]]
        print_frame(compared.rename_axis("model"), title="Leaving one cosine out (PSIS-LOO)")
    if Fitted.of(fits[model]).structure.COLLAPSED:
        rows = prior_sensitivity(fits[model]).loc[["bias", "group_bias"]]
        shown = rows.assign(prior=rows.prior.map(plain), likelihood=rows.likelihood.map(plain))
        print_frame(shown, title="Sensitivity to prior and likelihood (prior above .05: it matters)")
