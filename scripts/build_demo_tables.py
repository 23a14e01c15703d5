"""Build bayes_bias/data/tables/, each table with its provenance, from nothing but the shipped lists and templates.

    .venv-transformers/bin/python scripts/build_demo_tables.py

`pairs-demo.csv` and `pairs-demo-even.csv` hold all-unmasked likelihoods of the same sentence pairs by two tiny BERTs,
of a text with a known bias and of one without (four minutes); `tpr-demo.csv` people whose rates are known.
"""

import hashlib
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import bayes_bias as bb  # noqa: E402
from bayes_bias.words.templates import word_class  # noqa: E402
from studies.known_bias.training import train_masked  # noqa: E402

FOLDER = ROOT / "bayes_bias/data/tables"
WORDS, TEMPLATES = bb.load_wordlist("weat6"), bb.load_templates("association-10")
(MEN, WOMEN), (CAREER, FAMILY) = WORDS.groups.values(), WORDS.classes.values()
# How probable a word of career is beside a man's name, and one of family beside a woman's, in each template.
BIASED, EVEN = (0.9, 0.6) * 5, (0.5,) * 10
SENTENCES, PAIRS, PEOPLE = 12_000, 240, 2_000
OCCUPATIONS = (
    *("architect", "attorney", "chef", "dentist", "journalist"),
    *("nurse", "painter", "physician", "professor", "surgeon"),
)


def main() -> None:
    """Write all of them."""
    FOLDER.mkdir(exist_ok=True)
    pairs = sentence_pairs(seed=3)
    for name, odds, seed in (("pairs-demo", BIASED, 1), ("pairs-demo-even", EVEN, 2)):
        with tempfile.TemporaryDirectory() as folder:
            # Asked for the names and words alone, since a model this small learns them late among others.
            words = [*WORDS.targets, *WORDS.attributes]
            model = train_masked(list(text(odds, seed)), f"{folder}/{name}", seed=seed, epochs=8, maskable=words)
            scores = bb.sentence_pairs.score(bb.language_models.load_masked(model), pairs, "aul")
        columns = {"score_more": scores.score_more.round(5), "score_less": scores.score_less.round(5)}
        write(name, pairs.assign(**columns), told_of_pairs(odds))
    people, rates = classified(seed=5)
    write("tpr-demo", people, told_of_people(rates))


def sentence(name: str, word: str, template: int) -> str:
    return TEMPLATES.pairs((name, word_class(name)), (word, word_class(word)))[template].text


def text(odds: tuple[float, ...], seed: int) -> Iterator[str]:
    """What a model is trained on."""
    rng = np.random.default_rng(seed)
    for _ in range(SENTENCES):
        template, is_man = int(rng.integers(len(odds))), rng.random() < 0.5
        is_career = (rng.random() < odds[template]) == is_man
        yield sentence(rng.choice(MEN if is_man else WOMEN), rng.choice(CAREER if is_career else FAMILY), template)


def sentence_pairs(seed: int) -> pd.DataFrame:
    """The same sentence with a man's and a woman's name: the stereotypical one first."""
    rng, rows = np.random.default_rng(seed), []
    for item in range(PAIRS):
        is_career, template = bool(item % 2), int(rng.integers(len(BIASED)))
        word = rng.choice(CAREER if is_career else FAMILY)
        man, woman = (sentence(rng.choice(names), word, template) for names in (MEN, WOMEN))
        more, less = (man, woman) if is_career else (woman, man)
        labels = {"bias_type": "career" if is_career else "family", "template": TEMPLATES.labels[template]}
        rows.append({"item": item, "sentence_more": more, "sentence_less": less, **labels})
    return pd.DataFrame(rows)


def classified(seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """People, and the true rates at which a classifier recognises them."""
    rng = np.random.default_rng(seed)
    level, half_gap = rng.normal(0.8, 0.6, len(OCCUPATIONS)), rng.normal(0, 0.25, len(OCCUPATIONS))
    rates = pd.DataFrame({"F": expit(level + half_gap), "M": expit(level - half_gap)}, OCCUPATIONS)
    y = rng.choice(OCCUPATIONS, PEOPLE, p=rng.dirichlet(np.full(len(OCCUPATIONS), 4.0)))
    own = rates.index.get_indexer(y)
    is_woman = rng.random(PEOPLE) < rng.uniform(0.15, 0.85, len(OCCUPATIONS))[own]
    known = rng.random(PEOPLE) < np.where(is_woman, rates.F.to_numpy()[own], rates.M.to_numpy()[own])
    gender = np.where(is_woman, "F", "M")
    others = [rng.choice([each for each in OCCUPATIONS if each != right]) for right in y]
    return pd.DataFrame({"y": y, "prediction": np.where(known, y, others), "group": gender}), rates


def write(name: str, frame: pd.DataFrame, told: str) -> None:
    """The table, and its provenance beside it."""
    path = FOLDER / f"{name}.csv"
    frame.to_csv(path, index=False, lineterminator="\n")
    provenance = textwrap.dedent(f"""\
        rows = {len(frame)}
        columns = {list(frame)!r}
        sha256 = "{hashlib.sha256(path.read_bytes()).hexdigest()}"
        licence = "MIT, as the package"
        """)
    head = "# Written by scripts/build_demo_tables.py; do not edit.\n"
    path.with_suffix(".toml").write_text(head + told + provenance, encoding="utf-8")
    print(f"{path.name}: {len(frame)} rows, {path.stat().st_size:,} bytes")


def told_of_pairs(odds: tuple[float, ...]) -> str:
    return textwrap.dedent(f'''\
        title = "Scores of {PAIRS} sentence pairs by a tiny BERT"
        description = """
        All-unmasked likelihoods (AUL, nats for each token). The stereotypical sentence has a man's name beside a word
        of career, or a woman's beside one of family (WEAT 6, in the templates of association-10); the other one has
        the name exchanged. The BERT (two layers of width 64, studies/known_bias/training.py) was trained on
        {SENTENCES} sentences of our own, in which the word beside a name is the stereotypical one with the probability
        `odds` of its template; it was asked for names and words alone."""
        odds = {list(odds)!r}
        ''')


def told_of_people(rates: pd.DataFrame) -> str:
    listed = "\n".join(f"{name} = [{row.F:.4f}, {row.M:.4f}]" for name, row in rates.iterrows())
    return (
        textwrap.dedent(f'''\
        title = "{PEOPLE} made-up people of ten occupations, and what a classifier says of them"
        description = """
        Simulated: nobody was classified. Each is recognised at the rate of their occupation and group, which is below
        (`rates`: F, M); whoever is not has one of the other occupations, at random."""
        ''')
        + "rates = { "
        + listed.replace("\n", ", ")
        + " }\n"
    )


if __name__ == "__main__":
    main()
