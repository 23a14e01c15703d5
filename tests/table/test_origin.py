"""A table remembers where it was measured, and analyses ask it."""

import inspect
import pickle
from dataclasses import replace
from operator import attrgetter

import numpy as np
import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.embeddings.embedding import Excerpt
from bayes_bias.errors import EmbeddingError, TableError
from bayes_bias.table.origin import read_once
from tests.helpers import FEW, random_vectors, refused

WEAT7 = bb.load_wordlist("weat7")
ANALYSES = (bb.report, bb.calibrate, bb.compare, bb.stability, bb.sweep, bb.criterion)
ORDER = ("model", "models", "scope", "scopes", "ci_prob", "rope", "seed", "sampling", "folder", "jobs")


@pytest.mark.parametrize("analysis", ANALYSES, ids=lambda analysis: analysis.__name__)
def test_analyses_have_few_parameters_in_one_order(analysis):
    names = list(inspect.signature(analysis).parameters)
    assert len(names) <= 14
    shared = [name for name in names if name in ORDER]
    assert shared == sorted(shared, key=ORDER.index)
    assert not {"controls", "similarity", "sub_topics", "allow_loss", "trust", "progress"} & set(names)


def test_table_keeps_list_and_settings_as_origin():
    origin = bb.similarities(
        "weat7", "googlenews-demo", ("neutral",), similarity="dot", sub_topics="independent"
    ).origin
    assert (origin.wordlist.name, origin.embedding.name, origin.similarity.name) == ("weat7", "googlenews-demo", "dot")
    assert (list(origin.words.controls), origin.wordlist.sub_topics) == (["neutral"], "independent")


def test_table_hash_ignores_origin_and_selection_omits_origin():
    table = bb.cosines("weat7", "googlenews-demo")
    assert replace(table, origin=None).sha256 == table.sha256
    assert table.without_controls().origin is None
    assert table.select(lambda values: values[::-1]).origin is None
    assert table.select(lambda values: values).origin is table.origin
    assert pickle.loads(pickle.dumps(table)).origin.words == table.origin.words


def test_read_once_shares_embedding_between_origins():
    vectors = bb.open_embedding(random_vectors(1, [*WEAT7.targets, *WEAT7.attributes, "spare", "words"]))
    origins = read_once(
        [
            bb.cosines(name, vectors, (), sub_topics="exhaustive").origin
            for name in (WEAT7, replace(WEAT7, name="again"))
        ]
    )
    assert origins[0].embedding is origins[1].embedding
    assert isinstance(origins[0].embedding.reader, Excerpt)
    assert "spare" in origins[0].embedding.pool()
    assert read_once(origins)[0].embedding is origins[0].embedding


def test_calibrate_returns_same_records_for_table_and_list():
    named = bb.calibrate("weat7", draws=2, models=(), jobs=1)
    measured = bb.calibrate(bb.cosines("weat7", "googlenews-demo"), draws=2, models=(), jobs=1)
    pd.testing.assert_frame_equal(named.records, measured.records)


@pytest.mark.thorough
@pytest.mark.slow
def test_report_returns_same_evidence_for_table_and_list():
    named = bb.report("weat7", sampling=FEW, calibration_draws=2)
    measured = bb.report(bb.cosines("weat7", "googlenews-demo"), sampling=FEW, calibration_draws=2)
    pd.testing.assert_frame_equal(named.evidence(), measured.evidence())
    described = attrgetter("title", "description", "errata")
    assert list(map(described, named.sections)) == list(map(described, measured.sections))
    assert np.isfinite(measured.evidence().null_share).all()


def test_origin_errata_contain_names_of_control_classes(tmp_path):
    """The words are those of this package, and not of the reader."""
    own = tmp_path / "own.toml"
    own.write_text('errata = ["\'hte\' is kept."]\n[classes]\nthings = ["hte", "dinner"]\nanimals = ["lunch"]\n')
    origin = bb.cosines("weat7", "googlenews-demo", ("neutral", own), allow_loss=True).origin
    assert origin.errata[-2].startswith("control class 'neutral': 'literaly' is misspelt in the source")
    assert origin.errata[-1] == "control class 'things' and 'animals': 'hte' is kept."
    assert "literaly" not in " ".join(bb.cosines("weat7", "googlenews-demo", ()).origin.errata)


def test_analyses_raise_for_unsuitable_table_or_extra_embedding():
    table = bb.cosines("weat7", "googlenews-demo")
    with refused(TableError, "wordlist 'weat7' embedding `bayes_bias.cosines`"):
        bb.calibrate(table.without_controls())
    with refused(EmbeddingError, "embedding 'weat7' Omit"):
        bb.calibrate(table, "glove.txt")
    with refused(TableError, "'weat7' single training run open_embedding"):
        bb.stability(table)
    with refused(EmbeddingError, "embedding 'Grid' Omit"):
        bb.sweep(bb.Grid("weat7"), ["glove.txt"])
