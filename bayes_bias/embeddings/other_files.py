"""Recognise files that cannot be opened by their first bytes, and suggest code that converts them."""

import re
import struct
from importlib.resources.abc import Traversable

import numpy as np

from bayes_bias.embeddings.format_base import WIDEST, is_number, is_zipped, spread_of

_UNPACK = "Unpack it first, and pass the file of vectors inside it"
_ARCHIVE = "np.savez('vectors.npz', words=words, vectors="
_OF_DICT = "np.savez('vectors.npz', words=list(saved), vectors=list(saved.values()))"
_WORDS = "where `words` is the list of their words, in the same order"
_UTF16 = "text in UTF-16. Write it in UTF-8: `iconv -f UTF-16 -t UTF-8 FILE > utf8.txt`"

# Formats by the first bytes of a file, and code for the conversion. FILE stands for the path in quotation marks.
_MARKS = {
    b"BZh": f"packed by bzip2. {_UNPACK}",
    b"\xfd7zXZ": f"packed by xz. {_UNPACK}",
    b"7z\xbc\xaf": f"a 7z archive. {_UNPACK}",
    b"Rar!": f"a rar archive. {_UNPACK}",
    b"\x28\xb5\x2f\xfd": f"packed by zstd. {_UNPACK}",
    b"\x04\x22\x4d\x18": f"packed by lz4. {_UNPACK}",
    b"\x89HDF\r\n\x1a\n": "an HDF5 file. If pandas wrote it, write its words and vectors as Parquet: `import"
    " pandas as pd; frame = pd.read_hdf(FILE); pd.DataFrame({'word': frame.index, 'vector': frame.to_numpy().tolist()})"
    ".to_parquet('vectors.parquet')`",
    b"SQLite format 3\x00": "an SQLite database, such as one of Magnitude. Write its words and vectors as Parquet,"
    " with the program that made it",
    b"ARROW1": "an Arrow (Feather) file. Write it as Parquet: `import pandas as pd;"
    " pd.read_feather(FILE).to_parquet('vectors.parquet')`",
    b"ORC": "an ORC file. Write it as Parquet: `import pandas as pd; pd.read_orc(FILE).to_parquet('vectors.parquet')`",
    b"Obj\x01": "an Avro file. Write its words and vectors as Parquet, with the program that made it",
    b"MATLAB 5.0 MAT-file": "a file of MATLAB. Write its matrix, here of the name 'vectors', as an archive:"
    f" `import numpy as np, scipy.io; {_ARCHIVE}scipy.io.loadmat(FILE)['vectors'])`, {_WORDS}",
    b"RDX": "a file of R (.RData). Write its data frame in R: `arrow::write_parquet(frame, 'vectors.parquet')`",
    b"X\n\x00\x00\x00": "a file of R (.rds). Write its data frame in R:"
    " `arrow::write_parquet(readRDS(FILE), 'vectors.parquet')`",
    b"GGUF": "a language model of llama.cpp. Encode the words with it, and pass their vectors",
    b"\xff\xfe": _UTF16,
    b"\xfe\xff": _UTF16,
}
_TEXTS = {
    re.compile(rb"\s*<(!doctype\s+html|html\s*>|html\s+[a-z:-]+=)", re.IGNORECASE): "a web page, as browsers and"
    " curl save it if a download needs a click. Download the file of vectors itself",
    re.compile(rb"version https://git-lfs\.github\.com/spec/"): "a pointer of Git LFS, which stands for the file."
    " Download the file of vectors itself: `git lfs pull`",
    re.compile(rb"\s*(var|let|const|export)\s[\w\s.]{1,80}=?\s*\{"): "JavaScript. Extract the object:"
    " `sed -E '1s/^[^{]*//; $s/;[[:space:]]*$//' FILE > vectors.json`",
    re.compile(rb"\d+ \d+ \d+ \d+ \d+ \d{6,} \S+ \S+\s*\n"): "floret's table of hashes, which has no words. Write"
    " the vectors of your words with the spaCy pipeline that uses it, as an archive: `import numpy as np, spacy; nlp ="
    f" spacy.load(PIPELINE); {_ARCHIVE}[nlp.vocab[word].vector for word in words])`, where `words` is a list of words",
    re.compile(rb"(\d+ \d+\s*\n)?\S+([ \t]\d+:[-+.\deE]+){2}"): "a table of sparse vectors, with positions and values"
    " after each word. Write the vectors of your words as an archive: `import fileinput, numpy as np; lines ="
    " fileinput.input(FILE, encoding='utf-8'); rows = {word: dict(pair.rsplit(':', 1) for pair in pairs) for word,"
    " *pairs in map(str.split, lines) if word in words}; columns = sorted(set().union(*rows.values()));"
    " np.savez('vectors.npz', words=list(rows), vectors=[[float(row.get(column, 0)) for column in columns] for row in"
    " rows.values()])`, where `words` is a list of words",
    re.compile(rb"\{\s*'"): "the text of a dict, as Python prints it. Write it as an archive: `import ast, pathlib,"
    f" numpy as np; saved = ast.literal_eval(pathlib.Path(FILE).read_text('utf-8')); {_OF_DICT}`",
    re.compile(rb"\('[^\n]*\[[^\n]*\]\)\n"): "the text of tuples, as Python prints them. Write them as an archive:"
    " `import ast, fileinput, numpy as np; lines = fileinput.input(FILE, encoding='utf-8'); saved ="
    f" dict(map(ast.literal_eval, lines)); {_OF_DICT}`",
    re.compile(rb"[^\n\[]*\b(tensor|array)\(\["): "the text of vectors as Python prints them, which are rounded and"
    " may be incomplete. Save the vectors themselves with np.savez",
    re.compile(rb"%PDF-"): "a PDF document. Pass the file of vectors instead",
}
_TAR = 257
_SAFETENSORS = (
    "a file of tensors (safetensors). If they are vectors of words, and not the weights of a model, write them as an"
    " archive: `import numpy as np, safetensors.numpy; saved = safetensors.numpy.load_file(FILE);"
    f" {_ARCHIVE}next(iter(saved.values())))`, {_WORDS}"
)
# First bytes of a pickle from torch before 1.6, and the description of later archives.
_TORCH = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
_OF_TORCH = (
    "was saved by torch.save, so only torch can open it, which can run code. Write its words and vectors as an archive:"
    " `import numpy as np, torch; saved = torch.load(FILE, map_location='cpu', weights_only=False);"
    " np.savez('vectors.npz', words=list(saved), vectors=np.stack([torch.as_tensor(vector).detach().double().numpy()"
    " for vector in saved.values()]))`. For a single tensor, use words=words, vectors=saved.detach().double().numpy()"
)


def other_text(sample: bytes, file: Traversable) -> str:
    """Describe a text without vectors in its lines, with a remedy. Return "" if it is not recognised."""
    for pattern, what in _TEXTS.items():
        if pattern.match(sample):
            return _at(file, what)
    return _matrix_of_text(sample, file)


def other_file(sample: bytes, file: Traversable) -> str:
    """Describe a file that cannot be opened, with a remedy. Return "" if it is not recognised."""
    for mark, what in _MARKS.items():
        if sample.startswith(mark):
            return _at(file, what)
    if sample[_TAR : _TAR + 5] == b"ustar":
        return _at(file, f"a tar archive. {_UNPACK}: `tar -xf FILE`")
    if len(sample) > 16 and sample[8:10] in (b'{"', b"{ ") and _number("<Q", sample) < 1 << 27:
        return _at(file, _SAFETENSORS)
    if is_zipped(file) or len(sample) < 64:
        return ""
    return _of_search_libraries(sample, file) or _one_after_the_other(sample, file)


def of_torch(file: Traversable) -> str:
    """Describe a file written by torch.save, with a remedy."""
    return _at(file, _OF_TORCH)


def is_old_torch(sample: bytes) -> bool:
    """Return True if a pickle was written by torch before 1.6."""
    return sample.startswith(_TORCH)


def _at(file: Traversable, what: str) -> str:
    return what.replace("FILE", repr(str(file)))


# Numbers without words.

_FRACTION = re.compile(rb"[-+]?\d*\.\d+([eE][-+]?\d+)?")
_FEWEST_LINES, _MOST_LINES = 3, 50


def _matrix_of_text(sample: bytes, file: Traversable) -> str:
    """Describe lines of numbers without words. Return "" for other text."""
    lines = sample.splitlines()[:_MOST_LINES]
    lines = lines if len(lines) == _MOST_LINES or sample.endswith(b"\n") else lines[:-1]
    rows = [line.replace(b",", b" ").split() for line in lines if line.strip()]
    if len(rows) < _FEWEST_LINES:
        return ""
    for row in rows:
        if not row or len(row) != len(rows[0]) or not _FRACTION.fullmatch(row[0]) or not all(map(is_number, row)):
            return ""
    delimiter = ", delimiter=','" if b"," in lines[0] else ""
    return _at(file, _with_words("numbers without words, in lines of text", f"np.loadtxt(FILE{delimiter})"))


_RAW = {"<f4": "32-bit", ">f4": "32-bit big-endian", "<f8": "64-bit", ">f8": "64-bit big-endian", "<f2": "16-bit"}
_MOST_DIMENSIONS = 100_000


def _of_search_libraries(sample: bytes, file: Traversable) -> str:
    """Describe vectors in a format of search libraries. Return "" for other files.

    In fvecs and bvecs, the length precedes each vector. In fbin, two numbers precede all vectors.
    """
    first, second = struct.unpack_from("<ii", sample)
    for name, begin in (("fvecs", 4 + 4 * first), ("bvecs", 4 + first)):
        if 0 < first < _MOST_DIMENSIONS and begin + 4 <= len(sample) and _number("<i", sample, begin) == first:
            if name == "bvecs":
                return "a file of quantised 8-bit vectors without words (bvecs). Pass the original vectors"
            rows = f"np.fromfile(FILE, '<f4').reshape(-1, {first + 1})[:, 1:]"
            return _at(file, _with_words(f"vectors of {first:,} numbers without words (fvecs)", rows))
    if first > 0 and 0 < second < _MOST_DIMENSIONS and _size(file) == 8 + 4 * first * second:
        rows = f"np.fromfile(FILE, '<f4', offset=8).reshape({first}, {second})"
        return _at(file, _with_words(f"{first:,} vectors of {second:,} numbers without words (fbin)", rows))
    return ""


def _one_after_the_other(sample: bytes, file: Traversable) -> str:
    """Describe numbers without words in a plain sequence. Return "" if they vary unlike those of vectors."""
    spread = {kind: spread_of(sample, np.dtype(kind)) for kind in _RAW}
    kind = min(spread, key=spread.__getitem__)
    if spread[kind] >= WIDEST:
        return ""
    rows = f"np.fromfile(FILE, {kind!r}).reshape(len(words), -1).astype('f8')"
    what = _with_words(f"what seem to be {_RAW[kind]} numbers without words", rows)
    glove = (
        ". If it is the binary file of GloVe, which also contains biases and context words, pass its text file instead"
        if kind == "<f8"
        else ""
    )
    return _at(file, what + glove)


def _with_words(what: str, rows: str) -> str:
    archive = f"`import numpy as np; {_ARCHIVE}{rows})`"
    return f"a file of {what}. Write them with their words as an archive: {archive}, {_WORDS}"


def _number(layout: str, sample: bytes, at: int = 0) -> int:
    return int(struct.unpack_from(layout, sample, at)[0])


def _size(file: Traversable) -> int:
    with file.open("rb") as stream:
        return stream.seek(0, 2)
