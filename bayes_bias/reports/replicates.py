"""What the templates, seeds or corpora of a list say, in sentences and in numbers; nothing where there are none."""

from bayes_bias.formatting import bounds, in_words, plain, plural, probability
from bayes_bias.reports.record import Section
from bayes_bias.results.summary import interval_of, row_of


def said(section: Section) -> str:
    """By how much they differ, what a new one would show, and how far one of them can be relied on."""
    if not section.replicate_kind:
        return ""
    kind, decimals = section.replicate_kind, section.table.association.decimals
    sd, same_sign = (row_of(section.summary, name) for name in ("replicate_sd", "same_sign"))
    one, every = section.summary.loc["reliability", "mean"]
    count = in_words(section.fitted.data.sizes["replicate"])
    return (
        f"Over all words that could be, the bias differs between {plural(kind)} by a standard deviation of"
        f" {plain(sd['mean'], decimals)} {bounds(*interval_of(sd), decimals).replace('+', '')}. A new {kind} would have"
        f" a bias of the same sign with probability {probability(same_sign['mean'])}. One {kind} has a reliability of"
        f" {probability(one)}, the mean of all {count} one of {probability(every)}: the share of a measured bias’s"
        f" variance that comes from which words, and not which {plural(kind)}, were chosen."
    )
