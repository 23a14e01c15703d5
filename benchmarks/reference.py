"""Published raw cosines, vectors and figures: those of the tests (see tests/reference/README.md)."""

from pathlib import Path

import pandas as pd

import bayes_bias as bb

REFERENCE = Path(__file__).parents[1] / "tests" / "reference"

# Word list and embedding of the tables of Dobrzeniecka & Urbaniak (2024), doi:10.1162/coli_a_00507.
TABLES = (
    "gender_glove",
    "gender_google",
    "gender_reddit",
    "gender_reddit_debiased",
    "race_glove",
    "race_google",
    "religion_glove",
    "religion_google",
    "weat7_glove",
    "weat7_google",
)


def published_cosines(name: str, **options: str) -> bb.AssociationTable:
    """One of the tables, its rows that code missing words removed; options of `AssociationTable.from_frame`."""
    every = pd.read_csv(REFERENCE / "cosines.csv.xz")
    frame = every[(every.table == name) & (every.cosine_similarity > -50)]  # missing words are coded -100
    own = frame[frame.connection == "associated"].groupby("protected_word").word_class.first()
    return bb.AssociationTable.from_frame(
        frame,
        target="protected_word",
        group=own.to_dict(),
        attribute="word_to_compare",
        attribute_class="word_class",
        value="cosine_similarity",
        stereotypes={c: c for c in dict.fromkeys(own)},
        name=name,
        **options,
    )
