"""What a single finding does not promise: `python -m benchmarks.promises --draws 400`.

Four ways in which a reader of one verdict can be misled though each interval holds what it says: words about something,
several lists, lists that are tried until one works, and the number of words that would settle it. Eight attributes in
each class, no controls; records are kept, and a run goes on where an earlier one stopped.
"""

import argparse
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import bayes_bias as bb
from bayes_bias.checks.null_jobs import NULL_SAMPLING, judge, posterior_of
from bayes_bias.checks.null_lists import NullDesign
from bayes_bias.models.spec import load_spec
from bayes_bias.posterior.estimates import bias_estimate
from bayes_bias.posterior.holm import holm
from bayes_bias.posterior.planning import words_needed
from benchmarks.cells import LISTS, drawn_from, null_of
from benchmarks.markdown import circumstances
from benchmarks.provenance import provenance, read, write
from benchmarks.shares import share_of
from benchmarks.simulating import RECORDS, Record, simulated

LEVEL = 0.05
SPEC = load_spec("crossed")
_SIZE = 8
# A model of 50 dimensions, which `python -m benchmarks.trained` makes.
TRAINED = RECORDS / "word2vec-50-manual.npz"


@dataclass(frozen=True)
class Asked:
    """Which promise, and with the targets of which lists, or with words of which embedding; whether words count as
    independent draws."""

    what: str
    of: tuple[str, ...]
    independent: bool = True


def main() -> None:
    """Draw what is missing, and write a row for each promise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--only", default="", help="only promises whose name has this")
    parser.add_argument("--related", action="store_true", help="related words get less weight, as in a report")
    parser.add_argument("--name", default="promises", help="of the results")
    chosen = parser.parse_args()
    asked = [each for each in _ASKED if chosen.only in each.what]
    asked += [*(Asked(_TOPICS, (str(path),)) for path in (TRAINED,) if path.is_file() and chosen.only in _TOPICS)]
    asked = [replace(each, independent=not chosen.related) for each in asked]
    settings = (SPEC.sha256, vars(NULL_SAMPLING))
    found = simulated(judged, asked, chosen.draws, "promises", *settings, jobs=chosen.jobs)
    rows = [
        {"what": one.what, "of": ", ".join(Path(name).stem for name in one.of), "draws": chosen.draws}
        | pd.DataFrame([record for each, record in found if each == one]).agg(_told).dropna().to_dict()
        for one in asked
    ]
    print(pd.DataFrame(rows).to_string())
    about = {"specs": [f"{SPEC.name} {SPEC.sha256[:12]}"], "sampling": vars(NULL_SAMPLING)}
    write(chosen.name, provenance() | about, rows)


def _told(values: "pd.Series[float]") -> float:
    """Numbers of words by their median; all else as a share."""
    return float(values.median() if values.name == "words" else values.mean())


def judged(asked: Asked, seed: int) -> Record:
    """What one draw has of it."""
    logging.getLogger("bayes_bias").setLevel(logging.ERROR)
    return _JUDGED[asked.what](asked, seed)


def _of_targets(asked: Asked, seed: int) -> Record:
    """Real targets, and a random topic for each class: draws take one list after the other."""
    return _found(replace(_null(asked.of[seed % len(asked.of)], asked), topics=1), seed)


def _of_topics(asked: Asked, seed: int) -> Record:
    """A random topic for each group and each class."""
    design = replace(drawn_from(*asked.of, _SIZE), independent=asked.independent)
    return _found(replace(design, topics=1, group_topics=1), seed)


def _null(name: str, asked: Asked) -> NullDesign:
    return replace(null_of(name, _SIZE), independent=asked.independent)


def _found(design: NullDesign, seed: int) -> Record:
    return {"found": float(_chance(design.draw(1, seed)) < LEVEL)}


def _of_many(asked: Asked, seed: int) -> Record:
    """Lists without bias, each with random words of its own."""
    tables = [_null(name, asked).draw(place, seed) for place, name in enumerate(asked.of, start=1)]
    chances = np.array([_chance(table) for table in tables])
    return {"found": float((chances < LEVEL).any()), "after Holm": float((holm(chances) < LEVEL).any())}


def _of_variants(asked: Asked, seed: int) -> Record:
    """A list without bias, and the same without any one of its words."""
    whole = _null(*asked.of, asked).draw(1, seed)
    words = [(side, word) for side in ("target", "attribute") for word in whole.values[side].to_numpy()]
    variants = [replace(whole, values=whole.values.drop_sel({side: word})) for side, word in words]
    chances = np.array([_chance(table) for table in (whole, *variants)])
    return {"found": float((chances < LEVEL).any()), "whole": float(chances[0] < LEVEL)}


def _of_words(asked: Asked, seed: int) -> Record:
    """A list without bias in which none is found: what would a plan promise that takes the estimate for the truth?"""
    table = _null(*asked.of, asked).draw(1, seed)
    if _chance(table) < LEVEL:
        return {}
    fitted, _ = posterior_of(table, SPEC, seed=seed)
    draws = bias_estimate(fitted).draws.to_numpy()
    needed = words_needed(fitted, float(abs(draws.mean())))
    if needed is None:
        return {"said": 0.0}
    sizes = np.abs(np.quantile(draws, np.linspace(0.01, 0.99, 50)))
    power = np.mean([bb.plan(fitted, float(size), [needed], [needed]).power.item() for size in sizes])
    return {"said": 1.0, "words": float(needed), "probability": float(power)}


def _chance(table: bb.AssociationTable) -> float:
    """Chance of a difference this large if there were no bias."""
    (record,) = judge(table, SPEC, scopes=["both"])
    return float(record["p_value"])


_TOPICS = "topics on both sides"
_JUDGED: dict[str, Callable[[Asked, int], Record]] = {
    "real targets, random topics": _of_targets,
    _TOPICS: _of_topics,
    "ten lists": _of_many,
    "a list and its variants": _of_variants,
    "words needed": _of_words,
}
_ASKED = (
    Asked("real targets, random topics", LISTS),
    Asked(_TOPICS, ("googlenews-demo",)),
    Asked("ten lists", LISTS),
    Asked("a list and its variants", ("weat7",)),
    Asked("words needed", ("weat7",)),
)


def answer() -> str:
    """Say what a finding is not."""
    rows = read("promises")["rows"]
    shipped, *trained = (row["found"] for row in rows if row["what"] == "topics on both sides")
    many = next(row for row in rows if row["what"] == "ten lists")
    further = f", and {trained[0]:.0%} with a model of 50 dimensions" if trained else ""
    fewer = _with_sub_topics(_TOPICS)["found"]
    return f"""Distinguishable means associated, and not why: of arbitrary pairs of topics {fewer:.0%} are
distinguishable as well on GoogleNews vectors; {shipped:.0%} if all words count as independent draws{further}. The more
lists, the more findings: without any bias, some list of ten shows one in {many["found"]:.1%} of comparisons. A report
of two or more lists says which verdicts survive Holm's adjustment, after which it is {many["after Holm"]:.1%}."""


def _with_sub_topics(what: str) -> dict[str, Any]:
    """A promise of ``--only topics --related --name promises-sub-topics``, in which related words get less weight."""
    return next(row for row in read("promises-sub-topics")["rows"] if row["what"] == what)


def section() -> str:
    """Render what a single finding does not promise."""
    result = read("promises")
    by_what = {row["what"]: row for row in result["rows"]}
    shipped, *trained = (row for row in result["rows"] if row["what"] == "topics on both sides")
    draws = result["rows"][0]["draws"]

    def share(row: dict[str, Any], name: str = "found") -> str:
        return share_of(row[name], draws)

    many, variants, needed = (by_what[w] for w in ("ten lists", "a list and its variants", "words needed"))
    further = f", and with a model of 50 dimensions in {share(trained[0])}" if trained else ""
    targets = "real targets, random topics"
    return f"""## What one finding does not promise

Eight attributes in each class, {draws} draws each.

**"Distinguishable" means associated, and not why.** A random *topic* for each group and for each class, eight words
from the neighbourhood of a random one, is distinguishable from noise in {share(_with_sub_topics(_TOPICS))} of draws on
GoogleNews vectors; the targets of the ten WEAT lists with a random topic for each class in
{share(_with_sub_topics(targets))}. If all words count as independent draws, in {share(shipped)} and
{share(by_what[targets])}{further}. No word of these was chosen for a stereotype. The other numbers of this section are
those of independent draws, too.

**Several lists.** Of ten null lists, attribute words drawn at random for each, one or more are distinguishable in
{share(many)} of draws; after Holm's adjustment in {share(many, "after Holm")}.

**A list that is tried until it works.** Of weat7 with random attributes and its 32 variants, each without one of its
words, one or more are distinguishable in {share(variants)}; the list itself in {share(variants, "whole")}.

**Planning with the estimate.** How many words would settle it, if the bias is as large as estimated? Of null tables
that are not distinguishable {needed["said"]:.0%} get such a number, {needed["words"]:.0f} words in the median. Even
averaged over the posterior, the probability that they settle it is said to be {needed["probability"]:.0%} on average,
and it is 5%: a posterior knows that the bias may be smaller, or the other way, and not that there is none. So no
verdict plans, and `bb.plan` asks for the smallest bias of interest.

{circumstances(result["about"])}
"""


if __name__ == "__main__":
    main()
