"""What measures make of corpora whose bias is known, as a page of evidence from `ground-truth-*.json`."""

import math
import textwrap

import pandas as pd

from benchmarks.markdown import markdown_table
from benchmarks.provenance import RESULTS, read
from benchmarks.shares import from_to

# From the page.
FOLDER = "../../benchmarks/results/ground-truth"

_HEAD = """Known bias is a study of its own (`studies/known_bias`): `python -m benchmarks.known_bias SCENARIO
--folder FOLDER` measures these numbers again, and `python -m studies.known_bias run SCENARIO --out FOLDER` answers the
same questions of a scenario of your own. Nothing is left out because it looks bad; no model was trained again because a
measure disliked it.

In each scenario 100 occupations are said with groups (genders; in `groups` religions and origins, too) in sentences
of our own,
165 templates for training and 113 others for masked models. For each occupation p(group) is drawn, then the group
of each
sentence; log odds of what came out are the truth. Models are word2vec (skip-gram and CBOW) and fastText of 50
dimensions, 20
passes over the corpus (fastText: 10), window 10, by gensim; and tiny BERTs. GloVe is missing: no kept package
trains it on
Python 3.12. Trainings of one truth tell much the same, so all intervals (95%) are over truths.

The published answers next to ours are those of Schröder et al. (2021, arXiv:2111.07864; 2023, ICPRAM; 2024,
IJCNN) and
Gray, Milanova & Wu (2024), as the design of this study quotes them. Their models are BERTs and larger text models,
ours mostly
static vectors of small corpora of templates: if the answers differ, that may be why.
"""


def answer() -> str:
    """Say how often the posterior finds a bias in corpora without any, and how often a word's interval is right."""
    found = _rows("null", "false-findings").query("asked == 'two groups' and measure == 'posterior'").value
    covered = _rows("majority", "replicates").set_index("asked").value
    return f"""In models of corpora without bias, the posterior of two groups of occupations finds one in
{100 * found.min():.1f} to {found.max():.1%} of lists. The bias of a *single word* describes these vectors alone: its
95% interval contains the bias that was built into the corpus in {from_to(covered["one corpus"])} of cases, and in
{from_to(covered["corpora as replicates"])} with five corpora as replicates. A shift common to all words cannot be
recovered from the vectors."""


def body() -> str:
    """Render the scenarios that have been run; a part without results is left out."""
    text = "\n".join([_HEAD, *(part for section in SECTIONS if (part := section()))])
    return "\n\n".join(_filled(paragraph) for paragraph in text.strip().split("\n\n")) + "\n"


def sentences() -> str:
    """The curve of correlation against words of a group in a sentence."""
    if (rows := _rows("sentences", "orders")) is None:
        return ""
    return f"""## The sign depends on the sentences

Correlation over occupations with the true log odds (gender, four truths), by how many words of a group stand in each
sentence that has any. "First order" is how often an occupation and a group's words stand in one sentence
(pointwise mutual
information), "second order" how alike the sentences are in which they stand, which is what a cosine tells. Both
need no
training; `tests/studies/known_bias/test_questions.py` holds them.

{_pivot(rows, "measure", "words_per_sentence")}

![Correlation by order and model]({FOLDER}/sentences-orders-gender.png)

With one word of a group in a sentence, "he" never meets "his", and a male occupation meets both: first order knows
the
truth, second order hardly. What a cosine says then depends on model and training: its correlation may be high,
nothing, or
negative. A trial for the design of this study found -.93 for skip-gram and +.96 with two to four words. Corpora of
templates in the published manner, with one pronoun a sentence, are of the first kind; text about people, which
repeats its
pronouns, is of the second. All other scenarios of static vectors here have
two.

{_about("sentences")}
"""


def words() -> str:
    """Values of words against the truth."""
    if (rows := _rows("majority", "words")) is None:
        return ""
    gender = rows[rows.kind == "pearson"]
    parts = [
        f"""## Values of words

Correlation over occupations of a measure's value for a word with the true log odds of men against women; 16 truths
(majority groups), {_trainings("majority")} trainings.

{_pivot(gender[gender.against == "log odds"], "measure", "model")}

![Correlation with the log odds]({FOLDER}/majority-words-gender-log-odds.png)

Measures without a sign can only know how large a bias is. Correlation with the absolute log odds:

{_pivot(gender[gender.against == "absolute log odds"], "measure", "model")}

Published (BERT, gender): about .4 for WEAT and SAME, varying widely between models, .1 for Direct Bias, 0 for MAC,
best for
unmasking. Here every signed measure is near .95 and they hardly differ, since with a few hundred words and two
words of the
group in each sentence there is little else for a vector to tell. MAC's is near zero here, too. The measures that the
literature ranks differ by what they throw away (the sign), not by how they find the direction. The posterior mean
*is*
WEAT's score for a word; what it adds is the interval.
"""
    ]
    groups = _rows("groups", "words")
    if groups is not None:
        for attribute in ("religion", "ethnicity"):
            own = groups[(groups.attribute == attribute) & (groups.kind == "pearson") & (groups.against == "log odds")]
            parts.append(
                f"### {attribute.capitalize()}: the first group against the others\n\n"
                f"{_pivot(own, 'measure', 'model')}\n"
            )
        parts.append(
            "Published: high for gender, low for religion and ethnicity. Here they are lower than for gender if a"
            " measure has one direction for all groups (Direct Bias, RIPA, whose first component need not be the"
            " direction that is asked for, and SAME, whose sign is that of the first two groups), and not lower if"
            f" it compares the first group's words with all others.\n\n{_about('groups')}\n"
        )
    return "\n".join([*parts, _about("majority"), ""])


def models() -> str:
    """Values of models, ranking."""
    rows, ranked = _rows("majority", "models"), _rows("majority", "ranking")
    if rows is None or ranked is None:
        return ""
    spread = ranked.dropna(subset="decided")
    told = "; ".join(
        f"{row.model}: decided in {row.decided:.0%} of pairs, right in {row.right_if_decided:.0%} of those, and"
        f' "cannot tell" in {row.undecided_if_wrong:.0%} of the pairs that its more probable order gets wrong'
        for row in spread.itertuples()
    )
    return f"""## Values of models, and which of two is more biased

Correlation over trainings with the mean absolute log odds of the corpus, all occupations as one group of targets:

{_pivot(rows[rows.list == "targets"], "measure", "model")}

Those said most and least with men as two groups (25 each):

{_pivot(rows[rows.list != "targets"], "measure", "model")}

Share of pairs of trainings, of different truths, that are put in the right order (half is chance):

{_pivot(ranked[ranked.list == "targets"], "measure", "model")}

![Pairs in the right order]({FOLDER}/majority-ranking-gender-targets.png)

Published: SAME ranks right in .58 to .89 of cases for most settings. A mean over occupations of signed values
(quasi-F, the
posterior of the list's bias, WEFAT) says whether the list leans to one side, and not how biased its words are: it
ranks no
better than chance here, as it should. The posterior that answers is that of the *spread* of the words' biases. It
says
besides how probable an order is; {told}.
"""


def following() -> str:
    """Skew and stereotype."""
    if (rows := _rows("skew", "following")) is None:
        return ""
    one = rows[(rows.list == "targets") & (rows.model == "skip-gram")]
    return f"""## Skew and stereotype

Shares of men normal about mu (.25 to .75: skew) with sigma (.1 to .35: stereotype), 66 truths, skip-gram.
Correlation of a
measure with the mean of the log odds (skew), their standard deviation (stereotype), and the mean distance of
shares from one
half (away):

{_pivot(one, "measure", "followed")}

![What measures follow]({FOLDER}/skew-following-gender-targets-skip-gram.png)

Published: only SAME's skew follows the mean of word biases (r2 .21), its stereotype version their spread and
absolute size best, SAME and WEAT less, MAC and Direct Bias not. Here **nothing follows skew** (WEFAT's mean goes
against it), and nothing could: what vectors learn from is how often two words meet *compared with how often each is
said at all*. A lean that all
occupations share is in how often men's words are said, and is divided out. Cosines tell how occupations differ from
each other in whom they are said with, and not how they all lean; a measure or posterior of the list's mean bias
speaks of the former's average alone. Their spread and size are recovered well by SAME, Direct Bias, RIPA and the
posterior of the spread alike, and by MAC with the sign turned; Direct Bias does as SAME does, because with two
groups of matched words their directions are nearly one (see below).

{_about("skew")}
"""


def coverage() -> str:
    """How sure one should have been."""
    parts = []
    rows, together = _rows("majority", "coverage"), _rows("majority", "replicates")
    if rows is not None:
        table = rows[["model", "slope", "r2", "excluded", "right"]].assign(
            covered=[_told(row) for row in rows.itertuples()]
        )
        parts.append(
            f"""## Do intervals cover?

Each log odds implies a cosine, by a line that is fitted on the other truths. Share of 95% intervals of
`target_bias` that
hold it (`covered`); `excluded`: share of intervals without zero; `right`: share of those with the sign of the truth.

{markdown_table(table)}

**They do not cover at 95%**, and should not be read so: an interval of `target_bias` says how far the word's bias
*in these
vectors* might move with other attribute words. It knows nothing of what another corpus or training would have made
of the
word. If that matters, several corpora or trainings are needed, as replicates of one table:
"""
        )
    if together is not None:
        parts.append(
            f"""Share of intervals that hold what the *drawn* shares imply, from one corpus, and from the five corpora
of a truth as replicates (scope "all"):

{_pivot(together, "model", "asked")}

![Coverage from one corpus and from five]({FOLDER}/majority-replicates-gender.png)
"""
        )
    null, exact = _rows("null", "false-findings"), _rows("null-exact", "false-findings")
    if null is not None:
        lists = null[null.asked == "two groups"]
        each = null[null.asked == "each target"]
        parts.append(
            f"""## Corpora without bias

Both genders alike for every occupation. Lists of two groups of 10 occupations, drawn at random
({lists.tests.max():.0f} lists
a model); share of findings at the 5% level:

{_pivot(lists, "measure", "model", decimals=3)}

![False findings]({FOLDER}/null-false-findings-gender-two-groups.png)

WEAT's test holds here, because targets are what is random and they are exchangeable: it permutes them. It fails if
attributes are random, which [another page](false-findings.md) shows. Single occupations, share of posterior
intervals that exclude
zero; `right` is the share of those findings with the sign of the log odds that *came out*, by chance:

{markdown_table(each.assign(found=[_told(row, 3) for row in each.itertuples()])[["model", "found", "right", "tests"]])}

An occupation of 55 sentences is said more with one gender by chance, and a vector knows: most of these findings
are true of
this corpus, and false of the process that made it. """
        )
        if exact is not None:
            own = exact[exact.asked == "each target"]
            parts.append(
                f"""If sentences are dealt so that every occupation is said exactly as often with both (but for the
odd sentence), what is left is the training's own noise:

{_findings(own)}
"""
            )
        parts.append(_about("null") + "\n")
    return "\n".join(parts)


def frequency() -> str:
    """Bias, or how frequent words are?"""
    rows = _rows("frequency", "frequency")
    if rows is None:
        return ""
    by = ["cell", "model"]
    weat, raw, equal = (
        rows[rows.measure == name].set_index(by) for name in ("WEAT", "posterior", "posterior at equal frequency")
    )
    table = pd.DataFrame(
        {
            "WEAT": weat.value,
            "posterior": raw.value,
            "at equal frequency": equal.value,
            "bias": raw.bias,
            "bias at equal": equal.bias,
            "called frequency": equal.called_frequency,
            "called bias": equal.called_bias,
            "covered": equal.covered,
            "covered, unadjusted": raw.covered,
            "width": equal.width / raw.width,
        }
    )
    cells = [", ".join(part for part in cell.split(", ") if not part.startswith("mu")) for cell, _ in table.index]
    shown = table.reset_index().assign(cell=cells)
    both = pd.DataFrame(read("equal-frequency")["rows"]).drop(columns="worlds")
    return f"""## Bias, or frequency?

Words of two groups may differ in how frequent they are, too. Here occupations are said with men
nine times in ten, all alike (sigma 0: **no bias**), or with shares that differ between occupations (sigma .2). The 25
occupations that are said most with men are as frequent as the 25 others (frequency 1), or eight times as frequent
(frequency 8); within either half the logarithm of the frequency has a standard deviation of 1. Words of men are
frequent, those of women rare. {rows.truths.max():.0f} truths of each cell; share of findings at the 5% level:

{markdown_table(shown)}

"Called frequency" and "called bias" are what the verdict with the targets' frequency as a covariate says: frequency
accounts for the bias, or it does not. "Bias" is the mean. "Covered": the 95% interval holds the mean bias of the
same shares at frequency 1. "Width" is in widths without covariate.

If frequency alone differs, WEAT finds a bias in most corpora and the posterior in some. At equal frequency it is
gone, and the verdict calls what the posterior had found frequency. If shares differ as well, the verdict mostly
calls it a bias, less often than at frequency 1: the bias itself is smaller, perhaps since vectors of rare words
hold less of it, and the interval is longer. At sigma .2 intervals do not cover even at frequency 1 and without
adjustment, so that this says nothing of adjusting: each corpus has a bias of its own about the mean of its cell,
and an interval over words knows nothing of other corpora.

**One side adjusted, or both.** Corpora without bias, with fastText vectors of the same corpora beside the others:

{markdown_table(both)}

Every finding is false. FastText's show little of the frequency, and adjusting for it finds some. With both sides
findings come in either direction; intervals are longer, and too short. The two classes hardly overlap in frequency,
which a notice says, so that the adjustment is a slope within classes times the distance between them. Within a
class, pronouns are frequent and kinship terms rare, and a group of occupations may prefer one or the other.
"Counterparts" is the correlation of that preference over matched words (he and she): twenty words count as little
more than ten, and what their slope says is not frequency. Slopes of targets are enough. There is one for each
class, which takes out what goes with the targets' frequency, whatever the attributes' is.

{_about("frequency")}
"""


def contextual() -> str:
    """Tiny BERTs."""
    rows = _rows("contextual", "words")
    if rows is None:
        return ""
    own = rows[rows.kind == "pearson"]
    parts = [
        f"""## Masked language models

Tiny BERTs (two layers), trained from scratch on the corpora of eight truths, two seeds each:
{_trainings("contextual")} trainings.
Correlation over occupations with the true log odds, and with their absolute value:

{_pivot(own, "measure", "against")}

![Contextual measures]({FOLDER}/contextual-words-gender-log-odds.png)

Published: unmasking is the most faithful, SEAT's word values vary most. Here log probabilities (LPBS, and the
posterior on
the same table) and unmasking with its sign are nearly perfect for words. Cosines (SEAT; mean of the last layer's
vectors, the
word in the target's slot of ten test sentences, the role's slot masked) have *no sign of their own*: over trainings
their
correlation runs from -.96 to +.96, and two seeds of one truth may differ in it. One word of the group stands in each
sentence,
so that none is ever seen beside a target that is asked for: the model learns probabilities, and where vectors come
to lie is
left to chance. With two or three words in each sentence, four single trainings gave LPBS .82 to .86 and .50, SEAT
nearly the
same: the model then copies one word of the group from another, and learns less of the target.

Means over models hardly show which is more biased, by any measure; unmasking says most.
"""
    ]
    ranked = _rows("contextual", "ranking")
    if ranked is not None:
        parts.append(f"Pairs of models in the right order:\n\n{_pivot(ranked, 'measure', 'list')}\n")
    null = _rows("contextual-null", "false-findings")
    if null is not None:
        parts.append(
            "Corpora without bias, lists of two groups drawn at random and single occupations, share of findings at 5%"
            f" level:\n\n{_pivot(null, 'measure', 'asked', decimals=3)}\n\n"
            "SEAT and CEAT take sentences of the same words for new words, and find too much. The posterior finds less"
            " than 2%, which is too little, and so does the quasi-F, which has no prior: both allow for preferences of"
            " single words, of which models of such corpora have next to none.\n"
        )
    return "\n".join([*parts, _about("contextual"), ""])


def robustness() -> str:
    """Corpora, templates, seeds."""
    if (rows := _rows("robustness", "robustness")) is None:
        return ""
    one = rows[(rows.list == "targets") & (rows.model == "skip-gram")]
    two = rows[(rows.list != "targets") & (rows.model == "skip-gram")]
    return f"""## Robustness

Share of the variance of a measure's value over trainings of skip-gram that is the truth, the corpus, the half of
the templates,
the seed; and the mean relative difference of two trainings of one truth. All occupations:

{_components(one)}

Two groups:

{_components(two)}

![Variance components]({FOLDER}/robustness-robustness-gender-targets-skip-gram.png)

Published, difference between models of one truth: Direct Bias .306, WEAT .150, SAME .121, unmasking .096
(preprint); SEAT
1.36, Direct Bias and RIPA .36, unmasking .29 (2024). A relative difference says nothing of a measure whose values
are near
zero (quasi-F, the posterior's bias of all occupations): its shares of variance do.

{_about("robustness")}
"""


def direction() -> str:
    """Mean difference against first component."""
    rows = [_rows(scenario, "angle") for scenario in ("majority", "groups")]
    known = [each for each in rows if each is not None]
    if not known:
        return ""
    return f"""## The direction of bias

Degrees between the difference of two classes' means and the first principal component of matched pairs, which
Direct Bias and
RIPA take:

{_pivot(pd.concat(known).drop_duplicates(["attribute", "model"]), "attribute", "model", decimals=1)}

Published: 10.9 degrees if Direct Bias agrees with SAME, 17.6 if it does not. With two groups of matched
words the two are
one direction here. With four and five groups the first component is whatever varies most, and not the group that
is asked
for: Direct Bias and RIPA then answer another question.
"""


def parts() -> str:
    """Test and retest, classifiers."""
    rows, classifiers = _rows("downstream", "parts"), _rows("downstream", "classifiers")
    if rows is None or classifiers is None:
        return ""
    tables = "\n\n".join(
        f"{name.capitalize()}, by dimensions taken out:\n\n{_pivot(own, 'what', 'components')}"
        for name, own in classifiers.groupby("classifier", sort=False)
    )
    return f"""## A part of the occupations

Mean absolute change of a score when a random part of the occupations stands for all, over the measure's range:

{_pivot(rows, "measure", "share", decimals=4)}

Published (halves): MAC .0010, SAME .0016, Direct Bias .0018, SAME's skew .0022, WEAT .0397. A small change is no
virtue by
itself: MAC changes least because it says the same of everything.

## Classifiers

Biographies are bags of words made from the same truth: mentions of occupations, most of them the person's own, and
four words of
the person's gender. A classifier tells twenty occupations from the mean vector; its gap is the true-positive rate
of men less
that of women. 16 truths.

{tables}

Gaps follow the truth closely. Hard debiasing takes the bias of occupations to nothing, and the gaps stay as they
were: the
biography's own gendered words still point where they did, and a classifier needs no more. A bias of zero in the
vectors of
occupations promises nothing about what is built on them.

{_about("downstream")}
"""


SECTIONS = (sentences, words, models, following, coverage, frequency, contextual, robustness, direction, parts)


def _components(rows: pd.DataFrame) -> str:
    """Shares of variance, and the difference of two trainings of one truth."""
    shares = rows.pivot_table(index="measure", columns="level", values="value", sort=False)
    difference = rows.groupby("measure", sort=False).difference.first()
    return markdown_table(shares.assign(difference=difference).map("{:.2f}".format).reset_index())


def _findings(rows: pd.DataFrame) -> str:
    """Share of findings, how many of them have the sign of the truth, and how many were asked."""
    told = rows.assign(found=[_told(row, 3) for row in rows.itertuples()]).astype(object)
    return markdown_table(told[["model", "found", "right", "tests"]].fillna("no findings"))


def _filled(paragraph: str) -> str:
    """Prose in lines of one length; tables, figures and headings as they are."""
    return (
        paragraph.strip("\n")
        if paragraph.lstrip().startswith(("|", "#", "!", "<"))
        else textwrap.fill(" ".join(paragraph.split()), 118, break_long_words=False, break_on_hyphens=False)
    )


def _rows(scenario: str, question: str) -> pd.DataFrame | None:
    if not (RESULTS / f"ground-truth-{scenario}.json").exists():
        return None
    rows = pd.DataFrame(read(f"ground-truth-{scenario}")["rows"])
    own = rows[rows.question == question].dropna(axis=1, how="all")
    return own if len(own) else None


def _trainings(scenario: str) -> object:
    return read(f"ground-truth-{scenario}")["about"]["trainings"]


def _pivot(rows: pd.DataFrame, index: str, columns: str, decimals: int = 2) -> str:
    """A table of texts: value and interval."""
    told = rows.assign(text=[_told(row, decimals) for row in rows.itertuples()])
    whole = {name: f"{name:.0f}" if isinstance(name, float) else name for name in told[columns].unique()}
    told[columns] = told[columns].map(whole)
    return markdown_table(
        told.pivot_table(index=index, columns=columns, values="text", aggfunc="first", sort=False)
        .fillna("")
        .reset_index()
    )


def _told(row: object, decimals: int = 2) -> str:
    value, lower = (getattr(row, name, math.nan) for name in ("value", "ci95_lb"))
    upper = getattr(row, "ci95_ub", math.nan)
    if math.isnan(lower):
        return f"{value:.{decimals}f}"
    return f"{value:.{decimals}f} [{lower:.{decimals}f}, {upper:.{decimals}f}]"


def _about(scenario: str) -> str:
    about = read(f"ground-truth-{scenario}")["about"]
    told = f"`{scenario}`: {about['trainings']} trainings"
    failed = f", {about['failed']} failed" if about["failed"] else ""
    versions = ", ".join(f"{name} {each}" for name, each in about["versions"].items())
    return f"<sub>{told}{failed}; {versions}</sub>"
