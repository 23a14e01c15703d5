"""Related words over random vocabularies: ``python -m benchmarks.vocabularies VECTORS.npz``.

The effective number of words of a group or class, and with it the verdict, depends on 2,000 general words that are
drawn at random from the 30,000 most frequent ones. How much?
"""

import argparse
import logging
from dataclasses import replace

import pandas as pd

import bayes_bias as bb
from bayes_bias.associations.cosines import CONTROLS
from bayes_bias.associations.coverage import random_words
from bayes_bias.associations.general_words import GeneralWords
from bayes_bias.associations.related import related_words_of, with_related
from benchmarks.cells import LISTS
from benchmarks.markdown import circumstances, markdown_table
from benchmarks.provenance import provenance, read, write

_LISTS = (*LISTS, "gender", "race", "religion")


def main() -> None:
    """Judge each list with each vocabulary."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("vectors")
    parser.add_argument("--draws", type=int, default=10, help="vocabularies")
    chosen = parser.parse_args()
    logging.getLogger("bayes_bias").setLevel(logging.ERROR)
    embedding = bb.open_embedding(chosen.vectors)
    seeds = range(1, chosen.draws + 1)
    vocabularies = [GeneralWords.of(embedding.find(random_words(embedding, seed))) for seed in seeds]
    rows = []
    for name in _LISTS:
        wordlist = bb.load_wordlist(name)
        table = bb.cosines(wordlist, embedding, CONTROLS, sub_topics="independent", allow_loss=True)
        counts, chances = list[dict[str, float]](), list[float]()
        for general in vocabularies:
            related = related_words_of(table, general.without(wordlist))
            compared = (*table.groups, *table.associated_classes)
            counts.append({home: related[home].effective for home in compared})
            chances.append(bb.verdict(with_related(replace(table, notices=()), related)).chance)
        spread = pd.DataFrame(counts).std() / pd.DataFrame(counts).mean()
        rows.append(
            {
                "list": name,
                "vocabularies": chosen.draws,
                "most": str(spread.idxmax()),
                "largest sd": float(spread.max()),
                "mean sd": float(spread.mean()),
                "least chance": min(chances),
                "largest chance": max(chances),
            }
        )
        print(rows[-1], flush=True)
    write("vocabularies", provenance() | {"vectors": chosen.vectors.split("/")[-1]}, rows)


def section() -> str:
    """Render how much effective numbers of words, and chances, vary."""
    result = read("vocabularies")
    rows = pd.DataFrame(result["rows"])
    crossing = rows[(rows["least chance"] < 0.05) & (rows["largest chance"] >= 0.05)]
    moved = "No verdict moves." if crossing.empty else f"Verdicts move of {', '.join(crossing.list)}."
    shown = pd.DataFrame(
        {
            "list": rows.list,
            "mean": rows["mean sd"].map("{:.1%}".format),
            "largest": rows["largest sd"].map("{:.1%}".format),
            "of": rows.most,
            "chance": [f"{row['least chance']:.3f} to {row['largest chance']:.3f}" for _, row in rows.iterrows()],
        }
    )
    return f"""## Another random vocabulary

The standard deviation of a group's or class's effective number of words, over {rows.vocabularies.iloc[0]} vocabularies
of 2,000 random words, relative to its mean: on average over groups and classes, and for the one that varies most.
*Chance*: of a difference as large if there were no bias. {moved} The average is {rows["mean sd"].mean():.1%}.

{markdown_table(shown)}

{circumstances(result["about"])}
"""


if __name__ == "__main__":
    main()
