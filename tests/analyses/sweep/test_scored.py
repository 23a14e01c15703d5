"""Language models as columns: the numbers are those of `log_probabilities`, and no model is asked twice."""

from collections.abc import Sequence
from pathlib import Path
from zlib import crc32

import pytest

import bayes_bias as bb
from bayes_bias.analyses.sweep.results import Sweep
from bayes_bias.analyses.sweep.spec_file import read_sweep
from bayes_bias.debiasing import Debiasing, GivenVersion, HardDebias
from bayes_bias.errors import BayesBiasError, LanguageModelError
from bayes_bias.measures import quasi_f
from bayes_bias.table.combine_tables import difference, pair
from bayes_bias.words.templates import Cloze
from tests.helpers import in_ten_digits, refused, says


class Talker:
    """Answers of its own to every cloze, and always the same; "half" has half the variance of "one"."""

    def __init__(self, identity: str, unknown: str = "") -> None:
        self.name = self.identity = identity
        self.unknown, self.asked, self.is_causal = unknown, 0, False

    def __call__(self, clozes: Sequence[Cloze]) -> list[float]:
        if any(cloze.word == self.unknown for cloze in clozes):
            raise LanguageModelError(f"word: no token for '{self.unknown}'; leave it out")
        self.asked += len(clozes)
        by, share = ("one", 0.5) if self.identity == "half" else (self.identity, 1)
        return [-1 - share * crc32(f"{by} {cloze.seen} {cloze.word}".encode()) / 2**32 for cloze in clozes]


def screened(*models: Talker, folder: Path | None = None, **options: object) -> Sweep:
    columns = [bb.LanguageModelColumn(model) for model in models]
    return bb.sweep(
        bb.Grid(["weat6", "weat7"], columns, controls=()), posteriors="none", jobs=1, folder=folder, **options
    )


def test_version_predicts_same_words_as_its_original() -> None:
    causal, masked = Talker("one"), Talker("two")
    causal.is_causal = True
    version = bb.debiasing.GivenVersion(masked, "masked", of="one")
    found = screened(causal, versions=[version])
    attributes = quasi_f(bb.log_probabilities("weat7", masked, controls=(), predict="attributes"))
    assert (found.cells.bias["one, masked", "weat7"],) == in_ten_digits(attributes.value)


def test_sweep_of_language_models_has_log_probabilities_and_unit() -> None:
    found = screened(Talker("one"), Talker("two"))
    alone = quasi_f(bb.log_probabilities("weat7", Talker("two"), controls=()))
    assert (found.cells.bias["two", "weat7"],) == in_ten_digits(alone.value)
    assert found.metric.unit == "nats"
    assert says(found.text, "Two models two lists 4 cells")
    source, *counts = found.sources.loc["one", ["source", "dimensions", "replicates"]]
    assert says(source, "log probabilities targets one")
    assert counts == [0, 10]


def test_sweep_does_not_query_models_of_stored_cells(tmp_path: Path) -> None:
    first, again, second = Talker("one"), Talker("one"), Talker("two")
    before = screened(first, folder=tmp_path)
    after = screened(again, second, folder=tmp_path)
    assert (first.asked > 0, again.asked, second.asked) == (True, 0, first.asked)
    assert before.cells.bias["one", "weat6"] == after.cells.bias["one", "weat6"]


def test_language_model_version_has_paired_changes(tmp_path: Path) -> None:
    half = GivenVersion(Talker("half"), "CDA", of="one")
    found = screened(Talker("one"), Talker("two"), folder=tmp_path, versions=half)
    assert list(found.originals) == ["one", "two"]
    assert found.sources.loc["one, CDA", ["version_of", "version"]].to_list() == ["one", "CDA"]
    changes = found.changes.loc[("one", "CDA")]
    assert changes.change.to_numpy() == pytest.approx(-changes.before.to_numpy() / 2)
    tables = [bb.log_probabilities("weat7", Talker(name), ()) for name in ("one", "half")]
    change = quasi_f(difference(*pair(*tables)))
    assert (changes.change["weat7"], changes.sd["weat7"]) == pytest.approx((change.value, change.se))
    assert found.metric.unit == "nats"
    again = Talker("half")
    screened(Talker("one"), folder=tmp_path, versions=GivenVersion(again, "CDA", of="one"))
    assert again.asked == 0


def test_sweep_file_measures_causal_models_and_their_versions(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def open_causal(model: str | Talker, *, trust: bool = False) -> Talker:
        talker = Talker(model) if isinstance(model, str) else model
        talker.is_causal = True
        return talker

    monkeypatch.setattr("bayes_bias.analyses.sweep.columns.open_score", open_causal)
    file = tmp_path / "audit.toml"
    file.write_text(
        'lists = ["weat7"]\nposteriors = "none"\ncontrols = []\n[[embeddings]]\ncausal = "one"\n'
        '[[embeddings.versions]]\nname = "CDA"\ncausal = "half"\n'
    )
    found = bb.sweep(**read_sweep(file).arguments(), jobs=1)
    alone = quasi_f(bb.log_probabilities("weat7", open_causal("one"), (), predict="attributes"))
    assert (found.cells.bias["one", "weat7"],) == in_ten_digits(alone.value)
    assert found.metric.unit == "nats"
    assert found.changes.index.to_list() == [("one", "CDA", "weat7")]


def test_list_with_unscored_word_fails_alone() -> None:
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
            "version 'debiased' 'one' log probabilities GivenVersion",
        ),
        (
            [bb.LanguageModelColumn(Talker("one"))],
            {"versions": GivenVersion(Talker("half"), "CDA", of="two")},
            "versions 'CDA' 'two' one",
        ),
        ([bb.LanguageModelColumn(Talker("one"))], {"versions": GivenVersion(3, "CDA", of="one")}, "model int clozes"),
        ([bb.LanguageModelColumn(3)], {}, "model int clozes"),
        ([bb.LanguageModelColumn(Talker("one")), bb.LanguageModelColumn(Talker("one"))], {}, "embeddings 'one' twice"),
        ([bb.LanguageModelColumn(Talker("one"), predict="target")], {}, "predict 'target' 'targets'"),
        ([bb.LanguageModelColumn(Talker("one"), templates="plain-1")], {}, "templates 'plain-1'"),
    ],
)
def test_sweep_raises_for_wrong_language_model_columns(
    embeddings: list[object], options: dict[str, object], message: str
) -> None:
    with refused(BayesBiasError, message):
        bb.sweep(bb.Grid(["weat7"], embeddings, controls=()), **options)
