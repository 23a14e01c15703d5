"""The graph of a model as a file: text that needs nothing, or a picture where Graphviz is installed."""

from importlib import import_module
from pathlib import Path

import pymc as pm

from bayes_bias.errors import OutputError
from bayes_bias.files import check_output, whole_file

_TEXTS = (".mmd", ".dot")
_PICTURES = (".svg", ".png", ".pdf")


def write_graph(model: pm.Model, path: str | Path, *, overwrite: bool = False) -> Path:
    """Write the graph of a model, by the ending of the file.

    Parameters
    ----------
    model : pymc.Model
    path : str or Path
        ``.mmd`` is Mermaid, which GitHub and Jupyter draw; ``.dot`` is Graphviz's language; ``.svg``, ``.png`` and
        ``.pdf`` are pictures, for which the program ``dot`` must be there.
    overwrite : bool

    Raises
    ------
    OutputError
        Another ending; Graphviz or its Python package is not installed; the file is there already.
    """
    path = check_output(path, overwrite)
    if path.suffix not in (*_TEXTS, *_PICTURES):
        raise OutputError(f"path: '{path}' has no ending of a graph; give one of {', '.join((*_TEXTS, *_PICTURES))}")
    content = pm.model_to_mermaid(model).encode() if path.suffix == ".mmd" else _by_graphviz(model, path)
    with whole_file(path, overwrite) as unfinished:
        unfinished.write_bytes(content)
    return path


def _by_graphviz(model: pm.Model, path: Path) -> bytes:
    instead = f"write Mermaid, which needs nothing: '{path.with_suffix('.mmd')}'"
    try:
        graphviz = import_module("graphviz")
    except ImportError as error:
        raise OutputError(f"path: '{path}' needs the package graphviz; install it with pip, or {instead}") from error
    graph = pm.model_to_graphviz(model)
    if path.suffix == ".dot":
        return str(graph.source).encode()
    try:
        return bytes(graph.pipe(format=path.suffix.removeprefix(".")))
    except graphviz.ExecutableNotFound as error:
        raise OutputError(f"path: '{path}' needs Graphviz, whose program dot is not installed; {instead}") from error
