"""Replicates, the third facet: random attributes in templates of a sentence encoder, and tables with known shifts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.stats import ttest_1samp

import bayes_bias as bb
from bayes_bias.checks.null_jobs import judge_by_weat
from bayes_bias.checks.null_lists import NullDesign
from bayes_bias.measures.designs import two_by_two
from bayes_bias.models.components import BY_REPLICATE
from benchmarks.effects import of_attributes, of_replicate, of_targets
from benchmarks.harness import LEVEL, Judged, Method, Numbers, Result, Row, judged
from benchmarks.methods import OURS, of_table
from benchmarks.tables import table_of

# p = .05 is then known to .005; SEAT's p is far from it on either side.
_PERMUTATIONS, _DRAWS_OF_CEAT = 2_000, 1_000
# Of words; levels and preferences are alike, so that effects on two classes are independent.
_TARGET, _ATTRIBUTE, _RESIDUAL = 0.024, 0.038, 0.04
_OF_WORDS = {
    "sd_target_associated": _TARGET / 2**0.5,
    "sd_target_preference": _TARGET / 2**0.5,
    "sd_attribute": _ATTRIBUTE / 2**0.5,
    "sd_attribute_preference": _ATTRIBUTE / 2**0.5,
    "sd_residual": _RESIDUAL,
}
# Word effects differ between replicates by half as much as between words.
_BY_REPLICATE = {name + BY_REPLICATE: sd / 2 for name, sd in _OF_WORDS.items()}
_OF_REPLICATES = {"sd_replicate": 0.02, "sd_replicate_group": 0.01, "sd_replicate_class": 0.01}
_WORDS = 8
# What a bias varies by from one pair of lists of so many words to the next.
SD_OF_WORDS = ((_TARGET**2 + _ATTRIBUTE**2) / _WORDS + _RESIDUAL**2 / _WORDS**2) ** 0.5


@dataclass(frozen=True)
class Templates:
    """Real targets and random attributes in the first templates of the encoder."""

    wordlist: str
    words: int
    replicates: int

    @property
    def label(self) -> Row:
        """The columns that name the cell."""
        return {"list": self.wordlist, "words": self.words, "replicates": self.replicates}

    def draw(self, seed: int) -> tuple[bb.AssociationTable, float]:
        """One random table with the vectors of its sentences."""
        design = NullDesign.of(bb.load_wordlist(self.wordlist), bb.open_embedding("minilm-demo"))
        drawn = with_replicates(design.with_sizes(self.words), self.replicates)
        return drawn.draw(1, seed).with_vectors(drawn.vectors), 0.0


def with_replicates(design: NullDesign, count: int) -> NullDesign:
    """The same with the first replicates alone."""
    times = (len(design.replicates) / count) ** 0.5
    kept = {word: rows[:count] * times for word, rows in design.vectors.items()}
    return replace(design, vectors=kept, replicates=design.replicates[:count])


@dataclass(frozen=True)
class Shifted:
    """Simulated tables without a bias, which differs between replicates by so many times what it differs by between
    lists."""

    replicates: int
    times: float

    @property
    def label(self) -> Row:
        """The columns that name the cell."""
        return {"replicates": self.replicates, "times": self.times}

    def draw(self, seed: int) -> tuple[bb.AssociationTable, float]:
        """One random table."""
        rng = np.random.default_rng([seed, self.replicates, _WORDS])
        shift = {"sd_replicate_preference": self.times * SD_OF_WORDS / 2}
        theta = {**_OF_WORDS, **_BY_REPLICATE, **_OF_REPLICATES, **shift}
        index = np.repeat([0, 1], _WORDS)
        word_effects, singles = _of_words(theta, index, rng), {}
        for r in range(self.replicates):
            block = of_replicate(theta, 2, 2, 2, rng)[np.ix_(index, index)]
            singles[f"r{r}"] = 0.1 + word_effects + block + _of_words(theta, index, rng, BY_REPLICATE)
        return table_of(np.mean(list(singles.values()), axis=0), index, index, replicates=singles), 0.0


def _of_words(theta: Mapping[str, float], index: Numbers, rng: np.random.Generator, suffix: str = "") -> Numbers:
    target = of_targets(theta, index, 2, 2, rng, suffix)[:, index]
    attribute = of_attributes(theta, index, 2, rng, suffix)[:, index].T
    return np.asarray(target + attribute + theta["sd_residual" + suffix] * rng.standard_normal(target.shape))


def in_templates(draws: int) -> list[Row]:
    """Three and ten templates, by the model, on the mean table, and by SEAT and WEAT."""
    methods: Mapping[str, Method] = {**_OF_REPLICATED, "SEAT": _seat}
    three, ten = Templates("weat7", 8, 3), Templates("weat7", 8, 10)
    return judged(three, methods, range(draws)) + judged(ten, methods, range(draws))


def shifted(draws: int) -> list[Row]:
    """Two to ten replicates that differ as much as lists of words, or three times as much."""
    rows: list[Row] = []
    for replicates, times in ((2, 1), (2, 3), (3, 1), (3, 3), (6, 1), (6, 3), (10, 1)):
        rows += judged(Shifted(replicates, times), _OF_REPLICATED, range(draws))
    return rows


def _weat(table: bb.AssociationTable) -> Judged:
    found = judge_by_weat(table, seed=1)
    return Judged(found["mean"], np.nan, np.nan, found["p_value"])


def _seat(table: bb.AssociationTable) -> Judged:
    found = bb.measures.seat(table, alternative="two-sided", permutations=_PERMUTATIONS, seed=1)
    return Judged(found.bias, np.nan, np.nan, found.p_value)


def _t_test(table: bb.AssociationTable) -> Judged:
    """Test the mean over replicates, as if they alone were a sample (Student 1908)."""
    assert table.replicates is not None
    biases = []
    for values in table.replicates.tables.values():
        design = two_by_two(replace(table, values=values, replicates=None), "WEAT", least_words=2)
        biases.append((design.scores[: design.n_x].mean() - design.scores[design.n_x :].mean()) / 2)
    found = ttest_1samp(biases, 0.0)
    return Judged(float(np.mean(biases)), *map(float, found.confidence_interval()), float(found.pvalue))


_OF_REPLICATED: Mapping[str, Method] = {
    OURS: partial(of_table, scope="all"),
    f"{OURS}, mean table": lambda table: of_table(replace(table, replicates=None)),
    "WEAT, mean table": _weat,
    "t-test of replicates": _t_test,
}


def contexts(draws: int) -> list[Row]:
    """CEAT and SEAT in ten templates, with attribute words drawn at random."""
    embedding = bb.open_embedding("minilm-demo")
    rows = []
    for name in ("weat1", "weat6", "weat7"):
        found = np.mean(list(_of_contexts(embedding.excerpt(embedding.vocabulary()), name, draws)), axis=0)
        rows.append({"targets": name, "draws": draws, "CEAT": float(found[0]), "SEAT": float(found[1])})
    return rows


def _of_contexts(embedding: bb.Embedding, name: str, draws: int) -> Iterator[tuple[bool, bool]]:
    words = bb.load_wordlist(name)
    listed = {*words.targets, *words.attributes}
    pool = [word for word in embedding.vocabulary() if word.islower() and word not in listed]
    for seed in range(draws):
        picked = np.random.default_rng(seed).permutation(pool)[: 2 * _WORDS].tolist()
        drawn = bb.WordList.from_mapping(
            {
                "groups": words.groups,
                "classes": {"A": picked[:_WORDS], "B": picked[_WORDS:]},
                "stereotypes": dict(zip(words.groups, "AB", strict=True)),
            }
        )
        table = bb.cosines(drawn, embedding, controls=())
        seat_test = bb.measures.seat(table, alternative="two-sided", permutations=_PERMUTATIONS, seed=seed)
        yield bb.measures.ceat(table, draws=_DRAWS_OF_CEAT, seed=seed).p_value < LEVEL, seat_test.p_value < LEVEL


RESULTS = (
    Result("replicates-nulls", in_templates, 200, uses=("benchmarks.methods",), replicates=True),
    Result("replicates-planted", shifted, 200, uses=("benchmarks.methods", "benchmarks.effects"), replicates=True),
    Result("contexts", contexts, 100, model=None),
)
