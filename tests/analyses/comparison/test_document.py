"""A comparison's folder is as citable as a report's: methods, references, tables, posteriors, provenance."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from bayes_bias import AssociationTable, compare, load_fit, write
from bayes_bias.analyses.comparison.comparison import Comparison, ShareRemoved, comparison_document, methods_of
from bayes_bias.documents import writer
from bayes_bias.documents.writer import page
from bayes_bias.errors import OutputError
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.shared_types import Reference
from tests.helpers import FEW, SHORT, changed, equalised, refused, states


@pytest.fixture(scope="module")
def construction(sampled: None, small_table: AssociationTable) -> Comparison:
    """Far too few draws to converge, and only two of three fits."""
    return compare(small_table, equalised(small_table), sampling=FEW)


@pytest.fixture(scope="module")
def folder(planted: Comparison, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(planted, tmp_path_factory.mktemp("comparisons") / "found", figures=["svg"]).parent


def files_in(folder: Path) -> set[str]:
    """The paths of all files, relative to the folder."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_comparison_folder_contains_documented_files(folder: Path) -> None:
    assert files_in(folder) == {
        *("index.html", "methods.txt", "methods.tex", "references.bib", "tables.tex", "provenance.json"),
        *("change.csv", "before-and-after.csv", "controls.csv"),
        *("words.csv", "appendix.tex", "table-before.csv", "table-after.csv"),
        *("posterior-before.nc", "posterior-after.nc", "posterior-change.nc"),
        *("figures/bias.svg", "figures/targets.svg", "figures/attributes.svg"),
    }


def test_figure_labels_rows_by_side_and_names_list_once(planted: Comparison) -> None:
    ax = comparison_document(planted).figures["bias"]()
    assert [label.get_text() for label in ax.get_yticklabels()] == list(planted.names.values())
    assert ax.get_title(loc="left") == planted.name


@pytest.mark.slow
def test_comparison_has_no_figure_of_attributes_if_groups_share_class(small_table: AssociationTable) -> None:
    before = replace(small_table, stereotypes={"men": "work", "women": "work"}, opposites=("home",))
    document = comparison_document(compare(before, changed(before, 0.1), sampling=FEW))
    assert set(document.figures) == {"bias", "targets"}


def test_load_fit_reads_posterior_of_change(folder: Path, planted: Comparison) -> None:
    again = load_fit(folder / "posterior-change.nc")
    assert again.posterior.sd_residual.equals(planted.fits["change"].posterior.sd_residual)


def test_page_states_which_p_values_are_one_sided(folder: Path) -> None:
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert states(page, "p-value is one-sided for WEAT and its family two-sided for the other measures")


def test_methods_describe_tables_model_and_settings(folder: Path, planted: Comparison) -> None:
    text = (folder / "methods.txt").read_text(encoding="utf-8")
    unit = Fitted.of(planted.fits["change"]).data.within_sd.item()
    for claim in (
        "small our own list 5 men 6 women 6 work 5 home 8 neutral",
        "fitted differences 209 pairs after before",
        "change cosine y[i, j] target i",
        "HalfNormal(sigma=1.65) standard deviation e",
        f"pooled standard deviation values block change {unit:.4g}",
        "same model fitted cosines before after separately",
        "95% equal-tailed credible intervals new targets new attributes",
        "change distinguishable noise",
        f"1 - after / before {planted.share_removed} Fieller's 95% interval",
        f"{SHORT.chains} chains {SHORT.tune} warm-up {SHORT.draws} draws",
        "measures both tables same words WEAT",
        "Software",
    ):
        assert states(text, claim)
    assert "by construction" not in text
    assert not re.search(r"\w\.[A-Z][a-z]", text.split("References")[0])


def test_every_table_names_both_models(planted: Comparison, tmp_path: Path, sketched: None) -> None:
    before, after = planted.before, planted.after
    before = replace(before, provenance={**before.provenance, "embedding": "bert"})
    after = replace(after, provenance={**after.provenance, "embedding": "bert-cda"})
    found = replace(planted, before=before, after=after)
    written = write(found, tmp_path / "found", figures=()).parent
    files = {name: (written / name).read_text(encoding="utf-8") for name in ("index.html", "tables.tex", "methods.txt")}
    html, tex = files["index.html"].split('<table class="cards">')[1:], files["tables.tex"].split(r"\begin{table}")[1:]
    tables = [*(part.partition("</table>")[0] for part in html), *tex, files["methods.txt"]]
    assert len(tables) == 7
    for table in tables:
        assert "bert-cda" in table
        assert "bert" in table.replace("bert-cda", "")
    assert set(found.to_frame().groupby("state").embedding.unique().explode()) == {"", "bert", "bert-cda"}
    assert planted.between == ""


def test_methods_cite_published_list_and_controls(planted: Comparison) -> None:
    list_source, control_source = Reference(citation="Author (2020)."), Reference(citation="Other (2020).")
    table = replace(planted.before, source=list_source, control_sources=(control_source,))
    methods = methods_of(replace(planted, before=table))
    assert states(methods.plain, "small [1] targets 8 neutral [2]")
    assert "note = {Author (2020).}" in methods.bibliography


def test_page_contains_methods_with_references(folder: Path) -> None:
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert states(page, "fitted differences 209 pairs")
    assert "https://doi.org/10.1111/j.2517-6161.1954.tb00159.x" in page


def test_page_begins_with_both_embeddings_and_contains_headline(planted: Comparison) -> None:
    before = replace(planted.before, provenance={"embedding": "glove before"})
    after = replace(planted.after, provenance={"embedding": "glove after"})
    document = comparison_document(replace(planted, before=before, after=after))
    text = page(document, dict.fromkeys(document.figures, b"<svg/>"))
    assert text.index("glove before") < text.index("glove after") < text.index("How to read")
    assert states(text, "before glove before")
    assert f"<b>{planted.headline}.</b>" in text


def test_bibliography_matches_citations_of_methods(folder: Path) -> None:
    cites = re.findall(r"\\cite\{([^}]+)\}", (folder / "methods.tex").read_text(encoding="utf-8"))
    entries = re.findall(r"@\w+\{([^,]+),", (folder / "references.bib").read_text(encoding="utf-8"))
    assert list(dict.fromkeys(",".join(cites).split(","))) == entries
    assert {"baayen2008crossed", "fieller1954some", "vehtari2021rank"} <= set(entries)


def test_latex_tables_have_bias_change_and_measures(folder: Path, planted: Comparison) -> None:
    text = (folder / "tables.tex").read_text(encoding="utf-8")
    for row in ("before", "after", "change", *planted.measures.index):
        assert re.search(rf"^ *{re.escape(row)} & ", text, re.MULTILINE)
    for name in ("table", "adjustbox", "tabular"):
        assert text.count(rf"\begin{{{name}}}") == text.count(rf"\end{{{name}}}") == 3
    assert "onverged" not in text


def test_provenance_has_tables_fits_and_hashes(folder: Path) -> None:
    provenance = json.loads((folder / "provenance.json").read_text(encoding="utf-8"))
    assert set(provenance["files"]) == files_in(folder) - {"provenance.json"}
    assert len({fit["table_sha256"] for fit in provenance["fits"].values()}) == 3


def test_document_marks_zero_by_construction_and_omits_posterior(
    construction: Comparison, tmp_path: Path, sketched: None
) -> None:
    out = write(construction, tmp_path / "found", figures=()).parent
    assert {path.name for path in out.glob("*.nc")} == {"posterior-before.nc", "posterior-change.nc"}
    text = (out / "methods.tex").read_text(encoding="utf-8")
    assert states(text, "after zero by construction not sampled")
    assert states(text, r"vectors \cite{gonen2019lipstick}")
    assert states(text, "same model fitted cosines before")
    assert states(text, r"100\% raw contrasts without interval")
    assert "fieller" not in text
    assert r"& by construction & — & " in (out / "tables.tex").read_text(encoding="utf-8")


def test_every_document_marks_unconverged_fits(construction: Comparison, tmp_path: Path, sketched: None) -> None:
    out = write(construction, tmp_path / "found", figures=()).parent
    for name in ("index.html", "tables.tex", "methods.txt"):
        text = (out / name).read_text(encoding="utf-8").lower()
        assert states(text, "not converged")


def test_methods_of_scope_none_omit_intervals(planted: Comparison) -> None:
    exact = replace(planted, scope="none", share_removed=ShareRemoved(0.5))
    text = methods_of(exact).plain
    assert states(text, "raw contrasts exactly these words")
    assert "credible intervals" not in text
    assert "Fieller" not in text
    assert states(methods_of(replace(planted, scope="targets")).plain, "new attributes 5%")


def test_write_raises_for_existing_files_and_full_disk(
    construction: Comparison, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "found"
    out.mkdir()
    (out / "notes.txt").write_text("mine")
    with refused(OutputError, "found files"):
        write(construction, out)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writer, "save_posterior", full)
    with refused(OutputError, "No space left on device"):
        write(construction, out, overwrite=True, figures=["svg"])
    assert [path.name for path in tmp_path.rglob("*")] == ["found", "notes.txt"]


def test_unconverged_comparison_has_no_verdict(planted: Comparison) -> None:
    verdict = replace(planted.verdict, label="not converged", problems=("R-hat up to 1.200",))
    failed = replace(planted, verdict=verdict)
    assert failed.headline == "No verdict, because a fit has not converged"
    assert failed.details == ["R-hat up to 1.200."]
