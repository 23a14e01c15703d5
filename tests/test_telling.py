"""What data and results look like at the prompt and in a notebook: a line, and not all that is inside."""

import pytest

import bayes_bias as bb
from bayes_bias.analyses.sentence_pairs.scores import read_scores
from bayes_bias.files import table_file
from bayes_bias.formatting import Telling
from tests.helpers import random_table


def test_repr_describes_lists_embeddings_and_tables():
    words = bb.load_wordlist("weat7")
    assert repr(words) == "<WordList: weat7, math (8) = male terms (8), arts (8) = female terms (8)>"
    assert "; controls neutral (" in repr(words.with_controls("neutral"))
    assert repr(bb.open_embedding({"he": [1.0, 0.0]})) == "<Embedding: embedding, 2 dimensions, a mapping>"
    assert repr(random_table()) == (
        "<AssociationTable: small, 11 targets x 19 attributes, cosines; men = work, women = home; controls neutral>"
    )


def test_pair_scores_have_repr_and_small_table():
    scores = read_scores(table_file("pairs-demo"))
    assert repr(scores).startswith("<PairScores: pairs-demo, 240 pairs; the stereotypical sentence is ahead in ")
    assert "<table" in scores._repr_html_()
    assert scores.layout.frame.pairs.astype(int).sum() == len(scores)


def test_repr_html_escapes_table_name():
    named = random_table(name="<script>alert(1)</script>")
    assert "<script>" not in named._repr_html_()


def test_verdict_prints_text_in_str_repr_and_html(small_fit):
    found = bb.verdict(small_fit)
    assert str(found) == found.text
    assert repr(found) == f"<Verdict: {found.text}>"
    assert found._repr_html_().startswith("<p>Distinguishable from noise. ")


@pytest.mark.parametrize("name", ["AssociationTable", "WordList"])
def test_public_data_classes_inherit_from_telling(name):
    assert issubclass(getattr(bb, name), Telling)


def test_results_export_small_table_as_latex_markdown_and_html(small_fit):
    answer, verdict = bb.contrast(small_fit, "men - women: work", label="men & women"), bb.verdict(small_fit)
    mean = f"{answer.table['mean'].item():.3f}"
    latex, markdown = answer.to_latex(), answer.to_markdown()
    assert r"\toprule" in latex
    assert r"men \& women" in latex
    assert mean in latex
    assert mean in markdown
    assert "<table" in answer._repr_html_()
    assert verdict.short in verdict.to_markdown()
