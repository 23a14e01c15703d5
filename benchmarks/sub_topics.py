"""Words that belong together: false findings and width of intervals, with clusters from the vectors and without.

``python -m benchmarks.sub_topics --embedding FILE --draws 200``: no list names its sub-topics; the true bias is zero.
"""

import argparse
import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from time import perf_counter

import pandas as pd
from joblib import Parallel, delayed

from bayes_bias import open_embedding
from bayes_bias.checks.null_verdicts import Record, judge
from bayes_bias.checks.random_nulls import NullDesign
from bayes_bias.embeddings.embedding import Embedding
from bayes_bias.measuring.relatedness import Vocabulary, sub_topics_of, with_sub_topics
from bayes_bias.models.model_spec import load_spec
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.words.wordlist import load_wordlist
from benchmarks.provenance import RESULTS, provenance

# Sub-topics of each class, words in all of them, and whether the targets are drawn likewise.
_CELLS = (
    (2, 8, False), (3, 12, False), (4, 12, False), (3, 24, False), (5, 25, False),
    (2, 8, True), (4, 12, True), (3, 24, True), (5, 25, True),
    (0, 8, False), (0, 25, False), (0, 8, True), (0, 25, True), (1, 8, False), (1, 25, True),
)  # fmt: skip


def main() -> None:
    """Run all cells and write their table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--embedding", default="googlenews-demo")
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=-1)
    chosen = parser.parse_args()
    start, embedding = perf_counter(), open_embedding(chosen.embedding)
    records = pd.DataFrame(_records(embedding, chosen.draws, chosen.jobs))
    table = summarised(records)
    print(table.to_string(index=False, float_format="{:.3f}".format))
    about = provenance() | {
        "embedding": embedding.name,
        "draws": chosen.draws,
        "seconds": round(perf_counter() - start),
    }
    path = RESULTS / "sub-topics.json"
    path.write_text(json.dumps({"about": about, "rows": table.to_dict("records")}, indent=1) + "\n")


def _records(embedding: Embedding, draws: int, jobs: int) -> Iterator[Record]:
    design = NullDesign.of(load_wordlist("weat6"), embedding.excerpt([*_weat6()], pool=True)).without_controls()
    vocabulary = Vocabulary.of({word: design.vectors[word] for word in design.pool})
    with Parallel(n_jobs=jobs, batch_size=5) as run:
        for topics, size, both in _CELLS:
            cell = replace(design.with_sizes(size), topics=topics, group_topics=topics if both else 0)
            cell = cell.with_random_groups(size) if both else cell
            judged = run(delayed(_judged)(cell, vocabulary, number) for number in range(draws))
            for number, pair in enumerate(judged):
                for method, record in pair.items():
                    of_cell = {"topics": topics, "words": size, "both sides": both, "draw": number}
                    yield {**record, **of_cell, "method": method}


def _weat6() -> list[str]:
    words = load_wordlist("weat6")
    return [*words.targets, *words.attributes]


def _judged(design: NullDesign, vocabulary: Vocabulary, number: int) -> dict[str, Record]:
    table = design.draw(1, number)
    logging.getLogger("bayes_bias").setLevel(logging.ERROR)  # a notice for each list
    tables = {"independent": table, "from vectors": _related(table, design, vocabulary)}
    return {
        method: judge(each, load_spec("crossed"), seed=number, scopes=["both"])[0] for method, each in tables.items()
    }


def _related(table: AssociationTable, design: NullDesign, vocabulary: Vocabulary) -> AssociationTable:
    carrying = table.with_vectors(design.vectors)
    return with_sub_topics(carrying, sub_topics_of(carrying, vocabulary))


def summarised(records: pd.DataFrame) -> pd.DataFrame:
    """A row for each cell: false findings of both, and how much wider one interval is than the other."""
    rows = []
    for cell, of_cell in records.groupby(["topics", "words", "both sides"], sort=False):
        by_method = {method: rows_of.set_index("draw") for method, rows_of in of_cell.groupby("method")}
        shares = {method: float((rows_of.p_value < 0.05).mean()) for method, rows_of in by_method.items()}
        wider = float((by_method["from vectors"].sd / by_method["independent"].sd).mean())
        row = dict(zip(("topics", "words", "both sides"), cell, strict=True))
        rows.append({**row, "draws": len(by_method["independent"]), **shares, "width": wider})
    return pd.DataFrame(rows)


if __name__ == "__main__":
    main()
