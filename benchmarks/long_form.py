"""`pm.sample` of the model that `bayes_bias.pymc_model` writes out, beside the fit: `python -m benchmarks.long_form`.

Five lists, two with sub-topics, and a table with a control class in five replicates. Exactness itself is tested (the
density of the long form, its word effects integrated out, is that of the fit); this shows that what is sampled is the
same posterior. Where sub-topics differ in size the bias of a fit is that of the plain average of words, and the model
beside it observes these averages. Half an hour; a run goes on after the tables that are there.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
import pymc as pm
import xarray as xr
from arviz_stats import mcse, rhat

from bayes_bias import AssociationTable, Sampling, cosines, fit, load_spec, load_wordlist, pymc_model
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.fitting.power_scaling import with_bias
from bayes_bias.models.spec import BY_GROUP
from bayes_bias.table.combine_replicates import combine_replicates
from benchmarks.markdown import circumstances, markdown_table
from benchmarks.provenance import RESULTS, provenance, read, rows_of, write
from tests.helpers import random_table

LISTS = ("weat6", "weat7", "gender", "race", "religion")
REPLICATES = 5
# All of two words, and of unequal size.
TOPICS = {
    "weat6": {
        "career": {
            "leaders": ("executive", "management"),
            "firms": ("corporation", "business"),
            "jobs": ("salary", "office"),
            "callings": ("professional", "career"),
        },
        "family": {
            "homes": ("home", "family"),
            "parents": ("parents", "children"),
            "kin": ("cousins", "relatives"),
            "weddings": ("marriage", "wedding"),
        },
    },
    "weat7": {
        "male terms": {"kin": ("brother", "son"), "pronouns": ("he", "him", "his")},
        "female terms": {"kin": ("sister", "daughter"), "pronouns": ("she", "her", "hers")},
    },
}
UNEVEN = "weat7, sub-topics"
AVERAGES = "weat7, sub-topics, plain averages"
SPEC = load_spec("crossed").with_option("scales", BY_GROUP)
SAMPLING = {"draws": 1500, "tune": 1000, "chains": 4, "target_accept": 0.95}
# Both by `pm.sample`: its default where nutpie is installed, and its own.
SAMPLERS = ("nutpie", "pymc")
_ENDS = (0.025, 0.975)


def main() -> None:
    """Sample both forms of each table; write every statistic of scales and bias side by side."""
    found = [pd.DataFrame(read("long-form")["rows"])] if (RESULTS / "long-form.json").exists() else []
    done = set(found[0].table) if found else set()
    for name, table in ((name, table) for name, table in tables() if name not in done):
        collapsed = fit(table, SPEC, sampling=Sampling(draws=4000, tune=1000))
        data = Fitted.of(collapsed).data
        samplers = SAMPLERS if name == LISTS[0] else SAMPLERS[:1]
        others = {(name, sampler): written_out(table, data, sampler) for sampler in samplers}
        if name == UNEVEN:
            others[AVERAGES, SAMPLERS[0]] = plain_averages(table, data, SAMPLERS[0])
        for (called, sampler), other in others.items():
            rows = compared(collapsed, other)
            print(f"{called}, {sampler}: {len(rows)} statistics, largest z {abs(rows.z).max():.2f}")
            found.append(rows.assign(table=called, sampler=sampler))
        write("long-form", provenance() | {"sampling": SAMPLING}, rows_of(pd.concat(found)))


def tables() -> Iterator[tuple[str, AssociationTable]]:
    """Those that are fitted, by what the page calls them."""
    for name in LISTS:
        yield name, cosines(name, "googlenews-demo", controls=())
    for name, topics in TOPICS.items():
        yield (
            f"{name}, sub-topics",
            cosines(replace(load_wordlist(name), topics=topics), "googlenews-demo", controls=()),
        )
    yield f"simulated, {REPLICATES} replicates", in_replicates()


def in_replicates() -> AssociationTable:
    """Tables that share their words' effects and have shifts of their own."""
    rng, shared, found = np.random.default_rng(4), random_table(1), {}
    for r in range(REPLICATES):
        shift = 0.02 * rng.standard_normal((2, 3))
        own = 0.02 * rng.standard_normal(shared.values.shape)
        moved = shared.values + shift[np.ix_(shared.group_index, shared.class_index)] + own
        found[f"template {r}"] = replace(shared, values=moved)
    return combine_replicates(found, "template")


def written_out(table: AssociationTable, data: xr.Dataset, sampler: str) -> xr.DataTree:
    """Draws of all parameters, with the bias."""
    drawn = sampled(pymc_model(table, SPEC), sampler)
    return xr.DataTree.from_dict(drawn | {"posterior": with_bias(drawn["posterior"], data)})


def plain_averages(table: AssociationTable, data: xr.Dataset, sampler: str) -> xr.DataTree:
    """The same where the model observes how words differ, and the plain averages of blocks alone.

    For two groups, two classes, and sub-topics of attributes, in plain PyMC. Preferences sum to zero over two groups
    or two classes, so that twice an average preference is a difference between them.
    """
    n_targets, n_attributes = data.n_targets.to_numpy(), data.n_attributes.to_numpy()
    words = data[["attribute_cluster", "class_of"]].to_dataframe().query("attribute_cluster >= 0")
    of_topic = words.groupby("attribute_cluster").class_of
    in_average = of_topic.size() / n_attributes[of_topic.first()]
    (first, second), (other_first, other_second) = data.block_mean.to_numpy()
    with pymc_model(table, SPEC, marginal=True) as model:
        variance = (model["sd_target_preference"] ** 2 / n_targets).sum()
        variance += (model["sd_attribute_preference"] ** 2 / n_attributes).sum()
        variance += model["sd_attribute_cluster_preference"] ** 2 * (in_average**2).sum()
        variance += model["sd_residual"] ** 2 * (1 / np.outer(n_targets, n_attributes)).sum() / 4
        bias = pm.Flat("bias")
        pm.Normal("average", bias, variance**0.5, observed=(first - second - other_first + other_second) / 2)
    return xr.DataTree.from_dict(sampled(model, sampler))


def sampled(model: pm.Model, sampler: str) -> dict[str, xr.Dataset]:
    """Posterior and statistics by `pm.sample`."""
    drawn = pm.sample(**SAMPLING, nuts_sampler=sampler, cores=1, model=model, random_seed=1, progressbar=False)
    return {group: drawn[group].to_dataset() for group in ("posterior", "sample_stats")}


def compared(one: xr.DataTree, other: xr.DataTree) -> pd.DataFrame:
    """A row for each statistic of each scale and of the bias; z is the difference in Monte Carlo standard errors."""
    names = [name for name in one["posterior"].data_vars if name == "bias" or str(name).startswith("sd_")]
    both = [statistics(each["posterior"].to_dataset()[names]) for each in (one, other)]
    rows = both[0].add_suffix("_collapsed").join(both[1].add_suffix("_long"))
    error = np.hypot(rows.mcse_collapsed, rows.mcse_long)
    rows["z"] = (rows.value_long - rows.value_collapsed) / error
    rows["r_hat"] = float(rhat(other["posterior"].to_dataset()[names]).to_array().max())
    rows["divergences"] = int(other["sample_stats"].diverging.sum())
    return rows.reset_index()


def statistics(draws: xr.Dataset) -> pd.DataFrame:
    """Mean, standard deviation and interval ends of each number, with their Monte Carlo errors."""
    across = ["chain", "draw"]
    what = {
        "mean": (draws.mean(across), mcse(draws, method="mean")),
        "sd": (draws.std(across), mcse(draws, method="sd")),
        **{f"{end:.1%}": (draws.quantile(end, across), mcse(draws, method="quantile", prob=end)) for end in _ENDS},
    }
    return pd.DataFrame(
        {
            (label, name): {"value": value, "mcse": error}
            for name, (values, errors) in what.items()
            for (label, value), error in zip(_labelled(values), dict(_labelled(errors)).values(), strict=True)
        }
    ).T.rename_axis(["parameter", "statistic"])


def _labelled(values: xr.Dataset) -> Iterator[tuple[str, float]]:
    for name, each in values.data_vars.items():
        for at in np.ndindex(each.shape):
            labels = [str(each[dim].to_numpy()[k]) for dim, k in zip(each.dims, at, strict=True)]
            yield f"{name}[{', '.join(labels)}]" if labels else str(name), float(each.to_numpy()[at])


def section() -> str:
    """Render PyMC's own sampling of the written-out model beside the fit."""
    result = read("long-form")
    rows = pd.DataFrame(result["rows"])
    uneven, averages = (rows.table == name for name in (UNEVEN, AVERAGES))
    of_bias = rows[uneven & (rows.parameter == "bias")].set_index("statistic")
    of_averages = rows[averages & (rows.parameter == "bias")].set_index("statistic").value_long
    scales = rows[uneven & (rows.parameter != "bias")].z.abs()
    alike = rows[~uneven & ~averages]
    fit, written = of_bias.value_collapsed, of_bias.value_long
    narrower = (written["97.5%"] - written["2.5%"]) / (fit["97.5%"] - fit["2.5%"])
    return f"""## The written-out model, sampled by PyMC

`pm.sample` of `bb.pymc_model(table)`, which has every word effect and every value, beside `bb.fit`, which has
integrated the effects out; standard deviations by group and class. Of each of these and of the bias the mean, the
standard deviation and the ends of the 95% interval; z is the difference in Monte Carlo standard errors of both.
{(alike.z.abs() > 1.96).mean():.1%} of {len(alike)} are beyond 1.96 (5% by chance); the largest
is {alike.z.abs().max():.1f}. {rows.divergences.max()} transitions diverged, and R-hat is at most
{rows.r_hat.max():.3f}.

{markdown_table(pd.DataFrame([_beside(*each) for each in alike.groupby(["table", "sampler"], sort=False)]))}

**Sub-topics of unequal size are the exception.** With weat7's terms of kin and pronouns as sub-topics, of two and three
words beside words without one, the standard deviations agree (largest z {scales.max():.1f} of {len(scales)}) and the
bias does not: {_interval(fit)} in the fit, {_interval(written)} in the written-out model.
The written-out model counts a word of a large sub-topic less, and its interval is {narrower:.0%} as wide. The fit keeps
the plain average of words, which is the observed bias and WEAT's numerator, and does not hang on the sub-topics being
right; its interval allows for them. It is the posterior given how words differ and the averages of blocks, a restricted
likelihood (Lewis, MacEachern & Lee, 2021, https://doi.org/10.1214/21-BA1257). Plain PyMC that observes just these, with
the variance of the average written by hand, has {_interval(of_averages)} ({(rows[averages].z.abs() > 1.96).sum()} of
{averages.sum()} statistics beyond 1.96, the largest {rows[averages].z.abs().max():.1f}).

{circumstances(result["about"])}
"""


def _beside(key: tuple[str, str], rows: pd.DataFrame) -> dict[str, object]:
    bias = rows[rows.parameter == "bias"].set_index("statistic")
    return {
        "table": key[0],
        "sampler": key[1],
        "statistics": len(rows),
        "root mean square of z": (rows.z**2).mean() ** 0.5,
        "largest z": rows.z.abs().max(),
        "bias, fit": _interval(bias.value_collapsed),
        "bias, written out": _interval(bias.value_long),
    }


def _interval(statistics: "pd.Series[float]") -> str:
    return f"{statistics['mean']:.4f} [{statistics['2.5%']:.3f}, {statistics['97.5%']:.3f}]"


if __name__ == "__main__":
    main()
