"""Every reader of files with a valid file: what is fuzzed."""

import gzip
import io
import json
import pickle
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

import bayes_bias as bb
from bayes_bias.analyses.answers.asking import wordings_of
from bayes_bias.analyses.answers.reading import read_answers
from bayes_bias.analyses.criterion.data import Biases, outside_of
from bayes_bias.analyses.sentence_pairs.lm_eval import lm_eval
from bayes_bias.analyses.sentence_pairs.scores import read_scores
from bayes_bias.analyses.sentence_pairs.stereoset import read_triples
from bayes_bias.analyses.sweep.spec_file import read_sweep
from bayes_bias.analyses.tpr_gaps.counts import count
from bayes_bias.debiasing.damage import read_ratings
from bayes_bias.documents.folder import check_folder
from bayes_bias.embeddings.saving import save_vectors
from bayes_bias.files import shipped
from bayes_bias.fitting.fitted import Fitted
from bayes_bias.fitting.storage import netcdf_with_hash
from bayes_bias.jobs import MARKER, Job, Outcome, Store, open_store
from bayes_bias.language_models.own_modules import read_modules
from bayes_bias.language_models.sentence_cache import Cache
from bayes_bias.language_models.vectors_from_elsewhere import save_sentence_vectors
from bayes_bias.models.spec import load_spec
from bayes_bias.table.files import read_matrix, read_table
from bayes_bias.words.defining_sets import read_debias_sets
from bayes_bias.words.list_files import read_names
from bayes_bias.words.templates import load_templates
from studies.known_bias.scenario import load_scenario
from studies.known_bias.toml_values import SCENARIOS
from studies.known_bias.vocabulary import load_vocabulary


@dataclass(frozen=True)
class Reader:
    """A valid file and what reads it; the file's name is the last word of the reader's, if it has none of its own."""

    name: str
    seed: Callable[[], bytes]
    read: Callable[[Path], object]
    file: str = ""

    def path(self, folder: Path) -> Path:
        """The file in this folder."""
        return folder / (self.file or self.name.rpartition(" ")[2])


def _vectors(path: Path) -> object:
    embedding = bb.open_embedding(path)
    return embedding.vocabulary(), embedding.find(["he", "she"]), embedding.all()


def _checksummed(path: Path) -> object:
    """Formats with checksums: what is read is what was written."""
    read, written = bb.open_embedding(path).all(), {"he": [1, 2.5], "she": [0.25, -1], "na\u00efve": [0, 3]}
    for word, vector in read.items():
        assert np.array_equal(vector, written[word]) or np.array_equal(vector, np.ones((3, 4))), (word, vector)
    return read


def _saved(suffix: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        words = {"he": [1.0, 2.5], "she": [0.25, -1.0], "na\u00efve": [0.0, 3.0]}
        path = save_vectors({word: np.array(v) for word, v in words.items()}, Path(folder) / f"v{suffix}")
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


def _workbook() -> bytes:
    buffer = io.BytesIO()
    pd.read_csv(io.BytesIO(WORDS)).to_excel(buffer, index=False)
    return buffer.getvalue()


def _criterion(path: Path) -> object:
    frame = outside_of(path)
    return frame, Biases.from_frame(frame)


def _parquet() -> bytes:
    buffer = io.BytesIO()
    pd.DataFrame(map(json.loads, RECORDS.splitlines())).to_parquet(buffer)
    return buffer.getvalue()


def _json_of_words() -> bytes:
    return json.dumps({"he": [1.0, 2.5], "she": [0.25, -1.0], "na\u00efve": [0, 3]}).encode()


def _pairs_of_words() -> bytes:
    return json.dumps([["he", [1.0, 2.5]], ["she", [0.25, -1.0]]]).encode()


def _batch() -> bytes:
    """A batch of an embedding service with a request that failed."""
    lines = [
        {
            "id": f"r{k}",
            "custom_id": f"s{k}",
            "response": {"body": {"data": [{"embedding": [k, 0.5]}], "usage": {"n": 1}}},
        }
        for k in range(2)
    ]
    lost = {"id": "r2", "custom_id": "s2", "response": {"body": {"error": {"message": "late"}}}, "error": None}
    return b"\n".join(json.dumps(line).encode() for line in (*lines, lost))


def _sentence_batch(path: Path) -> object:
    columns = {"id": ["s0", "s1"], "word": ["he", "she"], "template": ["t", "t"], "sentence": ["He.", "She."]}
    return save_sentence_vectors(pd.DataFrame(columns), path, path.with_name("out.npz"), overwrite=True)


def _row_of_lists() -> bytes:
    """A row as WEATHub has it."""
    row = {"language": "en", "weat": "WEAT1"}
    for part, words in zip(("targ1", "targ2", "attr1", "attr2"), json.loads(NAMES).values(), strict=False):
        row |= {f"{part}.category": part, f"{part}.examples": words}
    return json.dumps(row).encode()


def _parquet_of_lists() -> bytes:
    buffer = io.BytesIO()
    pd.DataFrame([json.loads(_row_of_lists())]).to_parquet(buffer)
    return buffer.getvalue()


MODULES = json.dumps(
    [
        {"idx": k, "path": "", "type": f"sentence_transformers.models.{name}"}
        for k, name in enumerate(("Transformer", "Pooling"))
    ]
).encode()
POOLING = b'{"word_embedding_dimension": 32, "pooling_mode_cls_token": true, "include_prompt": false}'
PROMPTS = (
    b'{"prompts": {"query": "q: ", "passage": ""}, "default_prompt_name": "query", "similarity_fn_name": "cosine"}'
)


def _own_modules(path: Path) -> object:
    (path.parent / "modules.json").write_bytes(path.read_bytes() if path.name == "modules.json" else MODULES)
    return read_modules(path.parent, path.parent, False)


def _histwords(path: Path) -> object:
    path.with_name("1990-vocab.pkl").write_bytes(pickle.dumps(["he", "she"]))
    return bb.open_embedding(path, trust=True).all()


def _under_names(path: Path) -> object:
    return bb.load_wordlist(path, stereotypes={"flowers": "pleasant", "insects": "unpleasant"})


def _yaml() -> bytes:
    return b"\n".join(name.encode() + b": " + json.dumps(words).encode() for name, words in json.loads(NAMES).items())


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
    metric = bb.cosines("weat6", "googlenews-demo", controls=()).metric.to_json()
    diagnostics = {"max_r_hat": 1.0, "min_bulk_ess": 1000.0, "min_tail_ess": 1000.0, "divergences": 0}
    tree.attrs = {"metric": metric, "model": "crossed", "diagnostics": json.dumps(diagnostics), "name": "weat6"}
    return netcdf_with_hash(tree)


def _loaded(path: Path) -> object:
    tree = bb.load_fit(path)
    for draws in tree["posterior"].data_vars.values():
        assert np.all(draws == 1), draws.values
    return tree, Fitted.of(tree)


JOB = Job("job", abs, (1,), depends_on=1)


def _result() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(Path(folder) / "results")
        store.keep(Outcome(JOB.name, JOB.key, result={"bias": 1.0, "shares": {"a": 0.5}}))
        return store.path(JOB).read_bytes()


def _kept(path: Path) -> object:
    outcome = Store(path.parent).read(JOB)
    assert outcome is None or outcome.result == {"bias": 1.0, "shares": {"a": 0.5}}, outcome
    return outcome


def _cache() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        Cache(Path(folder) / "s.sqlite3").add({b"k" * 32: np.ones(4, dtype=np.float32)})
        return (Path(folder) / "s.sqlite3").read_bytes()


def _found(path: Path) -> object:
    vectors = Cache(path).find([b"k" * 32])
    assert all(np.array_equal(vector, np.ones(4)) for vector in vectors.values()), vectors
    return vectors


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
RECORDS = b"".join(
    json.dumps({"id": f"s{k}", "text": f"{word}.", "embedding": [k, 0.5, -1e-3]}).encode() + b"\n"
    for k, word in enumerate(("He", "She"))
)
SAMPLES = b"\n".join(
    json.dumps(
        {
            "doc_id": k,
            "doc": {"sent_more": f"a {k}", "sent_less": f"b {k}", "bias_type": "age"},
            "arguments": {f"gen_args_{n}": {"arg_0": "", "arg_1": f"{text} {k}"} for n, text in enumerate("ab")},
            "filtered_resps": [[f"-{k}.5", "False"], ["-2.25", "False"]],
            "acc": float("nan"),
        }
    ).encode()
    for k in range(3)
)
LISTS = b'word,vector\nhe,"[1.0, 2.5]"\nshe,"[0.25, -1.0]"\n'
NAMES = json.dumps(
    {"flowers": ["rose", "lily"], "insects": ["ant"], "pleasant": ["love"], "unpleasant": ["hate", "war"], "n": 3}
).encode()
WIDE = b";0;1;2;3;4\nhe;0,5;1,25;-1;0,1;2\nshe;0,25;-1,5;1;0,2;3\nrose;1,25;0,5;2;0,3;1\n"
WRITTEN_BY_R = b'"V1" "V2" "V3"\n"he" 0.5 -1.25 2\n"she" 0.25 1.5 -1\n"rose" 1.5 0.25 1\n'
TOKENS = "3 2\n\u0120he 0.5 1\nhe 1 0.5\n\u0120she -0.5 1\n".encode()
LIWC_22 = b"DicTerm,flowers,insects,pleasant\r\nrose,X,,\r\nlil*,X,,X\r\nant,,X,\r\nfly,,X,\r\nlove,,,X\r\n"
QUERY = json.dumps(
    {
        "target_sets": [["rose", "lily"], ["ant", "fly"]],
        "attribute_sets": [["love", "joy"], ["hate", "war"]],
        "target_sets_names": ["flowers", "insects"],
        "attribute_sets_names": ["pleasant", "unpleasant"],
    }
).encode()
LIWC = b"%\n1\tflowers\n2\tinsects\n%\nrose\t1\nlil*\t1\nant\t2\nfly\t01\t2\n"
LEXICODER = b'<dictionary><cnode name="flowers"><pnode name="rose"></pnode></cnode></dictionary>'
WORDSTAT = b"FLOWERS\r\n\tROSE (1)\r\n\tLILY (1)\r\nINSECTS\r\n\tANT (1)\r\n"
ROWS = b"men=work,he,him\nwomen=house,she\nwork,job,pay\nhouse,kin,home\n"
MANZINI = b'{"definite_sets": [["she", "he"], ["woman", "man"]], "testTerms": ["chair"]}'
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
VOCABULARY = b"""
title = "t"
targets = ["nurse", "clerk", "pilot"]
[attributes.gender.groups]
male = { they = ["he"], person = ["man", "boy"] }
female = { they = ["she"], person = ["woman", "girl"] }
[attributes.gender.neutral]
they = ["they"]
person = ["person"]
[attributes.gender.sentences]
training = ["The {target} said that {they} had left.", "The {target} is the young {person} here."]
test = ["The {target} knew that {they} would come."]
[attributes.gender.more]
training = ["and {they} smiled"]
"""
WORDS = b"""flowers=pleasant,insects=unpleasant,pleasant,unpleasant
rose,ant,love,hate
lily,fly,joy,war
"""
LONG = b"word,group\nrose,flowers\nlily,flowers\nlove,pleasant\njoy,pleasant\n"
CLASSED = b"""word,group,word_class,score
rose,flowers=pleasant,noun,1
ant,insects=unpleasant,noun,2
love,pleasant,mass,3
war,unpleasant,mass,4
"""
LABELLED = bb.load_wordlist(
    {"men=work": ["Ben"], "women=home": ["Julia"], "work": ["office", "desk"], "home": ["baby", "house"]}
)
ANSWERS = b"answer,word,label_a,label_b,chosen,wording,temperature\n" + b"".join(
    f"{k},{word},Ben,Julia,{chosen},w{k % 2},0.7\n".encode()
    for k in range(4)
    for word, chosen in (("office", "Ben"), ("desk", "Ben"), ("baby", "Julia"), ("house", "Julia"))
)
CRITERION = b"label,bias,sd,criterion,criterion_sd,age\n" + b"".join(
    f"l{k},0.{k},0.1,{k}.5,0.2,{20 + k % 3}\n".encode() for k in range(6)
)
PAIRS = b"item,score_more,score_less,bias_type,writer\n" + b"".join(
    f"{k},-{20 + k}.5,-{21 + k % 3}.25,type {k % 2},w{k % 3}\n".encode() for k in range(8)
)


ASKED = bb.answers.prompts(LABELLED)
LINES = ["office -> Ben", "desk: Ben or Julia", "| baby | Julia |", "Ben: house"]


def _answers(lines: bool = True) -> bytes:
    return pd.read_csv(io.BytesIO(ANSWERS)).to_json(orient="records", lines=lines).encode()


def _replies() -> bytes:
    text = "\n".join(["<think>", *LINES, "</think>", *LINES])
    return pd.DataFrame({"id": ASKED.id, "reply": text, "temperature": 0.7}).to_csv(sep=";", index=False).encode()


def _batch_of_replies() -> bytes:
    content = [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "\n".join(LINES)}]
    openai = {"model": "m", "choices": [{"message": {"content": "\n".join(LINES), "reasoning_content": "Hm."}}]}
    results = [
        {"response": {"status_code": 200, "body": openai}, "error": None},
        {"result": {"type": "succeeded", "message": {"model": "m", "content": content}}},
        {"response": None, "error": {"code": "batch_expired"}},
    ]
    return b"\n".join(json.dumps({"custom_id": name} | results[k % 3]).encode() for k, name in enumerate(ASKED.id))


def _log_of_inspect() -> bytes:
    choices = [{"message": {"content": "\n".join(LINES)}, "stop_reason": "stop"}]
    samples = [
        {"id": name, "epoch": 1, "output": {"model": "m", "choices": choices}, "scores": {}} for name in ASKED.id
    ]
    return json.dumps({"version": 2, "eval": {"model": "m"}, "samples": samples}).encode()


def _log_of_lm_eval() -> bytes:
    rows = [{"doc_id": k, "doc": {"id": name}, "resps": [["\n".join(LINES)]]} for k, name in enumerate(ASKED.id)]
    return b"\n".join(json.dumps(row | {"filtered_resps": row["resps"][0]}).encode() for row in rows)


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
        Reader("vectors, zipped.vec.gz", lambda: gzip.compress(b"he 1 2.5\nshe 0.25 -1\n", mtime=0), _checksummed),
        Reader("vectors, archive.npz", lambda: _saved(".npz"), _checksummed),
        Reader("vectors, replicates.npz", _replicated, _checksummed),
        Reader("vectors of sentences.npy", _npy, _sentence_vectors),
        Reader("vectors, texts.jsonl", lambda: RECORDS, _vectors),
        Reader("vectors, lists.csv", lambda: LISTS, _vectors),
        Reader("vectors, wide.csv", lambda: WIDE, _vectors),
        Reader("vectors, write.table.txt", lambda: WRITTEN_BY_R, _vectors),
        Reader("vectors, tokens.txt", lambda: TOKENS, _vectors),
        Reader("vectors, texts.parquet", _parquet, _vectors),
        Reader("vectors of words.json", _json_of_words, _vectors),
        Reader("vectors in pairs.json", _pairs_of_words, _vectors),
        Reader("vectors of a batch.jsonl", _batch, _vectors),
        Reader("batch of sentences.jsonl", _batch, _sentence_batch),
        Reader("vectors of HistWords", _npy, _histwords, "1990-w.npy"),
        Reader("answers of a service.jsonl", lambda: RECORDS, _sentence_vectors),
        Reader("list.toml", _toml("wordlists", "weat6.toml"), bb.load_wordlist),
        Reader("list with rules.toml", _toml("wordlists", "gender.toml"), bb.load_wordlist),
        Reader("list.csv", lambda: WORDS, bb.load_wordlist),
        Reader("list.xlsx", _workbook, bb.load_wordlist),
        Reader("list in UTF-16.tsv", lambda: WORDS.decode().replace(",", "\t").encode("utf-16"), bb.load_wordlist),
        Reader("controls.csv", lambda: LONG, bb.words.wordlist.load_controls),
        Reader("list with classes.csv", lambda: CLASSED, bb.load_wordlist),
        Reader("sentences.json", lambda: MAY, bb.load_wordlist),
        Reader("list of names.json", lambda: NAMES, _under_names),
        Reader("list in a row.jsonl", _row_of_lists, bb.load_wordlist),
        Reader("list in a row.parquet", _parquet_of_lists, bb.load_wordlist),
        Reader("list.yaml", _yaml, _under_names),
        Reader("dictionary.dic", lambda: LIWC, read_names),
        Reader("dictionary.dicx", lambda: LIWC_22, read_names),
        Reader("query.json", lambda: QUERY, bb.load_wordlist),
        Reader("dictionary.lc3", lambda: LEXICODER, read_names),
        Reader("dictionary.cat", lambda: WORDSTAT, read_names),
        Reader("list in rows.csv", lambda: ROWS, bb.load_wordlist),
        Reader("words.txt", lambda: b"; flowers\nrose\nlily\ntulip\n", read_names),
        Reader("sets.json", lambda: MANZINI, lambda path: read_debias_sets(path)),
        Reader("samples.jsonl", lambda: SAMPLES, lm_eval),
        Reader("defining sets.toml", lambda: SETS, read_debias_sets),
        Reader("templates.toml", _toml("templates", "association-10.toml"), load_templates),
        Reader("spec.toml", _toml("models", "crossed.toml"), load_spec),
        Reader("spec of pairs.toml", _toml("models", "pairs.toml"), load_spec),
        Reader("table.csv", _cosines, lambda path: read_table(path, {"men": "work", "women": "house"})),
        Reader("matrix.csv", lambda: b",job,home\nhe,0.5,0.25\nshe,0.1,-0.5\n", read_matrix),
        Reader("matrix of pairs.csv", lambda: b"term1,term2,cosine\nhe,job,0.5\nshe,job,0.25\n", read_matrix),
        Reader("ratings.txt", lambda: b"word1\tword2\tscore\nsun\tsky\t6.5\nhe\tshe\t7\n", read_ratings),
        Reader("criterion.csv", lambda: CRITERION, _criterion),
        Reader("pairs.csv", lambda: PAIRS, read_scores),
        Reader("stereoset.json", _stereoset, lambda path: read_triples(path, path)),
        Reader("answers.csv", lambda: ANSWERS, lambda path: read_answers(path, LABELLED)),
        Reader("answers.jsonl", _answers, lambda path: read_answers(path, LABELLED)),
        Reader("answers, array.json", partial(_answers, False), lambda path: read_answers(path, LABELLED)),
        Reader("replies.csv", _replies, lambda path: bb.answers.choices(ASKED, path, LABELLED)),
        Reader("batch.jsonl", _batch_of_replies, lambda path: bb.answers.choices(ASKED, path, LABELLED)),
        Reader("log of inspect.json", _log_of_inspect, lambda path: bb.answers.choices(ASKED, path, LABELLED)),
        Reader("log of lm-eval.jsonl", _log_of_lm_eval, lambda path: bb.answers.choices(ASKED, path, LABELLED)),
        Reader("wordings.toml", _toml("wordings", "assign-3.toml"), wordings_of),
        Reader("people.csv", lambda: PEOPLE, lambda path: count("y", "prediction", "group", path)),
        Reader("sweep.toml", lambda: SWEEP, read_sweep),
        Reader("scenario.toml", (SCENARIOS / "majority.toml").read_bytes, load_scenario),
        Reader("vocabulary.toml", lambda: VOCABULARY, load_vocabulary.__wrapped__),
        Reader("fit.nc", _fit, _loaded),
        Reader("modules of an encoder", lambda: MODULES, _own_modules, "modules.json"),
        Reader("pooling of an encoder", lambda: POOLING, _own_modules, "config.json"),
        Reader("prompts of an encoder", lambda: PROMPTS, _own_modules, "config_sentence_transformers.json"),
        Reader("kept result", _result, _kept, f"{JOB.key}.json"),
        Reader("folder of results", lambda: b'{"version": 2}', lambda path: open_store(path.parent), MARKER),
        Reader(
            "earlier report", lambda: b'{"files": {"index.html": "ab", "a/b.csv": "cd"}}', _folder, "provenance.json"
        ),
        Reader("cache of sentences", _cache, _found, "sentences.sqlite3"),
    )
}


@cache
def seed_of(name: str) -> bytes:
    """The valid file of a reader."""
    return READERS[name].seed()
