"""Language models as columns: the numbers are those of `log_probabilities`, and no model is asked twice."""

from collections.abc import Sequence
from pathlib import Path
from zlib import crc32

import pytest

import bayes_bias as bb
from bayes_bias.debiasing import Debiasing, HardDebias
from bayes_bias.errors import BayesBiasError, LanguageModelError
from bayes_bias.measures import quasi_f
from bayes_bias.sweeps.sweep_results import Sweep
from bayes_bias.words.cloze import Cloze
from tests.helpers import refused, says


class Talker:
    """Answers of its own to every cloze, and always the same."""

    def __init__(self, identity: str, unknown: str = "") -> None:
        self.name = self.identity = identity
        self.unknown, self.asked = unknown, 0

    def __call__(self, clozes: Sequence[Cloze]) -> list[float]:
        if any(cloze.word == self.unknown for cloze in clozes):
            raise LanguageModelError(f"word: no token for '{self.unknown}'; leave it out")
        self.asked += len(clozes)
        return [-1 - crc32(f"{self.identity} {each.seen} {each.word}".encode()) / 2**32 for each in clozes]


def screened(*models: Talker, folder: Path | None = None) -> Sweep:
    columns = [bb.LanguageModelColumn(model) for model in models]
    return bb.sweep(columns, ["weat6", "weat7"], posteriors="none", controls=(), jobs=1, folder=folder)


def test_a_column_has_the_numbers_of_log_probabilities_and_their_unit() -> None:
    found = screened(Talker("one"), Talker("two"))
    alone = quasi_f(bb.log_probabilities(Talker("two"), "weat7", controls=()))
    assert found.cells.bias["two", "weat7"] == alone.value
    assert found.metric.unit == "nats"
    assert says(found.text, "Two models two lists 4 cells")
    source, *counts = found.sources.loc["one", ["source", "dimensions", "replicates"]]
    assert says(source, "log probabilities targets one")
    assert counts == [0, 10]


def test_a_sweep_that_goes_on_asks_no_model_again(tmp_path: Path) -> None:
    first, again, other = Talker("one"), Talker("one"), Talker("two")
    before = screened(first, folder=tmp_path)
    after = screened(again, other, folder=tmp_path)
    assert (first.asked > 0, again.asked, other.asked) == (True, 0, first.asked)
    assert before.cells.bias["one", "weat6"] == after.cells.bias["one", "weat6"]


def test_a_list_that_a_model_cannot_answer_fails_alone() -> None:
    found = screened(Talker("one", unknown="math"), Talker("two"))
    assert found.cells.bias.isna().tolist() == [False, True, False, False]
    (reason,) = found.failures.reason
    assert says(reason, "token 'math'")


@pytest.mark.parametrize(
    ("embeddings", "options", "message"),
    [
        (
            [bb.LanguageModelColumn(Talker("one")), "googlenews-demo"],
            {},
            "embeddings 'one' log probabilities 'googlenews-demo' cosines",
        ),
        (
            [bb.LanguageModelColumn(Talker("one"))],
            {"versions": [Debiasing(HardDebias(), "she:he")]},
            "versions 'debiased' 'one' log probabilities",
        ),
        ([bb.LanguageModelColumn(Talker("one")), bb.LanguageModelColumn(Talker("one"))], {}, "embeddings 2 'one'"),
        ([bb.LanguageModelColumn(Talker("one"), predict="target")], {}, "predict 'target' 'targets'"),
        ([bb.LanguageModelColumn(Talker("one"), templates="plain-1")], {}, "templates 'plain-1'"),
    ],
)
def test_wrong_input_is_one_line_before_a_model_is_asked(
    embeddings: list[object], options: dict[str, object], message: str
) -> None:
    with refused(BayesBiasError, message):
        bb.sweep(embeddings, ["weat7"], controls=(), **options)
