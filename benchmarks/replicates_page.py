"""What `benchmarks.replicates` found of templates, trainings and corpora, as sections of their page of evidence."""

import pandas as pd

from bayes_bias.table.replicates import FEW
from benchmarks.markdown import circumstances, markdown_table
from benchmarks.provenance import read
from benchmarks.shares import (
    covering_findings,
    from_to,
    marked,
    number_of_draws,
    outside_wanted,
    pooled_findings,
    shares_by,
)


def answer() -> str:
    """Say how often each method finds a bias where there is none, in ten templates."""
    ten = shares_by("replicates-nulls", ["part", "replicates", "method", "scope", "size"]).loc["templates", 10]
    planted = pd.DataFrame(read("replicates-planted")["rows"])
    far = planted[(planted.times == 3) & (planted.method == "crossed") & (planted.scope == "all")]
    two, three = (far[far.replicates == n]["share"].iloc[0] for n in (2, 3))
    return f"""With a sentence encoder, ten templates and attribute words at random, SEAT finds a bias in
{from_to(ten["SEAT", "targets"])} of cases, WEAT on the mean of the templates in {from_to(ten["WEAT", "targets"])}, this
posterior over words *and* templates in {from_to(ten["crossed", "all"])}. Two or three replicates say little: if they
differ three times as much as word lists do, false findings rise to {two:.0%} and {three:.0%}."""


def nulls() -> str:
    """Render random attributes in several templates, and in several trainings."""
    result = read("replicates-nulls")
    rows = pd.DataFrame(result["rows"])
    keys = ["part", "size", "replicates"]
    crossed = rows[(rows.method == "crossed") & (rows.scope == "all")]
    few, more = crossed[crossed.replicates < FEW], crossed[crossed.replicates >= FEW]
    return f"""## Replicates

What measures the whole table again, such as a template, a training or a corpus, is a third facet. Scope "all" speaks of
new words and new replicates, "both" of new words in these replicates alone.

### Attribute words at random, in several templates

Targets of WEAT 1, 6 and 7, as many random attributes a class, no controls, in the first 2, 3, 5 and 10 templates of the
sentence encoder all-MiniLM-L6-v2 (`{result["about"]["templates"]}`); and random words on both sides in two to five
trainings of word2vec (50 dimensions, {read("trained-seeds")["about"]["words"]:,} words of English manual pages, which
have hardly any of the lists' words), the same but for the seed and the order in which two threads worked. Next
to `crossed`: what is reported if templates are averaged over (`crossed` and WEAT on the mean table) or counted as words
(SEAT: WEAT's permutation test, two-sided, in which each word in each template is one more word; a sentence's score is
its mean cosine with all sentences of one class, those of other templates included, less that with all of the other; of
trainings, which have no space in common, cosines within a training). Share of findings at the 5% level, lists together,
{number_of_draws(rows)} draws of each list, size and number of replicates.

{markdown_table(_by_method(rows, keys))}

Wanted: scope "all" between 2% and 7%. 
Of {len(more)} cells of five replicates or more, {outside_wanted(more)}.
Of {len(few)} cells of two and three, {outside_wanted(few)}.
{_OUTSIDE}

Width of the 95% intervals, mean over cells:

{markdown_table(_widths(rows, keys))}

Scope "all", list by list (bold: outside 2 to 7%):

{markdown_table(_by_design(crossed))}

Of these short runs (acceptance .8) {_diverged(crossed)} had divergent transitions, on the mean table
{_diverged(rows[rows.method == "crossed on the mean table"])}; the default fits to the ten lists below had none.

{circumstances(result["about"])}
"""


_OUTSIDE = """What lies below has two causes. With eight words `crossed` is as cautious on the mean table: the prior of
words' preferences allows for more than these vary by, and random words on both sides hardly have any (see
[other vectors](other-designs.md#other-vectors)). And two or three replicates say little of how much a bias differs
between them: the prior decides, and it allows for more than these templates and seeds differ by, as it should if
others differ by more (see the planted shifts below)."""


def priors() -> str:
    """Render other priors of what replicates differ by."""
    result = read("replicates-priors")
    rows = pd.DataFrame(result["rows"])
    every = rows[rows.scope == "all"]
    return f"""### Priors of what replicates differ by

The same nulls of WEAT 1 and 7 by other random draws, two and three templates, under other priors of
`sd_replicate_preference`, a replicate's own share of a bias, in units of the table: share of findings, coverage and
width, scope "all".

{markdown_table(covering_findings(every, ["part", "size", "replicates"]).rename(columns={"part": "prior"}))}

{circumstances(result["about"])}
"""


def planted() -> str:
    """Render shifts of known size."""
    result = read("replicates-planted")
    rows = pd.DataFrame(result["rows"])
    keys = ["times", "replicates"]
    of_scale = rows[rows.method == "replicate_sd"].set_index(keys)
    of_scale = of_scale.rename(columns={"shift": "sd", "bias": "estimated", "coverage_95": "sd covered"})
    covered = of_scale["sd covered"].map("{:.1%}".format).where(of_scale.sd > 0, "")
    bias = rows[(rows.method == "crossed") & (rows.scope == "all")].set_index(keys)
    told = of_scale[["sd", "estimated"]].assign(
        **{"sd covered": covered, "bias covered": bias.coverage_95.map("{:.1%}".format)}
    )
    on_mean = {n: own["share"] for n, own in rows[rows.method == "crossed on the mean table"].groupby("times")}
    shown = _by_method(rows[rows.method != "replicate_sd"], keys).merge(told.reset_index(), on=keys)
    return f"""### Planted shifts of replicates

Simulated tables, eight words each, without a bias in the population. Effects of words are as large as on real vectors,
and differ between replicates by half as much; the bias differs between replicates with a standard deviation of so many
*times* that between lists of words. Share of findings; the standard deviation planted, its mean estimate
(`replicate_sd`) and how many of its 95% intervals hold it; how many intervals of the bias hold its true value. (Means
have a flat prior, so that any other true bias would be held as often.)

{markdown_table(shown)}

If the third facet is left out, shifts as large as what lists vary by are found as a bias in
{from_to(on_mean[1])} of tables, and three times as large ones in {from_to(on_mean[3])}. With it five and ten
replicates hold what they promise. Two or three that differ three times as much as lists do are still found too often:
they say little about differences this large, and the prior expects smaller ones. If replicates do not differ at all,
their standard deviation is overestimated, since zero cannot be distinguished from a little.

{circumstances(result["about"])}
"""


def planted_priors() -> str:
    """Render shifts of few replicates under other priors."""
    result = read("replicates-planted-priors")
    rows = pd.DataFrame(result["rows"])
    every = rows[(rows.method == "crossed") & (rows.scope == "all")]
    return f"""The same under other priors of `sd_replicate_preference`, in which few replicates let the prior decide:

{markdown_table(covering_findings(every, ["part", "times", "replicates"]).rename(columns={"part": "prior"}))}

`Exponential(lam=10)` is shipped. A narrower prior brings the intervals of two templates that hardly differ nearer to
those of templates as they are, and makes those too short that are so already, of replicates that differ much. A wider
one, or one of heavy tails, mends the latter at the price of intervals that two replicates make half as wide again, or
several times as wide. So few draws tell widths apart and hardly shares.

{circumstances(result["about"])}
"""


def lists() -> str:
    """Render the ten lists in ten templates."""
    result = read("replicates-lists")
    rows = pd.DataFrame(result["rows"])
    unsure = rows[(rows.ci95_lb < 0) & (rows.ci95_ub > 0)]
    apart = unsure.loc[unsure["SEAT p"].idxmin()]
    seen = unsure[unsure["SEAT p"] < 0.05]
    interval = [f"{row.bias:+.4f} [{row.ci95_lb:+.4f}, {row.ci95_ub:+.4f}]" for row in rows.itertuples()]
    between = [f"{row.least:+.4f} to {row.largest:+.4f}" for row in rows.itertuples()]
    shown = pd.DataFrame(
        {
            "list": rows["list"],
            "bias, scope all": interval,
            "WEAT d": rows["WEAT d"],
            "WEAT p": rows["WEAT p"],
            "SEAT d": rows["SEAT d"],
            "SEAT p": rows["SEAT p"],
            "bias of single templates": between,
            "distinguishable alone": [f"{row.alone} of {row.templates}" for row in rows.itertuples()],
            "sd between templates": rows["sd between templates"],
            "reliability of one": rows["reliability of one"],
        }
    )
    return f"""### The ten lists in ten templates

Posterior bias with its 95% interval, WEAT on the mean table and SEAT on sentences (both one-sided, as published; SEAT
with 100,000 permutations), the raw bias in single templates and in how many of them, taken alone, the interval would
exclude zero, the posterior mean of the standard deviation of the bias between templates, and the share of the variance
of one template's bias that is due to words. No controls.

{markdown_table(shown)}

Of the {len(unsure)} lists whose interval holds zero, SEAT finds a bias, one-sided at the 5% level, in {len(seen)}:
{", ".join(seen["list"]) or "none"}. They disagree most in {apart["list"]}: SEAT's p is {apart["SEAT p"]:.2g}, and the
interval {apart.ci95_lb:+.4f} to {apart.ci95_ub:+.4f}. Divergent transitions in these ten default fits:
{rows.divergences.sum():.0f}; the least bulk ESS of a parameter or of any quantity that is reported, under any scope, is
{rows["least bulk ESS"].min():,.0f} ({rows.loc[rows["least bulk ESS"].idxmin(), "list"]}).

{circumstances(result["about"])}
"""


def planning() -> str:
    """Render predicted widths and real ones."""
    result = read("replicates-planning")
    rows = pd.DataFrame(result["rows"])
    ratio = rows["real width"] / rows["predicted width"]
    three, more = (ratio[rows.templates == n] for n in (3, 7))
    return f"""### Fewer templates, planned and real

From the fit of all ten templates: the width that `plan` predicts for fewer, and the mean width of fits to random
sub-sets of so many; the probability of excluding zero, and how many of these did. (Sub-sets of seven of ten overlap.)

{markdown_table(rows)}

Real intervals are {three.min():.2f} to {three.max():.2f} times as wide as predicted with three templates and
{more.min():.2f} to {more.max():.2f} times with seven: the prediction knows from ten templates how little they differ,
and a fit to three does not.

{circumstances(result["about"])}
"""


def cost() -> str:
    """Render the cost of a hundred replicates and of five."""
    result = read("replicates-cost")
    rows = pd.DataFrame(result["rows"])
    return f"""### What a hundred replicates cost

Processor time to sample a simulated table, as a ratio (median of five seeds in turn; at most 1.2 was wanted):
{rows.ratio.iloc[0]:.2f}.

{markdown_table(rows.drop(columns="ratio"))}

{circumstances(result["about"])}
"""


def _by_method(rows: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Share of findings with its interval over cells that are alike, a column for each method and scope."""
    told = {
        ("crossed", "all"): "crossed, all",
        ("crossed", "both"): "crossed, both",
        ("crossed on the mean table", "both"): "mean table: crossed",
        ("WEAT", "targets"): "mean table: WEAT",
        ("SEAT", "targets"): "SEAT",
    }
    tables = [
        pooled_findings(own, keys).set_index(keys)["share"].rename(label)
        for (method, scope), label in told.items()
        if len(own := rows[(rows.method == method) & (rows.scope == scope)])
    ]
    return pd.concat(tables, axis=1).reset_index()


def _widths(rows: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    fitted = rows[rows.width.notna()]
    names = fitted.method + ", " + fitted.scope
    return fitted.assign(name=names).pivot_table(index=keys, columns="name", values="width").reset_index()


def _by_design(rows: pd.DataFrame) -> pd.DataFrame:
    """A row for each list and size, a column for each number of replicates."""
    shown = rows.assign(shown=rows["share"].map(marked), part=rows.part + ", " + rows.wordlist)
    wide = shown.pivot_table(index=["part", "size"], columns="replicates", values="shown", aggfunc="first")
    return wide.fillna("").reset_index()


def _diverged(rows: pd.DataFrame) -> str:
    """Share of fits with divergences."""
    return f"{(rows.divergences * rows.draws).sum() / rows.draws.sum():.1%}"
