"""A hash of everything that a fit holds: the same whatever its order on disk, and whoever wrote the file."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import xarray as xr

# The attribute of a file that has it.
CONTENT_HASH = "content_sha256"


def content_hash(tree: xr.DataTree) -> str:
    """SHA-256 of names, dimensions, kinds, values and attributes."""
    known = hashlib.sha256()
    for part in _parts(tree):
        known.update(part)
    return known.hexdigest()


def _parts(tree: xr.DataTree) -> Iterator[bytes]:
    for node in sorted(tree.subtree, key=lambda node: node.path):
        group = node.to_dataset(inherit=False)
        yield from _of_attributes(node.path, group.attrs)
        for name in sorted(group.variables, key=str):
            variable = group.variables[name]
            yield from _of_array([node.path, name, variable.dims], variable.to_numpy())
            yield from _of_attributes(f"{node.path}/{name}", variable.attrs)


def _of_attributes(of: str, attributes: Mapping[Any, Any]) -> Iterator[bytes]:
    for name in sorted(attributes.keys() - {CONTENT_HASH}, key=str):
        # Programs differ in whether they read a list of one as a list.
        yield from _of_array([of, name], np.atleast_1d(attributes[name]))


def _of_array(what: list[Any], values: "np.ndarray[Any, Any]") -> Iterator[bytes]:
    """What it is, then its values: text of all kinds as JSON, numbers as their bytes."""
    if values.dtype.kind in "biufc":
        values = np.ascontiguousarray(values, values.dtype.newbyteorder("<"))
        kind, content = values.dtype.str, _one_nan(values).tobytes()
    else:
        kind, content = "text", json.dumps([str(value) for value in values.ravel().tolist()]).encode()
    yield json.dumps([what, kind, values.shape], default=str).encode()
    yield content


def _one_nan(values: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    """Processors make NaN of several bit patterns, and xarray reads them all as one."""
    missing = np.isnan(values)
    return np.where(missing, values.dtype.type(np.nan), values) if missing.any() else values
