"""The designs that the calibration benchmark judges, by what they are for."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

from bayes_bias.associations.cosines import CONTROLS
from bayes_bias.checks.null_jobs import Cell
from bayes_bias.checks.null_lists import NullDesign
from bayes_bias.embeddings.embedding import Embedding
from bayes_bias.embeddings.opening import open_embedding
from bayes_bias.models.spec import Prior, load_spec
from bayes_bias.words.wordlist import load_wordlist
from benchmarks.null_designs import centred, halves_of

LISTS = tuple(f"weat{number}" for number in range(1, 11))
# Priors are chosen on these, and by other random draws than those that the page reports.
TUNING, TUNING_SEED = LISTS[::2], 2
SIZES = (4, 8, 25)
PRIORS = (
    Prior("HalfNormal", {"sigma": 0.8}),
    Prior("Exponential", {"lam": 1.8}),
    Prior("Exponential", {"lam": 2.5}),
    Prior("Exponential", {"lam": 3.5}),
)
_TOPICS = {"random targets, topical classes": {"topics": 2}, "topical targets, random classes": {"group_topics": 2}}
PLANTED = (0.01, 0.02, 0.04, 0.06, 0.08, 0.12)


@dataclass(frozen=True)
class Row:
    """One cell with what the table says of it."""

    part: str
    wordlist: str
    size: int
    controls: bool
    planted: float
    cell: Cell


def nulls(embedding: Embedding) -> Iterator[Row]:
    """Real targets, random classes: ten lists, three sizes, with control classes and without."""
    for name in LISTS:
        design = _design(name, embedding)
        for size in SIZES:
            yield _row("random classes", design.with_sizes(size))
            yield _row("random classes", design.with_sizes(size).without_controls())


def priors(embedding: Embedding) -> Iterator[Row]:
    """Short nulls with controls under other priors of preferences, on one half of the lists and draws of their own."""
    for name in TUNING:
        for size in SIZES[:2]:
            for prior in PRIORS:
                row = _row("random classes", _design(name, embedding).with_sizes(size))
                spec = row.cell.specs[0]
                for parameter in ("sd_target_preference", "sd_attribute_preference"):
                    spec = spec.with_prior(parameter, prior.distribution, **prior.parameters)
                cell = replace(row.cell, specs=(spec,), sd_weat_vocabulary=None, seed=TUNING_SEED)
                yield replace(row, part=str(prior), cell=cell)


def null_groups(embedding: Embedding) -> Iterator[Row]:
    """Random groups against random classes; real groups against halves of the neutral controls."""
    for name in ("weat1", "weat7"):
        for size in SIZES:
            yield _row(
                "random groups and classes",
                _design(name, embedding).with_random_groups().with_sizes(size).without_controls(),
            )
    for name in LISTS:
        yield _row("halves of the neutral words", halves_of("neutral", _design(name, embedding)))


def random_targets(embedding: Embedding) -> Iterator[Row]:
    """The other way round: random targets with the real classes of ten lists, in groups of three sizes."""
    spec = load_spec("crossed")
    for name in LISTS:
        design = NullDesign.of(load_wordlist(name), embedding, random="targets")
        for size in SIZES:
            cell = Cell(design.with_sizes(size), (spec,), with_quasi_f=True)
            yield Row("random targets", name, size, False, 0.0, cell)


def one_group(embedding: Embedding) -> Iterator[Row]:
    """One group of real targets, or of random ones, against two random classes."""
    spec = load_spec("crossed")
    for name in ("weat1", "weat6", "weat7"):
        whole = load_wordlist(name)
        group, own = next(iter(whole.stereotypes.items()))
        alone = replace(
            whole,
            groups={group: whole.groups[group]},
            stereotypes={group: own},
            opposites=tuple(each for each in whole.classes if each != own),
        )
        design = NullDesign.of(alone, embedding)
        for about, drawn in (("real targets", design), ("random targets", design.with_random_groups())):
            for size in SIZES:
                cell = Cell(drawn.with_sizes(size), (spec,), with_weat=False, with_quasi_f=True)
                yield Row(about, name, size, False, 0.0, cell)


def topical(embedding: Embedding) -> Iterator[Row]:
    """Random targets with classes about two random topics each; topical targets with random classes; centred, too."""
    for name in ("weat7", "weat1"):
        design = _design(name, embedding).with_random_groups().without_controls()
        for size in SIZES[1:]:
            for about, topics in _TOPICS.items():
                drawn = replace(design, **topics).with_sizes(size)
                yield _row(about, drawn)
                yield _row(f"{about}, centred", centred(drawn))


def others(embedding: Embedding) -> Iterator[Row]:
    """The nulls of other vectors: random words on both sides, or topics on one of them."""
    whole = random_words(embedding)
    for about, topics in {"random targets and classes": {}, **_TOPICS}.items():
        for size in SIZES if not topics else SIZES[1:]:
            design = replace(whole.with_random_groups(max(size, 8)).with_sizes(size), **topics)
            yield _row(about, design)
            if topics:
                yield _row(f"{about}, centred", centred(design))


def random_words(embedding: Embedding) -> NullDesign:
    """Words at random on both sides, of any embedding: a list of words that it has only holds their places."""
    words = [word for word in embedding.vocabulary()[:100] if word.isalpha()]
    names = ("first", "second", "one", "other")
    taken = {name: tuple(words[2 * k : 2 * k + 2]) for k, name in enumerate(names)}
    placeholder = replace(
        load_wordlist("weat7"),
        name="random words",
        groups={name: taken[name] for name in names[:2]},
        classes={name: taken[name] for name in names[2:]},
        stereotypes=dict(zip(names[:2], names[2:], strict=True)),
    )
    return NullDesign.of(placeholder, embedding)


@cache
def null_of(wordlist: str, size: int) -> NullDesign:
    """A list's targets in the shipped vectors, with random classes of so many words; no controls."""
    return NullDesign.of(load_wordlist(wordlist), open_embedding("googlenews-demo")).with_sizes(size)


@cache
def drawn_from(embedding: str, size: int) -> NullDesign:
    """Groups and classes of so many random words."""
    return random_words(open_embedding(embedding)).with_random_groups(size).with_sizes(size)


def planted(embedding: Embedding) -> Iterator[Row]:
    """Real targets, random classes, and a bias of known size."""
    for name, size in (("weat7", 8), ("weat1", 25)):
        for bias in PLANTED:
            yield _row("planted bias", _design(name, embedding).with_sizes(size).with_planted(bias))


def _design(name: str, embedding: Embedding) -> NullDesign:
    return NullDesign.of(load_wordlist(name).with_controls(CONTROLS), embedding)


def _row(part: str, design: NullDesign) -> Row:
    """The published model judges where there are no controls: its connections are independent, so that controls
    change nothing of its bias. WEAT has none either. SD-WEAT needs random words for its negative control."""
    with_controls = bool(design.controls)
    vocabulary = "neutral" if with_controls else None
    models = ("crossed",) if with_controls else ("crossed", "hierarchical")
    cell = Cell(
        design, tuple(load_spec(model) for model in models), with_weat=not with_controls, sd_weat_vocabulary=vocabulary
    )
    size = next(iter(design.sizes.values()))
    return Row(part, design.name, size, with_controls, design.planted, cell)
