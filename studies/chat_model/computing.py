"""Published answers to 21 stereotypes: the published number again, and D with labels and wordings as samples."""

from pathlib import Path

import pandas as pd

import bayes_bias as bb
from studies.auditing import SEED
from studies.study import Results

GPT4O, GPT4 = FILES = ("gpt4o_answers.csv.gz", "result_chained.csv.gz")
LISTS = "answers-demo"
# Categories of one file by their names in the other.
_CALLED = {"arabmuslim": "arab"}
# In the published code the first half of all words of a stereotype is positive, for all stereotypes together; those of
# Arab, Asian, Black and Hispanic people have job titles below, so that these negative words are in their first halves.
MISPLACED = (*("failure", "agony", "disappointment", "torture"), *("hate", "unpleasant", "detest", "distasteful"))


def compute(folder: Path, kept: Path, jobs: int) -> Results:
    """21 stereotypes of a chat model (Bai et al. 2025): the published number, and what stands with which samples."""
    del kept, jobs  # 15 seconds on one core
    choices = bb.answers.published_answers(folder / GPT4O)
    found = bb.answers.estimate(choices, LISTS, name="GPT-4o", seed=SEED)
    misplaced = bb.answers.estimate(choices, _as_published(), scope="trials", seed=SEED)
    table = _of_stereotypes(found.table.join(found.published))
    table["d_with_misplaced_words"] = _of_stereotypes(misplaced.published).published_d
    levels = _of_stereotypes(found.levels)
    return {
        "stereotypes": table,
        "ladder": _of_stereotypes(found.ladder),
        "sources": _of_stereotypes(found.sources),
        "counts": found.counts(),
        "pairs": levels[levels.index.get_level_values("factor") != "first"],
        "choices": pd.DataFrame({"asked": [len(choices)], "valid": [int((choices.chosen != "").sum())]}),
        "gpt4": gpt4(folder / GPT4),
    }


def _of_stereotypes(table: pd.DataFrame) -> pd.DataFrame:
    """Without the name of the one model."""
    return table.droplevel("model")


def gpt4(path: Path) -> pd.DataFrame:
    """The published D of GPT-4 in its file, and the same recomputed from its answers, by stereotype."""
    file = pd.read_csv(path).dropna(subset="iat_bias")
    file = file.assign(category=file.dataset.replace(_CALLED), variation="chained", answer=file["iat"])
    choices = bb.answers.published_answers(file, LISTS)
    ours = _of_stereotypes(bb.answers.estimate(choices, LISTS, scope="trials", seed=SEED).published)
    theirs = file.groupby("category").iat_bias.agg(["size", "mean"])
    return pd.DataFrame(
        {"answers": theirs["size"], "in_file": theirs["mean"], "recomputed": ours.published_d}
    ).rename_axis("stereotype")


def _as_published() -> dict[str, bb.WordList]:
    """The lists with the eight negative words among the positive ones."""
    return {name: _moved(words) for name, words in bb.answers.wordlists(LISTS).items()}


def _moved(words: bb.WordList) -> bb.WordList:
    positive, negative = words.stereotypes.values()
    moved = [word for word in words.classes[negative] if word in MISPLACED]
    classes = {
        positive: [*words.classes[positive], *moved],
        negative: [word for word in words.classes[negative] if word not in moved],
    }
    return bb.wordlist(words.groups, classes, words.stereotypes, name=words.name, sentences="as units")
