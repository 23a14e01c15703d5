"""The commands and options that messages print work on the files that provoke the messages."""

import ast
import gzip
import json
import pickle
import re
import shlex
import subprocess
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayes_bias as bb
from bayes_bias.cli.main import COMMANDS

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
SPOKEN = dict(zip(WORDS, np.random.default_rng(1).normal(size=(len(WORDS), 20)).round(4), strict=True))


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
    decides: bool = False  # whether the exit code is a decision
    slow: bool = False


WEAT = f"weat {LIST} --embedding {VECTORS}"
STEREOTYPES = "--stereotype flowers=female --stereotype insects=male"
MEASURES = f"measures {LIST} --embedding {VECTORS} --controls none --no-posterior --word-draws 0"
LATER = {word: (vector + 0.3 * np.sin(np.arange(20) + len(word))).round(4) for word, vector in SPOKEN.items()}
BRIEFLY = "--draws 100 --chains 2"
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
}


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
    said = " ".join(f"{first_error} {out}".split())
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
    elif remedy.startswith("import "):
        exec(remedy, {"words": WORDS})
    else:
        subprocess.run(filled(remedy, case.filled), shell=True, check=True)
    code, _, error = run(*shlex.split(filled(then, {"REMEDY": remedy, **case.filled})))
    assert code in ((0, 1, 3) if case.decides else (case.at_last,)), error
    assert code != 2 or error != first_error


# The messages with remedies.

_PRINTED = re.compile(r"\(--|`bayes-bias |`(cut|curl|gunzip|iconv|import|mv|pip|python|sed|soffice|tar) ")
# Remedies whose messages need other software, a language model, or several seconds of sampling, and those whose
# arguments are tested beside their functions. Fewer is better.
ELSEWHERE = 58


def messages() -> list[tuple[str, str]]:
    """Return the texts in the package, each after its file."""
    found = []
    for path in sorted(Path(bb.__file__).parent.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
        for node in ast.walk(tree):
            if id(node) in docstrings | parts or not isinstance(node, ast.JoinedStr | ast.Constant):
                continue
            values = node.values if isinstance(node, ast.JoinedStr) else [node]
            text = "".join(str(value.value) if isinstance(value, ast.Constant) else "{}" for value in values)
            found.append((f"{path.parent.name}/{path.name}", text))
    return found


def test_every_remedy_is_tried_or_counted():
    texts = messages()
    for name, case in CASES.items():
        assert any(case.message in text for _, text in texts), name
    printing = [(file, text) for file, text in texts if _PRINTED.search(text)]
    lacking = [found for found in printing if not any(case.message in found[1] for case in CASES.values())]
    assert len(lacking) <= ELSEWHERE, (len(printing), lacking)
