"""Files: where the built-in ones lie, reading with a remedy, and writing whole or not at all.

`templates`, `tables` and `vectors` are package data, in `bayes_bias/data`. `models` and `wordlists` are
top-level folders of a checkout (and so of an editable install), because users open, copy and cite them; a wheel
carries them in `bayes_bias/data`, too.
"""

import hashlib
import io
import json
import os
import re
import shutil
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from bayes_bias.arguments import check_path, check_switch
from bayes_bias.errors import BayesBiasError, OutputError, did_you_mean

if TYPE_CHECKING:
    import pandas as pd

# Text that a spreadsheet would read as a formula (https://owasp.org/www-community/attacks/CSV_Injection), with or
# without the quote that prevents it.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")

# The address of a file elsewhere, also with the slash that pathlib takes away.
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")

_PACKAGE = Path(__file__).resolve().parent

# Names another folder for what is kept between runs than the platform's cache.
CACHE_VARIABLE = "BAYES_BIAS_CACHE"
UNFINISHED = ".unfinished-"
OVERWRITE = "overwrite=True (--overwrite)"

# Formats of figures, and those that are written by default: the page contains its figures as SVG, so that these files
# cost nothing. A PNG takes as long as a page's figure, and a PDF, which holds a part of each of its fonts, four times.
FORMATS = ("svg", "pdf", "png")
WRITTEN: tuple[str, ...] = ("svg",)


def shipped(folder: str) -> Traversable:
    """A built-in folder: package data, or the top-level folder of the checkout that the package is imported from."""
    checkout = _PACKAGE.parent
    if (checkout / "pyproject.toml").is_file() and (checkout / folder).is_dir():
        return checkout / folder
    return files("bayes_bias") / "data" / folder


def cache_folder() -> Path:
    """Return the folder of what is kept between runs: that of the environment's variable, or the platform's cache."""
    from platformdirs import user_cache_path  # most commands keep nothing

    folder = os.environ.get(CACHE_VARIABLE)
    return expanded(folder) if folder else user_cache_path("bayes-bias", appauthor=False)


def shipped_names(folder: str) -> list[str]:
    """Names of the TOML files in a built-in folder, sorted; subfolders appear as `controls/neutral`."""
    return sorted(_toml_names(shipped(folder)), key=_natural)


def copy_shipped(folder: str, name: str, path: Path, overwrite: bool = False) -> None:
    """Copy the TOML file of this name from a built-in folder."""
    with whole_file(path, overwrite) as unfinished:
        unfinished.write_bytes((shipped(folder) / f"{name}.toml").read_bytes())


def table_file(source: str | os.PathLike[str]) -> Path:
    """The file of a built-in table that is named, or of the path that is given."""
    if source in shipped_names("tables"):
        packed = Path(str(shipped("tables") / f"{source}.csv.gz"))
        return packed if packed.is_file() else packed.with_suffix("")
    return Path(source)


def given_table(source: str | os.PathLike[str], argument: str, refusal: type[BayesBiasError], remedy: str) -> Path:
    """The same file, refused if it is none on this machine. The error names the argument and the remedy."""
    path = table_file(source)
    if not path.is_file():
        refuse_pipe_or_address(source, argument, refusal)
        raise refusal(f"File not found: '{path}' (`{argument}`). {remedy}")
    return path


def _toml_names(folder: Traversable, prefix: str = "") -> Iterator[str]:
    if not folder.is_dir():
        return
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _toml_names(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(".toml"):
            yield prefix + entry.name.removesuffix(".toml")


def _natural(name: str) -> tuple[str, int, str]:
    """Sort key that puts weat2 before weat10."""
    stem = name.rstrip("0123456789")
    return stem, int(name[len(stem) :] or 0), name


def expanded(path: str | os.PathLike[str]) -> Path:
    """The path with ~ as the home folder. A user whom nobody knows stays a name, for which pathlib has an error."""
    return Path(os.path.expanduser(path))


def is_address(source: str | os.PathLike[str]) -> bool:
    """Return True if this is the address of something elsewhere."""
    return _ADDRESS.match(os.fspath(source)) is not None


def refuse_pipe_or_address(source: str | os.PathLike[str], argument: str, refusal: type[BayesBiasError]) -> None:
    """Raise an error for what is no file on this machine: the address of one, or a pipe, which can be read once."""
    text = os.fspath(source)
    if address := _ADDRESS.match(text):
        fetched = f": `curl -LO '{text}'`" if address[1] in ("http", "https", "ftp") else ""
        raise refusal(f"{argument}: '{text}' is an address, but a local file is required. Download it first{fetched}.")
    path = expanded(text)
    if text == "-" or (os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)):
        raise refusal(
            f"`{argument}` '{text}' is a pipe or a device, but the file is read more than once. Write it to"
            " a file first, such as `COMMAND > FILE`."
        )


def read_toml(file: Traversable, subject: str, refusal: type[BayesBiasError], hint: str = "") -> dict[str, Any]:
    """Read a TOML file. `subject` begins the error message."""
    try:
        return tomllib.loads(read_text(file, subject, refusal))
    except refusal as error:
        raise refusal(f"{error}{hint}") from error
    except (ValueError, RecursionError) as error:  # also of whole numbers with more than 4,300 digits
        raise refusal(f"{subject} not valid TOML: {error}. Correct the file.{hint}") from error


def read_json(file: Traversable, subject: str, refusal: type[BayesBiasError]) -> Any:
    """What a JSON file holds. `subject` begins the line that says why it holds nothing."""
    try:
        return parse_json(file.read_bytes())
    except OSError as error:
        raise refusal(f"{subject} not readable: {error.strerror}. Check its path and permissions.") from error
    except (ValueError, RecursionError) as error:
        raise refusal(f"{subject} not valid JSON: {error}. Correct the file.") from error


def parse_json(text: str | bytes) -> Any:
    """What a JSON text holds.

    Raises
    ------
    ValueError
        If it is not valid JSON, or an object has a key twice, of which Python would keep the last value.
    """
    return json.loads(text, object_pairs_hook=_unrepeated)


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in pairs:
        if key in values and values[key] != value:
            raise ValueError(f"an object has the key '{key[:40]}' twice, with different values. Keep one of them")
        values[key] = value
    return values


def read_parquet(file: Traversable | bytes) -> Any:
    """A Parquet file, or its content, as a table of Arrow; read in this thread alone.

    Threads that still run when Python ends, or that memory is too short for, abort the process.
    """
    from pyarrow import parquet  # a tenth of a second of imports, for such files alone

    content = file if isinstance(file, bytes) else file.read_bytes()
    table = parquet.ParquetFile(io.BytesIO(content), pre_buffer=False).read(use_threads=False)
    table.validate(full=True)  # or bytes that are not text would fail where a cell is first used
    return table


def read_text(file: Traversable, subject: str, refusal: type[BayesBiasError], encoding: str = "utf-8") -> str:
    """The text of a file. `subject` begins the line that says why it has none."""
    try:
        return file.read_text(encoding=encoding)
    except UnicodeDecodeError as error:
        raise refusal(f"{subject} not UTF-8 text ({error.reason} at byte {error.start}). Save it as UTF-8.") from error
    except OSError as error:
        raise refusal(f"{subject} not readable: {error.strerror}. Check its path and permissions.") from error


def check_keys(content: Mapping[str, Any], keys: Iterable[str], where: str, refusal: type[BayesBiasError]) -> None:
    """Raise an error for keys that mean nothing: a misspelt key would otherwise be ignored without a word."""
    valid = tuple(keys)
    for key in content:
        if key not in valid:
            raise refusal(f"{where} contains the unknown key '{key}'. {did_you_mean(key, valid)}")


def check_home(folder: Path, argument: str) -> None:
    """Raise an error for what cannot become a folder, before anything is done for it."""
    check_name(folder, argument)
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"`{argument}` '{folder}' is a file. Name a folder, which is created if it does not exist.")


def check_output(path: str | Path, overwrite: bool = False, argument: str = "path") -> Path:
    """A path that a file can be written to, before any work is done for it. What is there is kept unless asked."""
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
    """Raise an error for a name that no file or folder can have there."""
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
    """Raise an error for formats that figures are not written in, before anything is computed for them."""
    if isinstance(formats, str):
        raise OutputError(f"`figures` must be a list of formats, such as ('png', 'pdf'), but is '{formats}'.")
    for name in formats:
        if name not in FORMATS:
            raise OutputError(
                f"`figures` contains '{name}', which is not a format of figures. {did_you_mean(name, FORMATS)}"
            )


@contextmanager
def whole_file(path: Path, overwrite: bool = False) -> Iterator[Path]:
    """Where to write meanwhile: the file takes its name when it is complete, and leaves nothing when it fails."""
    unfinished = unfinished_name(path.parent, path)
    try:
        yield unfinished
        _reach_the_disk(unfinished)
        unfinished.replace(check_output(path, overwrite))  # another program may have been faster
    except OSError as error:
        raise OutputError(f"Cannot write to '{path}': {error.strerror or error}. Choose another path.") from error
    finally:
        unfinished.unlink(missing_ok=True)


def _reach_the_disk(file: Path) -> None:
    """Some disks say only now that they are full or broken, and the name must not be there before the content."""
    with file.open("rb") as stream:
        os.fsync(stream.fileno())


def unfinished_name(home: Path, path: Path) -> Path:
    """A name in this folder for what is to become `path`. What a killed run left there for the same path is removed."""
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
    """Whether the process that began it, whose number is in its name, is alive: another run into the same place."""
    process = unfinished.stem.rpartition("-")[2]
    if not process.isdigit() or int(process) == os.getpid():
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except OSError:  # of another user
        return True
    return True


def file_names(names: Sequence[str]) -> dict[str, str]:
    """For each list a name of lower-case letters, digits, `-` and `_`, no two alike on any file system."""
    name_of: dict[str, str] = {}
    for name in names:
        plain = slug(name)
        numbered = (f"{plain}-{k}" for k in range(2, len(names) + 2))
        name_of[name] = (
            plain if plain not in name_of.values() else next(n for n in numbered if n not in name_of.values())
        )
    return name_of


def slug(name: str) -> str:
    """A name in letters that every file system takes."""
    ascii_only = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9_]+", "-", ascii_only).strip("-")[:60] or "list"


def csv_text(frame: "pd.DataFrame", *, index: bool = True) -> str:
    """A frame as CSV, in full precision. A single quote before every text that begins with = + - @, a tab or a return.

    Examples
    --------
    >>> import pandas as pd
    >>> csv_text(pd.DataFrame({"word": ["=1+1", "rose"], "value": [-0.5, 1.0]}), index=False).splitlines()
    ['word,value', "'=1+1,-0.5", 'rose,1.0']
    """
    flat = frame.reset_index() if index else frame
    # Quoted is what ends a line: with this ending also a lone return, at which readers would begin a new one.
    text = flat.rename(columns=_quoted).map(_quoted).to_csv(index=False, lineterminator="\r\n")
    return str(text).replace("\r\n", "\n")


def _quoted(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


def unquoted(value: Any) -> Any:
    """A cell as it was before `csv_text`."""
    quoted = isinstance(value, str) and value.startswith("'") and _FORMULA.match(value)
    return value[1:] if quoted else value
