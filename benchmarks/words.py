"""Lists of words of two embeddings, in all designs and by all methods."""

from collections.abc import Mapping

from benchmarks.designs import in_embedding
from benchmarks.harness import Method, Result, Row, judged
from benchmarks.methods import OF_WORDS

_USES = ("benchmarks.designs", "benchmarks.methods", "benchmarks.harness")


def of_words(
    source: str, draws: int, branches: str = "tight", kinds: str = "", methods: Mapping[str, Method] = OF_WORDS
) -> list[Row]:
    """Lists of all designs in one embedding; odd seeds report, even ones were used to tune."""
    rows: list[Row] = []
    for design in in_embedding(source, branches, kinds):
        rows += judged(design, methods, range(1, 2 * draws, 2), effective=lambda drawn: drawn.effective)
    return rows


def glove(draws: int) -> list[Row]:
    """The embedding in which nothing was tuned."""
    return of_words("GLOVE", draws)


def googlenews(draws: int) -> list[Row]:
    """The embedding in which the rule was tuned."""
    return of_words("VECTORS", draws)


def wide(draws: int) -> list[Row]:
    """The same, with sub-topics whose words are less alike."""
    return of_words("VECTORS", draws, "wide", "sub-topics")


RESULTS = (
    Result("words-glove", glove, 1_000, needs="GLOVE", uses=_USES),
    Result("words-googlenews", googlenews, 500, needs="VECTORS", uses=_USES),
    Result("words-wide", wide, 200, needs="VECTORS", uses=_USES),
)
