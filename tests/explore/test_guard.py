"""Only the browser that has the address may use the page."""

import asyncio
from typing import Any

import pytest

from bayes_bias.explore.server import Guard, is_own, path_within

TOKEN = "a-b_c"
OWN = {"host": "127.0.0.1:8000"}


@pytest.mark.parametrize(
    ("path", "within"),
    [
        ("/a-b_c/", "/"),
        ("/a-b_c/parts/verdict", "/parts/verdict"),
        ("/a-b_c", None),
        ("/", None),
        ("/a-b_d/", None),
        ("//a-b_c/", None),
        ("/é/", None),
        ("", None),
    ],
)
def test_path_within_requires_token(path, within):
    assert path_within(path, TOKEN) == within


@pytest.mark.parametrize(
    ("headers", "own"),
    [
        (OWN, True),
        ({"host": "localhost:8000"}, True),
        ({"host": "localhost:8000", "origin": "http://localhost:8000"}, True),
        ({}, False),
        ({"host": "127.0.0.1"}, False),
        ({"host": "127.0.0.1:8001"}, False),
        ({"host": "evil.com:8000"}, False),
        ({**OWN, "origin": "http://evil.com"}, False),
        ({**OWN, "origin": "null"}, False),
        ({**OWN, "origin": "https://127.0.0.1:8000"}, False),
    ],
)
def test_is_own_rejects_other_hosts_and_origins(headers, own):
    assert is_own(headers, 8000) is own


async def _inner(scope: dict[str, Any], receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": scope["path"].encode()})


def asked(path: str, **headers: str) -> tuple[dict[str, Any], bytes]:
    """Return the start and the body of a response."""
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    encoded = [(name.encode(), value.encode()) for name, value in {**OWN, **headers}.items()]
    asyncio.run(Guard(_inner, TOKEN, 8000)({"type": "http", "path": path, "headers": encoded}, None, send))
    return sent[0], sent[1]["body"]


def test_guard_forwards_path_without_token_and_adds_headers():
    start, body = asked("/a-b_c/list")
    assert (start["status"], body) == (200, b"/list")
    headers = dict(start["headers"])
    assert b"default-src 'none'" in headers[b"content-security-policy"]
    assert headers[b"referrer-policy"] == b"no-referrer"


@pytest.mark.parametrize(("path", "headers"), [("/", {}), ("/a-b_c/", {"host": "evil.com"})])
def test_guard_answers_403_otherwise(path, headers):
    start, body = asked(path, **headers)
    assert start["status"] == 403
    assert b"address" in body
