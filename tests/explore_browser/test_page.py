"""The page in Chromium: words typed, files dropped, narrow windows, the keyboard, and names for screen readers."""

import base64
import io
import pickle
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.explore_browser.conftest import PATIENCE, Served

CAREER = "executive, management, professional, corporation, salary, office, business, career"
SHEET = (
    "young=fun,old=duty,fun,duty\nJohn,Amy,home,executive\nPaul,Joan,parents,management\nMike,Lisa,children,salary\n"
    "Kevin,Sarah,family,office\n"
)


def settled(page: Page) -> str:
    """Wait until the figure is drawn, and return the verdict or the error. Checks may follow."""
    page.wait_for_selector("main:is([data-state=checking], [data-state=done], [data-state=error])")
    return page.inner_text("#verdict") + page.inner_text("#error")


def drop(page: Page, name: str, content: bytes) -> str:
    """Drop a file on the page, and return the verdict or the error."""
    page.evaluate(
        """([name, content]) => {
            const data = new DataTransfer();
            const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
            data.items.add(new File([bytes], name));
            document.querySelector("main").dataset.state = "dropped";
            for (const kind of ["dragover", "drop"])
                document.body.dispatchEvent(new DragEvent(kind, {dataTransfer: data, bubbles: true, cancelable: true}));
        }""",
        [name, base64.b64encode(content).decode()],
    )
    return settled(page)


def test_example_has_verdict_figure_words_and_checks(page: Page):
    assert "Distinguishable from noise." in page.inner_text(".answer b")
    assert page.evaluate("document.querySelector('#figure img').naturalWidth") > 200
    assert page.locator("#words tbody tr").count() == 36
    page.wait_for_selector("main[data-state=done]")
    assert "exchanged at random between its groups" in page.inner_text("#checks")


def test_typed_words_change_verdict_and_omitted_words(page: Page):
    before = page.inner_text("#verdict")
    page.fill("#group-1-words", "Amy, Joan, Lisa, Sarah, Diana, Kate, Ann, qqqq")
    page.fill("#group-2-words", "John, Paul, Mike, Kevin, Steve, Greg, Jeff")
    verdict = settled(page)
    assert verdict != before
    assert "opposite to the stereotype" in verdict
    assert "qqqq" in page.inner_text("#words")


def test_outdated_results_are_not_shown(page: Page):
    box = page.locator("#group-1-words")
    box.focus()
    page.keyboard.press("Control+End")
    page.keyboard.type(", Brad, Neil, qqqq", delay=40)
    settled(page)
    assert "qqqq" in page.inner_text("#words")


@pytest.mark.parametrize(
    ("field", "text", "message"),
    [
        ("#group-1-words", "John", "single word"),
        ("#group-1-words", "", "is empty"),
        ("#group-1-words", "zzzy, zzzx, zzzw, John", "no usable vector for 3 of the 4 words"),
        ("#group-2", "male names", "two columns"),
    ],
)
def test_errors_are_messages_of_package_and_can_be_corrected(page: Page, field: str, text: str, message: str):
    before, verdict = page.input_value(field), page.inner_text("#verdict")
    page.fill(field, text)
    error = settled(page)
    assert message in error
    assert "Traceback" not in page.content()
    assert not page.locator("#figure").is_visible()
    page.fill(field, before)
    assert settled(page) == verdict
    assert page.locator("#figure").is_visible()


def test_example_is_loaded_by_its_button(page: Page):
    page.select_option("#example", label="WEAT 7: Math and arts, male and female terms")
    page.click("#load")
    assert "Not distinguishable" in settled(page)
    assert page.input_value("#group-1") == "math"


def test_dropped_spreadsheet_fills_fields(page: Page):
    verdict = drop(page, "flora.csv", SHEET.encode())
    assert "The estimated bias is" in verdict
    assert [page.input_value(f"#{part}") for part in ("name", "group-1", "class-2")] == ["flora", "young", "duty"]
    assert page.input_value("#group-2-words") == "Amy, Joan, Lisa, Sarah"


def test_dropped_spreadsheet_has_notice_of_omitted_classes(page: Page):
    drop(page, "mine.csv", SHEET.replace("\n", ",mine\n", 1).encode())
    assert "omitted mine, because the page has its own control classes" in page.inner_text("#loaded")
    page.click("#load")
    assert not page.inner_text("#loaded")


def test_chosen_spreadsheet_fills_fields(page: Page, tmp_path: Path):
    file = tmp_path / "chosen.tsv"
    file.write_text(SHEET.replace(",", "\t"), encoding="utf-8")
    page.set_input_files("#file", file)
    page.wait_for_function("() => document.getElementById('name').value === 'chosen'")
    assert "The estimated bias is" in settled(page)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("pickle.csv", pickle.dumps(print), "pickle.csv is not UTF-8 text"),
        ("list.pkl", pickle.dumps(print), "'list.pkl' is not a spreadsheet"),
        ("three.csv", b"a,b,c\nx,y,z\n", "does not define which of a, b, and c are groups"),
        ("large.csv", bytes(1_000_001), "'large.csv' has more than 1,000,000 bytes"),
    ],
)
def test_bad_file_keeps_fields_and_shows_message(page: Page, name: str, content: bytes, message: str):
    before = page.input_value("#group-1-words")
    assert message in drop(page, name, content)
    assert page.input_value("#group-1-words") == before


def test_typed_and_dropped_markup_is_text(page: Page):
    script, image = "<script>alert(1)</script>", "<img src=x onerror=alert(1)>"
    page.fill("#name", image)
    page.fill("#group-1", script)
    page.fill("#class-1-words", f"{CAREER}, {image}")
    settled(page)
    assert script in page.inner_text("#words")
    assert image in page.inner_text("#words")
    assert f"{image}.csv" in drop(page, f"{image}.csv", b"a,a\nx,y")
    assert page.locator("main script, main img[src=x]").count() == 0


@pytest.mark.parametrize("width", [390, 1280])
def test_page_fits_into_window(browser: Browser, served: Served, width: int):
    page = browser.new_page(viewport={"width": width, "height": 844})
    page.set_default_timeout(PATIENCE)
    page.goto(served.address)
    settled(page)
    for locator in page.locator("summary").all():
        locator.click()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    positions = [page.locator(part).bounding_box()["y"] for part in ("#verdict", "form", "#figure", "#words")]
    assert positions[0] == min(positions)
    assert positions[2] < positions[3]
    too_small = "e => getComputedStyle(e).fontSize"
    assert float(page.locator("#group-1-words").evaluate(too_small).removesuffix("px")) >= (16 if width == 390 else 14)
    page.close()


def test_page_can_be_used_with_keyboard_alone(page: Page):
    reached = []
    for _ in range(17):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.textContent"))
    fields = [f"{part}{end}" for part in ("group-1", "group-2", "class-1", "class-2") for end in ("", "-words")]
    buttons = ["Word list (CSV)", "Numbers (CSV)", "Registration (JSON)", "Report (ZIP)"]
    assert reached == ["example", "load", "file", "embedding", "name", *fields, *buttons]
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    page.focus("#group-1-words")
    page.keyboard.press("Control+A")
    page.keyboard.type("Amy, Joan, Lisa, Sarah, Diana, Kate")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "group-2"
    page.focus("[data-file=list]")
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    assert download.value.suggested_filename == "weat6.csv"


def test_screen_readers_have_names_and_are_told_the_verdict(page: Page):
    for name in ("Example", "Name of the list", "Embedding", "Words of group 1", "Name of class 2"):
        assert page.get_by_label(name, exact=True).count() == 1
    assert page.get_by_label("Spreadsheet").count() == 1
    for name in ("Load", "Report (ZIP)"):
        assert page.get_by_role("button", name=name).count() == 1
    for name in ("Target words", "Attribute words", "Save"):
        assert page.get_by_role("group", name=name).count() == 1
    assert page.get_by_role("img").get_attribute("alt").startswith("Density of the posterior of the bias")
    verdict = page.locator("#verdict")
    live = {"role": "status", "aria-live": "polite", "aria-atomic": "true"}
    assert {name: verdict.get_attribute(name) for name in live} == live
    assert page.locator("#error").get_attribute("role") == "alert"
    unnamed = "[...document.querySelectorAll('input, select, textarea')].filter(field => !field.labels.length).length"
    assert page.evaluate(unnamed) == 0
    headings = [int(heading.evaluate("e => e.tagName[1]")) for heading in page.locator("h1, h2, h3").all()]
    assert headings[0] == 1
    assert set(headings[1:]) == {2}


def test_files_are_saved(page: Page, served: Served, tmp_path: Path):
    page.wait_for_selector("main[data-state=done]")
    saved = {}
    for kind in ("list", "numbers", "plan", "report"):
        with page.expect_download() as download:
            page.click(f"[data-file={kind}]")
        path = tmp_path / download.value.suggested_filename
        download.value.save_as(path)
        saved[path.name] = path.read_bytes()
    assert saved.keys() == {"weat6.csv", "weat6-numbers.csv", "weat6-plan.json", "weat6-report.zip"}
    with zipfile.ZipFile(io.BytesIO(saved["weat6-report.zip"])) as report:
        index = report.read("report/index.html").decode()
    assert page.inner_text(".answer b") in index
    assert page.inner_text("#checks li >> nth=0") in index
    assert "is saved" in page.inner_text("#saving")
    assert not list(served.temporary.glob("bayes_bias-*/*"))  # the server's own folder is deleted when it ends
