"""Words that come in sub-topics, which no list names: false findings, width and power of independent words, of words
that count as fewer, and of classical tests.

``python -m benchmarks.topical_words VECTORS.npz --draws 1000``, frequent words first. Sub-topics are the branches of a
tree of words (Ward's), topics larger branches of the same; words are drawn at random inside a branch. The true bias is
zero, since both groups, and both classes, are drawn alike. The rule was tuned on other lists of GoogleNews, in
clusters by k-means, and never on GloVe.
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter
from types import MappingProxyType

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.cluster.hierarchy import cut_tree, linkage
from scipy.stats import norm, t

from bayes_bias import open_embedding
from bayes_bias.associations.general_words import GeneralWords
from bayes_bias.associations.related import Home
from bayes_bias.embeddings.word_vectors import unit_means
from bayes_bias.measures.reml import reml
from bayes_bias.models.spec import ModelSpec, load_spec
from bayes_bias.posterior.quadrature import Integrand, chance, half_width
from bayes_bias.posterior.vectors import integrand_of_vectors
from bayes_bias.table.association_table import assemble
from bayes_bias.words.wordlist import WordList, load_wordlist
from benchmarks import cbn
from benchmarks.markdown import circumstances, markdown_table
from benchmarks.provenance import provenance, read, rows_of, write
from benchmarks.shares import from_to, share_of

type Branch = tuple[str, ...]

# Random words are among so many frequent ones, branches among fewer.
_FREQUENT, _WORDS = 31_000, 8_000
# How many sub-topics and topics: branches of 20 words at most are near to each other, those of 70 less.
BRANCHES = {"tight": (400, 60), "loose": (115, 20)}
# Where an oracle that knows the variance of a bias has 80% power at the 5% level.
_PLANTED = float(norm.isf(0.025) + norm.ppf(0.8))
_BALANCED = "both groups of the same sub-topics"
_GLOVE, _GOOGLENEWS = ("topical-words-glove",), ("topical-words", "topical-words-loose")
_RESULTS = (*_GOOGLENEWS, *_GLOVE)
_METHODS = ("independent", "from vectors", "quasi-F")
_COMPETITORS = ("quasi-F", "moderated F", "min F'", "REML", "bootstrap of cbn")
# Where the probability that a verdict prints is compared with its realised rate.
_LEVELS = (0.05, 0.10, 0.20)
WEIGHTS = np.array([[0.5, -0.5], [-0.5, 0.5]])
# As people list words: each is with this probability one of so many nearest neighbours of the last.
_NEXT, _NEAREST = 0.7, 10
# Designs whose realised rates are shown together.
_KINDS = {
    "random words": ("random words",),
    "words of sub-topics": ("both sides in sub-topics", "attributes in sub-topics, targets of WEAT"),
    "nested sub-topics": ("both sides in nested sub-topics", "attributes in nested sub-topics, targets of WEAT"),
    "chains": ("chains, both sides", "chains, targets of WEAT"),
}
_NESTED = {24: (2, 3, 4), 8: (2, 2, 2)}  # topics, sub-topics of each, words of each


@dataclass(frozen=True)
class Cell:
    """How the words of a side are drawn: from everywhere, from one `topic` each, from so many sub-topics, with the
    sub-topics of `one topic` for both, or the `same` ones; from sub-topics that are `nested` in topics; in `chains`,
    each word perhaps a neighbour of the last; or the words of a shipped list."""

    kind: str
    words: int
    targets: str = "random"
    attributes: str = "random"
    sub_topics: int = 0

    @property
    def label(self) -> dict[str, object]:
        """The columns of a row."""
        return {"kind": self.kind, "words": self.words, "sub-topics": self.sub_topics}


def _cells() -> Iterator[Cell]:
    for n in (8, 16, 25):
        yield Cell("random words", n)
    for n in (8, 25):
        yield Cell("targets of a topic", n, targets="topic")
    for n in (8, 25):
        yield Cell("targets of WEAT 1 to 10", n, targets="list")
    designs = ((2, 8), (4, 8), (3, 12), (3, 24), (5, 25))
    for k, n in designs:
        yield Cell("attributes in sub-topics, targets of WEAT", n, "list", "sub-topics", k)
    for k, n in designs:
        yield Cell("both sides in sub-topics", n, "sub-topics", "sub-topics", k)
    for k, n in ((2, 8), (3, 12), (3, 24)):
        yield Cell("both sides, sub-topics of one topic", n, "of one topic", "of one topic", k)
    for n in (24, 8):
        yield Cell("attributes in nested sub-topics, targets of WEAT", n, "list", "nested", 6 if n == 24 else 4)
        yield Cell("both sides in nested sub-topics", n, "nested", "nested", 6 if n == 24 else 4)
    yield Cell("targets of a topic, attributes in sub-topics", 8, "topic", "sub-topics", 2)
    for n in (8, 25):
        yield Cell("chains, both sides", n, "chains", "chains")
        yield Cell("chains, targets of WEAT", n, "list", "chains")
    for n in (8, 24):
        yield Cell("singular and plural, both sides", n, "plurals", "plurals", n // 2)
    yield Cell("targets of WEAT 1 to 10", 4, targets="list")
    for k, n in ((2, 8), (3, 12), (2, 16)):
        yield Cell(_BALANCED, n, targets="same", sub_topics=k)


CELLS = tuple(_cells())


@dataclass(frozen=True, eq=False)
class World:
    """Words with unit vectors, the branches that they are on, and pairs of singular and plural."""

    vectors: Mapping[str, NDArray[np.float64]]
    sub_topics: tuple[Branch, ...]
    topics: tuple[Branch, ...]
    of_topic: tuple[tuple[Branch, ...], ...]  # sub-topics of each topic that has several
    plurals: tuple[tuple[str, str], ...]
    lists: tuple[tuple[Branch, Branch], ...]

    @classmethod
    def of(cls, source: str, branches: str) -> "World":
        """The tree of the most frequent words of a file."""
        embedding = open_embedding(source)
        frequent = embedding.vocabulary()[:_FREQUENT]
        plain = [word for word in frequent if word.isalpha() and word.islower() and len(word) > 2]
        shipped = [load_wordlist(f"weat{k}") for k in range(1, 11)]
        asked = [word for words in shipped for group in words.groups.values() for word in group]
        found = embedding.find([*plain, *dict.fromkeys(spelled for word in asked for spelled in (word, word.lower()))])
        vectors = dict(zip(found, unit_means(list(found.values())), strict=True))
        words = plain[:_WORDS]
        tree = linkage(np.stack([vectors[word] for word in words]), "ward")
        numbers = BRANCHES[branches]
        fine, coarse = cut_tree(tree, n_clusters=numbers).T
        long = [rows for k in range(numbers[0]) if len(rows := np.flatnonzero(fine == k)) >= 14]
        topics = [tuple(words[i] for i in np.flatnonzero(coarse == k)) for k in range(numbers[1])]
        by_topic = [[rows for rows in long if coarse[rows[0]] == k] for k in range(numbers[1])]
        named = [tuple(tuple(words[i] for i in rows) for rows in of_topic) for of_topic in by_topic]
        return cls(
            MappingProxyType(vectors),
            tuple(tuple(words[i] for i in rows) for rows in long),
            tuple(topic for topic in topics if len(topic) >= 60),
            tuple(of_topic for of_topic in named if len(of_topic) >= 4),
            tuple((word, f"{word}s") for word in words if f"{word}s" in vectors and len(word) > 3),
            tuple(_in_either_case(words, vectors) for words in shipped),
        )

    def general(self, seed: int, size: int = 2_000) -> GeneralWords:
        """Random words, such as a report has."""
        words = np.random.default_rng(seed).permutation(list(self.vectors))[:size].tolist()
        return GeneralWords.of({word: self.vectors[word] for word in words})

    @cached_property
    def _every(self) -> list[str]:
        return list(self.vectors)

    @cached_property
    def _frequent(self) -> tuple[list[str], NDArray[np.float64]]:
        words = list(self.vectors)[:_WORDS]
        return words, np.stack([self.vectors[word] for word in words])

    def chain(self, n: int, used: set[str], rng: np.random.Generator) -> list[str]:
        """Words each of which may be a near neighbour of the last; none of those used."""
        words, rows = self._frequent
        chain: list[str] = []
        while len(chain) < n:
            pool: Sequence[str] = words
            if chain and rng.random() < _NEXT:
                nearest = np.argsort(-rows @ self.vectors[chain[-1]])[1 : _NEAREST + 1]
                pool = [words[i] for i in nearest if words[i] not in used] or words
            word = pool[rng.integers(len(pool))]
            if word not in used:
                used.add(word)
                chain.append(word)
        return chain

    def nested(self, shape: tuple[int, int, int], rng: np.random.Generator) -> tuple[list[str], list[str]]:
        """Words of sub-topics of topics; both groups have topics of their own."""
        topics, sub_topics, words = shape
        pool = [of_topic for of_topic in self.of_topic if len(of_topic) >= sub_topics]
        chosen = rng.choice(len(pool), 2 * topics, replace=False)
        groups: tuple[list[str], list[str]] = ([], [])
        for k, topic in enumerate(chosen):
            for branch in rng.choice(len(pool[topic]), sub_topics, replace=False):
                groups[k // topics].extend(rng.permutation(pool[topic][branch])[:words].tolist())
        return groups

    def drawn(self, how: str, cell: Cell, rng: np.random.Generator) -> tuple[list[str], list[str]]:
        """The words of two groups, or two classes."""
        n, k = cell.words, cell.sub_topics
        if how == "nested":
            return self.nested(_NESTED[n], rng)
        if how == "chains":
            used: set[str] = set()
            return self.chain(n, used, rng), self.chain(n, used, rng)
        if how == "list":
            groups = self.lists[rng.integers(len(self.lists))]
            return tuple(rng.permutation(group)[: min(map(len, groups))].tolist() for group in groups)  # type: ignore[return-value]
        if how == "random":
            words = [self._every[i] for i in rng.choice(len(self._every), 2 * n, replace=False)]
            return words[:n], words[n:]
        if how == "topic":
            one, other = rng.choice(len(self.topics), 2, replace=False)
            return tuple(rng.permutation(self.topics[i])[:n].tolist() for i in (one, other))  # type: ignore[return-value]
        if how == "plurals":
            pairs = [self.plurals[i] for i in rng.choice(len(self.plurals), n, replace=False)]
            halves = (pairs[: n // 2], pairs[n // 2 :])
            return tuple([word for pair in half for word in pair] for half in halves)  # type: ignore[return-value]
        pool = self.sub_topics
        if how == "of one topic":
            pool = self.of_topic[rng.integers(len(self.of_topic))]
            k = min(k, len(pool) // 2)
        if how == "same":
            longest = [branch for branch in pool if len(branch) >= 2 * n // k]
            of_both = [rng.permutation(longest[i]).tolist() for i in rng.choice(len(longest), k, replace=False)]
            ends = (n // k, 2 * n // k)
            return tuple([w for words in of_both for w in words[end - n // k : end]] for end in ends)  # type: ignore[return-value]
        branches = [pool[i] for i in rng.choice(len(pool), 2 * k, replace=False)]
        sizes = [n // k + (i < n % k) for i in range(k)]
        return tuple(
            [w for branch, size in zip(half, sizes, strict=True) for w in rng.permutation(branch)[:size].tolist()]
            for half in (branches[:k], branches[k:])
        )  # type: ignore[return-value]


def _in_either_case(words: WordList, vectors: Mapping[str, NDArray[np.float64]]) -> tuple[Branch, Branch]:
    """The words of both groups that there are vectors of, in lower case where only that has one."""
    spelled = ([w if w in vectors else w.lower() for w in group] for group in words.groups.values())
    first, second = (tuple(word for word in group if word in vectors) for group in spelled)
    return first, second


def judged(world: World, general: GeneralWords, cell: Cell, seed: int, spec: ModelSpec) -> list[dict[str, object]]:
    """Of one list by each method the bias, its p, and half the width of its interval; for how many words it counts."""
    rng = np.random.default_rng([seed, CELLS.index(cell)])
    homes: list[list[str]] = []
    while len({word for words in homes for word in words}) < sum(map(len, homes)) or not homes:
        homes = [*world.drawn(cell.targets, cell, rng), *world.drawn(cell.attributes, cell, rng)]
    vectors = [np.stack([world.vectors[word] for word in words]) for words in homes]
    rows_of_homes = [Home(own, general.profiles(own)) for own in vectors]
    integrand = integrand_of_vectors(rows_of_homes[:2], rows_of_homes[2:], WEIGHTS, general, spec)
    rows: list[dict[str, object]] = []
    for method, own in (("independent", integrand.with_independent_words()), ("from vectors", integrand)):
        variances = own.variances()
        p = chance(variances, integrand.observed)
        rows.append({"method": method, "p": p, "half": half_width(variances)})
    table = assemble(
        np.concatenate(vectors[:2]) @ np.concatenate(vectors[2:]).T,
        {word: f"g{k}" for k in range(2) for word in homes[k]},
        {word: f"c{k}" for k in range(2) for word in homes[2 + k]},
        {"g0": "c0", "g1": "c1"},
    )
    of_reml = reml(table)
    tests = {
        "quasi-F": quasi_f(integrand),
        "moderated F": quasi_f(integrand, moderated=True),
        "min F'": min_f(integrand),
        "REML": (of_reml.se, of_reml.df),
    }
    for method, (se, df) in tests.items():
        p = float(2 * t.sf(abs(integrand.observed) / se, df))
        rows.append({"method": method, "p": p, "half": float(t.isf(0.025, df) * se)})
    value, sd = cbn.interval(tuple(vectors[:2]), tuple(vectors[2:]), rng)  # type: ignore[arg-type]
    # It takes cosines with the mean vector of a class, which are larger by the length of that vector.
    half = 2 * sd * float(np.mean([np.linalg.norm(rows.mean(axis=0)) for rows in vectors[2:]]))
    rows.append({"method": "bootstrap of cbn", "p": float(2 * norm.sf(abs(value) / sd)), "half": half})
    words = np.concatenate([side.words for side in integrand.sides])
    inflation = np.concatenate([side.inflation for side in integrand.sides])
    effective = float((words / inflation).sum() / words.sum())
    return [{**cell.label, "seed": seed, "bias": integrand.observed, "effective": effective, **row} for row in rows]


def quasi_f(integrand: Integrand, *, moderated: bool = False) -> tuple[float, float]:
    """Standard error and degrees of freedom, see `bayes_bias.measures.quasi_f`, of two groups and two classes.

    The moderated one draws the mean square of each group or class towards what vectors tell of it, with as many degrees
    of freedom as that has (Smyth 2004), and multiplies it by the inflation of related words.
    """
    residual, of_side, of_df = _mean_squares(integrand, moderated)
    both = sum(of_side) - residual
    options = [
        (both, both**2 / (sum(of_df) + residual**2 / integrand.residual_df)),
        *((variance, variance**2 / per_df) for variance, per_df in zip(of_side, of_df, strict=True)),
    ]
    variance, df = max(options)
    return float(np.sqrt(variance)), float(df)


def min_f(integrand: Integrand) -> tuple[float, float]:
    """Standard error and degrees of freedom of min F' (Clark 1973): mean squares of both sides together."""
    _, of_side, of_df = _mean_squares(integrand, False)
    return float(np.sqrt(sum(of_side))), float(sum(of_side) ** 2 / sum(of_df))


def _mean_squares(integrand: Integrand, moderated: bool) -> tuple[float, list[float], list[float]]:
    """Variance of the bias by residuals and by each side's words, and the square of the latter over its df."""
    residual = integrand.residual_weight * integrand.residual_squares / integrand.residual_df
    of_side, of_df = [], []
    for side in integrand.sides:
        variance_of_side, by_df = 0.0, 0.0
        for each in side.variances():
            if not each.weight:
                continue
            variance, df = each.weight * float(each.squares.sum()) / (each.times * each.df), each.df
            if moderated:
                told = each.weight * each.expected
                variance = (df * variance + each.directions * told) / (df + each.directions)
                df += each.directions
                variance *= float(side.inflation[each.cell])
            variance_of_side += variance
            by_df += variance**2 / df
        of_side.append(variance_of_side)
        of_df.append(by_df)
    return residual, of_side, of_df


def summarised(records: pd.DataFrame) -> pd.DataFrame:
    """A row for each cell: shares of findings, mean width over that of independent words, and power where an oracle
    has 80%."""
    rows = []
    for labels, of_cell in records.groupby(["kind", "words", "sub-topics"], sort=False):
        by_method = {method: frame.set_index("seed") for method, frame in of_cell.groupby("method")}
        first = by_method[_METHODS[0]]
        planted = _PLANTED * float(np.sqrt((first.bias**2).mean()))
        row: dict[str, object] = dict(zip(["kind", "words", "sub-topics"], labels, strict=True))
        row |= {"draws": len(first), "effective": float(first.effective.mean())}
        for method, frame in by_method.items():
            row[method] = float((frame.p < 0.05).mean())
            if method == "from vectors":
                row |= {f"below {level:g}": float((frame.p < level).mean()) for level in _LEVELS[1:]}
            row[f"width, {method}"] = float((frame.half / first.half).mean())
            # Deviations from means of blocks, and so intervals, are those of the list without a bias.
            row[f"power, {method}"] = float(((frame.bias + planted).abs() > frame.half).mean())
        rows.append(row)
    return pd.DataFrame(rows)


def main() -> None:
    """Judge all cells and write their table, as far as it is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("vectors")
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--first", type=int, default=1, help="odd seeds report, even ones tune")
    parser.add_argument("--cells", help="only those whose kind contains this")
    parser.add_argument("--branches", choices=list(BRANCHES), default="tight")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--name", default="topical-words")
    parser.add_argument("--model", default="crossed")
    chosen = parser.parse_args()
    start, world, records = perf_counter(), World.of(chosen.vectors, chosen.branches), list[dict[str, object]]()
    print(len(world.sub_topics), len(world.topics), len(world.of_topic), len(world.plurals), flush=True)
    general, spec = world.general(chosen.first), load_spec(chosen.model)
    with Parallel(n_jobs=chosen.jobs, batch_size=10) as run:
        for cell in (each for each in CELLS if chosen.cells is None or chosen.cells in each.kind):
            seeds = range(chosen.first, chosen.first + 2 * chosen.draws, 2)
            of_cell = run(delayed(judged)(world, general, cell, seed, spec) for seed in seeds)
            records += [row for rows in of_cell for row in rows]
            table = summarised(pd.DataFrame(records))
            print(
                table.tail(1).to_string(index=False, header=len(table) == 1, float_format="{:.3f}".format), flush=True
            )
            about = {"vectors": chosen.vectors.split("/")[-1], "seconds": round(perf_counter() - start)}
            write(chosen.name, provenance() | about, rows_of(table))


def topical_cells(*names: str) -> pd.DataFrame:
    """Those of words in sub-topics, which the groups and classes do not have in common, of all results or some."""
    rows = pd.concat([pd.DataFrame(read(name)["rows"]) for name in names or _RESULTS])
    is_chain = rows.kind.str.startswith("chains")
    return rows[((rows["sub-topics"] > 0) | is_chain) & (rows.kind != _BALANCED)]


def answer() -> str:
    """Say how often topical words are found to be biased, counted as independent words and as fewer."""
    topical = topical_cells()
    width = topical["width, from vectors"]
    glove, googlenews = (topical_cells(*names)["from vectors"] for names in (_GLOVE, _GOOGLENEWS))
    return f"""Counted as independent draws they have {from_to(topical["independent"])} false findings on real vectors.
Counted as fewer, as in every report, they have at most {glove.max():.1%} in GloVe, in which nothing was tuned, and at
most {googlenews.max():.1%} in GoogleNews, in which the rule was tuned. Intervals are then {width.min():.1f} to
{width.max():.1f} times as wide. The designs are flat and nested sub-topics and chains of neighbouring words; the
highest rate is that of nested lists of eight words whose sub-topics are wide."""


def section() -> str:
    """Render near sub-topics, and words that have none."""
    result = read("topical-words")
    return f"""## Words that come in sub-topics

Words are drawn from a tree of the 8,000 most frequent words of GoogleNews (Ward's): at random, from one topic, or from
so many *sub-topics* of a group or class, which no list names. Here a sub-topic has 14 to 40 words. *Nested* lists have
two topics with two or three sub-topics each. In *chains* each word is with probability .7 a near neighbour of the last
one, as people list words. Both groups, and both classes, are drawn alike, so that there is no bias to find. The rule
was tuned in GoogleNews, with other lists from other clusters (k-means).

*Found*: in how many lists a bias is found at the 5% level, with its 95% Monte Carlo interval. *Width*: of intervals,
over that of independent draws. *Power*: how often a bias is found that is 2.8 times the standard deviation of the
biases of a cell's lists; a test that knew this standard deviation would find 80%. *Count as*: the effective number of
words, as a share of their number. Posteriors are integrated numerically, as `bayes_bias.verdict(table)` does.

{int(pd.DataFrame(result["rows"]).draws.iloc[0]):,} lists a cell. These, and those of wide sub-topics below,
were drawn before what both groups have in common was subtracted; in the four nested designs of wide sub-topics the rate
with it is 5.0, 6.3, 6.3, and 8.3% (300 lists each).

{markdown_table(_columns([row for row in result["rows"] if row["kind"] != _BALANCED]))}

{_balanced(result["rows"])}

{circumstances(result["about"])}
"""


def _balanced(rows: Sequence[Mapping[str, object]]) -> str:
    return f"""**Sub-topics that both groups have.** Names of two ethnicities, say, each of women and men: what the
sub-topics prefer cancels in the difference of the groups. Here the words of both groups come from the same branches,
and attributes are random.

{markdown_table(_columns([row for row in rows if row["kind"] == _BALANCED]))}

The inflation is limited by how far the two groups lie apart, which is little here. Intervals of independent words are
too long as well, since words differ less within sub-topics than in the list. If the sub-topics of a list are all there
are, say ``sub_topics="exhaustive"``."""


def glove() -> str:
    """Render the same designs in an embedding in which nothing was tuned."""
    result = read("topical-words-glove")
    return f"""## The same in GloVe, in which nothing was tuned

The same designs in GloVe 6B with 50 dimensions, from a tree of its own. Neither the rule nor its constants were chosen
in this embedding.

{markdown_table(_columns([row for row in result["rows"] if row["kind"] != _BALANCED]))}

{circumstances(result["about"])}
"""


def competitors() -> str:
    """Render classical tests, and the moderated F, beside the posterior."""
    result = read("topical-words-glove")
    rows = [row for row in result["rows"] if row["kind"] != _BALANCED]
    methods = ("from vectors", *_COMPETITORS)
    frame = pd.DataFrame(rows)
    shown = frame[["kind", "words", "sub-topics"]].assign(
        **{method: [f"{row[method]:.1%} / {row[f'power, {method}']:.0%}" for row in rows] for method in methods}
    )
    worst = {method: f"{frame[method].max():.1%} / {frame[f'power, {method}'].mean():.0%}" for method in methods}
    last = pd.DataFrame([{"kind": "highest rate / mean power", "words": "", "sub-topics": "", **worst}])
    return f"""## Classical tests beside it

The same lists in GloVe: share of false findings / power. The *quasi-F* and *min F'* combine mean squares of both sides,
*REML* fits common variances (Satterthwaite's degrees of freedom), and the *bootstrap of cbn* draws the words of all
four lists again. They treat words as independent draws. The *moderated F* is a quasi-F whose mean squares are drawn
towards what vectors tell of preferences and multiplied by the same inflation as in the model.

{markdown_table(pd.concat([shown, last]))}

{circumstances(result["about"])}
"""


def realised() -> str:
    """Render how often lists without a bias have a small chance."""
    rows = []
    frame = pd.DataFrame(read("topical-words-glove")["rows"])
    for what, kinds in _KINDS.items():
        own = frame[frame.kind.isin(kinds)]
        shares = {level: own["from vectors" if level == _LEVELS[0] else f"below {level:g}"] for level in _LEVELS}
        means = {f"below {level:g}": f"{share.mean():.1%}" for level, share in shares.items()}
        rows.append({"lists": what, "number": f"{int(own.draws.sum()):,}", **means})
    return f"""## Realised rates

A verdict prints the chance of a difference as large without any bias, by the model. These are shares of lists without
a bias, in GloVe, whose chance is below a level. They are below the level for random words because the model is
uncertain about few words, and for most lists of sub-topics because a broad list is taken for one of sub-topics.

{markdown_table(pd.DataFrame(rows))}
"""


def loose() -> str:
    """Render wide sub-topics."""
    result = read("topical-words-loose")
    return f"""## Sub-topics whose words are less alike

The same with branches that are three times as large, 40 to 150 words.

{markdown_table(_columns(result["rows"]))}

{circumstances(result["about"])}
"""


def lists() -> str:
    """Render the targets of real lists with random attributes."""
    result = read("topical-lists")
    return f"""## Real targets, random attributes

The targets of one of WEAT 1 to 10, drawn anew each time, with as many attributes of each class, drawn at random.
{int(pd.DataFrame(result["rows"]).draws.iloc[0]):,} lists a cell.

{markdown_table(_columns(result["rows"]))}

{circumstances(result["about"])}
"""


def _columns(rows: Sequence[Mapping[str, object]]) -> pd.DataFrame:
    frame = pd.DataFrame(rows)
    found = {
        f"found, {method}": [share_of(share, n) for share, n in zip(frame[method], frame.draws, strict=True)]
        for method in _METHODS
    }
    widths = {f"width, {method}": frame[f"width, {method}"].map("{:.2f}".format) for method in _METHODS[1:]}
    power = {f"power, {method}": frame[f"power, {method}"].map("{:.0%}".format) for method in _METHODS}
    counts = {"count as": frame.effective.map("{:.0%}".format)}
    return frame[["kind", "words", "sub-topics"]].assign(**counts, **found, **widths, **power)


if __name__ == "__main__":
    main()
