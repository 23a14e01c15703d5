"""Requests that no browser with the address makes, and the end of the server."""

import http.client
import signal
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest

from bayes_bias import load_wordlist
from bayes_bias.explore.fields import Fields
from tests.explore_browser.conftest import Served, serve

FORM = Fields.of_list(load_wordlist("weat6"), "googlenews-demo").form


def ask(
    served: Served, method: str, path: str, body: Any = None, headers: Mapping[str, str] = {}
) -> tuple[int, bytes, dict[str, str]]:
    """Send a request to a path without the token, and return status, body, and headers of the answer."""
    with closing(http.client.HTTPConnection("127.0.0.1", urlsplit(served.address).port, timeout=60)) as connection:
        connection.request(method, path, body, dict(headers))
        with connection.getresponse() as answer:
            return answer.status, answer.read(), dict(answer.getheaders())


def path_of(served: Served, rest: str = "") -> str:
    return urlsplit(served.address).path + rest


def test_requests_without_token_are_answered_403(served: Served):
    token = path_of(served)
    other_end = "y" if token.endswith("x/") else "x"
    other_token = f"{token[:-2]}{other_end}/"
    for path in ("/", "/explore.js", token[:-1], f"{token[:-2]}/", f"/x{token}", f"{other_token}parts/verdict"):
        for method in ("GET", "POST"):
            assert ask(served, method, path)[0] == 403


@pytest.mark.parametrize("headers", [{"Host": "evil.com"}, {"Origin": "http://evil.com"}, {"Origin": "null"}])
def test_requests_of_other_sites_are_answered_403(served: Served, headers: dict[str, str]):
    assert ask(served, "GET", path_of(served), headers=headers)[0] == 403
    assert ask(served, "POST", path_of(served, "parts/verdict"), urlencode(FORM), headers)[0] == 403


def test_websocket_is_not_opened(served: Served):
    headers = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}
    assert ask(served, "GET", path_of(served), headers={**headers, "Sec-WebSocket-Key": "eA=="})[0] != 101


def test_address_has_new_token_and_only_this_machine(served: Served):
    parts = urlsplit(served.address)
    assert parts.hostname == "127.0.0.1"
    assert len(parts.path.strip("/")) >= 32


def test_page_forbids_other_sources_and_frames(served: Served):
    status, _, headers = ask(served, "GET", path_of(served))
    assert status == 200
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["cache-control"] == "no-store"


def test_large_request_is_refused_before_it_is_read(served: Served):
    started = time.monotonic()
    try:
        status, body, _ = ask(served, "POST", path_of(served, "list"), bytes(100_000_000), {"X-Filename": "a.csv"})
    except (BrokenPipeError, ConnectionResetError):  # the server answered while more was sent
        status, body = 413, b"1,000,000"
    assert status == 413
    assert b"1,000,000" in body
    assert time.monotonic() - started < 20


def test_typed_path_is_no_embedding(served: Served):
    for name in ("/etc/passwd", "../v.npz", ""):
        form = urlencode(FORM | {"embedding": name})
        status, body, _ = ask(served, "POST", path_of(served, "parts/verdict"), form)
        assert status == 422
        assert b"The only choice is googlenews-demo" in body


def test_paths_of_files_are_not_found(served: Served):
    for path in ("../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd", "templates/page.html", "vectors.py"):
        assert ask(served, "GET", path_of(served, path))[0] in (403, 404)


def test_malformed_requests_are_answered(served: Served):
    assert ask(served, "POST", path_of(served, "parts/verdict"), b"\xff\xfe%%%&&=")[0] == 422
    assert ask(served, "GET", path_of(served, "parts/verdict"))[0] == 405
    assert ask(served, "GET", path_of(served))[0] == 200


def test_ctrl_c_ends_server_within_two_seconds_while_a_report_is_made(tmp_path_factory: pytest.TempPathFactory):
    with serve(tmp_path_factory) as served, ThreadPoolExecutor() as pool:
        answer = pool.submit(ask, served, "POST", path_of(served, "files/report"), urlencode(FORM))
        time.sleep(2)  # a report takes five seconds on a fast machine
        assert not answer.done()
        pressed = time.monotonic()
        served.process.send_signal(signal.SIGINT)
        out, _ = served.process.communicate(timeout=30)
        assert time.monotonic() - pressed < 2
        with pytest.raises(OSError, match="closed"):
            answer.result()
        assert served.process.returncode == 0
        assert "Stopped." in out
        assert not list(served.temporary.iterdir())


def test_ctrl_c_ends_server_and_leaves_no_files(served: Served):
    (folder,) = served.temporary.iterdir()
    assert not list(folder.iterdir())
    served.process.send_signal(signal.SIGINT)
    out, _ = served.process.communicate(timeout=30)
    assert served.process.returncode == 0
    assert "Stopped." in out
    assert "Traceback" not in out
    assert not list(served.temporary.iterdir())
