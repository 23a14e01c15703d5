"""Every reader gives what a file holds, or one line: mutated files, and those that an earlier run found."""

import re
import time
from io import BytesIO
from struct import pack

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayes_bias as bb
from bayes_bias.errors import OutputError
from tests.helpers import refused
from tests.robustness.fuzzing import ALLOWED, changed, changes, outcome
from tests.robustness.readers import READERS, seed_of


@pytest.mark.parametrize("name", READERS)
def test_readers_accept_seed_file(name, tmp_path):
    assert outcome(READERS[name], seed_of(name), tmp_path) == "read"


@pytest.mark.parametrize("name", READERS)
@pytest.mark.filterwarnings("ignore")
@settings(max_examples=25)
@given(st.data())
def test_readers_read_or_reject_mutated_files_in_one_line(name, tmp_path_factory, data):
    content = changed(seed_of(name), data.draw(changes(len(seed_of(name)))))
    assert outcome(READERS[name], content, tmp_path_factory.getbasetemp()) in ALLOWED


# What earlier runs found: unexpected errors.
FOUND = {
    "a header that Python's tokenizer gives up": (
        "vectors of sentences.npy",
        lambda: b"\x93NUMPY\x01\x00\x38\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3\n",
    ),
    "a header at which Python's tokenizer breaks": (
        "vectors of sentences.npy",
        lambda: seed_of("vectors of sentences.npy").replace(b"{'descr': '<f4',", b""),
    ),
    "a shape that the file cannot have": (
        "vectors of sentences.npy",
        lambda: seed_of("vectors of sentences.npy").replace(b"(2, 3), }       ", b"(2, 300000000),}"),
    ),
    "a score of 400 digits": (
        "stereoset.json",
        lambda: seed_of("stereoset.json").replace(b'"score": 0', b'"score": ' + b"9" * 400),
    ),
    "a scheme that is a table": (
        "scenario.toml",
        lambda: seed_of("scenario.toml").replace(b'scheme = "majority"', b"scheme = {a = 1}"),
    ),
    "a vocabulary with a name that no file has": (
        "scenario.toml",
        lambda: seed_of("scenario.toml").replace(b"[truth]", b'vocabulary = "%s"\n[truth]' % (b"a" * 300)),
    ),
    "a module with a name that no folder has": (
        "modules of an encoder",
        lambda: seed_of("modules of an encoder").replace(b'"path": ""', b'"path": "%s"' % (b"a" * 300), 1),
    ),
    "files of a user whom nobody knows": (
        "sweep.toml",
        lambda: seed_of("sweep.toml").replace(b"googlenews-demo", b"~no such user/*"),
    ),
    "a prior of 400 digits": (
        "spec.toml",
        lambda: re.sub(rb"lam = [\d.]+", b"lam = " + b"9" * 400, seed_of("spec.toml"), count=1),
    ),
    "a number that Python does not read": ("spec.toml", lambda: b"x = " + b"9" * 5000),
    "brackets without an end, TOML": ("sweep.toml", lambda: b"x = " + b"[" * 20_000),
    "brackets without an end, JSON": ("stereoset.json", lambda: b"[" * 20_000),
    "an object in the place of a text": (
        "answers.jsonl",
        lambda: seed_of("answers.jsonl").replace(b'"word":"baby"', b'"word":{}', 1),
    ),
    "a number in the place of an object": ("answers.jsonl", lambda: seed_of("answers.jsonl") + b"1\n"),
    "a list without words": ("list with classes.csv", lambda: b"word,group\n"),
    "headings without rows": ("criterion.csv", lambda: b"label,bias,sd,criterion\n"),
    "an error of 400 digits": ("criterion.csv", lambda: b"label,bias,sd,criterion\nl,0," + b"9" * 400 + b",1"),
    "scores of 400 digits": ("pairs.csv", lambda: b"item,difference\n" + b"a,1\nb," + b"9" * 400),
    "a heading fewer than cells": (
        "pairs.csv",
        lambda: b"item,score_more,score_less\n" + b"".join(b"%d,-2%d,-21,-3\n" % (k, k) for k in range(8)),
    ),
    "two headings fewer than cells": ("criterion.csv", lambda: b"bias,sd,criterion\n" + b"a,1,2,3,4\n" * 4),
    "an entry without a length, which HDF5 would read for ever": (
        "fit.nc",
        lambda: re.sub(rb"(GCOL.{12}).{16}", rb"\1" + bytes(16), seed_of("fit.nc"), flags=re.DOTALL),
    ),
    "Parquet with bytes that are not text": (
        "vectors, texts.parquet",
        lambda: seed_of("vectors, texts.parquet").replace(b"s0", b"\x80\x80", 1),
    ),
    "a query with fewer names than sets": ("query.json", lambda: seed_of("query.json").replace(b'"flowers", ', b"")),
    "damaged metadata of a group": ("fit.nc", lambda: seed_of("fit.nc").replace(b"OHDR", b"OHDS")),
}


@pytest.mark.parametrize(("name", "content"), FOUND.values(), ids=FOUND)
def test_readers_reject_earlier_findings(name, content, tmp_path):
    assert outcome(READERS[name], content(), tmp_path) == "refused"


@pytest.mark.parametrize("bracket", [b"[", b"{", b'[\\"'])
def test_choices_read_reply_of_many_brackets_in_short_time(tmp_path, bracket):
    """JSON may begin at each bracket, and each attempt took as long as the reply."""
    content = seed_of("log of lm-eval.jsonl").replace(b"office", bracket * 20_000 + b"office", 1)
    began = time.process_time()
    assert outcome(READERS["log of lm-eval.jsonl"], content, tmp_path) == "read"
    assert time.process_time() - began < 3


def test_load_fit_raises_for_oversized_array(tmp_path):
    """An array of eight gigabytes in a file of some kilobytes."""
    with h5py.File(tmp_path / "fit.nc", "w") as file:
        file.create_dataset("posterior/bias", shape=(1000, 1_000_000), dtype="f8", chunks=(1, 1000))
    with refused(OutputError, "fit.nc 8,000,000,000"):
        bb.load_fit(tmp_path / "fit.nc")


def test_load_fit_raises_for_damaged_address(tmp_path):
    """One byte is changed, and HDF5 finds zeros, whose checksum is zero."""
    content = seed_of("fit.nc")
    with h5py.File(BytesIO(content)) as file:
        block = file["posterior/bias"].id.get_chunk_info(0)
    others = (block.byte_offset ^ change << 8 for change in range(1, 256))
    zeros = next(place for place in others if content[place : place + block.size] == bytes(block.size))
    damaged = content.replace(pack("<Q", block.byte_offset), pack("<Q", zeros))
    with h5py.File(BytesIO(damaged)) as file:
        assert not np.any(file["posterior/bias"])
    (tmp_path / "fit.nc").write_bytes(damaged)
    with refused(OutputError, "fit.nc damaged copy fit again"):
        bb.load_fit(tmp_path / "fit.nc")
