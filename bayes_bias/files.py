"""Locate built-in files, read files with helpful errors, and write files completely or not at all.

`templates`, `tables` and `vectors` are package data, in `bayes_bias/data`. `models` and `wordlists` are top-level
folders of a checkout (and so of an editable install), because users open, copy, and cite them. A wheel also contains
them in `bayes_bias/data`.
"""

import hashlib
import io
import json
import os
import re
import shutil
import struct
import tomllib
import unicodedata
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from bayes_bias.arguments import check_path, check_switch
from bayes_bias.errors import BayesBiasError, OutputError, did_you_mean, optional

if TYPE_CHECKING:
    import pandas as pd

# Text that a spreadsheet would interpret as a formula (https://owasp.org/www-community/attacks/CSV_Injection), with or
# without the quote that prevents this.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")

# The address of a remote file. It may lack the second slash, which pathlib removes.
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")

_PACKAGE = Path(__file__).resolve().parent

# Environment variable with the cache folder, which replaces the default of the platform.
CACHE_VARIABLE = "BAYES_BIAS_CACHE"
UNFINISHED = ".unfinished-"
OVERWRITE = "overwrite=True (--overwrite)"

# Formats of figures, and the default formats. SVG figures take no additional time, because the page contains them. A
# PNG takes as long as a figure of the page. A PDF takes four times as long, because it embeds a subset of its fonts.
FORMATS = ("svg", "pdf", "png")
WRITTEN: tuple[str, ...] = ("svg",)


def shipped(folder: str) -> Traversable:
    """Return a built-in folder, such as "models" or "wordlists".

    If the package is imported from a checkout that has this folder at its top level, this folder is returned, because
    users edit the files there. Otherwise, the folder is in the package data.
    """
    checkout = _PACKAGE.parent
    if (checkout / "pyproject.toml").is_file() and (checkout / folder).is_dir():
        return checkout / folder
    return files("bayes_bias") / "data" / folder


def cache_folder() -> Path:
    """Return the cache folder, from the environment variable or the default of the platform."""
    from platformdirs import user_cache_path  # most commands cache nothing

    folder = os.environ.get(CACHE_VARIABLE)
    return expanded(folder) if folder else user_cache_path("bayes-bias", appauthor=False)


@cache
def sha256_of_code() -> str:
    """Return the hash of the package's code, which differs between versions and between states of a checkout."""
    digest = hashlib.sha256()
    for module in sorted(_PACKAGE.rglob("*.py")):
        digest.update(module.read_bytes())
    return digest.hexdigest()[:16]


def shipped_names(folder: str) -> list[str]:
    """Return the sorted names of the TOML files in a built-in folder, such as `controls/neutral` in a subfolder."""
    return sorted(_toml_names(shipped(folder)), key=_natural)


def copy_shipped(folder: str, name: str, path: Path, overwrite: bool = False) -> None:
    """Copy the TOML file with this name from a built-in folder."""
    with whole_file(path, overwrite) as unfinished:
        unfinished.write_bytes((shipped(folder) / f"{name}.toml").read_bytes())


def table_file(source: str | os.PathLike[str]) -> Path:
    """Return the file of a built-in table if `source` is its name, such as "pairs-demo", or `source` as a path.

    Built-in tables are packed (.csv.gz) or, in some installations, unpacked (.csv).
    """
    if source in shipped_names("tables"):
        packed = Path(str(shipped("tables") / f"{source}.csv.gz"))
        return packed if packed.is_file() else packed.with_suffix("")
    return Path(source)


def given_table(source: str | os.PathLike[str], argument: str, refusal: type[BayesBiasError], remedy: str) -> Path:
    """Return this file, or raise an error if it is not on this machine. The error names the argument and the remedy."""
    path = table_file(source)
    if not path.is_file():
        refuse_pipe_or_address(source, argument, refusal)
        raise refusal(f"File not found: '{path}' (`{argument}`). {remedy}")
    return path


def _toml_names(folder: Traversable, prefix: str = "") -> Iterator[str]:
    """Yield the names of the TOML files in a folder and its subfolders, such as "controls/neutral"."""
    if not folder.is_dir():
        return
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _toml_names(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(".toml"):
            yield prefix + entry.name.removesuffix(".toml")


def _natural(name: str) -> tuple[str, int, str]:
    """Return a sort key that places weat2 before weat10: the name without its final digits, and their number.

    The whole name decides between names with the same number, such as "a1" and "a01".
    """
    stem = name.rstrip("0123456789")
    return stem, int(name[len(stem) :] or 0), name


def sha256_of_file(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, which are not kept in memory."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def expanded(path: str | os.PathLike[str]) -> Path:
    """Return the path with ~ replaced by the home folder. The name of an unknown user is not replaced."""
    return Path(os.path.expanduser(path))


def is_address(source: str | os.PathLike[str]) -> bool:
    """Return True if the source is the address of a remote file."""
    return _ADDRESS.match(os.fspath(source)) is not None


def refuse_pipe_or_address(source: str | os.PathLike[str], argument: str, refusal: type[BayesBiasError]) -> None:
    """Raise an error if the source is a remote address, or a pipe, which can be read only once.

    `argument` is the name of the argument in the message, and `refusal` is the class of the error. If the source does
    not exist, no error is raised here.
    """
    text = os.fspath(source)
    if address := _ADDRESS.match(text):
        command = f": `curl -LO '{text}'`" if address[1] in ("http", "https", "ftp") else ""
        raise refusal(f"{argument}: '{text}' is an address, but a local file is required. Download it first{command}.")
    path = expanded(text)
    is_device = os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)
    if text == "-" or is_device:
        raise refusal(
            f"`{argument}` '{text}' is a pipe or a device, but the file is read more than once. Write it to"
            " a file first, such as `COMMAND > FILE`."
        )


# Files of other programs by their first bytes, and zip files by a member, each with a way on.
_SAVE_AS_CSV = "Save its table as CSV, and pass that file"
_PARQUET = b"PAR1"
_BINARY = {
    b"\xd0\xcf\x11\xe0": "a file of Excel 97 (.xls) or Word 97. Save it as .xlsx or CSV, and pass that file",
    b"%PDF-": f"a PDF document. {_SAVE_AS_CSV}",
    _PARQUET: "a Parquet file. Rename it: `mv FILE FILE.parquet`",
    b"\x1f\x8b": "packed by gzip. Unpack it: `gunzip < FILE > unpackedSUFFIX`",
}
_ZIPPED = {
    "xl/workbook.xml": "an Excel workbook. Save it as CSV, and pass that file",
    "word/document.xml": f"a Word document (.docx). {_SAVE_AS_CSV}",
    "Index/Document.iwa": "a spreadsheet of Numbers. Export it as CSV (File, Export To, CSV), and pass that file",
    "content.xml": "an OpenDocument file (.ods or .odt). Convert it: `soffice --headless --convert-to csv FILE`",
    "header.json": "a log of inspect_ai (.eval). Convert it: `inspect log convert --to json --output-dir logs FILE`",
}


def binary_kind(content: bytes, file: Traversable) -> str:
    """Describe the kind of a file by its content, and how to use it, if it is a known kind that is not text.

    `_BINARY` contains descriptions by the first bytes of files. In each, FILE is replaced by the path, and SUFFIX by
    the extension. Zip files, which include documents of office programs, are described by their members. For all other
    content, "" is returned.
    """
    path = quote(str(file))
    if content.startswith(_PARQUET) and file.name.lower().endswith(".parquet"):  # where Parquet is not read
        return f"a Parquet file. {_SAVE_AS_CSV}"
    for first_bytes, kind in _BINARY.items():
        if content.startswith(first_bytes):
            return kind.replace("FILE", path).replace("SUFFIX", quote(Path(file.name.removesuffix(".gz")).suffix))
    if not content.startswith(b"PK\x03\x04"):
        return ""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.namelist()
    except (zipfile.BadZipFile, ValueError, OSError, struct.error, NotImplementedError):
        return "a damaged zip file. Copy or download it again"
    return zipped_kind(members, file)


def zipped_kind(members: Sequence[str], file: Traversable) -> str:
    """Describe a zip file by the names of its members, and how to use it.

    `_ZIPPED` contains descriptions of documents by a member that each of them has, in which FILE is replaced by the
    path. All other zip files are described by their first five members.
    """
    path = quote(str(file))
    for member, kind in _ZIPPED.items():
        if member in members:
            return kind.replace("FILE", path)
    shown = ", ".join(members[:5])
    more = f" and {len(members) - 5:,} more" if len(members) > 5 else ""
    return f"a zip file of {shown}{more}. Unpack it first (`python -m zipfile -e {path} .`), and pass a file inside it"


def read_toml(file: Traversable, subject: str, refusal: type[BayesBiasError], hint: str = "") -> dict[str, Any]:
    """Read a TOML file. `subject` begins the error message, and `hint` ends it. `refusal` is the class of the error."""
    try:
        return tomllib.loads(read_text(file, subject, refusal))
    except refusal as error:
        raise refusal(f"{error}{hint}") from error
    except (ValueError, RecursionError) as error:  # also for whole numbers with more than 4,300 digits
        raise refusal(f"{subject} not valid TOML: {error}. Correct the file.{hint}") from error


def read_json(file: Traversable, subject: str, refusal: type[BayesBiasError]) -> Any:
    """Read the content of a JSON file. `subject` begins the error message, and `refusal` is the class of the error."""
    content = _content_of_text(file, subject, refusal)
    try:
        return parse_json(content)
    except (ValueError, RecursionError) as error:
        raise refusal(f"{subject} not valid JSON: {error}. Correct the file.") from error


def parse_json(text: str | bytes) -> Any:
    """Parse a JSON text.

    Raises
    ------
    ValueError
        If the text is not valid JSON, or if an object contains a key twice. Python would silently keep the last value.
    """
    return json.loads(text, object_pairs_hook=unrepeated)


def unrepeated(pairs: Iterable[tuple[Any, Any]]) -> dict[Any, Any]:
    """Return an object of JSON or YAML with these keys and values as a dict. A key may be repeated with the same value.

    Raises
    ------
    ValueError
        If a key has two values.
    """
    values: dict[Any, Any] = {}
    for key, value in pairs:
        if key in values and values[key] != value:
            raise ValueError(f"an object has the key '{str(key)[:40]}' twice, with different values. Keep one of them")
        values[key] = value
    return values


def read_parquet[Content](
    file: Traversable | bytes, label: str, refusal: type[BayesBiasError], convert: Callable[[Any], Content]
) -> Content:
    """Read a Parquet file, or its content, as an Arrow table, and return the table after the function `convert`.

    An error of reading or converting is raised as an error of the class `refusal`, whose message begins with `label`.
    Only the current thread is used, because other threads would abort the process if they were still running when
    Python exits, or if memory ran out.
    """
    with optional(f" to read {label}", refusal=refusal):
        from pyarrow import parquet  # importing this takes a tenth of a second and is only needed for Parquet files
    try:
        content = file if isinstance(file, bytes) else file.read_bytes()
        table = parquet.ParquetFile(io.BytesIO(content), pre_buffer=False).read(use_threads=False)
        table.validate(full=True)  # otherwise, invalid text would fail only when a cell is first used
        return convert(table)
    except Exception as error:  # Arrow raises many kinds of errors
        raise refusal(f"{label} is a damaged Parquet file ({error}). Create it again.") from error


def parquet_frame(file: Traversable | bytes, label: str, refusal: type[BayesBiasError]) -> "pd.DataFrame":
    """Read a Parquet file, or its content, as a frame."""
    return read_parquet(file, label, refusal, lambda table: table.to_pandas(use_threads=False))


def read_text(file: Traversable, subject: str, refusal: type[BayesBiasError]) -> str:
    """Return the text of a file, without a byte-order mark. `subject` begins the error message."""
    content = _content_of_text(file, subject, refusal)
    try:
        return io.TextIOWrapper(io.BytesIO(content), "utf-8-sig").read()
    except UnicodeDecodeError as error:
        raise refusal(f"{subject} not UTF-8 text ({error.reason} at byte {error.start}). Save it as UTF-8.") from error


def _content_of_text(file: Traversable, subject: str, refusal: type[BayesBiasError]) -> bytes:
    """Return the content of a file, or raise an error if it cannot be read or is of a known kind that is not text."""
    try:
        content = file.read_bytes()
    except (OSError, ValueError) as error:  # a ValueError for paths that no system accepts
        reason = getattr(error, "strerror", error)
        raise refusal(f"{subject} not readable: {reason}. Check its path and permissions.") from error
    if kind := binary_kind(content, file):
        raise refusal(f"{subject} {kind}.")
    return content


def check_keys(content: Mapping[str, Any], keys: Iterable[str], where: str, refusal: type[BayesBiasError]) -> None:
    """Raise an error for unknown keys, because a misspelt key would otherwise be ignored silently.

    `keys` are the valid keys, `where` begins the message, and `refusal` is the class of the error.
    """
    valid = tuple(keys)
    for key in content:
        if key not in valid:
            raise refusal(f"{where} contains the unknown key '{key}'. {did_you_mean(key, valid)}")


def check_home(folder: Path, argument: str) -> None:
    """Raise an error if the path cannot become a folder, before any work is done."""
    check_name(folder, argument)
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"`{argument}` '{folder}' is a file. Name a folder, which is created if it does not exist.")


def check_output(path: str | Path, overwrite: bool = False, argument: str = "path") -> Path:
    """Return a path to which a file can be written, before any work is done.

    Raise an error if the file exists, unless `overwrite` is True.
    """
    path = check_path(argument, path, OutputError)
    check_switch("overwrite", overwrite)
    check_name(path, argument)
    if path.is_dir():
        raise OutputError(f"`{argument}` '{path}' is a folder. Name a file in it.")
    if path.exists() and not path.is_file():
        raise OutputError(f"`{argument}` '{path}' is a device, not a file. Name a file.")
    if not path.parent.is_dir():
        raise OutputError(f"`{argument}` '{path}' is in a folder that does not exist. Create the folder first.")
    if not os.access(path.parent, os.W_OK):
        raise OutputError(f"`{argument}` '{path}' is in a folder that cannot be written to. Choose another folder.")
    if path.exists() and not overwrite:
        raise OutputError(
            f"`{argument}` '{path}' already exists. Choose another name, or replace the file: {OVERWRITE}."
        )
    return path


def check_name(path: Path, argument: str = "path") -> None:
    """Raise an error if no file or folder can have this name, for example because it is too long.

    The file need not exist. `argument` is the name of the argument in the message. A shell does not replace "~" in
    --out=~/report, which would create a folder with this name.
    """
    if path.parts[:1] == ("~",):
        raise OutputError(f"`{argument}` '{path}' begins with '~'. Use '{os.path.expanduser(path)}' instead.")
    try:
        os.stat(path)
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise OutputError(
            f"`{argument}` '{str(path)[:60]}' is not the name of a file or folder ({why}). Use another name."
        ) from error


def check_formats(formats: Sequence[str]) -> None:
    """Raise an error for unsupported figure formats, before anything is computed."""
    if isinstance(formats, str):
        raise OutputError(f"`figures` must be a list of formats, such as ('png', 'pdf'), but is '{formats}'.")
    for name in formats:
        if name not in FORMATS:
            raise OutputError(
                f"`figures` contains '{name}', which is not a format of figures. {did_you_mean(name, FORMATS)}"
            )


@contextmanager
def whole_file(path: Path, overwrite: bool = False) -> Iterator[Path]:
    """Yield a temporary path at which the caller writes a file, and then give the file its final name.

    A reader therefore never sees a part of the file. After an error, the file is removed. Before the file is renamed,
    it is flushed to the disk, so that it is complete even after a loss of power.
    """
    unfinished = unfinished_name(path.parent, path)
    try:
        yield unfinished
        with unfinished.open("rb") as stream:
            os.fsync(stream.fileno())  # some disks report errors only now
        unfinished.replace(check_output(path, overwrite))  # another program may have created the file first
    except OSError as error:
        raise OutputError(f"Cannot write to '{path}': {error.strerror or error}. Choose another path.") from error
    finally:
        unfinished.unlink(missing_ok=True)


def write_text(text: str, path: Path, overwrite: bool = False) -> None:
    """Write a text to a file. If writing fails, no partial file is left."""
    with whole_file(path, overwrite) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def unfinished_name(home: Path, path: Path) -> Path:
    """Return a temporary name in the folder `home`, under which `path` is written until it is complete.

    The name consists of a hash of the path, a random part, and the number of this process. By the hash and the number,
    temporary files that killed runs left for the same path are recognised, and are removed.
    """
    prefix = f"{UNFINISHED}{hashlib.sha256(str(path.absolute()).encode()).hexdigest()[:12]}-"
    for remnant in home.glob(f"{prefix}*"):
        if _is_being_written(remnant):
            continue
        if remnant.is_dir():
            shutil.rmtree(remnant, ignore_errors=True)
        else:
            remnant.unlink(missing_ok=True)
    return home / f"{prefix}{uuid4().hex}-{os.getpid()}{path.suffix}"


def _is_being_written(unfinished: Path) -> bool:
    """Return True if another run is still writing this temporary file.

    The name of the file ends with the number of the process that created it (see `unfinished_name`). Signal 0 is not
    sent, and only tests whether the process exists.
    """
    process = unfinished.stem.rpartition("-")[2]
    if not process.isdigit() or int(process) == os.getpid():
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except OSError:  # the process belongs to another user
        return True
    return True


def file_names(names: Sequence[str]) -> dict[str, str]:
    """Return a file name for each list: lower-case letters, digits, `-` and `_`, and unique on every file system.

    If several lists would get the same file name, such as "a-b", the second one gets "a-b-2", the third "a-b-3". The
    first of the candidates that no earlier list has got is used, and there are more candidates than lists.
    """
    file_name_of: dict[str, str] = {}
    for name in names:
        plain = slug(name)
        candidates = [plain, *(f"{plain}-{number}" for number in range(2, len(names) + 2))]
        file_name_of[name] = next(unused for unused in candidates if unused not in file_name_of.values())
    return file_name_of


def slug(name: str) -> str:
    """Return the name with only characters that every file system supports: a to z, digits, `-` and `_`.

    Letters lose their accents, and other characters are replaced by hyphens. The result has at most 60 characters.
    """
    ascii_only = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9_]+", "-", ascii_only).strip("-")[:60] or "list"


def csv_text(frame: "pd.DataFrame", *, index: bool = True) -> str:
    """Return a frame as CSV, in full precision.

    Text that begins with =, +, -, @, a tab, or a carriage return gets a single quote in front.

    Examples
    --------
    >>> import pandas as pd
    >>> csv_text(pd.DataFrame({"word": ["=1+1", "rose"], "value": [-0.5, 1.0]}), index=False).splitlines()
    ['word,value', "'=1+1,-0.5", 'rose,1.0']
    """
    flat = frame.reset_index() if index else frame
    # The writer quotes cells that contain a line ending. With this ending, a single carriage return is also quoted.
    text = flat.rename(columns=_quoted).map(_quoted).to_csv(index=False, lineterminator="\r\n")
    return str(text).replace("\r\n", "\n")


def _quoted(value: Any) -> Any:
    """Return a text that a spreadsheet would read as a formula with a quote in front, and other values unchanged."""
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


def unquoted(value: Any) -> Any:
    """Return the original content of a cell written by `csv_text`."""
    is_quoted = isinstance(value, str) and value.startswith("'") and _FORMULA.match(value)
    return value[1:] if is_quoted else value
