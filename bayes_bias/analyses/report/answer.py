"""The sentences with the main results of a report, for all lists together and for each list."""

from collections.abc import Mapping, Sequence

from bayes_bias.analyses import headlines
from bayes_bias.analyses.headlines import Finding
from bayes_bias.analyses.report.section import Section
from bayes_bias.formatting import equals, in_words, joined, percent, plain, probability, signed, value_and_interval
from bayes_bias.table.columns import interval_of

_FEW_LISTS = 3  # the number of lists that a heading names
_JUDGED = ("distinguishable", "borderline", "not distinguishable")
# The reasons why a list has no verdict, by label.
_WITHHELD = {
    "confounded with frequency": "the words compared hardly overlap in frequency",
    "not converged": "the fit has not converged",
}
_OF_THESE_WORDS = "these words"  # the beginning of labels for fixed attributes


def heading(sections: Sequence[Section], embeddings: Sequence[str]) -> str:
    """Return a heading that names the embeddings and the lists but no results.

    More than _FEW_LISTS lists are counted. Otherwise, their titles are written up to a colon, such as "WEAT 6".
    """
    names_of_embeddings = joined(embeddings or ["this table"])
    titles = _lists_of(sections)
    if len(titles) > _FEW_LISTS:
        return f"Bias in {names_of_embeddings}: {len(titles)} word lists"
    return f"Bias in {names_of_embeddings}: {joined([title.partition(':')[0] for title in titles])}"


def answer(sections: Sequence[Section], survives: Mapping[str, bool]) -> str:
    """Describe the results for all lists together: first the findings, then the lists with other verdicts.

    `survives` has True for each list whose bias is distinguishable after Holm's adjustment, by name. Verdicts that
    concern only the words of the list are not summarised, so each is written in a sentence.
    """
    if len(sections) == 1:
        return _answer_of_one(sections[0])
    sections_of_label: dict[str, list[Section]] = {}
    for section in sections:
        sections_of_label.setdefault(section.verdict.label, []).append(section)
    if any(label.startswith(_OF_THESE_WORDS) or label == "raw contrast" for label in sections_of_label):
        return " ".join(f"{called(section)}: {section.verdict.short}." for section in sections)
    with_bias = sections_of_label.get("distinguishable")
    sentences = _findings(with_bias, sections, survives) if with_bias else [_no_finding(sections)]
    conclusions = {"borderline": "borderline", "not distinguishable": "inconclusive"}
    conclusions |= {label: f"missing, because {reason}" for label, reason in _WITHHELD.items()}
    for label, conclusion in conclusions.items():
        lists = sections_of_label.get(label, [])
        if label == "not distinguishable" and len(lists) == len(sections):
            continue  # already stated by `_no_finding`
        if len(lists) == 1:
            sentences.append(f"The result for {_listed(lists)} is {conclusion}.")
        elif lists:
            sentences.append(f"The results for {_listed(lists)} are {conclusion}.")
    return " ".join(filter(None, sentences))


def _lists_of(sections: Sequence[Section]) -> list[str]:
    """Return the titles of all lists. A list that was measured in several embeddings has a section for each of them."""
    return list(dict.fromkeys(section.table.title for section in sections))


def _noun(sections: Sequence[Section]) -> str:
    """Return the noun for what the sections are about: word lists or, if one has several sections, results."""
    return "word list" if len(_lists_of(sections)) == len(sections) else "result"


def _findings(found: Sequence[Section], sections: Sequence[Section], survives: Mapping[str, bool]) -> list[str]:
    """Return a sentence on the lists that show a bias, and a sentence on those that remain after Holm's adjustment.

    `found` are those `sections` whose lists have a bias, and `survives` has True for each list whose bias remains. A
    bias against the stereotype is marked as such. If lists were measured in several embeddings, each result is counted.
    """
    total, noun, n_lists = in_words(len(sections)), _noun(sections), len(_lists_of(sections))
    how_many = f"{in_words(len(found)).capitalize()} of {total}"
    if len(found) == len(sections):
        how_many = "Both" if len(found) == 2 else f"All {total}"
    counted = f"{noun}s"
    if noun == "result":
        counted += f" ({in_words(n_lists)} word {'list' if n_lists == 1 else 'lists'} in several embeddings)"
    shows = "shows" if len(found) == 1 else "show"
    names = []
    for section in found:
        name = called(section)
        if section.verdict.short.endswith("against the stereotype"):
            # A name such as "WEAT 7 (Math and arts)" has brackets already.
            name = f"{name[:-1]}; against the stereotype)" if name.endswith(")") else f"{name} (against the stereotype)"
        names.append(name)
    remaining = [section for section in found if survives[section.name]]
    if len(remaining) == len(found):
        subject = {1: "The finding remains", 2: "Both findings remain"}.get(len(found), "All findings remain")
    elif remaining:
        subject = f"Only {_listed(remaining)} {'remains' if len(remaining) == 1 else 'remain'}"
    else:
        subject = "The finding does not remain" if len(found) == 1 else "No finding remains"
    return [
        f"{how_many} {counted} {shows} a bias that chance alone is unlikely to explain: {joined(names)}.",
        f"{subject} after Holm’s adjustment for {total} {noun.removeprefix('word ')}s.",
    ]


def _no_finding(sections: Sequence[Section]) -> str:
    """Return a sentence which states that no list with a verdict shows a bias, or "" if no list has a verdict.

    Lists without a verdict, for example because their fit has not converged, are not counted.
    """
    judged = sum(section.verdict.label in _JUDGED for section in sections)
    if not judged:
        return ""
    noun, which = _noun(sections), " with a verdict" if judged < len(sections) else ""
    if judged == 1:
        return f"The only {noun}{which} shows no bias that can be distinguished from noise."
    subject = f"Neither {noun}{which}" if judged == 2 else f"None of the {in_words(judged)} {noun}s{which}"
    return f"{subject} shows a bias that can be distinguished from noise."


def _answer_of_one(section: Section) -> str:
    """Return the main result of a report on a single list.

    A list with one group compares its words with each other. Verdicts that are not about new words have their own
    sentence.
    """
    name, verdict = called(section), section.verdict
    if has_one_group(section) and verdict.label in _JUDGED:
        return f"{name} has one group, so its words matter more than their mean. {_differences_of_words(section)}"
    if verdict.label in (*_JUDGED, *_WITHHELD):
        return _finding(section).sentence("report")
    return f"{name}: {verdict.short}."


def _finding(section: Section) -> Finding:
    """Return the result on a list for the first sentence of the page.

    A bias against the expected direction gets a negative value. If the verdict depends on the prior, the caveat of the
    check of the prior has a clause on this after a colon, and is "" otherwise.
    """
    verdict = section.verdict
    _, _, clause_on_prior = section.checks["prior"].caveat.partition(": ")
    return Finding(
        title=called(section),
        value=verdict.mean * (verdict.expected or 1),
        size=verdict.posterior,
        clear=verdict.label == "distinguishable",
        has_stereotype=verdict.expected != 0,
        no_verdict=_WITHHELD.get(verdict.label, ""),
        prior=clause_on_prior.removesuffix("."),
        words={"borderline": ", although the result is borderline" if verdict.label == "borderline" else ""},
    )


def _listed(sections: Sequence[Section]) -> str:
    """Return the names of lists for a sentence."""
    return joined([called(section) for section in sections])


def called(section: Section) -> str:
    """Return the name of a list for a sentence."""
    return headlines.called(section.title)


def has_one_group(section: Section) -> bool:
    """Return True for a list with a single group, which compares the words of this group with each other."""
    return len(section.table.groups) == 1


def answer_of_list(section: Section) -> str:
    """Describe the results for one list: the verdict, the bias in each class, and WEAT for comparison.

    For scale, the bias is compared with random lists. If WEAT is not defined for the list, the reason is stated.
    """
    sentences = []
    if has_one_group(section) and section.diagnostics.for_bias.converged:
        sentences.append(_differences_of_words(section))
    sentences += [section.verdict.text, _by_class(section), _for_scale(section)]
    if section.weat is None:
        sentences.append(section.no_weat)
    else:
        effect = plain(section.weat.effect_size, 2)
        p = equals(probability(section.weat.p_value))
        sentences.append(f"For comparison, WEAT’s effect size is d = {effect} (one-sided p {p}).")
    return " ".join(filter(None, sentences))


def _differences_of_words(section: Section) -> str:
    """Describe how the words of a list with one group differ: their range, and how many intervals exclude zero."""
    words = section.summary.loc["target_bias"].sort_values("mean")
    decimals = section.table.metric.decimals
    lower, upper = interval_of(words)
    clear = int(((lower > 0) | (upper < 0)).sum())
    lowest, highest = words.index[0], words.index[-1]
    return (
        f"The words range from {signed(words['mean'].iloc[0], decimals)} ({lowest}) to"
        f" {signed(words['mean'].iloc[-1], decimals)} ({highest}), and the intervals of {clear:,} of {len(words):,}"
        " words exclude zero. To relate the words to an external measure, use `bayes_bias.criterion`."
    )


def _by_class(section: Section) -> str:
    """Describe the bias in each class, or return "" if it is not estimated.

    If the list has a bias that differs from zero in only some classes, these classes are named.
    """
    estimands = section.summary.index.get_level_values("estimand")
    is_usable = "class_bias" in estimands and section.diagnostics.converged
    if not is_usable or section.verdict.described_scope.samples_nothing:
        return ""
    rows, decimals = section.summary.loc["class_bias"], section.table.metric.decimals
    bias_of_classes: list[str] = []
    clear_classes: list[str] = []
    for name, row in rows.iterrows():
        lower, upper = interval_of(row)
        bias_of_classes.append(f"{value_and_interval(row['mean'], lower, upper, decimals)} for {name}")
        if not lower <= 0 <= upper:
            clear_classes.append(str(name))
    sentence = f"By class, the bias is {joined(bias_of_classes)}."
    if section.verdict.label == "distinguishable" and 0 < len(clear_classes) < len(rows):
        sentence += f" Only {joined(clear_classes)} can be distinguished from zero."
    return sentence


def _for_scale(section: Section) -> str:
    """Compare the size of the bias with lists of arbitrary topics in the same embedding.

    The numbers come from the check with random lists (``nulls``). Without them, the text is "".
    """
    numbers = section.checks["nulls"].numbers
    if "topics_median" not in numbers:
        return ""
    median = plain(numbers["topics_median"], section.table.metric.decimals)
    return (
        f"For scale, lists of arbitrary topics in this embedding have a median bias of {median} in either direction,"
        f" and {percent(numbers['topics_larger'])} of them have a larger bias than this list."
    )
