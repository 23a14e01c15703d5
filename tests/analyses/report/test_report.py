"""The report: what a reader may rely on, and what no input may do to it."""

import dataclasses
import html
import html.parser
import json
import re
import webbrowser
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from bayes_bias import AssociationTable, Sampling, cosines, verdict, write
from bayes_bias.analyses.report import check_second_opinion as second_opinion
from bayes_bias.analyses.report.check import Check, Study
from bayes_bias.analyses.report.checks import CHECKERS
from bayes_bias.analyses.report.report import report
from bayes_bias.analyses.report.results import Report, _topics_found, figures_of, methods_of
from bayes_bias.analyses.report.section import Section, short_titles
from bayes_bias.associations.lists import _excerpts, measure_lists
from bayes_bias.checks.predictive import data_fit
from bayes_bias.documents import writer
from bayes_bias.documents.folder import check_folder
from bayes_bias.documents.methods import shared_references
from bayes_bias.documents.templating import latex as escaped
from bayes_bias.embeddings.opening import open_embedding
from bayes_bias.embeddings.saving import save_vectors
from bayes_bias.errors import (
    BayesBiasError,
    EmbeddingError,
    OutputError,
    ScopeError,
    SpecError,
    TableError,
    WordListError,
)
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.formatting import value_and_interval
from bayes_bias.measures import quasi_f
from bayes_bias.models.spec import load_spec
from bayes_bias.shared_types import Reference
from bayes_bias.table.association_table import assemble
from bayes_bias.words.wordlist import WordList
from tests.helpers import FEW, SHORT, html_of, latex_tables_of, random_table, refused, says, states

KINDS = ("forest", "posterior", "targets", "attributes", "variance-shares", "prior-alternatives")
WICKED = ("<script>alert(1)</script>", r"$\frac{1}{0$", r"50%_&#~^\input{x}", "été 中文", "a" * 200)


@pytest.fixture(scope="module")
def wicked() -> AssociationTable:
    """Cosines of words, and with a name, that would break a careless page, table or path."""
    tame = random_table(3, bias=0.0)
    values = tame.values
    targets = dict(zip([*WICKED, *values.target.to_numpy()[5:]], values.group.to_numpy(), strict=True))
    attributes = dict(zip(values.attribute.to_numpy(), values.attribute_class.to_numpy(), strict=True))
    return assemble(values.to_numpy(), targets, attributes, tame.stereotypes, name='../../x <i>"&$')


@pytest.fixture(scope="module")
def made(hierarchical_fit: xr.DataTree, small_table: AssociationTable, wicked: AssociationTable) -> Report:
    """The published model's fit of the first list is that of all tests, which takes long to compile."""

    def published(table: AssociationTable, model: str, *, seed: int, sampling: Sampling) -> Fitted:
        assert (model, seed, sampling) == ("hierarchical", 1, SHORT)
        if table.sha256 != small_table.sha256:
            raise TableError("not a list of all tests")
        return Fitted.of(hierarchical_fit)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bayes_bias.checks.predictive.fit_table", published)
        return report([small_table, wicked], seed=1, sampling=SHORT, against_published=True)


@pytest.fixture(scope="module")
def folder(made: Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(made, tmp_path_factory.mktemp("reports") / "deep" / "report").parent


@pytest.fixture(scope="module")
def failed(sampled: None, small_table: AssociationTable) -> Report:
    """Far too few draws to converge."""
    return report(small_table, sampling=FEW)


def checked_again(section: Section, name: str, against_published: bool = True, **changes: object) -> Section:
    """The section with one of its checks made anew, of what has changed."""
    section = dataclasses.replace(section, **changes)
    study = Study(section.table, SPEC, "both", 0.95, 1, section.fitted, Sampling(), None, 0, against_published)
    checker = next(checker for checker in CHECKERS if checker.name == name)
    return dataclasses.replace(section, checks={**section.checks, name: checker.run(study)})


SPEC = load_spec("crossed")


def alarm_comes_first(made: Report, section: Section, text: str) -> bool:
    """Whether the section of a list on the page shows an alarm between its verdict and its first figure."""
    page = html_of(dataclasses.replace(made, sections=(section,)))
    own = html.unescape(page[page.index('<section class="list"') :])
    return own.index(section.verdict.headline) < own.index(f'<p class="alarm">! {text}') < own.index("<figure>")


def plain(of: Report) -> str:
    return methods_of(of).plain


def latex(of: Report) -> str:
    return methods_of(of).latex


class Tags(html.parser.HTMLParser):
    """Every tag and where it points."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_report_folder_has_documented_files(folder):
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert {
        "index.html",
        "summary.csv",
        "weat.csv",
        "evidence.csv",
        "left-out.csv",
        "prior-alternatives.csv",
        "coverage.csv",
        "tables.tex",
        "methods.txt",
    } <= files
    assert {"methods.tex", "references.bib", "provenance.json", "posterior-small.nc"} <= files
    assert {name for name in files if name.startswith("figures/small-")} == {f"figures/small-{k}.svg" for k in KINDS}


def test_report_page_has_no_external_resources(folder):
    tags = Tags((folder / "index.html").read_text(encoding="utf-8")).found
    assert not {"script", "link", "iframe", "object"} & {tag for tag, _ in tags}
    sources = [attrs.get("src") for tag, attrs in tags if "src" in attrs]
    assert all(source.startswith("data:image/svg+xml;base64,") for source in sources)
    assert all(re.match(r"#|https://doi\.org/", attrs["href"]) for tag, attrs in tags if tag == "a")


def test_report_page_escapes_markup_in_words_and_names(folder):
    text = (folder / "index.html").read_text(encoding="utf-8")
    assert "<script" not in text
    assert "<i>" not in text
    assert "../../x &lt;i&gt;" in text
    assert folder.parent.name == "deep"
    assert [path.name for path in folder.parent.iterdir()] == ["report"]


def test_latex_tables_escape_words_and_names(folder):
    text = (folder / "tables.tex").read_text(encoding="utf-8")
    assert "Group bias should not be reported on its own" in text
    assert r"../../x \textless{}i\textgreater{}" in text
    assert escaped(r"\input{x}_50%") == r"\textbackslash{}input\{x\}\_50\%"
    assert len(re.findall(r"(?<!\\)\{", text)) == len(re.findall(r"(?<!\\)\}", text))


def test_csv_files_match_report(made, folder):
    frames = {"summary": made.summary(), "measures": made.measures(), "evidence": made.evidence()}
    for name, frame in frames.items():
        filed = pd.read_csv(folder / f"{name}.csv", index_col=frame.index.names)
        # An empty text, such as of a check without a reason to omit it, is read as a missing number.
        pd.testing.assert_frame_equal(filed, frame.replace("", np.nan), check_dtype=False, rtol=1e-12)
    assert {"both", "targets"} == set(frames["summary"].index.get_level_values("scope"))
    weat = pd.read_csv(folder / "weat.csv", index_col="list")
    np.testing.assert_allclose(weat[["effect_size", "p_value"]], made.table()[["weat_d", "weat_p_value"]])


def test_report_page_shows_verdict_before_weat(made, folder):
    text = (folder / "index.html").read_text(encoding="utf-8")
    section = made.sections[0]
    measured = text.index(f"d = {section.weat.effect_size:.2f} (one-sided p = .00")
    assert text.index(f"<b>{section.verdict.headline}.</b> {section.verdict.size}.") < measured


def test_weat_difference_equals_twice_observed_bias(made):
    section = made.sections[0]
    observed = section.summary.loc[("bias", "overall"), "observed"]
    assert section.weat.difference / 2 == pytest.approx(observed, abs=1e-12)


def test_report_page_contains_unit_noise_floor_and_scope(made):
    text = html_of(made)
    assert states(text, "new targets attributes 95%")
    for needed in ("cosine similarity", "noise floor"):
        assert needed in text


def test_report_with_narrow_scope_contains_wider_scope(made):
    section = dataclasses.replace(made.sections[0], verdict=verdict(made.sections[0].fit, "targets"))
    fixed = dataclasses.replace(made, sections=(section,), scope="targets")
    assert says(fixed.table().verdict.item(), "these words differ new attributes distinguishable")
    for text in (html_of(fixed), plain(fixed)):
        assert states(text, "random words third cases")
    assert not states(plain(fixed), "called distinguishable")
    assert states(plain(made), "called distinguishable")
    assert section.verdict.wider.size in html_of(fixed)


def test_page_and_methods_contain_assumptions_of_intervals(made):
    for text in (html_of(made), plain(made)):
        assert states(text, "draws population sub-topics")
        assert "sub-topics" in text
    assert not re.search(r"\w\.[A-Z][a-z]", plain(made).split("References")[0])


def test_methods_contain_words_with_shared_effects(made):
    """As if the list named pairs of targets: what the text says of a fit is what its posterior and data hold."""
    section = made.sections[0]
    tree = section.fitted.tree.copy()
    scale = tree["posterior"].sd_target_preference
    tree["posterior"] = tree["posterior"].to_dataset().assign(sd_target_cluster=scale)
    named = {"target_clustering": np.array(["pair"], dtype=object)}
    tree["constant_data"] = tree["constant_data"].to_dataset().assign_coords(named)
    text = plain(dataclasses.replace(made, sections=(dataclasses.replace(section, fitted=Fitted.of(tree)),)))
    for claim in ("targets pair share effects", "standard deviation targets related shared levels"):
        assert states(text, claim)
        assert not states(plain(made), claim)


def test_report_marks_failed_fit_everywhere(failed):
    assert failed.sections[0].verdict.label == "not converged"
    text = html_of(failed)
    answers, section, rest = re.split(r'<section class="list"|<section aria-labelledby="methods"', text)
    assert states(answers, "✕ converged small")
    tables = section.count('<p class="note"><b class="alarm">✕')
    assert section.count("✕ Not converged") == section.count("<figcaption>") + tables + 1 == 6  # once for two figures
    assert states(rest, "converged interpreted")
    assert latex_tables_of(failed).count("not converged") >= 3
    assert not failed.summary().converged.any()
    assert not re.search("quasi-F test .* agree", plain(failed))


def test_report_adjusts_several_lists_by_holm(made, folder):
    rows = made.together.table
    evidence = pd.read_csv(folder / "evidence.csv", index_col="list")
    for column in ("chance", "chance_holm", "survives"):
        assert evidence[column].tolist() == pytest.approx(rows[column].tolist())
    said = str(made.together)
    assert says(said, "two distinguishable Holm's small")
    assert html.unescape(html_of(made)).count(said[:60]) == 2  # among the answers, and in the methods
    assert said[:60] in latex_tables_of(made)
    assert r"\label{tab:together}" in latex_tables_of(made)
    assert states(plain(made), "two lists Holm's [")


def test_report_of_one_list_omits_holm(failed):
    for text in (html_of(failed), plain(failed), latex_tables_of(failed)):
        assert "Holm" not in text


def test_report_page_contains_reason_for_undefined_weat(made):
    measured = made.sections[0].measures
    others = {name: found for name, found in measured.results.items() if name != "WEAT"}
    left_out = {"WEAT": "WEAT: because it is Monday"}
    section = dataclasses.replace(
        made.sections[0], measures=dataclasses.replace(measured, results=others, left_out=left_out)
    )
    text = html_of(dataclasses.replace(made, sections=(section,)))
    assert states(text, "it is Monday")


def test_report_compares_data_fit_with_published_model(made, folder):
    evidence = pd.read_csv(folder / "evidence.csv", index_col="list").loc["small"]
    assert evidence.coverage_89 > 0.89
    assert evidence.elpd_difference > 2 * evidence.elpd_se
    for text in (html_of(made), plain(made)):
        assert states(text, f"{evidence.coverage_50:.1%} {evidence.coverage_89:.1%} 209 raw cosines")
        assert states(text, f"published model elpd +{evidence.elpd_difference:.0f}")
    assert states(html_of(made), "no embedding random words")


def test_report_fits_published_model_only_on_request(made, monkeypatch):
    monkeypatch.setattr("bayes_bias.checks.predictive.fit_table", lambda *_, **__: pytest.fail("fitted"))
    section = checked_again(made.sections[0], "data_fit", against_published=False)
    assert states(section.checks["data_fit"].text, "raw cosines")
    single = dataclasses.replace(made, sections=(section,))
    for text in (html_of(single), plain(single)):
        assert "published model" not in text
        assert states(text, "209 raw cosines")
    assert "--against-published" in single.evidence().no_comparison["small"]


def test_report_page_contains_reasons_for_omitted_checks(failed, made, monkeypatch):
    assert states(html_of(failed), "Not checked converged")
    section, module = made.sections[0], "bayes_bias.checks.predictive"
    with monkeypatch.context() as patch:
        patch.setattr(f"{module}._published_or_why_not", lambda *_: (None, "no cosine"))
        text = html_of(dataclasses.replace(made, sections=(checked_again(section, "data_fit"),)))
    assert states(text, "published model no cosine")
    monkeypatch.setattr(f"{module}.MOST_PAIRS", 200)
    with refused(TableError, "209 values"):
        data_fit(section.fit, section.table, against_published=True)
    text = html_of(dataclasses.replace(made, sections=(checked_again(section, "data_fit"),)))
    assert states(text, "Not checked 209 values")


def test_report_has_clusters_on_page_and_in_files(made, folder):
    section = made.sections[0]
    check, evidence = section.checks["clusters"], pd.read_csv(folder / "evidence.csv", index_col="list")
    (targets, _), without = check.result, check.tables["left-out"]
    assert evidence.loc["small", "icc_targets"] == pytest.approx(targets.icc)
    assert evidence.loc["small", "bias_without_word_max"] == pytest.approx(without[without.what == "word"].bias.max())
    assert states(html_of(made), "Without word observed bias")
    filed = pd.read_csv(folder / "left-out.csv")
    assert len(filed[filed.list == "small"]) == len(without)


def test_clusters_alarm_precedes_figures_for_clustered_attributes(made):
    section, table = made.sections[0], made.sections[0].table
    y, half = table.values.to_numpy().copy(), np.arange(table.values.sizes["attribute"]) % 2 == 1
    men = np.where(table.group_index == 0, 0.2, -0.2)[:, None]
    y[:, half] += 0.2 * np.random.default_rng(1).standard_normal((len(y), 1)) + men
    clustered = dataclasses.replace(table, values=table.values.copy(data=y))
    alarmed = checked_again(section, "clusters", table=clustered)
    again = alarmed.checks["clusters"]
    assert again.alarm
    assert states(again.text, "attributes vary together intraclass correlation")
    assert states(again.text, "5 14% false positives")
    assert alarm_comes_first(made, alarmed, again.text)


def test_second_opinion_alarm_precedes_figures_when_quasi_f_disagrees(made):
    section = made.sections[0]
    found = quasi_f(section.table)
    said = value_and_interval(found.value, *found.interval)
    evidence = made.evidence().loc["small"]
    assert (evidence.quasi_f, evidence.quasi_f_p_value) == (found.value, found.p_value)
    assert states(html_of(made), f"quasi-F agrees {said} p")
    assert states(plain(dataclasses.replace(made, sections=(section,))), f"agreed posterior small {said}")
    # Of a table from which its bias was taken.
    table = section.table
    own = table.group_index[:, None] == table.class_index[None, :]
    without = dataclasses.replace(table, values=table.values - found.value / 2 * np.where(own, 1, -1))
    again = checked_again(section, "second-opinion", table=without)
    assert again.checks["second-opinion"].alarm
    disagreeing = dataclasses.replace(made, sections=(again,))
    assert states(html_of(disagreeing), "disagrees 0.000 [")
    assert alarm_comes_first(made, again, again.checks["second-opinion"].text)
    assert states(plain(disagreeing), "disagreed posterior small 0.000 [")
    # What it cannot know is no reason for alarm.
    named = section.fit.copy()
    data = named["constant_data"].to_dataset()
    named["constant_data"] = xr.DataTree(data.assign(target_clustering=("target_clustering", ["topic"])))
    ignoring = checked_again(section, "second-opinion", table=without, fitted=Fitted.of(named))
    assert not ignoring.checks["second-opinion"].alarm
    assert states(ignoring.checks["second-opinion"].text, "sub-topics pairs")
    assert states(plain(dataclasses.replace(made, sections=(ignoring,))), "disagreed posterior small")


@pytest.mark.parametrize(
    ("sizes", "consequence"),
    [((6, 30), "interval too short"), ((30, 6), "interval too long"), ((20, 20), "similar length little")],
)
def test_second_opinion_reports_unequal_spread_of_groups(sizes, consequence):
    rng = np.random.default_rng(1)
    group, y = np.repeat(["many kinds", "one kind"], sizes), rng.normal(size=(sum(sizes), 16))
    y[group == "many kinds", :8] += 12 * rng.normal(size=(sizes[0], 1))
    table = assemble(
        y,
        {f"t{i}": g for i, g in enumerate(group)},
        {f"a{j}": "near" if j < 8 else "far" for j in range(16)},
        {"many kinds": "near", "one kind": "far"},
    )
    (sentence,) = second_opinion._on_unequal_variances(quasi_f(table), 2, rounding=1e-7)
    assert says(sentence, "'many kinds' more 'one kind'")
    assert says(sentence, f"same scales for all groups {consequence}")


@pytest.mark.slow
def test_page_and_methods_contain_negligible_region(small_table):
    with_rope = report(small_table, sampling=FEW, calibration_draws=0, rope=0.1)
    assert states(html_of(with_rope), "bias smaller 0.1")
    assert states(plain(with_rope), "bias 0.1 negligible")
    assert 0 < with_rope.table().prob_negligible["small"] < 1


@pytest.mark.slow
def test_page_of_tables_claims_no_vectors_and_no_missing_controls(small_table):
    bare = dataclasses.replace(small_table.without_controls(), name="bare")
    both = report([small_table, bare], sampling=FEW, calibration_draws=0, rope=0.1)
    page = html_of(both)
    assert page.count('alt="Bias, bias within each class, bias of each group, with intervals') == 1
    assert page.count('alt="Bias, bias within each class, bias of each group, excess over control classes, with') == 1
    assert "order of the vectors" not in page
    assert states(page, "The interval applies to the mean over many new words")
    assert "posterior probability is reported. For each list" in plain(both)


def test_methods_contain_priors_sampling_and_words_of_fit(made):
    text = plain(made)
    assert states(text, "HalfNormal(sigma=1.65) standard deviation e")
    rows = made.sections[0].table.without_controls().to_frame()
    variances = rows.groupby(["group", "attribute_class"])[rows.columns[-1]].agg(["var", "size"])
    unit = np.sqrt(np.average(variances["var"], weights=variances["size"] - 1))
    assert states(text, f"standard deviation values about the mean block associated classes small {unit:.4g}")
    assert states(text, f"{SHORT.chains} chains {SHORT.tune} warm-up {SHORT.draws} draws")
    assert "5 men, 6 women" in text
    assert states(text, "a[i] u[i] associated group x[i, c]")
    exponential = dataclasses.replace(made, spec=made.spec.with_prior("sd_residual", "Exponential", lam=20.0))
    assert states(plain(exponential), "Exponential(lam=20) standard deviation e")


def test_methods_cite_sources_of_lists_and_controls(made):
    list_source, control_source = (Reference(citation=f"{who} (2020).") for who in ("Author", "Other"))
    table = dataclasses.replace(made.sections[0].table, control_sources=(control_source,))
    own = dataclasses.replace(made.sections[0], table=table)
    published = dataclasses.replace(own, table=dataclasses.replace(table, source=list_source))
    said = [plain(dataclasses.replace(made, sections=(section,))) for section in (own, published)]
    assert states(said[0], "small our own list targets 8 neutral [1]")
    assert states(said[1], "small [1] targets 8 neutral [2]")
    assert not states(said[1], "our own list")


def test_latex_methods_contain_model_equation(made):
    first, second = (r"y_{ij} = \mathit{mean}_{gc} + a_{i} + u_{i}", r" \\ \quad {} + x_{ic} + b_{j}")
    assert re.search(rf"{re.escape(first)} .*{re.escape(second)}", latex(made))
    assert "mean[g, c] + a[i]" in plain(made)


def test_latex_tables_have_width_of_text_at_most(made):
    text = latex_tables_of(made)
    assert text.count(r"\begin{tabular}") == text.count(r"\begin{adjustbox}{max width=\linewidth}") == 4
    for name in ("table*", "adjustbox", "tabular"):
        assert text.count(rf"\begin{{{name}}}") == text.count(rf"\end{{{name}}}")
    assert "XeLaTeX" in text


def test_latex_label_keeps_letters_of_name(made):
    section = made.sections[0]
    named = dataclasses.replace(section, table=dataclasses.replace(section.table, name="my_list & 100%"))
    text = latex_tables_of(dataclasses.replace(made, sections=(named,)))
    assert r"\label{tab:my_list-100}" in text
    assert r"my\_list \& 100\%" in text


def test_bibliography_contains_all_citations(made):
    cited = {key for keys in re.findall(r"\\cite\{([^}]+)\}", latex(made)) for key in keys.split(",")}
    entries = set(re.findall(r"@\w+\{([^,]+),", methods_of(made).bibliography))
    assert cited
    assert cited <= entries


def test_quasi_f_has_interval_and_references(made, folder):
    for section in made.sections:
        row = made.measures().loc[(section.name, "quasi-F")]
        assert (row.ci95_lb, row.ci95_ub) == section.quasi_f.interval
        assert row.value == pytest.approx(section.weat.difference / 2)
    assert states(latex(made), r"quasi-F \cite{clark1973language,satterthwaite1946approximate}")


def test_shared_references_match_keys_of_entries():
    for key, reference in shared_references().items():
        assert reference.bibtex.strip().split("{")[1].startswith(f"{key},")
        assert reference.doi in reference.bibtex


def test_provenance_has_hash_of_every_file(folder):
    provenance = json.loads((folder / "provenance.json").read_text(encoding="utf-8"))
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert set(provenance["files"]) == files - {"provenance.json"}
    assert provenance["lists"]["small"]["table_sha256"] == random_table().sha256


def test_write_replaces_own_files_only_with_overwrite(made, sketched, tmp_path):
    out = tmp_path / "report"
    write(made, out)
    (out / "notes.txt").write_text("mine")
    (out / "figures" / "mine.png").write_text("mine")
    first = dataclasses.replace(made, sections=made.sections[:1])
    with refused(OutputError, "files overwrite=True"):
        write(first, out)
    assert (out / "notes.txt").read_text() == "mine"
    assert any(path.name.startswith("posterior-x") for path in out.iterdir())
    write(first, out, overwrite=True)
    left = {path.name for path in out.rglob("*") if path.is_file()}
    assert {"notes.txt", "mine.png", "posterior-small.nc"} <= left
    assert not any(name.startswith(("posterior-x", "x-")) for name in left)
    assert not any("unfinished" in path.name for path in out.rglob("*"))


def test_figures_are_identical_for_same_fits(made):
    alone = dataclasses.replace(made, sections=made.sections[:1])
    rendered = []
    for _ in range(2):
        drawn = figures_of(alone)
        rendered.append({name: writer.rendered(draw().get_figure(), "svg") for name, draw in drawn.items()})
    assert rendered[0] == rendered[1]


@pytest.mark.slow
def test_report_figures_contain_short_titles_of_lists():
    figures = figures_of(report(["weat6", "weat7"], sampling=FEW, calibration_draws=0))
    rows = [label.get_text().splitlines()[0] for label in figures.pop("overview")().get_yticklabels()]
    assert rows == ["WEAT 6", "WEAT 7"]
    for name, draw in figures.items():
        assert draw().get_title(loc="left").startswith(f"WEAT {name[4]}: "), name
    assert "weat6-clusters-targets" in figures


@pytest.mark.slow
def test_report_has_no_figure_of_attributes_if_groups_share_class(tmp_path):
    shared = {"stereotypes": {"men": "work", "women": "work"}, "opposites": ("home",)}
    made = report(dataclasses.replace(random_table(), **shared), sampling=FEW, calibration_draws=0)
    files = write(made, tmp_path / "report", figures=["svg"]).parent.glob("figures/small-*")
    assert {"small-attributes.svg", "small-targets.svg"} & {file.name for file in files} == {"small-targets.svg"}


def test_short_titles_returns_list_names_for_ambiguous_titles():
    titles = {"a": "WEAT 6: Names in v", "b": "WEAT 6: Names in w", "c": "Flora", "d": ": Fauna", "e": "x" * 40}
    assert short_titles(titles) == {"a": "a", "b": "b", "c": "Flora", "d": "d", "e": "x" * 40}
    assert short_titles({"f": "x" * 40, "g": "x" * 41}) == {"f": "f", "g": "g"}


def test_write_saves_figures_in_requested_formats(made, sketched, tmp_path):
    first = dataclasses.replace(made, sections=made.sections[:1])
    write(first, tmp_path / "one", figures=["svg", "pdf"])
    files = list((tmp_path / "one" / "figures").iterdir())
    assert {path.suffix for path in files} == {".svg", ".pdf"}
    assert len(files) == 2 * (1 + len(KINDS))
    write(first, tmp_path / "none", figures=())
    assert not (tmp_path / "none" / "figures").exists()
    assert (tmp_path / "none" / "index.html").read_bytes() == (tmp_path / "one" / "index.html").read_bytes()
    for wrong in (["gif"], "png"):
        with refused(OutputError, "figures png"):
            write(first, tmp_path / "wrong", figures=wrong)
    assert not (tmp_path / "wrong").exists()


def test_write_raises_for_file_as_folder(made, tmp_path):
    out = tmp_path / "report"
    out.write_text("mine")
    for attempt in (lambda: write(made, out), lambda: check_folder(out)):
        with refused(OutputError, "file folder"):
            attempt()
    assert out.read_text() == "mine"


def test_write_leaves_no_files_after_error(failed, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    with refused(OutputError, "file"):
        check_folder(tmp_path / "file" / "report")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writer, "save_posterior", full)
    with refused(OutputError, "No space left on device"):
        write(failed, tmp_path / "report", figures=())
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"wordlists": []}, TableError, "wordlists empty"),
        ({"wordlists": ["weat6", "weat6"]}, TableError, "'weat6' 2"),
        ({"wordlists": ["weat6", "waet7"]}, WordListError, "weat7"),
        ({"model": "hierarchical"}, SpecError, "'hierarchical' scopes"),
        ({"scope": "none"}, ScopeError, "scope 'none' interval"),
        ({"scope": "target"}, ScopeError, "'targets'"),
        ({"calibration_draws": -1}, BayesBiasError, "calibration_draws -1"),
        ({"ci_prob": 95}, BayesBiasError, "ci_prob 95"),
        ({"ci_prob": "95"}, BayesBiasError, "ci_prob '95'"),
        ({"seed": -1}, SpecError, "seed -1"),
        ({"sampling": 500}, SpecError, "sampling 500"),
        ({"embedding": "no-such-vectors"}, BayesBiasError, "no-such-vectors"),
    ],
)
def test_report_raises_for_bad_arguments_before_sampling(arguments, error, message, monkeypatch):
    monkeypatch.setattr("bayes_bias.analyses.report.report.fit_table", lambda *_, **__: pytest.fail("sampled"))
    with refused(error, message):
        report(**{"wordlists": "weat6"} | arguments)


def test_report_raises_for_long_list_before_sampling(monkeypatch):
    monkeypatch.setattr("bayes_bias.table.related_words.MOST_PAIRS", 100)
    monkeypatch.setattr("bayes_bias.analyses.report.report.fit_table", lambda *_, **__: pytest.fail("sampled"))
    with refused(TableError, "'weat6' 256 cosines"):
        report(cosines("weat6", "googlenews-demo", ()))


@pytest.mark.slow
def test_report_lists_omitted_words_of_built_in_vectors():
    """The thin path of `make report`, with few draws: coverage, notices, errata, sources."""
    made = report(cosines("weat2", "googlenews-demo", ["human"]), sampling=FEW, calibration_draws=0)
    section = made.sections[0]
    assert section.coverage.set_index("name").loc["weapons", ["asked", "found"]].tolist() == [25, 24]
    assert "axe" in section.coverage.set_index("name").lost["weapons"]
    text = html_of(made)
    assert "axe" in text
    assert states(text, "Bias in googlenews-demo")
    assert states(plain(made), "2 185 words vector omitted")
    assert np.isfinite(made.table().weat_d["weat2"])


def test_embeddings_of_same_file_name_have_paths_as_names(tmp_path):
    files = [tmp_path / folder / "vectors.npz" for folder in ("before", "after")]
    for file in files:
        file.parent.mkdir()
        save_vectors({"he": np.ones(2), "she": np.array([1.0, 2.0])}, file)
    read = _excerpts(files, False, [], False)
    assert [copy.name for copy in read] == [str(file) for file in files]


@pytest.mark.slow
def test_report_has_section_for_each_embedding(small_fit):
    words = {"groups": {"men": ["a", "b", "c", "d", "e"], "women": ["f", "g", "h", "i", "j", "k"]}}
    words["classes"] = {"work": list("lmnopq"), "home": list("rstuv"), "neutral": list("wxyzABCD")}
    words["stereotypes"] = {"men": "work", "women": "home"}
    more_words = [f"word{letter}" for letter in "abcdefghijklmnopqrst"]
    spelt = [*chain(*words["groups"].values(), *words["classes"].values())]
    drawn = np.random.default_rng(0).normal(size=(2, len(spelt) + len(more_words), 20))
    opened = [
        open_embedding(dict(zip(spelt, drawn[0], strict=False)), name="vectors 0"),
        open_embedding(dict(zip(spelt + more_words, drawn[1], strict=True)), name="vectors 1"),
    ]
    flora = WordList.from_mapping(words, name="flora")
    both = report(measure_lists(flora, opened, ()), sampling=FEW, calibration_draws=2)
    assert list(both.table().index) == ["flora (vectors 0)", "flora (vectors 1)"]
    assert [section.title for section in both.sections] == ["flora in vectors 0", "flora in vectors 1"]
    measured = both.measures()
    assert "SAME" in measured.loc["flora (vectors 0)"].index
    assert measured.loc[("flora (vectors 1)", "posterior bias (both)"), ["ci95_lb", "ci95_ub"]].notna().all()
    # Nulls are drawn where the embedding has words to spare, and the page says why not where it has none.
    nulls = both.evidence().nulls
    assert nulls.isna().tolist() == [True, False]
    assert says(both.evidence().no_calibration["flora (vectors 0)"], "no words 'flora'")
    assert states(html_of(both), "2 random lists same targets attribute words drawn")
    # What the scope calls a sample is drawn.
    by_targets = report(cosines(flora, opened[1], ()), scope="targets", sampling=FEW, calibration_draws=2)
    assert states(html_of(by_targets), "same attributes targets drawn random")
    assert states(html_of(both), "Bias in vectors 0 vectors 1")
    with refused(EmbeddingError, "2 'vectors 0'"):
        report(WordList.from_mapping(words), [opened[0], opened[0]])
    with refused(EmbeddingError, "embedding empty"):
        report(WordList.from_mapping(words), [])


@pytest.mark.parametrize(
    ("drawn", "clause"),
    [
        ({"a": ["x"]}, ""),
        ({"a": ["x", 0.1]}, "10% of lists of arbitrary topics in this embedding"),
        ({"a": ["x"], "b": ["x", 0.1]}, "10% of lists of arbitrary topics in this embedding"),
        (
            {"a": ["x", 0.1], "b": ["x", 0.2], "c": ["x", 0.15]},
            "depending on the list, 10% to 20% of lists of arbitrary topics in this embedding",
        ),
        (
            {"a": ["x", 0.1], "b": ["y", 0.2]},
            "depending on list and embedding, 10% to 20% of lists of arbitrary topics in these embeddings",
        ),
    ],
)
def test_share_of_arbitrary_topics_covers_all_lists(drawn, clause):
    """`drawn` has the embedding of each list and, if random topics were drawn, the share of them that differ."""
    sections = []
    for embedding, *share in drawn.values():
        table = SimpleNamespace(provenance={"embedding": embedding})
        nulls = Check("text", "brief", dict.fromkeys(["topics_share"] if share else [], *share))
        sections.append(SimpleNamespace(table=table, checks={"nulls": nulls}))
    found = _topics_found(SimpleNamespace(sections=sections))
    assert found == (clause and f"{clause} (drawn for this report) are also distinguishable")


def test_report_has_measures_on_page_and_in_file(made, folder):
    page = (folder / "index.html").read_text(encoding="utf-8")
    measured = pd.read_csv(folder / "measures.csv", index_col=["list", "measure"])
    assert len(measured.loc["small"]) == len(made.sections[0].measures.table) + 3
    assert "SD-WEAT" in page
    assert states(page, "SAME vectors")


def test_report_page_contains_answer_version_and_date(made, failed, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1764115200")
    text = html_of(made)
    assert states(text, "small bias")
    assert states(text, f"bayes_bias {version('bayes-bias')} 26 November 2025")
    assert states(text, "Cite as: The bayes_bias developers.")
    assert states(html_of(failed), "small not converged")


def test_report_opens_in_browser(failed, sketched, monkeypatch):
    opened = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    page = failed.open()
    assert opened == [page.as_uri()]
    assert "<h1>" in page.read_text(encoding="utf-8")
