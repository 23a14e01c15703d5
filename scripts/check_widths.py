"""Do the pages of a site fit into a wide and a narrow window? `python scripts/check_widths.py docs/_build/html`.

A headless Chromium loads each page into a frame of each width. A page must not be wider than its window, no table may
reach beyond the text unless it scrolls in a box of its own, and the header of a table must lie above its first row.
"""

import html
import json
import shutil
import subprocess
import sys
import tempfile
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

WIDTHS = (1280, 390)
BROWSERS = ("chromium", "chromium-browser", "google-chrome")

CHECK = """<!doctype html><meta charset="utf-8"><title>Widths</title><pre id="found"></pre><script>
const scrolls = (element) => {
  for (let box = element.parentElement; box; box = box.parentElement)
    if (["auto", "scroll"].includes(box.ownerDocument.defaultView.getComputedStyle(box).overflowX)) return true;
  return false;
};
const faults = (page, width) => {
  const found = [], root = page.documentElement;
  if (root.scrollWidth > width + 1) found.push(`is ${root.scrollWidth} px wide`);
  for (const table of page.querySelectorAll("article table")) {
    const box = table.getBoundingClientRect(), name = table.textContent.trim().slice(0, 40).replace(/\\s+/g, " ");
    if (box.right > width + 1 && !scrolls(table)) found.push(`table '${name}' reaches to ${Math.round(box.right)} px`);
    const head = table.tHead?.getBoundingClientRect(), body = table.tBodies[0]?.getBoundingClientRect();
    if (head?.height > 1 && body && head.bottom > body.top + 1) found.push(`header of table '${name}' covers its rows`);
  }
  return found;
};
const load = (address, width) => new Promise((resolve) => {
  const frame = document.createElement("iframe");
  frame.style.cssText = `width: ${width}px; height: 900px; border: 0`;
  frame.onload = () => { resolve(faults(frame.contentDocument, width)); frame.remove(); };
  frame.src = address;
  document.body.append(frame);
});
(async () => {
  const found = {};
  for (const address of PAGES) for (const width of WIDTHS) {
    const here = await load(address, width);
    if (here.length) found[`${address} at ${width} px`] = here;
  }
  document.getElementById("found").textContent = JSON.stringify({checked: PAGES.length, found});
})();
</script>"""


class Quiet(SimpleHTTPRequestHandler):
    """Serves files without a line on each."""

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def browser() -> str:
    """Return the path of a Chromium."""
    for name in BROWSERS:
        if path := shutil.which(name):
            return path
    sys.exit(f"The widths of pages cannot be checked without one of: {', '.join(BROWSERS)}. Install Chromium.")


def faults(site: Path) -> dict[str, list[str]]:
    """Return what is wrong on each page at each width."""
    chromium = browser()
    pages = sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html") if "_static" not in path.parts)
    check = site / "check-widths.html"
    check.write_text(CHECK.replace("PAGES", json.dumps(pages)).replace("WIDTHS", json.dumps(WIDTHS)), encoding="utf-8")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with tempfile.TemporaryDirectory() as profile:
            options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
            options += [f"--user-data-dir={profile}", "--virtual-time-budget=600000", "--dump-dom"]
            address = f"http://127.0.0.1:{server.server_port}/{check.name}"
            printed = subprocess.run([chromium, *options, address], capture_output=True, text=True, check=True).stdout
    finally:
        server.shutdown()
        server.server_close()
        check.unlink()
    found = html.unescape(printed.partition('<pre id="found">')[2].partition("</pre>")[0])
    result = json.loads(found) if found else {"checked": 0, "found": {}}
    if result["checked"] != len(pages):
        sys.exit(f"{result['checked']} of {len(pages)} pages were checked; the browser stopped early")
    return dict(result["found"])


def main() -> None:
    """Print what is wrong, and fail if anything is."""
    found = faults(Path(sys.argv[1]))
    for page, problems in found.items():
        for problem in problems:
            print(f"{page}: {problem}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
