"""Shipped lists in the shipped vectors, with words drawn at random, judged as `bayes-bias calibrate` does."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

import bayes_bias as bb
from bayes_bias.associations.cosines import CONTROLS
from bayes_bias.checks.calibration import rates
from bayes_bias.checks.null_jobs import ONE_SIDED_WEAT, Record, run
from bayes_bias.checks.null_lists import NullDesign
from benchmarks.competitors import COMPETITORS
from benchmarks.competitors import ComparedCell as Cell
from benchmarks.designs import LISTS
from benchmarks.harness import Result, Row
from benchmarks.methods import OURS, of_cbn

SIZES = (4, 8, 25)
PLANTED = (0.01, 0.02, 0.04, 0.06, 0.08, 0.12)
_TOPICS = {"random targets, topical classes": {"topics": 2}, "topical targets, random classes": {"group_topics": 2}}

type Named = tuple[Row, Cell]


def of_cells(named: Iterable[Named], draws: int) -> list[Row]:
    """A row for each cell, method, and scope."""
    labels, cells = zip(*named, strict=True)
    rows: list[Row] = []
    for label, cell, records in zip(labels, cells, run(cells, draws, jobs=1), strict=True):
        if cell.competitors:
            records = pd.concat([records, pd.DataFrame([_of_cbn(cell, number) for number in range(draws)])])
        table = rates(records).reset_index().replace({"method": {"crossed": OURS}})
        for row in json.loads(table.to_json(orient="records", double_precision=5)):
            rows.append({**label, **row})
    return rows


def nulls(draws: int) -> list[Row]:
    """Real targets, random classes, with control classes and without."""
    return of_cells(_random_classes(), draws)


def _random_classes() -> Iterator[Named]:
    for name in LISTS:
        for drawn in (_design(name), _design(name).without_controls()):
            for size in SIZES:
                yield _cell("random classes", drawn.with_sizes(size), controls=bool(drawn.controls))


def random_targets(draws: int) -> list[Row]:
    """Real classes, random targets in groups of three sizes; random words on both sides; halves of neutral words."""
    return of_cells(_other_sides(), draws)


def _other_sides() -> Iterator[Named]:
    for name in LISTS:
        design = NullDesign.of(bb.load_wordlist(name), _shipped(), random="targets")
        for size in SIZES:
            yield _cell("random targets, real classes", design.with_sizes(size))
    for name in ("weat1", "weat7"):
        for size in SIZES:
            drawn = _design(name).with_random_groups().with_sizes(size).without_controls()
            yield _cell("random groups and classes", drawn)
            if size > SIZES[0]:
                for part, topics in _TOPICS.items():
                    yield _cell(part, replace(drawn, **topics))
    for name in LISTS:
        yield _cell("halves of the neutral words", halves_of("neutral", _design(name)))


def one_group(draws: int) -> list[Row]:
    """One group of real targets, or of random ones, against two random classes."""
    return of_cells(_single_groups(), draws)


def _single_groups() -> Iterator[Named]:
    for name in ("weat1", "weat6", "weat7"):
        whole = bb.load_wordlist(name)
        group, own = next(iter(whole.stereotypes.items()))
        others = tuple(class_name for class_name in whole.classes if class_name != own)
        groups = {group: whole.groups[group]}
        design = NullDesign.of(replace(whole, groups=groups, stereotypes={group: own}, opposites=others), _shipped())
        for part, drawn in (("one real group", design), ("one random group", design.with_random_groups())):
            for size in SIZES:
                yield _cell(part, drawn.with_sizes(size), weat=False)


def planted(draws: int) -> list[Row]:
    """Real targets, random classes, and a bias of known size."""
    return of_cells(_planted(), draws)


def _planted() -> Iterator[Named]:
    for name, size in (("weat7", 8), ("weat1", 25)):
        for bias in PLANTED:
            yield _cell("planted bias", _design(name).with_sizes(size).with_planted(bias), planted=bias, controls=True)


def halves_of(control: str, design: NullDesign) -> NullDesign:
    """The same with the classes random halves (thirds, ...) of one control class instead."""
    pool = design.controls[control]
    sizes = dict.fromkeys(design.sizes, len(pool) // len(design.sizes))
    return replace(design, pool=pool, sizes=sizes, controls={})


def random_words(embedding: bb.Embedding) -> NullDesign:
    """Words at random on both sides, of any embedding: a list of words that it has only holds their places."""
    words = tuple(word for word in embedding.vocabulary()[:100] if word.isalpha())
    placeholder = replace(
        bb.load_wordlist("weat7"),
        name="random words",
        groups={"first": words[:2], "second": words[2:4]},
        classes={"one": words[4:6], "other": words[6:8]},
        stereotypes={"first": "one", "second": "other"},
    )
    return NullDesign.of(placeholder, embedding)


def _of_cbn(cell: Cell, number: int) -> Record:
    """What the R package cbn finds in one random draw."""
    design = cell.design
    groups, classes = design.draw_words(cell.seed, number)
    vectors = []
    for words in (*groups.values(), *classes.values()):
        vectors.append(np.stack([design.vectors[word] for word in words]))
    found = of_cbn(vectors, number)
    scope = {"draw": number, "method": "bootstrap of cbn", "scope": "both", "mean": found.estimate}
    return scope | {"ci95_lb": found.lower, "ci95_ub": found.upper, "p_value": found.p}


def _shipped() -> bb.Embedding:
    return bb.open_embedding("googlenews-demo")


def _design(name: str) -> NullDesign:
    return NullDesign.of(bb.load_wordlist(name).with_controls(CONTROLS), _shipped())


def _cell(part: str, design: NullDesign, *, controls: bool = False, planted: float = 0.0, weat: bool = True) -> Named:
    """The published model judges real targets where there are no controls: its connections are independent, so that
    controls change nothing of its bias. WEAT has none either. SD-WEAT needs random words for its negative control."""
    is_headline = part == "random classes" and not controls
    models = ("crossed", "hierarchical") if is_headline else ("crossed",)
    cell = Cell(
        design,
        tuple(map(bb.load_spec, models)),
        with_weat=weat and not controls,
        sd_weat_vocabulary="neutral" if part == "random classes" and controls else None,
        with_quasi_f=is_headline,
        competitors=(ONE_SIDED_WEAT, *COMPETITORS) if is_headline else (),
    )
    size = len(next(iter(design.groups.values()))) if design.classes else next(iter(design.sizes.values()))
    label = {"part": part, "wordlist": design.name, "size": size, "controls": controls, "planted": planted}
    return label, cell


RESULTS = (
    Result("nulls", nulls, 400),
    Result("random-targets", random_targets, 400),
    Result("one-group", one_group, 400),
    Result("planted", planted, 400),
)
