"""Scores are read and checked; published numbers are as their programs compute them."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayes_bias.analyses.sentence_pairs import estimation
from bayes_bias.analyses.sentence_pairs.published import paired, published
from bayes_bias.analyses.sentence_pairs.scores import design, read_scores
from bayes_bias.errors import SentencePairsError
from tests.analyses.sentence_pairs.tables import simulated
from tests.helpers import numbered, refused, says

TABLE = simulated(40)


def test_read_scores_reads_columns_of_crows_pairs_program(tmp_path):
    """https://github.com/nyu-mll/crows-pairs, metric.py: what it writes, with the data's column of writers."""
    path = tmp_path / "crows.csv"
    path.write_text(
        ",sent_more,sent_less,sent_more_score,sent_less_score,score,stereo_antistereo,bias_type,anon_writer\n"
        "0,a,b,-10.5,-11.0,1,stereo,age,a3\n1,c,d,-9.0,-8.0,0,antistereo,gender,a0\n2,e,f,-7.0,-7.0,0,stereo,age,a3\n"
    )
    scores = read_scores(path)
    assert scores.name == "crows"
    assert scores.rows.difference.tolist() == [0.5, -1.0, 0.0]
    assert scores.rows.columns.tolist() == ["difference", "ahead", "tied", "bias_type", "writer", "direction"]
    (notice,) = scores.notices
    assert says(notice, "crows 1 of 3 pairs tie 3 decimals decimals=None")


def test_published_share_counts_ties_in_denominator():
    """As in metric.py: `metric_score` divides by N, `stereo_score` by `total_stereo`, to which ties do not count."""
    frame = pd.DataFrame(
        {
            "item": range(5),
            "score_more": [-1.0, -2.0, -3.0, -4.00001, -5.0],
            "score_less": [-2.0, -1.0, -4.0, -4.0, -6.0],
            "direction": ["stereo", "stereo", "stereo", "stereo", "antistereo"],
        }
    )
    found = published(read_scores(frame))
    assert found.loc["all pairs", ["ahead", "tied", "share"]].tolist() == [3, 1, 0.6]
    assert found.share["stereo"] == pytest.approx(2 / 3)
    assert found.share["antistereo"] == 1
    assert read_scores(frame, decimals=None).rows.tied.sum() == 0


def test_published_interval_matches_wilson_formula():
    """60.48% of 1,508 pairs (bert-base-uncased, Nangia et al. 2020) are 912; Wilson's interval by its formula."""
    frame = pd.DataFrame({"item": range(1508), "difference": np.where(np.arange(1508) < 912, 1.0, -1.0)})
    row = published(read_scores(frame)).loc["all pairs"]
    n, p, z = 1508, 912 / 1508, 1.959964
    centre, half = (p + z**2 / 2 / n), z * np.sqrt(p * (1 - p) / n + z**2 / 4 / n**2)
    assert round(100 * row.share, 2) == 60.48
    assert row.wilson_ci95_lb == pytest.approx((centre - half) / (1 + z**2 / n), abs=1e-6)
    assert row.wilson_ci95_ub == pytest.approx((centre + half) / (1 + z**2 / n), abs=1e-6)
    assert row.exact_ci95_lb < row.wilson_ci95_lb < row.wilson_ci95_ub < row.exact_ci95_ub


def test_paired_change_equals_gains_minus_losses():
    after = TABLE.assign(score_more=TABLE.score_more - 1)
    before, later = read_scores(TABLE), read_scores(after)
    row = paired(before, later).loc["all pairs"]
    assert row.gained == 0
    assert row.change == -row.lost / 40 == later.rows.ahead.mean() - before.rows.ahead.mean()
    assert row.mcnemar_p_value == pytest.approx(2 * 0.5**row.lost)
    assert row.difference == pytest.approx(-1)


@settings(max_examples=10)
@given(st.permutations(range(40)))
def test_read_scores_ignores_order_of_rows(order):
    ordered, shuffled = read_scores(TABLE), read_scores(TABLE.iloc[order])
    assert ordered.sha256 == shuffled.sha256
    assert design(ordered)[0].identical(design(shuffled)[0])


def test_design_omits_columns_without_clusters():
    frame = TABLE.assign(template="t", term=TABLE.item)
    data, notices = design(read_scores(frame))
    assert {"writer"} == {"writer", "template", "term"} & set(data.dims)
    template, term = notices
    assert says(template, "pairs same template")
    assert says(term, "pair term no clusters omitted")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.drop(columns="score_less"), "'score_less' score_more"),
        (lambda t: t.drop(columns="item"), "column 'item'"),
        (lambda t: t.iloc[:0], 'two pairs'),
        (lambda t: t.iloc[:1], "'pair 0' two"),
        (lambda t: pd.concat([t, t.iloc[[3, 3]]]), "'pair 3' 3"),
        (lambda t: t.assign(score_more=np.nan), "score_more 'pair 0' 'nan'"),
        (lambda t: t.assign(score_more="high"), "score_more 'pair 0' 'high'"),
        (lambda t: t.assign(writer=t.writer.where(t.index != 4)), 'writer row 5'),
        (lambda t: t.assign(model=["a", "b"] * 20), '2 models a, b'),
    ],
)  # fmt: skip
def test_read_scores_raises_for_bad_table(change, message):
    with refused(SentencePairsError, message):
        read_scores(change(TABLE))


def test_read_scores_selects_rows_of_model():
    both = pd.concat([TABLE.assign(model="one"), TABLE.assign(model="other", score_more=0.0)])
    assert read_scores(both, model="one").rows.equals(read_scores(TABLE).rows)
    with refused(SentencePairsError, "'on' 'one'"):
        read_scores(both, model="on")
    with refused(SentencePairsError, "'model'"):
        read_scores(TABLE, model="one")


def test_read_scores_raises_for_missing_file_and_constant_scores(tmp_path):
    with refused(SentencePairsError, "nowhere.csv"):
        read_scores(tmp_path / "nowhere.csv")
    with refused(SentencePairsError, "list DataFrame path"):
        read_scores([1, 2])
    with refused(SentencePairsError, "pairs 0.5"):
        design(read_scores(pd.DataFrame({"item": [1, 2], "difference": 0.5}), unit="log-probability"))


def test_published_keeps_rows_of_direction_and_type_named_alike():
    """Counts of each row are those of the same table with another name for the type."""
    frame = TABLE.assign(
        bias_type=np.where(np.arange(40) % 2, "stereo", "other"),
        direction=np.where(np.arange(40) % 4 > 1, "stereo", "anti"),
    )
    found = published(read_scores(frame))
    renamed = published(read_scores(frame.assign(bias_type=frame.bias_type.replace("stereo", "kind"))))
    assert found.index.tolist() == ["all pairs", "other", "stereo", "anti", "stereo (direction)"]
    pd.testing.assert_series_equal(found.loc["stereo"], renamed.loc["kind"], check_names=False)
    pd.testing.assert_series_equal(found.loc["stereo (direction)"], renamed.loc["stereo"], check_names=False)
    assert found.pairs["stereo"] == 20


def test_published_keeps_all_pairs_row_for_direction_named_alike():
    found = published(read_scores(TABLE.assign(direction=np.where(np.arange(40) % 2, "all pairs", "anti"))))
    assert found.pairs["all pairs"] == 40
    assert found.pairs["all pairs (direction)"] == 20
    with refused(SentencePairsError, "bias type 'all pairs' Rename"):
        read_scores(TABLE.assign(bias_type=np.where(np.arange(40) % 2, "all pairs", "age")))


ODD = np.arange(40) % 2 == 1


@pytest.mark.parametrize("column", ["how", "layer", "version", "checkpoint", "language", "temperature", "model_name"])
def test_read_scores_raises_for_different_settings(column):
    frame = TABLE.assign(**{column: np.where(ODD, "one", "other")})
    with refused(SentencePairsError, f"scores '{column}' 2 values (one, other) ignore=['{column}'] (--ignore"):
        read_scores(frame)
    pooled = read_scores(frame, ignore=[column])
    assert pooled.rows.equals(read_scores(TABLE).rows)
    assert says(" ".join(pooled.notices), f"pairs 2 values '{column}' pooled (one, other)")
    assert pooled.provenance[column] == "pooled"
    assert len(read_scores(frame[ODD])) == 20
    named = frame.assign(model=np.where(ODD, "m, one", "m, other"))
    assert len(read_scores(named, model="m, one")) == 20


def test_read_scores_warns_about_pooled_other_columns():
    (notice,) = read_scores(TABLE.assign(topic=np.where(ODD, "a", "b"))).notices
    assert says(notice, "pairs 2 values 'topic' pooled (a, b) does not use")
    assert read_scores(TABLE.assign(topic="a", note=numbered("n", 40), anon_annotators="[...]")).notices == ()


def with_sentences(
    frame: pd.DataFrame, text: str = "The {} pair of the table and of the test is for you."
) -> pd.DataFrame:
    more = [text.format(number) for number in range(len(frame))]
    return frame.assign(sent_more=more, sent_less=[f"Not: {text}" for text in more])


def test_estimate_raises_for_items_with_other_sentences_after():
    before, after = with_sentences(TABLE), with_sentences(TABLE.assign(score_more=TABLE.score_more - 1))
    shifted = after.assign(sent_more=np.roll(after.sent_more, 1), sent_less=np.roll(after.sent_less, 1))
    with refused(SentencePairsError, "after item 'pair 0' before same item"):
        estimation.estimate(before, shifted)


def test_read_scores_warns_about_or_rejects_repeated_sentences():
    frame = with_sentences(TABLE)
    frame.loc[7, ["sent_more", "sent_less", "score_more", "score_less"]] = frame.loc[
        3, ["sent_more", "sent_less", "score_more", "score_less"]
    ]
    scores = read_scores(frame)
    assert len(scores) == 40
    assert says(" ".join(scores.notices), "rows with the sentences of another row (1 of")
    frame.loc[7, "score_more"] -= 3
    with refused(SentencePairsError, "pair different scores 'model'"):
        read_scores(frame)


def test_read_scores_raises_for_two_languages():
    frame = with_sentences(TABLE)
    french = with_sentences(TABLE, "Les {} femmes ne sont pas dans la rue avec les hommes.")
    mixed = pd.concat([frame[ODD], french[~ODD]])
    with refused(SentencePairsError, "English French separately"):
        read_scores(mixed)
    assert len(read_scores(mixed, ignore="language")) == 40
    assert len(read_scores(french)) == 40
