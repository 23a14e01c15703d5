"""The page in a real Chromium, served as `bayes-bias explore` serves it: `make test-explore`."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from scripts.check_widths import BROWSERS

ROOT = Path(__file__).parents[2]
# The first verdict waits for imports, and the machine may be busy.
PATIENCE = 90_000


@dataclass(frozen=True)
class Served:
    """A running server: its address, and the folder for its temporary files."""

    address: str
    temporary: Path
    process: "subprocess.Popen[str]"


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serve(tmp_path_factory) as server:
        yield server


@contextmanager
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Start a server, and stop it at the end."""
    temporary = tmp_path_factory.mktemp("temporary")
    environment = {**os.environ, "TMPDIR": str(temporary), "COLUMNS": "200", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "bayes_bias", "explore", "--no-browser", "--embedding", "googlenews-demo"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = re.search(r"http://\S+", process.stdout.readline())
        assert address
        yield Served(address[0], temporary, process)
        if process.poll() is None:
            process.send_signal(signal.SIGINT)


def chromium() -> str:
    """Return the path of Chromium, which is installed from Debian's packages if there is none."""
    if not installed() and shutil.which("apt-get"):
        for command in (["apt-get", "update"], ["apt-get", "install", "--yes", "--no-install-recommends", "chromium"]):
            subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
    return installed() or pytest.skip("there is no Chromium, and apt-get could not install it")


def installed() -> str | None:
    """Return the path of an installed Chromium."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def page(browser: Browser, served: Served) -> Iterator[Page]:
    """The page with the verdict on its example, in a wide window. No script may fail in it."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    page, errors = context.new_page(), []
    page.set_default_timeout(PATIENCE)
    page.on("pageerror", lambda error: errors.append(error))
    page.goto(served.address)
    page.wait_for_selector("main:is([data-state=checking], [data-state=done])")
    yield page
    context.close()
    assert not errors
