"""The noun for the units of a list, such as "image", replaces "word" on pages, in figures, and in methods."""

import html
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.text import Text

import bayes_bias as bb
from bayes_bias.analyses.comparison.comparison import Comparison
from bayes_bias.analyses.report.results import Report
from bayes_bias.checks.clusters import leave_out
from bayes_bias.cli.sweep import show_sweep
from bayes_bias.documents.document import Document
from bayes_bias.errors import WordListError
from bayes_bias.formatting import page_with_unit, with_unit
from bayes_bias.models.spec import BY_CLASS, BY_GROUP
from bayes_bias.plots import plot_plan, plot_posterior, plot_word_bias
from bayes_bias.posterior.verdict import verdict_of_table
from bayes_bias.table.association_table import unit_of
from tests.analyses.sweep.made_up import made_sweep
from tests.helpers import SHORT, refused, says

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


# The noun, except in names such as "word embedding" and "words.csv".
_NOUN = re.compile(r".*\b[Ww]ords?\b(?! embedding|\.csv|\.jpg).*")


def read_folder(result, folder):
    """Return the text of the page, of its figures without their fonts, and of all other files with text."""
    bb.write(result, folder)
    page = re.sub(r"<style.*?</style>|<script.*?</script>", "", (folder / "index.html").read_text(), flags=re.DOTALL)
    texts = {"index.html": html.unescape(re.sub(r"<[^>]+>", " ", page))}
    for figure in (folder / "figures").glob("*.svg"):
        texts[figure.name] = "\n".join(re.findall(r"<text.*?>(.*?)</text>", figure.read_text(), re.DOTALL))
    for name in ("methods.txt", "methods.tex", "tables.tex", "stability.txt", "multiverse.txt"):
        if (folder / name).exists():
            texts[name] = (folder / name).read_text()
    return texts


@pytest.mark.slow
def test_report_of_images_names_images_on_page_in_figures_and_methods(tmp_path):
    table = table_of(images())
    read = read_folder(bb.report(table, sampling=SHORT, calibration_draws=20), tmp_path / "images")
    assert not [found for text in read.values() for found in _NOUN.findall(text)]
    assert "Target images" in read["index.html"]
    assert "bias of each target image" in read["wordlist-targets.svg"]
    assert "between target images, which fall into groups" in read["methods.txt"]


def test_gate_of_images_needs_images():
    gate = bb.check(table_of(images()), rope=0.05)
    assert says(gate.text, "To fail the latter in 80%, images would be needed")
    assert not _NOUN.findall(gate.text)
    assert "words_needed" in gate.table


def test_verdict_of_images_names_images():
    table = bb.cosines(images(), vectors_of_images(1), ())
    found = verdict_of_table(table, "targets")
    assert found.label == "these words differ"
    assert says(found.text, "These images differ. even random images differ")
    texts = (found.text, found.wider.text, found.to_markdown(), repr(bb.verdict(table)))
    assert not [words for text in texts for words in _NOUN.findall(text)]


@pytest.mark.slow
def test_plots_of_saved_fit_of_images_name_images(tmp_path):
    table = bb.cosines(images(), vectors_of_images(1), ())
    fit = bb.load_fit(bb.save_fit(bb.fit(table, sampling=SHORT), tmp_path / "fit.nc"))
    axes = (
        plot_posterior(fit, without=leave_out(table)),
        plot_word_bias(fit),
        plot_word_bias(fit, "attribute"),
        plot_plan(fit, 0.05),
    )
    texts = [text.get_text() for ax in axes for text in ax.findobj(Text)]
    assert not [words for text in texts for words in _NOUN.findall(text)]
    assert "bias of each target image" in axes[1].get_title(loc="left")
    assert "raw contrast of these images" in " ".join(texts)
    assert says(bb.verdict(fit, "targets").text, "These images")


def test_text_of_report_names_images():
    section = SimpleNamespace(name="iEAT", table=images(), verdict=SimpleNamespace(label="these words differ"))
    report = SimpleNamespace(sections=[section], spec=SimpleNamespace(name="crossed"), scope="attributes")
    assert Report.text.fget(report).startswith("iEAT: these images differ (")


def test_text_of_comparison_names_images():
    given = {"verdict": SimpleNamespace(label="borderline"), "headline": "It rose", "details": ["Only six words."]}
    comparison = SimpleNamespace(before=table_of(images()), **given)
    assert Comparison.text.fget(comparison) == "It rose. Only six images."


def vectors_of_images(seed, shift=0.6):
    """Return vectors in which flowers are closer to calm, and insects to fear."""
    rng, side = np.random.default_rng(seed), {"flower": shift, "calm": shift, "insect": -shift, "fear": -shift}
    return {name: rng.normal(size=20) + side[kind] * 3 * np.eye(20)[0] for kind in KINDS for name in NAMES[kind]}


def seen_by_cameras(number):
    return [bb.open_embedding(vectors_of_images(seed), name=f"camera {seed}") for seed in range(number)]


def test_multiverse_of_images_names_images_on_page_in_figure_and_text(tmp_path):
    table = bb.cosines(images(), vectors_of_images(1), ())
    found = bb.multiverse(table, choices={"scales": [BY_GROUP, BY_CLASS]})
    read = read_folder(found, tmp_path / "multiverse") | {"text": found.text, "table": found.to_markdown()}
    assert not [words for text in read.values() for words in _NOUN.findall(text)]
    assert "how to weight related images" in read["multiverse.txt"]


def test_sweep_of_images_names_images_on_page_in_figures_and_methods(tmp_path, capsys):
    found = made_sweep(versions=("hard", "theirs"))
    found = replace(
        found,
        changes=found.changes.assign(taught=1),
        cells=found.cells.replace({"verdict": {"borderline": "these words may differ"}}),
        ranking=replace(found.ranking, unit="image"),
        unit="image",
    )
    read = read_folder(found, tmp_path / "atlas") | {"text": found.text, "ranking": found.ranking.text}
    show_sweep(found)
    read["printed"] = capsys.readouterr().out
    assert not [words for text in read.values() for words in _NOUN.findall(text)]
    assert "how much closer images are to the class" in " ".join(read["index.html"].split())
    assert "for new images" in read["ranking"]
    assert read["ranking"] in " ".join(read["printed"].split())


@pytest.mark.slow
def test_sweep_of_images_measures_images_over_time_and_in_versions():
    cameras = seen_by_cameras(2)
    version = bb.debiasing.GivenVersion(vectors_of_images(0, 0.2), "blurred", of="camera 0")
    grid = bb.Grid(images(), cameras, controls=(), times={camera.name: 1990 + k for k, camera in enumerate(cameras)})
    found = bb.sweep(grid, versions=version, posteriors="none", jobs=1)
    texts = (found.text, found.ranking.text, found.series["wordlist"].text)
    assert found.unit == found.ranking.unit == "image"
    assert not [words for text in texts for words in _NOUN.findall(text)]


@pytest.mark.slow
def test_stability_of_images_names_images_on_page_in_figure_and_text(tmp_path):
    table = bb.cosines(images(), bb.open_embedding(seen_by_cameras(3), kind="camera"), ())
    found = bb.stability(table, sampling=SHORT)
    read = read_folder(found, tmp_path / "stability") | {"text": found.text, "omitted": str(found.left_out)}
    assert not [words for text in read.values() for words in _NOUN.findall(text)]
    assert "due to the choice of images rather than cameras" in read["stability.txt"]


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
