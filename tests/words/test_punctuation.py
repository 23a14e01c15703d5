"""Cells of punctuation alone are no words, unless the list confirms them; files of vectors contain most of them."""

import re
import tomllib
import webbrowser
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.embeddings import opening
from bayes_bias.embeddings.opening import PACKAGED
from bayes_bias.errors import WordListError
from tests.helpers import refused, says, word_rows

README = Path(__file__).parents[2] / "README.md"
COLUMNS = {
    "math=male terms": ["algebra", "geometry"],
    "arts=female terms": ["poetry", "dance"],
    "male terms": ["he", "man"],
    "female terms": ["she", "woman"],
}
SIGNS = ["...", "…", "-", "--", "–", "—", "?", "*", "/", "''", "“”", "·", "=", "+", "|", "___", "#", "·…", "−", "。"]


def with_word(word: str, heading: str = "math=male terms") -> dict[str, list[str]]:
    return COLUMNS | {heading: [*COLUMNS[heading], word]}


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("heading", COLUMNS)
def test_load_wordlist_raises_for_punctuation_as_word(sign: str, heading: str) -> None:
    with refused(WordListError, "punctuation Remove word_classes other spreadsheet word_class") as caught:
        bb.load_wordlist(with_word(sign, heading))
    assert f"lists '{sign}'" in str(caught.value)
    assert heading.split("=")[0] in str(caught.value)


@pytest.mark.parametrize("word", ["C++", "o'clock", "e-mail", "R&D", "🙂", "€", "♥", "1990", "…und", "ʻokina"])
def test_load_wordlist_keeps_words_with_letter_digit_or_symbol(word: str) -> None:
    assert word in bb.load_wordlist(with_word(word)).groups["math"]


def test_load_wordlist_raises_for_punctuation_in_every_format(tmp_path: Path) -> None:
    columns = {heading: [*words, "..."] for heading, words in COLUMNS.items()}
    wide = pd.DataFrame(columns)
    wide.to_csv(tmp_path / "wide.csv", index=False)
    wide.to_csv(tmp_path / "wide.tsv", index=False, sep="\t")
    pd.DataFrame(word_rows(columns), columns=["word", "group"]).to_csv(tmp_path / "long.csv", index=False)
    (tmp_path / "list.toml").write_text(
        'groups = {math = ["algebra", "..."], arts = ["poetry"]}\nclasses = {male = ["he"], female = ["she"]}\n'
        'stereotypes = {math = "male", arts = "female"}\n'
    )
    (tmp_path / "list.json").write_text('{"math=male": ["algebra", "..."], "male": ["he"], "female": ["she"]}')
    for path in tmp_path.iterdir():
        with refused(WordListError, "'...' punctuation word_classes"):
            bb.load_wordlist(path)
    (tmp_path / "controls.toml").write_text('[classes]\nfood = ["bread", "--"]\n')
    with refused(WordListError, "'--' punctuation word_classes"):
        bb.load_wordlist(COLUMNS).with_controls([tmp_path / "controls.toml"])
    with refused(WordListError, "'...' punctuation word_classes"):
        bb.load_wordlist(wide)


@pytest.mark.parametrize("filler", ["etc.", "usw", "ecc.", "n/a", "TBD", "nan", "3"])
def test_load_wordlist_warns_about_placeholder_words(tmp_path: Path, filler: str) -> None:
    """It is a word of GloVe, and counts as one."""
    path = tmp_path / "list.toml"
    path.write_text(
        f'groups = {{flowers = ["rose", "{filler}"], insects = ["ant", "bee"]}}\n'
        'classes = {good = ["love"], bad = ["hate"]}\nstereotypes = {flowers = "good", insects = "bad"}\n'
    )
    (notice,) = bb.load_wordlist(path).notices
    assert says(notice, f"'flowers' '{filler}' placeholder word remove")
    path.write_text(path.read_text().replace(f', "{filler}"', ""))  # as the notice says
    assert bb.load_wordlist(path).notices == ()


def test_load_wordlist_keeps_punctuation_with_suggested_word_classes() -> None:
    parts: dict[str, Any] = {
        "groups": {"math": ["algebra", "..."], "arts": ["poetry", "dance"]},
        "classes": {"male": ["he", "man"], "female": ["she", "woman"]},
        "stereotypes": {"math": "male", "arts": "female"},
    }
    with pytest.raises(WordListError) as caught:
        bb.load_wordlist(parts)
    (remedy,) = re.findall(r"word_classes = \{.*?\}", str(caught.value))
    confirmed = bb.load_wordlist(parts | tomllib.loads(remedy))
    assert confirmed.groups["math"] == ("algebra", "...")


def test_load_wordlist_keeps_punctuation_with_word_class_column(tmp_path: Path) -> None:
    frame = pd.DataFrame([("...", "math=male terms"), *word_rows(COLUMNS)], columns=["word", "group"])
    frame.assign(word_class=["other", *[""] * 8]).to_csv(tmp_path / "long.csv", index=False)
    assert "..." in bb.load_wordlist(tmp_path / "long.csv").groups["math"]


def readme_list() -> str:
    (block,) = re.findall(r"```text\n(math=male terms.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    return block


@pytest.fixture
def readme_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the list of the README, in which the demo vectors stand for whole GloVe."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "math-arts.csv").write_text(readme_list())
    row = PACKAGED["glove-6b-50d"]
    opened = partial(bb.open_embedding, "googlenews-demo", name=row.name)
    stand_in = SimpleNamespace(open=opened, package=row.package, source=row.source)
    monkeypatch.setattr(opening, "PACKAGED", {row.name: stand_in})
    return tmp_path


def test_cosines_finds_all_words_of_readme_list(readme_folder: Path) -> None:
    table = bb.cosines("math-arts.csv", "glove-6b-50d")
    columns = pd.read_csv("math-arts.csv")
    assert table.values.target.to_numpy().tolist() == [*columns.iloc[:, 0], *columns.iloc[:, 1]]
    assert (table.coverage.query("role != 'control'").found == len(columns)).all()
    vectors = bb.open_embedding("googlenews-demo").find(["algebra", "he"])
    expected = np.dot(*vectors.values())
    assert table.values.sel(target="algebra", attribute="he").item() == pytest.approx(expected, abs=1e-6)


@pytest.mark.slow
def test_readme_code_prints_bias_and_opens_report(
    readme_folder: Path, sketched: None, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(bb, "report", partial(bb.report, calibration_draws=2))
    monkeypatch.setattr(webbrowser, "open", lambda url, *_: opened.append(url))
    (code,) = re.findall(r"```python\n(.*?math-arts.csv.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    exec(code, {})
    assert says(capsys.readouterr().out, "estimated bias")
    assert opened
