"""The server of the page, and who may use it. Starlette and Uvicorn are imported when it starts."""

import os
import re
import secrets
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from hmac import compare_digest
from threading import Timer
from types import FrameType
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, unquote

from bayes_bias.errors import BayesBiasError, for_reader
from bayes_bias.explore.fields import EXAMPLE, Fields, read_upload
from bayes_bias.explore.page import page, script, style_sheet
from bayes_bias.explore.session import Session
from bayes_bias.words.wordlist import load_wordlist

if TYPE_CHECKING:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response


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
    """Return the path without its first part, which must be the secret token, or None if the token is wrong.

    The comparison takes the same time for all wrong tokens, so that nobody can guess the token letter by letter from
    the time of the answer.
    """
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
        """Answer a request as ASGI defines it: `scope` describes the request, and `send` sends a part of the answer.

        A request with the token in its path, from a page of this server, is passed on to the application. Any other
        request is answered by status 403 and a sentence.
        """
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        path = path_within(scope["path"], self.token)
        if path is not None and is_own(headers, self.port):
            await self.app({**scope, "path": path}, receive, partial(_send_with_headers, send))
            return
        await send({"type": "http.response.start", "status": 403, "headers": [(b"content-type", b"text/plain")]})
        await send({"type": "http.response.body", "body": b"Open the address that the terminal shows."})


async def _send_with_headers(send: Any, message: dict[str, Any]) -> None:
    """Send a part of a response. `HEADERS` are added to its first part, in which ASGI sends the headers."""
    if message["type"] == "http.response.start":
        added = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
        message = {**message, "headers": [*message["headers"], *added]}
    await send(message)


# Seconds after Ctrl-C at which the server ends, even if a report is being made.
_PATIENCE = 1.0
# How often the folder of temporary files is deleted then.
_ATTEMPTS = 20
# The largest size of a request, in bytes: far more than any list that a person reads.
MOST_BYTES = 1_000_000
# A command-line option in a message, which the page lacks. Only --embedding is an option of the page's own command.
_OPTION = re.compile(r"--(?!embedding\b)[a-z]")


def application(session: Session) -> "Starlette":
    """Return the application, which `Guard` protects.

    Each function inside answers one kind of request: the page, an uploaded list, parts of the page with results, and
    files to save. Results are computed in threads, so that the server can answer other requests in the meantime.
    """
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.exceptions import HTTPException
    from starlette.responses import HTMLResponse, JSONResponse, Response
    from starlette.routing import Route

    async def start(_: "Request") -> Response:
        fields = Fields.of_list(load_wordlist(EXAMPLE), next(iter(session.embeddings)))
        return HTMLResponse(await run_in_threadpool(page, fields, session.embeddings, MOST_BYTES))

    async def upload(request: "Request") -> Response:
        name = unquote(request.headers.get("x-filename", ""))
        wordlist = await run_in_threadpool(read_upload, name, await _body(request))
        notices = ". ".join(map(for_reader, wordlist.notices))
        return JSONResponse(Fields.of_list(wordlist, "").form | {"notices": notices})

    async def parts(request: "Request") -> Response:
        fields = await _fields(request)
        return JSONResponse(await run_in_threadpool(session.parts, request.path_params["name"], fields))

    async def file(request: "Request") -> Response:
        name, content = await run_in_threadpool(session.file, request.path_params["kind"], await _fields(request))
        headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}"}
        return Response(content, media_type="application/octet-stream", headers=headers)

    routes = [
        Route("/", start),
        Route("/explore.css", lambda _: Response(style_sheet(), media_type="text/css")),
        Route("/explore.js", lambda _: Response(script(), media_type="text/javascript")),
        Route("/list", upload, methods=["POST"]),
        Route("/parts/{name}", parts, methods=["POST"]),
        Route("/files/{kind}", file, methods=["POST"]),
    ]
    handlers: Any = dict.fromkeys((BayesBiasError, HTTPException, Exception), _error_response)
    return Starlette(routes=routes, exception_handlers=handlers)


def _error_response(_: "Request", error: Exception) -> "Response":
    """Return an error as the page shows it: the message of the package, without a traceback.

    The status is that of an HTTP error, 422 for errors of the package (such as a list without words), and 500 for all
    others, which are unexpected.
    """
    from starlette.exceptions import HTTPException
    from starlette.responses import JSONResponse

    if isinstance(error, HTTPException):
        return JSONResponse({"error": error.detail}, error.status_code)
    if isinstance(error, BayesBiasError):
        text = str(error)
        for_report = " The option is for `bayes-bias report` with the saved word list." if _OPTION.search(text) else ""
        return JSONResponse({"error": f"{text}{for_report}"}, 422)
    kind = type(error).__name__
    return JSONResponse({"error": f"Unexpected {kind}: {error}. The terminal shows where it occurred."}, 500)


async def _body(request: "Request") -> bytes:
    """Return the body of a request, or raise an error as soon as more than the largest size has been read."""
    from starlette.exceptions import HTTPException

    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BYTES:
            raise HTTPException(413, f"The page reads at most {MOST_BYTES:,} bytes. Use a shorter list.")
    return bytes(body)


async def _fields(request: "Request") -> Fields:
    """Return the fields in the body of a request."""
    return Fields.of_form(dict(parse_qsl((await _body(request)).decode(errors="replace"))))


def serve(session: Session, port: int, ready: Callable[[str], None], stopped: Callable[[], None]) -> None:
    """Serve the page on this machine until Ctrl-C, and call `ready` with its address, which nobody can guess.

    After Ctrl-C, `stopped` is called. A report that is being made cannot be interrupted, because it runs in a thread,
    so the process then ends without it. All temporary files are in one folder, which is deleted first.

    Raises
    ------
    BayesBiasError
        If the port is in use.
    """
    import uvicorn

    token = secrets.token_urlsafe(24)
    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((HOST, port))
        except (OSError, OverflowError) as error:
            raise BayesBiasError(f"`port` {port} cannot be used ({error}). Use another port, or omit it.") from error
        listening.listen()
        port = listening.getsockname()[1]
        app = Guard(application(session), token, port)
        config = uvicorn.Config(
            app, lifespan="off", ws="none", access_log=False, log_config=None, server_header=False, proxy_headers=False
        )
        with _temporary_files() as folder:
            ready(f"http://{HOST}:{port}/{token}/")
            with suppress(KeyboardInterrupt):  # which Uvicorn raises again after it has closed its connections
                _run(uvicorn.Server(config), listening, lambda: _end(folder, stopped))
    stopped()


@contextmanager
def _temporary_files() -> Iterator[str]:
    """Make a folder for all temporary files of this process and of its workers, and delete it at the end.

    `tempfile.tempdir` is the folder in which Python makes temporary files. Its old value is restored at the end.
    """
    with tempfile.TemporaryDirectory(prefix="bayes_bias-", ignore_cleanup_errors=True) as folder:
        usual_folder = tempfile.tempdir
        tempfile.tempdir = folder
        try:
            yield folder
        finally:
            tempfile.tempdir = usual_folder


def _run(server: "uvicorn.Server", listening: socket.socket, end: Callable[[], None]) -> None:
    """Run a server until Ctrl-C, and call `end` if it has not stopped some time later.

    The server waits for requests that are being answered, which may take minutes. The signal handler of the server is
    therefore replaced by one that also starts a timer at the first Ctrl-C.
    """
    timer = Timer(_PATIENCE, end)
    timer.daemon = True
    stop_server = server.handle_exit

    def handle_exit(number: int, frame: FrameType | None) -> None:
        if not server.should_exit:
            timer.start()
        stop_server(number, frame)

    server.handle_exit = handle_exit
    server.run(sockets=[listening])
    timer.cancel()


def _end(folder: str, stopped: Callable[[], None]) -> None:
    """End the process without waiting for threads, after their temporary files are deleted.

    `stopped` is called first. The folder is deleted several times, because a thread may still write into it.
    """
    stopped()
    sys.stdout.flush()
    for _ in range(_ATTEMPTS):
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)
