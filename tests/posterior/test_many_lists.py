"""The more lists are asked, the more often noise alone answers."""

import numpy as np
import pytest

from bayes_bias.posterior.holm import holm, many_lists
from bayes_bias.posterior.verdict import Label, Verdict
from bayes_bias.table.metric import COSINE
from tests.helpers import says


def verdict(chance: float, label: Label = "distinguishable") -> Verdict:
    return Verdict(label, 0.05, 0.01, 0.09, 0.95, "both", COSINE, 1 - chance / 2, chance, None)


def test_holm_matches_published_examples():
    # https://en.wikipedia.org/wiki/Holm-Bonferroni_method#Example: at 5% the first and the last are rejected.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    # Benjamini & Hochberg (1995), https://doi.org/10.1111/j.2517-6161.1995.tb02031.x: of these 15 the procedures that
    # control the familywise error at 5% reject three.
    found = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240]
    adjusted = holm([*found, 0.4262, 0.5719, 0.6528, 0.7590, 1.0])
    assert (adjusted < 0.05).sum() == 3
    assert adjusted[:4] == pytest.approx([0.0015, 0.0056, 0.0247, 0.114])
    assert (adjusted <= 1).all()


def test_holm_controls_false_positives_of_ten_lists():
    chances = np.random.default_rng(0).uniform(size=(4000, 10))
    assert (chances.min(axis=1) < 0.05).mean() == pytest.approx(1 - 0.95**10, abs=0.025)
    assert np.mean([holm(row).min() < 0.05 for row in chances]) == pytest.approx(0.05, abs=0.01)


def test_holm_keeps_single_p_value():
    assert holm([0.03]) == pytest.approx([0.03])


def test_many_lists_reports_remaining_lists_and_adjusted_chances():
    found = many_lists({"weat6": verdict(0.001), "weat7": verdict(0.4, "not distinguishable"), "gender": verdict(0.03)})
    assert says(found, "Two of three distinguishable one remains Holm's weat6")
    assert "weat7" not in str(found)
    assert "gender" not in str(found)
    assert found.table.chance.tolist() == pytest.approx([0.001, 0.4, 0.03])
    assert found.table.chance_holm.tolist() == pytest.approx([0.003, 0.4, 0.06])
    assert found.table.survives.tolist() == [True, False, False]


def test_many_lists_reports_none_without_distinguishable_lists():
    found = many_lists(dict.fromkeys(("a", "b"), verdict(0.4, "not distinguishable")))
    assert says(found, "None of two distinguishable none Holm's")


def test_many_lists_names_lists_whose_words_differ_with_fixed_attributes():
    found = many_lists(
        {"a": verdict(0.001, "these words differ"), "b": verdict(0.4, "these words do not clearly differ")}
    )
    assert says(found, "These words differ one of two lists (a) even random words")
    assert "distinguishable" not in str(found)
    assert found.layout.frame["still distinguishable"].tolist() == ["—", "—"]
    unclear = many_lists({"a": verdict(0.07, "these words may differ")})
    assert says(unclear, "These words differ none of one lists")
    assert "random words" not in str(unclear)


def test_many_lists_counts_unconverged_list_without_chance():
    found = many_lists({"a": verdict(0.02), "b": verdict(0.0001, "not converged")})
    assert found.table.chance_holm.tolist() == pytest.approx([0.04, np.nan], nan_ok=True)
    assert says(found, "two one distinguishable Holm's a converged")


def test_many_lists_reports_lists_with_half_shared_words():
    verdicts = dict.fromkeys(("a", "b", "c"), verdict(0.001))
    words = {"a": [{"x"}, {"p", "q"}], "b": [{"y"}, {"q", "r"}], "c": [{"z"}, {"q", "s", "t", "u", "v"}]}
    assert many_lists(verdicts, {"a": words["a"], "b": words["b"]}).related == ("a", "b")
    assert says(many_lists(verdicts, words).text, "a, b, and c share targets or attributes not independent")
    assert many_lists(verdicts, words | {"a": [{"x"}, {"p", "o", "n"}], "c": [{"z"}, {"s"}]}).related == ()
