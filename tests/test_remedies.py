"""The commands and options that messages print work on the files that provoke the messages."""

import ast
import gzip
import json
import pickle
import re
import shlex
import subprocess
import tarfile
import tomllib
import zipfile
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from csv import QUOTE_NONE
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.io
import xarray as xr

import bayes_bias as bb
from bayes_bias.analyses.answers.reading import read_answers
from bayes_bias.analyses.sentence_pairs.scores import design, read_scores
from bayes_bias.analyses.tpr_gaps.counts import count
from bayes_bias.cli.main import COMMANDS
from bayes_bias.embeddings import format_npz
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.language_models import embedding_from_sentences
from bayes_bias.posterior.verdict import verdict_of_table
from tests.analyses.answers import made_up
from tests.helpers import FEW

# Files are in another folder, whose name needs quotes.
HERE = "my data"
LIST, VECTORS = f"'{HERE}/mine.csv'", f"'{HERE}/v.txt'"
COLUMNS = {
    "flowers=female": ["rose", "tulip", "daisy", "lily"],
    "insects=male": ["ant", "bee", "wasp", "moth"],
    "male": ["he", "him", "his", "man"],
    "female": ["she", "her", "hers", "woman"],
}
WORDS = [word for words in COLUMNS.values() for word in words]
RANDOM = [" ".join(np.random.default_rng(k).choice(WORDS, 9)) for k in range(9)]
SPOKEN = dict(zip(WORDS, np.random.default_rng(1).normal(size=(len(WORDS), 20)).round(4), strict=True))

LATER = {word: (vector + 0.3 * np.sin(np.arange(20) + len(word))).round(4) for word, vector in SPOKEN.items()}


def lines(vectors: Mapping[str, np.ndarray], between: str = " ") -> str:
    return "".join(f"{word}{between}{between.join(map(str, vector))}\n" for word, vector in vectors.items())


def without(vectors: Mapping[str, np.ndarray], word: str) -> dict[str, np.ndarray]:
    return {other: vector for other, vector in vectors.items() if other != word}


def csv(columns: Mapping[str, object] = COLUMNS) -> str:
    return pd.DataFrame(columns).to_csv(index=False)


def workbook(file: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    pd.DataFrame(COLUMNS).to_excel(file, index=False)
    book = openpyxl.load_workbook(file)
    book.active.row_dimensions[3].hidden = True
    book.save(file)


def zipped(file: Path) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("v.txt", lines(SPOKEN))


def tarred(file: Path) -> None:
    Path("v.txt").write_text(lines(SPOKEN))
    with tarfile.open(file, "w") as archive:
        archive.add("v.txt")
    Path("v.txt").unlink()


def feather(file: Path) -> None:
    frame = pd.DataFrame({"word": WORDS, "vector": [vector.tolist() for vector in SPOKEN.values()]})
    frame.to_feather(file, compression="uncompressed")


def objects(file: Path) -> None:
    np.savez(file, words=np.array(WORDS, dtype=object), vectors=np.stack(list(SPOKEN.values())))


def array(file: Path) -> None:
    np.save(file, np.stack(list(SPOKEN.values())))


def array_of_seeds(file: Path) -> None:
    np.save(file, np.stack([list(SPOKEN.values()), list(LATER.values())]))


def array_of_fields(file: Path) -> None:
    dtype = [("word", "U10"), ("vector", "f8", 20)]
    np.save(file, np.array(list(SPOKEN.items()), dtype=dtype))


def doubles(file: Path) -> None:
    """Write word2vec's binary format with numbers of 64 bits."""
    parts = [f"{word} ".encode() + vector.astype("<f8").tobytes() for word, vector in SPOKEN.items()]
    file.write_bytes(f"{len(SPOKEN)} 20\n".encode() + b"".join(parts))


def raw(file: Path) -> None:
    np.stack(list(SPOKEN.values())).astype("<f4").tofile(file)


def fvecs(file: Path) -> None:
    rows = [np.int32(20).tobytes() + vector.astype("<f4").tobytes() for vector in SPOKEN.values()]
    file.write_bytes(b"".join(rows))


def fbin(file: Path) -> None:
    header = np.array([len(SPOKEN), 20], dtype="<i4").tobytes()
    file.write_bytes(header + np.stack(list(SPOKEN.values())).astype("<f4").tobytes())


def orc(file: Path) -> None:
    frame = pd.DataFrame({"word": WORDS, "vector": [vector.tolist() for vector in SPOKEN.values()]})
    frame.to_orc(file)


def matlab(file: Path) -> None:
    scipy.io.savemat(file, {"vectors": np.stack(list(SPOKEN.values()))})


def fasttext(file: Path) -> None:
    gensim = pytest.importorskip("gensim")
    model = gensim.models.FastText([WORDS] * 2, vector_size=4, min_count=1, epochs=1, workers=1, bucket=50)
    gensim.models.fasttext.save_facebook_model(model, str(file))


def packed(file: Path) -> None:
    np.savez("plain.npz", words=WORDS, vectors=np.stack(list(SPOKEN.values())))
    file.write_bytes(gzip.compress(Path("plain.npz").read_bytes()))


def rows(file: Path, **headings: str) -> None:
    """Write a table of cosines without stereotypes, with other headings."""
    frame = bb.cosines(COLUMNS, SPOKEN, ()).to_frame().drop(columns=["stereotype"], errors="ignore")
    frame.rename(columns=headings).to_csv(file, index=False)


type Content = str | bytes | Callable[[Path], None]


@dataclass(frozen=True)
class Case:
    """Files, the command that prints a message with a remedy, and the command after the remedy.

    `message` is a part of the message in the source, `printed` the pattern of the remedy in the output, `filled`
    replaces its placeholders, and `then` is run afterwards (by default, the command with the printed option).
    """

    message: str
    command: str
    printed: str
    files: Mapping[str, Content] = field(default_factory=lambda: {"mine.csv": csv()})
    filled: Mapping[str, str] = field(default_factory=dict)
    then: str = ""
    code: int = 2
    at_last: int = 0
    written: str = ""  # the content of the file that the remedy names
    decides: bool = False  # whether the exit code is a decision
    slow: bool = False


WEAT = f"weat {LIST} --embedding {VECTORS}"
STEREOTYPES = "--stereotype flowers=female --stereotype insects=male"
MEASURES = f"measures {LIST} --embedding {VECTORS} --controls none --no-posterior --word-draws 0"
BRIEFLY = "--draws 100 --chains 2"
CHINESE = {"花=好": ["玫瑰", "百合"], "虫=坏": ["蚂蚁", "蜜蜂"], "好": ["快乐", "和平"], "坏": ["痛苦", "战争"]}
AUDIT = f"""
lists = ["{HERE}/mine.csv"]
controls = "none"
[[embeddings]]
files = "googlenews-demo"
[[versions]]
name = "hard"
method = "hard"
sets = "she:he,woman:man"
[[versions]]
name = "soft"
method = "soft"
sets = "she:he,woman:man"
"""
SPELT = {"mine.csv": csv(), "v.txt": lines({word.capitalize(): vector for word, vector in SPOKEN.items()})}
HALF = {"mine.csv": csv(), "v.txt": lines({word: SPOKEN[word] for word in WORDS if word not in ("rose", "tulip")})}
CASES = {
    "words that slices lack": Case(
        message="Omit slices (without",
        command=f"over-time {LIST} --at 1900='{HERE}/v.txt' --at 1910='{HERE}/w.txt' {BRIEFLY}",
        printed=r"or pass (--allow-loss)",
        files={"mine.csv": csv(), "v.txt": lines(without(SPOKEN, "rose")), "w.txt": lines(without(LATER, "tulip"))},
        slow=True,
    ),
    "no groups": Case(
        "does not define which of",
        f"weat {LIST}",
        r"`bayes-bias (wordlists .*?)`",
        {"mine.csv": csv().replace("flowers=female,insects=male", "flowers,insects")},
        then="weat new-list.csv",
    ),
    "hidden cells": Case(
        " --hidden keep --out",
        f"weat '{HERE}/mine.xlsx'",
        r"`bayes-bias (wordlists .*?)`",
        {"mine.xlsx": workbook},
        then="weat new-list.csv",
        code=0,
    ),
    "a column of notes": Case(
        "If a column has notes",
        WEAT,
        r"(--ignore-column '.*?')\.",
        {"mine.csv": csv({**COLUMNS, "my notes": ["check", "rare", "own", "x"]}), "v.txt": lines(SPOKEN)},
    ),
    "notes among opposites": Case(
        "to compare '",
        f"weat {LIST}",
        r"(--ignore-column HEADING)",
        {"mine.csv": "math=male,male,female,notes\nrose,he,she,check\ntulip,man,woman,rare\n"},
        {"HEADING": "notes"},
        at_last=2,  # WEAT needs two groups
    ),
    "opposites": Case(
        "to compare '",
        f"table {LIST} --out t.csv",
        r"(--opposites CLASS) of",
        {"mine.csv": "math=male,male,female,kin\nrose,he,she,aunt\ntulip,man,woman,uncle\n"},
        {"CLASS": "female"},
    ),
    "lost words": Case("pass allow_loss=True (--allow-loss) to continue", WEAT, r"(--allow-loss)", HALF),
    "other spellings": Case("To use these spellings", WEAT, r"(--match case)\.", SPELT),
    "built-in vectors": Case(
        "It contains only the words of built-in lists",
        f"weat {LIST}",
        r"(--embedding)\.",
        {
            "mine.csv": csv({**COLUMNS, "flowers=female": ["rosebud", "tulipmania", "peonies", "zinniaish"]}),
            "v.txt": lines(SPOKEN),
        },
        {"--embedding": f"--embedding {VECTORS} --allow-loss"},
        at_last=2,  # v.txt has none of these flowers either
    ),
    "two columns of text": Case(
        "Name the column after the file",
        f"weat {LIST} --embedding '{HERE}/v.csv'",
        r"(--embedding '.*?')",
        {
            "mine.csv": csv(),
            "v.csv": pd.DataFrame.from_dict(SPOKEN, "index")
            .assign(page=[f"p{w}x" for w in WORDS])
            .to_csv(index_label="title"),
        },
        then=f"weat {LIST} REMEDY",
    ),
    "vectors as a list": Case(
        "looks like vectors, because numbers follow",
        f"weat {VECTORS}",
        r"(--embedding '.*?')\)?\.",
        {"mine.csv": csv(), "v.txt": lines(SPOKEN)},
        then=f"weat {LIST} REMEDY",
    ),
    "vectors of another format as a list": Case(
        "A word list must be TOML",
        f"weat '{HERE}/v.vec'",
        r"(--embedding '.*?')\)?\.",
        {"mine.csv": csv(), "v.vec": lines(SPOKEN)},
        then=f"weat {LIST} REMEDY",
    ),
    "objects": Case(
        "contains Python objects, which can run code",
        f"weat {LIST} --embedding '{HERE}/v.npz'",
        r"(--trust)",
        {"mine.csv": csv(), "v.npz": objects},
    ),
    "gzipped archive": Case(
        "is a gzipped file of the format",
        f"weat {LIST} --embedding '{HERE}/v.npz.gz'",
        r"`(gunzip .*?)`",
        {"mine.csv": csv(), "v.npz.gz": packed},
        then=f"weat {LIST} --embedding '{HERE}/v.npz'",
    ),
    "zip": Case(
        "Unpack it first (`python -m zipfile",
        f"weat {LIST} --embedding '{HERE}/v.zip'",
        r"`(python -m zipfile .*?)`",
        {"mine.csv": csv(), "v.zip": zipped},
        then=f"weat {LIST} --embedding v.txt",
    ),
    "tar": Case(
        "`tar -xf FILE`",
        f"weat {LIST} --embedding '{HERE}/v.tar'",
        r"`(tar .*?)`",
        {"mine.csv": csv(), "v.tar": tarred},
        then=f"weat {LIST} --embedding v.txt",
    ),
    "vectors in UTF-16": Case(
        "text in UTF-16. Write it in UTF-8",
        WEAT,
        r"`(iconv .*?)`",
        {"mine.csv": csv(), "v.txt": lines(SPOKEN).encode("utf-16")},
        then=f"weat {LIST} --embedding utf8.txt",
    ),
    "vectors in JavaScript": Case(
        "JavaScript. Extract the object",
        f"weat {LIST} --embedding '{HERE}/v.js'",
        r"`(sed .*?)`",
        {"mine.csv": csv(), "v.js": f"var vectors = {json.dumps({w: v.tolist() for w, v in SPOKEN.items()})};\n"},
        then=f"weat {LIST} --embedding vectors.json",
    ),
    "header of more words": Case(
        "is truncated: its header states",
        WEAT,
        r"`(sed .*?)`",
        {"mine.csv": csv(), "v.txt": f"20 20\n{lines(SPOKEN)}"},
        then=WEAT,
    ),
    "prefix": Case(
        "Remove the prefix",
        WEAT,
        r"`(sed .*?)`",
        {"mine.csv": csv(), "v.txt": lines({f"/c/en/{word}": vector for word, vector in SPOKEN.items()})},
        {"FILE": VECTORS},
        then=f"weat {LIST} --embedding plain.txt",
    ),
    "list in Windows-1252": Case(
        "or convert it by `iconv",
        f"weat {LIST}",
        r"`(iconv .*?)`",
        {"mine.csv": csv({**COLUMNS, "female": ["she", "her", "hers", "café"]}).encode("cp1252")},
        {"ENCODING": "cp1252"},
        then="weat utf8.csv",
    ),
    "column of another name": Case(
        "has no column '{}'. To use another column",
        f"table {LIST} --out t.csv",
        r"`bayes-bias (table .*?)`",
        {"mine.csv": lambda file: rows(file, target="name")},
        {"HEADING": "name"},
        then="",
        at_last=2,  # the next message asks for the stereotypes
    ),
    "one stereotype of two, and another column": Case(
        " table.csv`, with your other",
        f"table {LIST} --target name --stereotype flowers=female --out t.csv",
        r"(--stereotype '.*?') --out .*?, with your other options",
        {"mine.csv": lambda file: rows(file, target="name")},
        then=f"table {LIST} --target name --stereotype flowers=female REMEDY --out t.csv",
    ),
    "no stereotypes": Case(
        "does not define a stereotypical class for",
        f"table {LIST} --out t.csv",
        r"`bayes-bias (table .*?)`",
        {"mine.csv": rows},
    ),
    "matrix": Case(
        "To make a table, combine it with its word list",
        f"table '{HERE}/m.csv' --out t.csv",
        r"`bayes-bias (table .*?)`",
        {
            "mine.csv": csv(),
            "m.csv": pd.DataFrame(
                np.eye(8).round(2),
                COLUMNS["flowers=female"] + COLUMNS["insects=male"],
                COLUMNS["male"] + COLUMNS["female"],
            ).to_csv(),
        },
        {"LIST": LIST, "--out": "--controls none --out"},
    ),
    "distances": Case(
        "which would reverse the bias",
        f"table {LIST} --stereotype flowers=female --stereotype insects=male --value distance"
        " --metric distance --out t.csv",
        r"(--metric 'distance' --larger farther) of",
        {"mine.csv": lambda file: rows(file, cosine="distance")},
        then=f"table {LIST} --stereotype flowers=female --stereotype insects=male --value distance --out t.csv REMEDY",
    ),
    "existing file": Case(
        "overwrite=True (--overwrite)",
        f"table {LIST} --out '{HERE}/t.csv'",
        r"(--overwrite)",
        {"mine.csv": csv(), "t.csv": ""},
    ),
    "no negligible size": Case(
        "`rope` is missing. Pass the largest", f"check {LIST}", r"(--rope 0\.05)\.", decides=True
    ),
    "every size allowed": Case(
        "so that the gate could not fail. Pass a smaller size",
        f"check {LIST} --rope 5",
        r"(--rope 0\.05)\.",
        decides=True,
    ),
    "no baseline": Case(
        "Write one with `gate.to_dict()`",
        f"check {LIST} --controls none --rope 0.05 --baseline '{HERE}/old.json'",
        r"`bayes-bias (check .*?)`",
        {"mine.csv": csv(), "old.json": "{}"},
        {"LIST": LIST, "SIZE": "0.05"},
        decides=True,
    ),
    "no plan": Case(
        "is not a registration of this version",
        f"report {LIST} --registered '{HERE}/plan.json'",
        r"`bayes-bias (register .*?)`",
        {"mine.csv": csv(), "plan.json": "{}"},
        {"LIST": LIST},
    ),
    "no bias to plan for": Case(
        "`bias` {}. Pass the smallest bias",
        f"plan {LIST} --bias -1",
        r"(--bias 0\.02)",
        then=f"plan {LIST} REMEDY --controls none --draws 100 --chains 2",
        slow=True,
    ),
    "no defining sets": Case(
        "This measure needs defining sets",
        "measures weat6 --no-posterior --word-draws 0 --controls none",
        r"(--sets she:he,woman:man)",
        code=0,
    ),
    "negative negligible size": Case(
        "`rope` must be a positive number",
        f"fit {LIST} --rope -1",
        r"(--rope 0\.01)",
        then=f"check {LIST} REMEDY",
        decides=True,
    ),
    "pickle": Case(
        "which can run code when it is opened",
        f"weat {LIST} --embedding '{HERE}/v.pkl'",
        r"(--trust)",
        {"mine.csv": csv(), "v.pkl": pickle.dumps(SPOKEN)},
    ),
    "gzipped list": Case(
        "packed by gzip. Unpack it",
        f"weat '{HERE}/z.csv'",
        r"`(gunzip .*?)`",
        {"z.csv": gzip.compress(csv().encode())},
        then="weat unpacked.csv",
    ),
    "Parquet of another name": Case(
        "a Parquet file. Rename it",
        f"weat '{HERE}/p.csv'",
        r"`(mv .*?)`",
        {"p.csv": lambda file: pd.DataFrame(COLUMNS).to_parquet(file)},
        then=f"weat '{HERE}/p.csv.parquet'",
    ),
    "matrix of distances": Case(
        "as in a matrix of distances",
        f"table {LIST} --matrix '{HERE}/d.csv' --controls none --out t.csv",
        r"(--metric distance --larger farther)\.",
        {"mine.csv": csv(), "d.csv": pd.DataFrame(1 - np.eye(16), WORDS, WORDS).to_csv()},
    ),
    "texts in another column": Case(
        "to the column of clusters",
        f"from-texts '{HERE}/t.csv' {LIST} --embedding googlenews-demo",
        r"(--column) to",
        {"mine.csv": csv(), "t.csv": csv({"body": ["the rose is his and she likes it"] * 9})},
        {"--column": "--column body"},
        at_last=2,  # these texts are too few
    ),
    "texts in Latin-1": Case(
        "iconv -f latin1",
        f"from-texts '{HERE}/t.txt' {LIST} --embedding googlenews-demo",
        r"`(iconv .*?)`",
        {"mine.csv": csv(), "t.txt": "the rose in the café\n".encode("latin1") * 9},
        then=f"from-texts utf8.txt {LIST} --embedding googlenews-demo",
        at_last=2,
    ),
    "texts without vectors": Case(
        "Cosines require the pretrained vectors of words",
        f"from-texts '{HERE}/t.csv' {LIST} --controls none --window 20",
        r"(--measure pmi)",
        {"mine.csv": csv(), "t.csv": csv({"text": RANDOM})},
    ),
    "PMI with vectors": Case(
        "PMI counts co-occurrences and uses no vectors",
        f"from-texts '{HERE}/t.csv' {LIST} --measure pmi --embedding googlenews-demo",
        r"(--measure cosine)",
        {"mine.csv": csv(), "t.csv": csv({"text": RANDOM})},
        at_last=2,  # these texts are too short
    ),
    "words that never co-occur": Case(
        "may be zero. Increase `window`",
        f"from-texts '{HERE}/t.csv' {LIST} --controls none --measure pmi --window 1",
        r"(--window)",
        {"mine.csv": csv(), "t.csv": csv({"text": RANDOM})},
        then=f"from-texts '{HERE}/t.csv' {LIST} --controls none --measure pmi --window 20",
    ),
    "list without language": Case(
        "because they are English, but only",
        f"table {LIST} --embedding {VECTORS} --out t.csv",
        r"(--language en)",
        {
            "mine.csv": csv({name: [f"{word}chen" for word in own] for name, own in COLUMNS.items()}).replace(
                "malechen", "male"
            ),
            "v.txt": lines({f"{word}chen": vector for word, vector in SPOKEN.items()}),
        },
        code=0,
        then=f"table {LIST} --embedding {VECTORS} --out again.csv REMEDY",
    ),
    "words of sets without vectors": Case(
        "or omit them with skip_missing=True",
        f"debias --sets she:he,her:his,king:queen --embedding {VECTORS} --out d.npz",
        r"(--skip-missing) of",
        {"v.txt": lines(SPOKEN)},
    ),
    "measures whose sets lack vectors": Case(
        "Make it with also=",
        f"{MEASURES} --sets she:he,her:his,king:queen",
        r"(--sets) without these words",
        {"mine.csv": csv(), "v.txt": lines(SPOKEN)},
        code=0,
        then=f"{MEASURES} --sets she:he,her:his",
    ),
    "no fit": Case(
        "Use `save_fit` (`bayes-bias fit LIST",
        f"summarize '{HERE}/f.nc'",
        r"`bayes-bias (fit .*?)`",
        {"mine.csv": csv()},
        {"LIST": LIST, "FILE.nc": f"'{HERE}/f.nc' --draws 100 --chains 2"},
        then=f"summarize '{HERE}/f.nc'",
        slow=True,
    ),
    "words without a word class": Case(
        "with `bayes-bias wordlists LIST --word-class",
        f"sentences {LIST} --templates noun-10 --controls none --out s.csv",
        r"`bayes-bias (wordlists .*?)`",
        {"mine.csv": csv({**COLUMNS, "flowers=female": ["roselet", "tuliplet", "daisylet", "lilylet"]})},
        {"LIST": LIST, "GROUP=noun": "flowers=noun"},
        then="sentences new-list.csv --templates noun-10 --controls none --out s.csv",
        at_last=2,  # the pronouns of the list are no nouns
    ),
    "control classes without vectors": Case(
        "or omit added ones with controls=()",
        f"table {LIST} --embedding {VECTORS} --controls '{HERE}/mine2.csv' --out t.csv",
        r"(--controls none)",
        {"mine.csv": csv(), "v.txt": lines(SPOKEN), "mine2.csv": "food\nbread\ncheese\n"},
    ),
    "words with one vector": Case(
        "to use one vector for several words",
        WEAT,
        r"(--allow-loss)",
        {"mine.csv": csv(), "v.txt": lines({**SPOKEN, "ant": SPOKEN["rose"]})},
    ),
    "similarities called farther": Case(
        "mean closer, but `larger` is 'farther'",
        f"table {LIST} {STEREOTYPES} --value similarity --metric similarity --larger farther --out t.csv",
        r"Omit (--larger),",
        {"mine.csv": lambda file: rows(file, cosine="similarity")},
        then=f"table {LIST} {STEREOTYPES} --value similarity --metric similarity --out t.csv",
    ),
    "a metric without direction": Case(
        "If they mean farther apart, set",
        f"table {LIST} {STEREOTYPES} --value x --metric x --out t.csv",
        r"(--larger farther)",
        {"mine.csv": lambda file: rows(file, cosine="x")},
        code=0,
        then=f"table {LIST} {STEREOTYPES} --value x --metric x --out t2.csv REMEDY",
    ),
    "English control classes": Case(
        "English control classes are used because",
        f"table {LIST} --out t.csv",
        r"(--language de)",
        code=0,
        then=f"table {LIST} --out t2.csv REMEDY",
    ),
    "Feather": Case(
        "an Arrow (Feather) file",
        f"weat {LIST} --embedding '{HERE}/v.feather'",
        r"`(import .*?)`",
        {"mine.csv": csv(), "v.feather": feather},
        then=f"weat {LIST} --embedding vectors.parquet",
    ),
    "an array without words": Case(
        "contains lists of numbers without words",
        f"weat {LIST} --embedding '{HERE}/v.json'",
        r"`(import .*?)`",
        {"mine.csv": csv(), "v.json": json.dumps([vector.tolist() for vector in SPOKEN.values()])},
        then=f"weat {LIST} --embedding vectors.npz",
    ),
    "an array in a file": Case(
        "an array without words. Write it with them",
        f"weat {LIST} --embedding '{HERE}/v.npy'",
        r"`(import .*?)`",
        {"mine.csv": csv(), "v.npy": array},
        then=f"weat {LIST} --embedding vectors.npz",
    ),
    "words beside an array": Case(
        "Alternatively, save the words beside it as",
        f"weat {LIST} --embedding '{HERE}/v.npy'",
        r"save the words beside it as '(.*?)'",
        {"mine.csv": csv(), "v.npy": array},
        then=f"weat {LIST} --embedding '{HERE}/v.npy'",
        written="\n".join(WORDS),
    ),
    "an array of seeds": Case(
        "If its first axis contains seeds",
        f"table {LIST} --embedding '{HERE}/v.npy' --controls none --out t.csv",
        r"`(import .*?)`",
        {"mine.csv": csv(), "v.npy": array_of_seeds},
        then=f"table {LIST} --embedding vectors.npz --controls none --out t.csv",
    ),
    "a structured array": Case(
        "a structured array. Write its fields",
        f"weat {LIST} --embedding '{HERE}/v.npy'",
        r"`(import .*?)`",
        {"mine.csv": csv(), "v.npy": array_of_fields},
        then=f"weat {LIST} --embedding vectors.npz",
    ),
    "word2vec with 64 bits": Case(
        "Write them as an archive: `import LIBRARY, numpy as np; stream",
        f"weat {LIST} --embedding '{HERE}/v.bin'",
        r"`(import .*?)`\.",
        {"mine.csv": csv(), "v.bin": doubles},
        then=f"weat {LIST} --embedding vectors.npz",
    ),
    "ORC": Case(
        "an ORC file. Write it as Parquet",
        f"weat {LIST} --embedding '{HERE}/v.orc'",
        r"`(import .*?)`",
        {"mine.csv": csv(), "v.orc": orc},
        then=f"weat {LIST} --embedding vectors.parquet",
    ),
    "MATLAB": Case(
        "a file of MATLAB. Write its matrix",
        f"weat {LIST} --embedding '{HERE}/v.mat'",
        r"`(import .*?)`",
        {"mine.csv": csv(), "v.mat": matlab},
        then=f"weat {LIST} --embedding vectors.npz",
    ),
    "fastText": Case(
        "is a .bin file of fastText",
        f"weat {LIST} --embedding '{HERE}/v.bin'",
        r"(--trust)",
        {"mine.csv": csv(), "v.bin": fasttext},
    ),
    "vectors in GB18030": Case(
        "iconv -f GB18030",
        WEAT,
        r"`(iconv .*?)`",
        {
            "mine.csv": csv(CHINESE),
            "v.txt": lines(dict(zip(chain(*CHINESE.values()), SPOKEN.values(), strict=False))).encode("gb18030"),
        },
        {"FILE": VECTORS},
        then=f"weat {LIST} --embedding utf8.txt",
    ),
    "embedding without a list": Case(
        "which needs a word list. Only files of",
        f"compare --before {VECTORS} --after '{HERE}/w.txt' --controls none {BRIEFLY}",
        r"`bayes-bias (table)`",
        {"mine.csv": csv(), "v.txt": lines(SPOKEN), "w.txt": lines(LATER)},
        {"table": f"table {LIST} --embedding {VECTORS} --controls none --out t.csv"},
        then="weat t.csv",
    ),
    "slices without a list": Case(
        "which needs a word list. Only files of",
        f"over-time --at 1900={VECTORS} --at 1910='{HERE}/w.txt' {BRIEFLY}",
        r"`bayes-bias (table)`",
        {"mine.csv": csv(), "v.txt": lines(SPOKEN), "w.txt": lines(LATER)},
        {"table": f"table {LIST} --embedding {VECTORS} --controls none --out t.csv"},
        then="weat t.csv",
    ),
    "settings of several methods": Case(
        "can only be used with one method, but there are",
        f"compare {LIST} --before googlenews-demo --after hard --after soft --sets she:he,woman:man"
        " --setting components=1",
        r"write a file for `bayes-bias (sweep)`",
        {"mine.csv": csv(), "audit.toml": AUDIT},
        {"sweep": f"sweep '{HERE}/audit.toml' --posteriors none --jobs 1 --figures none --out atlas"},
        then=f"weat {LIST}",
    ),
    "templates of word vectors": Case(
        "contains word vectors and cannot encode sentences",
        f"table {LIST} --encoder googlenews-demo --templates plain-10 --controls none --out t.csv",
        r"Remove (--templates),",
        then=f"table {LIST} --embedding googlenews-demo --controls none --out t.csv",
    ),
    "a copied list": Case(
        "`bayes-bias report {}`",
        "wordlists weat6 --copy mine.toml",
        r"`bayes-bias (report mine\.toml)`",
        filled={"report mine.toml": f"report mine.toml --controls none --calibration-draws 0 --figures none {BRIEFLY}"},
        code=0,
        slow=True,
    ),
    "too few draws": Case(
        "Sample for longer",
        f"fit {LIST} --controls none {BRIEFLY} --out f.nc",
        r"(--draws 6000)",
        code=0,
        then=f"fit {LIST} --controls none --chains 2 --out f2.nc REMEDY",
        slow=True,
    ),
    "help on prompts": Case(
        "The questions, as `bayes-bias prompts` wrote them",
        "answers --help",
        r"`bayes-bias (prompts)`",
        filled={"prompts": f"prompts {LIST} --out p.csv"},
        code=0,
        then=f"answers r.csv --prompts p.csv --list {LIST}",
        at_last=2,  # there are no replies yet
    ),
    "help on fits": Case(
        "A fit that `bayes-bias fit --out` made",
        "summarize --help",
        r"`bayes-bias (fit --out)`",
        filled={"fit --out": f"fit {LIST} --controls none {BRIEFLY} --out f.nc"},
        code=0,
        then="summarize f.nc",
        slow=True,
    ),
    "help on plans": Case(
        "Plan that `bayes-bias register` wrote",
        "report --help",
        r"`bayes-bias (register)`",
        filled={"register": f"register {LIST} --out p.json"},
        code=0,
    ),
    "help on slices": Case(
        "or a table that `bayes-bias table` wrote (then without LIST)",
        "over-time --help",
        r"`bayes-bias (table)`",
        {"mine.csv": csv(), "v.txt": lines(SPOKEN), "w.txt": lines(LATER)},
        {"table": f"table {LIST} --embedding {VECTORS} --controls none --out t.csv"},
        code=0,
        then=f"over-time --at 1900=t.csv --at 1910=t.csv {BRIEFLY}",
        at_last=2,  # both slices are the same table
    ),
    "help on lists": Case(
        "or a file that `bayes-bias table` wrote.",
        "fit --help",
        r"`bayes-bias (table)`",
        filled={"table": f"table {LIST} --controls none --out t.csv"},
        code=0,
        then="weat t.csv",
    ),
    "help on embeddings before": Case(
        "or a file that `bayes-bias table` wrote (then without LIST). With",
        "compare --help",
        r"`bayes-bias (table)`",
        {"mine.csv": csv(), "v.txt": lines(SPOKEN), "w.txt": lines(LATER)},
        {"table": f"table {LIST} --embedding {VECTORS} --controls none --out t.csv"},
        code=0,
        then=f"compare --before t.csv --after t.csv {BRIEFLY}",
        at_last=2,  # both sides are the same table
    ),
}
for name, content in {"title above vectors": lines(SPOKEN), "title above rows of CSV": lines(SPOKEN, ",")}.items():
    CASES[name] = Case(
        "If the first line is a title, remove it",
        WEAT,
        r"`(sed .*?)`",
        {"mine.csv": csv(), "v.txt": f"page 0\n{content}"},
        then=f"weat {LIST} --embedding untitled.txt",
    )
SPARSE = "".join(
    f"{word} {' '.join(f'{k}:{number}' for k, number in enumerate(vector) if (k + len(word)) % 3)}\n"
    for word, vector in SPOKEN.items()
)
for name, (message, content) in {
    "sparse vectors": ("a table of sparse vectors", f"16 20\n{SPARSE}"),
    "sparse vectors without a header": ("a table of sparse vectors", SPARSE),
    "a dict as text": ("the text of a dict", str({word: vector.tolist() for word, vector in SPOKEN.items()})),
    "tuples as text": ("the text of tuples", "".join(f"{(word, v.tolist())}\n" for word, v in SPOKEN.items())),
}.items():
    CASES[name] = Case(
        message,
        WEAT,
        r"`(import .*?)`",
        {"mine.csv": csv(), "v.txt": content},
        then=f"weat {LIST} --embedding vectors.npz",
    )
OF_ZERO = {word: vector % 1 for word, vector in SPOKEN.items()}
for name, (message, content, then) in {
    "vectors of Deeplearning4j": (
        "whose words are in Base64",
        "16 20 7200\n" + lines({f"B64:{b64encode(w.encode()).decode()}": vector for w, vector in SPOKEN.items()}),
        "vectors.npz",
    ),
    "vectors over several lines": (
        "that NumPy wrote over several lines",
        "".join(f"{k}\t{w}\t{np.array_str(v, max_line_width=60)}\n" for k, (w, v) in enumerate(SPOKEN.items())),
        "vectors.npz",
    ),
    "vectors with line ends of old Macs": ("line ends of old Macs", lines(SPOKEN).replace("\n", "\r"), "vectors.txt"),
    "decimal commas in quotes": (
        "decimal commas in quotes",
        csv(
            {"word": [*OF_ZERO]} | {f"v{k}": [f"{v[k]}".replace(".", ",") for v in OF_ZERO.values()] for k in range(20)}
        ),
        "points.csv",
    ),
    "a column for each word": ("a column for each word", pd.DataFrame(SPOKEN).to_csv(index=False), "vectors.csv"),
    "a column for each word and an index": (
        "a column for each word",
        pd.DataFrame(SPOKEN).to_csv(sep=";"),
        "vectors.csv",
    ),
    "numbers in one cell": (
        "all numbers of a vector in one cell",
        "".join(f"{word},{' '.join(map(str, vector))}\n" for word, vector in SPOKEN.items()),
        "plain.txt",
    ),
    "numbers in one cell with quotes below headings": (
        "all numbers of a vector in one cell",
        "word;vector\n" + "".join(f'{word};"{" ".join(map(str, vector))}"\n' for word, vector in SPOKEN.items()),
        "plain.txt",
    ),
}.items():
    CASES[name] = Case(
        message,
        WEAT,
        r"`((?:import|sed) .*?)`",
        {"mine.csv": csv(), "v.txt": content},
        then=f"weat {LIST} --embedding {then}",
    )
for name, ending, between in (("part of speech", "_NOUN", " "), ("colon", ":", "\t"), ("bar", "|NN", ",")):
    CASES[f"ending: {name}"] = Case(
        "Remove the ending: `sed",
        WEAT,
        r"`(sed .*?)`",
        {"mine.csv": csv(), "v.txt": lines({f"{word}{ending}": vector for word, vector in SPOKEN.items()}, between)},
        {"FILE": VECTORS},
        then=f"weat {LIST} --embedding plain.txt",
    )
NUMBERS = "".join(line.partition(" ")[2] + "\n" for line in lines(SPOKEN).splitlines())
for name, (file, content, message) in {
    "numbers in a row": ("v.bin", raw, "vectors=np.fromfile(FILE, 'DTYPE').reshape(len(words), -1)"),
    "fvecs": ("v.fvecs", fvecs, "vectors=np.fromfile(FILE, '<f4').reshape(-1, WIDTH)"),
    "fbin": ("v.fbin", fbin, "vectors=np.fromfile(FILE, '<f4', offset=8)"),
    "lines of numbers": ("v.txt", NUMBERS, "vectors=np.loadtxt(FILE))"),
    "lines of numbers with commas": ("v.txt", NUMBERS.replace(" ", ","), "vectors=np.loadtxt(FILE, delimiter=',')"),
}.items():
    CASES[name] = Case(
        message,
        f"weat {LIST} --embedding '{HERE}/{file}'",
        r"`(import .*?)`",
        {"mine.csv": csv(), file: content},
        then=f"weat {LIST} --embedding vectors.npz",
    )


def filled(text: str, values: Mapping[str, str]) -> str:
    """Replace placeholders, such as LIST."""
    for placeholder, value in values.items():
        text = text.replace(placeholder, value)
    return text


MARKED = [pytest.param(name, marks=[pytest.mark.slow] if case.slow else []) for name, case in CASES.items()]


@pytest.mark.parametrize("name", MARKED)
def test_printed_remedy_works_on_files_that_provoke_its_message(name, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    case = CASES[name]
    Path(HERE).mkdir()
    for file, content in case.files.items():
        path = Path(HERE, file)
        if callable(content):
            content(path)
        else:
            path.write_bytes(content.encode() if isinstance(content, str) else content)
    code, out, first_error = run(*shlex.split(case.command))
    said = " ".join(f"{first_error} {out}".replace("│", " ").split())  # without the borders of help
    assert code == case.code, said
    found = re.search(case.printed, said)
    assert found, said
    remedy, then = found[1], case.then
    if remedy.startswith("--"):
        then = then or f"{case.command} REMEDY"
    elif remedy.split()[0] in COMMANDS:
        then = then or remedy
        if then != remedy:
            code, _, error = run(*shlex.split(filled(remedy, case.filled)))
            assert code == 0, error
    elif case.written:
        Path(HERE, remedy).write_text(case.written)
    elif remedy.startswith("import "):
        names: dict[str, Any] = {"words": WORDS}
        exec(remedy, names)
        if "stream" in names:  # a script ends, and closes it
            names["stream"].close()
    else:
        subprocess.run(filled(remedy, case.filled), shell=True, check=True)
    code, _, error = run(*shlex.split(filled(then, {"REMEDY": remedy, **case.filled})))
    assert code in ((0, 1, 3) if case.decides else (case.at_last,)), error
    assert code != 2 or error != first_error


# Arguments that messages of functions print, which the same call accepts. Commands would sample as well.

ANSWERS = made_up.answers(4).assign(model="gpt")
ODD = (ANSWERS.answer % 4 > 1).to_numpy()
PROMPTS = bb.answers.prompts(made_up.LIST)
REPLIES = pd.DataFrame(
    {
        "id": PROMPTS.id,
        "reply": [
            "\n".join(f"{word} - {row.label_a}" for word in row.words.split(" | ")) for row in PROMPTS.itertuples()
        ],
    }
)
LOG = [
    {"custom_id": row.id, "response": {"status_code": 200, "body": {"choices": [{"said": row.reply}]}}}
    for row in REPLIES.itertuples()
]
LOWER, UPPER = np.linspace(-20, -10, 40), np.linspace(-5, -1, 40)


def scores(more: Sequence[float] | np.ndarray, less: Sequence[float] | np.ndarray, **options: Any) -> xr.Dataset:
    pairs = pd.DataFrame({"item": range(len(more)), "score_more": more, "score_less": less})
    return design(read_scores(pairs, **options))[0]


def differences(**options: Any) -> xr.Dataset:
    return design(read_scores(pd.DataFrame({"item": range(6), "difference": range(1, 7)}), **options))[0]


def people(**options: Any) -> Any:
    rows = pd.DataFrame({"y": list("aabbc"), "prediction": list("abbbc"), "group": list("FMFMF")})
    return count("y", "prediction", "group", rows, **options)


def verdict_of_columns(scope: Any = "replicates") -> bb.Verdict:
    return bb.verdict(bb.cosines(COLUMNS, SPOKEN, ()), scope)


def table_of_values(**options: Any) -> bb.AssociationTable:
    frame = bb.cosines(COLUMNS, SPOKEN, ()).to_frame().eval("value = cosine + 3")
    return bb.AssociationTable.from_frame(
        frame,
        target="target",
        group="group",
        attribute="attribute",
        attribute_class="attribute_class",
        value="value",
        stereotypes={"flowers": "female", "insects": "male"},
        **options,
    )


@dataclass(frozen=True)
class Call:
    """A call that raises a message, and the pattern of arguments in the message with which it does not.

    `filled` replaces placeholders in the arguments, and `names` has values for other placeholders.
    """

    message: str
    call: Callable[..., object]
    printed: str
    filled: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, object] = field(default_factory=dict)


CALLS = {
    "texts within a wording": Call(
        "differ by more than words and labels within the wording",
        lambda **options: read_answers(
            ANSWERS.assign(prompt=np.where(ODD, "Choose", "Select")), made_up.LIST, **options
        ),
        r"(ignore=\[.*?\])",
    ),
    "settings": Call(
        "but {} with different settings are",
        lambda **options: read_answers(ANSWERS.assign(temperature=np.where(ODD, 0, 1)), made_up.LIST, **options),
        r"(ignore=\[.*?\])",
    ),
    "replies without a path": Call(
        "Set the path of the reply as well",
        lambda **options: bb.answers.choices(
            PROMPTS, REPLIES.set_axis(["key", "text"], axis=1), made_up.LIST, id="key", **options
        ),
        r"require `(reply)`",
        {"reply": "reply='text'"},
    ),
    "a log without replies": Call(
        "or set their paths with `id` and `reply`",
        lambda **options: bb.answers.choices(PROMPTS, pd.DataFrame(LOG), made_up.LIST, **options),
        r"(`id` and `reply`)",
        {"`id` and `reply`": "id='custom_id', reply='response.body.choices.0.said'"},
    ),
    "all pairs tie": Call(
        ", or compare them unrounded with",
        lambda **options: scores(-20 + 0.0001 * np.arange(6), np.full(6, -20.00005), **options),
        r"(decimals=None)",
    ),
    "absolute differences": Call("so that they may be absolute differences", differences, r"(unit='.*?')"),
    "probabilities": Call(
        "look like {}, because no log probability",
        lambda **options: scores([0.1, 0.2, 0.3], [0.2, 0.1, 0.2], **options),
        r"Set the unit with (unit=):",
        {"unit=": "unit='probability'"},
    ),
    "scores in two units": Call(
        "as if they were in two units", lambda **options: scores(UPPER, LOWER, **options), r"(unit='.*?')"
    ),
    "a class of one group": Call(
        "have no people of a `group`, so that its rate is unknown", people, r"(leave_out=True)"
    ),
    "no replicates": Call("scope='{}' (--scope {})", verdict_of_columns, r"Use (scope='.*?')"),
    "values that are no cosines": Call(
        "If these are not {}, set metric=",
        table_of_values,
        r"set (metric=bayes_bias\.Metric\(.*?\))",
        names={"bayes_bias": bb, "NAME": "similarity", "UNIT": "points"},
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_printed_argument_works_in_call_that_raises_its_message(name):
    case = CALLS[name]
    with pytest.raises(bb.errors.BayesBiasError) as caught:
        case.call()
    found = re.search(case.printed, str(caught.value))
    assert found, str(caught.value)
    assert case.call(**eval(f"dict({filled(found[1], case.filled)})", dict(case.names))) is not None


def test_printed_decimals_compare_ties_unrounded(run):
    pairs = pd.DataFrame({"item": range(3), "score_more": [-20.0001, -20, -19], "score_less": [-20, -20.5, -20]})
    rounded = read_scores(pairs)
    found = re.search(r"\. `(decimals=None)` \(`bayes-bias (.*?)`\) compares", " ".join(rounded.notices))
    assert found
    command, _, option, _ = found[2].split()
    code, help_of_command, _ = run(command, "--help")
    assert code == 0
    assert option in help_of_command
    assert rounded.rows.tied.sum() == 1
    assert not read_scores(pairs, **eval(f"dict({found[1]})")).rows.tied.any()


@pytest.mark.slow
def test_printed_call_fits_table_that_needs_sampler():
    seeds = [bb.open_embedding(vectors, name=name) for name, vectors in {"1": SPOKEN, "2": LATER}.items()]
    table = bb.cosines(COLUMNS, bb.open_embedding(seeds, kind="seed"), ())
    with pytest.raises(bb.errors.TableError) as caught:
        verdict_of_table(table)
    found = re.search(r"`(bayes_bias\.fit\(table\))`", str(caught.value))
    assert found, str(caught.value)
    briefly = partial(bb.fit, sampling=FEW)
    assert "posterior" in eval(found[1], {"bayes_bias": SimpleNamespace(fit=briefly), "table": table}).children


@pytest.mark.slow
def test_printed_chains_of_single_chain_give_r_hat():
    table = bb.cosines(COLUMNS, SPOKEN, ())
    single = Diagnostics.of(Fitted.of(bb.fit(table, sampling=replace(FEW, chains=1))))
    found = re.search(r"sampling=Sampling\((chains=2)\)", " ".join(single.problems))
    assert found
    assert np.isnan(single.r_hat)
    again = Diagnostics.of(Fitted.of(bb.fit(table, sampling=replace(FEW, **eval(f"dict({found[1]})")))))
    assert not np.isnan(again.r_hat)


@pytest.mark.parametrize("rows", [["a", "b"], pd.DataFrame({"word": ["a"]})])
def test_printed_command_writes_rows_of_sentences(rows, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(bb.errors.EmbeddingError) as caught:
        embedding_from_sentences(rows, np.ones((1, 2)))
    found = re.search(r"`bayes-bias (sentences)`", str(caught.value))
    assert found
    assert run(found[1], "weat7", "--templates", "name-10", "--controls", "none", "--out", "s.csv")[0] == 0
    written = pd.read_csv("s.csv")
    assert embedding_from_sentences(written, np.random.default_rng(1).normal(size=(len(written), 3))).replicates


def test_printed_option_opens_archive_that_claims_much(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(format_npz, "_LARGE", 1)
    monkeypatch.setattr(format_npz, "_FACTOR", 0)
    Path("mine.csv").write_text(csv())
    np.savez("v.npz", words=WORDS, vectors=np.stack(list(SPOKEN.values())))
    command = ["weat", "mine.csv", "--embedding", "v.npz"]
    code, _, error = run(*command)
    found = re.search(r"pass (--trust) if you trust", " ".join(error.split()))
    assert code == 2
    assert found, error
    assert run(*command, found[1])[0] == 0


QUOTES = pd.DataFrame(
    {"word": [*WORDS, '"'], "group": ["flowers=female"] * 4 + ["insects=male"] * 4 + ["male"] * 4 + ["female"] * 5}
)


@pytest.mark.parametrize("between", [",", ";", "\t"])
def test_printed_quotation_mark_is_read_as_word(run, tmp_path, between):
    path = tmp_path / "mine.csv"
    path.write_text(QUOTES.assign(word_class="other").to_csv(sep=between, index=False, quoting=QUOTE_NONE))
    code, _, error = run("wordlists", path)
    assert code == 2
    found = re.search(r'the word " is written as ("+)\.', " ".join(error.split()))
    assert found, error
    path.write_text(path.read_text().replace(f'\n"{between}', f"\n{found[1]}{between}"))
    assert '"' in bb.load_wordlist(path).classes["female"]


@pytest.mark.parametrize("title", ["My list, 2020", "My list, 2020,,", "words, second version, of mine"])
@pytest.mark.parametrize("content", [csv(), QUOTES[:-1].to_csv(index=False)], ids=["columns", "rows"])
def test_printed_removal_of_title_with_comma_works(run, tmp_path, title, content):
    path = tmp_path / "mine.csv"
    path.write_text(f"{title}\n{content}")
    code, _, error = run("wordlists", path)
    assert code == 2
    assert "is a title, remove it" in " ".join(error.split())
    path.write_text(content)
    assert run("wordlists", path)[0] == 0


def test_printed_removal_of_scores_from_list_works(run, tmp_path):
    """A lexicon with scores in further columns has decimals, as has a matrix."""
    path = tmp_path / "mine.csv"
    QUOTES[:-1].assign(score=0.5).to_csv(path, index=False)
    code, _, error = run("weat", path, "--embedding", "googlenews-demo")
    assert code == 2
    assert "If it is a word list, remove scores" in " ".join(error.split())
    QUOTES[:-1].to_csv(path, index=False)
    assert run("wordlists", path)[0] == 0


def test_load_wordlist_raises_for_word_with_line_break(tmp_path):
    """Two quotation marks swallow all cells between them."""
    (tmp_path / "mine.csv").write_text(csv().replace("\ntulip", '\n"tulip').replace("\ndaisy,", '\ndaisy",'))
    with pytest.raises(bb.errors.WordListError, match="has a line break"):
        bb.load_wordlist(tmp_path / "mine.csv")


# Messages whose remedies the tests above run with files or patches of their own.
APART = (
    "`decimals=None` (`bayes-bias sentence-pairs FILE --decimals none`) compares them unrounded",
    "needs a sampler, because it has {}",
    "R-hat is unknown, because it needs two chains",
    "Read the output of `bayes-bias sentences` with",
    "Pass the output of `bayes-bias sentences`",
    "many and implausible for vectors",
)


# The messages with remedies.

_PRINTED = re.compile(r"\(--|`bayes-bias |`(cut|curl|gunzip|iconv|import|mv|pip|python|sed|soffice|tar) ")
# Remedies whose messages need other software, a language model, or several seconds of sampling, and those whose
# arguments are tested beside their functions. Fewer is better.
ELSEWHERE = 22


def messages() -> list[tuple[str, str]]:
    """Return the texts in the package, each after its file."""
    found = []
    for path in sorted(Path(bb.__file__).parent.rglob("*.py")):
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        parts = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
        for node in nodes:
            if id(node) in docstrings | parts or not isinstance(node, ast.JoinedStr | ast.Constant):
                continue
            values = node.values if isinstance(node, ast.JoinedStr) else [node]
            text = "".join(str(value.value) if isinstance(value, ast.Constant) else "{}" for value in values)
            found.append((f"{path.parent.name}/{path.name}", text))
    described = tomllib.loads((Path(bb.__file__).parent / "embeddings/other_files.toml").read_text(encoding="utf-8"))
    remedies = [*described["messages"].values(), *described["others"].values()]
    remedies += [file["is"] for file in chain(described["marks"], described["texts"])]
    return found + [("embeddings/other_files.toml", text) for text in remedies]


def test_every_remedy_is_tried_or_counted():
    texts = messages()
    tried = [*APART, *(case.message for case in chain(CASES.values(), CALLS.values()))]
    for message in tried:
        assert any(message in text for _, text in texts), message
    printing = [(file, text) for file, text in texts if _PRINTED.search(text)]
    lacking = [found for found in printing if not any(message in found[1] for message in tried)]
    assert len(lacking) <= ELSEWHERE, (len(printing), lacking)
