"""Every reader on mutated files: the outcome is what the file holds, or one line that says what is wrong with it.

    python -m tests.robustness.fuzzing --files 100000 --reader "vectors, .npz"

mutates seeds of valid files by Hypothesis strategies. Readers run in a forked process whose memory is limited to what
an honest file of that size needs, twice, and whose time is limited, so that a file that claims too much, or that takes
for ever, is a finding like any other error.
"""

import argparse
import gzip
import io
import json
import logging
import os
import resource
import signal
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import hypothesis
import numpy as np
import pandas as pd
import xarray as xr
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import bayes_bias as bb
from bayes_bias.embeddings.saving_vectors import save_vectors
from bayes_bias.errors import BayesBiasError
from bayes_bias.files import shipped
from bayes_bias.known_bias.scenario import load_scenario
from bayes_bias.known_bias.vocabulary import load_vocabulary
from bayes_bias.language_models.sentence_cache import Cache
from bayes_bias.language_models.vectors_from_elsewhere import save_sentence_vectors
from bayes_bias.models.fitted import Fitted
from bayes_bias.models.model_spec import load_spec
from bayes_bias.models.storage import netcdf
from bayes_bias.reports.report_folder import check_folder
from bayes_bias.sentence_pairs.pair_scores import read_scores
from bayes_bias.sentence_pairs.stereoset_scores import read_triples
from bayes_bias.sweeps.job import Job, Outcome
from bayes_bias.sweeps.job_store import MARKER, Store, open_store
from bayes_bias.sweeps.sweep_spec import read_sweep
from bayes_bias.table.table_files import read_matrix, read_table
from bayes_bias.tpr_gaps.people_counts import count
from bayes_bias.words.defining_sets import read_debias_sets
from bayes_bias.words.templates import load_templates

MEMORY = 256 << 20  # beyond what is there before: twice what the largest of these small files needs, with imports
SECONDS = 20

# What damage and malice put where a number or a word is expected.
HOSTILE = [
    *(b"0", b"-1", b"1e999", b"nan", b"inf", b"9" * 30, b"9" * 400, b"2147483648", b"1_000", b"true", b"null"),
    *(b"", b" ", b"\n", b"\r", b"\t", b"\0", b"\xff", b"\xef\xbb\xbf", b"\xf0\x9f\x98\x80"),
    *(b'"', b"'", b",", b"=", b"[", b"]", b"{", b"}", b"[[", b"#", b"[]", b"{}", b"/", b"[" * 300, b"a" * 300),
    *(b"=1+1", b"../../etc/passwd"),
]

# Kind, place, width and other bytes.
type Change = tuple[str, int, int, bytes]

ALLOWED = ("read", "refused")
BATCH = 500


@dataclass(frozen=True)
class Reader:
    """A valid file, the name it is read under, and what reads it."""

    name: str
    seed: Callable[[], bytes]
    read: Callable[[Path], object]


def _vectors(path: Path) -> object:
    embedding = bb.open_embedding(path)
    return embedding.vocabulary(), embedding.find(["he", "she"]), embedding.all()


def _saved(suffix: str) -> bytes:
    with tempfile.TemporaryDirectory() as home:
        words = {"he": [1.0, 2.5], "she": [0.25, -1.0], "na\u00efve": [0.0, 3.0]}
        path = save_vectors({word: np.array(v) for word, v in words.items()}, Path(home) / f"v{suffix}")
        return path.read_bytes()


def _arrays(**arrays: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def _replicated() -> bytes:
    words, seeds = np.array(["he", "she"]), np.array(["1", "2", "3"])
    return _arrays(words=words, vectors=np.ones((3, 2, 4), dtype=np.float32), seeds=seeds)


def _binary() -> bytes:
    rows = [b"he ", np.array([1, 2.5], "<f4").tobytes(), b"\nshe ", np.array([0.25, -1], "<f4").tobytes()]
    return b"2 2\n" + b"".join(rows) + b"\n"


def _npy() -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.ones((2, 3), dtype=np.float32))
    return buffer.getvalue()


def _sentence_vectors(path: Path) -> object:
    rows = pd.DataFrame({"word": ["he", "she"], "template": ["t", "t"], "sentence": ["He.", "She."]})
    return save_sentence_vectors(rows, path, path.with_name("out.npz"), overwrite=True)


def _cosines() -> bytes:
    lines = ["target,group,attribute,attribute_class,cosine"]
    for target, group in (("he", "men"), ("him", "men"), ("she", "women"), ("her", "women")):
        for attribute, kind in (("job", "work"), ("boss", "work"), ("home", "house"), ("baby", "house")):
            lines.append(f"{target},{group},{attribute},{kind},0.{len(target)}{len(attribute)}")
    return "\n".join(lines).encode()


def _fit() -> bytes:
    draws = xr.Dataset({"bias": (("chain", "draw"), np.ones((2, 5))), "sd": (("chain", "draw"), np.ones((2, 5)))})
    tree = xr.DataTree.from_dict({"posterior": draws, "sample_stats": draws, "constant_data": xr.Dataset()})
    metric = bb.cosines("googlenews-demo", "weat6", controls=()).metric.to_json()
    diagnostics = {"max_r_hat": 1.0, "min_bulk_ess": 1000.0, "min_tail_ess": 1000.0, "divergences": 0}
    tree.attrs = {"metric": metric, "model": "crossed", "diagnostics": json.dumps(diagnostics), "name": "weat6"}
    return netcdf(tree)


def _loaded(path: Path) -> object:
    tree = bb.load_fit(path)
    return tree, Fitted.of(tree)


JOB = Job("job", abs, (1,), depends_on=1)


def _result() -> bytes:
    with tempfile.TemporaryDirectory() as home:
        store = open_store(Path(home) / "results")
        store.keep(Outcome(JOB.name, JOB.key, result={"bias": 1.0, "shares": {"a": 0.5}}))
        return store.path(JOB).read_bytes()


def _kept(path: Path) -> object:
    outcome = Store(path.parent).read(JOB)
    assert outcome is None or outcome.result == {"bias": 1.0, "shares": {"a": 0.5}}, outcome
    return outcome


def _cache() -> bytes:
    with tempfile.TemporaryDirectory() as home:
        Cache(Path(home) / "s.sqlite3").add({b"k" * 32: np.ones(4, dtype=np.float32)})
        return (Path(home) / "s.sqlite3").read_bytes()


def _folder(path: Path) -> object:
    check_folder(path.parent, overwrite=True)
    return path


SWEEP = b"""
title = "audit"
lists = ["weat6", "weat7"]
controls = "neutral"
seed = 3
[[embeddings]]
files = "googlenews-demo"
[[versions]]
name = "hard"
method = "hard"
sets = "she:he,woman:man"
[sampling]
draws = 500
"""

PEOPLE = b"y,prediction,group\n" + b"nurse,nurse,women\nnurse,clerk,men\nclerk,clerk,men\nclerk,clerk,women\n" * 4
MAY = json.dumps(
    {
        part: {"category": part, "examples": [f"{part} {k}" for k in range(3)]}
        for part in ("targ1", "targ2", "attr1", "attr2")
    }
).encode()
SETS = b"""
title = "t"
defining_sets = [["she", "he"], ["woman", "man"]]
equalize_sets = [["boy", "girl"]]
specific = ["king"]
"""
WORDS = b"""flowers=pleasant,insects=unpleasant,pleasant,unpleasant
rose,ant,love,hate
lily,fly,joy,war
"""
LONG = b"word,group\nrose,flowers\nlily,flowers\nlove,pleasant\njoy,pleasant\n"
PAIRS = b"item,score_more,score_less,bias_type,writer\n" + b"".join(
    f"{k},-{20 + k}.5,-{21 + k % 3}.25,type {k % 2},w{k % 3}\n".encode() for k in range(8)
)


def _stereoset() -> bytes:
    sentences = [
        {"id": label, "sentence": f"It is {label}.", "gold_label": label}
        for label in ("stereotype", "anti-stereotype", "unrelated")
    ]
    item = {"id": "i", "target": "t", "bias_type": "race", "context": "It is BLANK.", "sentences": sentences}
    scores = [{"id": sentence["id"], "score": -k} for k, sentence in enumerate(sentences)]
    return json.dumps({"data": {"intrasentence": [item]}, "intrasentence": scores}).encode()


def _toml(*parts: str) -> Callable[[], bytes]:
    return lambda: (shipped(parts[0]) / "/".join(parts[1:])).read_bytes()


READERS = {
    reader.name: reader
    for reader in (
        Reader("vectors, text.vec", lambda: _saved(".txt"), _vectors),
        Reader("vectors, bare text.vec", lambda: b"he 1 2.5\nshe 0.25 -1\n", _vectors),
        Reader("vectors, binary.bin", _binary, _vectors),
        Reader("vectors, zipped.vec.gz", lambda: gzip.compress(b"he 1 2.5\nshe 0.25 -1\n", mtime=0), _vectors),
        Reader("vectors, archive.npz", lambda: _saved(".npz"), _vectors),
        Reader("vectors, replicates.npz", _replicated, _vectors),
        Reader("vectors of sentences.npy", _npy, _sentence_vectors),
        Reader("list.toml", _toml("wordlists", "weat6.toml"), bb.load_wordlist),
        Reader("list with rules.toml", _toml("wordlists", "gender.toml"), bb.load_wordlist),
        Reader("list.csv", lambda: WORDS, bb.load_wordlist),
        Reader("controls.csv", lambda: LONG, bb.words.wordlist.load_controls),
        Reader("sentences.json", lambda: MAY, bb.load_wordlist),
        Reader("defining sets.toml", lambda: SETS, read_debias_sets),
        Reader("templates.toml", _toml("templates", "association-10.toml"), load_templates),
        Reader("spec.toml", _toml("models", "crossed.toml"), load_spec),
        Reader("spec of pairs.toml", _toml("models", "pairs.toml"), load_spec),
        Reader("table.csv", _cosines, lambda path: read_table(path, {"men": "work", "women": "house"})),
        Reader("matrix.csv", lambda: b",job,home\nhe,0.5,0.25\nshe,0.1,-0.5\n", read_matrix),
        Reader("pairs.csv", lambda: PAIRS, read_scores),
        Reader("stereoset.json", _stereoset, lambda path: read_triples(path, path)),
        Reader("people.csv", lambda: PEOPLE, lambda path: count("y", "prediction", "group", path)),
        Reader("sweep.toml", lambda: SWEEP, read_sweep),
        Reader("scenario.toml", _toml("scenarios", "majority.toml"), load_scenario),
        Reader("vocabulary.toml", lambda: _first("scenarios", "vocabularies"), load_vocabulary.__wrapped__),
        Reader("fit.nc", _fit, _loaded),
        Reader(f"{JOB.key}.json", _result, _kept),
        Reader(MARKER, lambda: b'{"version": 2}', lambda path: open_store(path.parent)),
        Reader("provenance.json", lambda: b'{"files": {"index.html": "ab", "a/b.csv": "cd"}}', _folder),
        Reader("sentences.sqlite3", _cache, lambda path: Cache(path).find([b"k" * 32])),
    )
}


def _first(*parts: str) -> bytes:
    folder = shipped(parts[0]) / parts[1]
    return min(folder.iterdir(), key=lambda file: file.name).read_bytes()


@cache
def seed_of(name: str) -> bytes:
    """The valid file of a reader."""
    return READERS[name].seed()


def changes(length: int) -> st.SearchStrategy[list[Change]]:
    """What happens to a file: bytes are flipped, cut, repeated, moved, or replaced by something hostile."""
    place = st.integers(0, max(length - 1, 0))
    kind = st.sampled_from(["flip", "cut", "repeat", "replace", "insert", "number", "end"])
    return st.lists(
        st.tuples(kind, place, st.integers(1, 64), st.sampled_from(HOSTILE) | st.binary(max_size=4)),
        min_size=1,
        max_size=4,
    )


def changed(content: bytes, what: list[Change]) -> bytes:
    """The file after the changes."""
    for kind, at, width, other in what:
        part = content[at : at + width]
        match kind:
            case "flip":
                content = content[:at] + bytes(byte ^ width for byte in part[:1]) + content[at + 1 :]
            case "cut":
                content = content[:at] + content[at + width :]
            case "repeat":
                content = content[:at] + part * 3 + content[at + width :]
            case "replace":
                content = content[:at] + other + content[at + width :]
            case "insert":
                content = content[:at] + other + content[at:]
            case "number":  # the next digits
                start = next((k for k in range(at, len(content)) if content[k : k + 1].isdigit()), len(content))
                end = next((k for k in range(start, len(content)) if not content[k : k + 1].isdigit()), len(content))
                content = content[:start] + other + content[end:]
            case "end":
                content = content[:at]
    return content


def path_of(reader: Reader, home: Path) -> Path:
    """The file of a reader: its name is the end of the reader's."""
    return home / reader.name.rpartition(" ")[2]


def outcome(reader: Reader, content: bytes, home: Path) -> str:
    """How reading ends: "read", "refused", or what must not happen."""
    path = path_of(reader, home)
    path.write_bytes(content)
    try:
        reader.read(path)
    except BayesBiasError as error:
        return "refused" if len(str(error).splitlines()) == 1 else f"several lines: {error}"
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__} at {Path(where.filename).name}:{where.lineno}: {str(error)[:100]}"
    return "read"


def fuzz(reader: Reader, files: int, seed: int, home: Path) -> dict[str, int]:
    """Outcomes of so many mutated files, with their numbers; what must not happen keeps its file in `home`."""
    content, counts = seed_of(reader.name), Counter[str]()

    @hypothesis.seed(seed)
    @settings(
        max_examples=files,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(changes(len(content)))
    def one(what: list[Change]) -> None:
        mutated = changed(content, what)
        signal.alarm(SECONDS)
        ended = outcome(reader, mutated, home)
        signal.alarm(0)
        counts[ended] += 1
        if ended not in ALLOWED and counts[ended] == 1:
            (home / f"finding-{len(counts)}").write_bytes(f"{ended}\n".encode() + mutated)

    one()
    return counts


def forked(reader: Reader, files: int, seed: int, home: Path) -> tuple[Counter[str], int]:
    """The same in a process with little memory: outcomes, and the most bytes that it took."""
    read, write = os.pipe()
    if not (process := os.fork()):
        outcome(reader, seed_of(reader.name), home)  # what is imported when it is first used
        before = _memory("VmRSS")
        resource.setrlimit(resource.RLIMIT_AS, (_memory("VmSize") + MEMORY, resource.RLIM_INFINITY))
        counts = fuzz(reader, files, seed, home)
        os.write(write, json.dumps([counts, max(_memory("VmHWM") - before, 0)]).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as result:
        told = result.read()
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if status or not told:
        last = path_of(reader, home)
        last.rename(home / f"finding-of-seed-{seed}")
        return Counter({f"ended with {status}: {home / f'finding-of-seed-{seed}'}": 1}), 0
    counts, peak = json.loads(told)
    return Counter(counts), peak


def _memory(key: str) -> int:
    """Bytes of this process, by the name that Linux has for them."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(key))
    return int(line.split()[1]) * 1024


def main() -> None:
    """Fuzz all readers, or one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=100_000, help="mutated files of each reader")
    parser.add_argument("--reader", choices=READERS, help="one of them; all by default")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=1e9, help="at most, of each reader")
    parser.add_argument("--findings", type=Path, default=Path("fuzz-findings"), help="where files that fail are kept")
    chosen = parser.parse_args()
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    for name in [chosen.reader] if chosen.reader else READERS:
        reader, counts, peak = READERS[name], Counter[str](), 0
        home = chosen.findings / name.replace(" ", "-")
        home.mkdir(parents=True, exist_ok=True)
        end = time.monotonic() + 60 * chosen.minutes
        for batch in range(0, chosen.files, BATCH):
            done, most = forked(reader, min(BATCH, chosen.files - batch), chosen.seed + batch, home)
            counts, peak = counts + done, max(peak, most)
            if time.monotonic() > end:
                break
        told = ", ".join(f"{number:,} {what}" for what, number in counts.most_common())
        print(f"{name}: {counts.total():,} files: {told}; {peak / 2**20:.0f} MiB", flush=True)


if __name__ == "__main__":
    main()
