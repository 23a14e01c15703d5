"""Fits on disk: netCDF that ArviZ and xarray open without this package."""

import hashlib
import json
import re
import struct
from collections.abc import Iterator
from io import BytesIO
from itertools import chain
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import xarray as xr

from bayes_bias.arguments import check_path
from bayes_bias.errors import OutputError
from bayes_bias.files import check_output, refuse_pipe_or_address, whole_file
from bayes_bias.fitting.fitted import Fit, Fitted

# A file that claims more than this factor and size is refused as a bomb.
_FACTOR, _LARGE = 20, 1 << 28
# HDF5's global heap, of version 1, with its size; and the number and size of an entry in it.
_HEAP, _ENTRY = re.compile(rb"GCOL\x01\0\0\0(.{8})", re.DOTALL), struct.Struct("<H6xQ")


def save_fit(fit: Fit, path: str | Path, *, overwrite: bool = False) -> Path:
    """Write a fit to a netCDF file, whole or not at all.

    Raises
    ------
    OutputError
        If it is not a fit, if the path is a folder, or cannot be written to, or if it is there already and may not be
        overwritten.
    """
    return save_posterior(Fitted.of(fit).tree, path, overwrite=overwrite)


def save_posterior(tree: xr.DataTree, path: str | Path, *, overwrite: bool = False) -> Path:
    """Write any posterior to a netCDF file, whole or not at all. `save_fit` says what may go wrong."""
    path = check_output(path, overwrite)
    with whole_file(path, overwrite) as unfinished:
        unfinished.write_bytes(netcdf_with_hash(tree))
    return path


def netcdf_with_hash(tree: xr.DataTree) -> bytes:
    """A netCDF file in memory that has a hash of its content: if an address is damaged, HDF5 reads zeros unnoticed.

    The hash is of what the file holds, since netCDF has fewer kinds of text and attributes than Python.
    """
    if CONTENT_HASH in tree.attrs:  # of a file that xarray opened
        tree = tree.copy()
        del tree.attrs[CONTENT_HASH]
    file = BytesIO(netcdf(tree))
    with h5py.File(file, "r+") as content:
        content.attrs[CONTENT_HASH] = content_hash(content)
    return file.getvalue()


def netcdf(tree: xr.DataTree) -> bytes:
    """A netCDF file in memory, since HDF5 cannot close its file on a full disk and ends Python with it.

    Numbers have checksums, so that any reader notices where a file was damaged.
    """
    checksums: dict[str, dict[Any, Any]] = {}
    for node in tree.subtree:
        checksums[node.path] = {}
        for name, values in node.to_dataset(inherit=False).variables.items():
            if values.ndim > 0 and values.size > 0 and values.dtype.kind in "biuf":  # HDF5 has none for others
                checksums[node.path][name] = {"fletcher32": True}
    return bytes(tree.to_netcdf(engine="h5netcdf", encoding=checksums))


def _claimed(path: Path) -> int:
    """Bytes of all arrays. What HDF5 cannot open is found here: h5netcdf would complain once more when Python ends."""
    sizes: list[int] = []
    _check_heaps(path)
    with h5py.File(path, "r") as file:
        file.visititems(lambda _, node: sizes.append(node.nbytes) if isinstance(node, h5py.Dataset) else None)
    return sum(sizes)


def _check_heaps(path: Path) -> None:
    """Raise an error for a damaged heap of texts: HDF5 would read an entry that has no length for ever."""
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
        for heap in _HEAP.finditer(content):
            place, end = heap.end(), heap.start() + int.from_bytes(heap[1], "little")
            while place + _ENTRY.size <= min(end, len(content)):
                number, size = _ENTRY.unpack_from(content, place)
                place += _ENTRY.size + -(-size // 8) * 8 if number else size  # what is free counts its header
                if place > end or not (number or size):
                    raise ValueError(f"a heap of texts is damaged at byte {place:,}")


def load_fit(path: str | Path) -> xr.DataTree:
    """Read a fit that `save_fit` wrote.

    Raises
    ------
    OutputError
        If the file does not exist, is not netCDF, or is damaged, if its values are not those that were written, or if
        it is not a fit of this package, or was made by an earlier version.
    """
    refuse_pipe_or_address(check_path("path", path, OutputError), "path", OutputError)
    if not Path(path).is_file():
        raise OutputError(
            f"File not found: '{path}'. Use `save_fit` (`bayes-bias fit LIST --out FILE.nc`) to save a fit."
        )
    tree = _read(Path(path))
    if "posterior" not in tree.children or "diagnostics" not in tree.attrs:
        raise OutputError(
            f"'{path}' is a netCDF file, but not a fit of bayes_bias. Use `save_fit` (`bayes-bias fit LIST"
            " --out FILE.nc`) to save a fit."
        )
    if "metric" not in tree.attrs:
        raise OutputError(
            f"'{path}' was saved by an earlier version of bayes_bias, without the kind of its values. Fit again."
        )
    return tree


def _read(path: Path) -> xr.DataTree:
    """What a netCDF file holds, without its hash, which would be wrong once the fit is changed."""
    try:
        size, claimed = path.stat().st_size, _claimed(path)
        if claimed > max(_FACTOR * size, _LARGE):
            raise OutputError(
                f"'{path}' has {size:,} bytes but claims {claimed:,} unpacked, although a fit is not"
                " compressed. Copy it again, or fit again."
            )
        tree = xr.load_datatree(path, engine="h5netcdf")
        stated_hash = tree.attrs.pop(CONTENT_HASH, None)  # files of earlier versions and of ArviZ have none
        with h5py.File(path, "r") as file:
            is_changed = stated_hash is not None and stated_hash != content_hash(file)
    except OutputError:
        raise
    except Exception as error:  # a damaged file raises errors of many kinds
        if "unable to lock file" in str(error):
            raise OutputError(
                f"'{path}' cannot be locked for reading, because another program has opened it or its disk"
                " does not support locks. Close it there. If no program has opened it, set"
                " HDF5_USE_FILE_LOCKING=FALSE before Python starts, such as `HDF5_USE_FILE_LOCKING=FALSE"
                f" bayes-bias summarize '{path}'`."
            ) from error
        raise OutputError(
            f"`path` '{path}' is not a netCDF file, or a damaged one ({error}). Name the saved file of a fit."
        ) from error
    if is_changed:
        raise OutputError(
            f"'{path}' does not contain the values that were written, so it was damaged or changed"
            " elsewhere. Copy it again, fit again, or save a changed fit with `bayes_bias.save_fit`."
        )
    return tree


# A hash of everything that a file holds: the same whatever its order on disk, and whoever wrote it.

# The attribute of a file that has it.
CONTENT_HASH = "content_sha256"
# What HDF5 and netCDF note of a file's own order.
_BOOKKEEPING = {
    "CLASS",
    "NAME",
    "DIMENSION_LIST",
    "REFERENCE_LIST",
    "_NCProperties",
    "_Netcdf4Coordinates",
    "_Netcdf4Dimid",
}
# How a dimension begins that is no variable.
_NO_VARIABLE = b"This is a netCDF dimension but not a netCDF variable"


def content_hash(file: h5py.File) -> str:
    """SHA-256 of names, dimensions, kinds, values and attributes."""
    names: list[str] = []
    file.visit(names.append)
    digest = hashlib.sha256()
    for part in chain(_bytes_of_attributes("/", file), *(_bytes_of_node(name, file[name]) for name in sorted(names))):
        digest.update(part)
    return digest.hexdigest()


def _bytes_of_node(name: str, node: h5py.Dataset | h5py.Group) -> Iterator[bytes]:
    """Yield the attributes and the values of a group or array."""
    yield from _bytes_of_attributes(name, node)
    if isinstance(node, h5py.Dataset) and not bytes(node.attrs.get("NAME", b"")).startswith(_NO_VARIABLE):
        values = node.asstr() if h5py.check_string_dtype(node.dtype) else node
        yield from _bytes_of_array([name, [list(dim) for dim in node.dims]], np.asarray(values[()]))


def _bytes_of_attributes(of: str, node: h5py.Dataset | h5py.Group) -> Iterator[bytes]:
    """Yield all attributes that are no bookkeeping."""
    for name in sorted(node.attrs.keys() - {CONTENT_HASH, *_BOOKKEEPING}):
        # Programs differ in whether they read a list of one as a list.
        yield from _bytes_of_array([of, name], np.atleast_1d(node.attrs[name]))


def _bytes_of_array(what: list[Any], values: "np.ndarray[Any, Any]") -> Iterator[bytes]:
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
