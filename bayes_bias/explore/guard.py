"""Who may use the page: only the browser that was given its address, which contains a random token."""

from collections.abc import Mapping
from functools import partial
from hmac import compare_digest
from typing import Any

HOST = "127.0.0.1"
# A page can load and connect to nothing but this server, and other pages cannot embed it.
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:;"
    " connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


def path_within(path: str, token: str) -> str | None:
    """Return the part of a path after the token, or None if the token is wrong. The comparison takes constant time."""
    first, slash, rest = path.removeprefix("/").partition("/")
    return f"/{rest}" if compare_digest(first.encode(), token.encode()) and slash else None


def is_own(headers: Mapping[str, str], port: int) -> bool:
    """Return True if a request names this server as its host, and comes from one of its pages if it states an origin.

    A page of another site can make a browser send requests here. Its own name may even point to this machine (DNS
    rebinding), but the browser then states that name as the host.
    """
    hosts = {f"{HOST}:{port}", f"localhost:{port}"}
    origin = headers.get("origin")
    return headers.get("host", "") in hosts and (origin is None or origin in {f"http://{host}" for host in hosts})


class Guard:
    """An ASGI application that forwards permitted requests, without the token in their path, and answers others 403."""

    def __init__(self, app: Any, token: str, port: int) -> None:
        self.app, self.token, self.port = app, token, port

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Answer a request. There are no websockets."""
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        path = path_within(scope["path"], self.token)
        if path is not None and is_own(headers, self.port):
            await self.app({**scope, "path": path}, receive, partial(_send_with_headers, send))
            return
        await send({"type": "http.response.start", "status": 403, "headers": [(b"content-type", b"text/plain")]})
        await send({"type": "http.response.body", "body": b"Open the address that the terminal shows."})


async def _send_with_headers(send: Any, message: dict[str, Any]) -> None:
    """Add `HEADERS` to the beginning of each response."""
    if message["type"] == "http.response.start":
        added = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
        message = {**message, "headers": [*message["headers"], *added]}
    await send(message)
