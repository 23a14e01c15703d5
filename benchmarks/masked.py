"""Masked language models of a text without bias: `python -m benchmarks.masked nulls --draws 200`.

`python -m benchmarks.masked train` comes first, with the interpreter of `.venv-transformers`: it writes corpora of 120
nouns that meet in ten templates, some words often and some rarely, some pairs more than others, as their random places
in five dimensions say; trains a tiny BERT on each; and keeps what the package measures in them (log probabilities,
sentence vectors) in `benchmarks/records`. A draw takes some of these words for groups and classes, at random: words
have preferences, but no group has. Shares of findings go to `benchmarks/results/masked-nulls.json`.
"""

import argparse
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_bias import ModelSpec, Sampling, load_spec
from bayes_bias.checks.calibration import rates
from bayes_bias.checks.null_jobs import NULL_SAMPLING, Record, judge, judge_by_weat, run
from bayes_bias.cli.console import progress_bar
from bayes_bias.measures import lpbs, seat
from bayes_bias.table.association_table import AssociationTable, assemble
from bayes_bias.table.metric import COSINE, LOG_PROBABILITY_RATIO, Metric
from bayes_bias.words.templates import load_templates
from bayes_bias.words.word_classes import lexicon
from benchmarks.markdown import circumstances, markdown_table
from benchmarks.provenance import provenance, read, write
from benchmarks.shares import covering_findings, from_to, number_of_draws, outside_wanted, pooled_findings, shares_by

type Numbers = NDArray[np.float64]

HERE = Path(__file__).parent
MODELS = 3
SIZES = (8, 25)
_WORDS = 60  # targets, and as many attributes
_SENTENCES = 30_000
_DIMENSIONS = 5
_TOLD = ("all", "both")
_PERMUTATIONS = 2_000


def nouns() -> tuple[list[str], list[str]]:
    """Targets and attributes: any nouns, shuffled once."""
    known = [word for word, word_class in lexicon().items() if word_class == "noun"]
    chosen = np.random.default_rng(1).permutation(sorted(known))[: 2 * _WORDS].tolist()
    return chosen[:_WORDS], chosen[_WORDS:]


def corpus(seed: int) -> list[str]:
    """Sentences in which a target and an attribute meet, and others with one of them."""
    rng = np.random.default_rng(seed)
    targets, attributes = nouns()
    often = rng.lognormal(sigma=0.7, size=(2, _WORDS))
    places = rng.normal(size=(2, _WORDS, _DIMENSIONS)) / _DIMENSIONS**0.25
    chance = np.outer(*often) * np.exp(places[0] @ places[1].T)
    drawn = rng.choice(_WORDS**2, size=_SENTENCES, p=chance.ravel() / chance.sum())
    pairs, plain = load_templates("association-10"), load_templates("plain-10")
    templates = rng.integers(len(pairs.labels), size=_SENTENCES)
    meeting = [
        pairs.pairs((targets[i], "noun"), (attributes[j], "noun"))[r].text
        for i, j, r in zip(*np.divmod(drawn, _WORDS), templates, strict=True)
    ]
    alone = [sentence.text for word in (*targets, *attributes) for sentence in plain.sentences(word, "noun")]
    return meeting + alone * 3


def train(seed: int) -> None:
    """Train a model, and keep what the package measures in it."""
    from bayes_bias.associations.log_probability import log_probabilities
    from bayes_bias.embeddings.word_vectors import unit_rows
    from bayes_bias.language_models.encoding import encode
    from bayes_bias.language_models.hugging_face import load_encoder
    from bayes_bias.language_models.masked import load_masked
    from bayes_bias.words.wordlist import WordList
    from studies.known_bias.training import train_masked

    folder = train_masked(corpus(seed), HERE / "records" / f"masked-{seed}", seed=seed, epochs=12)
    targets, attributes = nouns()
    words = WordList.from_mapping(
        {
            "groups": {"x": targets[:30], "y": targets[30:]},
            "classes": {"a": attributes[:30], "b": attributes[30:]},
            "stereotypes": {"x": "a", "y": "b"},
        }
    )
    table = log_probabilities(words, load_masked(folder))
    values = np.stack([single.values.to_numpy() for single in table.singles().values()])
    embedding = encode(words, load_encoder(folder), "plain-10", cache=False)
    found = embedding.find([*targets, *attributes])
    vectors = np.stack([unit_rows(found[word]) for word in (*targets, *attributes)], axis=1)
    np.savez_compressed(_kept(seed), values=values.astype(np.float32), vectors=vectors.astype(np.float32))
    print(f"model {seed}: log probability ratios have a standard deviation of {values.std():.3f}")


def _kept(seed: int) -> Path:
    return HERE / "records" / f"masked-{seed}.npz"


@dataclass(frozen=True)
class Design:
    """What the file of a cell's records is called."""

    name: str


@dataclass(frozen=True, eq=False)
class MaskedCell:
    """Random groups and classes of the words of one model, judged by the posterior and by what is published.

    Attributes
    ----------
    values : array (templates, targets, attributes)
        Log probability ratios.
    vectors : array (templates, targets and attributes, dimensions)
        Unit vectors of sentences.
    """

    model: int
    size: int
    spec: ModelSpec
    values: Numbers
    vectors: Numbers
    sampling: Sampling = NULL_SAMPLING

    @property
    def design(self) -> Design:
        return Design(f"masked {self.model}")

    @property
    def key(self) -> str:
        """Hash of all that determines the numbers."""
        told = [self.model, self.size, self.spec.sha256, vars(self.sampling), _PERMUTATIONS]
        digest = hashlib.sha256(json.dumps(told).encode())
        digest.update(self.values.tobytes() + self.vectors.tobytes())
        return digest.hexdigest()[:16]

    def judge(self, number: int) -> list[Record]:
        """The records of one random draw."""
        rng = np.random.default_rng([self.model, self.size, number])
        rows, columns = (rng.permutation(_WORDS)[: 2 * self.size] for _ in range(2))
        targets, attributes = nouns()
        chosen = [targets[i] for i in rows], [attributes[j] for j in columns]
        ratios = self._table(chosen, self.values[:, rows][:, :, columns], LOG_PROBABILITY_RATIO)
        x, a = self.vectors[:, rows], self.vectors[:, _WORDS + columns]
        cosines = self._table(chosen, x @ a.transpose(0, 2, 1), COSINE)
        sentences_of = {
            word: rows
            for words, side in zip(chosen, (x, a), strict=True)
            for word, rows in zip(words, side.transpose(1, 0, 2), strict=True)
        }
        given = cosines.with_vectors(sentences_of)
        found = lpbs(ratios, permutations=_PERMUTATIONS, seed=number)
        sentences = seat(given, alternative="two-sided", permutations=_PERMUTATIONS, seed=number)
        records = [
            *self._fitted(ratios, number, "log probabilities"),
            _record("LPBS", found.difference / 2, found.p_value, "log probabilities"),
            *self._fitted(cosines, number, "cosines"),
            _record("SEAT", sentences.bias, sentences.p_value, "cosines"),
            judge_by_weat(replace(cosines, replicates=None), seed=number) | {"part": "cosines"},
        ]
        return [{"draw": number, **record} for record in records]

    def _table(self, words: tuple[list[str], list[str]], values: Numbers, metric: Metric) -> AssociationTable:
        names = ([name] * self.size for name in ("x", "y", "a", "b"))
        x, y, a, b = names
        templates = {f"t{r}": each for r, each in enumerate(values)}
        return assemble(
            values.mean(axis=0),
            dict(zip(words[0], x + y, strict=True)),
            dict(zip(words[1], a + b, strict=True)),
            {"x": "a", "y": "b"},
            replicates=templates,
            kind="template",
            metric=metric,
            name=f"model {self.model}",
        )

    def _fitted(self, table: AssociationTable, number: int, part: str) -> Iterator[Record]:
        for each, method in ((table, "crossed"), (replace(table, replicates=None), "crossed on the mean table")):
            told = _TOLD if each.replicates else ("both",)
            for record in judge(each, self.spec, seed=number, sampling=self.sampling, scopes=told):
                yield record | {"method": method, "part": part}


def _record(method: str, mean: float, p_value: float, part: str) -> Record:
    return {"method": method, "scope": "targets", "mean": mean, "p_value": p_value, "part": part}


def nulls(draws: int, jobs: int) -> None:
    """Findings in models of text without bias."""
    spec = load_spec("crossed")
    cells = [cell for seed in range(1, MODELS + 1) for cell in _cells(seed, spec)]
    with progress_bar():
        records = run(cells, draws, folder=HERE / "records" / "draws", jobs=jobs)  # type: ignore[arg-type]
    rows = list(_rows(cells, records))
    print(pd.DataFrame(rows).to_string(float_format="{:.3f}".format))
    about: Mapping[str, Any] = {
        "draws": draws,
        "models": MODELS,
        "specs": [f"{spec.name} {spec.sha256[:12]}"],
        "sampling": vars(NULL_SAMPLING),
    }
    write("masked-nulls", provenance() | dict(about), rows)


def _cells(seed: int, spec: ModelSpec) -> Iterator[MaskedCell]:
    with np.load(_kept(seed)) as kept:
        values, vectors = kept["values"].astype(float), kept["vectors"].astype(float)
    for size in SIZES:
        yield MaskedCell(seed, size, spec, values, vectors)


def _rows(cells: Sequence[MaskedCell], records: Sequence[pd.DataFrame]) -> Iterator[dict[str, Any]]:
    """One row for each model, size, kind of numbers, method and scope."""
    for cell, frame in zip(cells, records, strict=True):
        for part, own in frame.groupby("part"):
            table = rates(own.drop(columns="part")).reset_index()
            for row in json.loads(table.to_json(orient="records", double_precision=5)):
                yield {"part": part, "model": cell.model, "size": cell.size, **row}


def main() -> None:
    """Run one part."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=("train", "nulls"))
    parser.add_argument("--draws", type=int, default=100, help="random tables of each model and size")
    parser.add_argument("--jobs", type=int, default=-1)
    chosen = parser.parse_args()
    if chosen.part == "train":
        for seed in range(1, MODELS + 1):
            if not _kept(seed).is_file():
                train(seed)
    else:
        nulls(chosen.draws, chosen.jobs)


def answer() -> str:
    """Say how often each method finds a bias in texts without any."""
    found = shares_by("masked-nulls", ["method", "scope", "part", "size"])
    return f"""SEAT in {from_to(found["SEAT", "targets"])} of cases, WEAT on the mean of the templates in
{from_to(found["WEAT", "targets"])}, LPBS in {from_to(found["LPBS", "targets"])}, and this posterior over words *and*
templates in {from_to(found["crossed", "all"])}: here it is far too cautious."""


def section() -> str:
    """Render masked models of a text without bias."""
    result = read("masked-nulls")
    rows = pd.DataFrame(result["rows"])
    told = rows[rows.scope.isin(["all", "both", "targets"])]
    mine = rows[(rows.method == "crossed") & (rows.scope == "all")]
    return f"""## Masked language models of a text without bias

{result["about"]["models"]} tiny BERTs, each trained by `python -m benchmarks.masked train` on a text of its own in
which 120 nouns meet in ten templates, some pairs more often than others, as random places in five dimensions say. Words
have preferences, and no group of them has. Groups and classes of 8 and 25 nouns each are drawn at random,
{number_of_draws(rows)} times for each model and size, and judged by their log probabilities (`log_probabilities`,
targets predicted; LPBS by its two-sided permutation test) and by the cosines of their sentences (mean pooling; SEAT
two-sided, WEAT on the mean table). Share of findings at the 5% level, models together:

{markdown_table(pooled_findings(told, ["part", "size", "method", "scope"]))}

Model by model, scope "all":

{markdown_table(covering_findings(mine, ["part", "model", "size"]))}

{outside_wanted(mine)}. In these texts a word's preference for a random class is small beside what belongs to single
pairs, so that permuting words does no harm: WEAT and LPBS hold their level, SEAT does not, and the posterior is far too
cautious, since its prior allows for preferences that are not there. Real models have them.

{circumstances(result["about"])}
"""


if __name__ == "__main__":
    main()
