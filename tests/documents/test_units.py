"""The noun for the units of a list, such as "image", replaces "word" on pages, in figures, and in methods."""

import html
import re

import numpy as np
import pytest

import bayes_bias as bb
from bayes_bias.documents.document import Document
from bayes_bias.errors import WordListError
from bayes_bias.formatting import page_with_unit, with_unit
from bayes_bias.table.association_table import unit_of
from tests.helpers import SHORT, refused

KINDS = ("insect", "flower", "calm", "fear")
NAMES = {kind: [f"{kind}-{k}.jpg" for k in range(6)] for kind in KINDS}


def images(**changes):
    content = {
        "groups": {"flowers": NAMES["flower"], "insects": NAMES["insect"]},
        "classes": {"pleasant": NAMES["calm"], "unpleasant": NAMES["fear"]},
        "stereotypes": {"flowers": "pleasant", "insects": "unpleasant"},
        "unit": "image",
    }
    return bb.wordlist(**content | changes)


def table_of(words):
    rng = np.random.default_rng(1)
    return bb.cosines(words, {name: rng.normal(size=20) for kind in KINDS for name in NAMES[kind]}, ())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A word's bias, and an odd word.", "An image's bias, and an odd image."),
        ("Words: word by word", "Images: image by image"),
        ("words.csv, table-words, keywords, wording", "words.csv, table-words, keywords, wording"),
        ("word embeddings of two word lists", "word embeddings of two image lists"),
    ],
)
def test_with_unit_replaces_noun_and_article(text, expected):
    assert with_unit(text, "image") == expected
    assert with_unit(text, "word") == text


def test_page_with_unit_keeps_code_references_and_attributes():
    page = '<p id="word">Two words</p><code>a word</code><ol class="references"><li>A word</li></ol><b>word</b>'
    expected = page.replace("Two words", "Two images").replace("<b>word", "<b>image")
    assert page_with_unit(page, "image") == expected


@pytest.mark.slow
def test_report_of_images_names_images_on_page_in_figures_and_methods(tmp_path):
    table = table_of(images())
    bb.write(bb.report(table, sampling=SHORT, calibration_draws=20), tmp_path / "images")
    read = {name: (tmp_path / "images" / name).read_text() for name in ("index.html", "methods.txt", "methods.tex")}
    page = re.sub(r"<style.*?</style>|<script.*?</script>", "", read["index.html"], flags=re.DOTALL)
    shown = html.unescape(re.sub(r"<[^>]+>", " ", page))
    for text in (shown, read["methods.txt"], read["methods.tex"]):
        assert not re.findall(r"\b[Ww]ords?\b(?! embedding|\.csv).*", text)
    assert "Target images" in shown
    assert "bias of each target image" in (tmp_path / "images/figures/wordlist-targets.svg").read_text()
    assert "between target images, which fall into groups" in read["methods.txt"]


def test_tables_of_different_units_are_of_items():
    table = table_of(images())
    assert table.unit == unit_of([table, table]) == "image"
    assert unit_of([table, bb.cosines("weat6", "googlenews-demo", ())]) == "item"
    assert Document("", "", (), {}).unit == "word"


def test_unit_changes_neither_hash_nor_numbers():
    assert images().sha256 == images(unit="word").sha256
    assert table_of(images()).values.equals(table_of(images(unit="word")).values)


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"unit": "2d"}, "'unit' noun '2d'"), ({"title": "Images of words"}, "`unit='image'` 'Images of words' omit")],
)
def test_wordlist_raises_for_units_that_pages_cannot_show(changes, message):
    with refused(WordListError, message):
        images(**changes)
