"""Tables from texts: variance over texts, words with few contexts, and messages."""

import json
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.corpora.from_texts import corpus_vectors
from bayes_bias.corpora.reading import open_corpus
from bayes_bias.documents.methods import Methods, text_samples
from bayes_bias.errors import CorpusError
from bayes_bias.measures.crossed_tests import WordScores
from bayes_bias.table.bias_weights import bias_weights
from bayes_bias.table.scopes import SCOPES
from bayes_bias.table.statistics import table_means
from bayes_bias.table.texts import COVARIANCE, Texts, covariance_under
from tests.helpers import says

MEN, WOMEN = [f"man{k}" for k in range(4)], [f"woman{k}" for k in range(4)]
WORK, HOME = [f"work{k}" for k in range(4)], [f"home{k}" for k in range(4)]
LIST = {"men=work": MEN, "women=home": WOMEN, "work": WORK, "home": HOME}
CONTEXT = [f"word{k}" for k in range(40)]
D = 6
VECTORS = dict(zip(CONTEXT, np.random.default_rng(0).normal(size=(40, D)) + 1.0, strict=True))


def corpus(seed: int, texts: int = 40, planted: float = 0.0) -> list[list[str]]:
    """Return texts in which men and work, and women and home, share contexts if a bias is planted.

    The topic of a text changes the contexts of all its words, so that texts are clusters.
    """
    rng = np.random.default_rng(seed)
    own = np.random.default_rng(1).normal(size=(16, 40)) * 0.3
    side = np.repeat([1.0, -1.0, 1.0, -1.0], 4)[:, None] * np.where(np.arange(40) < 20, planted, -planted)
    written = []
    for _ in range(texts):
        topic = rng.normal(size=40) * 1.5
        tokens: list[str] = []
        for word in rng.permutation(16).repeat(2):
            p = np.exp(own[word] + side[word] + topic)
            around = rng.choice(CONTEXT, 4, p=p / p.sum())
            tokens += [*around[:2], [*MEN, *WOMEN, *WORK, *HOME][word], *around[2:]]
        written.append(tokens)
    return written


def table_of(texts, **settings):
    return bb.from_texts(texts, LIST, VECTORS, (), window=2, transformation=np.eye(D), **settings)


@pytest.mark.slow
def test_variance_over_texts_equals_the_variance_over_new_corpora() -> None:
    biases, variances = [], []
    for seed in range(40):
        table = table_of(corpus(seed, planted=0.7))
        biases.append(WordScores.from_table(table).bias)
        variances.append(text_variance(table, "none"))
    ratio = np.mean(variances) / np.var(biases, ddof=1)
    # A variance with 39 degrees of freedom has a relative standard error of 23%.
    assert 0.6 < ratio < 1.6


def text_variance(table, scope):
    data = table_means(table)
    weights = bias_weights(data).to_numpy()[0]
    return np.einsum("gc,gchd,hd->", weights, covariance_under(data, SCOPES[scope]), weights)


def with_noise(noise):
    """Return a table whose values vary over texts by this noise (parts, targets, attributes)."""
    values = np.random.default_rng(0).normal(size=noise.shape[1:])
    table = bb.AssociationTable.from_arrays(
        values / 10,
        targets=dict.fromkeys(MEN, "men") | dict.fromkeys(WOMEN, "women"),
        attributes=dict.fromkeys(WORK, "work") | dict.fromkeys(HOME, "home"),
        stereotypes={"men": "work", "women": "home"},
    )
    parts = {str(k): table.values.copy(data=part) for k, part in enumerate(noise)}
    return replace(table, texts=Texts("texts", MappingProxyType(parts)))


SIGN = np.repeat([1.0, -1.0], 4)
# All words of a block deviate alike, by .05 in either direction, which moves the bias by .1.
SHARED = 0.1 * SIGN[:, None] * SIGN * np.array([0.5, -0.5])[:, None, None]


def test_scope_both_keeps_the_noise_that_words_share():
    table = with_noise(SHARED)
    assert text_variance(table, "none") == pytest.approx(0.02)
    assert text_variance(table, "both") == pytest.approx(0.02)


@pytest.mark.parametrize(("scope", "share"), [("none", 1.0), ("attributes", 1.0), ("targets", 0.0), ("both", 0.0)])
def test_scope_omits_the_noise_of_sampled_words(scope, share):
    noise = np.random.default_rng(1).normal(size=(4_000, 8, 1)) * SIGN / np.sqrt(4_000)
    total = text_variance(with_noise(noise), "none")
    assert total == pytest.approx(4 / 8, rel=0.1)
    assert text_variance(with_noise(noise), scope) == pytest.approx(share * total, abs=0.03)


def test_noise_of_pairs_is_in_every_scope_that_samples_words():
    noise = np.random.default_rng(1).normal(size=(4_000, 8, 8)) / np.sqrt(4_000)
    table = with_noise(noise)
    for scope in ("targets", "attributes", "both"):
        assert text_variance(table, scope) == pytest.approx(0.0, abs=0.005)


@pytest.mark.slow
def test_verdict_of_a_saved_fit_equals_the_verdict_of_its_table(tmp_path: Path) -> None:
    table = with_noise(SHARED)
    bb.save_fit(bb.fit(table, sampling=bb.Sampling(draws=500, chains=2)), tmp_path / "fit.nc")
    fit = bb.load_fit(tmp_path / "fit.nc")
    for scope in ("all", "targets", "none"):
        by_fit, by_table = bb.verdict(fit, scope), bb.verdict(table, scope)
        width = by_table.upper - by_table.lower
        assert (by_fit.lower, by_fit.upper) == pytest.approx((by_table.lower, by_table.upper), abs=0.06 * width)
        assert by_fit.texts
        summary = bb.summarize(fit, scope)
        assert summary.loc[("bias", "overall"), "sd"] > 0.1
        assert (summary.loc["target_bias", "sd"] > 0).all()


def test_interval_over_texts_is_wider_than_the_words_interval():
    table = with_noise(SHARED)
    fixed = replace(table, texts=None)
    wide, narrow = bb.verdict(table), bb.verdict(fixed)
    assert wide.upper - wide.lower > narrow.upper - narrow.lower
    assert table.sha256 != fixed.sha256


def test_sentences_are_true_of_a_planted_bias_and_of_none():
    planted = bb.verdict(table_of(corpus(5, planted=1.0)), "none")
    null = bb.verdict(table_of(corpus(5)), "none")
    assert planted.lower > 0
    assert null.lower < 0 < null.upper
    for verdict in (planted, null):
        assert "interval over texts" in verdict.text
        assert "in 1" in verdict.text
        assert "No interval" not in verdict.text
        assert verdict.text.endswith("(Words are treated as fixed, and texts are treated as a sample.)")
    small = replace(planted, mean=0.0002, lower=0.0001, upper=0.0003)
    assert "raw contrast is +0.0002 (95% interval over texts +0.0001 to +0.0003)" in small.text
    assert "No interval" in bb.verdict(replace(table_of(corpus(5)), texts=None), "none").text


def test_difference_of_a_table_with_itself_has_no_variance_over_texts():
    texts = corpus(3)
    first, again, other = table_of(texts), table_of(texts), table_of(corpus(4))
    same = bb.combine({"a": first, "b": again.without_controls()}, {"a": -1, "b": 2})
    difference = bb.combine({"a": first, "b": other}, (-1, 1))
    assert text_variance(same, "none") == pytest.approx(text_variance(first, "none"))
    assert text_variance(difference, "none") == pytest.approx(
        text_variance(first, "none") + text_variance(other, "none")
    )


def test_from_texts_accepts_whole_numbers_as_floats():
    texts = corpus(1)
    found = bb.from_texts(texts, LIST, VECTORS, (), window=2.0, groups=20.0, transformation=np.eye(D))
    assert found.values.equals(table_of(texts, groups=20).values)


def test_difference_from_a_table_without_texts_says_that_they_are_fixed():
    table = table_of(corpus(3))
    found = bb.combine({"now": table, "before": replace(table, texts=None)}, (1, -1))
    assert found.texts is None
    assert says(found.notices, "variation over texts not used fixed only some tables")
    assert not says(
        bb.combine({"a": table, "b": table_of(corpus(4))}, (1, -1)).notices, "variation over texts not used"
    )


def test_combine_replicates_warns_of_parts_of_one_corpus(caplog):
    tables = {"a": table_of(corpus(3)), "b": table_of(corpus(4))}
    combined = bb.combine_replicates(tables, kind="corpus")
    assert combined.texts is None
    assert "Parts of one corpus are not replicates" in caplog.text


def test_words_in_a_single_text_are_omitted_and_rare_words_are_named(caplog):
    texts = corpus(3)
    texts = [[token for token in text if token != "man0"] for text in texts]
    texts[0] = ["word1", "man0", "word2", *texts[0]]
    table = table_of(texts)
    assert "man0" not in table.values.target
    assert "man0 occur in a single group of texts" in caplog.text
    rare = table_of(corpus(3, texts=5))
    assert "fewer than 20 occurrences" in rare.notices[-1]
    assert "man1 (10)" in rare.notices[-1]


def test_clusters_are_never_split():
    texts = corpus(3, texts=40)
    table = table_of(texts, clusters=[str(k // 10) for k in range(40)])
    assert table.texts.text == "4 clusters of texts"
    assert len(table.texts.deviations) == 4
    assert table.texts.df == 3


@pytest.mark.parametrize("empty", ["", [], "...", None, float("nan")])
def test_texts_without_words_are_omitted_with_a_notice(empty):
    texts = corpus(3, texts=5)
    table = table_of([empty, *texts, empty])
    assert table.sha256 == table_of(texts).sha256
    assert table.texts.text == "5 texts"
    assert says(table.notices, "texts without words are omitted (2 of 7)")


def test_copies_of_texts_are_counted_in_a_notice_unless_they_share_a_cluster():
    texts, labels = corpus(3, texts=20), [str(k) for k in range(20)]
    once, twice = table_of(texts), table_of(texts * 2)
    assert not says(once.notices, "count as independent")
    assert says(twice.notices, "words of an earlier one count as independent (20 of 40) keep one of each")
    assert len(twice.texts.deviations) == 40  # groups with the same texts are kept apart
    assert text_variance(twice, "none") == pytest.approx(text_variance(once, "none") * 19 / 39, rel=0.1)
    assert not says(table_of(texts * 2, clusters=labels * 2).notices, "count as independent")
    apart = table_of(texts * 2, clusters=[*labels, *["x"] * 20])
    assert says(apart.notices, "of an earlier one of another cluster count as independent (20 of 40)")


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, "", " "])
def test_texts_without_a_label_are_clusters_of_their_own(missing, tmp_path):
    texts, labels = corpus(3), [missing] * 30 + [str(k // 5) for k in range(10)]
    expected = table_of(texts, clusters=[f"own {k}" for k in range(30)] + labels[30:])
    table = table_of(texts, clusters=pd.Series(labels, index=range(1, 41)))
    assert table.sha256 == expected.sha256
    assert table.texts.text == "32 clusters of texts"
    assert says(table.notices, "texts without a label are sampled by themselves (30 of 40)")
    rows = pd.DataFrame({"text": [" ".join(text) for text in texts], "author": labels})
    rows.to_csv(tmp_path / "rows.csv", index=False)
    rows.to_json(tmp_path / "rows.jsonl", orient="records", lines=True)
    for name in ("rows.csv", "rows.jsonl"):
        assert table_of(tmp_path / name, cluster_column="author").sha256 == expected.sha256


def test_transformation_is_recovered_from_frequent_words():
    rng = np.random.default_rng(0)
    words = [f"w{k}" for k in range(30)]
    vectors = dict(zip(words, rng.normal(size=(30, 4)), strict=True))
    texts = [rng.choice(words, 200).tolist() for _ in range(30)]
    texts = [[*text, "x", "y"] for text in texts]
    found = corpus_vectors(texts, ["x", "y"], vectors)
    assert found.transformation.shape == (4, 4)
    assert np.isfinite(found.transformation).all()
    given = corpus_vectors(texts, ["x", "y"], vectors, transformation=np.eye(4), window=1)
    last = np.mean([vectors[text[-3]] for text in texts], axis=0)
    np.testing.assert_allclose(given.embedding.find(["x"])["x"], last)  # "y" has no vector of its own


def test_files_give_the_same_table_as_texts_in_memory(tmp_path):
    texts = corpus(3)
    for number, text in enumerate(texts):
        (tmp_path / "folder").mkdir(exist_ok=True)
        (tmp_path / "folder" / f"{number:03}.txt").write_text(" ".join(text))
    (tmp_path / "lines.txt").write_text("\n".join(" ".join(text) for text in texts))
    (tmp_path / "rows.jsonl").write_text("\n".join(json.dumps({"text": " ".join(text)}) for text in texts))
    (tmp_path / "rows.csv").write_text("text,year\n" + "\n".join(f'"{" ".join(text)}",1900' for text in texts))
    (tmp_path / "folder" / "007.txt").rename(tmp_path / "folder" / "007.TXT")
    (tmp_path / "wide.TXT").write_text((tmp_path / "lines.txt").read_text(), encoding="utf-16")
    (tmp_path / "wide.csv").write_text((tmp_path / "rows.csv").read_text(), encoding="utf-16")
    expected = table_of(texts).sha256
    for name in ("folder", "lines.txt", "rows.jsonl", "rows.csv", "wide.TXT", "wide.csv"):
        assert table_of(tmp_path / name).sha256 == expected


@pytest.mark.parametrize(
    ("source", "message"),
    [("nowhere", "does not exist"), (iter(["a"]), "A generator can be read only once"), (["only one"], "at least two")],
)
def test_from_texts_raises_for_unusable_texts(source, message):
    with pytest.raises(CorpusError, match=message):
        table_of(source)


def test_from_texts_raises_for_wrong_settings(tmp_path):
    (tmp_path / "rows.csv").write_text("speech\nhello\n")
    with pytest.raises(CorpusError, match="no column 'text', but has speech"):
        list(open_corpus(tmp_path / "rows.csv"))
    with pytest.raises(CorpusError, match="`clusters` has 1 labels for 40 texts"):
        table_of(corpus(3), clusters=["a"])
    with pytest.raises(CorpusError, match="no vector of any word"):
        bb.from_texts([["a", "man0"], ["c"]], LIST, VECTORS, ())
    with pytest.raises(CorpusError, match="words around them"):
        bb.from_texts([text[:40] for text in corpus(3, texts=4)], LIST, VECTORS, ())


def methods_of_samples(*tables):
    return Methods("methods-texts.txt", {"samples": text_samples(tables)}).plain


def test_methods_describe_the_texts_the_jackknife_and_the_vectors(tmp_path):
    texts = corpus(3)
    (tmp_path / "rows.jsonl").write_text("\n".join(json.dumps({"text": " ".join(text)}) for text in texts))
    methods = methods_of_samples(table_of(tmp_path / "rows.jsonl", groups=10))
    assert "Values in rows were computed from 40 texts with 6,400 words. Their covariance" in methods
    assert "the texts were assigned to 10 groups at random, and each group was left out in turn" in methods
    assert "(K - 1) / K, with K = 10" in methods
    assert "of the words within 2 words of its occurrences, multiplied by a matrix (à la carte vectors [1])" in methods
    assert "The matrix was given, and not estimated in these texts" in methods
    assert "Khodak" in methods
    assert "mutual information" not in methods


def test_methods_describe_clusters_and_pmi_and_each_sample_once():
    tables = []
    for seed in (3, 4):
        labels = [str(k // 5) for k in range(40)]
        settings = {"controls": (), "measure": "pmi", "window": 20, "clusters": labels}
        tables.append(bb.from_texts(corpus(seed), LIST, **settings))
    methods = methods_of_samples(*tables, tables[0])
    sample = "Values were computed from 40 texts with 6,400 words, in 8 clusters of texts that were sampled together."
    assert methods.count(sample) == 2
    assert "each of the 8 clusters was left out in turn" in methods
    assert methods.count("log((n + 1/2) / (E + 1/2)). Here n is how often the two words occur within 20 words") == 1
    assert "vector" not in methods
    replicated = bb.combine_replicates({"a": tables[0], "b": tables[1]}, kind="corpus")
    assert "texts" not in methods_of_samples(replicated)


def test_empty_cells_are_texts_without_words(tmp_path):
    rows = [{"text": text} for text in ("a man", None, "a woman")]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert [len(text.tokens) for text in open_corpus(tmp_path / "rows.jsonl")] == [2, 0, 2]
    (tmp_path / "rows.jsonl").write_text("{}")
    with pytest.raises(CorpusError, match="no column 'text', but has none"):
        list(open_corpus(tmp_path / "rows.jsonl"))
    (tmp_path / "rows.csv").write_text("text,author\nA man, a woman,Ann\n")
    with pytest.raises(CorpusError, match=r"Row 1 of .* has more cells than headings"):
        list(open_corpus(tmp_path / "rows.csv"))
    (tmp_path / "rows.csv").write_text("author,text\nAnn,A man\nand a woman\n")
    with pytest.raises(CorpusError, match=r"Row 2 of .* has fewer cells than headings"):
        list(open_corpus(tmp_path / "rows.csv"))


def test_from_texts_raises_for_columns_and_labels_without_effect(tmp_path):
    (tmp_path / "a.txt").write_text("a man\na woman")
    for source in (tmp_path, tmp_path / "a.txt"):
        for setting in ({"column": "speech"}, {"cluster_column": "author"}):
            with pytest.raises(CorpusError, match=r"no columns\. Pass a \.csv, \.tsv, or \.jsonl file"):
                table_of(source, **setting)
        with pytest.raises(CorpusError, match="`clusters` has labels of texts in memory, but the texts are in"):
            table_of(source, clusters=["a", "b"])
    with pytest.raises(
        CorpusError, match=r"the list of texts has no columns\. Pass a label for each text as `clusters`"
    ):
        table_of(corpus(3), cluster_column="author")


@pytest.mark.parametrize("settings", [{"embedding": VECTORS}, {"measure": "pmi"}])
def test_from_texts_raises_for_texts_without_words_of_the_list(tmp_path, settings):
    (tmp_path / "rows.csv").write_text("text,id\n" + "\n".join(f"man0 saw work{k},{k}" for k in range(9)))
    with pytest.raises(
        CorpusError, match=r"occurs in .*rows.csv', column 'id', whose most frequent words are '0', '1'"
    ):
        bb.from_texts(tmp_path / "rows.csv", LIST, controls=(), column="id", **settings)
    apart = [["man0", "word0"], ["woman0", "word1"]]
    transformation = {} if "measure" in settings else {"transformation": np.eye(D)}
    with pytest.raises(CorpusError, match="occurs in a single group of texts"):
        bb.from_texts(apart, LIST, controls=(), **settings, **transformation)


def test_covariance_of_block_means_equals_direct_computation():
    table = table_of(corpus(3))
    data = table_means(table)
    blocks = []
    for part in table.texts.deviations.values():
        blocks.append([part.to_numpy()[:4, :4].mean(), part.to_numpy()[4:, 4:].mean()])
    blocks = np.array(blocks)
    assert data[COVARIANCE].to_numpy()[0][0, 0, 1, 1] == pytest.approx(blocks[:, 0] @ blocks[:, 1])
