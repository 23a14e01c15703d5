"""Save fits as netCDF files, which ArviZ and xarray can open without this package."""

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

# A file whose arrays exceed this factor and this size is rejected as a decompression bomb.
_FACTOR, _LARGE = 20, 1 << 28
# The global heap of HDF5, version 1, with its size; and the number and size of each entry.
_HEAP = re.compile(rb"GCOL\x01\0\0\0(.{8})", re.DOTALL)
_ENTRY = struct.Struct("<H6xQ")


def save_fit(fit: Fit, path: str | Path, *, overwrite: bool = False) -> Path:
    """Write a fit to a netCDF file. The file is either complete or not written.

    Raises
    ------
    OutputError
        If the object is not a fit, if the path is a folder or cannot be written to, or if the file exists and must not
        be overwritten.
    """
    return save_posterior(Fitted.of(fit).tree, path, overwrite=overwrite)


def save_posterior(tree: xr.DataTree, path: str | Path, *, overwrite: bool = False) -> Path:
    """Write any posterior to a netCDF file, either completely or not at all. See `save_fit` for the errors."""
    path = check_output(path, overwrite)
    with whole_file(path, overwrite) as unfinished:
        unfinished.write_bytes(netcdf_with_hash(tree))
    return path


def netcdf_with_hash(tree: xr.DataTree) -> bytes:
    """Return a netCDF file in memory, with a hash of its content.

    Without the hash, damage could be overlooked, because HDF5 silently reads zeros if an address is damaged.

    The hash is computed from the content of the file, because netCDF supports fewer kinds of text and attributes than
    Python.
    """
    if CONTENT_HASH in tree.attrs:  # the hash of a file that was opened by xarray and not by `load_fit`
        tree = tree.copy()
        del tree.attrs[CONTENT_HASH]
    file = BytesIO(netcdf(tree))
    with h5py.File(file, "r+") as content:
        content.attrs[CONTENT_HASH] = content_hash(content)
    return file.getvalue()


def netcdf(tree: xr.DataTree) -> bytes:
    """Return a netCDF file in memory, because HDF5 would crash Python if it could not close the file on a full disk.

    Arrays of numbers have checksums, so that any program can detect damage. HDF5 supports no checksums for other types.
    """
    encoding: dict[str, dict[Any, Any]] = {}
    for node in tree.subtree:
        encoding[node.path] = {}
        for name, values in node.to_dataset(inherit=False).variables.items():
            if values.ndim > 0 and values.size > 0 and values.dtype.kind in "biuf":
                encoding[node.path][name] = {"fletcher32": True}
    return bytes(tree.to_netcdf(engine="h5netcdf", encoding=encoding))


def _unpacked_size(path: Path) -> int:
    """Return the size in bytes of all arrays of a file.

    A file that HDF5 cannot open raises the error here, because h5netcdf would log this error again when Python exits.
    """
    _check_heaps(path)
    names: list[str] = []
    with h5py.File(path, "r") as file:
        file.visit(names.append)
        return sum(file[name].nbytes for name in names if isinstance(file[name], h5py.Dataset))


def _check_heaps(path: Path) -> None:
    """Raise an error if a heap of texts is damaged, because HDF5 would otherwise read an entry without length in an
    endless loop.

    HDF5 stores texts of variable length in heaps. A heap has a header with its size (`_HEAP`), followed by entries,
    each with a header of its own (`_ENTRY`): the number of the entry, and its size. Number 0 is a free block. In an
    intact heap, each entry ends within the heap, and no entry has the number and the size 0.
    """
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
        for heap in _HEAP.finditer(content):
            position = heap.end()
            end = heap.start() + int.from_bytes(heap[1], "little")
            while position + _ENTRY.size <= min(end, len(content)):
                number, size = _ENTRY.unpack_from(content, position)
                # An entry has a header and a multiple of eight bytes. The size of a free block includes its header.
                position += _ENTRY.size + -(-size // 8) * 8 if number else size
                if position > end or not (number or size):
                    raise ValueError(f"a heap of texts is damaged at byte {position:,}")


def load_fit(path: str | Path) -> xr.DataTree:
    """Read a fit from a file written by `save_fit`.

    Raises
    ------
    OutputError
        If the file does not exist, is not a netCDF file, is damaged, or was modified; if it does not contain a fit from
        this package; or if an earlier version of the package wrote it.
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
    """Return the content of a netCDF file. The hash is omitted, because it would be wrong after a change of the fit."""
    try:
        size = path.stat().st_size
        unpacked = _unpacked_size(path)
        if unpacked > max(_FACTOR * size, _LARGE):
            raise OutputError(
                f"'{path}' has {size:,} bytes but claims {unpacked:,} unpacked, although a fit is not"
                " compressed. Copy it again, or fit again."
            )
        tree = xr.load_datatree(path, engine="h5netcdf")
        stated_hash = tree.attrs.pop(CONTENT_HASH, None)  # files from earlier versions and from ArviZ have no hash
        with h5py.File(path, "r") as file:
            is_changed = stated_hash is not None and stated_hash != content_hash(file)
    except OutputError:
        raise
    except Exception as error:  # damaged files raise many kinds of errors
        if "unable to lock file" in str(error):
            raise OutputError(
                f"'{path}' cannot be locked for reading, because another program has opened it or its disk does not"
                " support locks. Close it there. If no program has opened it, set HDF5_USE_FILE_LOCKING=FALSE before"
                f" Python starts, such as `HDF5_USE_FILE_LOCKING=FALSE bayes-bias summarize '{path}'`."
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


# A hash of the content of a file that does not depend on the order on disk or on the program that wrote the file.

# Attribute of the file that contains the hash.
CONTENT_HASH = "content_sha256"
# Bookkeeping attributes that HDF5 and netCDF add, such as the order of creation.
_BOOKKEEPING = {
    "CLASS",
    "NAME",
    "DIMENSION_LIST",
    "REFERENCE_LIST",
    "_NCProperties",
    "_Netcdf4Coordinates",
    "_Netcdf4Dimid",
}
# Beginning of the name of a dimension that is not a variable.
_NO_VARIABLE = b"This is a netCDF dimension but not a netCDF variable"


def content_hash(file: h5py.File) -> str:
    """Return the SHA-256 of a file's content: names, dimensions, types, values, and attributes.

    Groups and arrays are sorted by name, so the hash does not depend on their order on disk. The attributes of the file
    itself, whose name is "/", come first.
    """
    names: list[str] = []
    file.visit(names.append)
    digest = hashlib.sha256()
    for part in chain(_bytes_of_attributes("/", file), *(_bytes_of_node(name, file[name]) for name in sorted(names))):
        digest.update(part)
    return digest.hexdigest()


def _bytes_of_node(name: str, node: h5py.Dataset | h5py.Group) -> Iterator[bytes]:
    """Yield the attributes of a group or array and, for an array, its dimensions and values.

    netCDF stores a dimension without labels as an array without meaning, whose attribute NAME begins with
    `_NO_VARIABLE`. The values of this array are omitted.
    """
    yield from _bytes_of_attributes(name, node)
    if isinstance(node, h5py.Dataset) and not bytes(node.attrs.get("NAME", b"")).startswith(_NO_VARIABLE):
        values = node.asstr() if h5py.check_string_dtype(node.dtype) else node
        dims = [list(dim) for dim in node.dims]
        yield from _bytes_of_array([name, dims], np.asarray(values[()]))


def _bytes_of_attributes(of: str, node: h5py.Dataset | h5py.Group) -> Iterator[bytes]:
    """Yield all attributes except bookkeeping attributes."""
    for name in sorted(node.attrs.keys() - {CONTENT_HASH, *_BOOKKEEPING}):
        yield from _bytes_of_array([of, name], _values_of_attribute(node.attrs[name]))


def _values_of_attribute(value: Any) -> "np.ndarray[Any, Any]":
    """Return an attribute in the same form for all programs.

    Some programs write text as bytes, an empty text or list as an attribute without a value, and a single value as a
    list.
    """
    if isinstance(value, bytes):
        value = value.decode()
    elif isinstance(value, h5py.Empty):
        value = "" if value.dtype.kind == "S" else np.zeros(0, value.dtype)
    return np.atleast_1d(value)


def _bytes_of_array(what: list[Any], values: "np.ndarray[Any, Any]") -> Iterator[bytes]:
    """Yield a description of the array, then its values: text as JSON, and numbers as bytes.

    The bytes of numbers do not depend on the machine: they are little-endian, and all NaN have the same bits.
    """
    if values.dtype.kind in "biufc":
        values = np.ascontiguousarray(values, values.dtype.newbyteorder("<"))
        kind = values.dtype.str
        content = _one_nan(values).tobytes()
    else:
        kind = "text"
        content = json.dumps([str(value) for value in values.ravel().tolist()]).encode()
    yield json.dumps([what, kind, values.shape], default=str).encode()
    yield content


def _one_nan(values: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    """Replace all bit patterns of NaN by one, because processors create several and xarray treats them as equal."""
    missing = np.isnan(values)
    return np.where(missing, values.dtype.type(np.nan), values) if missing.any() else values
