"""A multiverse: each combination is the model that it names, and all are counted."""

from dataclasses import replace
from html import escape

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

import bayes_bias as bb
from bayes_bias.analyses.multiverse.multiverse import Multiverse
from bayes_bias.errors import BayesBiasError, ScopeError, SpecError
from bayes_bias.fitting.fit import fit_table
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.models.spec import BY_CLASS, BY_GROUP, COMMON, ModelSpec, load_spec
from bayes_bias.plots.style import COLOURS
from bayes_bias.posterior.verdict import verdict_of_table
from tests.helpers import FEW, random_table, refused, unlisted_columns

# Scales that need no sampler for tables with control classes.
_INTEGRATED = {"scales": [BY_GROUP, BY_CLASS]}


@pytest.fixture(scope="module")
def found() -> Multiverse:
    return bb.multiverse(bb.cosines("religion", "googlenews-demo", "neutral"), choices=_INTEGRATED)


def test_multiverse_rows_match_verdicts_of_models(found: Multiverse) -> None:
    table = bb.cosines("religion", "googlenews-demo", "neutral")
    assert not found.frame.sampled.any()
    assert len(found.frame) == 3 * 2 * 2 * 2 + 3 * 2 * 2 * 2 * 2  # a prior from vectors has its own scales
    assert [row["combination"] for row in found.to_dict()["frame"]] == [*range(len(found.frame))]
    spec = load_spec("crossed").with_option("scales", BY_CLASS).with_option("unit", "within-block sd")
    for parameter in ("sd_target_preference", "sd_attribute_preference"):
        spec = spec.with_prior(parameter, "HalfNormal", sigma=0.5)
    changed = {"prior": "half-normal", "unit": "within-block sd", "scales": BY_CLASS, "control classes": "without"}
    independent = bb.cosines("religion", "googlenews-demo", (), sub_topics="independent")
    for options, varied, model in (
        ({}, table, "crossed"),
        (changed | {"related words": "full weight"}, independent, spec),
    ):
        rows = found.frame
        for choice, option in options.items():
            rows = rows[rows[choice] == option]
        expected = verdict_of_table(varied, model=model)
        np.testing.assert_allclose(
            rows.iloc[0][["eti95_lb", "eti95_ub"]].astype(float), [expected.lower, expected.upper], rtol=1e-9
        )
        assert rows.iloc[0].verdict == expected.label


def test_multiverse_text_counts_intervals_excluding_zero(found: Multiverse) -> None:
    lower, upper = found.frame.eti95_lb, found.frame.eti95_ub
    number = int(((lower > 0) | (upper < 0)).sum())
    of_new = int(((lower > 0) | (upper < 0))[found.is_new].sum())
    assert 0 < of_new < number < len(found.frame)
    assert found.text.startswith("The bias of “Religion and stereotypical traits” is distinguishable from zero in ")
    assert f"in {of_new} of 30 different results of {len(found.frame)} combinations of choices" in found.text
    assert f"The choice '{found.influence.index[0]}' matters most" in found.text
    counts = found.layout.frame["interval excludes zero"].astype(int)
    assert counts[counts.index.str.startswith("unit:")].sum() == number
    assert not unlisted_columns(found.frame[["mean", "eti95_lb", "chance", "verdict", "sampled"]])


def test_multiverse_text_counts_different_results(found: Multiverse) -> None:
    """Control classes matter only for common scales, and the unit only without a prior from vectors."""
    from_vectors, others = 3 * 2, 3 * 2 * 2 * 2
    assert found.is_new.sum() == from_vectors + others == 30
    assert set(found.frame[found.is_new]["control classes"]) == {"with"}
    alone = replace(found, frame=found.frame[found.is_new])
    assert " of 30 combinations" in alone.text
    assert "equal results" not in alone.text
    assert "equal results" in found.text
    assert " of 1 different result of 2 combinations" in replace(found, frame=found.frame.iloc[[0, 0]]).text
    # The unit of values makes no difference.
    small = found.frame.assign(**(found.frame[["mean", "eti95_lb", "eti95_ub"]] * 1e-9))
    assert replace(found, frame=small).is_new.sum() == 30


def test_excludes_zero_is_false_for_fit_without_convergence(found: Multiverse) -> None:
    failed = replace(found, frame=found.frame.assign(verdict="not converged"))
    assert not failed.excludes_zero.any()
    assert f"{len(found.frame)} fits have not converged" in failed.text
    assert "There is no verdict on" in failed.text


def test_influence_equals_ratio_of_interval_lengths(found: Multiverse) -> None:
    frame = pd.DataFrame({"a": [*"xxyy"], "b": [*"uvuv"], "mean": 0.0, "chance": 0.1, "verdict": ""})
    frame = frame.assign(eti95_lb=[-1.0, -2.0, -3.0, -6.0], eti95_ub=0.0)
    np.testing.assert_allclose(replace(found, frame=frame).influence[["a", "b"]], [3, 2])
    # An option that was not combined with all others is compared where it was.
    np.testing.assert_allclose(replace(found, frame=frame.iloc[:3]).influence[["a", "b"]], [3, 2])


def test_multiverse_lists_choices_impossible_for_table() -> None:
    result = bb.multiverse(random_table().without_controls())
    assert result.choices == ("prior", "unit", "scales")
    assert result.frame.prior.iloc[0] == "exponential"
    for missing in ("from vectors", "related words", "control classes", "have one unit"):
        assert missing in "\n".join(result.left_out)
        assert missing in result.text


def test_multiverse_raises_for_unknown_choices_and_models() -> None:
    table = random_table()
    with refused(BayesBiasError, "choices: 'scale' 'scales'"):
        bb.multiverse(table, choices={"scale": ["common"]})
    with refused(BayesBiasError, "choices scales 'commn' 'common'"):
        bb.multiverse(table, choices={"scales": ["commn"]})
    with refused(BayesBiasError, "choices: no option 'unit' 'own within-block sd'"):
        bb.multiverse(table, choices={"unit": []})
    with refused(SpecError, "'robust' also=['robust']"):
        bb.multiverse(table, "robust")
    with refused(SpecError, "`also` 'robst' 'robust'"):
        bb.multiverse(table, also=["robst"])
    with pytest.raises(ScopeError):
        bb.multiverse(table, scope="none")


def test_multiverse_of_one_combination_has_empty_layout() -> None:
    table = random_table()
    every = bb.multiverse(table, choices=_INTEGRATED)
    only = bb.multiverse(table, choices={choice: [every.frame[choice].iloc[0]] for choice in every.choices})
    assert (only.choices, len(only.frame), only.layout.labels) == ((), 1, [])
    assert "1 of 1 combination of choices" in only.text
    assert "1 of 1 combination of choices" in only._repr_html_()


def test_multiverse_marks_model_only_when_among_choices() -> None:
    table = random_table().without_controls()
    with_model = bb.multiverse(table, choices={"prior": ["half-normal", "exponential"]})
    assert "choices of the 'crossed' model" in with_model.text
    without = bb.multiverse(table, choices={"prior": ["half-normal"], "scales": [BY_CLASS]})
    assert "with the first option of each choice." in without.text
    for result, markers in ((with_model, 1), (without, 0)):
        ax = bb.plots.plot_multiverse(result)
        assert sum(line.get_marker() == "D" for line in ax.lines) == markers


@pytest.mark.slow
def test_multiverse_samples_further_model_once(monkeypatch: pytest.MonkeyPatch) -> None:
    sampled: list[str] = []

    def counted(table: bb.AssociationTable, model: ModelSpec, *, seed: int, sampling: bb.Sampling) -> Fitted:
        sampled.append(model.name)
        return fit_table(table, model, seed=seed, sampling=sampling)

    monkeypatch.setattr("bayes_bias.analyses.multiverse.multiverse.fit_table", counted)
    spec = load_spec("crossed").with_option("scales", COMMON)
    result = bb.multiverse(
        random_table(),
        choices={"prior": ["exponential"], **_INTEGRATED},
        also=[replace(spec, name="common")],
        sampling=FEW,
    )
    assert result.frame.model.tolist()[-1] == "common"
    assert result.frame.scales.tolist()[-1] == COMMON, "a further model is listed with its own options"
    assert result.frame.model[result.frame.sampled].tolist() == ["common"]
    assert sampled == ["common"]
    assert "model" in result.influence


def test_plot_multiverse_has_point_for_each_option_and_combination(found: Multiverse) -> None:
    ax = bb.plots.plot_multiverse(found)
    curve, choices = ax.figure.axes
    frame = found.frame.assign(found=found.excludes_zero)
    labels = [label.get_text() for label in choices.get_yticklabels()]
    rows = []
    for line in choices.lines:
        if line.get_marker() == "o" and len(line.get_xdata()):
            option, colour = labels[int(line.get_ydata()[0])], to_hex(line.get_markerfacecolor())
            rows.append({"option": option, "colour": colour, "number": len(line.get_xdata())})
    points = pd.DataFrame(rows)
    assert points.number.sum() == len(frame) * len(found.choices)
    in_row = points[(points.option == "half-normal") & (points.colour == COLOURS[0].lower())]
    assert in_row.number.sum() == frame[frame.prior == "half-normal"].found.sum()
    lower = [line.get_ydata()[0] for line in curve.lines if len(line.get_xdata()) == 2 and line.get_linewidth() == 1.4]
    assert lower == sorted(lower)


def test_plot_multiverse_accepts_axes_of_grid(found: Multiverse) -> None:
    figure, (left, right) = plt.subplots(1, 2, layout="constrained", figsize=(9, 5))
    assert bb.plots.plot_multiverse(found, ax=right, legend=False) is right
    figure.draw_without_rendering()
    assert left.get_position().x1 < right.get_position().x0
    plt.close(figure)
    with refused(BayesBiasError, "ax: plt.subplots"):
        bb.plots.plot_multiverse(found, ax=plt.figure().add_axes((0, 0, 1, 1)))
    plt.close("all")


def test_multiverse_folder_has_page_table_and_text(found: Multiverse, tmp_path) -> None:
    page = bb.write(found, tmp_path / "out")
    read = pd.read_csv(page.parent / "multiverse.csv")
    np.testing.assert_allclose(read.eti95_lb, found.frame.eti95_lb)
    assert (page.parent / "multiverse.txt").read_text() == f"{found.text}\n"
    assert page.read_text().replace("&#39;", "&#x27;").count(escape(found.left_out[0], quote=True)) == 1
