"""How much the bias differs between templates, seeds or corpora, in sentences."""

from bayes_bias.formatting import bounds, in_words, plain, plural, probability
from bayes_bias.posterior.summary import row_of
from bayes_bias.reports.report_record import Section
from bayes_bias.table.column_names import interval_of


def about_replicates(section: Section) -> str:
    """How much they differ, the sign in a new one, and the reliability of one and of all; "" without replicates."""
    if not section.replicate_kind:
        return ""
    kind, decimals = section.replicate_kind, section.table.metric.decimals
    sd, same_sign = (row_of(section.summary, name) for name in ("replicate_sd", "same_sign"))
    one, every = section.summary.loc["reliability", "mean"]
    count = in_words(section.fitted.data.sizes["replicate"])
    return (
        f"For all words of such kinds, the standard deviation of the bias between {plural(kind)} is"
        f" {plain(sd['mean'], decimals)} {bounds(*interval_of(sd), decimals, sign='')}. A new {kind} would have"
        f" a bias of the same sign with probability {probability(same_sign['mean'])}. The reliability of one {kind} is"
        f" {probability(one)}, that of the mean of all {count} is {probability(every)}. Reliability is the share of a"
        f" measured bias’s variance that is due to the choice of words and not of {plural(kind)}."
    )
