"""The command `explore`."""

import logging
import webbrowser
from typing import Annotated

import typer

from bayes_bias.cli.console import say
from bayes_bias.cli.main import app
from bayes_bias.errors import optional


@app.command()
def explore(
    embedding: Annotated[
        list[str] | None,
        typer.Option(
            "--embedding",
            "-e",
            help="Name or file of an embedding that the page offers. Can be repeated. By default, all installed ones.",
        ),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the page. 0 chooses a free one.")] = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address without opening the browser.")
    ] = False,
) -> None:
    """Type words in the browser, and see the verdict of a report while you type.

    Example: bayes-bias explore --embedding vectors.txt
    """
    with optional(" for the page"):
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    from bayes_bias.explore.server import serve
    from bayes_bias.explore.session import Session, open_vectors

    def ready(address: str) -> None:
        """Print the address of the page, and open the browser."""
        say(f"The page is at {address}\nIt is for this machine alone. Press Ctrl-C to stop.")
        if not no_browser:
            webbrowser.open(address)

    logging.getLogger("bayes_bias").setLevel(logging.ERROR)  # notices are on the page
    serve(Session(open_vectors(embedding)), port, ready, lambda: say("Stopped."))
