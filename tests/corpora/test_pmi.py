"""Pointwise mutual information from texts: closed form, zeros, variance over texts, and messages."""

from itertools import product
from math import log

import numpy as np
import pytest

import bayes_bias as bb
from bayes_bias.corpora.pmi import smoothed_pmi
from bayes_bias.errors import CorpusError, CoverageError
from tests.corpora.test_from_texts import text_variance
from tests.helpers import says

N = 4
TARGETS, ATTRIBUTES = [f"t{k}" for k in range(2 * N)], [f"a{k}" for k in range(2 * N)]
LIST = {"men=work": TARGETS[:N], "women=home": TARGETS[N:], "work": ATTRIBUTES[:N], "home": ATTRIBUTES[N:]}
SIGNS = np.outer(np.repeat([1.0, -1.0], N), np.repeat([1.0, -1.0], N))


def corpus(seed: int, planted: float = 0.0, pairs: int = 1_600, ratio: float = 1.0, spread: float = 0.5):
    """Return 40 texts in which a target is followed by an attribute, with a planted bias.

    Targets and attributes of the first group and class are more frequent by `ratio`. Biases of texts vary.
    """
    rng = np.random.default_rng(seed)
    frequency = np.repeat([ratio, 1.0], N)
    texts = []
    for _ in range(40):
        p = np.outer(frequency, frequency) * np.exp((planted + rng.normal(0, spread)) / 2 * SIGNS)
        cells = rng.choice(p.size, pairs // 40, p=(p / p.sum()).ravel())
        tokens: list[str] = []
        for cell in cells.tolist():
            tokens += ["other", TARGETS[cell // (2 * N)], ATTRIBUTES[cell % (2 * N)], "other"]
        texts.append(tokens)
    return texts


def table_of(texts, **settings):
    return bb.from_texts(texts, LIST, controls=(), measure="pmi", window=1, **settings)


def bias_of(table):
    return float((table.values.to_numpy() * SIGNS).mean() * 2)


def test_values_equal_the_counts_of_a_loop_over_all_pairs_of_tokens():
    texts = [text[:-1] for text in corpus(1, 0.5, pairs=400)]
    window, counts, around, pairs = 3, {}, {}, 0
    for text in texts:
        for first, second in product(range(len(text)), repeat=2):
            if first != second and abs(first - second) <= window:
                pair = text[first], text[second]
                counts[pair] = counts.get(pair, 0) + 1
                around[text[first]] = around.get(text[first], 0) + 1
                pairs += 1
    table = bb.from_texts(texts, LIST, controls=(), measure="pmi", window=window)
    for target, attribute in product(TARGETS, ATTRIBUTES):
        expected = around[target] * around[attribute] / pairs
        value = log((counts.get((target, attribute), 0) + 0.5) / (expected + 0.5))
        assert table.values.sel(target=target, attribute=attribute).item() == pytest.approx(value)
    assert table.metric.unit == "nats"
    assert "window 3" in table.provenance["texts"]


def test_jackknife_equals_tables_without_each_text():
    texts = corpus(2, 0.5)
    table = table_of(texts)
    without = np.stack([table_of(texts[:k] + texts[k + 1 :]).values.to_numpy() for k in range(40)])
    covariance = np.einsum("kij,kij->ij", table.texts.stacked, table.texts.stacked)
    np.testing.assert_allclose(covariance, 39 / 40 * 40 * without.var(axis=0))
    assert table.texts.df == 39


def test_smoothed_pmi_is_zero_for_independent_words_and_finite_for_zeros():
    assert smoothed_pmi(np.array([3.0]), np.array([3.0])).item() == 0.0
    assert smoothed_pmi(np.array([0.0]), np.array([2.0])).item() == pytest.approx(-log(1 + 2 * 2.0))


def test_bias_of_many_pairs_equals_the_planted_log_odds_ratio():
    assert bias_of(table_of(corpus(3, 0.8, pairs=80_000))) == pytest.approx(0.8, abs=0.25)
    planted = bb.verdict(table_of(corpus(3, 0.8, pairs=8_000)), "none")
    null = bb.verdict(table_of(corpus(3, pairs=8_000)), "none")
    assert planted.lower > 0
    assert null.lower < 0 < null.upper
    assert "interval over texts" in planted.text


def test_bias_is_near_zero_if_groups_and_classes_differ_only_in_frequency():
    biases = [bias_of(table_of(corpus(seed, ratio=4.0, spread=0.0))) for seed in range(20)]
    # A half in the numerator alone would give .26 here.
    assert abs(np.mean(biases)) < 0.08


@pytest.mark.slow
def test_variance_over_texts_equals_the_variance_over_new_corpora():
    tables = [table_of(corpus(seed, 0.5, pairs=3_200)) for seed in range(60)]
    ratio = np.mean([text_variance(table, "none") for table in tables]) / np.var(list(map(bias_of, tables)), ddof=1)
    # A variance with 59 degrees of freedom has a relative standard error of 18%.
    assert 0.65 < ratio < 1.6


def test_zero_cells_are_named_and_too_many_raise_an_error(caplog):
    table = table_of(corpus(4, 2.5, pairs=800))
    (notice,) = [notice for notice in table.notices if "never occur" in notice]
    assert says([notice], "pairs of compared words Their PMI is")
    with pytest.raises(CorpusError, match=r"but at most 50% may be zero\. Increase `window`"):
        table_of(3 * [[word for pair in zip(TARGETS, ATTRIBUTES, strict=True) for word in (*pair, "other")]])


def test_notice_names_the_words_whose_few_co_occurrences_shrink_the_bias():
    notices = table_of(corpus(3, pairs=400)).notices
    assert says(notices, "co-occurs times on average are closer to zero Use a wider window")
    assert not says(table_of(corpus(3, pairs=8_000)).notices, "closer to zero")
    # Of 1,600 co-occurrences, 1/25 is expected of the 16 pairs of the second group and class.
    uneven = table_of(corpus(3, pairs=1_600, ratio=4.0)).notices
    assert says(uneven, "of 'women' and 'home' co-occurs 4.1 times")


def test_controls_are_measured_but_their_zeros_are_not_counted():
    texts = [[*text, "b0"] for text in corpus(5)]
    table = bb.from_texts(texts, LIST, controls={"rare": ["other", "b0"]}, measure="pmi", window=1)
    assert table.controls == ("rare",)
    assert not says(table.notices, "never occur")


def test_words_in_a_single_text_are_omitted(caplog):
    texts = [[token for token in text if token != "t0"] for text in corpus(6)]
    table = table_of([["other", "t0", "a0", *texts[0]], *texts[1:]])
    assert "t0" not in table.values.target
    assert "t0 occur in a single group of texts" in caplog.text
    with pytest.raises(CoverageError, match="texts has no value for any of the 4 words in the group 'men'"):
        table_of([[token for token in text if token not in TARGETS[:N]] for text in texts])


def test_table_files_and_fits_keep_the_metric(tmp_path):
    from bayes_bias.table.files import read_table, table_rows

    table = table_of(corpus(7, 0.5))
    table_rows(table).to_csv(tmp_path / "table.csv", index=False)
    assert read_table(tmp_path / "table.csv").metric == table.metric


def test_from_texts_raises_for_a_wrong_combination():
    with pytest.raises(CorpusError, match="`measure` cannot be 'ppmi'"):
        bb.from_texts(corpus(1), LIST, measure="ppmi")
    with pytest.raises(CorpusError, match="require the pretrained vectors"):
        bb.from_texts(corpus(1), LIST)
    for settings in ({"embedding": {"a": [1.0]}}, {"transformation": np.eye(2)}):
        with pytest.raises(CorpusError, match="counts co-occurrences and uses no vectors"):
            bb.from_texts(corpus(1), LIST, measure="pmi", **settings)


@pytest.mark.slow
def test_report_of_pmi_is_written(tmp_path):
    report = bb.report(table_of(corpus(8, 0.8)), sampling=bb.Sampling(draws=300, chains=2))
    page = bb.write(report, tmp_path / "report", figures=())
    assert "PMI" in page.read_text()
    methods = " ".join((tmp_path / "report" / "methods.txt").read_text(encoding="utf-8").split())
    assert "computed from 40 texts with 6,400 words" in methods
    assert "Church, K. W." in methods
