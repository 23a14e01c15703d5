"""From embedding to debiased file to comparison, as a user does it."""

import pytest

from bayes_bias import open_embedding
from tests.helpers import changed, equalised, random_table

PAIRS = "she:he,woman:man"


def test_debiasing_from_the_command_line_takes_the_direction_out(run, tmp_path):
    path = tmp_path / "debiased.npz"
    code, out, _ = run("debias", "--sets", PAIRS, "--equalize", "--out", path)
    assert code == 0
    assert "2,663 vectors of unit length" in out
    vectors = open_embedding(path).find(["she", "he", "nurse"])
    assert vectors["nurse"] @ vectors["she"] == pytest.approx(vectors["nurse"] @ vectors["he"], abs=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("debias", "--sets", "shee:hee", "--out", "x.npz"), "have no vector: shee, hee"),
        (("debias", "--sets", PAIRS, "--out", "no/such/x.npz"), "make it first"),
        (("debias", "--sets", PAIRS, "--out", "x.npz", "--components", "9"), "components: 9 asked for"),
        (("compare", "--before", "a.npz", "--after", "b.npz"), "needs a word list"),
        (
            ("compare", "weat6", "--before", "googlenews-demo", "--after", "googlenews-demo"),
            "nothing changed",
        ),
        (("measures", "weat6", "--sets", "she:hee"), "left out: Direct Bias"),
    ],
)
def test_errors_are_one_line(run, monkeypatch, tmp_path, arguments, message):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(*arguments, *(("--no-posterior",) if arguments[0] == "measures" else ()))
    assert message in err + out
    assert code == (0 if arguments[0] == "measures" else 2)
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_two_tables_of_cosines_are_compared(run, small_fit, tmp_path):
    before = random_table()
    for name, table in {"before": before, "after": equalised(changed(before, -0.05))}.items():
        table.to_frame().to_csv(tmp_path / f"{name}.csv", index=False)
    code, out, _ = run(
        *("compare", "--before", tmp_path / "before.csv", "--after", tmp_path / "after.csv"),
        *("--stereotype", "men=work", "--stereotype", "women=home", "--out", tmp_path / "found"),
        *("--figures", "svg", "--rope", "0.1"),
    )
    assert code == 0
    assert "by construction" in out
    assert "gWEAT" in out
    assert "negligible" in out
    assert "zero by construction" in (tmp_path / "found" / "index.html").read_text(encoding="utf-8")
    assert (tmp_path / "found" / "change.csv").read_text().startswith("estimand,label,mean")


def test_all_measures_stand_beside_the_posterior(run, small_fit, tmp_path):
    random_table().to_frame().to_csv(tmp_path / "small.csv", index=False)
    stereotypes = ("--stereotype", "men=work", "--stereotype", "women=home")
    code, out, _ = run("measures", tmp_path / "small.csv", *stereotypes)
    assert code == 0
    rows = [line.split("│")[1].strip() for line in out.splitlines() if line.startswith("│")]
    assert rows[:4] == ["WEAT", "quasi-F", "WEFAT", "gWEAT"]
    assert rows[-1] == "posterior effect size (targets)"
    assert "left out: SAME: vectors: none given" in out
    csv = run("measures", tmp_path / "small.csv", *stereotypes, "--no-posterior", "--csv")[1]
    assert csv.splitlines()[0] == "measure,value,b0,low,high,p_value,lower,upper"
