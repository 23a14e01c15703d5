"""Shipped tables are what their provenance says, and know what was put into them."""

import hashlib
import tomllib

import numpy as np
import pytest

from bayes_bias.analyses.sentence_pairs.scores import read_scores
from bayes_bias.analyses.tpr_gaps.counts import count
from bayes_bias.files import shipped, shipped_names, table_file


def provenance(name: str) -> dict:
    return tomllib.loads((shipped("tables") / f"{name}.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", shipped_names("tables"))
def test_table_matches_provenance_hash_and_licence(name: str):
    about = provenance(name)
    assert hashlib.sha256(table_file(name).read_bytes()).hexdigest() == about["sha256"]
    assert about["licence"].startswith("MIT")


def test_demo_scores_have_bias_only_in_biased_model():
    biased, even = (read_scores(name).rows for name in ("pairs-demo", "pairs-demo-even"))
    assert biased.index.equals(even.index)
    assert biased.ahead.mean() > 0.65
    assert even.ahead.mean() == pytest.approx(0.5, abs=0.1)


def test_tpr_demo_matches_stated_rates():
    counts = count("y", "prediction", "group", "tpr-demo")
    rates = np.array([provenance("tpr-demo")["rates"][name] for name in counts.classes])
    error = (counts.hits - counts.people * rates) / np.sqrt(counts.people * rates * (1 - rates))
    assert list(counts.groups) == ["F", "M"]
    assert np.abs(error.to_numpy()).max() < 3.5
    assert error.to_numpy().std() == pytest.approx(1, abs=0.4)
