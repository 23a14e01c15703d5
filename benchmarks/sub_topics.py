"""Words that belong together: false findings and width of intervals, with clusters from the vectors and without.

``python -m benchmarks.sub_topics --embedding FILE --draws 200``: no list names its sub-topics; the true bias is zero.
With ``others --templates minilm_templates.npz``: tables with controls, of three groups, and of an encoder's templates.
With ``pairs``: each target has a partner in the other group, the nearest word.
"""

import argparse
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, product
from math import isnan
from time import perf_counter

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from bayes_bias import open_embedding
from bayes_bias.associations.cosines import cosines
from bayes_bias.associations.sub_topics import Vocabulary, sub_topics_of, with_sub_topics
from bayes_bias.checks.null_jobs import Record, judge
from bayes_bias.checks.null_lists import NullDesign
from bayes_bias.embeddings.embedding import Embedding
from bayes_bias.models.spec import load_spec
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.table.labels import SIDES, belongs, labelled
from bayes_bias.words.wordlist import WordList, load_wordlist
from benchmarks.markdown import circumstances, markdown_table
from benchmarks.provenance import provenance, read, rows_of, write
from benchmarks.shares import from_to, share_of

# Sub-topics of each class, words in all of them, and whether the targets are drawn likewise.
_CELLS = (
    (2, 8, False), (3, 12, False), (4, 12, False), (3, 24, False), (5, 25, False),
    (2, 8, True), (4, 12, True), (3, 24, True), (5, 25, True),
    (0, 8, False), (0, 25, False), (0, 8, True), (0, 25, True), (1, 8, False), (1, 25, True),
)  # fmt: skip
type Cell = tuple[int, int, bool]

# What a list may say of its sub-topics; intervals are compared with those of the first.
METHODS = ("independent", "from vectors", "named", "named with vectors")

# Both sides are drawn, so that no real target brings sub-topics of its own.
_OTHER_CELLS = ((3, 12, True), (0, 8, True))
_CONTROLS, _GROUPS, _TEMPLATES = "two control classes", "three groups", "ten templates"
_PAIRS, _PAIRED_CELLS = "pairs", ((3, 12, True), (0, 8, True))


def main() -> None:
    """Run all cells and write their table, as far as it is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="?", choices=["words", "others", "pairs"], default="words")
    parser.add_argument("--embedding", default="googlenews-demo")
    parser.add_argument("--templates", help="vectors of an encoder in templates")
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=-1)
    chosen = parser.parse_args()
    start, embedding, records = perf_counter(), open_embedding(chosen.embedding), list[Record]()
    designs, cells, name = {"": _design(embedding).without_controls()}, _CELLS, "sub-topics"
    if chosen.part == "others":
        designs, cells, name = _others(embedding, open_embedding(chosen.templates)), _OTHER_CELLS, "sub-topics-others"
    if chosen.part == "pairs":
        designs, cells, name = {_PAIRS: designs[""]}, _PAIRED_CELLS, "sub-topics-pairs"
    for of_cell in _records(designs, cells, chosen.draws, chosen.jobs):
        records += of_cell
        table = summarised(pd.DataFrame(records))
        print(table.tail(1).to_string(index=False, float_format="{:.3f}".format), flush=True)
        about = {"embedding": embedding.name, "draws": chosen.draws, "seconds": round(perf_counter() - start)}
        write(name, provenance() | about, rows_of(table))


def _design(embedding: Embedding, name: str = "weat6") -> NullDesign:
    wordlist = load_wordlist(name).with_controls(["neutral", "human"])
    return NullDesign.of(wordlist, embedding.excerpt([*wordlist.targets, *wordlist.attributes], pool=True))


def _others(embedding: Embedding, templates: Embedding) -> dict[str, NullDesign]:
    return {
        _CONTROLS: _design(embedding),
        _GROUPS: _design(embedding, "religion").without_controls(),
        _TEMPLATES: _design(templates).without_controls(),
    }


def _records(designs: Mapping[str, NullDesign], cells: Sequence[Cell], draws: int, jobs: int) -> Iterator[list[Record]]:
    """Those of one cell after the other."""
    with Parallel(n_jobs=jobs, batch_size=5) as run:
        for (name, design), (topics, size, both) in product(designs.items(), cells):
            vocabulary = Vocabulary.of({word: design.vectors[word] for word in design.pool})
            cell = replace(design.with_sizes(size), topics=topics, group_topics=topics if both else 0)
            cell = cell.with_random_groups(size) if both else cell
            judge_one = _judged_pairs if name == _PAIRS else _judged
            judged = run(delayed(judge_one)(cell, vocabulary, number) for number in range(draws))
            of_cell = {"design": name, "topics": topics, "words": size, "both sides": both}
            yield [
                {**record, **of_cell, "draw": number, "method": method}
                for number, by_method in enumerate(judged)
                for method, record in by_method.items()
            ]


def _judged(design: NullDesign, vocabulary: Vocabulary, number: int) -> dict[str, Record]:
    table = design.draw(1, number).with_vectors(design.vectors)
    logging.getLogger("bayes_bias").setLevel(logging.ERROR)  # a notice for each list
    tables = {"independent": table, "from vectors": with_sub_topics(table, sub_topics_of(table, vocabulary))}
    if design.topics > 1:
        named = _named(table, design)
        topic_of = {word: topic for topics in named.values() for topic, words in topics.items() for word in words}
        tables["named"] = table.over(lambda values: labelled(values, topic_of, {}))
        tables["named with vectors"] = with_sub_topics(table, sub_topics_of(table, vocabulary, named))
    return {
        method: judge(each, load_spec("crossed"), seed=number, scopes=["both"])[0] for method, each in tables.items()
    }


def _judged_pairs(design: NullDesign, vocabulary: Vocabulary, number: int) -> dict[str, Record]:
    """Words of the first group with their nearest neighbours; which of a pair is in which group is drawn."""
    logging.getLogger("bayes_bias").setLevel(logging.ERROR)
    drawn = design.draw(1, number)
    first, *_ = drawn.groups
    targets, attributes = (belongs(drawn.values, side) for side in SIDES)
    left = [word for word in design.pool if word not in targets and word not in attributes]
    rng, pairs = np.random.default_rng([number, 1]), []
    for word in (word for word, home in targets.items() if home == first):
        near = np.stack([design.vectors[other] for other in left]) @ design.vectors[word]
        pairs.append([word, left.pop(int(np.argmax(near)))][:: rng.choice([1, -1])])
    classes: dict[str, list[str]] = {}
    for word, home in attributes.items():
        classes.setdefault(home, []).append(word)
    groups = dict(zip(drawn.groups, map(list, zip(*pairs, strict=True)), strict=True))
    words = {"groups": groups, "classes": classes, "stereotypes": dict(drawn.stereotypes), "pairs": pairs}
    table = cosines(design.vectors, WordList.from_mapping(words, name="pairs"), controls=())
    related = with_sub_topics(table, sub_topics_of(table, vocabulary))
    tables = {"independent": table.without_labels(), "from vectors": related, "named": table}
    return {
        method: judge(each, load_spec("crossed"), seed=number, scopes=["both"])[0] for method, each in tables.items()
    }


def _named(table: AssociationTable, design: NullDesign) -> dict[str, dict[str, tuple[str, ...]]]:
    """The topics that words were drawn from: so many runs of each class, or group, as long as can be."""
    homes: dict[str, list[str]] = {}
    for side in SIDES if design.group_topics else SIDES[1:]:
        for word, home in belongs(table.values, side).items():
            homes.setdefault(home, []).append(word)
    cuts = {home: [len(words) * k // design.topics for k in range(design.topics + 1)] for home, words in homes.items()}
    return {
        home: {f"{home} {k}": tuple(words[start:end]) for k, (start, end) in enumerate(pairwise(cuts[home]))}
        for home, words in homes.items()
    }


def summarised(records: pd.DataFrame) -> pd.DataFrame:
    """A row for each cell: false findings of each method, and how much wider its intervals are than the first's."""
    rows = []
    keys = ["design", "topics", "words", "both sides"]
    for cell, of_cell in records.groupby(keys, sort=False):
        by_method = {method: frame.set_index("draw") for method, frame in of_cell.groupby("method")}
        row = dict(zip(keys, cell, strict=True))
        row["draws"] = len(by_method[METHODS[0]])
        for method in METHODS:
            frame = by_method.get(method)
            row[method] = None if frame is None else float((frame.p_value < 0.05).mean())
        for method in METHODS[1:]:
            frame = by_method.get(method)
            wider = None if frame is None else float((frame.sd / by_method[METHODS[0]].sd).mean())
            row[f"width, {method}"] = wider
        rows.append(row)
    return pd.DataFrame(rows)


def answer() -> str:
    """Say how often words of several topics are found to be biased, counted as independent words and as fewer."""
    rows = pd.DataFrame(read("sub-topics")["rows"]).query("topics > 1")
    return f"""Counted as independent words, they have {from_to(rows["independent"])} false findings on real vectors,
and {from_to(rows["from vectors"])} once sub-topics are taken from the vectors. A class about a single topic is beyond
any interval over words."""


def section() -> str:
    """Render sub-topics that no list names."""
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
        method: [share_of(share, n) for share, n in zip(rows[method], rows.draws, strict=True)]
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


if __name__ == "__main__":
    main()
