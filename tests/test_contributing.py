"""The walks for contributors: the code on the pages does what the pages say."""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from bayes_bias import Sampling, cosines, load_spec, measures, open_embedding
from bayes_bias.embeddings import opening
from bayes_bias.measures.registry import MEASURES
from bayes_bias.models.fitted import Fitted
from bayes_bias.progress import Quiet
from bayes_bias.reports.check import Study

WALKS = Path(__file__).parents[1] / "docs" / "contributing"


@pytest.fixture
def made_in(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """The file that a walk has one make."""

    def make(walk: str) -> ModuleType:
        text = (WALKS / walk).read_text(encoding="utf-8")
        file, code = re.findall(r"Make\s`(\S+)\.py`:\n\n```python\n(.*?)```", text, re.DOTALL)[0]
        module = ModuleType(file.replace("/", "."))
        monkeypatch.setitem(sys.modules, module.__name__, module)
        exec(compile(code, walk, "exec"), vars(module))
        return module

    return make


def test_a_measure_of_one_file_is_in_every_table(made_in):
    try:
        made_in("add-a-measure.md")
        vectors = open_embedding("googlenews-demo").all()
        table = measures.measure_all(cosines(vectors, "weat6"), vectors).table
        assert table.index[-1] == "ECT"
        assert table.b0["ECT"] == 1
        assert -1 < table.value["ECT"] < 1
    finally:
        MEASURES.pop("ECT", None)


def test_a_format_of_one_file_and_one_row_opens(made_in, tmp_path, monkeypatch):
    text = (WALKS / "add-a-format.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\+    (\w+)\.FORMAT,$", text, re.MULTILINE)
    monkeypatch.setattr(opening, "tsv", made_in("add-a-format.md"), raising=False)
    formats = tuple(getattr(opening, row).FORMAT for row in rows)
    assert set(opening.FORMATS) < set(formats)
    monkeypatch.setattr(opening, "FORMATS", formats)
    vectors = opening.open_embedding("googlenews-demo").all()
    lines = ("\t".join([word, *map(str, row)]) + "\n" for word, row in vectors.items())
    (tmp_path / "vectors.tsv").write_text("".join(lines), encoding="utf-8")
    opened = opening.open_embedding(tmp_path / "vectors.tsv")
    assert opened.source == "vectors.tsv (tsv)"
    assert cosines(opened, "weat6").values.equals(cosines(vectors, "weat6").values)


@pytest.mark.slow
def test_a_check_of_one_file_says_its_sentence(made_in, small_fit, small_table):
    ends = made_in("add-a-section.md").CHECKER
    study = Study(
        small_table, Fitted(small_fit), load_spec("crossed"), "both", 0.95, 1, Sampling(), None, 0, Quiet()
    )
    found = ends.run(study)
    assert set(ends.columns) == set(found.numbers)
    assert f"'{found.numbers['most']}' has the largest" in found.text
    assert {found.numbers["most"], found.numbers["least"]} < set(small_table.values.target.values)
