"""CEAT and SEAT where no bias is: real targets, attribute words drawn at random, each in ten templates.

python -m benchmarks.contexts --templates minilm_templates.npz
"""

import argparse
from collections.abc import Iterator

import numpy as np
import pandas as pd

from bayes_bias import WordList, cosines, load_wordlist, open_embedding
from bayes_bias.embeddings.embedding import Embedding
from bayes_bias.measures import ceat, seat
from benchmarks.markdown import circumstances, markdown_table
from benchmarks.provenance import provenance, read, write

LISTS = ("weat1", "weat6", "weat7")
SIZE, CEAT_DRAWS, PERMUTATIONS, LEVEL = 8, 1_000, 2_000, 0.05


def nulls(embedding: Embedding, name: str, draws: int) -> Iterator[tuple[bool, bool]]:
    """Whether CEAT and SEAT find a bias, in one random draw after the other."""
    words = load_wordlist(name)
    taken = {*words.targets, *words.attributes}
    pool = [word for word in embedding.vocabulary() if word.islower() and word not in taken]
    for seed in range(draws):
        picked = np.random.default_rng(seed).permutation(pool)[: 2 * SIZE].tolist()
        drawn = WordList.from_mapping(
            {
                "groups": words.groups,
                "classes": {"A": picked[:SIZE], "B": picked[SIZE:]},
                "stereotypes": dict(zip(words.groups, "AB", strict=True)),
            }
        )
        table = cosines(drawn, embedding, controls=())
        of_ceat = ceat(table, draws=CEAT_DRAWS, seed=seed)
        of_seat = seat(table, alternative="two-sided", permutations=PERMUTATIONS, seed=seed)
        yield of_ceat.p_value < LEVEL, of_seat.p_value < LEVEL


def main() -> None:
    """Measure, and keep the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--templates", required=True, help="an .npz with words, templates and vectors")
    parser.add_argument("--draws", type=int, default=100)
    given = parser.parse_args()
    embedding = open_embedding(given.templates)
    embedding = embedding.excerpt(embedding.vocabulary())
    rows = [
        {"targets": name, "draws": given.draws, "CEAT": of_ceat, "SEAT": of_seat}
        for name in LISTS
        for of_ceat, of_seat in [np.mean(list(nulls(embedding, name, given.draws)), axis=0).tolist()]
    ]
    about = provenance() | {"size": SIZE, "CEAT's draws": CEAT_DRAWS, "templates": len(embedding.replicates)}
    write("contexts", about, rows)


def section() -> str:
    """Render how often CEAT and SEAT find what is not there."""
    result = read("contexts")
    about = result["about"]
    rows = pd.DataFrame(result["rows"])
    shown = rows.assign(**{name: rows[name].map("{:.0%}".format) for name in ("CEAT", "SEAT")})
    return f"""### CEAT

Real targets and {about["size"]} attribute words a class drawn at random, in {about["templates"]} templates of the demo
encoder: how often CEAT ({about["CEAT's draws"]:,} draws of contexts) and SEAT report a bias that
is not there, at the 5% level.

{markdown_table(shown)}

{circumstances(about)}
"""


if __name__ == "__main__":
    main()
