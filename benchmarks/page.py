"""Render the pages of `docs/evidence` from `benchmarks/results/*.json`: `python -m benchmarks.page`.

Each page answers a question; what it shows is rendered beside the benchmark that measured it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pandas as pd

from bayes_bias.models.spec import load_spec
from benchmarks import (
    anchors,
    answer_models,
    answer_values,
    answers,
    atlases,
    by_writer,
    calibration_page,
    comparisons,
    competitors,
    compiling,
    contexts,
    covariates,
    criterion,
    data_fit,
    draws,
    encoding,
    frequency,
    gap_correlations,
    group_scales,
    known_bias_page,
    long_form,
    many_words,
    masked,
    measure_intervals,
    one_list,
    opening,
    over_time,
    pairs,
    planning,
    promises,
    published,
    quadrature,
    replicates_page,
    robust,
    sampling,
    sbc_page,
    shared_errors,
    simulated,
    skewed_pairs,
    speed,
    sweep,
    topical_words,
    tpr,
    trained_slices,
    verdicts,
    vocabularies,
)
from benchmarks.figures import plot_reliability, plot_shares
from benchmarks.provenance import PAGES, RESULTS, measured, read
from benchmarks.shares import WANTED


@dataclass(frozen=True)
class Page:
    """A question, its answer in a few sentences, and the sections that show it, by the name of each one's result, if it
    has several with ": " and a name of its own."""

    name: str
    question: str
    answer: Callable[[], str]
    sections: Mapping[str, Callable[[], str]]

    def render(self) -> str:
        """Join the sections that have been measured so far."""
        rendered = (section() for name, section in self.sections.items() if measured(name.split(":")[0]))
        return "\n".join([f"# {self.question}\n\n{_said(self)}\n\n{_ABOUT}\n", *rendered])


EVIDENCE = (
    Page(
        "false-findings",
        "How often is a bias found where there is none?",
        calibration_page.false_findings,
        {
            "nulls": calibration_page.nulls,
            "priors": calibration_page.priors,
            "competitors": competitors.section,
            "random-targets": calibration_page.random_targets,
        },
    ),
    Page(
        "other-designs",
        "And with other words, groups and vectors?",
        calibration_page.other_designs,
        {
            "topical": calibration_page.topical,
            "trained": calibration_page.others,
            "null-groups": calibration_page.null_groups,
            "one-group": calibration_page.one_group,
        },
    ),
    Page(
        "simulated-tables",
        "What if words are not independent draws?",
        simulated.answer,
        {"simulated": simulated.section, "group-scales": group_scales.section},
    ),
    Page(
        "sub-topics",
        "What if words come in sub-topics that no list names?",
        topical_words.answer,
        {
            "topical-words": topical_words.section,
            "topical-words-glove": topical_words.glove,
            "topical-words-loose": topical_words.loose,
            "topical-words-glove: competitors": topical_words.competitors,
            "topical-words-glove: rates": topical_words.realised,
            "topical-lists": topical_words.lists,
            "vocabularies": vocabularies.section,
        },
    ),
    Page(
        "frequency",
        "What if groups and classes differ in frequency?",
        frequency.answer,
        {"frequency": frequency.section, "frequency-glove": frequency.glove},
    ),
    Page(
        "other-words",
        "Do intervals of published measures contain the value of other lists?",
        measure_intervals.answer,
        {"measure-intervals": measure_intervals.section},
    ),
    Page("one-finding", "What does one finding not promise?", promises.answer, {"promises": promises.section}),
    Page(
        "known-bias",
        "What do measures make of corpora whose bias is known?",
        known_bias_page.answer,
        {"ground-truth-majority": known_bias_page.body},
    ),
    Page(
        "planted-bias",
        "Is a bias found that was planted in the vectors?",
        calibration_page.power,
        {"planted": calibration_page.planted},
    ),
    Page(
        "before-and-after",
        "Does the interval of a change hold the true change?",
        comparisons.answer,
        {"comparisons": comparisons.section},
    ),
    Page(
        "over-time",
        "Is a change over time found where there is none?",
        over_time.answer,
        {
            "over-time": over_time.section,
            "over-time-trained": trained_slices.section,
            "known-trends-growing": trained_slices.growing,
        },
    ),
    Page(
        "covariates",
        "Can a bias be told from what a covariate explains?",
        covariates.answer,
        {"covariates": covariates.section, "many-words": many_words.section},
    ),
    Page(
        "replicates",
        "How far do templates, trainings and corpora carry a finding?",
        replicates_page.answer,
        {
            "replicates-nulls": replicates_page.nulls,
            "contexts": contexts.section,
            "replicates-priors": replicates_page.priors,
            "replicates-planted": replicates_page.planted,
            "replicates-planted-priors": replicates_page.planted_priors,
            "replicates-lists": replicates_page.lists,
            "replicates-planning": replicates_page.planning,
            "replicates-cost": replicates_page.cost,
        },
    ),
    Page(
        "masked-models",
        "What is found in masked language models of a text without bias?",
        masked.answer,
        {"masked-nulls": masked.section},
    ),
    Page("ten-lists", "What does the model say of WEAT 1 to 10?", verdicts.answer, {"verdicts": verdicts.section}),
    Page(
        "model-fit",
        "Does the model fit the cosines?",
        data_fit.answer,
        {"data-fit": data_fit.section, "robust": robust.section},
    ),
    Page(
        "recovery",
        "Does a fit recover the parameters that made the data?",
        sbc_page.answer,
        {
            "sbc": sbc_page.plain,
            "sbc-groups": sbc_page.by_group,
            "sbc-replicates": sbc_page.replicated,
            "sbc-replicates-groups": sbc_page.replicated_by_group,
            "long-form": long_form.section,
        },
    ),
    Page(
        "planning",
        "Are intervals of planned lists as wide as predicted?",
        planning.answer,
        {"planning": planning.section},
    ),
    Page(
        "published-d",
        "What does a published d say without its vectors?",
        published.answer,
        {"published": published.section},
    ),
    Page(
        "criterion",
        "Does the interval of a correlation with something outside hold it?",
        criterion.answer,
        {"criterion": criterion.section, "criterion-slopes": criterion.section_of_slopes},
    ),
    Page(
        "tpr-gaps",
        "Do intervals of gaps of true-positive rates hold them?",
        tpr.answer,
        {"tpr": tpr.section, "gap-correlations": gap_correlations.section},
    ),
    Page(
        "sentence-pairs",
        "Do intervals from sentence pairs hold the true share?",
        pairs.answer,
        {"pairs": pairs.section, "by-writer": by_writer.section, "skewed_pairs": skewed_pairs.section},
    ),
    Page(
        "answers",
        "Is a stereotype found in answers of chat models where there is none?",
        answers.answer,
        {
            "answers-flips": answers.flips_section,
            "answers-held-out": answers.held_out_section,
            "answers-planted": answers.planted_section,
            "answers-sbc": answers.sbc_section,
            "answers-speed": answers.speed_section,
            "answer-models-contrasts": answer_models.contrasts_section,
            "answer-models-speed": answer_models.speed_section,
            "answer-values-planted": answer_values.planted_section,
            "answer-values-sbc": answer_values.sbc_section,
        },
    ),
    Page(
        "many-embeddings",
        "Can many embeddings and lists be pooled?",
        atlases.answer,
        {"atlases": atlases.section, "shared-errors": shared_errors.section, "sweep": sweep.section},
    ),
    Page(
        "speed",
        "How long does it take?",
        compiling.answer,
        {
            "compiling": compiling.section,
            "one-list": one_list.section,
            "quadrature": quadrature.section,
            "sampling": sampling.section,
            "draws": draws.section,
            "scale": speed.scale_section,
            "path": speed.path_section,
            "anchors": anchors.section,
            "opening-word2vec": opening.section,
            "encoding": encoding.section,
        },
    ),
)

_ABOUT = "*A page of the [evidence](index.md), rendered from `benchmarks/results` by `python -m benchmarks.page`.*"


def main() -> None:
    """Write the pages and their figures."""
    if measured("nulls"):
        plot_shares(pd.DataFrame(read("nulls")["rows"]), RESULTS / "nulls.png", WANTED)
    if measured("published"):
        plot_reliability(pd.DataFrame(read("published")["rows"]), RESULTS / "published.png")
    PAGES.mkdir(exist_ok=True)
    for name, text in pages().items():
        (PAGES / name).write_text(text, encoding="utf-8")
    print(f"wrote {PAGES}")


def pages() -> dict[str, str]:
    """Render each page by the name of its file, from what has been measured so far."""
    shown = [page for page in EVIDENCE if any(map(measured, page.sections))]
    return {"index.md": _index(shown)} | {f"{page.name}.md": page.render() for page in shown}


def _index(shown: list[Page]) -> str:
    """Questions and answers, and what all of them rest on."""
    rows = "\n".join(f"| [{page.question}]({page.name}.md) | {_said(page)} |" for page in shown)
    return f"""# Evidence

A method is believed for what it says when the truth is known. Take real targets and attribute words drawn at random:
there is no bias to find, and a test at the 5% level should find one in 5% of draws.

![Share of findings without any bias, by method and number of attribute words, a dot for each list. WEAT's test and the
published Bayesian model lie far above 5%, the crossed model just below.](../../benchmarks/results/nulls.png)

| Question | Answer |
| --- | --- |
{rows}

Every number was measured, on real GoogleNews vectors (the shipped `googlenews-demo`) unless a page says otherwise.
Intervals of shares are exact 95% Monte Carlo intervals. Cells that fall outside of what was wanted stay on their page.

{_rests_on()}
```{{toctree}}
:hidden:

{chr(10).join(page.name for page in shown)}
```
"""


def _said(page: Page) -> str:
    """The answer in one line, if all that it may read has been measured."""
    return " ".join(page.answer().split()) if all(map(measured, page.sections)) else "Not all of it has been measured."


def _rests_on() -> str:
    """What holds for all tables."""
    if not measured("group-scales"):
        return ""
    about = read("group-scales")["about"]
    least, most = about["times as wide"]
    return f"""## What these numbers rest on

Words are assumed to be draws from the population that they stand for. [Related words](../statistics.md#related-words)
get less weight, by as much as the vectors show. If nothing shows that words are related, they make the intervals
[too short](simulated-tables.md). Default models up to version 0.2 detected sub-topics by clustering, and their prior of
preferences was exponential. Tables that name another default model than today's were measured with them.

The line below a table names the default model that it was drawn with. Today's is {load_spec("crossed").sha256[:12]}.
With 7204e08a05fa there was one unit for the priors of all groups and classes; today each has its own. Intervals of the
{about["shipped lists"]} shipped lists are {least:.3f} to {most:.3f} times as wide as with one unit. If another default
model is named, or none, groups shared their standard deviations, too. If groups vary alike, today's intervals are
{_width(4)} times as wide with 4 words in each group and {_width(8)} times with 8; if they do not, see
[groups whose words vary unlike](simulated-tables.md#groups-whose-words-vary-unlike).
"""


def _width(words: int) -> str:
    """How many times as wide today's intervals are, with so many words in each group."""
    rows = pd.DataFrame(read("group-scales")["rows"]).set_index(["side", "first", "other", "times"])
    return f"{rows.width['targets', words, words, 1]:.2f}"


if __name__ == "__main__":
    main()
